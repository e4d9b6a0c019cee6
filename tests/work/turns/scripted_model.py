"""A model that answers from a script, asked through the operation that asks real ones."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.model_provider import (
    Finished,
    FinishReason,
    ModelRequest,
    ModelToolCall,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallPlanned,
)

Item: TypeAlias = JsonObject
# What one question is answered with; an error is raised, an event is waited for.
Answer: TypeAlias = Sequence[JsonObject | CodePlaneError | asyncio.Event]
_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "refusal": "refusal",
}


@dataclass(frozen=True, kw_only=True)
class ModelCallRequest:
    """A question as it came to the model."""

    model: str
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...]
    reasoning: str

    @classmethod
    def of(cls, request: ModelRequest) -> "ModelCallRequest":
        messages = tuple(
            {name: value for name, value in asdict(message).items() if value} for message in request.messages
        )
        tools = tuple(asdict(offered) for offered in request.tools)
        return cls(model=request.model, messages=messages, tools=tools, reasoning=request.reasoning)


def text(*deltas: str) -> list[JsonObject]:
    """An answer in words."""
    said: list[JsonObject] = [{"kind": "text", "delta": delta} for delta in deltas]
    return [*said, finish()]


def tool(name: str, tool_call_id: str = "t1", /, **arguments: JsonValue) -> JsonObject:
    """A tool that the model wants called."""
    return {"kind": "tool_call", "id": tool_call_id, "name": name, "arguments": json.dumps(arguments)}


def finish(reason: str = "stop") -> JsonObject:
    """The end of an answer."""
    return {"kind": "finish", "reason": reason, "model": "scripted", "input_tokens": 10, "output_tokens": 5}


class ScriptedModel:
    """Answers one question after the other; the last answer is given again."""

    def __init__(self, *answers: Answer, choose: Callable[[ModelCallRequest], Answer] | None = None) -> None:
        self._answers = list(answers)
        self._choose = choose
        self.asked: list[ModelCallRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer from the script."""
        asked = ModelCallRequest.of(request)
        self.asked.append(asked)
        if self._choose is not None:
            answer = self._choose(asked)
        else:
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        for item in answer:
            if isinstance(item, CodePlaneError):
                raise item
            if isinstance(item, asyncio.Event):
                await item.wait()
            else:
                yield _item(item)

    async def models(self) -> Sequence[str]:
        """The one model that there is."""
        return ["default"]

    async def close(self) -> None:
        """Nothing is open."""


def _item(item: JsonObject) -> StreamItem:
    match item["kind"]:
        case "text":
            return TextDelta(text=str(item["delta"]))
        case "thinking":
            return ThinkingDelta(text=str(item["delta"]), is_summary=bool(item.get("is_summary")))
        case "tool_call":
            call = ModelToolCall(id=str(item["id"]), name=str(item["name"]), arguments=str(item["arguments"]))
            return ToolCallPlanned(tool_call=call)
        case _:
            return Finished(reason=_REASONS[str(item["reason"])], input_tokens=10, output_tokens=5)
