"""`git.clone`: what it takes, what it leaves out, what it refuses, and that nothing is left when it ends early."""

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.adapters.git_clone import GitClone
from codeplane.index.workspaces.remote import Remote
from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.errors import RemoteFailed, TooLarge
from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.index.workspaces.remotes import bare, daemon, ended, silent
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking, plane, run
from tests.query.asking import result

QUIET = ("embeddings.model=none", "index.watch=false", "trust.allow=git.clone")
ALL = (*QUIET, "workspaces.roots=['..']")


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "main")


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    source = make_repo(tmp_path / "source", {"shop.py": "first = 1\n"})
    git(source, "switch", "--quiet", "--create", "next")
    (source / "shop.py").write_text("second = 2\n")
    git(source, "commit", "--quiet", "--all", "--message", "second")
    git(source, "switch", "--quiet", "main")
    return bare(source, tmp_path / "remotes" / "shop.git")


def error(envelope: Mapping[str, object]) -> tuple[str, str]:
    found = envelope.get("error")
    assert isinstance(found, dict), envelope
    return str(found["error"]), f"{found['message']} {found['hint']} {found['details']}"


def homes(main: Path) -> list[str]:
    """What clones have left on the disk."""
    return sorted(str(one.relative_to(main)) for one in main.glob(".codeplane/workspaces/*/*"))


@requirement("WSP-02")
async def test_a_clone_is_a_workspace_until_it_is_detached(main: Path, remote: Path) -> None:
    async with asking(main, *ALL) as ask:
        info = result(await ask("git.clone", url=f"file://{remote}"))
        assert (info["name"], info["url"]) == ("shop", f"file://{remote}")
        assert "first = 1" in str((await ask("search", query="first", workspace="shop"))["text"])
        result(await ask("git.clone", url=f"file://{remote}", name="n", branch="next"))
        assert "second = 2" in str((await ask("read_files", paths=["shop.py"], workspace="n"))["text"])
        assert result(await ask("search", query="second", workspace="shop"))["total"] == 0
        assert error(await ask("git.clone", url=f"file://{remote}"))[0] == "INVALID_ARGUMENT", "the name is taken"
        gone = result(await ask("workspace.detach", name="n", delete_index=False))
        assert (gone["clone_deleted"], gone["index_deleted"]) == (True, False)
        result(await ask("git.clone", url=f"file://{remote}", name="n"))
        assert "first = 1" in str((await ask("search", query="first", workspace="n", fresh="strict"))["text"])
    moved = main.rename(main.with_name("moved"))
    moved.rename(main)
    async with asking(main, *ALL) as ask:
        assert "first = 1" in str((await ask("search", query="first", workspace="shop"))["text"])
        result(await ask("workspace.detach", name="shop"))
        result(await ask("workspace.detach", name="n"))
        assert homes(main) == []


@requirement("WSP-02")
async def test_it_is_outward_so_the_owner_has_to_allow_it(main: Path, remote: Path) -> None:
    async with asking(main, "embeddings.model=none", "approvals.wait_sec=0") as ask:
        name, output = error(await ask("git.clone", url="https://me:hunter2@example.com/x.git"))
        assert (name, "hunter2" in output) == ("APPROVAL_PENDING", False)
        assert "it fetches from https://example.com/x.git" in output
        assert homes(main) == []


@requirement("WSP-02")
async def test_leave_to_clone_is_no_leave_to_read_this_machine(main: Path, remote: Path) -> None:
    async with asking(main, *QUIET) as ask:
        for url in (f"file://{remote}", f"file://localhost{remote}", f"file://{remote.parent}/x/../shop.git"):
            assert error(await ask("git.clone", url=url))[0] == "PATH_DENIED", url


@requirement("WSP-02")
async def test_addresses_that_are_refused_leave_nothing(main: Path) -> None:
    async with asking(main, *QUIET) as ask:
        for url in ("ext::sh -c touch% /tmp/x", "--upload-pack=touch x", "/etc", "https://user:pa/ss@host/x", ""):
            name, output = error(await ask("git.clone", url=url, name="x"))
            assert (name, "pa/ss" in output) == ("INVALID_ARGUMENT", False), url
        assert homes(main) == []


@requirement("WSP-02")
async def test_names_and_branches_that_are_refused(main: Path, remote: Path) -> None:
    async with asking(main, *ALL) as ask:
        url = f"file://{remote}"
        for name in ("../x", "a/b", "..", "ünï", "x" * 65, "-x"):
            assert error(await ask("git.clone", url=url, name=name))[0] == "INVALID_ARGUMENT", name
        for branch in ("--upload-pack=x", "a\0b", "a\nb"):
            assert error(await ask("git.clone", url=url, branch=branch))[0] == "INVALID_ARGUMENT", branch
        name, output = error(await ask("git.clone", url=url, branch="missing"))
        assert (name, "missing" in output) == ("REMOTE_FAILED", True)
        assert error(await ask("git.clone", url=f"file://{remote}x"))[0] == "REMOTE_FAILED"
        assert homes(main) == []


@requirement("WSP-02")
async def test_a_clone_over_its_size_is_removed(main: Path, tmp_path: Path) -> None:
    source = make_repo(tmp_path / "source")
    (source / "large.bin").write_bytes(bytes(2_000_000))
    git(source, "add", ".")
    git(source, "commit", "--quiet", "--message", "large")
    async with asking(main, *ALL, "workspaces.max_clone_mb=1") as ask:
        name, output = error(await ask("git.clone", url=f"file://{source}"))
        assert (name, "workspaces.max_clone_mb" in output) == ("TOO_LARGE", True)
        assert homes(main) == []
        assert result(await ask("workspace.list"))["workspaces"] == []


class Told:
    """Who is told how far a clone has come."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.heard.append(f"{message} {done:.0f}/{total}")


async def cloned(url: str, target: Path, *, submodules: bool = False, max_mb: int = 100) -> Told:
    answer = Told()
    await GitClone(max_mb=max_mb, timeout_sec=30, outside=target.parent).clone(
        Remote.of(url), target, branch="", recurse_submodules=submodules, fetch_lfs=False, call=answer
    )
    return answer


@requirement("WSP-02")
async def test_its_size_is_watched_while_it_runs(tmp_path: Path) -> None:
    with silent() as server:
        clone = asyncio.create_task(cloned(server.url, tmp_path / "clone", max_mb=1))
        with await asyncio.to_thread(server.accepted) as connection:
            (tmp_path / "clone" / "large.bin").write_bytes(bytes(2_000_000))
            with pytest.raises(TooLarge, match="larger than 1 MB"):
                await clone
            await asyncio.to_thread(ended, connection)
    assert not (tmp_path / "clone").exists()


@requirement("WSP-02")
async def test_a_clone_that_takes_too_long_is_ended(main: Path) -> None:
    async with asking(main, *QUIET, "workspaces.clone_timeout_sec=0.5") as ask:
        with silent() as server:
            name, output = error(await ask("git.clone", url=server.url))
            assert (name, "clone_timeout_sec" in output) == ("DEADLINE_EXCEEDED", True)
            with await asyncio.to_thread(server.accepted) as connection:
                await asyncio.to_thread(ended, connection)
        assert homes(main) == []


async def test_a_clone_that_is_cancelled_leaves_nothing(main: Path) -> None:
    async with plane(main, *QUIET) as opened:
        with silent() as server:
            arguments: JsonObject = {"url": server.url, "name": "x"}
            caller = Caller(surface="mcp", client="test", connection_id="test")
            call = asyncio.create_task(opened.conveyor.call("git.clone", arguments, caller))
            with await asyncio.to_thread(server.accepted) as connection:
                assert homes(main) == [".codeplane/workspaces/x/checkout.part"]
                twice = await opened.conveyor.call("git.clone", arguments, caller)
                assert twice.error is not None
                assert "just being attached" in twice.error.message
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                await asyncio.to_thread(ended, connection)
        assert homes(main) == []


async def test_what_an_interrupted_run_left_is_cleared(main: Path, remote: Path) -> None:
    left = main / ".codeplane" / "workspaces" / "x" / "checkout.part"
    left.mkdir(parents=True)
    async with asking(main, *ALL):
        assert not left.exists()


async def test_progress_is_told(main: Path, remote: Path) -> None:
    heard: list[Progress] = []

    async def hear(progress: Progress) -> None:
        heard.append(progress)

    async with plane(main, *ALL) as opened:
        caller = Caller(surface="mcp", client="test", connection_id="test", on_progress=hear)
        outcome = await opened.conveyor.call("git.clone", {"url": f"file://{remote}"}, caller)
        assert outcome.error is None
    assert any(one.message == "Receiving objects" and one.done == one.total == 100 for one in heard)


async def test_submodules_are_left_out_unless_asked_for_and_never_from_this_machine(tmp_path: Path) -> None:
    inner = bare(make_repo(tmp_path / "inner", {"inner.txt": "inner\n"}), tmp_path / "served" / "inner.git")
    private = make_repo(tmp_path / "private", {"private.txt": "private\n"})

    def outer(name: str, url: str) -> None:
        root = make_repo(tmp_path / name)
        git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
        (root / ".gitmodules").write_text(f'[submodule "sub"]\n\tpath = sub\n\turl = {url}\n')
        git(root, "commit", "--quiet", "--all", "--message", "with a submodule")
        bare(root, tmp_path / "served" / f"{name}.git")

    async def body() -> None:
        with daemon(tmp_path / "served") as address:
            outer("good", f"{address}/inner.git")
            outer("bad", f"file://{private}")
            outer("worse", str(private))
            await cloned(f"{address}/good.git", tmp_path / "without")
            assert list((tmp_path / "without" / "sub").iterdir()) == []
            await cloned(f"{address}/good.git", tmp_path / "with", submodules=True)
            assert (tmp_path / "with" / "sub" / "inner.txt").exists()
            for name in ("bad", "worse"):
                with pytest.raises(RemoteFailed, match="transport 'file' not allowed"):
                    await cloned(f"{address}/{name}.git", tmp_path / name / "clone", submodules=True)
                assert not (tmp_path / name / "clone").exists()

    await body()


def test_hooks_of_the_user_do_not_run(tmp_path: Path, remote: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "post-checkout").chmod(0o755)
    (home / ".gitconfig").write_text(f"[core]\n\thooksPath = {hooks}\n")
    monkeypatch.setenv("HOME", str(home))
    run(cloned(f"file://{remote}", tmp_path / "clone"))
    assert (tmp_path / "clone" / "shop.py").exists()
    assert not (tmp_path / "ran").exists()


async def test_credentials_are_neither_kept_nor_told(main: Path, tmp_path: Path, remote: Path) -> None:
    secret = "hunter2%40x"

    async def kept() -> None:
        with daemon(remote.parent) as address:
            url = address.replace("git://", f"git://me:{secret}@")
            await cloned(f"{url}/shop.git", tmp_path / "clone")

    async with asking(main, *QUIET) as ask:
        envelope = await ask("git.clone", url=f"https://me:{secret}@127.0.0.1:1/x.git", name="x")
        name, _ = error(envelope)
        assert name == "REMOTE_FAILED"
        assert "hunter2" not in json.dumps(envelope)
        assert "127.0.0.1:1/x.git" in json.dumps(envelope)
    for file in (main / ".codeplane").rglob("*"):
        assert not file.is_file() or b"hunter2" not in file.read_bytes(), file
    try:
        await kept()
    except RemoteFailed as failed:
        # A git that takes the user for a part of the host's name does not get that far.
        assert "hunter2" not in failed.message
        return
    assert b"hunter2" not in (tmp_path / "clone" / ".git" / "config").read_bytes()


def test_lfs_files_are_pointers_unless_asked_for(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    source = make_repo(tmp_path / "source", {"large.bin": pointer, ".gitattributes": "*.bin filter=lfs\n"})
    run(cloned(f"file://{source}", tmp_path / "clone"))
    assert (tmp_path / "clone" / "large.bin").read_text() == pointer
    assert subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path / "clone", check=True).returncode == 0
