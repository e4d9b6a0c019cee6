"""Models behind Anthropic's Messages API."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.adapters.model_http import ModelEndpoint, token_count
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.model_provider import (
    Finished,
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelThinking,
    ModelToolCall,
    ProviderFault,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ThinkingKept,
    ToolCallPlanned,
)

BASE_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
# The API wants a limit with every request.
_DEFAULT_OUTPUT = 8192
_MAX_BLOCKS = 512
_MAX_BLOCK = 1024 * 1024
_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
# Everything up to here is kept by the provider for the next request, which is cheaper.
_CACHED: JsonObject = {"cache_control": {"type": "ephemeral"}}


@dataclass(slots=True, kw_only=True)
class AnthropicMessages:
    """An endpoint with the Messages API."""

    endpoint: ModelEndpoint
    has_structured_output: bool = True
    # Tokens for thinking, for models that do not choose by themselves how much they need.
    thinking_budget: int = 0
    extra: JsonObject = field(default_factory=dict)

    @classmethod
    def at(
        cls,
        base_url: str = BASE_URL,
        *,
        key: str = "",
        connect_sec: float = 10.0,
        has_structured_output: bool = True,
        thinking_budget: int = 0,
        extra: JsonObject | None = None,
    ) -> "AnthropicMessages":
        """A provider at an address, with or without `/v1`."""
        headers = {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})
        address = (base_url or BASE_URL).rstrip("/").removesuffix("/v1")
        return cls(
            endpoint=ModelEndpoint(base_url=f"{address}/v1", headers=headers, key=key, connect_sec=connect_sec),
            has_structured_output=has_structured_output,
            thinking_budget=thinking_budget,
            extra=extra or {},
        )

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """Ask a model and yield its answer as it comes."""
        return self.endpoint.answer("/messages", self._body(request), _Answer(endpoint=self.endpoint))

    async def models(self) -> Sequence[str]:
        """The names of the models that the endpoint says it has."""
        return await self.endpoint.model_names("/models?limit=1000")

    async def close(self) -> None:
        """Close connections that are kept open."""
        await self.endpoint.close()

    def _body(self, request: ModelRequest) -> JsonObject:
        limit = request.max_output_tokens or _DEFAULT_OUTPUT
        body: JsonObject = {
            "model": request.model,
            "max_tokens": limit,
            "messages": _messages(request.messages),
            "stream": True,
        }
        if system := [message.text for message in request.messages if message.role == "system" and message.text]:
            body["system"] = [{"type": "text", "text": "\n\n".join(system)} | _CACHED]
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters or {"type": "object", "properties": {}},
                }
                for tool in request.tools
            ]
        if request.temperature is not None:
            # It goes to 1 here, and to 2 elsewhere.
            body["temperature"] = min(request.temperature, 1.0)
        if request.reasoning != "off":
            body["thinking"] = _thinking_options(min(self.thinking_budget, limit - 1))
        if request.response_schema is not None and self.has_structured_output:
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.response_schema}}
        return body | self.extra


def _thinking_options(budget: int) -> JsonObject:
    if budget > 0:
        return {"type": "enabled", "budget_tokens": budget, "display": "summarized"}
    return {"type": "adaptive", "display": "summarized"}


def _messages(messages: Sequence[ModelMessage]) -> list[JsonValue]:
    """The conversation in turns of user and assistant; results of tools belong to the user's."""
    turns: list[tuple[str, list[JsonObject]]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1][0] != role:
            turns.append((role, []))
        turns[-1][1].extend(_blocks(message))
    if turns and turns[-1][1]:
        turns[-1][1][-1] |= _CACHED
    return [{"role": role, "content": blocks} for role, blocks in turns if blocks]


def _blocks(message: ModelMessage) -> list[JsonObject]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.text}]
    blocks: list[JsonObject] = []
    for thinking in message.thinking:
        if thinking.redacted:
            blocks.append({"type": "redacted_thinking", "data": thinking.redacted})
        elif thinking.signature:
            blocks.append({"type": "thinking", "thinking": thinking.text, "signature": thinking.signature})
    if message.text.strip():
        # The API refuses blank text.
        blocks.append({"type": "text", "text": message.text})
    for call in message.tool_calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)})
    return blocks


def _input(arguments: str) -> JsonObject:
    """The arguments of a call as the object that the API wants, also where the model wrote something else."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"invalid_arguments": arguments}


@dataclass(slots=True, kw_only=True)
class _Block:
    """A content block as far as it has come."""

    kind: str
    id: str = ""
    name: str = ""
    text: str = ""
    signature: str = ""
    is_whole: bool = False


@dataclass(slots=True, kw_only=True)
class _Answer:
    """Puts the events of one answer together."""

    endpoint: ModelEndpoint
    reason: FinishReason | None = None
    is_over: bool = False
    usage: dict[str, JsonValue] = field(default_factory=dict)
    blocks: dict[int, _Block] = field(default_factory=dict)

    def read(self, event: JsonObject) -> list[StreamItem]:
        """What an event adds."""
        match event.get("type"):
            case "message_start":
                message = event.get("message")
                self._count(message.get("usage") if isinstance(message, dict) else None)
            case "content_block_start":
                self._start(event)
            case "content_block_delta":
                return self._delta(event)
            case "content_block_stop":
                return self._stop(event)
            case "message_delta":
                self._count(event.get("usage"))
                delta = event.get("delta")
                reason = delta.get("stop_reason") if isinstance(delta, dict) else None
                if isinstance(reason, str):
                    self.reason = _REASONS.get(reason, "stop")
            case "message_stop":
                self.is_over = True
            case "error":
                raise self.endpoint.fault_of(event.get("error"))
        return []

    def end(self) -> list[StreamItem]:
        """What is known only at the end; ProviderFault when it was cut off before."""
        if self.reason is None or not self.is_over:
            raise ProviderFault("cut_off", "ended its answer in the middle")
        # At the limit the last one may be half of one, and a refused answer has none to be made.
        calls = (
            [] if self.reason == "refusal" else [block for block in self.blocks.values() if block.kind == "tool_use"]
        )
        items: list[StreamItem] = [
            ToolCallPlanned(tool_call=ModelToolCall(id=block.id, name=block.name, arguments=block.text or "{}"))
            for block in calls
            if block.is_whole and (self.reason != "length" or _is_object(block.text or "{}"))
        ]
        reason = self.reason
        if reason == "tool_calls" and not items:
            reason = "stop"
        return [*items, self._finish(reason)]

    def _start(self, event: Mapping[str, JsonValue]) -> None:
        index, content = event.get("index"), event.get("content_block")
        if not isinstance(index, int) or not isinstance(content, dict):
            raise ProviderFault("malformed", "started a block without a number or content")
        if len(self.blocks) >= _MAX_BLOCKS:
            raise ProviderFault("too_large", f"sent more than {_MAX_BLOCKS} blocks")
        self.blocks[index] = _Block(
            kind=str(content.get("type")),
            id=str(content.get("id", "")),
            name=str(content.get("name", "")),
            text=str(content.get("data", "")) if content.get("type") == "redacted_thinking" else "",
        )

    def _delta(self, event: Mapping[str, JsonValue]) -> list[StreamItem]:
        index, delta = event.get("index"), event.get("delta")
        block = self.blocks.get(index) if isinstance(index, int) else None
        if block is None or not isinstance(delta, dict):
            raise ProviderFault("malformed", "continued a block that it never started")
        match delta.get("type"):
            case "text_delta":
                text = str(delta.get("text", ""))
                return [TextDelta(text=text)] if text else []
            case "input_json_delta":
                block.text += str(delta.get("partial_json", ""))
            case "thinking_delta":
                text = str(delta.get("thinking", ""))
                block.text += text
                self._check(block)
                return [ThinkingDelta(text=text, is_summary=True)] if text else []
            case "signature_delta":
                block.signature += str(delta.get("signature", ""))
        self._check(block)
        return []

    def _stop(self, event: Mapping[str, JsonValue]) -> list[StreamItem]:
        index = event.get("index")
        block = self.blocks.get(index) if isinstance(index, int) else None
        if block is None:
            raise ProviderFault("malformed", "ended a block that it never started")
        block.is_whole = True
        if block.kind == "thinking" and block.signature:
            return [ThinkingKept(thinking=ModelThinking(text=block.text, signature=block.signature))]
        if block.kind == "redacted_thinking":
            return [ThinkingKept(thinking=ModelThinking(redacted=block.text))]
        return []

    def _check(self, block: _Block) -> None:
        if len(block.text) + len(block.signature) > _MAX_BLOCK:
            raise ProviderFault("too_large", f"sent a block of more than {_MAX_BLOCK:,} characters")

    def _count(self, usage: JsonValue) -> None:
        if isinstance(usage, Mapping):
            self.usage |= {name: value for name, value in usage.items() if value is not None}

    def _finish(self, reason: FinishReason) -> Finished:
        parts = [token_count(self.usage, name) for name in ("input_tokens", "cache_creation_input_tokens")]
        cached = token_count(self.usage, "cache_read_input_tokens")
        details = self.usage.get("output_tokens_details")
        thought = details.get("thinking_tokens") if isinstance(details, Mapping) else None
        return Finished(
            reason=reason,
            input_tokens=None if parts[0] is None else parts[0] + (parts[1] or 0) + (cached or 0),
            output_tokens=token_count(self.usage, "output_tokens"),
            cached_tokens=cached,
            reasoning_tokens=thought if isinstance(thought, int) else None,
        )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
