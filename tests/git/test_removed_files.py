"""What goes away with a work tree, a submodule or a checkout: git never holds secrets files or `.codeplane/` of it."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.submodules import SubmoduleRemoveRequest, SubmoduleWrites
from codeplane.git.write.worktrees import WorktreeAddRequest, WorktreeRemoveRequest, WorktreeWrites
from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, PathDenied
from tests.git.desk import Desk, call, run, simple
from tests.git.random_repository import RandomRepository
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import NO_WAIT, plane
from tests.trust.approvals import agent_calls

SECRET = "owner-secret-value"
OWN = (".codeplane/owner.token", ".codeplane/logs/server.jsonl", "sub/.CodePlane/server.key")
SECRETS = (".env", "certs/id_rsa", "notes/hard.txt", "notes/target.txt", "notes/.env.local")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


def agents_call() -> Call:
    return replace(call(), actor=Actor(kind=ActorKind.AGENT, actor_id="agent"))


def fill(folder: Path) -> None:
    """Secrets under several names, CodePlane's own folder, and a file that is work."""
    for name in (*OWN, ".env", "certs/id_rsa", "notes/target.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{SECRET} {name}\n")
    (folder / "notes" / "hard.txt").hardlink_to(folder / ".env")
    (folder / "notes" / ".env.local").symlink_to("target.txt")
    (folder / "work.txt").write_text("work\n")


def stored(root: Path) -> str:
    """Everything that git holds, as text."""
    listed = git(root, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects").split()
    return "\n".join(git(root, "cat-file", "-p", oid) for oid in listed)


def kept_names(root: Path) -> list[str]:
    refs = git(root, "for-each-ref", "--format=%(refname)", "refs/codeplane/").split()
    return [name for ref in refs for name in git(root, "ls-tree", "-r", "--name-only", ref).splitlines()]


@requirement("GIT-14", "TRUST-52")
@pytest.mark.parametrize("ignored", ["*", "work.txt", ""])
def test_git_is_given_no_secrets_of_a_work_tree_that_goes(desk: Desk, ignored: str) -> None:
    writes, root = WorktreeWrites(desk.writer), desk.made.root
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    (root / ".git" / "info" / "exclude").open("a").write(f"/one/\n{ignored}\n")
    fill(root / "one")
    plain = WorktreeRemoveRequest(name="one")
    for refused in (lambda: writes.assess_remove(plain), lambda: run(writes.remove(call(), plain))):
        with pytest.raises(GitRefused, match=r"\.codeplane/, \.env, certs/id_rsa, .* would be lost for good") as error:
            refused()
        assert error.value.details["paths"] == [".codeplane/", *sorted(SECRETS)]
    assert (root / "one" / ".env").exists() and kept_names(root) == []
    forced = WorktreeRemoveRequest(name="one", force=True)
    preview = run(writes.preview_remove(forced)).body
    assert SECRET not in preview
    assert "for good: .codeplane/ in it" in preview and "5 secrets files: .env, certs/id_rsa" in preview
    assert "What is not lost for good is kept below refs/codeplane/recovery/" in preview
    asked = call()
    done = run(writes.remove(asked, forced))
    assert not (root / "one").exists()
    assert any("lost for good" in output and ".env" in output and ".codeplane/" in output for output in asked.warnings)
    assert kept_names(root) == ["work.txt"] and "lost work is kept in refs/codeplane/recovery/" in done.text()
    assert SECRET not in stored(root)


@requirement("GIT-14")
def test_without_secrets_a_work_tree_goes_unasked_and_a_refusal_leaves_no_ref(desk: Desk) -> None:
    writes, root = WorktreeWrites(desk.writer), desk.made.root
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    (root / ".git" / "info" / "exclude").open("a").write("*.log\n")
    (root / "one" / "x.log").write_text("log\n")
    (root / "one" / ".env.example").write_text("TOKEN=\n")
    with pytest.raises(GitRefused):
        run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    assert kept_names(root) == []
    (root / "one" / ".env.example").unlink()
    assert "lost work is kept" in run(writes.remove(call(), WorktreeRemoveRequest(name="one"))).text()
    assert kept_names(root) == ["x.log"]


@requirement("GIT-14", "TRUST-52")
async def test_an_approved_removal_by_an_agent_gives_git_no_secrets(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "a\n", ".gitignore": ".env\n"})
    async with plane(repo, NO_WAIT) as opened:
        await agent_calls.call(opened, "git.worktree_add", path="wt", branch="wt")
        fill(repo / "wt")
        refused = await agent_calls.call(opened, "git.worktree_remove", name="wt")
        assert refused.error is not None and refused.error.name == "GIT_REFUSED"
        action = agent_calls.action_of(await agent_calls.call(opened, "git.worktree_remove", name="wt", force=True))
        assert ".env, certs/id_rsa" in str((await agent_calls.shown(opened, action))["preview"])
        await agent_calls.decide(opened, "approval.approve", action_id=action)
        await agent_calls.executed(opened, action)
        assert not (repo / "wt").exists()
        assert kept_names(repo) == ["work.txt"] and SECRET not in stored(repo)


@requirement("GIT-14", "TRUST-52")
def test_git_is_given_no_secrets_of_a_submodule_that_goes(tmp_path: Path) -> None:
    allowed = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}
    desk = simple(tmp_path, **allowed)
    library = RandomRepository.empty(tmp_path / "library")
    library.write(".gitignore", ".env\n")
    library.commit("library")
    desk.made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    desk.made.commit("with a submodule")
    (desk.made.root / "lib" / ".env").write_text(SECRET)
    writes = SubmoduleWrites(desk.writer)
    plain, forced = SubmoduleRemoveRequest(path="lib"), SubmoduleRemoveRequest(path="lib", force=True)
    with pytest.raises(GitRefused, match=r"\.env in .* would be lost for good"):
        run(writes.remove(call(), plain))
    with pytest.raises(GitRefused, match=r"\.env"):
        writes.assess_remove(plain)
    (desk.made.root / "lib" / "id_rsa").write_text(SECRET)
    (desk.made.root / "lib" / "work.txt").write_text("work\n")
    assert any(".env, id_rsa" in effect for effect in writes.assess_remove(forced).effects)
    asked = call()
    run(writes.remove(asked, forced))
    assert any(".env, id_rsa" in output for output in asked.warnings)
    module = desk.made.root / ".git" / "modules" / "lib"
    objects = RandomRepository(root=module)
    listed = objects.git("--work-tree=.", "cat-file", "--batch-check=%(objectname)", "--batch-all-objects").split()
    held = b"\n".join(objects.git("--work-tree=.", "cat-file", "-p", oid.decode()) for oid in listed)
    assert b"work\n" in held and SECRET.encode() not in held


@requirement("TRUST-52")
def test_an_agent_has_no_secrets_file_stored_by_what_overwrites_it(desk: Desk) -> None:
    root = desk.made.root
    desk.made.git("checkout", "--quiet", "-b", "tracks")
    desk.made.write(".env", "TOKEN=example\n")
    desk.made.commit("tracks .env")
    desk.made.git("checkout", "--quiet", "main")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text(".env\n")
    (root / ".env").write_text(SECRET)
    with pytest.raises(PathDenied, match=r"\.env holds secrets"):
        run(Checkout(desk.writer).checkout(agents_call(), CheckoutRequest(ref="tracks")))
    (root / ".env").unlink()
    run(Checkout(desk.writer).checkout(agents_call(), CheckoutRequest(ref="tracks")))
    (root / ".env").write_text(SECRET)
    with pytest.raises(PathDenied, match=r"\.env holds secrets"):
        run(Reset(desk.writer).reset(agents_call(), ResetRequest(ref="HEAD", mode="hard")))
    assert (root / ".env").read_text() == SECRET and SECRET not in stored(root)
    desk.made.git("checkout", "--quiet", "--", ".env")
    run(Checkout(desk.writer).checkout(agents_call(), CheckoutRequest(ref="main")))
    assert not (root / ".env").exists()


@requirement("TRUST-52")
def test_a_secrets_file_that_is_no_longer_ignored_is_not_stored(desk: Desk) -> None:
    root = desk.made.root
    desk.made.git("checkout", "--quiet", "-b", "open")
    desk.made.git("checkout", "--quiet", "main")
    desk.made.write(".gitignore", ".env\n")
    desk.made.commit("ignores .env")
    (root / ".env").write_text(SECRET)
    done = run(Checkout(desk.writer).checkout(agents_call(), CheckoutRequest(ref="open")))
    assert done.delta.clean is False and SECRET not in stored(root)
    desk.undo(done.delta.mutation_id)
    assert (root / ".env").read_text() == SECRET and SECRET not in stored(root)


_WRAPPER = """#!/bin/sh
case "$*" in
*"worktree remove"*)
  "{git}" "$@" || exit $?
  mkdir -p "{left}"
  echo "error: failed to delete '{left}': Directory not empty" >&2
  exit 255;;
esac
exec "{git}" "$@"
"""


@requirement("GIT-14")
def test_a_removal_that_git_did_but_for_the_folder_is_told_as_done(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    run(WorktreeWrites(desk.writer).add(call(), WorktreeAddRequest(path="one", branch="one")))
    tools, left = tmp_path / "tools", desk.made.root / "one" / "late"
    tools.mkdir()
    found = next(place for one in os.environ["PATH"].split(":") if (place := Path(one) / "git").exists())
    (tools / "git").write_text(_WRAPPER.format(git=found, left=left))
    (tools / "git").chmod(0o755)
    desk.variables = {"PATH": f"{tools}:{os.environ['PATH']}"}
    asked = call()
    done = run(WorktreeWrites(desk.writer).remove(asked, WorktreeRemoveRequest(name="one")))
    assert done.worktree == str(desk.made.root / "one") and asked.change == "done"
    (warned,) = asked.warnings
    assert "the work tree is removed" in warned and "Directory not empty" in warned and "rm -r" in warned


@requirement("GIT-06")
def test_undo_keeps_files_that_a_checkout_only_stopped_ignoring(desk: Desk) -> None:
    root = desk.made.root
    desk.made.git("checkout", "--quiet", "-b", "open")
    desk.made.git("checkout", "--quiet", "main")
    desk.made.write(".gitignore", "notes.txt\n")
    desk.made.commit("ignores notes.txt")
    (root / "notes.txt").write_text("mine\n")
    time.sleep(0.1)
    done = run(Checkout(desk.writer).checkout(call(), CheckoutRequest(ref="open")))
    assert desk.made.git("status", "--porcelain").split() == [b"??", b"notes.txt"]
    desk.undo(done.delta.mutation_id)
    assert desk.made.git("branch", "--show-current").strip() == b"main"
    assert (root / "notes.txt").read_text() == "mine\n"
