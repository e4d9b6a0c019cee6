"""One question to the model, its answer streamed into the thread."""

from collections.abc import Callable, Sequence
from contextlib import aclosing

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.work.items.kind import Door
from codeplane.work.threads.events import ASSISTANT_TEXT, ASSISTANT_THINKING, MODEL_FELL_BACK
from codeplane.work.turns.text_stream import TextStream
from codeplane.work.turns.transcript import ModelAnswer, ToolRequest

MODEL_CALL = "model.call"
_REASONING = {"REASONING_OFF": "off", "REASONING_SUMMARY": "summary", "REASONING_RAW": "raw"}
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

    async def ask(self, *, model: str, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> ModelAnswer:
        """The model's answer; raises what the call ended with."""
        arguments: dict[str, JsonValue] = {
            "model": model,
            "messages": list(messages),
            "tools": list(tools),
            "reasoning": _REASONING[self._reasoning],
        }
        finish: JsonObject = {}
        outcome: Outcome | None = None
        stream = self._door.stream(MODEL_CALL, arguments, self._caller)
        async with aclosing(stream) as items:  # type: ignore[type-var]  # the conveyor returns a generator
            async for item in items:
                if isinstance(item, Outcome):
                    outcome = item
                else:
                    finish = self._take(item.model_dump(mode="json")) or finish
        assert outcome is not None
        if outcome.error is not None:
            self._drop()
            raise outcome.error
        self._thoughts.close()
        self._stream.close()
        return self._answer(finish)

    def _take(self, item: JsonObject) -> JsonObject | None:
        """Take one item of the stream; returns the last one, which has the usage."""
        match item["kind"]:
            case "text":
                self._thoughts.close()
                self._text.append(str(item["delta"]))
                self._stream.add(str(item["delta"]))
            case "thinking":
                self._think(item)
            case "tool_call":
                self._tools.append(
                    ToolRequest(tool_call_id=str(item["id"]), name=str(item["name"]), arguments=str(item["arguments"]))
                )
            case "retry":
                # What came before is superseded: it goes on under a segment of its own.
                self._restart()
            case "fallback":
                self._restart()
                fell_back: JsonObject = {"from": item["from"], "to": item["to"], "reason": item["reason"]}
                self._log.append_soon([self._draft(MODEL_FELL_BACK, fell_back)])
            case "finish":
                kept = item.get("thinking")
                self._thinking = [part for part in kept if isinstance(part, dict)] if isinstance(kept, list) else []
                return item
        return None

    def _think(self, item: JsonObject) -> None:
        """Show reasoning as it is given: a summary, every word, or only how much there was."""
        if not item.get("redacted"):
            self._thoughts.add(str(item["delta"]))
            return
        seconds = int(str(item.get("duration_ms") or 0)) / 1000
        shown = f"thought for {seconds:.1f} s ({item.get('characters')} characters)"
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

    def _answer(self, finish: JsonObject) -> ModelAnswer:
        cost = finish.get("cost_usd")
        return ModelAnswer(
            text="".join(self._text).strip("\n"),
            tools=tuple(self._tools),
            thinking=tuple(self._thinking),
            model=str(finish.get("model") or ""),
            reason=str(finish.get("reason") or "stop"),
            input_tokens=_count(finish, "input_tokens"),
            output_tokens=_count(finish, "output_tokens"),
            cost_micros=round(float(str(cost)) * 1_000_000) if cost is not None else 0,
        )


def _count(finish: JsonObject, name: str) -> int:
    return int(str(finish.get(name) or 0))
