"""After a restart: what was open is closed as interrupted, and what was running ended in a way nobody saw."""

from codeplane.kernel.errors import OutcomeUnknown
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import derived_event_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import EventQuery, Ledger
from codeplane.kernel.record import CALL_FINISHED, CALL_STARTED, task_stream, with_action
from codeplane.work.task import TaskState

_BATCH = 500


async def recover(log: Ledger) -> JsonObject:
    """Append the endings that the last run could not; running it again appends nothing."""
    calls = await _end_calls(log)
    tasks = await _end_tasks(log)
    return {"calls": calls, "tasks": tasks}


async def _end_calls(log: Ledger) -> int:
    rows = await log.select("SELECT call_id, task_id, session_id, actor FROM operations WHERE status = 'running'")
    drafts: list[Draft] = []
    for call_id, task_id, session_id, actor in rows:
        ids = Correlation(call_id=str(call_id), task_id=str(task_id), session_id=str(session_id))
        (intent,) = await log.query(EventQuery(call_id=str(call_id), types=(CALL_STARTED,), limit=1))
        drafts += with_action(
            Draft(
                stream=task_stream(str(task_id)),
                type=CALL_FINISHED,
                payload=_unknown(intent.payload),
                actor=str(actor),
                correlation=ids,
                event_id=derived_event_id("unknown-outcome", str(call_id)),
            )
        )
    await _append(log, drafts)
    return len(rows)


def _unknown(intent: JsonObject) -> JsonObject:
    error = OutcomeUnknown("the server ended while this call ran")
    return {
        **intent,
        "executed": True,
        "duration_us": 0,
        "status": error.name,
        "error": {"code": error.code, "message": error.message, "retryable": False},
    }


async def _end_tasks(log: Ledger) -> int:
    tasks = await log.select("SELECT task_id, session_id FROM tasks WHERE state = 'OPEN'")
    sessions = await log.select("SELECT session_id, task_id FROM sessions WHERE closed_at IS NULL")
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


async def _append(log: Ledger, drafts: list[Draft]) -> None:
    for start in range(0, len(drafts), _BATCH):
        await log.append(drafts[start : start + _BATCH])
