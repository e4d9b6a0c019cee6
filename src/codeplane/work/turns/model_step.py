"""One question to the model, its answer streamed into the thread."""

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.ports import Ledger
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
        self, *, log: Ledger, door: Door, caller: Caller, draft: MakeDraft, segment: str, reasoning: str
    ) -> None:
        """`segment` names this answer among those of the turn."""
        self._log = log
        self._door = door
        self._caller = caller
        self._draft = draft
        self._segment = segment
        self._reasoning = reasoning
        self._attempt = 0
        self._text: list[str] = []
        self._tools: list[ToolRequest] = []
        self._thinking: list[JsonObject] = []
        self._thought_characters = 0
        self._thinks_since: float | None = None
        self._stream = TextStream(self._emit_text)
        self._thoughts = TextStream(self._emit_thought)

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
        self._end_thought()
        self._stream.close()
        return self._answer(finish)

    def _take(self, item: JsonObject) -> JsonObject | None:
        """Take one item of the stream; returns the last one, which has the usage."""
        match item["kind"]:
            case "text":
                self._end_thought()
                self._text.append(str(item["delta"]))
                self._stream.add(str(item["delta"]))
            case "thinking":
                self._think(str(item["delta"]), is_summary=bool(item.get("is_summary")))
            case "thinking_kept":
                self._thinking.append(
                    {name: item[name] for name in ("text", "signature", "redacted") if item.get(name)}
                )
            case "tool_call":
                self._tools.append(
                    ToolRequest(tool_call_id=str(item["id"]), name=str(item["name"]), arguments=str(item["arguments"]))
                )
            case "retry":
                # What came before is superseded: it goes on under a segment of its own.
                self._restart()
            case "fallback":
                self._restart()
                fell_back: JsonObject = {"from": item["from_model"], "to": item["to_model"], "reason": item["reason"]}
                self._log.append_soon([self._draft(MODEL_FELL_BACK, fell_back)])
            case "finish":
                return item
        return None

    def _think(self, delta: str, *, is_summary: bool) -> None:
        """Show reasoning as far as the client asked for it: a summary, every word, or that there was some."""
        if self._reasoning == "REASONING_OFF":
            return
        if self._thinks_since is None:
            self._thinks_since = time.monotonic()
        if is_summary or self._reasoning == "REASONING_RAW":
            self._thoughts.add(delta)
        else:
            self._thought_characters += len(delta)

    def _end_thought(self) -> None:
        if self._thinks_since is None:
            return
        self._thoughts.close()
        if self._thought_characters:
            seconds = time.monotonic() - self._thinks_since
            self._emit(
                ASSISTANT_THINKING,
                {
                    "delta": f"thought for {seconds:.1f} s ({self._thought_characters} characters)",
                    "redacted": True,
                    "visibility": "REASONING_SUMMARY",
                },
            )
        self._thinks_since, self._thought_characters = None, 0

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
        self._stream.drop()
        self._thoughts.drop()
        self._stream, self._thoughts = TextStream(self._emit_text), TextStream(self._emit_thought)
        self._thinks_since, self._thought_characters = None, 0

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
