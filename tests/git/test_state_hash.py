"""`repo_before` and `repo_after` of a recorded call: a hash of HEAD, git's index and the files."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.harness import git, make_repo, until
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, events, plane

FILES = {"shop.py": "def price():\n    return 1\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.out\n"}
Act = Callable[[str, JsonObject], Awaitable[tuple[str, str]]]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", FILES)


async def _acted(opened: Plane, operation: str, arguments: JsonObject) -> tuple[str, str]:
    """Call, and give the hashes before and after it."""
    outcome = await opened.conveyor.call(operation, arguments, OWNER)
    assert outcome.error is None, outcome.error
    (event,) = await events(opened, "call.finished", call_id=outcome.meta.call_id)
    return str(event.payload["repo_before"]), str(event.payload["repo_after"])


@asynccontextmanager
async def _acting(repo: Path, *settings: str) -> AsyncIterator[tuple[Act, Plane]]:
    async with plane(repo, "embeddings.model=none", *settings) as running:
        await running.index.wait_until_ready()
        yield (lambda operation, arguments: _acted(running, operation, arguments)), running


def _edit(text: str, path: str = "shop.py") -> JsonObject:
    return {"edits": [{"path": path, "content": text}]}


@requirement("TASK-07")
async def test_every_kind_of_change_changes_it_and_the_same_state_gives_the_same(repo: Path) -> None:
    async with _acting(repo) as (act, _):
        start, edited = await act("write_files", _edit("x = 1\n"))
        assert start != edited
        # Each call finds what the one before left.
        again, undone = await act("undo", {})
        assert (again, undone) == (edited, start)
        _, new = await act("write_files", _edit("y = 1\n", "new.py"))
        assert new not in (start, edited)
        _, staged = await act("git.stage", {"paths": ["new.py"]})
        assert staged != new
        _, committed = await act("git.commit", {"message": "new"})
        assert committed not in (start, edited, new, staged)
        _, branched = await act("git.checkout", {"ref": "other", "create": True})
        assert branched != committed
        _, back = await act("git.checkout", {"ref": "main"})
        assert back == committed
        # A call that changes nothing leaves what it found.
        found, left = await act("session.create", {})
        assert found == left == committed
        _, soft = await act("git.reset", {"ref": "HEAD~1", "mode": "soft"})
        assert soft == staged
        _, executable = await act("write_files", {"edits": [{"path": "shop.py", "executable": True}]})
        assert executable != soft


@requirement("TASK-07")
async def test_it_is_the_same_after_a_restart_and_in_another_clone(repo: Path, tmp_path: Path) -> None:
    found: list[tuple[str, str]] = []

    async def body(act: Act, running: Plane) -> None:
        found.append(await act("write_files", _edit("x = 1\n")))
        found.append(await act("undo", {}))

    async with _acting(repo) as (act, running):
        await body(act, running)
    # Times and inodes are other ones, and git has written its index again.
    (repo / "shop.py").unlink()
    git(repo, "checkout", "--quiet", "--", "shop.py")
    git(repo, "update-index", "--refresh")
    async with _acting(repo) as (act, running):
        await body(act, running)
    git(tmp_path, "clone", "--quiet", str(repo), str(tmp_path / "clone"))
    async with _acting(tmp_path / "clone") as (act, running):
        await body(act, running)
    assert found[:2] == found[2:4] == found[4:]


@requirement("TASK-07")
async def test_a_change_from_outside_is_seen(repo: Path) -> None:
    async with _acting(repo, "index.watch=false") as (act, running):
        _, before = await act("session.create", {})
        (repo / "shop.py").write_text("x = 3\n")
        answer = await running.conveyor.call("search", {"query": "x = 3", "fresh": "strict"}, OWNER)
        assert answer.error is None
        _, after = await act("session.create", {})
        assert after != before
        # What git ignores is no part of it.
        (repo / "made.out").write_text("1\n")
        await running.conveyor.call("search", {"query": "x = 3", "fresh": "strict"}, OWNER)
        assert (await act("session.create", {}))[1] == after


@requirement("TASK-07")
async def test_while_the_index_is_not_ready_it_says_so(repo: Path) -> None:
    async with plane(repo) as running:
        before, _ = await _acted(running, "session.create", {})
        assert before.endswith("~")
        await running.index.wait_until_ready()
        await asyncio.to_thread(until, lambda: running.index.newest_snapshot() is not None)
        after, _ = await _acted(running, "session.create", {})
        assert not after.endswith("~") and after != before.removesuffix("~")


@requirement("TASK-07")
async def test_the_number_kept_in_step_is_the_one_of_all_files(repo: Path) -> None:
    async with _acting(repo) as (act, running):
        for number in range(5):
            await act("write_files", _edit(f"x = {number}\n", f"f{number % 3}.py"))
        await act("write_files", {"edits": [{"path": "f1.py", "action": "delete"}, {"path": "f2.py", "to": "g.py"}]})
        (repo / "run.sh").chmod(0o755)
        await running.conveyor.call("search", {"query": "x", "fresh": "strict"}, OWNER)
        snapshot = running.index.newest_snapshot()
        assert snapshot is not None and "state" in snapshot.__dict__
        kept = snapshot.__dict__.pop("state")
        assert snapshot.state == kept
