"""Runs an exploration: starts what its plan says, records results, plans on from them, and sums up in the end."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import CodePlaneError, Internal, OpCanceled, ShuttingDown
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ledger
from codeplane.work.explore.agent_op import INDEX_REPO, AgentOp
from codeplane.work.explore.concurrency import Concurrency
from codeplane.work.explore.error_codes import agent_error
from codeplane.work.explore.events import COMMAND, ERROR, PLAN_SNAPSHOT, PROGRESS, RESULT, draft, explore_stream
from codeplane.work.explore.exploration import Exploration
from codeplane.work.explore.facts import Facts
from codeplane.work.explore.op_queue import OpQueue, OpState
from codeplane.work.explore.op_runner import OpOutcome, OpRunner, command
from codeplane.work.explore.plan import ExplorePlan
from codeplane.work.explore.planner import Planner
from codeplane.work.explore.rule_planner import PlanStep
from codeplane.work.explore.summary import ExploreSummary, summarize
from codeplane.work.explore.trace import Trace
from codeplane.work.explore.typed_result import TypedResult

_LOOK_SEC = 1.0


@dataclass(slots=True, kw_only=True)
class Explorer:
    """One run of one exploration, the only writer of its stream until it ends."""

    work_id: str
    actor: str
    exploration: Exploration
    log: Ledger
    clock: Clock
    runner: OpRunner
    planner: Planner
    concurrency: Callable[[], Concurrency]
    is_stopping: Callable[[], bool]
    max_seconds: float
    # Results of an earlier exploration that still hold, by the hashes of their operations.
    known: dict[int, JsonObject] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    _queue: OpQueue = field(default_factory=OpQueue)
    _tasks: "dict[asyncio.Task[OpOutcome], AgentOp]" = field(default_factory=dict)
    _planning: "asyncio.Task[PlanStep | None] | None" = None
    _commands: dict[str, str] = field(default_factory=dict)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _sequence: int = 0
    _snapshot_event: str = ""

    async def run(self, trace: Trace) -> ExploreSummary | None:
        """Explore from the first snapshot on; None when the engine stops in between."""
        self._sequence, self._snapshot_event = trace.sequence, trace.snapshot_event
        plan = trace.plan
        self._queue.add(plan.ops)
        deadline_ns = self.clock.monotonic_ns() + int(self.max_seconds * SECOND_NS)
        self.planner.start(self.facts, self._record)
        self._planning = asyncio.ensure_future(self.planner.next_step())
        try:
            while self._goes_on():
                if self.is_stopping():
                    return None
                await self._turn(plan)
                if self.clock.monotonic_ns() >= deadline_ns:
                    await self._run_out(plan)
        except ShuttingDown:
            return None
        finally:
            await self._end_tasks()
        return summarize(self.exploration.target, self.facts, self.exploration.goals)

    def _goes_on(self) -> bool:
        """Whether something runs, waits or is still being planned."""
        return bool(self._tasks) or not self._queue.is_empty or self._planning is not None

    async def _turn(self, plan: ExplorePlan) -> None:
        """Start what can start, wait until something ends or is planned, and plan on."""
        await self._write(self._start())
        if not self._tasks:
            await self._write(self._drop(self._queue.cancel([op.op_id for op in plan.ops]), "it cannot start"))
            self.planner.hurry()
        waited: set[asyncio.Future[OpOutcome] | asyncio.Future[PlanStep | None]] = {*self._tasks}
        waited |= {self._planning} if self._planning is not None else set()
        if not waited:
            return
        done, _ = await asyncio.wait(waited, timeout=_LOOK_SEC, return_when=asyncio.FIRST_COMPLETED)
        drafts: list[Draft] = []
        steps = self._take_planned()
        for task in sorted(self._tasks.keys() & done, key=lambda task: plan.ops.index(self._tasks[task])):
            op = self._tasks.pop(task)
            outcome = _outcome(task)
            if isinstance(outcome.error, ShuttingDown):
                raise outcome.error
            drafts += self._finish(op, outcome)
            if outcome.result is not None:
                steps.append(self.planner.observe(plan, op, outcome.result))
        await self._write([*drafts, *self._take_step(plan, steps)])

    def _take_planned(self) -> list[PlanStep]:
        """What the planner has added on its own, and the wait for its next step."""
        if self._planning is None or not self._planning.done():
            return []
        step = self._planning.result()
        self._planning = asyncio.ensure_future(self.planner.next_step()) if step is not None else None
        return [step] if step is not None else []

    async def _run_out(self, plan: ExplorePlan) -> None:
        """End everything that has not started: the time is over."""
        self.facts.note(f"the exploration ended after {self.max_seconds:.0f} seconds")
        await self._write(self._drop(self._queue.cancel([op.op_id for op in plan.ops]), "the time is over"))
        if self._planning is not None:
            self._planning.cancel()
            self._planning = None

    async def _record(self, kind: str, value: JsonObject, command_case: str | None, parent: str | None) -> str:
        """Record an event of the planner's own."""
        event = self._event(kind, value, parent=parent or self._snapshot_event, command_case=command_case)
        await self._write([event])
        return event.event_id or ""

    def _start(self) -> list[Draft]:
        """Start operations that have a place, and the commands that say so."""
        drafts: list[Draft] = []
        concurrency = self.concurrency()
        for op in self._queue.take(concurrency):
            case, value = command(op, self.exploration.target)
            event = self._event(COMMAND, {"opId": op.op_id, **value}, parent=self._snapshot_event, command_case=case)
            self._commands[op.op_id] = event.event_id or ""
            drafts.append(event)
            known = self.known.get(op.op_hash)
            work = self._repeat(op, known) if known is not None else self._run(op, concurrency)
            self._tasks[asyncio.ensure_future(work)] = op
        return drafts

    async def _run(self, op: AgentOp, concurrency: Concurrency) -> OpOutcome:
        async def tell(text: str) -> None:
            value: JsonObject = {"op": op.kind, "opId": op.op_id, "percent": await self._percent(), "details": text}
            await self._write([self._event(PROGRESS, value, parent=self._commands.get(op.op_id))])

        return await self.runner.run(op, concurrency, tell)

    async def _repeat(self, op: AgentOp, known: JsonObject) -> OpOutcome:
        """The result that an equal operation of an earlier exploration had."""
        result = TypedResult(
            op_id=op.op_id, type=str(known["type"]), value=known["value"], truncated=known.get("truncated") is True
        )
        return OpOutcome(result=result)

    async def _percent(self) -> float | None:
        """The last reported progress of the index."""
        workspace = self.exploration.target.workspace
        stream = f"index/{workspace}" if workspace else "index"
        newest = await self.log.query(EventQuery(stream=stream, types=("index.progress",), newest=True, limit=1))
        share = newest[0].payload.get("share") if newest else None
        return round(share * 100, 1) if isinstance(share, (int, float)) else None

    def _finish(self, op: AgentOp, outcome: OpOutcome) -> list[Draft]:
        """Record how an operation ended, and what is dropped because of that."""
        parent = self._commands.get(op.op_id)
        dropped = self._queue.finish(op.op_id, ok=outcome.result is not None)
        if outcome.partial:
            self.facts.note(outcome.partial)
        if outcome.result is None:
            error = outcome.error or Internal(f"{op.kind} gave nothing")
            self.facts.note(f"{op.kind} failed: {error.message}")
            event = self._event(ERROR, agent_error(op, error), parent=parent)
            return [event, *self._drop(dropped, f"{op.kind} failed")]
        if op.kind == INDEX_REPO:
            self._queue.is_index_ready = True
        self.facts.add(op, outcome.result)
        if outcome.result.truncated and op.kind == "mapRepo":
            self.facts.note("the map leaves out some files")
        event = self._event(RESULT, outcome.result.to_event(), parent=parent)
        return [event, *self._drop(dropped, f"{op.kind}, which it depends on, was cancelled")]

    def _take_step(self, plan: ExplorePlan, steps: Iterable[PlanStep]) -> list[Draft]:
        """Extend the plan and the queue by what the planner says, as one snapshot, if it says anything."""
        taken = [step for step in steps if not step.is_empty]
        added = plan.append(op for step in taken for op in step.add)
        cancelled = [op_id for step in taken for op_id in step.cancel if self._is_open(op_id)]
        if not added and not cancelled:
            return []
        self._queue.add(added)
        event = self._event(PLAN_SNAPSHOT, plan.snapshot(cancelled))
        self._snapshot_event = event.event_id or ""
        return [event, *self._drop(self._queue.cancel(cancelled), "the plan cancelled it")]

    def _is_open(self, op_id: str) -> bool:
        return self._queue.state(op_id) in (OpState.QUEUED, OpState.RUNNING)

    def _drop(self, ops: Sequence[AgentOp], why: str) -> list[Draft]:
        return [
            self._event(
                ERROR, agent_error(op, OpCanceled(f"{op.kind} was dropped: {why}")), parent=self._snapshot_event
            )
            for op in ops
        ]

    def _event(
        self, kind: str, value: JsonObject, *, parent: str | None = None, command_case: str | None = None
    ) -> Draft:
        return draft(self.work_id, kind, value, actor=self.actor, parent=parent, command=command_case)

    async def _write(self, drafts: Sequence[Draft]) -> None:
        """Append events behind the last one of this run; SequenceConflict when the exploration was ended meanwhile."""
        if not drafts:
            return
        async with self._writing:
            await self.log.append(drafts, expect={explore_stream(self.work_id): self._sequence})
            self._sequence += len(drafts)

    async def _end_tasks(self) -> None:
        if self._planning is not None:
            self._planning.cancel()
        await self.planner.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


def _outcome(task: "asyncio.Task[OpOutcome]") -> OpOutcome:
    """How an operation's task ended; a bug in it ends the operation, not the exploration."""
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, CodePlaneError):
        return OpOutcome(error=error)
    if not isinstance(error, Exception):
        raise error
    return OpOutcome(error=Internal(f"the operation broke: {type(error).__name__}: {str(error)[:200]}"))
