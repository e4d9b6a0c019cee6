"""`orchestrate.explore.replay`: runs the operations of a recorded exploration again and compares their results."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from codeplane import __version__
from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound, ResultGone
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Risk, operation
from codeplane.kernel.ports import Payloads
from codeplane.kernel.redaction import Redactor
from codeplane.work.explore.access import ExploreAccess
from codeplane.work.explore.agent_op import GIT_STATUS, INDEX_REPO, READ_SPAN, SUMMARIZE, AgentOp
from codeplane.work.explore.concurrency import Concurrency
from codeplane.work.explore.events import session_id_of
from codeplane.work.explore.exploration import Exploration
from codeplane.work.explore.op_runner import OpOutcome, OpRunner
from codeplane.work.explore.summary import CamelResult
from codeplane.work.explore.trace import Trace
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import Door
from codeplane.work.items.step_list import SURFACE

Outcome = Literal["same", "different", "failed", "not replayed"]
_MAX_CHANGED = 20
# These tell of the moment: the state of the work tree, and that of the index.
_MOMENTARY = frozenset({GIT_STATUS, INDEX_REPO})

# Checks a commit out into a work tree of its own whose operations the calls of that id run; and removes it.
OpenTree = Callable[[str, str], Awaitable[None]]
CloseTree = Callable[[str], Awaitable[None]]


class ReplayRequest(Request):
    """Which exploration, and up to which of its events."""

    trace_id: str = Field(min_length=4, max_length=100, description="the sessionId or work id of an exploration")
    until_event_id: str = Field("", max_length=100, description="the last event that counts; all without it")


class ReplayedOp(CamelResult):
    """One operation, as recorded and as repeated; `changed` are the files that explain a difference."""

    op_id: str
    op_hash: int
    kind: str
    outcome: Outcome
    then: int | None = None
    now: int | None = None
    changed: tuple[str, ...] = ()
    why: str = ""

    def text(self) -> str:
        files = f": {', '.join(self.changed[:5])}" if self.changed else ""
        return f"{self.outcome}: {self.kind} {self.why}{files}".rstrip()


class ReplayResult(CamelResult):
    """Which results are the same, which differ, and whether changed files explain that."""

    trace_id: str
    against: str
    commit: str | None
    ops: tuple[ReplayedOp, ...]
    same: int
    different: int
    failed: int
    not_replayed: int
    unexplained: int = Field(description="differences that no changed file explains")
    changed_files: tuple[str, ...] = ()

    def unmet(self) -> str | None:
        return "there are differences that no changed file explains" if self.unexplained else None

    def text(self) -> str:
        lines = [op.text() for op in self.ops if op.outcome not in ("same", "not replayed")]
        counts = f"{self.same} same, {self.different} different ({self.unexplained} unexplained), {self.failed} failed"
        return "\n".join([*lines, f"[{counts}, {self.not_replayed} not replayed; against {self.against}]"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What is asked again, and which files differ from what was asked then; None when nobody knows."""

    runner: OpRunner
    against: str
    changed: tuple[str, ...] | None
    recorded_by: str = __version__


class ReplayOperations:
    """Replays explorations through the door, by the rights of the caller."""

    def __init__(
        self,
        *,
        log: EventLog,
        payloads: Payloads,
        access: ExploreAccess,
        door: Door,
        redactor: Redactor,
        open_tree: OpenTree,
        close_tree: CloseTree,
    ) -> None:
        self._log = log
        self._payloads = payloads
        self._access = access
        self._door = door
        self._redactor = redactor
        self._open_tree = open_tree
        self._close_tree = close_tree

    @operation("orchestrate.explore.replay", risk=Risk.READ, timeout_sec=600)
    async def replay(self, call: Call, request: ReplayRequest) -> ReplayResult:
        """Run the operations of a recorded exploration again, against its commit where that can be had, and tell which
        results differ and which changed files explain it."""
        item = await self._access.get(call, request.trace_id)
        trace = await Trace.load(self._log, item.work_id)
        if request.until_event_id:
            cut = trace.until(request.until_event_id)
            if cut is None:
                raise NotFound(f"the exploration has no event {request.until_event_id!r}", hint="take an eventId of it")
            trace = cut
        data = await self._payloads.get(item.work_id, item.payload_hash)
        if data is None:
            raise ResultGone(f"what {item.work_id} explored is no longer stored")
        if not trace.results:
            raise InvalidArgument("nothing had a result up to there", hint="replay it to a later event")
        exploration, ops = Exploration.from_bytes(data), trace.ops
        # What models planned is not asked again: its operations are.
        results = {op_id: result for op_id, result in trace.results.items() if op_id in ops}
        recorded = next((results[op_id]["value"] for op_id in results if ops[op_id].kind == GIT_STATUS), None)
        git = recorded if isinstance(recorded, dict) else {}
        async with AsyncExitStack() as stack:
            ground = await self._ground(call, item, exploration, git, stack)
            ground = replace(ground, recorded_by=exploration.version)
            replayed: list[ReplayedOp] = []
            for number, (op_id, result) in enumerate(results.items()):
                await call.progress(number, len(results))
                replayed.append(await _replay_op(ground, ops[op_id], result))
        counts = Counter(op.outcome for op in replayed)
        return ReplayResult(
            trace_id=session_id_of(item.work_id),
            against=ground.against,
            commit=str(git["headCommit"]) if git.get("headCommit") else None,
            ops=tuple(replayed),
            same=counts["same"],
            different=counts["different"],
            failed=counts["failed"],
            not_replayed=counts["not replayed"],
            unexplained=sum(op.outcome == "different" and not op.changed for op in replayed),
            changed_files=(ground.changed or ())[:_MAX_CHANGED],
        )

    async def _ground(
        self, call: Call, item: WorkItem, exploration: Exploration, then: JsonObject, stack: AsyncExitStack
    ) -> _Ground:
        """Choose what is asked: the present state when it is the recorded one, else a work tree of the commit."""
        own = replace(
            call.caller, request_id=None, on_progress=None, connection_id=f"replay by {call.caller.connection_id}"
        )
        present = self._runner(own, exploration)
        commit = str(then.get("headCommit") or "")
        now = await _git_status(present, exploration)
        if not commit:
            return _Ground(runner=present, against="the present state, since no commit was recorded", changed=None)
        if then.get("clean") is True and now.get("headCommit") == commit and now.get("clean") is True:
            return _Ground(runner=present, against=f"the present state, which is commit {commit[:12]}", changed=())
        changed = tuple(_paths(then))
        if exploration.target.workspace:
            both = tuple(dict.fromkeys([*changed, *_paths(now)]))
            known = both if now.get("headCommit") == commit else None
            return _Ground(runner=present, against="the present state of an attached workspace", changed=known)
        tree_id = new_id("replay")
        try:
            await self._open_tree(tree_id, commit)
        except CodePlaneError as error:
            return _Ground(runner=present, against=f"the present state: {error.message}", changed=None)
        stack.push_async_callback(self._close_tree, tree_id)
        origin = replace(item.origin(0, ""), job_id=tree_id, step=None, node=None)
        caller = Caller(surface=SURFACE, connection_id=tree_id, actor=item.actor, origin=origin, wait_sec=0)
        runner = self._runner(caller, exploration)
        await _run(runner, AgentOp.new(INDEX_REPO, path=""))
        return _Ground(runner=runner, against=f"a work tree of commit {commit[:12]}", changed=changed)

    def _runner(self, caller: Caller, exploration: Exploration) -> OpRunner:
        return OpRunner(door=self._door, caller=caller, target=exploration.target, redactor=self._redactor)


async def _replay_op(ground: _Ground, op: AgentOp, result: Mapping[str, JsonValue]) -> ReplayedOp:
    then = result["checksum"]
    replayed = ReplayedOp(
        op_id=op.op_id, op_hash=op.op_hash, kind=op.kind, outcome="same", then=then if isinstance(then, int) else None
    )
    if op.kind in _MOMENTARY:
        return replayed.model_copy(update={"outcome": "not replayed", "why": "it tells of the moment"})
    outcome = await _run(ground.runner, op)
    if outcome.result is None:
        message = outcome.error.message if outcome.error is not None else ""
        return replayed.model_copy(update={"outcome": "failed", "why": message})
    if outcome.result.checksum == then:
        return replayed.model_copy(update={"now": then})
    changed = _explaining(op, ground.changed)
    why = "" if changed else _unexplained(ground)
    update = {"outcome": "different", "now": outcome.result.checksum, "changed": changed, "why": why}
    return replayed.model_copy(update=update)


def _unexplained(ground: _Ground) -> str:
    """The note on a difference that no changed file explains."""
    if ground.recorded_by != __version__:
        by = ground.recorded_by or "an older version"
        return f"no changed file explains it; it was recorded by {by} of CodePlane, this is {__version__}"
    return "no changed file explains it" if ground.changed is not None else "what changed is not known"


def _explaining(op: AgentOp, changed: tuple[str, ...] | None) -> tuple[str, ...]:
    """The changed files that an operation looked at: those it names, or for the whole repository all of them."""
    if op.kind == READ_SPAN:
        return tuple(path for path in changed or () if path == op.params["path"])
    if op.kind == SUMMARIZE:
        paths = op.params["paths"]
        return tuple(path for path in changed or () if isinstance(paths, (list, tuple)) and path in paths)
    return (changed or ())[:_MAX_CHANGED]


async def _git_status(runner: OpRunner, exploration: Exploration) -> JsonObject:
    outcome = await _run(runner, AgentOp.new(GIT_STATUS, path=exploration.target.folder))
    value = outcome.result.value if outcome.result is not None else None
    return dict(value) if isinstance(value, Mapping) else {}


async def _run(runner: OpRunner, op: AgentOp) -> OpOutcome:
    async def ignore(text: str) -> None:
        return

    return await runner.run(op, Concurrency.default(), ignore)


def _paths(git: Mapping[str, JsonValue]) -> list[str]:
    deltas = git.get("deltas")
    return [str(delta["path"]) for delta in deltas if isinstance(delta, Mapping)] if isinstance(deltas, list) else []
