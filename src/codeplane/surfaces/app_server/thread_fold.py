"""Folds the events of a thread into turns and items, and into the notifications that tell of them."""

import re
from collections.abc import Callable, Mapping

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.thread_copies import original_type
from codeplane.surfaces.app_server.folded_turn import FoldedTurn, Note, PendingAction, TakenEvent, TurnPart
from codeplane.surfaces.app_server.items import (
    Item,
    abandon,
    add_output,
    agent_message,
    finish_tool,
    reasoning,
    tool_item,
    user_message,
)

# What the id of a message begins with that goes on with a running turn, before that turn's id.
STEER = "steer:"
# Likewise, of an id that a client did not choose.
OWN_MESSAGE = "cmsg_"
_INTERRUPTED = frozenset({"INTERRUPTED", "CANCELLED"})
# The code of a turn that a newer message ended; only then does another turn go on with it.
_BY_MESSAGE = "INTERRUPTED"
_DIGITS = re.compile(r"[0-9]*")


class ThreadFold:
    """The state of a thread after the events taken so far; the same events give the same notes."""

    def __init__(self, thread_id: str, *, cwd: str) -> None:
        self.thread_id = thread_id
        self.turns: dict[str, FoldedTurn] = {}
        self.pending: dict[str, PendingAction] = {}
        self.last_sequence = 0
        self.used: dict[str, int] = {"input": 0, "output": 0}
        self.cwd = cwd
        self._parts: dict[str, TurnPart] = {}
        # The turns that clients know, by those of the thread that go on with them.
        self._roots: dict[str, str] = {}
        # A turn that a message ended which is not here yet.
        self._deferred: FoldedTurn | None = None
        self._shown_status: JsonObject = {"type": "idle"}

    @property
    def active(self) -> FoldedTurn | None:
        """The turn that has not ended and began first."""
        return next((turn for turn in self.turns.values() if turn.status == "inProgress"), None)

    @property
    def status(self) -> JsonObject:
        """The status of the thread."""
        if self.active is None:
            return {"type": "idle"}
        return {"type": "active", "activeFlags": ["waitingOnApproval"] if self.pending else []}

    def take(self, event: JsonObject) -> list[Note]:
        """Take one event and return the notifications that clients get of it."""
        self.last_sequence = int(str(event["sequence"]))
        kind, payload = original_type(str(event["type"])), event["payload"]
        assert isinstance(payload, dict)
        change = _CHANGES.get(kind)
        if change is None:
            return []
        notes = change(self, TakenEvent(event=event, kind=kind, payload=payload))
        if self.status != self._shown_status:
            self._shown_status = self.status
            notes.append(self._note("thread/status/changed", {"status": self.status}))
        return notes

    def settle(self) -> list[Note]:
        """End a turn that a message was to go on with which never came."""
        deferred, self._deferred = self._deferred, None
        return [] if deferred is None else self._ended(deferred)

    def _add_message(self, taken: TakenEvent) -> list[Note]:
        payload, message_id = taken.payload, str(taken.payload.get("message_id"))
        content = str(payload.get("content") or "")
        if taken.turn_id:
            body = user_message(message_id, content, None)
            self._part(taken.turn_id).asked = Item(id=message_id, body=body, started_ms=taken.at_ms)
            return []
        # Copied from the thread that this one was forked from.
        metadata = payload.get("metadata")
        copied = metadata.get("copied_turn_id") if isinstance(metadata, dict) else None
        turn = self._turn(str(copied or message_id), taken)
        turn.status, turn.started_ms, turn.completed_ms = "completed", turn.started_ms or taken.at_ms, taken.at_ms
        is_asked = payload.get("role") != "assistant"
        body = user_message(message_id, content, None) if is_asked else agent_message(message_id, content, phase=None)
        turn.items[message_id] = Item(id=message_id, body=body, started_ms=taken.at_ms, completed_ms=taken.at_ms)
        return []

    def _queue(self, taken: TakenEvent) -> list[Note]:
        client_id = str(taken.payload.get("client_message_id") or "")
        root_id, notes = "", list[Note]()
        if client_id.startswith(STEER):
            root_id, _, client_id = client_id.removeprefix(STEER).partition(":")
            root = self.turns.get(root_id)
            if root is None or (root.status != "inProgress" and root is not self._deferred):
                root_id = ""
        if self._deferred is not None and self._deferred.turn_id != root_id:
            notes = self.settle()
        if root_id:
            self._roots[taken.turn_id] = root_id
            self.turns[root_id].newest, self.turns[root_id].error = taken.turn_id, None
            self._deferred = None
        turn = self._turn(taken.turn_id, taken)
        asked = self._part(taken.turn_id).asked
        if asked is not None:
            asked.body["clientId"] = None if client_id.startswith(OWN_MESSAGE) else client_id or None
            turn.items.setdefault(asked.id, asked)
        return notes

    def _start(self, taken: TakenEvent) -> list[Note]:
        turn = self._turn(taken.turn_id, taken)
        notes: list[Note] = []
        if turn.newest == turn.turn_id or turn.started_ms is None:
            turn.started_ms = taken.at_ms
            notes.append(self._note("turn/started", {"turn": turn.to_json(with_items=False)}))
        asked = self._part(taken.turn_id).asked
        if asked is not None:
            # Where it is in the order of the turn, not where it was queued.
            turn.items.pop(asked.id, None)
            turn.items[asked.id] = asked
            notes += [self._started(turn, asked), self._completed(turn, asked, taken.at_ms)]
        return notes

    def _add_text(self, taken: TakenEvent) -> list[Note]:
        turn, part, segment = self._turn(taken.turn_id, taken), self._part(taken.turn_id), taken.text("segment_id")
        number, delta = _leading_number(segment), taken.text("delta")
        notes = self._close_reasoning(turn, taken, number)
        item_id = f"{taken.turn_id}/message/{number}"
        item = turn.items.get(item_id)
        if item is None:
            item = self._add(
                turn, Item(id=item_id, body=agent_message(item_id, "", phase=None), started_ms=taken.at_ms)
            )
            notes.append(self._started(turn, item))
        elif part.segments.get(item_id) not in (None, segment):
            item.body["text"] = ""
            notes.append(self._retry(turn, "the answer starts over; what was streamed of it before does not count"))
        part.segments[item_id] = segment
        item.body["text"] = f"{item.body['text']}{delta}"
        notes.append(self._delta("item/agentMessage/delta", turn, item, delta))
        return notes

    def _add_thought(self, taken: TakenEvent) -> list[Note]:
        turn, delta = self._turn(taken.turn_id, taken), taken.text("delta")
        item_id = f"{taken.turn_id}/reasoning/{_leading_number(taken.text('segment_id'))}"
        notes: list[Note] = []
        item = turn.items.get(item_id)
        if item is None:
            item = self._add(turn, Item(id=item_id, body=reasoning(item_id), started_ms=taken.at_ms))
            notes.append(self._started(turn, item))
        is_raw = taken.text("visibility") == "REASONING_RAW"
        parts = item.body["content" if is_raw else "summary"]
        assert isinstance(parts, list)
        parts[:] = [f"{parts[0] if parts else ''}{delta}"]
        method, index = ("textDelta", "contentIndex") if is_raw else ("summaryTextDelta", "summaryIndex")
        notes.append(self._delta(f"item/reasoning/{method}", turn, item, delta, {index: 0}))
        return notes

    def _count(self, taken: TakenEvent) -> list[Note]:
        turn, part = self._turn(taken.turn_id, taken), self._part(taken.turn_id)
        notes = self._close_reasoning(turn, taken, str(part.answers))
        part.answers += 1
        last = {name: int(str(taken.payload.get(f"{name}_tokens") or 0)) for name in self.used}
        self.used = {name: count + last[name] for name, count in self.used.items()}
        usage: JsonObject = {"total": _usage(self.used), "last": _usage(last), "modelContextWindow": None}
        notes.append(self._note("thread/tokenUsage/updated", {"turnId": turn.turn_id, "tokenUsage": usage}))
        return notes

    def _commit(self, taken: TakenEvent) -> list[Note]:
        turn, part = self._turn(taken.turn_id, taken), self._part(taken.turn_id)
        item_id = f"{taken.turn_id}/message/{max(part.answers - 1, 0)}"
        metadata = taken.payload.get("metadata")
        is_final = isinstance(metadata, dict) and bool(metadata.get("is_final"))
        item, notes = turn.items.get(item_id), list[Note]()
        if item is None:
            item = self._add(
                turn, Item(id=item_id, body=agent_message(item_id, "", phase=None), started_ms=taken.at_ms)
            )
            notes.append(self._started(turn, item))
        item.body |= {"text": taken.text("full_text"), "phase": "final_answer" if is_final else "commentary"}
        if isinstance(metadata, dict) and metadata.get("answered_by"):
            item.body["answeredBy"] = metadata["answered_by"]
        notes.append(self._completed(turn, item, taken.at_ms))
        return notes

    def _plan(self, taken: TakenEvent) -> list[Note]:
        self._part(taken.turn_id).plans[taken.text("tool_call_id")] = taken.payload
        return []

    def _begin_tool(self, taken: TakenEvent) -> list[Note]:
        _, notes = self._tool(taken, taken.text("tool_call_id"), taken.text("tool_name"))
        if execution_id := taken.text("execution_id"):
            part = self._part(taken.turn_id)
            part.executions[execution_id] = _tool_item_id(taken.turn_id, taken.text("tool_call_id"))
        return notes

    def _print(self, taken: TakenEvent) -> list[Note]:
        turn, item = self._execution(taken)
        if item is None:
            return []
        chunk = taken.text("chunk")
        add_output(item, chunk)
        return [self._delta("item/commandExecution/outputDelta", turn, item, chunk)]

    def _end_command(self, taken: TakenEvent) -> list[Note]:
        _, item = self._execution(taken)
        if item is not None:
            item.body |= {"exitCode": taken.payload.get("exit_code"), "durationMs": taken.payload.get("duration_ms")}
        return []

    def _end_tool(self, taken: TakenEvent) -> list[Note]:
        item, notes = self._tool(taken, taken.text("tool_call_id"), taken.text("tool_name"))
        finish_tool(item, taken.payload)
        return [*notes, self._completed(self._turn(taken.turn_id, taken), item, taken.at_ms)]

    def _propose(self, taken: TakenEvent) -> list[Note]:
        origin = taken.payload.get("origin")
        call_id = str(origin.get("tool_call_id") or "") if isinstance(origin, dict) else ""
        if not taken.turn_id or not call_id or taken.payload.get("remembered"):
            return []
        item, notes = self._tool(taken, call_id, taken.text("tool"))
        self.pending[taken.text("action_id")] = PendingAction(
            action_id=taken.text("action_id"),
            turn_id=self._turn(taken.turn_id, taken).turn_id,
            item=item,
            risk=taken.text("risk"),
            created_ms=taken.at_ms,
        )
        return notes

    def _decide(self, taken: TakenEvent) -> list[Note]:
        self.pending.pop(taken.text("action_id"), None)
        return []

    def _end(self, taken: TakenEvent) -> list[Note]:
        turn, code = self._turn(taken.turn_id, taken), taken.text("code")
        if taken.turn_id != turn.newest:
            # Another turn goes on with it; what it had begun has ended.
            return self._close_items(turn, taken, f"{taken.turn_id}/")
        if taken.kind == "turn.completed":
            turn.status, turn.error = "completed", None
        else:
            turn.status = "interrupted" if code in _INTERRUPTED else "failed"
            turn.error = {
                "message": f"{code}: {taken.text('message')}",
                "codexErrorInfo": None,
                "additionalDetails": None,
            }
        notes = self._close_items(turn, taken, "")
        turn.completed_ms = taken.at_ms
        self.pending = {name: action for name, action in self.pending.items() if action.turn_id != turn.turn_id}
        if code == _BY_MESSAGE:
            turn.status, self._deferred = "inProgress", turn
            return notes
        return [*notes, *self._ended(turn)]

    def _ended(self, turn: FoldedTurn) -> list[Note]:
        if turn.status == "inProgress":
            turn.status = "interrupted"
        notes = [self._note("turn/completed", {"turn": turn.to_json(with_items=False)})]
        if self.status != self._shown_status:
            self._shown_status = self.status
            notes.append(self._note("thread/status/changed", {"status": self.status}))
        return notes

    def _ask_again(self, taken: TakenEvent) -> list[Note]:
        reason = taken.text("problem") or taken.text("reason")
        return [self._retry(self._turn(taken.turn_id, taken), f"the model is asked again: {reason}")]

    def _rename(self, taken: TakenEvent) -> list[Note]:
        return [self._note("thread/name/updated", {"threadName": taken.text("title")})]

    def _archive(self, taken: TakenEvent) -> list[Note]:
        is_archived = bool(taken.payload.get("archived", True))
        return [self._note("thread/archived" if is_archived else "thread/unarchived", {})]

    def _turn(self, turn_id: str, taken: TakenEvent) -> FoldedTurn:
        root_id = self._roots.get(turn_id, turn_id)
        if root_id not in self.turns:
            # Its beginning is not among the events that were read.
            is_whole = taken.kind in ("turn.queued", "message.created")
            self.turns[root_id] = FoldedTurn(
                turn_id=root_id, first_sequence=self.last_sequence, newest=root_id, is_whole=is_whole
            )
        return self.turns[root_id]

    def _part(self, turn_id: str) -> TurnPart:
        return self._parts.setdefault(turn_id, TurnPart())

    def _tool(self, taken: TakenEvent, call_id: str, tool: str) -> tuple[Item, list[Note]]:
        """The item of a call of a tool, which begins now if it has not begun."""
        turn, item_id = self._turn(taken.turn_id, taken), _tool_item_id(taken.turn_id, call_id)
        if (item := turn.items.get(item_id)) is not None:
            return item, []
        arguments = self._part(taken.turn_id).plans.get(call_id, {}).get("args")
        body = tool_item(item_id, tool, arguments if isinstance(arguments, dict) else {}, self.cwd)
        item = self._add(turn, Item(id=item_id, body=body, started_ms=taken.at_ms))
        return item, [self._started(turn, item)]

    def _execution(self, taken: TakenEvent) -> tuple[FoldedTurn, Item | None]:
        turn = self._turn(taken.turn_id, taken)
        item_id = self._part(taken.turn_id).executions.get(taken.text("execution_id"), "")
        return turn, turn.items.get(item_id)

    def _close_reasoning(self, turn: FoldedTurn, taken: TakenEvent, number: str) -> list[Note]:
        item = turn.items.get(f"{taken.turn_id}/reasoning/{number}")
        return [] if item is None or item.completed_ms is not None else [self._completed(turn, item, taken.at_ms)]

    def _close_items(self, turn: FoldedTurn, taken: TakenEvent, prefix: str) -> list[Note]:
        """Complete what was begun and will not go on."""
        notes: list[Note] = []
        for item in turn.items.values():
            if item.completed_ms is None and item.id.startswith(prefix):
                abandon(item)
                notes.append(self._completed(turn, item, taken.at_ms))
        return notes

    @staticmethod
    def _add(turn: FoldedTurn, item: Item) -> Item:
        turn.items[item.id] = item
        return item

    def _note(self, method: str, params: JsonObject, item: Item | None = None) -> Note:
        return Note(method=method, params={"threadId": self.thread_id, **params}, item=item)

    def _started(self, turn: FoldedTurn, item: Item) -> Note:
        shown: JsonObject = {"turnId": turn.turn_id, "startedAtMs": item.started_ms, "item": dict(item.body)}
        return self._note("item/started", shown)

    def _completed(self, turn: FoldedTurn, item: Item, at_ms: int) -> Note:
        item.completed_ms = at_ms
        shown: JsonObject = {"turnId": turn.turn_id, "completedAtMs": at_ms, "item": item.body}
        return self._note("item/completed", shown, item)

    def _delta(
        self, method: str, turn: FoldedTurn, item: Item, delta: str, more: Mapping[str, JsonValue] | None = None
    ) -> Note:
        return self._note(method, {"turnId": turn.turn_id, "itemId": item.id, "delta": delta, **(more or {})})

    def _retry(self, turn: FoldedTurn, message: str) -> Note:
        error: JsonObject = {"message": message, "codexErrorInfo": None, "additionalDetails": None}
        return self._note("error", {"turnId": turn.turn_id, "error": error, "willRetry": True})


def _leading_number(segment: str) -> str:
    """Which answer of its turn a segment belongs to, as 0 of 0@2r1."""
    digits = _DIGITS.match(segment)
    return digits[0] if digits is not None else ""


def _tool_item_id(turn_id: str, call_id: str) -> str:
    return f"{turn_id}/tool/{call_id}"


def _usage(used: Mapping[str, int]) -> JsonObject:
    return {
        "inputTokens": used["input"],
        "outputTokens": used["output"],
        "totalTokens": sum(used.values()),
        "cachedInputTokens": 0,
        "reasoningOutputTokens": 0,
    }


_Change = Callable[[ThreadFold, TakenEvent], list[Note]]
_CHANGES: Mapping[str, _Change] = {
    "message.created": ThreadFold._add_message,
    "turn.queued": ThreadFold._queue,
    "turn.started": ThreadFold._start,
    "assistant.text_delta": ThreadFold._add_text,
    "assistant.thinking_delta": ThreadFold._add_thought,
    "assistant.message_committed": ThreadFold._commit,
    "model.answered": ThreadFold._count,
    "model.repair_attempted": ThreadFold._ask_again,
    "model.fallback": ThreadFold._ask_again,
    "tool.planned": ThreadFold._plan,
    "tool.started": ThreadFold._begin_tool,
    "shell.started": ThreadFold._begin_tool,
    "shell.output": ThreadFold._print,
    "shell.finished": ThreadFold._end_command,
    "tool.finished": ThreadFold._end_tool,
    "tool.answered": ThreadFold._end_tool,
    "action.created": ThreadFold._propose,
    "action.approved": ThreadFold._decide,
    "action.rejected": ThreadFold._decide,
    "turn.completed": ThreadFold._end,
    "turn.failed": ThreadFold._end,
    "thread.renamed": ThreadFold._rename,
    "thread.archived": ThreadFold._archive,
}
