"""The client's records of schedules and their wake-ups, and the calls on them."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeplane.client.records import list_field, number_field, object_field, text_field
from codeplane.client.threads import TurnBudget
from codeplane.kernel.json import JsonObject

# Calls a method of the service of schedules with a JSON message.
CallMethod = Callable[[str, JsonObject], JsonObject]
_PAGE = 100
_KINDS = {"cron": "SCHEDULE_TRIGGER_CRON", "interval": "SCHEDULE_TRIGGER_INTERVAL", "at": "SCHEDULE_TRIGGER_AT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wakeup:
    """A time of a schedule that has come; `state` is STARTED, SKIPPED, MISSED, FAILED, or CREATED until it starts."""

    wakeup_event_id: str
    scheduled_for: str
    kind: str
    state: str
    missed_before: int
    job_id: str
    turn_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule; with its next runs and its wake-ups when it was asked for alone."""

    schedule_id: str
    name: str
    trigger_kind: str
    trigger_spec: str
    timezone: str
    enabled: bool
    next_run_at: str
    last_run_at: str
    goal: str
    thread_id: str
    heartbeat: bool
    missed_policy: str
    overlap_policy: str
    stop_reason: str
    runs: int
    skipped: int
    missed: int
    next_runs: tuple[str, ...]
    history: tuple[Wakeup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRun:
    """A run that was asked for: a job with its turn, or a heartbeat's turn."""

    wakeup_event_id: str
    job_id: str
    turn_id: str


class ScheduleCalls:
    """Calls on schedules; raises the errors of the table."""

    def __init__(self, call: CallMethod) -> None:
        self._call = call

    def create(
        self,
        name: str,
        goal: str,
        *,
        kind: str,
        spec: str,
        timezone: str = "",
        thread_id: str = "",
        budget: TurnBudget | None = None,
        heartbeat: bool = False,
        idempotency_key: str = "",
    ) -> Schedule:
        """Have something run by the clock: `kind` is cron, interval or at, and `spec` says when."""
        body: JsonObject = {
            "name": name,
            "goal": goal,
            "triggerKind": _KINDS.get(kind.lower(), kind),
            "triggerSpec": spec,
            "timezone": timezone,
            "threadId": thread_id,
            "heartbeat": heartbeat,
            # Sent again after a lost connection, so that it is one schedule.
            "idempotencyKey": idempotency_key or str(uuid.uuid4()),
            **({"budget": budget.to_json()} if budget is not None else {}),
        }
        return _item(self._call("CreateSchedule", body))

    def list(self, *, page_size: int = _PAGE) -> Iterator[Schedule]:
        """Yield the schedules in the order in which they were made."""
        request: JsonObject = {"pageSize": page_size}
        while True:
            message = self._call("ListSchedules", request)
            yield from map(schedule_from_json, list_field(message, "items"))
            if not (following := message.get("nextPageToken")):
                return
            request = {**request, "pageToken": following}

    def get(self, schedule_id: str) -> Schedule:
        """Return a schedule with its next runs and its newest wake-ups."""
        return _item(self._call("GetSchedule", {"scheduleId": schedule_id}))

    def update(self, schedule_id: str, patch: JsonObject) -> Schedule:
        """Change fields of a schedule by their names in the proto; unknown names are refused."""
        return _item(self._call("UpdateSchedule", {"scheduleId": schedule_id, "patch": patch}))

    def run(self, schedule_id: str) -> ScheduleRun:
        """Run a schedule now, besides its times."""
        return run_from_json(self._call("RunScheduleNow", {"scheduleId": schedule_id}))

    def delete(self, schedule_id: str) -> None:
        """Delete a schedule; runs that have started go on."""
        self._call("DeleteSchedule", {"scheduleId": schedule_id})


def schedule_from_json(message: JsonObject) -> Schedule:
    """Return a schedule from its JSON message."""
    runs = message.get("nextRuns")
    return Schedule(
        schedule_id=text_field(message, "scheduleId"),
        name=text_field(message, "name"),
        trigger_kind=text_field(message, "triggerKind"),
        trigger_spec=text_field(message, "triggerSpec"),
        timezone=text_field(message, "timezone"),
        enabled=message.get("enabled") is True,
        next_run_at=text_field(message, "nextRunAt"),
        last_run_at=text_field(message, "lastRunAt"),
        goal=text_field(message, "goal"),
        thread_id=text_field(message, "threadId"),
        heartbeat=message.get("heartbeat") is True,
        missed_policy=text_field(message, "missedPolicy"),
        overlap_policy=text_field(message, "overlapPolicy"),
        stop_reason=text_field(message, "stopReason"),
        runs=number_field(message, "runs"),
        skipped=number_field(message, "skipped"),
        missed=number_field(message, "missed"),
        next_runs=tuple(map(str, runs)) if isinstance(runs, list) else (),
        history=tuple(map(_wakeup_from_json, list_field(message, "history"))),
    )


def run_from_json(message: JsonObject) -> ScheduleRun:
    """Return a run from its JSON message."""
    return ScheduleRun(
        wakeup_event_id=text_field(message, "wakeupEventId"),
        job_id=text_field(message, "jobId"),
        turn_id=text_field(message, "turnId"),
    )


def _item(message: JsonObject) -> Schedule:
    return schedule_from_json(object_field(message, "item"))


def _wakeup_from_json(message: JsonObject) -> Wakeup:
    return Wakeup(
        wakeup_event_id=text_field(message, "wakeupEventId"),
        scheduled_for=text_field(message, "scheduledFor"),
        kind=text_field(message, "kind"),
        state=text_field(message, "state"),
        missed_before=number_field(message, "missedBefore"),
        job_id=text_field(message, "jobId"),
        turn_id=text_field(message, "turnId"),
        reason=text_field(message, "reason"),
    )
