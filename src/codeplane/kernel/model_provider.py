"""The port to language models: what is asked, what is streamed back, and how a provider fails."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal, Protocol, TypeAlias

from codeplane.kernel.json import JsonObject, canonical

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Reasoning: TypeAlias = Literal["off", "summary", "raw"]
FinishReason: TypeAlias = Literal["stop", "tool_calls", "length", "refusal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelToolCall:
    """A tool that a model wants called; `arguments` is its JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelThinking:
    """Reasoning that a provider wants back with the message it belongs to.

    `signature` proves to the provider that the text is unchanged; `redacted` is opaque data in place of text.
    """

    text: str = ""
    signature: str = ""
    redacted: str = ""


# Without slots, so that it can hold its fingerprint: every question of a turn sends the conversation again.
@dataclass(frozen=True, kw_only=True)
class ModelMessage:
    """One message of a conversation; `tool_call_id` names the call that a tool's message answers."""

    role: Role
    text: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    tool_call_id: str = ""
    thinking: tuple[ModelThinking, ...] = ()

    @cached_property
    def fingerprint(self) -> tuple[bytes, int]:
        """Its hash and size, the same for equal messages."""
        return _fingerprint(
            {
                "role": self.role,
                "text": self.text,
                "calls": [[call.id, call.name, call.arguments] for call in self.tool_calls],
                "answers": self.tool_call_id,
                "thinking": [[part.text, part.signature, part.redacted] for part in self.thinking],
            }
        )


@dataclass(frozen=True, kw_only=True)
class ModelTool:
    """A tool that the model may call; `parameters` is a JSON schema."""

    name: str
    description: str = ""
    parameters: JsonObject = field(default_factory=dict, hash=False)

    @cached_property
    def fingerprint(self) -> tuple[bytes, int]:
        """Its hash and size, the same for equal tools."""
        return _fingerprint({"name": self.name, "description": self.description, "parameters": self.parameters})


def _fingerprint(value: JsonObject) -> tuple[bytes, int]:
    encoded = canonical(value)
    return sha256(encoded).digest(), len(encoded)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model, by the provider's own name for the model."""

    model: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ModelTool, ...] = ()
    max_output_tokens: int | None = None
    # None leaves it to the provider.
    temperature: float | None = None
    reasoning: Reasoning = "off"
    # A JSON schema that the answer must follow, where the provider can enforce one.
    response_schema: JsonObject | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """More of the model's reasoning: its own words, or the provider's summary of them."""

    text: str
    is_summary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingKept:
    """A whole piece of reasoning that has to go back to the provider with the assistant's message."""

    thinking: ModelThinking


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPlanned:
    """A tool call that the model has written to its end; never half of one."""

    tool_call: ModelToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The end of an answer, with what the provider counted; None where it does not say."""

    reason: FinishReason
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


StreamItem: TypeAlias = TextDelta | ThinkingDelta | ThinkingKept | ToolCallPlanned | Finished

FaultKind: TypeAlias = Literal[
    # Can pass: try again.
    "unreachable",
    "timeout",
    "rate_limited",
    "overloaded",
    "cut_off",
    "malformed",
    # Final: the same request fails again.
    "unauthorized",
    "not_found",
    "rejected",
    "too_large",
]
PASSING: frozenset[FaultKind] = frozenset(
    {"unreachable", "timeout", "rate_limited", "overloaded", "cut_off", "malformed"}
)


class ProviderFault(Exception):
    """A request that a provider did not answer to the end; adapters raise nothing else."""

    def __init__(
        self, kind: FaultKind, message: str, *, status: int | None = None, retry_after_sec: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.message = message
        self.status = status
        self.retry_after_sec = retry_after_sec

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in PASSING


class ModelProvider(Protocol):
    """One endpoint that serves models; it never retries on its own."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """Ask a model and yield its answer as it comes, `Finished` last; raises ProviderFault otherwise."""
        ...

    async def models(self) -> Sequence[str]:
        """The names of the models that the endpoint says it has."""
        ...

    async def close(self) -> None:
        """Close connections that are kept open."""
        ...
