"""Translates the events of a thread into updates: the same events give the same updates, live or later."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.kernel.errors import ERRORS, CodePlaneError, Internal
from codeplane.kernel.json import JsonObject
from codeplane.kernel.plural import plural
from codeplane.surfaces.acp.tool_calls import diffs_of, kind_of, paths_of, title_of
from codeplane.surfaces.acp.updates import (
    Decided,
    Ended,
    Paused,
    Plan,
    Role,
    Running,
    Settings,
    StopReason,
    Text,
    Title,
    ToolCall,
    ToolProgress,
    ToolStatus,
    Update,
    Usage,
)

TURN_STARTED = "turn.started"
# Of what a command prints, the end that is shown.
_MAX_OUTPUT = 32_768
_CANCELLED = frozenset({"CANCELLED", "INTERRUPTED"})
_BUDGET = "TURN_BUDGET_EXCEEDED"
# What the system says in a thread, such as the end of a job, is an aside.
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_PLANNED: dict[str, ToolStatus] = {"in_progress": "in_progress", "completed": "completed"}
_BY_NAME = {error.name: error for error in ERRORS}

# Gives what `mutation.show` knows of a mutation; None when it is no longer stored.
ShowMutation = Callable[[str], Awaitable[JsonObject | None]]


@dataclass(slots=True)
class _Segment:
    """An answer's text as far as it was shown."""

    name: str = ""
    shown: str = ""


@dataclass(slots=True)
class _TurnState:
    """What the updates of one turn depend on."""

    segment: _Segment = field(default_factory=_Segment)
    answers: int = 0
    reason: str = ""
    steps: dict[str, tuple[str, ToolStatus]] = field(default_factory=dict)
    # Commands by their execution: the tool call, and what was printed.
    commands: dict[str, tuple[str, str]] = field(default_factory=dict)
    actions: dict[str, str] = field(default_factory=dict)
    # Whether an outside agent has a plan of its own, and what else it was said to do.
    has_plan: bool = False
    notes: int = 0


class Translation:
    """The updates of one thread."""

    def __init__(self, thread_id: str, root: Path, show_mutation: ShowMutation) -> None:
        self._thread_id = thread_id
        self._root = root
        self._show_mutation = show_mutation
        self._turn_id = ""
        self._turn = _TurnState()

    async def updates(self, event: JsonObject) -> Sequence[Update]:
        """Return what an event changes for viewers of the thread."""
        turn_id, payload = str(event.get("turn_id") or ""), event["payload"]
        assert isinstance(payload, dict)
        kind = str(event["type"])
        if kind == TURN_STARTED:
            self._turn_id, self._turn = turn_id, _TurnState()
        translate = _TRANSLATIONS.get(kind)
        if translate is None:
            return ()
        found = translate(self, turn_id, payload)
        if kind in _WITH_CHANGES and payload.get("mutation_id"):
            return await self._with_changes(str(payload["mutation_id"]), found)
        return found

    async def _with_changes(self, mutation_id: str, found: Sequence[Update]) -> Sequence[Update]:
        change = await self._show_mutation(mutation_id)
        diffs = diffs_of(change, self._root) if change is not None else ()
        return [
            ToolProgress(tool_call_id=update.tool_call_id, status=update.status, text=update.text, diffs=diffs)
            if isinstance(update, ToolProgress)
            else update
            for update in found
        ]

    def _message(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        role = _ROLES.get(str(payload.get("role")), "thought")
        return [Text(role=role, text=str(payload["content"]), message_id=str(payload["message_id"]))]

    def _text(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        delta, name = str(payload["delta"]), str(payload["segment_id"])
        if name != self._turn.segment.name:
            self._turn.segment = _Segment(name=name)
        self._turn.segment.shown += delta
        return [Text(role="assistant", text=delta, message_id=f"{turn_id}/{name}")]

    def _thought(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        name = str(payload["segment_id"])
        return [Text(role="thought", text=str(payload["delta"]), message_id=f"{turn_id}/{name}/thought")]

    def _commit(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        """Show what deltas did not bring: the whole, or what is left of it."""
        segment, text = self._turn.segment, str(payload["full_text"])
        self._turn.segment = _Segment()
        self._turn.answers += 1
        shown = segment.shown.lstrip("\n")
        name = segment.name if segment.shown else f"message-{self._turn.answers}"
        if text.startswith(shown):
            rest = text[len(shown) :]
        elif shown.startswith(text):
            rest = ""
        else:
            # Some of it was never shown: it begins again as a message of its own.
            rest, name = text, f"{name}-whole"
        return [Text(role="assistant", text=rest, message_id=f"{turn_id}/{name}")] if rest else []

    def _answered(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        self._turn.reason = str(payload.get("reason") or "")
        used = _number(payload, "input_tokens") + _number(payload, "output_tokens")
        return [Usage(tokens=used)] if used else []

    def _planned(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        name, own_id = str(payload["tool_name"]), _tool_id(turn_id, payload)
        arguments = payload.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        title = title_of(name, arguments)
        self._turn.steps[own_id] = (title, "pending")
        call = ToolCall(
            tool_call_id=own_id,
            name=name,
            title=title,
            kind=kind_of(name),
            arguments=arguments,
            paths=paths_of(arguments, self._root),
        )
        return [call, *self._plan(turn_id)]

    def _started(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        return self._move(turn_id, _tool_id(turn_id, payload), "in_progress")

    def _finished(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        own_id, status = _tool_id(turn_id, payload), str(payload.get("status") or "")
        end: ToolStatus = "completed" if status == "ok" else "pending" if status == "PROPOSED" else "failed"
        text = str(payload.get("preview") or "") or status
        action_id = payload.get("proposed_action_id")
        progress = ToolProgress(
            tool_call_id=own_id,
            status=end,
            text=text,
            action_id=str(action_id) if action_id else None,
        )
        return [progress, *self._step(turn_id, own_id, end)]

    def _command(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        own_id = _tool_id(turn_id, payload)
        self._turn.commands[str(payload["execution_id"])] = (own_id, "")
        return self._move(turn_id, own_id, "in_progress")

    def _output(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        execution = str(payload["execution_id"])
        own_id, printed = self._turn.commands.get(execution, ("", ""))
        chunk = str(payload.get("chunk") or "")
        if not own_id or not chunk:
            return ()
        printed = (printed + chunk)[-_MAX_OUTPUT:]
        self._turn.commands[execution] = (own_id, printed)
        return [ToolProgress(tool_call_id=own_id, text=printed, output=chunk)]

    def _command_end(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        own_id, _ = self._turn.commands.pop(str(payload["execution_id"]), ("", ""))
        code = payload.get("exit_code")
        if not own_id:
            return ()
        return [ToolProgress(tool_call_id=own_id, exit_code=code if isinstance(code, int) else None)]

    def _action(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        action_id, origin = str(payload["action_id"]), payload.get("origin")
        call_id = origin.get("tool_call_id") if isinstance(origin, dict) else None
        if not call_id:
            return ()
        own_id = self._turn.actions[action_id] = f"{turn_id}/{call_id}"
        summary, body = str(payload.get("summary") or ""), str(payload.get("body") or "")
        text = f"waits for a person: cpl approvals approve {action_id}\n\n{summary}\n\n{body}".strip()
        return [ToolProgress(tool_call_id=own_id, status="pending", text=text, action_id=action_id)]

    def _decided(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        return [Decided(action_id=str(payload["action_id"]))]

    def _running(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        return [Running(turn_id=turn_id)]

    def _paused(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        action_id = payload.get("action_id")
        return [Paused(turn_id=turn_id, action_id=str(action_id) if action_id else None)]

    def _completed(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        reasons: dict[str, StopReason] = {"length": "max_tokens", "content_filter": "refusal", "refusal": "refusal"}
        reason = self._turn.reason if turn_id == self._turn_id else ""
        return [Ended(turn_id=turn_id, stop_reason=reasons.get(reason, "end_turn"))]

    def _failed(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        code, message = str(payload.get("code") or ""), str(payload.get("message") or "")
        if code in _CANCELLED:
            return [Ended(turn_id=turn_id, stop_reason="cancelled")]
        if code == _BUDGET:
            return [Ended(turn_id=turn_id, stop_reason="max_turn_requests")]
        kind: type[CodePlaneError] = _BY_NAME.get(code, Internal)
        return [Ended(turn_id=turn_id, stop_reason="end_turn", failure=kind(message or code))]

    def _aside(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        """Say that another model is asked, or the same one again."""
        if payload.get("to"):
            text = f"{payload.get('from')} failed ({payload.get('reason')}); asking {payload['to']}"
        else:
            text = f"asking again: {payload.get('problem')}"
        return [Text(role="thought", text=text, message_id=f"{turn_id}/{self._turn.answers}/aside")]

    def _agent_plan(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        """Show the plan of an outside agent in place of one of its steps."""
        entries = payload.get("entries")
        shown: list[tuple[str, ToolStatus]] = [
            (str(entry.get("content") or ""), _PLANNED.get(str(entry.get("status")), "pending"))
            for entry in (entries if isinstance(entries, list) else ())
            if isinstance(entry, dict)
        ]
        self._turn.has_plan = True
        return [Plan(plan_id=turn_id, entries=tuple(shown))]

    def _agent_usage(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        used, size = _number(payload, "used"), _number(payload, "size")
        return [Usage(tokens=used, size=size or None)] if used else []

    def _agent_note(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        """Say what an outside agent did beside its work, and what it left to be looked at."""
        if payload.get("text"):
            text = str(payload["text"])
        elif files := _number(payload, "files"):
            text = (
                f"changed {plural(files, 'file')} in a work tree of its own, not in the checkout: "
                f"cpl call thread.diff thread_id={self._thread_id}, then thread.apply"
            )
        else:
            return ()
        self._turn.notes += 1
        return [Text(role="thought", text=f"{text}\n", message_id=f"{turn_id}/note-{self._turn.notes}")]

    def _renamed(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        return [Title(title=str(payload["title"]))]

    def _configured(self, turn_id: str, payload: JsonObject) -> Sequence[Update]:
        model, mode = payload.get("model"), payload.get("mode")
        return [Settings(model=model if isinstance(model, str) else None, mode=mode if isinstance(mode, str) else None)]

    def _move(self, turn_id: str, own_id: str, status: ToolStatus) -> Sequence[Update]:
        return [ToolProgress(tool_call_id=own_id, status=status), *self._step(turn_id, own_id, status)]

    def _step(self, turn_id: str, own_id: str, status: ToolStatus) -> Sequence[Update]:
        if own_id not in self._turn.steps:
            return ()
        self._turn.steps[own_id] = (self._turn.steps[own_id][0], status)
        return self._plan(turn_id)

    def _plan(self, turn_id: str) -> Sequence[Update]:
        """Show the steps of a turn as a plan, where there are several."""
        if len(self._turn.steps) < 2 or self._turn.has_plan:
            return ()
        return [Plan(plan_id=turn_id, entries=tuple(self._turn.steps.values()))]


def _tool_id(turn_id: str, payload: JsonObject) -> str:
    """Return an id that no other tool call of the thread has: models number theirs again in every turn."""
    return f"{turn_id}/{payload['tool_call_id']}"


def _number(payload: JsonObject, name: str) -> int:
    value = payload.get(name)
    return value if isinstance(value, int) else 0


_Translate = Callable[[Translation, str, JsonObject], Sequence[Update]]
_WITH_CHANGES = frozenset({"tool.finished", "tool.answered"})
_TRANSLATIONS: Mapping[str, _Translate] = {
    "message.created": Translation._message,
    "assistant.text_delta": Translation._text,
    "assistant.thinking_delta": Translation._thought,
    "assistant.message_committed": Translation._commit,
    "model.answered": Translation._answered,
    "model.repair_attempted": Translation._aside,
    "model.fallback": Translation._aside,
    "tool.planned": Translation._planned,
    "tool.started": Translation._started,
    "tool.finished": Translation._finished,
    "tool.answered": Translation._finished,
    "thread.shell.started": Translation._command,
    "thread.shell.output": Translation._output,
    "thread.shell.finished": Translation._command_end,
    "thread.action.created": Translation._action,
    "thread.action.approved": Translation._decided,
    "thread.action.rejected": Translation._decided,
    TURN_STARTED: Translation._running,
    "turn.resumed": Translation._running,
    "turn.paused": Translation._paused,
    "turn.completed": Translation._completed,
    "turn.failed": Translation._failed,
    "agent.plan": Translation._agent_plan,
    "agent.usage": Translation._agent_usage,
    "agent.problem": Translation._agent_note,
    "agent.changed": Translation._agent_note,
    "thread.renamed": Translation._renamed,
    "thread.configured": Translation._configured,
}
