"""What an outside agent reports, on its way into the thread: text, reasoning, tool calls, plans and usage."""

from dataclasses import dataclass, field

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError, OutsideAgentRefused
from codeplane.kernel.event import Draft
from codeplane.kernel.ids import derived_event_id
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.outside_agent import (
    AgentPlan,
    AgentStop,
    AgentText,
    AgentToolCall,
    AgentUpdate,
    AgentUsage,
)
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.work.agents.agent_run import AgentRun
from codeplane.work.agents.events import AGENT_PLAN, AGENT_PROBLEM, AGENT_USAGE
from codeplane.work.threads.events import (
    ASSISTANT_COMMITTED,
    ASSISTANT_TEXT,
    ASSISTANT_THINKING,
    MODEL_ANSWERED,
    TOOL_FINISHED,
    TOOL_PLANNED,
    TOOL_STARTED,
)
from codeplane.work.turns.context import CountTokens
from codeplane.work.turns.text_stream import TextStream
from codeplane.work.turns.transcript import ModelAnswer, ToolAnswer, TranscriptStore, message_text

_MAX_SHOWN, _MAX_TITLE = 4000, 200
_MAX_PROBLEMS = 20
_ENDED = {"completed": "ok", "failed": "FAILED"}
# So much of one message is kept; the rest is counted.
_MAX_TEXT = 1_000_000
_MAX_MICROS = 10**15


@dataclass(slots=True)
class _ToolState:
    """A tool call as far as the agent reported it."""

    call: AgentToolCall
    started_ns: int
    is_started: bool = False
    is_finished: bool = False

    @property
    def title(self) -> str:
        return (self.call.title or self.call.kind or "a tool")[:_MAX_TITLE]


@dataclass(slots=True, kw_only=True)
class AgentRecorder:
    """Records what one run of a turn reports."""

    run: AgentRun
    log: Ledger
    redactor: Redactor
    transcripts: TranscriptStore
    count_tokens: CountTokens
    clock: Clock
    max_tool_calls: int
    # The agent's own work tree, in which paths are shown.
    root: str
    # Whether the agent goes on with a session whose costs it counts on.
    is_resumed: bool = False
    message_id: str | None = None
    _tools: dict[str, _ToolState] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _segments: int = 0
    _problems: int = 0
    _usage: AgentUsage | None = None
    _first_cost: float | None = None
    _stream: TextStream = field(init=False)
    _thoughts: TextStream = field(init=False)

    def __post_init__(self) -> None:
        self._stream = TextStream(self._emit_text, self.redactor)
        self._thoughts = TextStream(self._emit_thought, self.redactor)

    async def take(self, update: AgentUpdate) -> None:
        """Record an update; OutsideAgentRefused when there are too many tool calls."""
        if isinstance(update, AgentText):
            self._take_text(update)
        elif isinstance(update, AgentToolCall):
            await self._take_tool(update)
        elif isinstance(update, AgentPlan):
            entries: list[JsonValue] = [
                {"content": self.redactor.text(content), "status": status} for content, status in update.entries
            ]
            await self.log.append([self.run.draft(AGENT_PLAN, {"entries": entries})])
        else:
            if self._first_cost is None:
                self._first_cost = update.cost_usd
            self._usage = update

    def merged(self, call: AgentToolCall) -> AgentToolCall:
        """A tool call with what earlier updates reported."""
        known = self._tools.get(call.tool_call_id)
        return call if known is None else _merge(known.call, call)

    async def problem(self, text: str) -> None:
        """Show what the agent did and that was refused or ignored, within a bound."""
        self._problems += 1
        if self._problems <= _MAX_PROBLEMS:
            shown = self.redactor.text(text)[:_MAX_TITLE]
            more = " (further ones are only counted)" if self._problems == _MAX_PROBLEMS else ""
            await self.log.append([self.run.draft(AGENT_PROBLEM, {"text": f"{shown}{more}"})])

    def stop(self) -> None:
        """Show nothing more."""
        self._stream.stop()
        self._thoughts.stop()

    async def finish(self, stop: AgentStop | None) -> None:
        """Record the last message, tools that were not finished, and what was used."""
        for state in self._tools.values():
            if not state.is_finished:
                await self._finish_tool(state, "NOT_FINISHED")
        drafts, text = self._commit(is_final=stop is not None)
        answer = ModelAnswer(text=text, model=self.run.agent)
        sealed = self.transcripts.seal(self.run.item.work_id, answer)
        answered: JsonObject = {
            "model": self.run.agent,
            "reason": stop.reason if stop is not None else "ended",
            "input_tokens": stop.input_tokens if stop is not None else 0,
            "output_tokens": stop.output_tokens if stop is not None else 0,
            "cost_micros": self._cost_micros(),
            "tool_calls": list[JsonValue](),
            "payload_hash": sealed.hash,
            "tokens": self.count_tokens(text),
            "step": max(self.run.steps - 1, 0),
        }
        drafts.insert(0, self.run.draft(MODEL_ANSWERED, answered))
        if self._usage is not None:
            used: JsonObject = {"used": self._usage.used, "size": self._usage.size, "cost_usd": self._usage.cost_usd}
            drafts.insert(0, self.run.draft(AGENT_USAGE, used))
        await self.log.append(drafts, sealed=[sealed])

    def _cost_micros(self) -> int:
        """What this turn cost: agents count for their whole session."""
        if self._usage is None or self._usage.cost_usd is None:
            return 0
        before = (self._first_cost or 0.0) if self.is_resumed else 0.0
        return min(max(0, round((self._usage.cost_usd - before) * 1_000_000)), _MAX_MICROS)

    def _take_text(self, update: AgentText) -> None:
        if update.is_thought:
            if self.run.plan.reasoning != "REASONING_OFF":
                self._thoughts.add(update.text)
            return
        self._thoughts.close()
        self._length += len(update.text)
        if self._length <= _MAX_TEXT:
            self._text.append(update.text)
            self._stream.add(update.text)

    async def _take_tool(self, update: AgentToolCall) -> None:
        state = self._tools.get(update.tool_call_id)
        drafts: list[Draft] = []
        if state is None:
            if len(self._tools) >= self.max_tool_calls:
                raise OutsideAgentRefused(
                    f"{self.run.agent} made more than {self.max_tool_calls} tool calls in one turn",
                    hint="look at what it changed: thread_diff; agents.max_tool_calls allows more",
                )
            state = self._tools[update.tool_call_id] = _ToolState(update, self.clock.monotonic_ns())
            drafts, _ = self._commit(is_final=False)
            drafts.append(self.run.draft(TOOL_PLANNED, self._plan(state)))
        else:
            state.call = _merge(state.call, update)
        status = state.call.status or "pending"
        if not state.is_started and status != "pending":
            state.is_started = True
            started: JsonObject = {
                "execution_id": self._execution_id(state),
                "tool_call_id": update.tool_call_id,
                "tool_name": self._tool_name(state),
                "display_command": self.redactor.text(state.title),
            }
            drafts.append(self.run.draft(TOOL_STARTED, started))
        if drafts:
            await self.log.append(drafts)
        if status in _ENDED and not state.is_finished:
            await self._finish_tool(state, _ENDED[status])

    async def _finish_tool(self, state: _ToolState, status: str) -> None:
        state.is_finished = True
        text = self.redactor.text(_outcome_text(state.call, self.root))
        answer = ToolAnswer(tool_call_id=state.call.tool_call_id, text=text[:_MAX_SHOWN])
        sealed = self.transcripts.seal(self.run.item.work_id, answer)
        finished: JsonObject = {
            "execution_id": self._execution_id(state),
            "tool_call_id": state.call.tool_call_id,
            "tool_name": self._tool_name(state),
            "exit_code": 0 if status == "ok" else 1,
            "duration_ms": (self.clock.monotonic_ns() - state.started_ns) // 1_000_000,
            "timed_out": False,
            "truncated": len(text) > _MAX_SHOWN,
            "status": status,
            "preview": text[:_MAX_SHOWN],
            "payload_hash": sealed.hash,
            "tokens": self.count_tokens(answer.text),
            "step": max(self.run.steps - 1, 0),
        }
        await self.log.append([self.run.draft(TOOL_FINISHED, finished)], sealed=[sealed])

    def _plan(self, state: _ToolState) -> JsonObject:
        call = state.call
        arguments: JsonObject = {"title": state.title, **({"input": call.raw_input} if call.raw_input else {})}
        arguments |= {"paths": list[JsonValue](call.paths)} if call.paths else {}
        shown = self.redactor.json(arguments)
        size = len(dumps(shown))
        return {
            "tool_call_id": call.tool_call_id,
            "tool_name": self._tool_name(state),
            "args": shown if size <= _MAX_SHOWN else {"title": self.redactor.text(state.title), "bytes": size},
            "risk_class": "OUTSIDE",
            "identity": self.run.agent,
        }

    def _tool_name(self, state: _ToolState) -> str:
        return f"{self.run.agent}.{state.call.kind or 'other'}"

    def _execution_id(self, state: _ToolState) -> str:
        parts = (self.run.turn.turn_id, str(self.run.item.attempt), state.call.tool_call_id)
        return f"exe_{derived_event_id('execution', *parts).replace('-', '')}"

    def _commit(self, *, is_final: bool) -> tuple[list[Draft], str]:
        """The message that the text so far is, and that text."""
        self._thoughts.close()
        self._stream.close()
        text = "".join(self._text).strip("\n")
        self._text.clear()
        cut = max(0, self._length - _MAX_TEXT)
        self._length = 0
        self._stream = TextStream(self._emit_text, self.redactor)
        self._thoughts = TextStream(self._emit_thought, self.redactor)
        self._segments += 1
        if not text:
            return [], text
        text += f"\n[cut off: {cut:,} more characters]" if cut else ""
        parts = (self.run.turn.turn_id, str(self.run.item.attempt), str(self._segments))
        self.message_id = f"msg_{derived_event_id('message', *parts).replace('-', '')}"
        committed: JsonObject = {
            "message_id": self.message_id,
            "full_text": message_text(self.redactor.text(text)),
            "metadata": {"model": self.run.agent, "agent": self.run.agent, "is_final": is_final},
        }
        return [self.run.draft(ASSISTANT_COMMITTED, committed)], text

    def _emit_text(self, text: str) -> bool:
        return self._emit(ASSISTANT_TEXT, {"delta": text})

    def _emit_thought(self, text: str) -> bool:
        shown: JsonObject = {"delta": text, "redacted": False, "visibility": self.run.plan.reasoning}
        return self._emit(ASSISTANT_THINKING, shown)

    def _emit(self, kind: str, payload: JsonObject) -> bool:
        attempt = self.run.item.attempt
        segment = f"{self._segments}" + (f"@{attempt}" if attempt > 1 else "")
        try:
            return self.log.append_soon([self.run.draft(kind, {"segment_id": segment, **payload})])
        except CodePlaneError:
            # Deltas are for watching; the message is committed as a whole.
            return False


def _merge(known: AgentToolCall, update: AgentToolCall) -> AgentToolCall:
    return AgentToolCall(
        tool_call_id=known.tool_call_id,
        title=known.title if update.title is None else update.title,
        kind=known.kind if update.kind is None else update.kind,
        status=known.status if update.status is None else update.status,
        text=known.text if update.text is None else update.text,
        diffs=known.diffs if update.diffs is None else update.diffs,
        paths=known.paths if update.paths is None else update.paths,
        raw_input=known.raw_input if update.raw_input is None else update.raw_input,
    )


def _outcome_text(call: AgentToolCall, root: str) -> str:
    """What a tool call came to, for people."""
    changed = [f"changed {diff.path.removeprefix(f'{root}/')}" for diff in call.diffs or ()]
    return "\n".join([*filter(None, [call.text]), *changed])
