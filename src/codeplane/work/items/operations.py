"""The operations on work items."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

from codeplane.kernel.arguments import parse
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import WorkConfig
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, StreamGap, WorkNotFound
from codeplane.kernel.event import Event, Heartbeat
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Assessment, Preview, Risk, assesses, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger, Payloads, Readable, ScopeOf
from codeplane.kernel.redaction import Redactor
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.ledger.rows import Cell
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import Priority, WorkItem, WorkLimits, delegator, work_stream
from codeplane.work.items.kind import PassMarks
from codeplane.work.items.models import (
    CancelRequest,
    ListRequest,
    ResumeRequest,
    StartRequest,
    WatchWorkRequest,
    WorkEvent,
    WorkPage,
    WorkRequest,
    WorkShown,
    WorkStep,
    WorkView,
)
from codeplane.work.items.step_list import StepList
from codeplane.work.items.store import MAX_DESCENDANTS, new_work_id

_OWN_FAMILY = "work."


class WorkOperations:
    """What clients can do with work items."""

    def __init__(
        self,
        *,
        engine: WorkEngine,
        log: Ledger,
        payloads: Payloads,
        catalogue: Catalogue,
        cursors: Cursors,
        config: WorkConfig,
        redactor: Redactor,
        scope_of: ScopeOf,
        readable: Readable,
        pass_marks: PassMarks,
    ) -> None:
        """`scope_of` and `readable` say which items a caller may see: by who made them, and by the rules."""
        self._pass_marks = pass_marks
        self._engine = engine
        self._log = log
        self._payloads = payloads
        self._catalogue = catalogue
        self._cursors = cursors
        self._config = config
        self._redactor = redactor
        self._scope_of = scope_of
        self._readable = readable

    @operation("work.start", risk=Risk.WRITE, capability="spawn_agents")
    async def start(self, call: Call, request: StartRequest) -> WorkView:
        """Have calls made one after the other in the background, for you and with your rights; they go on after a
        restart, wait for a person where one has to decide, and each runs once. work_show says how far it is."""
        for number, step in enumerate(request.steps):
            self._check(number, step)
        work_id = new_work_id()
        with self._engine.admit(work_id):
            item = await self._create(call, request, work_id)
        self._engine.wake()
        return WorkView.of(item)

    async def _create(self, call: Call, request: StartRequest, work_id: str) -> WorkItem:
        steps: list[JsonObject] = [
            {"operation": self._catalogue.get(step.operation).name, "arguments": step.arguments}
            for step in request.steps
        ]
        origin = call.caller.origin
        sealed = self._payloads.seal(work_id, canonical(steps))
        await self._pass_marks(call, work_id)
        return await self._engine.store.create(
            work_id=work_id,
            kind=StepList.name,
            title=self._redactor.text(request.title),
            parent_id=origin.work_id if origin is not None else None,
            on_behalf_of=delegator(call),
            limits=WorkLimits(
                max_steps=min(request.max_steps or self._config.max_steps, self._config.max_steps),
                max_seconds=min(request.max_seconds or self._config.max_seconds, self._config.max_seconds),
            ),
            payload_hash=sealed.hash,
            sealed=[sealed],
            steps=[str(step["operation"]) for step in steps],
            created_by=call.actor,
            correlation=call.correlation,
        )

    @previews("work.start")
    async def preview_start(self, request: StartRequest) -> Preview:
        """The calls in their order."""
        lines = [
            f"{number + 1}. {step.operation} {canonical(step.arguments).decode()}"
            for number, step in enumerate(request.steps)
        ]
        return Preview(summary=f"make {plural(len(lines), 'call')} in the background", body="\n".join(lines))

    @operation("work.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> WorkPage:
        """Work items, the newest first; agents see their own and what these started."""
        conditions, values = ["1"], list[Cell]()
        for column, value in (("state", request.state), ("parent_id", request.parent_id)):
            if value is not None:
                conditions.append(f"{column} = ?")
                values.append(value)
        if request.tree:
            conditions.append("parent_id IS NULL")
        if not request.heartbeats:
            conditions.append("NOT (priority = ? AND state = 'COMPLETED')")
            values.append(int(Priority.HEARTBEAT))
        scope = self._scope_of(call)
        if scope is not None:
            own, reader = own_actor_condition("created_by", scope)
            conditions.append(f"({own} OR work_id = ?)")
            values += [*reader, call.actor.actor_id]
        asked: JsonObject = request.model_dump(mode="json", exclude={"cursor", "limit"})
        name = f"work.list:{call.task.session_id if call.task else ''}:{digest(canonical(asked))}"
        if request.cursor:
            # By the order of the log: clocks jump.
            conditions.append("position < (SELECT position FROM work_items WHERE work_id = ?)")
            values.append(str(self._cursors.open(request.cursor, scope=name)["before"]))
        items = await self._engine.store.select(
            f"{' AND '.join(conditions)} ORDER BY position DESC LIMIT ?", (*values, request.limit + 1)
        )
        page, following = items[: request.limit], None
        if len(items) > request.limit:
            following = self._cursors.issue(scope=name, state={"before": page[-1].work_id})
        started = await self._engine.store.descendants([item.work_id for item in page]) if request.tree else []
        listed = [*page, *started[:MAX_DESCENDANTS]]
        readable = await self._readable(call, [item.stream for item in listed])
        return WorkPage(
            results=tuple(WorkView.of(item) for item in page if item.stream in readable),
            pagination=Pagination(next_cursor=following),
            started=tuple(WorkView.of(item) for item in started[:MAX_DESCENDANTS] if item.stream in readable),
            left_out=len(started) > MAX_DESCENDANTS,
            hidden=sum(item.stream not in readable for item in listed),
        )

    @operation("work.show", risk=Risk.READ)
    async def show(self, call: Call, request: WorkRequest) -> WorkShown:
        """A work item: its state, what it waits for, its steps and what it started."""
        item = await self._load_visible(call, request.work_id)
        # What turns and jobs have planned is shown by their threads.
        has_steps = item.kind == StepList.name
        data = await self._payloads.get(item.work_id, item.payload_hash) if has_steps else None
        steps = self._redactor.json(_steps(data)) if data is not None else []
        assert isinstance(steps, list)
        children = await self._engine.store.children(item.work_id)
        readable = await self._readable(call, [child.stream for child in children])
        return WorkShown(
            **WorkView.of(item).model_dump(),
            steps=tuple(step for step in steps if isinstance(step, dict)),
            children=tuple(child.work_id for child in children if child.stream in readable),
        )

    @assesses("work.show")
    def assess_show(self, request: WorkRequest) -> Assessment:
        """It is about one item."""
        return Assessment(risk=Risk.READ, resources=(work_stream(request.work_id),))

    @previews("work.show")
    async def preview_show(self, request: WorkRequest) -> Preview:
        """Which item is shown."""
        return Preview(summary=f"show the work item {request.work_id}")

    @operation("work.cancel", risk=Risk.WRITE)
    async def cancel(self, call: Call, request: CancelRequest) -> WorkView:
        """End a work item and what it started, at once; what is done stays done."""
        item = await self._load_visible(call, request.work_id)
        return WorkView.of(await self._engine.cancel(item.work_id, by=str(call.actor), reason=request.reason))

    @operation("work.resume", risk=Risk.WRITE, people=True)
    async def resume(self, call: Call, request: ResumeRequest) -> WorkView:
        """Let a work item that used up its limits go on with higher ones; for a person."""
        raised: JsonObject = {"max_steps": request.max_steps, "max_seconds": request.max_seconds}
        item = await self._engine.resume(request.work_id, raised, by=str(call.actor))
        return WorkView.of(item)

    @operation("work.watch", risk=Risk.READ, timeout_sec=0)
    async def watch(self, call: Call, request: WatchWorkRequest) -> AsyncIterator[WorkEvent]:
        """The events of a work item after a sequence, as they happen, with heartbeats."""
        item = await self._load_visible(call, request.work_id)
        watched = self._log.watch(streams={item.stream: request.after}, heartbeat_sec=request.heartbeat_sec)
        async with aclosing(watched) as events:  # type: ignore[type-var]  # every log returns a generator
            async for event in events:
                if isinstance(event, Event):
                    yield WorkEvent(event=event.to_wire())
                elif isinstance(event, Heartbeat):
                    yield WorkEvent(heartbeat=event.position)
                else:
                    gap = event.to_json()
                    yield WorkEvent(stream_gap=gap)
                    raise StreamGap(f"events of {item.work_id} after {request.after} are gone", details=gap)

    async def _load_visible(self, call: Call, work_id: str) -> WorkItem:
        """An item that the caller may see; WorkNotFound for those of others, the same whether there are any."""
        scope = self._scope_of(call)
        try:
            item = await self._engine.store.get(work_id)
        except WorkNotFound:
            if scope is None:
                raise
            # Not as it was raised: that names the items of others whose ids are similar.
            raise WorkNotFound(f"there is no work item {work_id!r}") from None
        is_own = scope is None or item.actor == call.actor or await self._log.own_actors((item.created_by,), scope)
        # By its whole id: the caller may have named it by a part, which no rule about it would recognise.
        if is_own and item.stream in await self._readable(call, [item.stream]):
            return item
        raise WorkNotFound(f"there is no work item {work_id!r}")

    def _check(self, number: int, step: WorkStep) -> None:
        """Raise InvalidArgument for a step that could not run."""
        try:
            called = self._catalogue.get(step.operation)
            parse(called, step.arguments)
        except CodePlaneError as error:
            raise InvalidArgument(f"step {number + 1}: {error.message}", hint=error.hint) from error
        reason = None
        if called.streaming:
            reason = "is a stream"
        elif called.mark.people:
            reason = "is for people"
        elif called.name.startswith(_OWN_FAMILY) and called.name != "work.start":
            reason = "is not for work itself"
        if reason is not None:
            raise InvalidArgument(f"step {number + 1}: {called.name} {reason}", hint="leave it out")


def _steps(data: bytes) -> list[JsonObject]:
    steps: list[JsonObject] = json.loads(data)
    return steps
