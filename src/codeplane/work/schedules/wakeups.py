"""Makes wake-ups of times that have come, each once, and starts their runs."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.config import SchedulesConfig
from codeplane.kernel.errors import (
    CodePlaneError,
    InvalidArgument,
    ScheduleBusy,
    ScheduleNotFound,
    SequenceConflict,
    ThreadNotFound,
)
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.work.schedules.events import (
    SCHEDULE_STOPPED,
    SCHEDULE_UPDATED,
    WAKEUP_CREATED,
    WAKEUP_FAILED,
    WAKEUP_RESCHEDULED,
    WAKEUP_STARTED,
    schedule_draft,
    wakeup_draft,
)
from codeplane.work.schedules.runs import Run, ScheduleRuns
from codeplane.work.schedules.schedule import (
    MissedPolicy,
    OverlapPolicy,
    Schedule,
    Wakeup,
    WakeupKind,
    WakeupState,
    wakeup_id_of,
)
from codeplane.work.schedules.store import ScheduleStore
from codeplane.work.schedules.trigger import find_due
from codeplane.work.threads.events import THREAD_CREATED, thread_draft

_MAX_CONFLICTS = 20
_MAX_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A wake-up that is to be recorded, and when the schedule is due next."""

    schedule: Schedule
    wakeup: Wakeup
    next_ns: int | None

    def draft(self, actor: str) -> Draft:
        wakeup = self.wakeup
        payload: JsonObject = {
            "scheduled_for_utc": rfc3339(wakeup.scheduled_ns),
            "scheduled_ns": wakeup.scheduled_ns,
            "kind": wakeup.kind.value,
            "state": wakeup.state.value,
            "older": wakeup.older,
            "is_counted": wakeup.is_counted,
            "reason": wakeup.reason,
            "next_ns": self.next_ns,
        }
        return wakeup_draft(wakeup.schedule_id, WAKEUP_CREATED, payload, actor=actor, event_id=wakeup.wakeup_id)


class Wakeups:
    """Records wake-ups and starts what they run.

    A wake-up is recorded first, then started, then recorded as started. A scheduler that finds a recorded one
    that was not started starts it, also twice: what it starts has an id derived from schedule and time.
    """

    def __init__(self, *, store: ScheduleStore, runs: ScheduleRuns, clock: Clock, config: SchedulesConfig) -> None:
        self._store = store
        self.runs = runs
        self._clock = clock
        self._config = config

    async def claim(self, schedules: Sequence[Schedule]) -> list[tuple[Schedule, Wakeup]]:
        """Record the wake-ups of schedules that are due, and return those that are to be started.

        Those that somebody else changed meanwhile are left out: they are looked at again.
        """
        claims = [claim for schedule in schedules if (claim := await self._plan(schedule)) is not None]
        with suppress(SequenceConflict):
            await self._store.append([claim.schedule for claim in claims], [claim.draft("system") for claim in claims])
            return _to_start(claims)
        made: list[_Claim] = []
        for claim in claims:
            with suppress(SequenceConflict):
                await self._store.append([claim.schedule], [claim.draft("system")])
                made.append(claim)
        return _to_start(made)

    async def run_now(self, schedule_id: str, *, by: str) -> tuple[Wakeup, Run]:
        """Run a schedule at once, besides its times; ScheduleBusy while its run before goes on."""
        for attempt in range(_MAX_CONFLICTS):
            schedule = await self._store.get(schedule_id)
            if (running := await self._running(schedule)) is not None:
                raise ScheduleBusy(
                    f"the run before has not ended: {running.job_id or running.turn_id or running.wakeup_id}",
                    details={"job_id": running.job_id, "turn_id": running.turn_id},
                )
            wakeup = self._wakeup(schedule, self._clock.now_ns() + attempt, WakeupKind.MANUAL)
            claim = _Claim(schedule=schedule, wakeup=wakeup, next_ns=schedule.next_ns)
            try:
                await self._store.append([schedule], [claim.draft(by)])
            except SequenceConflict:
                # It woke meanwhile: look again.
                continue
            return wakeup, await self._start_recorded(schedule, wakeup)
        raise ScheduleBusy(f"{schedule_id} changes too often")

    async def start(self, schedule: Schedule, wakeup: Wakeup) -> None:
        """Start the run of a recorded wake-up, or stop a schedule that can never run.

        A temporary failure, such as a full queue, is raised: the wake-up stays, and is tried again.
        """
        try:
            await self._start_recorded(schedule, wakeup)
        except CodePlaneError as error:
            if error.retryable:
                raise

    async def stop(self, schedule: Schedule, reason: str) -> None:
        """Disable a schedule that cannot go on, and tell its thread why."""
        payload: JsonObject = {
            "schedule_id": schedule.schedule_id,
            "reason": reason[:_MAX_REASON],
            "summary": f"the schedule {schedule.name} has stopped: {reason}"[:_MAX_REASON],
        }
        copy = thread_draft(SCHEDULE_STOPPED, payload, actor="system", ids=Correlation(thread_id=schedule.thread_id))
        for _ in range(_MAX_CONFLICTS):
            with suppress(SequenceConflict):
                draft = schedule_draft(schedule.schedule_id, SCHEDULE_STOPPED, payload)
                await self._store.append([schedule], [draft, copy])
                return
            try:
                schedule = await self._store.get(schedule.schedule_id)
            except ScheduleNotFound:
                return
            if not schedule.enabled:
                return

    async def reschedule(self, schedule: Schedule, next_ns: int | None, reason: str) -> None:
        """Set when a schedule is due next; one that changed meanwhile has been set already."""
        payload: JsonObject = {"next_ns": next_ns, "reason": reason}
        with suppress(SequenceConflict):
            await self._store.append([schedule], [wakeup_draft(schedule.schedule_id, WAKEUP_RESCHEDULED, payload)])

    async def _start_recorded(self, schedule: Schedule, wakeup: Wakeup) -> Run:
        """Start the run of a recorded wake-up, and record that; or record why it can never start, and raise that."""
        try:
            run = await self._start(schedule, wakeup)
        except CodePlaneError as error:
            if not error.retryable:
                await self._record_failure(schedule, wakeup, error)
            raise
        started: JsonObject = {"wakeup_id": wakeup.wakeup_id, "job_id": run.job_id, "turn_id": run.turn_id}
        await self._append([wakeup_draft(schedule.schedule_id, WAKEUP_STARTED, started)])
        return run

    async def _plan(self, schedule: Schedule) -> _Claim | None:
        """What becomes of the times of a due schedule: the newest is run, unless its policies say otherwise."""
        assert schedule.next_ns is not None
        try:
            now_ns, trigger = self._clock.now_ns(), schedule.trigger
        except InvalidArgument as error:
            # As when its zone is no longer in the system's list.
            await self.stop(schedule, error.message)
            return None
        due = find_due(trigger, first_ns=schedule.next_ns, now_ns=now_ns)
        is_late = now_ns - due.newest_ns > self._config.grace_sec * SECOND_NS
        wakeup = replace(
            self._wakeup(schedule, due.newest_ns, WakeupKind.CATCH_UP if is_late else WakeupKind.SCHEDULED),
            older=due.older,
            is_counted=due.is_counted,
        )
        if is_late and schedule.missed_policy is MissedPolicy.SKIP:
            wakeup = replace(wakeup, state=WakeupState.MISSED, reason="no server ran, and missed times are skipped")
        elif (running := await self._running(schedule)) is not None:
            name = running.job_id or running.turn_id or running.wakeup_id
            wakeup = replace(wakeup, state=WakeupState.SKIPPED, reason=f"the run before has not ended: {name}")
        return _Claim(schedule=schedule, wakeup=wakeup, next_ns=trigger.next_after(due.newest_ns))

    def _wakeup(self, schedule: Schedule, scheduled_ns: int, kind: WakeupKind) -> Wakeup:
        return Wakeup(
            wakeup_id=wakeup_id_of(schedule.schedule_id, scheduled_ns),
            schedule_id=schedule.schedule_id,
            scheduled_ns=scheduled_ns,
            kind=kind,
            state=WakeupState.CREATED,
            older=0,
            is_counted=True,
            job_id="",
            turn_id="",
            reason="",
            created_ns=0,
        )

    async def _running(self, schedule: Schedule) -> Wakeup | None:
        """The last wake-up of a schedule whose runs do not overlap, while its run has not ended."""
        if schedule.overlap_policy is OverlapPolicy.ALLOW or schedule.last_wakeup_id is None:
            return None
        last = await self._store.wakeup(schedule.last_wakeup_id)
        return last if last is not None and await self.runs.is_unfinished(last) else None

    async def _start(self, schedule: Schedule, wakeup: Wakeup) -> Run:
        try:
            return await self.runs.start(schedule, wakeup)
        except ThreadNotFound:
            if not schedule.owns_thread:
                raise
        # Retention deleted it, since it had no messages for so long.
        return await self.runs.start(await self._with_new_thread(schedule), wakeup)

    async def _with_new_thread(self, schedule: Schedule) -> Schedule:
        thread_id = new_id("thr")
        actor, ids = schedule.created_by, Correlation(thread_id=thread_id)
        opened = thread_draft(THREAD_CREATED, thread_facts(schedule.name), actor=actor, ids=ids)
        moved = schedule_draft(schedule.schedule_id, SCHEDULE_UPDATED, {"thread_id": thread_id})
        await self._append([moved, opened])
        return replace(schedule, thread_id=thread_id)

    async def _record_failure(self, schedule: Schedule, wakeup: Wakeup, error: CodePlaneError) -> None:
        reason = f"{error.name}: {error.message}"[:_MAX_REASON]
        failed: JsonObject = {"wakeup_id": wakeup.wakeup_id, "reason": reason}
        await self._append([wakeup_draft(schedule.schedule_id, WAKEUP_FAILED, failed)])
        if schedule.enabled:
            await self.stop(await self._store.get(schedule.schedule_id), reason)

    async def _append(self, drafts: Sequence[Draft]) -> None:
        """Append what is so, whatever else happened to the schedule."""
        await self._store.append([], drafts)


def thread_facts(name: str) -> JsonObject:
    """What is recorded of a thread that is made for a schedule."""
    return {"title": name, "toolset": "core", "model": ""}


def _to_start(claims: Sequence[_Claim]) -> list[tuple[Schedule, Wakeup]]:
    return [(claim.schedule, claim.wakeup) for claim in claims if claim.wakeup.state is WakeupState.CREATED]
