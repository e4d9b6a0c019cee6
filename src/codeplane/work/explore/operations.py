"""The operations on explorations."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

from codeplane import __version__
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import InvalidArgument, StreamGap, WorkEnded
from codeplane.kernel.event import Event, Heartbeat
from codeplane.kernel.ids import uuid7
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger, Payloads
from codeplane.kernel.redaction import Redactor
from codeplane.work.explore.access import ExploreAccess
from codeplane.work.explore.events import (
    ENDS,
    PLAN_SNAPSHOT,
    STARTED,
    draft,
    envelope,
    explore_stream,
    session_id_of,
    work_id_of,
)
from codeplane.work.explore.exploration import KIND, Exploration, ExplorePolicy
from codeplane.work.explore.kind import ABORTED, ExploreKind
from codeplane.work.explore.models import (
    AbortRequest,
    ConcurrencyRequest,
    ConcurrencyResult,
    ExploreEvent,
    ExploreItem,
    ExplorePage,
    ExploreView,
    ListRequest,
    StartRequest,
    StartResult,
    State,
    StatusRequest,
    WatchRequest,
)
from codeplane.work.explore.op_queue import OpState
from codeplane.work.explore.plan import ExplorePlan
from codeplane.work.explore.preflight import Preflight
from codeplane.work.explore.rule_planner import DEFAULT_GOALS, RulePlanner
from codeplane.work.explore.summary import ExploreSummary
from codeplane.work.explore.summary_markdown import summary_markdown
from codeplane.work.explore.trace import Trace
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import Priority, WorkItem, WorkLimits, WorkState, delegator
from codeplane.work.items.kind import PassMarks

_STATES: dict[WorkState, State] = {
    WorkState.QUEUED: "queued",
    WorkState.RUNNING: "running",
    WorkState.WAITING: "running",
    WorkState.COMPLETED: "completed",
    WorkState.FAILED: "stopped",
    WorkState.CANCELLED: "stopped",
}


class ExploreOperations:
    """What clients can do with explorations."""

    def __init__(
        self,
        *,
        engine: WorkEngine,
        kind: ExploreKind,
        log: Ledger,
        payloads: Payloads,
        access: ExploreAccess,
        preflight: Preflight,
        cursors: Cursors,
        redactor: Redactor,
        max_seconds: float,
        pass_marks: PassMarks,
    ) -> None:
        self._engine = engine
        self._kind = kind
        self._log = log
        self._payloads = payloads
        self._access = access
        self._preflight = preflight
        self._cursors = cursors
        self._redactor = redactor
        self._max_seconds = max_seconds
        self._pass_marks = pass_marks

    @operation("orchestrate.explore.start", risk=Risk.WRITE, timeout_sec=0)
    async def start(self, call: Call, request: StartRequest) -> StartResult:
        """Explore a repository in the background: languages, entry points, most used definitions, what to read first.
        It only reads, with your rights. orchestrate_explore_watch streams it, orchestrate_explore_status sums it up."""
        target = await self._preflight.target(call, request)
        resumed = await self._access.get(call, request.resume) if request.resume else None
        goals = tuple(map(self._redactor.text, dict.fromkeys(goal.strip() for goal in request.goals if goal.strip())))
        exploration = Exploration(
            version=__version__,
            target=target,
            goals=goals or DEFAULT_GOALS,
            policy=ExplorePolicy(
                allow_external_llms=request.policy.allow_external_llms, network=request.policy.network
            ),
            model=request.model,
            planner=request.planner,
            resumes=resumed.work_id if resumed is not None else "",
        )
        plan = ExplorePlan(goals=exploration.goals)
        plan.append(RulePlanner(target, exploration.goals).first())
        work_id = work_id_of(uuid7())
        with self._engine.admit(work_id):
            item = await self._create(call, work_id, exploration, plan)
        self._engine.wake()
        return StartResult(
            session_id=session_id_of(item.work_id),
            work_id=item.work_id,
            plan_id=plan.plan_id,
            snapshot_id=plan.snapshot_id,
            state=_STATES[item.state],
            cursor=0,
            workspace=target.workspace,
        )

    @operation("orchestrate.explore.status", risk=Risk.READ)
    async def status(self, call: Call, request: StatusRequest) -> ExploreView:
        """How far an exploration is, and its summary once it is completed; markdown=true writes that as a document."""
        item = await self._access.get(call, request.explore_id)
        data = await self._payloads.get(item.work_id, item.payload_hash)
        trace = await Trace.load(self._log, item.work_id)
        plan, concurrency = trace.plan, self._kind.settings.of(item.work_id)
        summary = ExploreSummary.model_validate(trace.summary) if trace.summary is not None else None
        return ExploreView(
            **_heading(item),
            workspace=Exploration.from_bytes(data).target.workspace if data is not None else "",
            goals=plan.goals,
            plan_id=plan.plan_id,
            snapshot_id=plan.snapshot_id,
            ops=_count_ops(trace, plan, has_ended=item.has_ended),
            cursor=trace.sequence,
            max_in_flight_ops=concurrency.max_in_flight_ops,
            op_caps=dict(concurrency.op_caps),
            summary=summary,
            markdown=summary_markdown(summary) if summary is not None and request.markdown else None,
        )

    @operation("orchestrate.explore.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> ExplorePage:
        """Explorations, the newest first; agents see their own."""
        condition, values = self._access.condition(call)
        name = f"explore.list:{call.task.session_id if call.task else ''}"
        if request.cursor:
            condition += " AND position < (SELECT position FROM work_items WHERE work_id = ?)"
            values.append(str(self._cursors.open(request.cursor, scope=name)["before"]))
        items = await self._engine.store.select(
            f"{condition} ORDER BY position DESC LIMIT ?", (*values, request.limit + 1)
        )
        page, following = items[: request.limit], None
        if len(items) > request.limit:
            following = self._cursors.issue(scope=name, state={"before": page[-1].work_id})
        return ExplorePage(
            results=tuple(ExploreItem(**_heading(item), created_by=item.created_by) for item in page),
            pagination=Pagination(next_cursor=following),
        )

    @operation("orchestrate.explore.abort", risk=Risk.WRITE)
    async def abort(self, call: Call, request: AbortRequest) -> ExploreItem:
        """End an exploration at once; its stream ends with `stopped`. One that has ended stays as it is."""
        item = await self._access.get(call, request.explore_id)
        with suppress(WorkEnded):
            await self._engine.cancel(item.work_id, by=str(call.actor), reason=request.reason or ABORTED)
        ended = await self._engine.store.get(item.work_id)
        return ExploreItem(**_heading(ended), created_by=ended.created_by)

    @operation("orchestrate.explore.setConcurrency", risk=Risk.WRITE)
    async def set_concurrency(self, call: Call, request: ConcurrencyRequest) -> ConcurrencyResult:
        """Say how many operations of explorations run at once, and bound single ones; agents do for their own alone."""
        settings, work_id = self._kind.settings, None
        if not request.explore_id and not call.actor.is_person:
            raise InvalidArgument("explore_id is required", hint="name an exploration that you started")
        if request.explore_id:
            item = await self._access.get(call, request.explore_id)
            if item.has_ended:
                raise WorkEnded(f"{item.work_id} is {_STATES[item.state]}")
            work_id = item.work_id
        before = settings.of(work_id) if work_id is not None else settings.default
        changed = before.change(request.max_in_flight_ops, request.op_caps)
        settings.set(changed, work_id)
        return ConcurrencyResult(max_in_flight_ops=changed.max_in_flight_ops, op_caps=dict(changed.op_caps))

    @operation("orchestrate.explore.watch", risk=Risk.READ, timeout_sec=0)
    async def watch(self, call: Call, request: WatchRequest) -> AsyncIterator[ExploreEvent]:
        """The events of an exploration after a cursor, as they happen: plan, commands, results, last the summary."""
        item = await self._access.get(call, request.explore_id)
        stream, previous = explore_stream(item.work_id), None
        if request.after:
            before = await self._log.read(stream=stream, after=request.after - 1, limit=1)
            previous = before[0].event_id if before else None
        watched = self._log.watch(streams={stream: request.after}, heartbeat_sec=request.heartbeat_sec)
        async with aclosing(watched) as events:  # type: ignore[type-var]  # every log returns a generator
            async for event in events:
                if isinstance(event, Event):
                    yield ExploreEvent(cursor=event.sequence, envelope=envelope(event, previous))
                    previous = event.event_id
                    if event.type in ENDS:
                        return
                elif isinstance(event, Heartbeat):
                    yield ExploreEvent(heartbeat=event.position)
                else:
                    gap = event.to_json()
                    yield ExploreEvent(stream_gap=gap)
                    raise StreamGap(f"events of {item.work_id} after {request.after} are gone", details=gap)

    async def _create(self, call: Call, work_id: str, exploration: Exploration, plan: ExplorePlan) -> WorkItem:
        """Record the work item with its first snapshot: nobody waits for a call to see a plan."""
        sealed = self._payloads.seal(work_id, exploration.to_bytes())
        await self._pass_marks(call, work_id)
        actor = str(call.actor)
        started = draft(
            work_id,
            STARTED,
            {"op": "orchestrate.explore", "details": exploration.target.name},
            actor=actor,
        )
        snapshot = draft(work_id, PLAN_SNAPSHOT, plan.snapshot(), actor=actor, parent=started.event_id)
        origin = call.caller.origin
        return await self._engine.store.create(
            work_id=work_id,
            kind=KIND,
            title=exploration.target.name,
            parent_id=origin.work_id if origin is not None else None,
            on_behalf_of=delegator(call),
            limits=WorkLimits(max_steps=len(plan.ops), max_seconds=self._max_seconds),
            payload_hash=sealed.hash,
            sealed=[sealed],
            steps=(),
            created_by=call.actor,
            correlation=call.correlation,
            priority=Priority.CHAT,
            copies=(started, snapshot),
        )


def _heading(item: WorkItem) -> dict[str, object]:
    return {
        "session_id": session_id_of(item.work_id),
        "work_id": item.work_id,
        "state": _STATES[item.state],
        "reason": item.message if _STATES[item.state] == "stopped" else None,
        "repo_name": item.title,
        "created_at": rfc3339(item.created_ns),
        "updated_at": rfc3339(item.updated_ns),
    }


def _count_ops(trace: Trace, plan: ExplorePlan, *, has_ended: bool) -> dict[str, int]:
    """How many operations are in each state, as the stream tells it."""
    results, errors, started = trace.results, trace.errors, trace.started_ops
    counts = Counter[str]()
    for op in plan.ops:
        if op.op_id in results:
            state = OpState.DONE
        elif (error := errors.get(op.op_id)) is not None:
            state = OpState.CANCELED if error.get("code") == "ERR_OP_CANCELED" else OpState.FAILED
        elif has_ended:
            state = OpState.CANCELED
        else:
            state = OpState.RUNNING if op.op_id in started else OpState.QUEUED
        counts[state.value] += 1
    return {state.value: counts[state.value] for state in OpState}
