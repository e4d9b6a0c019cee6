"""One question to the model, its answer streamed into the thread."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import Reasoning
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.work.items.kind import Door
from codeplane.work.models.schema import CallRequest, Conversation, MessagePart, ModelItem, ToolPart
from codeplane.work.threads.events import ASSISTANT_TEXT, ASSISTANT_THINKING, MODEL_FELL_BACK
from codeplane.work.turns.text_stream import TextStream
from codeplane.work.turns.transcript import ModelAnswer, ToolRequest

MODEL_CALL = "model.call"
_REASONING: Mapping[str, Reasoning] = {"REASONING_OFF": "off", "REASONING_SUMMARY": "summary", "REASONING_RAW": "raw"}
MakeDraft = Callable[[str, JsonObject], Draft]


class ModelStep:
    """Asks the model once; deltas go into the thread as they come."""

    def __init__(
        self,
        *,
        log: Ledger,
        door: Door,
        caller: Caller,
        draft: MakeDraft,
        redactor: Redactor,
        segment: str,
        reasoning: str,
    ) -> None:
        """`segment` names this answer among those of the turn."""
        self._log = log
        self._door = door
        self._caller = caller
        self._draft = draft
        self._redactor = redactor
        self._segment = segment
        self._reasoning = reasoning
        self._attempt = 0
        self._text: list[str] = []
        self._tools: list[ToolRequest] = []
        self._thinking: list[JsonObject] = []
        self._stream, self._thoughts = self._streams()

    async def ask(
        self,
        *,
        model: str,
        messages: Sequence[MessagePart],
        tools: Sequence[ToolPart],
        conversation: Conversation,
    ) -> ModelAnswer:
        """The model's answer; raises what the call ended with. The messages go on from those of the conversation."""
        request = CallRequest.going_on(
            conversation, model=model, messages=messages, tools=tools, reasoning=_REASONING[self._reasoning]
        )
        finish = ModelItem(kind="finish")
        outcome: Outcome | None = None
        stream = self._door.stream(MODEL_CALL, request, self._caller)
        async with aclosing(stream) as items:  # type: ignore[type-var]  # the conveyor returns a generator
            async for item in items:
                if isinstance(item, Outcome):
                    outcome = item
                elif isinstance(item, ModelItem):
                    finish = self._take(item) or finish
        assert outcome is not None
        if outcome.error is not None:
            self._drop()
            raise outcome.error
        self._thoughts.close()
        self._stream.close()
        return self._answer(finish)

    def _take(self, item: ModelItem) -> ModelItem | None:
        """Take one item of the stream; returns the last one, which has the usage."""
        match item.kind:
            case "text":
                self._thoughts.close()
                self._text.append(item.delta or "")
                self._stream.add(item.delta or "")
            case "thinking":
                self._think(item)
            case "tool_call":
                self._tools.append(
                    ToolRequest(tool_call_id=item.id or "", name=item.name or "", arguments=item.arguments or "")
                )
            case "retry":
                # What came before is superseded: it goes on under a segment of its own.
                self._restart()
            case "fallback":
                self._restart()
                fell_back: JsonObject = {"from": item.from_, "to": item.to, "reason": item.reason}
                self._log.append_soon([self._draft(MODEL_FELL_BACK, fell_back)])
            case "finish":
                self._thinking = [part.model_dump(mode="json") for part in item.thinking or ()]
                return item
        return None

    def _think(self, item: ModelItem) -> None:
        """Show reasoning as it is given: a summary, every word, or only how much there was."""
        if not item.redacted:
            self._thoughts.add(item.delta or "")
            return
        seconds = (item.duration_ms or 0) / 1000
        shown = f"thought for {seconds:.1f} s ({item.characters} characters)"
        self._emit(ASSISTANT_THINKING, {"delta": shown, "redacted": True, "visibility": self._reasoning})

    def _emit_thought(self, text: str) -> bool:
        return self._emit(ASSISTANT_THINKING, {"delta": text, "redacted": False, "visibility": self._reasoning})

    def _emit_text(self, text: str) -> bool:
        return self._emit(ASSISTANT_TEXT, {"delta": text})

    def _emit(self, kind: str, payload: JsonObject) -> bool:
        segment = f"{self._segment}.{self._attempt}" if self._attempt else self._segment
        try:
            return self._log.append_soon([self._draft(kind, {"segment_id": segment, **payload})])
        except CodePlaneError:
            # Deltas are for watching; the message is committed as a whole, or the turn ends with the log's own error.
            return False

    def _restart(self) -> None:
        self._drop()
        self._text, self._tools, self._thinking = [], [], []
        self._attempt += 1

    def _drop(self) -> None:
        self._stream.stop()
        self._thoughts.stop()
        self._stream, self._thoughts = self._streams()

    def _streams(self) -> tuple[TextStream, TextStream]:
        """The ways of text and of reasoning into the thread."""
        return TextStream(self._emit_text, self._redactor), TextStream(self._emit_thought, self._redactor)

    def _answer(self, finish: ModelItem) -> ModelAnswer:
        return ModelAnswer(
            text="".join(self._text).strip("\n"),
            tools=tuple(self._tools),
            thinking=tuple(self._thinking),
            model=finish.model or "",
            reason=finish.reason or "stop",
            input_tokens=finish.input_tokens or 0,
            output_tokens=finish.output_tokens or 0,
            cost_micros=round(finish.cost_usd * 1_000_000) if finish.cost_usd is not None else 0,
        )
