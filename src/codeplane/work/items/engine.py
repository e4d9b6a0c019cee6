"""Runs work items: leases them, has their kinds run them, and resumes them where they were left."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial

from codeplane.kernel.actor import Actor
from codeplane.kernel.call_record import ACTION_EXECUTED, ACTION_INTERRUPTED, action_stream
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import WorkConfig
from codeplane.kernel.errors import (
    CodePlaneError,
    Internal,
    Overloaded,
    SequenceConflict,
    ShuttingDown,
    WorkEnded,
)
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.ports import Ledger
from codeplane.work.admission import Admission
from codeplane.work.items.item import WaitReason, WorkItem, WorkState, work_stream
from codeplane.work.items.kind import Door, Transition, WorkKind, WorkRun
from codeplane.work.items.store import CANDIDATES, WorkStore
from codeplane.work.items.table import CANCELLED, FAILED, LEASED, RESUMED

_ACTION_REJECTED = "action.rejected"
# After one of these, an action's call has an answer.
_ANSWERED = (ACTION_EXECUTED, ACTION_INTERRUPTED, _ACTION_REJECTED)
_MAX_CONFLICTS = 20
# How long a running call may take when the engine stops, before it is cut off.
_STOP_SEC = 5.0


class WorkEngine:
    """One engine of one node; several may share a log, since leases are events that expect their stream's head."""

    def __init__(
        self,
        *,
        kinds: Sequence[WorkKind],
        log: Ledger,
        clock: Clock,
        config: WorkConfig,
        node: str,
        instance: str,
        is_live: Callable[[Actor], bool],
        withdraw: Callable[[str, str], Awaitable[int]],
        disconnect: Callable[[str], None],
        on_crash: Callable[[BaseException], None],
        is_own: Callable[[WorkItem], Awaitable[bool]] | None = None,
        may_take_over: Callable[[WorkItem], Awaitable[bool]] | None = None,
    ) -> None:
        """`node` stays the same over restarts, `instance` does not; `withdraw` ends an actor's open questions.

        Where several nodes share the log, `is_own` says which items are this one's, and `may_take_over` which of
        another node's can be finished here once their lease has run out.
        """
        self._log = log
        self._kinds = {kind.name: kind for kind in kinds}
        self._clock = clock
        self._config = config
        self._node = node
        self._holder = f"{node}/{instance}"
        self._is_live = is_live
        self._withdraw = withdraw
        self._disconnect = disconnect
        self._on_crash = on_crash
        self._is_own = is_own
        self._may_take_over = may_take_over
        # Items that another node has taken over while they ran here.
        self._lost: set[str] = set()
        self.store = WorkStore(log)
        self._running: dict[str, asyncio.Task[None]] = {}
        # How many items of each kind run.
        self._places = Counter[str]()
        self._admission = Admission()
        self._due = asyncio.Event()
        self._door: Door | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    @property
    def running(self) -> int:
        """How many items run now."""
        return len(self._running)

    @property
    def has_started(self) -> bool:
        """Whether items are run here."""
        return self._door is not None

    async def state(self) -> JsonObject:
        """How many items are in each state that has not ended, and how many of them are jobs, for `status`."""
        rows = await self._log.select(
            """SELECT state, count(*), sum(kind = 'job') FROM work_items
               WHERE state IN ('QUEUED', 'RUNNING', 'WAITING') GROUP BY state"""
        )
        state: JsonObject = {str(state).lower(): int(str(count)) for state, count, _ in rows}
        jobs = sum(int(str(count)) for _, _, count in rows)
        return {**state, **({"jobs": jobs} if jobs else {})}

    def start(self, door: Door) -> None:
        """Take up what was left behind and what comes; the calls of items go through `door`."""
        self._door = door
        if self._is_own is not None:
            self._log.listen({LEASED, CANCELLED}, self._yield_to_others)
        self._due.set()
        self._tasks = [asyncio.ensure_future(self._lead()), asyncio.ensure_future(self._follow_answers())]

    async def stop(self) -> None:
        """Take nothing up any more, let each running call end, and stop between steps."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        running = set(self._running.values())
        if running:
            _, running = await asyncio.wait(running, timeout=_STOP_SEC)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def wake(self) -> None:
        """Look for items that can run."""
        self._due.set()

    async def place_of(self, item: WorkItem) -> int:
        """The place of a queued item among those of its kind, from 1."""
        ((count,),) = await self._log.select(
            """SELECT count(*) FROM work_items w, (SELECT priority, position FROM work_items WHERE work_id = ?) own
               WHERE w.state = 'QUEUED' AND w.kind = ?
               AND (w.priority, w.position) <= (own.priority, own.position)""",
            (item.work_id, item.kind),
        )
        return int(str(count))

    def admit(self, work_id: str) -> AbstractContextManager[None]:
        """Hold a place for an item while it is created; Overloaded when too many have not ended."""
        return self._admission.enter(
            "",
            work_id,
            limit=self._config.max_queued,
            stored=self._count_unfinished,
            refuse=lambda count: Overloaded(
                f"{count} work items have not ended", hint="wait until some have, or: work_cancel"
            ),
        )

    def _count_unfinished(self, but: Collection[str]) -> int:
        ((count,),) = self._log.lookup(
            """SELECT count(*) FROM work_items WHERE state IN ('QUEUED', 'RUNNING', 'WAITING')
               AND work_id NOT IN (SELECT value FROM json_each(?))""",
            (dumps([*but]),),
        )
        return int(str(count))

    async def cancel(self, work_id: str, *, by: str, reason: str, error: str | None = None) -> WorkItem:
        """Cancel an item and those that it started, at any moment; WorkEnded when it has ended."""
        item = await self._end(work_id, CANCELLED, {"message": reason, "error": error}, by=by)
        running = self._running.get(item.work_id)
        if running is not None:
            running.cancel()
            await asyncio.wait({running})
        actor = await self._kind(item).actor(item)
        await self._withdraw(actor.actor_id, reason or "the work was cancelled")
        for child in await self.store.children(item.work_id):
            if not child.has_ended:
                with suppress(WorkEnded):
                    await self.cancel(child.work_id, by=by, reason=f"{item.work_id} was cancelled")
        return await self.store.get(item.work_id)

    async def resume(self, work_id: str, raised: JsonObject, *, by: str) -> WorkItem:
        """Let an item that used up its limits go on with higher ones, as its kind knows them."""
        for _ in range(_MAX_CONFLICTS):
            item = await self.store.get(work_id)
            if item.has_ended:
                raise WorkEnded(f"{item.work_id} is {item.state.value}")
            if item.waits_for is not WaitReason.BUDGET:
                return item
            try:
                await self._record(item, Transition(kind=RESUMED, payload=raised), by=by)
            except SequenceConflict:
                continue
            self._due.set()
            return await self.store.get(item.work_id)
        raise Overloaded(f"{work_id} changes too often")

    async def sweep(self) -> None:
        """Renew leases, take over items that another engine released, and end work of revoked actors."""
        for work_id in [*self._running]:
            with suppress(SequenceConflict, WorkEnded):
                await self._renew_lease(await self._load_own(work_id))
        for stored, delegator in (await self.store.delegators()).items():
            if not self._is_live(delegator):
                for item in await self._only_own(await self.store.list_unfinished_for(stored)):
                    with suppress(WorkEnded):
                        await self.cancel(
                            item.work_id, by="system", reason=f"{delegator}, for whom it acts, was revoked"
                        )
        self._due.set()

    async def _end(self, work_id: str, kind: str, payload: JsonObject, *, by: str) -> WorkItem:
        for _ in range(_MAX_CONFLICTS):
            item = await self.store.get(work_id)
            if item.has_ended:
                raise WorkEnded(f"{item.work_id} is {item.state.value}")
            try:
                await self._record(item, Transition(kind=kind, payload=payload), by=by)
            except SequenceConflict:
                # It went on meanwhile: look again.
                continue
            return item
        raise Overloaded(f"{work_id} changes too often")

    async def _lead(self) -> None:
        """Take up items as places become free."""
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                await self._take_up()
            except ShuttingDown:
                return
            except CodePlaneError as error:
                # The next sweep looks again.
                self._on_crash(error)

    async def _take_up(self) -> None:
        """Start the items that can run, by their priority, while there are places for their kind and for all."""
        full, skip = self._full_kinds(), 0
        while True:
            page = await self.store.list_candidates(full, skip=skip)
            for item in await self._runnable(page):
                if len(self._running) >= self._config.max_running:
                    return
                if item.work_id not in self._running and self._has_place(item.kind) and await self._is_due(item):
                    self._start(item)
            if len(page) < CANDIDATES:
                return
            # What is queued of a kind that is full by now need not be looked at.
            before, full = full, self._full_kinds()
            skip = skip + CANDIDATES if full == before else 0

    def _full_kinds(self) -> list[str]:
        return [name for name in self._kinds if not self._has_place(name)]

    def _start(self, item: WorkItem) -> None:
        task = asyncio.ensure_future(self._drive(item))
        self._running[item.work_id] = task
        self._places[item.kind] += 1
        task.add_done_callback(partial(self._on_done, item))

    def _has_place(self, kind: str) -> bool:
        known = self._kinds.get(kind)
        # One of an unknown kind fails when it runs.
        return known is None or self._places[kind] < known.max_running

    async def _only_own(self, items: list[WorkItem]) -> list[WorkItem]:
        """The items that this node may end: those that it leased last, or that were created on it and never leased."""
        if self._is_own is None:
            return items
        return [item for item in items if await self._is_own(item)]

    async def _runnable(self, items: list[WorkItem]) -> list[WorkItem]:
        """This node's items, and those of nodes that have gone."""
        if self._is_own is None:
            return items
        return [item for item in items if await self._is_own(item) or await self._is_left(item)]

    async def _is_left(self, item: WorkItem) -> bool:
        """Whether another node has let an item go that can be finished here; a lease decides between those who try."""
        if self._may_take_over is None or item.state is not WorkState.RUNNING:
            return False
        return self._clock.now_ns() >= item.lease_until_ns and await self._may_take_over(item)

    def _yield_to_others(self, event: Event) -> None:
        """Stop what another node has taken over or cancelled; a call that is under way ends first when it was taken
        over, since the other node waits for its answer."""
        work_id = event.stream.removeprefix(work_stream(""))
        running = self._running.get(work_id)
        if running is None or self._log.is_own(event):
            return
        if event.type == LEASED:
            self._lost.add(work_id)
        else:
            running.cancel()

    async def _is_due(self, item: WorkItem) -> bool:
        """Whether the item can go on: it is queued, its question is answered, or its holder let it go."""
        if item.state is WorkState.QUEUED:
            return await self._kind(item).may_start(item)
        if item.state is WorkState.WAITING:
            return item.action_id is not None and await self._is_answered(item.action_id)
        if item.holder == self._holder:
            # Of this engine, and not running: its lease ends like any other.
            return self._clock.now_ns() >= item.lease_until_ns
        # An engine of this node that is not this one has ended: only one runs at a time.
        is_own_node = (item.holder or "").partition("/")[0] == self._node
        return is_own_node or self._clock.now_ns() >= item.lease_until_ns

    async def _is_answered(self, action_id: str) -> bool:
        newest = await self._log.query(EventQuery(stream=action_stream(action_id), newest=True, limit=1))
        return bool(newest) and newest[0].type in _ANSWERED

    async def _follow_answers(self) -> None:
        """Wake when a person's answer to an item's question has taken effect."""
        with suppress(ShuttingDown):
            async for item in self._log.follow(EventQuery(after=await self._end_of_log(), types=_ANSWERED)):
                if isinstance(item, Event) and item.correlation.work_id is not None:
                    self._due.set()

    async def _end_of_log(self) -> int:
        newest = await self._log.query(EventQuery(newest=True, limit=1))
        return newest[-1].position if newest else 0

    def _on_done(self, item: WorkItem, done: "asyncio.Task[None]") -> None:
        self._running.pop(item.work_id, None)
        self._lost.discard(item.work_id)
        self._places[item.kind] -= 1
        self._disconnect(item.work_id)
        self._due.set()
        if not done.cancelled() and (error := done.exception()) is not None:
            self._on_crash(error)

    async def _drive(self, item: WorkItem) -> None:
        """Lease an item and run it until it ends, waits or the engine stops."""
        try:
            item = await self._lease(item, attempt=item.attempt + 1)
            transition = await self._kind(item).run(item, self._run(item))
            if transition is not None:
                await self._move(item, transition)
                # A question may have been answered before that was recorded.
                self._due.set()
        except (SequenceConflict, WorkEnded, ShuttingDown):
            # It was cancelled, another engine took it, or this one stops: what happens to it now is theirs.
            return
        except CodePlaneError as error:
            await self._fail(item, error)
        except Exception as error:
            # A bug: taken up again it would fail again, and what waits behind it would wait for good.
            await self._fail(item, Internal(f"{item.work_id} failed: {type(error).__name__}: {error}"))
            raise

    async def _fail(self, item: WorkItem, error: CodePlaneError) -> None:
        failure: JsonObject = {"error": error.name, "message": error.message, "retryable": error.retryable}
        await self._move(item, Transition(kind=FAILED, payload=failure))

    def _run(self, item: WorkItem) -> WorkRun:
        assert self._door is not None
        return WorkRun(
            door=self._door,
            node=self._node,
            is_stopping=lambda: self._stopping or item.work_id in self._lost,
            refresh=partial(self._load_own, item.work_id),
        )

    def _kind(self, item: WorkItem) -> WorkKind:
        try:
            return self._kinds[item.kind]
        except KeyError as error:
            raise Internal(f"{item.work_id} is of kind {item.kind!r}, which is not known here") from error

    async def _load_own(self, work_id: str) -> WorkItem:
        """The item as it is now; WorkEnded when it is no longer this engine's."""
        item = await self.store.get(work_id)
        if item.has_ended or item.holder != self._holder:
            raise WorkEnded(f"{work_id} is {item.state.value}, held by {item.holder}")
        return item

    async def _move(self, item: WorkItem, transition: Transition) -> None:
        """Append a transition of an item that this engine holds; its lease may have been renewed meanwhile."""
        for _ in range(_MAX_CONFLICTS):
            with suppress(SequenceConflict):
                await self._record(await self._load_own(item.work_id), transition)
                return
        raise Overloaded(f"{item.work_id} changes too often")

    async def _record(self, item: WorkItem, transition: Transition, *, by: str = "system") -> None:
        payload = dict(transition.payload)
        copies = await self._kind(item).copies(item, transition)
        await self.store.move(item, transition.kind, payload, by=by, copies=copies)

    async def _lease(self, item: WorkItem, *, attempt: int) -> WorkItem:
        until_ns = self._clock.now_ns() + int(self._config.lease_sec * SECOND_NS)
        lease: JsonObject = {"holder": self._holder, "until_ns": until_ns, "attempt": attempt}
        await self._record(item, Transition(kind=LEASED, payload=lease))
        return replace(
            await self.store.get(item.work_id), holder=self._holder, lease_until_ns=until_ns, attempt=attempt
        )

    async def _renew_lease(self, item: WorkItem) -> WorkItem:
        """The item with a lease that lasts for another step."""
        left_ns = item.lease_until_ns - self._clock.now_ns()
        return (
            item if left_ns * 2 > self._config.lease_sec * SECOND_NS else await self._lease(item, attempt=item.attempt)
        )
