"""Watches the clock: wakes schedules that are due, and stops those that may not go on."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress

from codeplane.kernel.actor import Actor
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, ScheduleNotFound, ShuttingDown
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ledger
from codeplane.work.schedules.events import CHANGES
from codeplane.work.schedules.schedule import Schedule, Wakeup
from codeplane.work.schedules.store import ScheduleStore
from codeplane.work.schedules.wakeups import Wakeups

# How often the clock is looked at while nothing is due: it may be set, and a machine may wake from sleep.
_LOOK_SEC = 1.0
_BATCH = 200
_STARTS_AT_ONCE = 8
# Steps of the clock below this are its daily corrections.
_SET_BACK_NS = 2 * SECOND_NS
_MAX_FUTURE = 10_000
_RETRY_NS = 5 * SECOND_NS


class Scheduler:
    """One scheduler of one server; several may share a log, since a wake-up expects its schedule's head."""

    def __init__(
        self,
        *,
        log: Ledger,
        store: ScheduleStore,
        wakeups: Wakeups,
        clock: Clock,
        end_reason: Callable[[Actor], str | None],
        node: str,
        on_crash: Callable[[BaseException], None],
    ) -> None:
        self._log = log
        self._store = store
        self._wakeups = wakeups
        self._clock = clock
        self._end_reason = end_reason
        self._node = node
        self._on_crash = on_crash
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._is_current = False
        self._creators: dict[str, Actor] = {}
        self._next_ns: int | None = None
        # When to look for wake-ups that were recorded and not started; None when there are none.
        self._retry_ns: int | None = 0
        self.enabled = 0
        self._lead_ns = self._lead()
        log.listen(CHANGES, self._on_change)

    def start(self) -> None:
        """Wake schedules from now on."""
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Wake nothing any more; what was recorded and not started is started by the next server."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def state(self) -> JsonObject:
        """How many schedules are enabled and when the next one is due, for `status`."""
        ((enabled, next_ns),) = await self._log.select("SELECT count(*), min(next_ns) FROM schedules WHERE enabled")
        ((stopped,),) = await self._log.select("SELECT count(*) FROM schedules WHERE stop_reason != ''")
        return {
            "enabled": int(str(enabled)),
            "next_run_at": None if next_ns is None else rfc3339(int(str(next_ns))),
            "stopped": int(str(stopped)),
            "runs_here": self._task is not None,
        }

    async def tick(self) -> None:
        """Do what is due now."""
        lead_ns = self._lead()
        if lead_ns < self._lead_ns - _SET_BACK_NS:
            self._lead_ns = lead_ns
            await self.replan("the clock was set back")
        self._lead_ns = max(self._lead_ns, lead_ns)
        if not self._is_current:
            await self._refresh()
        await self._stop_revoked()
        while self._next_ns is not None and self._next_ns <= self._clock.now_ns():
            due = await self._own("enabled AND next_ns <= ? ORDER BY next_ns LIMIT ?", self._clock.now_ns(), _BATCH)
            if due:
                await self._start_all(await self._wakeups.claim(due))
            await self._refresh()

    async def start_recorded(self) -> None:
        """Start wake-ups that were recorded and not started, as before a crash or while the queue was full."""
        self._retry_ns = None
        waiting = await self._store.wakeups("state = 'CREATED' ORDER BY wakeup_id LIMIT ?", (_BATCH,))
        pairs: list[tuple[Schedule, Wakeup]] = []
        for wakeup in waiting:
            with suppress(ScheduleNotFound):
                schedule = await self._store.get(wakeup.schedule_id)
                if schedule.node in ("", self._node):
                    pairs.append((schedule, wakeup))
        await self._start_all(pairs)

    async def replan(self, reason: str) -> None:
        """Set when schedules are due next by the clock and the zones of now: both may have changed.

        Times that had a wake-up have none again.
        """
        now_ns = self._clock.now_ns()
        ahead: dict[str, set[int]] = {}
        for wakeup in await self._store.wakeups(
            "scheduled_ns > ? ORDER BY scheduled_ns LIMIT ?", (now_ns, _MAX_FUTURE)
        ):
            ahead.setdefault(wakeup.schedule_id, set()).add(wakeup.scheduled_ns)
        last = ""
        while page := await self._own(
            "enabled AND next_ns > ? AND schedule_id > ? ORDER BY schedule_id LIMIT ?", now_ns, last, _BATCH
        ):
            last = page[-1].schedule_id
            for schedule in page:
                await self._replan_one(schedule, now_ns, ahead.get(schedule.schedule_id, set()), reason)
            # Others want to go on while thousands are looked at.
            await asyncio.sleep(0)

    async def _replan_one(self, schedule: Schedule, now_ns: int, made: set[int], reason: str) -> None:
        try:
            trigger = schedule.trigger
        except InvalidArgument as error:
            await self._wakeups.stop(schedule, error.message)
            return
        next_ns = trigger.next_after(now_ns)
        while next_ns is not None and next_ns in made:
            next_ns = trigger.next_after(next_ns)
        if next_ns is not None and next_ns != schedule.next_ns:
            await self._wakeups.reschedule(schedule, next_ns, reason)

    async def _run(self) -> None:
        is_planned = False
        while True:
            try:
                if not is_planned:
                    await self.replan("the server started")
                    is_planned = True
                await self.tick()
                if self._retry_ns is not None and self._retry_ns <= self._clock.monotonic_ns():
                    await self.start_recorded()
            except ShuttingDown:
                return
            except CodePlaneError as error:
                # The next look tries again.
                self._on_crash(error)
            self._changed.clear()
            if not self._is_current:
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._wait_sec()):
                    await self._changed.wait()

    def _wait_sec(self) -> float:
        if self._next_ns is None:
            return _LOOK_SEC
        return min(_LOOK_SEC, max(0.0, (self._next_ns - self._clock.now_ns()) / SECOND_NS))

    def _lead(self) -> int:
        """How far the wall clock is ahead of the monotonic one."""
        return self._clock.now_ns() - self._clock.monotonic_ns()

    def _on_change(self, event: Event) -> None:
        self._is_current = False
        self._changed.set()

    async def _refresh(self) -> None:
        """Read how many schedules there are, for whom, and when the next one is due."""
        self._is_current = True
        rows = await self._log.select(
            "SELECT count(*), min(next_ns) FROM schedules WHERE enabled AND node IN ('', ?)", (self._node,)
        )
        enabled, next_ns = rows[0]
        self.enabled = int(str(enabled))
        self._next_ns = None if next_ns is None else int(str(next_ns))
        creators = await self._log.select("SELECT DISTINCT on_behalf_of FROM schedules WHERE enabled")
        known = {str(text) for (text,) in creators}
        for text in known - self._creators.keys():
            self._creators[text] = Actor.from_json(json.loads(text))
        for text in self._creators.keys() - known:
            del self._creators[text]

    async def _stop_revoked(self) -> None:
        for text, actor in list(self._creators.items()):
            if (reason := self._end_reason(actor)) is not None:
                for schedule in await self._own("enabled AND on_behalf_of = ?", text):
                    await self._wakeups.stop(schedule, f"{actor}, for whom it runs, {reason}")
                self._is_current = False
        if not self._is_current:
            await self._refresh()

    async def _start_all(self, pairs: list[tuple[Schedule, Wakeup]]) -> None:
        places = asyncio.Semaphore(_STARTS_AT_ONCE)

        async def start(schedule: Schedule, wakeup: Wakeup) -> None:
            async with places:
                try:
                    await self._wakeups.start(schedule, wakeup)
                except ShuttingDown:
                    return
                except CodePlaneError as error:
                    # It stays recorded, and is tried again.
                    self._retry_ns = self._clock.monotonic_ns() + _RETRY_NS
                    self._on_crash(error)

        await asyncio.gather(*(start(schedule, wakeup) for schedule, wakeup in pairs))

    async def _own(self, where: str, *values: str | int) -> list[Schedule]:
        """The schedules of this node that meet an SQL condition."""
        return await self._store.select(f"node IN ('', ?) AND {where}", (self._node, *values))
