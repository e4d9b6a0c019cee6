"""What is said of a call whose server was killed: done, not done, or, where nothing can tell, that it is not known."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.call import Call
from codeplane.kernel.call_record import key_holder
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.trust.approvals.action import ActionStatus
from codeplane.wiring.app import Plane
from tests.harness import Server, git, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, PATIENCE_SEC, events, plane

PROGRAM = (sys.executable, "-m", "tests.work.killed_server")
EDIT: JsonObject = {"edits": [{"path": "a.txt", "content": "new\n"}, {"path": "b.txt", "content": "new\n"}]}
KEY = "k1"
_ADD = "git.submodule_add"
_UPDATE = "git.submodule_update"
_KEYED: JsonObject = {"idempotency_key": KEY}


class Change(Request):
    """How far it shall come."""

    far: str = "none"


class Answer(Result):
    """Nothing."""


def _head(repo: Path) -> str:
    return git(repo, "log", "-1", "--format=%s").strip()


def _text(repo: Path) -> str:
    return (repo / "a.txt").read_text()


@dataclass(frozen=True, kw_only=True)
class Kill:
    """A call, the step at which its server is killed, and what has to be said of it then."""

    at: str
    operation: str
    arguments: JsonObject
    said: str
    before: tuple[tuple[str, JsonObject], ...] = ()
    shows: Callable[[Path], str] = _text
    left: str = "old\n"


def _write(at: str, output: str, left: str) -> Kill:
    return Kill(at=at, operation="write_files", arguments=EDIT, said=output, left=left)


def _commit(at: str, output: str, left: str) -> Kill:
    return Kill(at=at, operation="git.commit", arguments={"message": "second"}, said=output, shows=_head, left=left)


def _worktree(at: str, output: str, left: str, **more: str) -> Kill:
    arguments: JsonObject = {"path": "trees/one", "ref": "HEAD", **more}
    return Kill(at=at, operation="git.worktree_add", arguments=arguments, said=output, shows=_tree_text, left=left)


def _tree_text(repo: Path) -> str:
    place = repo / "trees" / "one" / "a.txt"
    return place.read_text() if place.exists() else ""


KILLS = {
    "an edit that was not decided": _write("before kept.json", "not done", "old\n"),
    "an edit that was decided": _write("after kept.json", "done", "new\n"),
    "an edit that was not recorded": _write("record write_files", "done", "new\n"),
    # Right after the files have moved, and before git's index has.
    "a move whose place in git's index was not moved": Kill(
        at="finished",
        operation="write_files",
        arguments={"edits": [{"path": "a.txt", "to": "d.txt"}]},
        said="done",
        shows=lambda repo: git(repo, "status", "--short", "a.txt", "d.txt"),
        left="R  a.txt -> d.txt\n",
    ),
    "a commit before git began": _commit("begun", "not done", "first"),
    "a commit that git made": _commit("before end", "done", "second"),
    "a work tree before git began": _worktree("begun", "not done", "", branch="new"),
    "a work tree that git made": _worktree("before end", "done", "old\n", branch="new"),
    "a work tree of a branch there was": _worktree("before end", "done", "old\n", ref="side"),
    "a work tree of a commit": _worktree("before end", "done", "old\n"),
    "a work tree that was not recorded": _worktree("record git.worktree_add", "done", "old\n"),
    "an undo of git's that was not recorded": Kill(
        at="record undo",
        operation="undo",
        arguments={},
        said="done",
        before=(("git.commit", {"message": "second"}),),
        shows=_head,
        left="first",
    ),
    "a push": Kill(
        at="record git.push",
        operation="git.push",
        arguments={"remote": "origin", "ref": "main"},
        said="unknown",
        shows=lambda repo: git(repo.parent / "far.git", "log", "-1", "--format=%s", "main").strip(),
        left="first",
    ),
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = make_repo(tmp_path / "shop", {"a.txt": "old\n", "b.txt": "old\n"})
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(tmp_path / "far.git"))
    git(repo, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(repo, "config", "user.name", "Test")
    git(repo, "config", "user.email", "test@example.com")
    git(repo, "branch", "side")
    (repo / "c.txt").write_text("c\n")
    git(repo, "add", "c.txt")
    return repo


def _killed(repo: Path, kill: Kill) -> None:
    server = start(repo, program=PROGRAM, environ={"KILL_AT": kill.at})
    for name, arguments in kill.before:
        assert "error" not in server.call(name, **arguments)
    with pytest.raises((OSError, HTTPException, CodePlaneError)):
        server.call(kill.operation, **kill.arguments, idempotency_key=KEY)
    assert server.process.wait(timeout=60) == -9


def _finished(server: Server, operation: str) -> JsonObject:
    """The record of the call that was cut off, once it is in the log."""

    def found() -> list[JsonObject]:
        answer = server.call("ledger.events", types=["call.finished"], limit=1000)
        results = cast(dict[str, list[dict[str, JsonObject]]], answer["result"])["results"]
        payloads = [event["payload"] for event in results]
        return [one for one in payloads if one["operation"] == operation and one.get("idempotency_key") == KEY]

    return until(found)[0]


@requirement("TASK-08")
@pytest.mark.parametrize("name", KILLS)
def test_a_kill_is_followed_by_what_became_of_it(repo: Path, name: str) -> None:
    kill = KILLS[name]
    _killed(repo, kill)
    server = start(repo)
    try:
        assert kill.shows(repo) == kill.left
        record = _finished(server, kill.operation)
        again = server.call(kill.operation, **kill.arguments, idempotency_key=KEY)
        error = again.get("error")
        if kill.said == "done":
            assert (record["status"], record["executed"]) == ("ok", True)
            assert isinstance(error, dict) and error["error"] == "RESULT_GONE", again
            assert "is done as mut_" in str(error["message"]) and "'done': True" in str(error["details"])
            assert str(record["mutation_id"]) in str(error["message"])
            mutations = server.call("mutation.list")["result"]
            assert str(record["mutation_id"]) in str(mutations)
        elif kill.said == "not done":
            assert (record["status"], record["executed"]) == ("INTERRUPTED", False)
            # So the same key may be used for it, and now it is done.
            assert error is None, again
            assert kill.shows(repo) != kill.left
        else:
            assert (record["status"], record["executed"]) == ("OUTCOME_UNKNOWN", True)
            assert isinstance(error, dict) and error["error"] == "OUTCOME_UNKNOWN"
    finally:
        server.stop()


@requirement("GIT-40")
@pytest.mark.parametrize(
    ("at", "done"), [("begun", False), ("submodule written", False), ("before end", True), (f"record {_ADD}", True)]
)
def test_a_submodule_that_a_kill_cut_off_is_added_or_not(repo: Path, tmp_path: Path, at: str, done: bool) -> None:
    git(repo, "push", "--quiet", "origin", "main")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    home, url = {"HOME": str(tmp_path / "home")}, f"file://{tmp_path / 'far.git'}"
    server = start(repo, program=PROGRAM, environ={**home, "KILL_AT": at})
    with pytest.raises((OSError, HTTPException, CodePlaneError)):
        server.call(_ADD, url=url, path="libs/one", idempotency_key=KEY)
    assert server.process.wait(timeout=60) == -9
    server = start(repo, environ=home)
    try:
        # Where git-lfs is installed, an empty folder of modules is made for its filter's enclosure.
        assert (repo / "libs").exists() == (repo / ".git" / "modules" / "libs").exists() == done
        record = _finished(server, _ADD)
        again = server.call(_ADD, url=url, path="libs/one", idempotency_key=KEY)
        assert (record["status"], record["executed"]) == (("ok", True) if done else ("INTERRUPTED", False))
        assert ("RESULT_GONE" in str(again)) == done
        assert (repo / "libs" / "one" / "a.txt").read_text() == "old\n"
    finally:
        server.stop()


@requirement("GIT-40")
@pytest.mark.parametrize(
    ("at", "done"), [("submodule written", False), ("before end", True), (f"record {_UPDATE}", True)]
)
def test_a_submodule_update_that_a_kill_cut_off_is_done_or_not(repo: Path, tmp_path: Path, at: str, done: bool) -> None:
    git(repo, "push", "--quiet", "origin", "main")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    home = {"HOME": str(tmp_path / "home")}
    allowed = ("-c", "protocol.file.allow=always")
    git(repo, *allowed, "submodule", "--quiet", "add", f"file://{tmp_path / 'far.git'}", "libs/one")
    git(repo, "commit", "--quiet", "-m", "with a submodule")
    git(repo, "submodule", "--quiet", "deinit", "--all", "--force")
    server = start(repo, program=PROGRAM, environ={**home, "KILL_AT": at})
    with pytest.raises((OSError, HTTPException, CodePlaneError)):
        server.call(_UPDATE, idempotency_key=KEY)
    assert server.process.wait(timeout=60) == -9
    server = start(repo, environ=home)
    try:
        assert (repo / "libs" / "one" / "a.txt").exists() == done
        record = _finished(server, _UPDATE)
        again = server.call(_UPDATE, idempotency_key=KEY)
        assert (record["status"], record["executed"]) == (("ok", True) if done else ("INTERRUPTED", False))
        assert ("RESULT_GONE" in str(again)) == done
        assert (repo / "libs" / "one" / "a.txt").read_text() == "old\n"
    finally:
        server.stop()


class JournaledOps:
    """Operations that say how far their change has come, and then go on for ever."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.times = 0

    @operation("fixture.change", risk=Risk.WRITE, capability="write_files", timeout_sec=0)
    async def change(self, call: Call, request: Change) -> Answer:
        """Come as far as the request says."""
        return await self._come(call, request)

    @operation("fixture.bounded", risk=Risk.WRITE, capability="write_files", timeout_sec=0.1)
    async def bounded(self, call: Call, request: Change) -> Answer:
        """The same, for a while."""
        return await self._come(call, request)

    async def _come(self, call: Call, request: Change) -> Answer:
        self.times += 1
        if request.far != "none":
            call.change_begins()
        if request.far in ("done", "not_done"):
            call.change_ended(done=request.far == "done", mutation_id="mut_1")
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")


@requirement("TASK-08")
@pytest.mark.parametrize(
    ("far", "output"), [("none", None), ("not_done", None), ("begun", "OUTCOME_UNKNOWN"), ("done", "RESULT_GONE")]
)
@pytest.mark.parametrize("ended", ["cancelled", "out of time"])
async def test_a_call_that_its_caller_left_is_told_by_its_key(
    tmp_path: Path, far: str, output: str | None, ended: str
) -> None:
    name = "fixture.change" if ended == "cancelled" else "fixture.bounded"

    async def left(opened: Plane, operations: JournaledOps) -> CodePlaneError | None:
        operations.reached.clear()
        running = asyncio.ensure_future(opened.conveyor.call(name, {"far": far, **_KEYED}, AGENT))
        await operations.reached.wait()
        if ended == "cancelled":
            running.cancel()
            await asyncio.wait({running})
            return None
        return (await running).error

    operations = JournaledOps()
    async with plane(tmp_path, operations=[operations]) as opened:
        error = await left(opened, operations)
        if error is not None:
            assert error.name == "DEADLINE_EXCEEDED"
            assert ("the change itself is done (mutation mut_1)" in error.message) == (far == "done")
            assert ("nothing was changed" in error.message) == (far in ("none", "not_done"))
        await opened.log.flush()
        if output is None:
            # Nothing was done, so the same key runs it.
            await left(opened, operations)
            assert operations.times == 2
        else:
            again = await opened.conveyor.call(name, {"far": far, **_KEYED}, AGENT)
            assert again.error is not None and again.error.name == output
            assert operations.times == 1
            assert far != "done" or "is done as mut_1" in again.error.message


@requirement("TASK-08")
async def test_an_approved_change_that_was_not_done_is_run_after_the_restart(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "old\n"})
    edit: JsonObject = {"edits": [{"path": "a.txt", "content": "new\n"}]}
    async with plane(repo, "trust.mode=always") as opened:
        asked = await opened.conveyor.call("write_files", {**edit, **_KEYED}, AGENT)
        assert asked.error is not None and asked.error.name == "APPROVAL_PENDING"
        action_id = str(asked.error.details["action_id"])
        action = await opened.trust.approvals.get(action_id)
        # Approved and begun, and then the server was killed: this is what its log holds.
        ids = Correlation(call_id="call_cut", task_id="task_cut", session_id="sess_cut")
        began: JsonObject = {
            "operation": "write_files",
            "mutates": True,
            "budget": "mutation",
            "arguments_hash": action.arguments_hash,
            "idempotency_key": KEY,
            "owner_id": action.actor.owner_id,
            "key_holder": key_holder(action.actor),
            "action_id": action_id,
        }
        decided: JsonObject = {"action_id": action_id, "by": "owner", "reason": ""}
        await opened.log.append(
            [
                Draft(stream=action.stream, type="action.approved", payload=decided),
                Draft(
                    stream="task/task_cut",
                    type="call.started",
                    payload=began,
                    actor=str(action.actor),
                    correlation=ids,
                ),
            ]
        )
    async with plane(repo, "trust.mode=always") as opened:
        async with asyncio.timeout(PATIENCE_SEC):
            while (await opened.trust.approvals.get(action_id)).status is not ActionStatus.EXECUTED:
                await asyncio.sleep(0.01)
        assert (repo / "a.txt").read_text() == "new\n"
        ended = await events(opened, "call.finished")
        statuses = [event.payload["status"] for event in ended if event.payload["operation"] == "write_files"]
        assert statuses[-2:] == ["INTERRUPTED", "ok"]
