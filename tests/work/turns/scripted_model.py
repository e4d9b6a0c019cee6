"""A model that answers from a script, in the place of the operation that asks real ones."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result, Risk, operation

Item: TypeAlias = JsonObject
# What one question is answered with; an error is raised, an event is waited for.
Answer: TypeAlias = Sequence[JsonObject | CodePlaneError | asyncio.Event]


class ModelCallRequest(Request):
    """A question to the model."""

    model: str = ""
    messages: tuple[JsonObject, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    reasoning: str = "off"


class ModelItem(Result):
    """A part of an answer."""

    kind: str
    delta: str = ""
    is_summary: bool = False
    id: str = ""
    name: str = ""
    arguments: str = ""
    reason: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    redacted: bool = False
    characters: int = 0
    duration_ms: int = 0


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

    @operation("model.call", risk=Risk.READ, timeout_sec=0)
    async def call(self, call: Call, request: ModelCallRequest) -> AsyncIterator[ModelItem]:
        """Answer from the script."""
        self.asked.append(request)
        if self._choose is not None:
            answer = self._choose(request)
        else:
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        for item in answer:
            if isinstance(item, CodePlaneError):
                raise item
            if isinstance(item, asyncio.Event):
                await item.wait()
            elif item["kind"] == "thinking" and request.reasoning != "raw":
                yield ModelItem(kind="thinking", redacted=True, characters=len(str(item["delta"])))
            else:
                yield ModelItem.model_validate(item)
