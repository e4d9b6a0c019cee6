"""Starts what schedules run: a job, or for a heartbeat a turn in the schedule's thread."""

from contextlib import suppress
from dataclasses import dataclass

from codeplane.kernel.config import TurnsConfig
from codeplane.kernel.errors import InvalidArgument, SequenceConflict, TurnNotFound
from codeplane.work.jobs.queue import JobQueue, NewJob
from codeplane.work.schedules.schedule import Schedule, Wakeup, WakeupState
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Thread
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.heartbeat import HEARTBEAT, heartbeat_text
from codeplane.work.turns.queue import NewTurn, TurnQueue

SCHEDULE_WAKEUP = "SCHEDULE_WAKEUP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a wake-up started: a job with its turn, or a turn alone."""

    job_id: str = ""
    turn_id: str = ""


class ScheduleRuns:
    """Starts runs, and knows whether they have ended; to start one twice is to start it once."""

    def __init__(self, *, jobs: JobQueue, turns: TurnQueue, threads: ThreadStore, config: TurnsConfig) -> None:
        self._jobs = jobs
        self._turns = turns
        self._threads = threads
        self._config = config

    async def start(self, schedule: Schedule, wakeup: Wakeup) -> Run:
        """Queue the run of a wake-up; InvalidArgument or ThreadNotFound when it has no thread to run in."""
        thread = await self._threads.thread(schedule.thread_id)
        if thread.archived:
            raise InvalidArgument(f"its thread {thread.thread_id} is archived", hint="take the thread out again")
        if schedule.heartbeat:
            return await self._start_turn(schedule, wakeup, thread)
        job = NewJob(
            goal=schedule.goal,
            created_by=schedule.on_behalf_of,
            on_behalf_of=schedule.on_behalf_of,
            thread_id=thread.thread_id,
            trigger_type=SCHEDULE_WAKEUP,
            trigger_source_id=schedule.schedule_id,
            scheduled_for_ns=wakeup.scheduled_ns,
            budget=schedule.budget,
            max_wall_time_ms=schedule.max_wall_time_ms,
            changes_files=schedule.changes_files,
        )
        job_id = await self._jobs.add(job)
        found = await self._jobs.find(job_id)
        return Run(job_id=job_id, turn_id=found.turn_id if found is not None else "")

    async def is_unfinished(self, wakeup: Wakeup) -> bool:
        """Whether the run of a wake-up has not ended."""
        if wakeup.state is WakeupState.CREATED:
            return True
        if wakeup.job_id:
            return await self._jobs.is_unfinished(wakeup.job_id)
        if wakeup.turn_id:
            # Retention may have taken the turn along.
            with suppress(TurnNotFound):
                return not (await self._threads.turn(wakeup.turn_id)).has_ended
        return False

    async def _start_turn(self, schedule: Schedule, wakeup: Wakeup, thread: Thread) -> Run:
        new = NewTurn(
            thread=thread,
            source_id=schedule.schedule_id,
            text=heartbeat_text(schedule.goal),
            created_by=schedule.on_behalf_of,
            on_behalf_of=schedule.on_behalf_of,
            budget=TurnBudget.effective(schedule.budget, self._config),
            trigger_type=HEARTBEAT,
            scheduled_for_ns=wakeup.scheduled_ns,
        )
        with suppress(SequenceConflict):
            # Started before a crash, or by another server at the same moment.
            await self._turns.add(new)
        return Run(turn_id=new.turn_id)
