"""The answers of model and tools in a turn, whole and sealed; events carry the hashes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from operator import is_

from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.errors import ResultGone
from codeplane.kernel.event import SealedPayload
from codeplane.kernel.json import JsonObject, canonical, dumps
from codeplane.kernel.ports import Payloads
from codeplane.work.models.schema import MessagePart, ThinkingPart, ToolCallPart
from codeplane.work.threads.store import Entry

# Providers refuse longer ids when they get them back.
_MAX_ID = 40
# Bytes of a message in its event, which the smallest configurable payload holds with what is beside it.
_MAX_MESSAGE = 120_000
_MAX_RECENT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A tool that the model wants called; `arguments` is the JSON that it wrote."""

    tool_call_id: str
    name: str
    arguments: str

    def to_json(self) -> JsonObject:
        """The request as models are shown it."""
        return {"id": self.tool_call_id, "name": self.name, "arguments": self.arguments}


# Without slots, as what a tool answered: each is a message of every later question, made and checked once.
@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """One answer of the model: text, tools to call, or both."""

    text: str
    tools: tuple[ToolRequest, ...] = ()
    # What a provider wants back with the message, such as signed reasoning.
    thinking: tuple[JsonObject, ...] = ()
    model: str = ""
    reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0

    def to_json(self) -> JsonObject:
        """The answer as it is sealed."""
        return {
            "text": self.text,
            "tools": [tool.to_json() for tool in self.tools],
            "thinking": list(self.thinking),
            "model": self.model,
        }

    @cached_property
    def message(self) -> MessagePart:
        """The answer as a message for the model."""
        return MessagePart(
            role="assistant",
            text=self.text,
            tool_calls=tuple(
                ToolCallPart(id=tool.tool_call_id, name=tool.name, arguments=tool.arguments) for tool in self.tools
            ),
            thinking=tuple(ThinkingPart.model_validate(part) for part in self.thinking),
        )

    @classmethod
    def from_json(cls, values: JsonObject) -> "ModelAnswer":
        """The answer that `to_json` wrote."""
        tools, thinking = values["tools"], values["thinking"]
        assert isinstance(tools, list) and isinstance(thinking, list)
        return cls(
            text=str(values["text"]),
            tools=tuple(
                ToolRequest(tool_call_id=str(tool["id"]), name=str(tool["name"]), arguments=str(tool["arguments"]))
                for tool in tools
                if isinstance(tool, dict)
            ),
            thinking=tuple(part for part in thinking if isinstance(part, dict)),
            model=str(values["model"]),
        )


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """What a tool answered, as the model is shown it."""

    tool_call_id: str
    text: str

    def to_json(self) -> JsonObject:
        """The answer as it is sealed."""
        return {"tool_call_id": self.tool_call_id, "text": self.text}

    @cached_property
    def message(self) -> MessagePart:
        """The answer as a message for the model."""
        return MessagePart(role="tool", text=self.text, tool_call_id=self.tool_call_id)


@dataclass(slots=True)
class Transcript:
    """The answers of one turn in their order."""

    answers: list[ModelAnswer] = field(default_factory=list)
    results: dict[str, ToolAnswer] = field(default_factory=dict)

    @property
    def open_tool(self) -> ToolRequest | None:
        """The next tool that the model wants called and that has not answered."""
        if not self.answers:
            return None
        return next((tool for tool in self.answers[-1].tools if tool.tool_call_id not in self.results), None)

    @property
    def is_final(self) -> bool:
        """Whether the last answer wants no tool."""
        return bool(self.answers) and not self.answers[-1].tools

    def with_unique_ids(self, answer: ModelAnswer) -> ModelAnswer:
        """An answer whose tool calls have ids that no earlier answer used: some models repeat theirs."""
        used = {tool.tool_call_id for earlier in self.answers for tool in earlier.tools}
        tools: list[ToolRequest] = []
        for tool in answer.tools:
            unique = _unused_id(tool.tool_call_id, used)
            used.add(unique)
            tools.append(tool if unique == tool.tool_call_id else replace(tool, tool_call_id=unique))
        return answer if all(map(is_, tools, answer.tools)) else replace(answer, tools=tuple(tools))

    def messages(self) -> list[MessagePart]:
        """The turn as further messages for the model."""
        messages: list[MessagePart] = []
        for answer in self.answers:
            messages.append(answer.message)
            for tool in answer.tools:
                if (result := self.results.get(tool.tool_call_id)) is not None:
                    messages.append(result.message)
        return messages


def _unused_id(wanted: str, used: set[str]) -> str:
    """The wanted id where it is free and short enough, else one made from it."""
    candidates = (f"{wanted[: _MAX_ID - 8]}_{number}" for number in count(2))
    if len(wanted) <= _MAX_ID and wanted not in used:
        return wanted
    return next(candidate for candidate in candidates if candidate not in used)


def message_text(text: str) -> str:
    """A text of the model as its message has it: cut off where an event could not hold it, which it says."""
    shown = text
    while len(shown) * 6 > _MAX_MESSAGE and (size := len(dumps(shown).encode())) > _MAX_MESSAGE:
        shown = shown[: len(shown) * _MAX_MESSAGE // size - 1]
    return shown if shown == text else f"{shown}\n[cut off: {len(text) - len(shown):,} more characters]"


class TranscriptStore:
    """Seals the answers of turns and reads them again; recently used ones are also in memory."""

    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads
        self._recent = BoundedCache[tuple[str, str], tuple[ModelAnswer | ToolAnswer, int]](
            max_weight=_MAX_RECENT_BYTES, weigh=lambda entry: entry[1]
        )

    def seal(self, work_id: str, answer: ModelAnswer | ToolAnswer) -> SealedPayload:
        """Seal an answer of the model or a tool, to be stored with the event that has its hash."""
        sealed = self._payloads.seal(work_id, canonical(answer.to_json()))
        self._recent.put((work_id, sealed.hash), (answer, sealed.size))
        return sealed

    async def load(self, entries: Sequence[Entry]) -> Transcript:
        """The transcript of the entries of one turn; ResultGone when a part is no longer stored."""
        transcript = Transcript()
        for entry in entries:
            answer = await self._get(entry)
            if isinstance(answer, ModelAnswer):
                transcript.answers.append(answer)
            else:
                transcript.results[entry.tool_call_id] = answer
        return transcript

    async def _get(self, entry: Entry) -> ModelAnswer | ToolAnswer:
        place = (entry.work_id, entry.payload_hash)
        if (recent := self._recent.get(place)) is not None:
            return recent[0]
        data = await self._payloads.get(*place)
        if data is None:
            raise ResultGone(f"a part of {entry.work_id} is no longer stored")
        values: JsonObject = json.loads(data)
        answer = (
            ModelAnswer.from_json(values)
            if entry.kind == "model"
            else ToolAnswer(tool_call_id=entry.tool_call_id, text=str(values["text"]))
        )
        self._recent.put(place, (answer, len(data)))
        return answer
