"""The events of schedules: their definitions in `schedule/<id>`, their wake-ups in `wakeup/<id>`."""

from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject

SCHEDULE_CREATED, SCHEDULE_UPDATED = "schedule.created", "schedule.updated"
SCHEDULE_DELETED, SCHEDULE_STOPPED = "schedule.deleted", "schedule.stopped"
# A time that has come: it is to be run, or it was skipped or missed.
WAKEUP_CREATED = "wakeup.created"
WAKEUP_STARTED, WAKEUP_FAILED = "wakeup.started", "wakeup.failed"
WAKEUP_RESCHEDULED = "wakeup.rescheduled"
CHANGES = frozenset(
    {
        *(SCHEDULE_CREATED, SCHEDULE_UPDATED, SCHEDULE_DELETED, SCHEDULE_STOPPED),
        *(WAKEUP_CREATED, WAKEUP_STARTED, WAKEUP_FAILED, WAKEUP_RESCHEDULED),
    }
)


def schedule_stream(schedule_id: str) -> str:
    """The stream of a schedule's definition."""
    return f"schedule/{schedule_id}"


def wakeup_stream(schedule_id: str) -> str:
    """The stream of a schedule's wake-ups."""
    return f"wakeup/{schedule_id}"


def schedule_draft(
    schedule_id: str, kind: str, payload: JsonObject, *, actor: str = "system", call_id: str | None = None
) -> Draft:
    """An event of a schedule's definition."""
    return Draft(
        stream=schedule_stream(schedule_id),
        type=kind,
        payload=payload,
        actor=actor,
        correlation=Correlation(call_id=call_id),
    )


def wakeup_draft(
    schedule_id: str, kind: str, payload: JsonObject, *, actor: str = "system", event_id: str | None = None
) -> Draft:
    """An event of a schedule's wake-ups."""
    return Draft(stream=wakeup_stream(schedule_id), type=kind, payload=payload, actor=actor, event_id=event_id)
