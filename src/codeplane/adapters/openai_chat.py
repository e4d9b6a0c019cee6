"""Models behind OpenAI's chat completions: OpenAI, OpenRouter, vLLM, Ollama, llama.cpp, LM Studio and their like."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from codeplane.adapters.model_http import ModelEndpoint, token_count
from codeplane.kernel.json import JsonObject, JsonValue, dumps
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

_MAX_CALLS = 128
_MAX_ARGUMENTS = 1024 * 1024
_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refusal",
}
# Reasoning as the servers spell it: DeepSeek and llama.cpp the first, vLLM, Ollama and OpenRouter the second.
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_DETAILS = "reasoning_details"
# Parts of OpenRouter's details that hold no raw reasoning.
_CLOSED_DETAILS = frozenset({"reasoning.summary", "reasoning.encrypted"})


@dataclass(slots=True, kw_only=True)
class OpenAIChat:
    """An endpoint with OpenAI's chat completions below `base_url`."""

    endpoint: ModelEndpoint
    has_structured_output: bool = True
    # Further fields of every request, such as `reasoning_effort`.
    extra: JsonObject = field(default_factory=dict)

    @classmethod
    def at(
        cls,
        base_url: str,
        *,
        key: str = "",
        connect_sec: float = 10.0,
        has_structured_output: bool = True,
        extra: JsonObject | None = None,
    ) -> "OpenAIChat":
        """A provider at an address, up to and with `/v1`."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        endpoint = ModelEndpoint(base_url=base_url.rstrip("/"), headers=headers, key=key, connect_sec=connect_sec)
        return cls(endpoint=endpoint, has_structured_output=has_structured_output, extra=extra or {})

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """Ask a model and yield its answer as it comes."""
        answer = _Answer(endpoint=self.endpoint, keeps_raw=request.reasoning == "raw")
        return self.endpoint.answer("/chat/completions", self._body(request), answer)

    async def models(self) -> Sequence[str]:
        """The names of the models that the endpoint says it has."""
        return await self.endpoint.model_names("/models")

    async def close(self) -> None:
        """Close connections that are kept open."""
        await self.endpoint.close()

    def _body(self, request: ModelRequest) -> JsonObject:
        body: JsonObject = {
            "model": request.model,
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters or {"type": "object", "properties": {}},
                    },
                }
                for tool in request.tools
            ]
        if request.max_output_tokens is not None:
            # OpenAI's reasoning models refuse the older name, which all others know.
            is_openai = (urlsplit(self.endpoint.base_url).hostname or "").endswith(("openai.com", "azure.com"))
            body["max_completion_tokens" if is_openai else "max_tokens"] = request.max_output_tokens
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.response_schema is not None and self.has_structured_output:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": request.response_schema, "strict": True},
            }
        return body | self.extra


def _message(message: ModelMessage) -> JsonObject:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    if message.role != "assistant" or not message.tool_calls:
        return {"role": message.role, "content": message.text}
    calls: list[JsonValue] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    sent: JsonObject = {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    for thinking in message.thinking:
        if thinking.redacted:
            sent[_DETAILS] = json.loads(thinking.redacted)
        elif thinking.signature in _REASONING_FIELDS:
            sent[thinking.signature] = thinking.text
    return sent


@dataclass(slots=True)
class _PartialCall:
    """A tool call as far as it has come."""

    id: str
    name: str = ""
    arguments: str = ""


@dataclass(slots=True, kw_only=True)
class _Answer:
    """Puts the chunks of one answer together."""

    endpoint: ModelEndpoint
    keeps_raw: bool
    reason: FinishReason | None = None
    # The usage may come after the reason: the end is that of the stream.
    is_over: bool = False
    is_refused: bool = False
    usage: Mapping[str, JsonValue] = field(default_factory=dict)
    thought: list[str] = field(default_factory=list)
    thought_field: str = ""
    details: list[JsonValue] = field(default_factory=list)
    calls: dict[int, _PartialCall] = field(default_factory=dict)

    def read(self, chunk: JsonObject) -> list[StreamItem]:
        """What a chunk adds."""
        if chunk.get("error"):
            raise self.endpoint.fault_of(chunk["error"])
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return []
        delta = choice.get("delta")
        items = self._delta(delta) if isinstance(delta, dict) else []
        if isinstance(reason := choice.get("finish_reason"), str):
            self.reason = _REASONS.get(reason, "stop")
        return items

    def end(self) -> list[StreamItem]:
        """What is known only at the end; ProviderFault when it was cut off before."""
        if self.reason is None:
            raise ProviderFault("cut_off", "ended its answer in the middle")
        calls = [self.calls[index] for index in sorted(self.calls)]
        reason = self.reason
        if reason == "length":
            # The last one may be half of one.
            calls = [call for call in calls if _is_json(call.arguments)]
        elif self.is_refused:
            reason, calls = "refusal", []
        elif calls:
            # Some servers say `stop`.
            reason = "tool_calls"
        elif reason == "tool_calls":
            reason = "stop"
        items: list[StreamItem] = [
            ToolCallPlanned(tool_call=ModelToolCall(id=call.id, name=call.name, arguments=call.arguments or "{}"))
            for call in calls
        ]
        return [*self._kept_thinking(), *items, self._finish(reason)]

    def _delta(self, delta: Mapping[str, JsonValue]) -> list[StreamItem]:
        items: list[StreamItem] = []
        details = delta.get(_DETAILS)
        is_summary = False
        if isinstance(details, list):
            self.details += details
            kinds = {detail.get("type") for detail in details if isinstance(detail, dict)}
            is_summary = kinds == {"reasoning.summary"}
        for name in _REASONING_FIELDS:
            # Some send the same under both names.
            if isinstance(text := delta.get(name), str) and text:
                self.thought_field = name
                self.thought.append(text)
                items.append(ThinkingDelta(text=text, is_summary=is_summary))
                break
        if isinstance(text := delta.get("content"), str) and text:
            items.append(TextDelta(text=text))
        if isinstance(text := delta.get("refusal"), str) and text:
            self.is_refused = True
            items.append(TextDelta(text=text))
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else ():
            if isinstance(part, dict):
                self._call(part)
        return items

    def _call(self, part: Mapping[str, JsonValue]) -> None:
        function = part.get("function")
        function = function if isinstance(function, dict) else {}
        index, call_id, name = part.get("index"), part.get("id"), function.get("name")
        call_id = call_id if isinstance(call_id, str) else ""
        last = max(self.calls, default=-1)
        if not isinstance(index, int):
            index = last + 1 if call_id or name else max(last, 0)
        known = self.calls.get(index)
        if known is not None and call_id and known.id != call_id and name:
            # Whole calls, one after the other, all with the same number.
            index, known = last + 1, None
        if known is None:
            if len(self.calls) >= _MAX_CALLS:
                raise ProviderFault("too_large", f"planned more than {_MAX_CALLS} tool calls")
            known = self.calls[index] = _PartialCall(call_id or f"call_{index}")
        if isinstance(name, str) and name and not known.name:
            known.name = name
        arguments = function.get("arguments")
        known.arguments += arguments if isinstance(arguments, str) else dumps(arguments) if arguments else ""
        if len(known.arguments) > _MAX_ARGUMENTS:
            raise ProviderFault("too_large", f"wrote tool arguments of more than {_MAX_ARGUMENTS:,} characters")

    def _kept_thinking(self) -> list[StreamItem]:
        """Reasoning that goes back with the next request: what a tool call followed from."""
        if not self.calls:
            return []
        kinds = {detail.get("type") for detail in self.details if isinstance(detail, dict)}
        if self.details and (self.keeps_raw or kinds <= _CLOSED_DETAILS):
            return [ThinkingKept(thinking=ModelThinking(redacted=dumps(self.details)))]
        if self.thought and self.keeps_raw:
            kept = ModelThinking(text="".join(self.thought), signature=self.thought_field)
            return [ThinkingKept(thinking=kept)]
        return []

    def _finish(self, reason: FinishReason) -> Finished:
        usage = self.usage
        prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
        cached = token_count(prompt, "cached_tokens")
        cost = usage.get("cost")
        return Finished(
            reason=reason,
            input_tokens=token_count(usage, "prompt_tokens"),
            output_tokens=token_count(usage, "completion_tokens"),
            cached_tokens=token_count(usage, "prompt_cache_hit_tokens") if cached is None else cached,
            reasoning_tokens=token_count(completion, "reasoning_tokens"),
            cost_usd=float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else None,
        )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
