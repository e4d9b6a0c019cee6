"""What `model.call` and its neighbours take and answer with."""

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.model_provider import (
    ModelMessage,
    ModelThinking,
    ModelTool,
    ModelToolCall,
    Reasoning,
    Role,
)
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.plural import plural

ItemKind = Literal["text", "thinking", "tool_call", "retry", "fallback", "finish"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolCallPart(_Part):
    """A tool call of an assistant's message."""

    id: str
    name: str
    arguments: str = Field(description="JSON, as the model wrote it")

    def to_port(self) -> ModelToolCall:
        return ModelToolCall(id=self.id, name=self.name, arguments=self.arguments)


class ThinkingPart(_Part):
    """Reasoning that goes back to the provider unchanged, as `finish` gave it."""

    text: str = ""
    signature: str = ""
    redacted: str = ""

    def to_port(self) -> ModelThinking:
        return ModelThinking(text=self.text, signature=self.signature, redacted=self.redacted)

    @classmethod
    def of(cls, thinking: ModelThinking) -> "ThinkingPart":
        """The part for a piece of reasoning."""
        return cls(text=thinking.text, signature=thinking.signature, redacted=thinking.redacted)


class MessagePart(_Part):
    """One message of the conversation."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCallPart, ...] = Field((), max_length=128)
    tool_call_id: str = Field("", description="of a tool's message, the call that it answers")
    thinking: tuple[ThinkingPart, ...] = Field((), max_length=128)

    @cached_property
    def port(self) -> ModelMessage:
        """The message as providers take it."""
        return ModelMessage(
            role=self.role,
            text=self.text,
            tool_calls=tuple(call.to_port() for call in self.tool_calls),
            tool_call_id=self.tool_call_id,
            thinking=tuple(part.to_port() for part in self.thinking),
        )


class ToolPart(_Part):
    """A tool that the model may call."""

    name: str = Field(min_length=1, max_length=128)
    description: str = ""
    parameters: JsonObject = Field({}, description="a JSON schema")

    @cached_property
    def port(self) -> ModelTool:
        """The tool as providers take it."""
        return ModelTool(name=self.name, description=self.description, parameters=self.parameters)


class Conversation:
    """Messages as providers take them, with their hash and size; a conversation that goes on adds to the same one."""

    def __init__(self) -> None:
        self.messages: list[ModelMessage] = []
        self.size = 0
        self._hash = sha256()

    def go_on(self, messages: Sequence[MessagePart]) -> None:
        """Add those of the messages that are not here yet, of a conversation that begins with those that are."""
        for number in range(len(self.messages), len(messages)):
            message = messages[number]
            if (message.role == "tool") != bool(message.tool_call_id):
                raise InvalidArgument(
                    f"messages.{number}: tool_call_id is for messages of the role tool, and they need it",
                    hint="give it the id of the tool call that it answers",
                )
            hashed, size = message.port.fingerprint
            self._hash.update(hashed)
            self.size += size
            self.messages.append(message.port)

    def fingerprint(self, tools: Sequence[ModelTool]) -> tuple[str, int]:
        """The hash and the size of the messages with the tools that are offered."""
        hashed, size = self._hash.copy(), self.size
        for tool in tools:
            tool_hash, tool_size = tool.fingerprint
            hashed.update(tool_hash)
            size += tool_size
        return hashed.hexdigest(), size


class CallRequest(Request):
    """One question to a model."""

    # A prompt is the caller's own: the log and traces have its hash and size.
    recorded: ClassVar[bool] = False

    model: str = Field("", description="provider/model; empty: the default")
    messages: tuple[MessagePart, ...] = Field(min_length=1, max_length=4000)
    tools: tuple[ToolPart, ...] = Field((), max_length=512)
    max_output_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2, description="without it, the provider's own")
    reasoning: Reasoning = Field("summary", description="what is streamed of the model's reasoning")
    response_schema: JsonObject | None = Field(
        None, description="a JSON schema for the answer, where the provider can hold it to one"
    )
    local_only: bool = Field(False, description="ask no model beyond this machine, whatever the settings allow")

    def is_assessed_at_once(self) -> bool:
        return True

    # The messages of earlier questions of the same conversation, which need not be looked at again.
    _conversation: Conversation = PrivateAttr(default_factory=Conversation)

    @classmethod
    def going_on(
        cls,
        conversation: Conversation,
        *,
        model: str,
        messages: Sequence[MessagePart],
        tools: Sequence[ToolPart],
        reasoning: Reasoning,
    ) -> "CallRequest":
        """A question whose messages begin with those of the conversation."""
        request = cls(model=model, messages=tuple(messages), tools=tuple(tools), reasoning=reasoning)
        request._conversation = conversation
        return request

    @cached_property
    def prompt(self) -> tuple[tuple[ModelMessage, ...], tuple[ModelTool, ...], str, int]:
        """Its messages and tools as providers take them, with their hash and size."""
        conversation, tools = self._conversation, tuple(tool.port for tool in self.tools)
        conversation.go_on(self.messages)
        return tuple(conversation.messages), tools, *conversation.fingerprint(tools)

    def fingerprint(self) -> tuple[str, int]:
        """The hash and the size, of the prompt by its own."""
        rest = canonical(self.model_dump(mode="json", exclude={"messages", "tools"}, exclude_unset=True))
        _, _, hashed, size = self.prompt
        return digest(rest + hashed.encode()), len(rest) + size


class ModelItem(Result):
    """A piece of an answer; `retry` and `fallback` supersede everything that came before them."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    kind: ItemKind
    delta: str | None = None
    is_summary: bool | None = None
    # Reasoning that is not shown: only how much there was and how long it took.
    redacted: bool | None = None
    characters: int | None = None
    first_token_ms: int | None = None
    duration_ms: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | None = None
    attempt: int | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    reason: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    # Whether the tokens are counted here, because the provider did not say.
    estimated: bool | None = None
    cost_usd: float | None = None
    # Whether the answer was cut off here, because it was too long.
    truncated: bool | None = None
    # Reasoning that goes back to the provider with the assistant's message.
    thinking: tuple[ThinkingPart, ...] | None = None

    def text(self) -> str:
        """The words of the answer; for other items, their kind and what they say."""
        if self.kind in ("text", "thinking"):
            return self.delta or ""
        if self.kind == "tool_call":
            return f"{self.name}({self.arguments})"
        if self.kind == "retry":
            return f"[attempt {self.attempt}: {self.reason}]"
        if self.kind == "fallback":
            return f"[{self.from_} → {self.to}: {self.reason}]"
        return f"[{self.reason}, {self.model}]"


class ListRequest(Request):
    """No arguments."""


class ModelView(Result):
    """A model that may be asked."""

    model: str
    default: bool = False
    allowed: bool = True
    input_usd: float | None = None
    output_usd: float | None = None
    fallbacks: tuple[str, ...] = ()


class ProviderView(Result):
    """A provider and a note on it."""

    name: str
    kind: str
    address: str
    external: bool
    key: Literal["set", "missing", "none"]
    calls_per_minute: int
    models: tuple[ModelView, ...]
    problems: tuple[str, ...] = ()


class UsageView(Result):
    """What was used since midnight UTC, and the ceilings; 0 is none."""

    calls: int = 0
    failures: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    day_usd: float = 0.0
    day_tokens: int = 0

    def text(self) -> str:
        """One line."""
        parts = [f"today: {plural(self.calls, 'call')}, {self.failures} failed, {self.tokens:,} tokens"]
        parts[0] += f", ${self.cost_usd:.4f}"
        if self.unpriced_calls:
            parts[0] += f" (without {plural(self.unpriced_calls, 'call')} that have no price)"
        parts += [f"ceiling ${self.day_usd:g}"] if self.day_usd else []
        parts += [f"ceiling {self.day_tokens:,} tokens"] if self.day_tokens else []
        return "; ".join(parts)


class ModelList(Result):
    """The providers, their models and today's use."""

    providers: tuple[ProviderView, ...]
    default: str = ""
    external: bool = False
    today: UsageView = UsageView()
    hints: tuple[str, ...] = ()

    def text(self) -> str:
        """A line for each model, with what keeps it from being asked."""
        lines: list[str] = []
        for provider in self.providers:
            where = f"{provider.address}{' (other machine)' if provider.external else ''}"
            lines.append(f"{provider.name}: {provider.kind}, {where}, key {provider.key}")
            for model in provider.models:
                marks = [word for word, on in (("default", model.default), ("not allowed", not model.allowed)) if on]
                if model.input_usd is not None:
                    marks.append(f"${model.input_usd:g} in, ${model.output_usd or 0:g} out for a million tokens")
                if model.fallbacks:
                    marks.append(f"then {', '.join(model.fallbacks)}")
                lines.append(f"  {model.model} ({'; '.join(marks)})" if marks else f"  {model.model}")
            lines += [f"  problem: {problem}" for problem in provider.problems]
        if self.providers:
            lines.append(self.today.text())
        else:
            lines.append("no model is configured")
        return "\n".join([*lines, *(f"hint: {hint}" for hint in self.hints)])


class TestRequest(Request):
    """Which model is asked."""

    __test__ = False

    model: str = Field("", description="provider/model; empty: the default")


class TestResult(Result):
    """How a model answered a short question."""

    __test__ = False

    model: str
    answer: str
    reason: str
    first_token_ms: int
    duration_ms: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    # Whether the endpoint lists the model; None when it does not say.
    listed: bool | None = None

    def text(self) -> str:
        """One line."""
        listed = "" if self.listed is not False else "; the endpoint does not list it"
        times = f"after {self.first_token_ms} ms, {self.duration_ms} ms in all"
        return f"{self.model} answers {self.answer!r} {times}{listed}"
