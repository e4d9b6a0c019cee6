"""A conversation as blocks of a page: messages, reasoning, tools, questions and turns."""

from dataclasses import dataclass, field

from codeplane.kernel.json import JsonObject
from codeplane.kernel.thread_copies import original_type
from codeplane.surfaces.web.json_fields import get_field, get_number, get_object, get_text

_MAX_OUTPUT = 20_000
_TURN_STATES = {
    "turn.queued": "QUEUED",
    "turn.started": "RUNNING",
    "turn.resumed": "RUNNING",
    "turn.paused": "PAUSED",
    "turn.completed": "COMPLETED",
    "turn.failed": "FAILED",
}
_AGENT_CHANGES = frozenset({"agent.changed", "agent.tree_applied", "agent.tree_discarded"})
_ACTION_STATES = {
    "action.created": "PENDING",
    "action.approved": "APPROVED",
    "action.rejected": "REJECTED",
    "action.executed": "EXECUTED",
    "action.interrupted": "UNKNOWN",
}


@dataclass
class Block:
    """One part of a conversation; `order` is the sequence that it began with."""

    key: str
    kind: str
    order: int
    fields: JsonObject = field(default_factory=dict)


class ThreadBlocks:
    """Folds the events of a thread into blocks; the same events give the same blocks, however often they come."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        # Which segment of an answer is shown: a repeated attempt supersedes the one before.
        self._segments: dict[str, str] = {}
        self.last_sequence = 0

    @property
    def blocks(self) -> list[Block]:
        """The blocks in their order."""
        return sorted(self._blocks.values(), key=lambda block: block.order)

    @property
    def running(self) -> str:
        """The turn that has not ended and began first; empty when there is none."""
        turns = (block for block in self.blocks if block.kind == "turn")
        return next(
            (get_text(turn.fields, "turn_id") for turn in turns if turn.fields["state"] not in ("COMPLETED", "FAILED")),
            "",
        )

    def take(self, event: JsonObject) -> list[Block]:
        """Take one event and return the blocks that it changed: none for what is not shown or was taken before."""
        sequence = int(get_number(event, "sequence") or 0)
        if sequence <= self.last_sequence:
            return []
        self.last_sequence = sequence
        changed = self._apply(event, sequence)
        blocks = [changed] if changed is not None else []
        if get_text(event, "type") in ("tool.finished", "tool.answered"):
            turn = self._set(f"turn-{get_text(event, 'turn_id')}", "turn", sequence, {})
            turn.fields["steps_used"] = int(get_number(turn.fields, "steps_used") or 0) + 1
            blocks.append(turn)
        if get_text(event, "type") in ("turn.completed", "turn.failed"):
            # A text that was cut off is complete now, too.
            prefix = f"said-{get_text(event, 'turn_id')}-"
            unfinished = [
                block for key, block in self._blocks.items() if key.startswith(prefix) and block.fields.get("is_open")
            ]
            for block in unfinished:
                block.fields["is_open"] = False
            blocks += unfinished
        return blocks

    def _apply(self, event: JsonObject, sequence: int) -> Block | None:
        kind, payload, turn_id = (
            original_type(get_text(event, "type")),
            get_object(event, "payload"),
            get_text(event, "turn_id"),
        )
        if kind == "message.created":
            shown: JsonObject = {
                "role": payload.get("role"),
                "text": payload.get("content"),
                "at": event.get("occurred_at"),
                "is_heartbeat": get_object(payload, "metadata").get("heartbeat") is True,
            }
            return self._set(f"msg-{get_text(payload, 'message_id')}", "message", sequence, shown)
        if kind in ("assistant.text_delta", "assistant.thinking_delta"):
            return self._add_delta(kind, payload, turn_id, sequence)
        if kind == "assistant.message_committed":
            return self._commit(payload, turn_id, sequence)
        if kind.startswith(("tool.", "shell.")):
            return self._tool(kind, payload, turn_id, sequence)
        if kind in _ACTION_STATES:
            action_id = get_text(payload, "action_id")
            state: JsonObject = {**payload, "action_id": action_id, "state": _ACTION_STATES[kind]}
            return self._set(f"act-{action_id}", "action", sequence, state)
        if kind in _TURN_STATES:
            turn: JsonObject = {**payload, "turn_id": turn_id, "state": _TURN_STATES[kind]}
            return self._set(f"turn-{turn_id}", "turn", sequence, turn)
        if kind in ("model.answered", "turn.budget_applied"):
            return self._count(kind, payload, turn_id, sequence)
        if kind in ("skill.proposed", "improvement.proposed"):
            return self._set(f"proposal-{get_text(payload, 'proposal_id')}", "proposal", sequence, {**payload})
        if kind == "artifact.created":
            return self._set(f"artifact-{get_text(payload, 'artifact_id')}", "artifact", sequence, {**payload})
        if kind == "agent.plan":
            return self._set(f"plan-{turn_id}", "plan", sequence, {**payload})
        if kind in _AGENT_CHANGES:
            return self._set(f"changes-{sequence}", "changes", sequence, {"type": kind, **payload})
        if kind in ("schedule.stopped", "model.fallback", "model.repair_attempted", "agent.started", "agent.problem"):
            return self._set(f"note-{sequence}", "note", sequence, {"type": kind, **payload})
        return None

    def _set(self, key: str, kind: str, sequence: int, fields: JsonObject) -> Block:
        block = self._blocks.setdefault(key, Block(key, kind, sequence))
        block.fields |= fields
        return block

    def _add_delta(self, kind: str, payload: JsonObject, turn_id: str, sequence: int) -> Block:
        segment = get_text(payload, "segment_id")
        what = "said" if kind == "assistant.text_delta" else "thought"
        key = f"{what}-{turn_id}-{_number(segment)}"
        block = self._blocks.setdefault(key, Block(key, what, sequence, {"text": ""}))
        if self._segments.get(key) != segment:
            self._segments[key] = segment
            block.fields["text"] = ""
        block.fields |= {"text": get_text(block.fields, "text") + get_text(payload, "delta"), "is_open": True}
        block.fields["redacted"] = payload.get("redacted", False)
        return block

    def _commit(self, payload: JsonObject, turn_id: str, sequence: int) -> Block:
        """The last answer of the turn as it is whole."""
        said = [block for block in self.blocks if block.kind == "said" and block.key.startswith(f"said-{turn_id}-")]
        block = said[-1] if said and said[-1].fields.get("is_open") else None
        if block is None:
            key = f"said-{turn_id}-c{sequence}"
            block = self._blocks[key] = Block(key, "said", sequence)
        metadata = get_object(payload, "metadata")
        block.fields |= {"text": get_text(payload, "full_text"), "is_open": False, "metadata": metadata}
        return block

    def _tool(self, kind: str, payload: JsonObject, turn_id: str, sequence: int) -> Block | None:
        if kind in ("shell.output", "shell.finished"):
            # They name the execution alone.
            found = next(
                (one for one in self.blocks if one.fields.get("execution_id") == payload.get("execution_id")), None
            )
            if found is None:
                return None
            if kind == "shell.output":
                output = get_text(found.fields, "output") + get_text(payload, "chunk")
                found.fields["output"] = output[-_MAX_OUTPUT:]
            else:
                found.fields |= {"exit_code": payload.get("exit_code"), "duration_ms": payload.get("duration_ms")}
            return found
        states = {"tool.planned": "planned", "tool.started": "running", "shell.started": "running"}
        fields: JsonObject = {**payload, "state": states.get(kind) or payload.get("status")}
        block = self._set(f"tool-{turn_id}-{get_text(payload, 'tool_call_id')}", "tool", sequence, {})
        if kind == "tool.answered" and "exit_code" in block.fields:
            # The command's own event has its end and duration; the answer may be a replay of it.
            fields |= {"exit_code": block.fields["exit_code"], "duration_ms": block.fields.get("duration_ms")}
        block.fields |= fields
        return block

    def _count(self, kind: str, payload: JsonObject, turn_id: str, sequence: int) -> Block:
        """Add to what a turn has used."""
        turn = self._set(f"turn-{turn_id}", "turn", sequence, {})
        if kind == "turn.budget_applied":
            turn.fields["max_tool_steps"] = get_field(payload, "effective_budget", "max_tool_steps")
            return turn
        for name in ("input_tokens", "output_tokens", "cost_micros"):
            turn.fields[name] = int(get_number(turn.fields, name) or 0) + int(get_number(payload, name) or 0)
        return turn


def _number(segment: str) -> str:
    """Which answer of its turn a segment belongs to, as 0 of 0@2r1."""
    digits = ""
    for character in segment:
        if not character.isdigit():
            break
        digits += character
    return digits
