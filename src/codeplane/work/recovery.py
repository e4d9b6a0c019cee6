"""Recovery after a restart: open tasks and sessions are closed, and running calls get their outcome."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection

from msgspec.structs import replace

from codeplane.kernel.call_record import CALL_FINISHED, CALL_STARTED, recovered_payload, task_stream, with_copies
from codeplane.kernel.errors import CodePlaneError, Interrupted, OutcomeUnknown
from codeplane.kernel.event import Correlation, Draft, Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import derived_event_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ending, Ledger
from codeplane.work.task import TaskState

_BATCH = 500
_UNKNOWN = Ending(state="unknown")
# The reason recorded for calls without an answer.
_CUT_OFF = "SERVER_ENDED"


EndingOf = Callable[[str, str, int], Awaitable[Ending]]
IsOwn = Callable[[Event], bool]


async def recover(log: Ledger, ending_of: EndingOf | None = None, *, is_own: IsOwn | None = None) -> JsonObject:
    """Append the endings that the last run could not; repeating it appends nothing.

    `ending_of` returns how a call ended, by its id, operation and start time. `is_own`: where several nodes share the
    log, whether an event is of this one; what others began may still go on.
    """
    ended = await end_calls(log, ending_of, is_own=is_own)
    tasks = await _end_tasks(log, is_own)
    known: JsonObject = {f"calls_{state}": ended[state] for state in ("done", "not_done") if ended[state]}
    return {"calls": sum(ended.values()), "tasks": tasks, **known}


async def end_calls(
    log: Ledger,
    ending_of: EndingOf | None,
    *,
    only: Collection[str] | None = None,
    is_own: IsOwn | None = None,
) -> Counter[str]:
    """Append how calls of the last run ended, all or `only` these; calls that are still running are skipped."""
    rows = await log.select("SELECT call_id, task_id, session_id, actor FROM operations WHERE status = 'running'")
    drafts: list[Draft] = []
    ended: Counter[str] = Counter()
    for call_id, task_id, session_id, actor in rows:
        if only is not None and str(call_id) not in only:
            continue
        (intent,) = await log.query(EventQuery(call_id=str(call_id), types=(CALL_STARTED,), limit=1))
        if is_own is not None and not is_own(intent):
            continue
        ending = _UNKNOWN
        if ending_of is not None:
            ending = await ending_of(str(call_id), str(intent.payload["operation"]), intent.at_ns)
        if ending.state == "running":
            continue
        ended[ending.state] += 1
        drafts += with_copies(
            Draft(
                stream=task_stream(str(task_id)),
                type=CALL_FINISHED,
                payload=_end_payload(intent.payload, ending),
                actor=str(actor),
                correlation=replace(
                    intent.correlation, call_id=str(call_id), task_id=str(task_id), session_id=str(session_id)
                ),
                event_id=derived_event_id("unknown-outcome", str(call_id)),
            )
        )
    await _append(log, drafts)
    return ended


def _end_payload(intent: JsonObject, ending: Ending) -> JsonObject:
    """The payload of a call's end."""
    payload: JsonObject = {**intent, "duration_us": 0}
    if ending.state == "done":
        payload |= {"executed": True, "status": "ok", **recovered_payload(ending.mutation_id, cut_off=_CUT_OFF)}
        return payload | ({"changed_paths": list(ending.paths)} if ending.paths else {})
    reason = f"; {ending.reason}" if ending.reason else ""
    error: CodePlaneError = OutcomeUnknown(f"the server ended while this call ran{reason}")
    if ending.state == "not_done":
        error = Interrupted(f"the server ended while this call ran, and {ending.reason or 'nothing of it was done'}")
    return payload | {
        "executed": ending.state != "not_done",
        "status": error.name,
        "error": {"code": error.code, "message": error.message, "retryable": error.retryable},
    }


async def _end_tasks(log: Ledger, is_own: IsOwn | None) -> int:
    tasks = await log.select("SELECT task_id, session_id FROM tasks WHERE state = 'OPEN'")
    sessions = await log.select("SELECT session_id, task_id FROM sessions WHERE closed_at IS NULL")
    if is_own is not None:
        tasks = [row for row in tasks if await _has_own_start(log, task_stream(str(row[0])), is_own)]
        sessions = [row for row in sessions if await _has_own_start(log, "session/" + str(row[0]), is_own)]
    drafts = [
        Draft(
            stream=task_stream(str(task_id)),
            type="task.closed",
            payload={"state": TaskState.CLOSED_INTERRUPTED.value, "reason": "crash-recover"},
            correlation=Correlation(task_id=str(task_id), session_id=str(session_id)),
        )
        for task_id, session_id in tasks
    ]
    drafts += [
        Draft(
            stream="session/" + str(session_id),
            type="session.closed",
            payload={"reason": "crash-recover"},
            correlation=Correlation(task_id=str(task_id), session_id=str(session_id)),
        )
        for session_id, task_id in sessions
    ]
    await _append(log, drafts)
    return len(tasks)


async def _has_own_start(log: Ledger, stream: str, is_own: IsOwn) -> bool:
    """Whether a stream was begun by this node; one whose beginning is gone was not."""
    events = await log.query(EventQuery(stream=stream, limit=1))
    return bool(events) and events[0].sequence == 1 and is_own(events[0])


async def _append(log: Ledger, drafts: list[Draft]) -> None:
    for start in range(0, len(drafts), _BATCH):
        await log.append(drafts[start : start + _BATCH])
