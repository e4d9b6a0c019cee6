"""Requests and results of the schedule operations."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.work.schedules.schedule import Schedule, Wakeup, WakeupKind, WakeupState
from codeplane.work.schedules.trigger import Trigger, TriggerKind, find_zone
from codeplane.work.turns.models import BudgetRequest

MAX_GOAL_BYTES = 65_536
NEXT_RUNS = 5
_MAX_NEXT_RUNS = 100
_MAX_HISTORY = 200
_MAX_WALL_TIME_MS = 86_400_000
_SHORT_KINDS = {kind.name.lower(): kind.value for kind in TriggerKind}

TriggerWord = Annotated[
    TriggerKind, BeforeValidator(lambda value: _SHORT_KINDS.get(str(value).lower(), value), json_schema_input_type=str)
]
MissedWord = Literal["catch_up", "skip"]
OverlapWord = Literal["skip", "allow"]
_SPEC = "30 9 * * 1-5, PT15M or 2030-01-31T09:00:00Z, as trigger_kind says"


class CreateScheduleRequest(Request):
    """A new schedule: when it is due, and what it runs."""

    prose: ClassVar[frozenset[str]] = frozenset({"name"})
    name: str = Field(min_length=1, max_length=200, pattern=r"\S")
    trigger_kind: TriggerWord = Field(description="cron, interval or at")
    trigger_spec: str = Field(min_length=1, max_length=200, description=_SPEC)
    timezone: str = Field("UTC", max_length=100, description="IANA name, of cron expressions")
    goal: str = Field(min_length=1, pattern=r"\S", description="what each run is to achieve")
    thread_id: str = Field("", max_length=100, description="where it runs; else in a thread of its own")
    budget: BudgetRequest = BudgetRequest()
    max_wall_time_ms: int = Field(0, ge=0, le=_MAX_WALL_TIME_MS, description="how long a run takes; 0 is the default")
    heartbeat: bool = Field(False, description="a turn that stays silent when there is nothing to report, not a job")
    changes_files: bool = Field(False, description="let its jobs change files, in work trees of their own")
    missed_policy: MissedWord = Field("catch_up", description="times that came while no server ran")
    overlap_policy: OverlapWord = Field("skip", description="a time that comes while the run before goes on")
    enabled: bool = True


class SchedulePatch(Request):
    """What changes of a schedule; other keys are refused."""

    name: str | None = Field(None, min_length=1, max_length=200, pattern=r"\S")
    trigger_kind: TriggerWord | None = None
    trigger_spec: str | None = Field(None, min_length=1, max_length=200)
    timezone: str | None = Field(None, max_length=100)
    goal: str | None = Field(None, min_length=1, pattern=r"\S")
    thread_id: str | None = Field(None, min_length=4, max_length=100)
    budget: BudgetRequest | None = None
    max_wall_time_ms: int | None = Field(None, ge=0, le=_MAX_WALL_TIME_MS)
    heartbeat: bool | None = None
    changes_files: bool | None = None
    missed_policy: MissedWord | None = None
    overlap_policy: OverlapWord | None = None
    enabled: bool | None = None


class ScheduleRequest(Request):
    """A schedule."""

    schedule_id: str = Field(
        min_length=1, max_length=100, description="its id, its name, or a beginning or end that only its id has"
    )


class ShowScheduleRequest(ScheduleRequest):
    """A schedule with its newest wake-ups."""

    history: int = Field(20, ge=0, le=_MAX_HISTORY, description="how many wake-ups, the newest first")


class UpdateScheduleRequest(ScheduleRequest):
    """A change of a schedule."""

    patch: SchedulePatch


class ListSchedulesRequest(PageRequest):
    """Which schedules to list."""

    enabled: bool | None = Field(None, description="only those that are, or are not")


class NextRunsRequest(Request):
    """The next times of a schedule, or of one that is not there yet."""

    schedule_id: str = Field("", max_length=100)
    trigger_kind: TriggerWord | None = None
    trigger_spec: str = Field("", max_length=200, description=_SPEC)
    timezone: str = Field("UTC", max_length=100)
    count: int = Field(NEXT_RUNS, ge=1, le=_MAX_NEXT_RUNS)


class WakeupView(Result):
    """A time of a schedule that has come, and what became of it."""

    wakeup_event_id: str
    scheduled_for: str
    kind: str
    state: str
    missed_before: int
    more_missed: bool
    job_id: str
    turn_id: str
    reason: str
    created_at: str

    @classmethod
    def of(cls, wakeup: Wakeup) -> "WakeupView":
        """The wake-up as callers see it."""
        return cls(
            wakeup_event_id=wakeup.wakeup_id,
            scheduled_for=rfc3339(wakeup.scheduled_ns),
            kind=wakeup.kind.value,
            state=wakeup.state.value,
            missed_before=wakeup.older,
            more_missed=not wakeup.is_counted,
            job_id=wakeup.job_id,
            turn_id=wakeup.turn_id,
            reason=wakeup.reason,
            created_at=rfc3339(wakeup.created_ns),
        )

    def text(self) -> str:
        kind = {WakeupKind.CATCH_UP: " (catching up)", WakeupKind.MANUAL: " (run now)"}.get(WakeupKind(self.kind), "")
        more = "+" if self.more_missed else ""
        before = f", {plural(self.missed_before, 'time', more)} before it missed" if self.missed_before else ""
        what = "" if self.state == WakeupState.STARTED else f" {self.state.lower()}"
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.scheduled_for[:19]}Z{kind}{what}{before}{reason} {self.job_id or self.turn_id}".rstrip()


class ScheduleView(Result):
    """A schedule."""

    schedule_id: str
    name: str
    trigger_kind: str
    trigger_spec: str
    timezone: str
    enabled: bool
    next_run_at: str | None
    last_run_at: str | None
    created_at: str
    updated_at: str
    goal: str
    thread_id: str
    budget: dict[str, int]
    max_wall_time_ms: int
    heartbeat: bool
    changes_files: bool
    missed_policy: str
    overlap_policy: str
    created_by: str
    stop_reason: str
    runs: int
    skipped: int
    missed: int

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        """The schedule as callers see it."""
        return cls(**_fields(schedule))

    def text(self) -> str:
        state = f"next {_with_local(self.next_run_at, self.timezone)}" if self.enabled and self.next_run_at else "off"
        what = " heartbeat" if self.heartbeat else ""
        why = f" ({self.stop_reason})" if self.stop_reason else ""
        zone = f" {self.timezone}" if self.trigger_kind == TriggerKind.CRON else ""
        return f"{self.schedule_id} {self.name}: {self.trigger_spec}{zone}{what}, {state}{why}"


class ScheduleDetails(ScheduleView):
    """A schedule with its next runs and its newest wake-ups."""

    next_runs: tuple[str, ...] = ()
    history: tuple[WakeupView, ...] = ()

    @classmethod
    def with_history(cls, schedule: Schedule, wakeups: list[Wakeup]) -> "ScheduleDetails":
        """The schedule with wake-ups, the newest first."""
        runs = list_runs(schedule.trigger, schedule.next_ns, NEXT_RUNS) if schedule.enabled else ()
        return cls(**_fields(schedule), next_runs=runs, history=tuple(map(WakeupView.of, wakeups)))

    def text(self) -> str:
        counts = f"{plural(self.runs, 'run')}, {self.skipped} skipped, {self.missed} missed"
        lines = [super().text(), f"goal: {self.goal}", f"thread: {self.thread_id}", counts]
        lines += [f"next: {_with_local(at, self.timezone)}" for at in self.next_runs]
        return "\n".join([*lines, *(wakeup.text() for wakeup in self.history)])


class SchedulePage(Result):
    """Schedules, in the order in which they were made."""

    results: tuple[ScheduleView, ...]
    pagination: Pagination
    hidden: int = Field(0, description="how many of them the owner's rules hide")

    def text(self) -> str:
        return ("\n".join(view.text() for view in self.results) or "no schedules") + self.pagination.line(self.hidden)


class DeletedSchedule(Result):
    """A schedule that is gone; runs that had started go on."""

    schedule_id: str

    def text(self) -> str:
        return f"{self.schedule_id} is deleted"


class StartedRun(Result):
    """A run that was asked for."""

    schedule_id: str
    wakeup_event_id: str
    job_id: str
    turn_id: str

    def text(self) -> str:
        return f"{self.schedule_id} runs: {self.job_id or self.turn_id}"


class NextRuns(Result):
    """The next times, in UTC."""

    timezone: str
    runs: tuple[str, ...]

    def text(self) -> str:
        return "\n".join(_with_local(at, self.timezone) for at in self.runs) or "no more times come"


def list_runs(trigger: Trigger, first_ns: int | None, count: int) -> tuple[str, ...]:
    """The times from the first on, as RFC 3339."""
    runs: list[str] = []
    at_ns = first_ns
    while at_ns is not None and len(runs) < count:
        runs.append(rfc3339(at_ns))
        at_ns = trigger.next_after(at_ns)
    return tuple(runs)


def _with_local(at: str, timezone: str) -> str:
    """A time in UTC and as clocks show it in a zone."""
    utc = f"{at[:19]}Z"
    if timezone == "UTC":
        return utc
    local = datetime.fromisoformat(utc).astimezone(find_zone(timezone))
    return f"{utc} ({local:%a %Y-%m-%d %H:%M %Z})"


def _fields(schedule: Schedule) -> dict[str, object]:
    return {
        "schedule_id": schedule.schedule_id,
        "name": schedule.name,
        "trigger_kind": schedule.trigger_kind.value,
        "trigger_spec": schedule.trigger_spec,
        "timezone": schedule.timezone,
        "enabled": schedule.enabled,
        "next_run_at": None if schedule.next_ns is None else rfc3339(schedule.next_ns),
        "last_run_at": None if schedule.last_ns is None else rfc3339(schedule.last_ns),
        "created_at": rfc3339(schedule.created_ns),
        "updated_at": rfc3339(schedule.updated_ns),
        "goal": schedule.goal,
        "thread_id": schedule.thread_id,
        "budget": schedule.budget.to_json(),
        "max_wall_time_ms": schedule.max_wall_time_ms,
        "heartbeat": schedule.heartbeat,
        "changes_files": schedule.changes_files,
        "missed_policy": schedule.missed_policy.value,
        "overlap_policy": schedule.overlap_policy.value,
        "created_by": schedule.created_by,
        "stop_reason": schedule.stop_reason,
        "runs": schedule.runs,
        "skipped": schedule.skipped,
        "missed": schedule.missed,
    }
