"""The tables of threads: a row for each thread, message, turn and entry of what a model is shown."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.ledger.rows import Cell
from codeplane.work.threads.events import (
    ASSISTANT_COMMITTED,
    CALLBACK_RECEIVED,
    MEMORY_SAVED,
    MEMORY_WRITTEN,
    MESSAGE_CREATED,
    MODEL_ANSWERED,
    THREAD_ARCHIVED,
    THREAD_CONFIGURED,
    THREAD_CREATED,
    THREAD_RENAMED,
    TOOL_ANSWERED,
    TOOL_FINISHED,
    TURN_BUDGET_APPLIED,
    TURN_COMPLETED,
    TURN_FAILED,
    TURN_INTERRUPT_REQUESTED,
    TURN_PAUSED,
    TURN_QUEUED,
    TURN_RESUMED,
    TURN_STARTED,
)
from codeplane.work.threads.thread import MESSAGE_COLUMNS, THREAD_COLUMNS, TURN_COLUMNS

_PREFIX = "thread/"
_MAX_TITLE = 80
_STATES = {
    TURN_STARTED: "RUNNING",
    TURN_RESUMED: "RUNNING",
    TURN_PAUSED: "PAUSED",
    TURN_COMPLETED: "COMPLETED",
    TURN_FAILED: "FAILED",
}


class ThreadTable:
    """Threads with their messages and turns."""

    name: ClassVar[str] = "threads"
    version: ClassVar[int] = 5
    tables: ClassVar[tuple[str, ...]] = (
        "threads",
        "messages",
        "turns",
        "thread_entries",
        "turn_proposals",
        "thread_memory",
    )
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE threads(
            thread_id TEXT PRIMARY KEY, title TEXT, created_by TEXT, toolset TEXT, model TEXT, archived INTEGER,
            messages INTEGER, created_ns INTEGER, updated_ns INTEGER, mode TEXT, agent TEXT,
            position INTEGER) WITHOUT ROWID""",
        "CREATE INDEX threads_by_position ON threads(position)",
        """CREATE TABLE messages(
            thread_id TEXT, sequence INTEGER, message_id TEXT, turn_id TEXT, role TEXT, content TEXT, metadata TEXT,
            content_trust TEXT, created_ns INTEGER, PRIMARY KEY(thread_id, sequence)) WITHOUT ROWID""",
        "CREATE UNIQUE INDEX messages_by_id ON messages(message_id)",
        """CREATE TABLE turns(
            turn_id TEXT PRIMARY KEY, thread_id TEXT, work_id TEXT, client_message_id TEXT, user_message_id TEXT,
            text_hash TEXT, trigger_type TEXT, state TEXT, code TEXT, message TEXT, retryable INTEGER,
            assistant_message_id TEXT, interrupted INTEGER, max_tool_steps INTEGER, max_tool_tokens INTEGER,
            max_context_messages INTEGER, tool_steps INTEGER, tool_tokens INTEGER, input_tokens INTEGER,
            output_tokens INTEGER, cost_micros INTEGER, created_ns INTEGER, updated_ns INTEGER, position INTEGER)
            WITHOUT ROWID""",
        "CREATE UNIQUE INDEX turns_by_work ON turns(work_id)",
        "CREATE INDEX turns_by_thread ON turns(thread_id, position)",
        """CREATE TABLE thread_entries(
            thread_id TEXT, sequence INTEGER, work_id TEXT, kind TEXT, step INTEGER, tool_call_id TEXT,
            payload_hash TEXT, tokens INTEGER, PRIMARY KEY(thread_id, sequence)) WITHOUT ROWID""",
        "CREATE INDEX thread_entries_by_work ON thread_entries(work_id, sequence)",
        """CREATE TABLE turn_proposals(
            action_id TEXT PRIMARY KEY, turn_id TEXT, settled INTEGER, position INTEGER) WITHOUT ROWID""",
        """CREATE TABLE thread_memory(
            thread_id TEXT PRIMARY KEY, checkpoint_id TEXT, written TEXT, cut TEXT, updated_ns INTEGER)
            WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            _delete_dropped(tables, event.payload)
            return
        thread_id = event.stream.removeprefix(_PREFIX)
        _CHANGES[event.type](tables, thread_id, event)

    types: ClassVar[frozenset[str]]


def _create(tables: Tables, thread_id: str, event: Event) -> None:
    payload = event.payload
    _insert(
        tables,
        "threads",
        f"{THREAD_COLUMNS}, position",
        (
            *(thread_id, _text(payload, "title"), event.actor, _text(payload, "toolset"), _text(payload, "model")),
            *(0, 0, event.at_ns, event.at_ns, _text(payload, "mode"), _text(payload, "agent"), event.position),
        ),
    )


def _rename(tables: Tables, thread_id: str, event: Event) -> None:
    title = _text(event.payload, "title")
    tables.execute("UPDATE threads SET title = ?, updated_ns = ? WHERE thread_id = ?", (title, event.at_ns, thread_id))


def _configure(tables: Tables, thread_id: str, event: Event) -> None:
    """Take over what was chosen; what the event does not name stays as it is."""
    chosen = {name: _text(event.payload, name) for name in ("model", "mode") if name in event.payload}
    for column, value in chosen.items():
        tables.execute(f"UPDATE threads SET {column} = ? WHERE thread_id = ?", (value, thread_id))


def _archive(tables: Tables, thread_id: str, event: Event) -> None:
    tables.execute(
        "UPDATE threads SET archived = ?, updated_ns = ? WHERE thread_id = ?",
        (int(bool(event.payload.get("archived", True))), event.at_ns, thread_id),
    )


def _add_message(tables: Tables, thread_id: str, event: Event) -> None:
    payload = event.payload
    role = "assistant" if event.type == ASSISTANT_COMMITTED else _text(payload, "role")
    content = _text(payload, "full_text" if event.type == ASSISTANT_COMMITTED else "content")
    _insert(
        tables,
        "messages",
        MESSAGE_COLUMNS,
        (
            *(_text(payload, "message_id"), thread_id, event.correlation.turn_id, role, content),
            *(dumps(payload.get("metadata") or {}), event.content_trust.value, event.at_ns, event.sequence),
        ),
    )
    metadata = payload.get("metadata")
    # A heartbeat that has nothing to report does not move its thread to the top of lists.
    is_quiet = isinstance(metadata, dict) and bool(metadata.get("heartbeat") or metadata.get("silent"))
    tables.execute(
        """UPDATE threads SET messages = messages + 1, updated_ns = CASE WHEN ? THEN updated_ns ELSE ? END,
           title = CASE title WHEN '' THEN ? ELSE title END
           WHERE thread_id = ?""",
        (is_quiet, event.at_ns, _title(content) if role == "user" else "", thread_id),
    )


def _queue(tables: Tables, thread_id: str, event: Event) -> None:
    payload = event.payload
    _insert(
        tables,
        "turns",
        TURN_COLUMNS,
        (
            *(event.correlation.turn_id, thread_id, event.correlation.work_id, _text(payload, "client_message_id")),
            *(_text(payload, "user_message_id"), _text(payload, "text_hash"), _text(payload, "trigger_type")),
            *(
                "QUEUED",
                None,
                None,
                0,
                None,
                0,
                _number(payload, "max_tool_steps"),
                _number(payload, "max_tool_tokens"),
            ),
            *(_number(payload, "max_context_messages"), 0, 0, 0, 0, 0, event.at_ns, event.at_ns, event.position),
        ),
    )


def _settle(tables: Tables, thread_id: str, event: Event) -> None:
    tables.execute("UPDATE turn_proposals SET settled = 1 WHERE action_id = ?", (_text(event.payload, "callback_id"),))


def _move(tables: Tables, thread_id: str, event: Event) -> None:
    payload = event.payload
    tables.execute(
        """UPDATE turns SET state = ?, code = ?, message = ?, retryable = ?, updated_ns = ?,
           assistant_message_id = coalesce(?, assistant_message_id) WHERE turn_id = ?""",
        (
            *(_STATES[event.type], _optional(payload, "code"), _optional(payload, "message")),
            *(int(bool(payload.get("retryable"))), event.at_ns, _optional(payload, "assistant_message_id")),
            event.correlation.turn_id,
        ),
    )


def _interrupt(tables: Tables, thread_id: str, event: Event) -> None:
    tables.execute("UPDATE turns SET interrupted = 1 WHERE turn_id = ?", (event.correlation.turn_id,))


def _add_answer(tables: Tables, thread_id: str, event: Event) -> None:
    payload = event.payload
    _add_entry(tables, thread_id, event, "model", None)
    tables.execute(
        """UPDATE turns SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
           cost_micros = cost_micros + ? WHERE turn_id = ?""",
        (
            *(_number(payload, "input_tokens"), _number(payload, "output_tokens"), _number(payload, "cost_micros")),
            event.correlation.turn_id,
        ),
    )


def _apply_budget(tables: Tables, thread_id: str, event: Event) -> None:
    """Take over the budget of a turn, which may have been raised."""
    budget = event.payload["effective_budget"]
    assert isinstance(budget, dict)
    tables.execute(
        "UPDATE turns SET max_tool_steps = ?, max_tool_tokens = ?, max_context_messages = ? WHERE turn_id = ?",
        (
            *(_number(budget, "max_tool_steps"), _number(budget, "max_tool_tokens")),
            *(_number(budget, "max_context_messages"), event.correlation.turn_id),
        ),
    )


def _add_tool_answer(tables: Tables, thread_id: str, event: Event) -> None:
    payload = event.payload
    _add_entry(tables, thread_id, event, "tool", _text(payload, "tool_call_id"))
    tables.execute(
        "UPDATE turns SET tool_steps = tool_steps + 1, tool_tokens = tool_tokens + ? WHERE turn_id = ?",
        (_number(payload, "tokens"), event.correlation.turn_id),
    )
    if (action_id := _optional(payload, "proposed_action_id")) is not None:
        columns = "action_id, turn_id, settled, position"
        _insert(tables, "turn_proposals", columns, (action_id, event.correlation.turn_id, 0, event.position))


def _add_entry(tables: Tables, thread_id: str, event: Event, kind: str, tool_call_id: str | None) -> None:
    payload = event.payload
    _insert(
        tables,
        "thread_entries",
        "thread_id, sequence, work_id, kind, step, tool_call_id, payload_hash, tokens",
        (
            *(thread_id, event.sequence, event.correlation.work_id, kind, _number(payload, "step"), tool_call_id),
            *(_text(payload, "payload_hash"), _number(payload, "tokens")),
        ),
    )


def _remember(tables: Tables, thread_id: str, event: Event) -> None:
    """Keep what a person wrote, or what of the conversation was cut, beside the other."""
    column = "written" if event.type == MEMORY_WRITTEN else "cut"
    tables.execute(
        """INSERT INTO thread_memory(thread_id, checkpoint_id, written, cut, updated_ns) VALUES (?1, ?2, '', '', ?3)
           ON CONFLICT(thread_id) DO UPDATE SET checkpoint_id = ?2, updated_ns = ?3""",
        (thread_id, _text(event.payload, "checkpoint_id"), event.at_ns),
    )
    tables.execute(
        f"UPDATE thread_memory SET {column} = ? WHERE thread_id = ?", (_text(event.payload, "text"), thread_id)
    )


def _delete_dropped(tables: Tables, payload: JsonObject) -> None:
    """Delete what retention has dropped: old messages of a thread, or all of it."""
    streams = payload["streams"]
    assert isinstance(streams, list)
    for stream, first in streams:
        if not stream.startswith(_PREFIX):
            continue
        thread_id = stream.removeprefix(_PREFIX)
        for table in ("messages", "thread_entries"):
            tables.execute(f"DELETE FROM {table} WHERE thread_id = ? AND sequence < ?", (thread_id, first))
        tables.execute(
            """UPDATE threads SET messages = (SELECT count(*) FROM messages m WHERE m.thread_id = threads.thread_id)
               WHERE thread_id = ?""",
            (thread_id,),
        )
        tables.execute(
            """DELETE FROM threads WHERE thread_id = ?1 AND messages = 0 AND NOT EXISTS (
               SELECT 1 FROM turns t WHERE t.thread_id = ?1 AND t.state NOT IN ('COMPLETED', 'FAILED'))""",
            (thread_id,),
        )
        for table in ("turns", "thread_memory"):
            tables.execute(f"DELETE FROM {table} WHERE thread_id NOT IN (SELECT thread_id FROM threads)")
        tables.execute("DELETE FROM turn_proposals WHERE turn_id NOT IN (SELECT turn_id FROM turns)")


def _insert(tables: Tables, table: str, columns: str, cells: tuple[Cell, ...]) -> None:
    marks = ", ".join("?" * len(cells))
    tables.execute(f"INSERT OR IGNORE INTO {table}({columns}) VALUES ({marks})", cells)


def _title(content: str) -> str:
    """The first line of what a person wrote, as a title."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"


def _optional(payload: JsonObject, name: str) -> str | None:
    """A text of a payload, or None."""
    value = payload.get(name)
    return None if value is None else str(value)


def _text(payload: JsonObject, name: str) -> str:
    return str(payload.get(name) or "")


def _number(payload: JsonObject, name: str) -> int:
    return int(str(payload.get(name) or 0))


_Change = Callable[[Tables, str, Event], None]
_CHANGES: Mapping[str, _Change] = {
    THREAD_CREATED: _create,
    THREAD_RENAMED: _rename,
    THREAD_CONFIGURED: _configure,
    THREAD_ARCHIVED: _archive,
    MESSAGE_CREATED: _add_message,
    ASSISTANT_COMMITTED: _add_message,
    TURN_QUEUED: _queue,
    CALLBACK_RECEIVED: _settle,
    MEMORY_SAVED: _remember,
    MEMORY_WRITTEN: _remember,
    **dict.fromkeys(_STATES, _move),
    TURN_INTERRUPT_REQUESTED: _interrupt,
    TURN_BUDGET_APPLIED: _apply_budget,
    MODEL_ANSWERED: _add_answer,
    TOOL_FINISHED: _add_tool_answer,
    TOOL_ANSWERED: _add_tool_answer,
}
ThreadTable.types = frozenset({*_CHANGES, RETENTION_APPLIED})
