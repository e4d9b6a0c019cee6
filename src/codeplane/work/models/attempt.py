"""One attempt to get an answer from one model: its time, its size, and what the log keeps of it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import ModelsConfig
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import (
    Finished,
    ModelRequest,
    ProviderFault,
    StreamItem,
    TextDelta,
    ThinkingDelta,
    ToolCallPlanned,
)
from codeplane.kernel.trace import span
from codeplane.work.models import telemetry
from codeplane.work.models.route import Route
from codeplane.work.models.usage import MICRO, Tokens
from codeplane.work.models.usage_table import CALLED, STREAM

_MILLISECOND_NS = 1_000_000
# A token is rarely longer on average; what is longer than that altogether did not keep to the limit.
_LONGEST_TOKEN = 8
_MAX_REASON = 300
# What of an error would have to stand in the prompt to be a quotation of it.
_QUOTED = 24
_SHORTEST_QUOTE = 8
# Without a word of an answer the provider may have worked on it all the same.
_PERHAPS_COUNTED = frozenset({"CANCELLED", "timeout", "cut_off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request as it is recorded: by hash and size."""

    request: ModelRequest = field(repr=False)
    hash: str
    size: int

    @classmethod
    def of(cls, request: ModelRequest) -> "Prompt":
        """The prompt of a request, with the tools that are offered."""
        parts = [message.fingerprint for message in request.messages]
        parts += [tool.fingerprint for tool in request.tools]
        hashed = digest(b"".join(part for part, _ in parts))
        return cls(request=request, hash=f"sha256:{hashed}", size=sum(size for _, size in parts))

    @property
    def characters(self) -> int:
        """How long its texts are together."""
        return sum(map(len, self._texts()))

    def _texts(self) -> list[str]:
        texts = [message.text for message in self.request.messages]
        return texts + [call.arguments for message in self.request.messages for call in message.tool_calls]

    def is_quoted_in(self, message: str) -> bool:
        """Whether a provider's message repeats a part of the prompt."""
        text = "\n".join(self._texts())
        parts = {message[start : start + _QUOTED] for start in range(max(0, len(message) - _QUOTED) + 1)}
        if any(len(part) == _QUOTED and part in text for part in parts):
            return True
        lines = (line.strip() for line in text.splitlines())
        return any(_SHORTEST_QUOTE <= len(line) < _QUOTED and line in message for line in lines)


@dataclass(slots=True, kw_only=True)
class Attempt:
    """Streams one answer within the limits, and knows afterwards what it used."""

    route: Route
    number: int
    call: Call
    prompt: Prompt
    config: ModelsConfig
    clock: Clock
    status: str = "CANCELLED"
    reason: str = ""
    finished: Finished | None = None
    is_truncated: bool = False
    _started_ns: int = 0
    _first_ns: int = 0
    _ended_ns: int = 0
    _output_chars: int = 0

    async def stream(self, request: ModelRequest, *, until_ns: int) -> AsyncGenerator[StreamItem, None]:
        """The items of the answer, `Finished` last; ProviderFault when it did not come to its end in time."""
        self._started_ns = self.clock.monotonic_ns()
        attributes = telemetry.request_attributes(
            request,
            kind=self.route.entry.config.kind,
            host=self.route.entry.host,
            thread_id=self.call.correlation.thread_id,
        )
        attributes |= {
            telemetry.ATTEMPT: self.number,
            telemetry.PROMPT_HASH: self.prompt.hash,
            telemetry.PROMPT_BYTES: self.prompt.size,
        }
        with span(f"{telemetry.CHAT} {request.model}", **attributes) as timed:
            try:
                async with aclosing(self._stream_bounded(request, until_ns)) as items:
                    async for item in items:
                        yield item
                self.status = "ok"
            except ProviderFault as fault:
                self.status, self.reason = fault.kind, self.explain(fault)
                timed.note(**{telemetry.ERROR: fault.kind})
                raise
            finally:
                self._ended_ns = self.clock.monotonic_ns()
                if self.finished is not None:
                    timed.note(**telemetry.answer_attributes(self.finished))

    @property
    def tokens(self) -> Tokens:
        """What it used; nothing where the provider refused or was not reached."""
        is_unanswered = not self._first_ns and self.status not in _PERHAPS_COUNTED
        is_counted = self.finished is not None and self.finished.input_tokens is not None
        prompt_chars = 0 if is_unanswered or is_counted else self.prompt.characters
        return Tokens.of(self.finished, prompt_chars=prompt_chars, output_chars=self._output_chars)

    @property
    def micro_usd(self) -> int | None:
        """What it cost, in millionths of a dollar: by the provider's own word, or by the price."""
        if self.finished is not None and self.finished.cost_usd is not None:
            return round(self.finished.cost_usd * MICRO)
        return self.tokens.micro_usd(self.route.entry.price(self.route.model))

    @property
    def first_token_ms(self) -> int:
        """How long the first word took; 0 when none came."""
        return (self._first_ns - self._started_ns) // _MILLISECOND_NS if self._first_ns else 0

    @property
    def duration_ms(self) -> int:
        """How long it took in all."""
        return ((self._ended_ns or self.clock.monotonic_ns()) - self._started_ns) // _MILLISECOND_NS

    def explain(self, fault: ProviderFault) -> str:
        """The description of a failure, without anything of the prompt."""
        if self.prompt.is_quoted_in(fault.message):
            status = f"answered {fault.status}" if fault.status is not None else fault.kind.replace("_", " ")
            return f"{status} (its message repeats the prompt, and is left out)"
        return fault.message[:_MAX_REASON]

    def record(self) -> Draft:
        """What the log keeps of it: never the prompt or the answer."""
        tokens = self.tokens
        payload: JsonObject = {
            "model": self.route.name,
            "attempt": self.number,
            "status": self.status,
            "reason": self.reason,
            "finish": self.finished.reason if self.finished is not None else None,
            "truncated": self.is_truncated,
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cached_tokens": tokens.cached,
            "reasoning_tokens": tokens.reasoning,
            "estimated": tokens.is_estimated,
            "cost_micro_usd": self.micro_usd,
            "first_token_ms": self.first_token_ms,
            "duration_ms": self.duration_ms,
            "prompt_hash": self.prompt.hash,
            "prompt_bytes": self.prompt.size,
        }
        return Draft(
            stream=STREAM,
            type=CALLED,
            payload=payload,
            actor=str(self.call.actor),
            source=Source.SYSTEM,
            correlation=self.call.correlation,
        )

    async def _stream_bounded(self, request: ModelRequest, until_ns: int) -> AsyncGenerator[StreamItem, None]:
        limit = request.max_output_tokens or self.config.max_output_tokens
        async with aclosing(self.route.entry.provider.stream(request)) as items:
            while (item := await self._next(items, until_ns)) is not None:
                if not self._first_ns:
                    self._first_ns = self.clock.monotonic_ns()
                if isinstance(item, Finished):
                    self.finished = item
                    yield item
                    return
                self._output_chars += _characters(item)
                if self._output_chars > limit * _LONGEST_TOKEN:
                    # A tool call that would be over the limit is not made.
                    self.is_truncated = True
                    self.finished = Finished(reason="length")
                    yield self.finished
                    return
                yield item
        raise ProviderFault("cut_off", "ended its answer in the middle")

    async def _next(self, items: AsyncGenerator[StreamItem, None], until_ns: int) -> StreamItem | None:
        config = self.config
        pause, what = (
            (config.between_tokens_sec, "no further word") if self._first_ns else (config.first_token_sec, "no word")
        )
        left = (until_ns - self.clock.monotonic_ns()) / SECOND_NS
        limit, why = min((pause, f"sent {what} for {pause:g} s"), (left, f"took longer than {config.total_sec:g} s"))
        try:
            async with asyncio.timeout(max(0.0, limit)):
                return await anext(items, None)
        except TimeoutError as error:
            raise ProviderFault("timeout", why) from error


def _characters(item: StreamItem) -> int:
    if isinstance(item, (TextDelta, ThinkingDelta)):
        return len(item.text)
    return len(item.tool_call.arguments) if isinstance(item, ToolCallPlanned) else 0
