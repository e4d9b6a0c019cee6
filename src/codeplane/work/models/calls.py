"""A call to a model with its retries and fallbacks: the one place where either happens."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import ModelsConfig
from codeplane.kernel.errors import CodePlaneError, ProviderRejected, ProviderUnavailable, TooLarge
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject
from codeplane.kernel.model_provider import (
    Finished,
    ModelRequest,
    ProviderFault,
    TextDelta,
    ThinkingDelta,
    ThinkingKept,
    ToolCallPlanned,
)
from codeplane.work.models.attempt import Attempt, Prompt
from codeplane.work.models.reasoning import ReasoningView
from codeplane.work.models.route import Route
from codeplane.work.models.schema import ModelItem, ThinkingPart
from codeplane.work.models.usage import MICRO, ModelUsage
from codeplane.work.models.usage_table import FELL_BACK, STREAM

# The request itself is at fault: another model would be sent the same.
_NO_FALLBACK = frozenset({"rejected"})


class ModelCalls:
    """Asks models until one answers to the end."""

    def __init__(self, *, log: EventLog, clock: Clock, config: ModelsConfig, usage: ModelUsage) -> None:
        self._log = log
        self._clock = clock
        self._config = config
        self._usage = usage

    async def stream(self, call: Call, prompt: Prompt, routes: Sequence[Route]) -> AsyncGenerator[ModelItem, None]:
        """The items of the answer; the routes are asked in their order, each as often as the settings say."""
        number = 0
        if prompt.size > self._config.max_prompt_kb * 1024:
            raise TooLarge(
                f"the prompt has {prompt.size:,} bytes",
                details={"limit": "models.max_prompt_kb", "bytes": prompt.size},
            )
        until_ns = self._clock.monotonic_ns() + int(self._config.total_sec * SECOND_NS)
        for place, route in enumerate(routes):
            for retry in range(self._config.retries + 1):
                number += 1
                await self._usage.check(call)
                await route.entry.cap.take(
                    route.entry.config.name, max_wait_sec=min(self._config.max_wait_sec, self._left_sec(until_ns))
                )
                attempt = Attempt(
                    route=route, number=number, call=call, prompt=prompt, config=self._config, clock=self._clock
                )
                try:
                    async with aclosing(self._attempt(attempt, prompt.request, until_ns)) as items:
                        async for item in items:
                            yield item
                    return
                except ProviderFault as fault:
                    failed = fault
                pause_sec = self._pause(failed, retry)
                if pause_sec is None or pause_sec >= self._left_sec(until_ns):
                    break
                yield ModelItem(kind="retry", attempt=number + 1, reason=attempt.reason)
                await asyncio.sleep(pause_sec)
            following = routes[place + 1] if place + 1 < len(routes) else None
            if following is None or failed.kind in _NO_FALLBACK or self._left_sec(until_ns) <= 0:
                raise _error(route, failed, attempt.reason, number)
            await self._append(call, _fallback(call, route, following, failed.kind, attempt.reason))
            yield ModelItem(kind="fallback", from_=route.name, to=following.name, reason=attempt.reason)

    async def _attempt(self, attempt: Attempt, request: ModelRequest, until_ns: int) -> AsyncGenerator[ModelItem, None]:
        route = attempt.route
        view = ReasoningView(request.reasoning, self._clock)
        kept: list[ThinkingPart] = []
        # Given once the answer has come to its end: half an answer calls no tools.
        ending: list[ModelItem] = []
        try:
            if route.entry.missing_key:
                attempt.status, attempt.reason = "unauthorized", f"has no key: {route.entry.missing_key} is not set"
                raise ProviderFault("unauthorized", attempt.reason)
            asked = replace(request, model=route.model)
            async with aclosing(attempt.stream(asked, until_ns=until_ns)) as items:
                async for item in items:
                    shown: list[ModelItem] = []
                    if isinstance(item, ThinkingDelta):
                        shown = view.show(item)
                    elif isinstance(item, ThinkingKept):
                        kept.append(ThinkingPart.of(item.thinking))
                    elif isinstance(item, TextDelta):
                        shown = [*view.pause(), ModelItem(kind="text", delta=item.text)]
                    elif isinstance(item, ToolCallPlanned):
                        ending.append(_tool_call(item))
                    else:
                        ending = [*view.pause(), *ending, _finish(attempt, item, kept)]
                    for model_item in shown:
                        yield model_item
        except (GeneratorExit, asyncio.CancelledError):
            self._log.append_soon([attempt.record()])
            raise
        except ProviderFault:
            await self._append(attempt.call, attempt.record())
            raise
        await self._append(attempt.call, attempt.record())
        for model_item in ending:
            yield model_item

    def _pause(self, fault: ProviderFault, retry: int) -> float | None:
        """How long to wait before the next attempt with the same model; None when there is none."""
        if not fault.is_passing or retry >= self._config.retries:
            return None
        own = min(self._config.backoff_sec * float(2**retry), self._config.max_backoff_sec)
        asked = fault.retry_after_sec
        if asked is None:
            return own
        return max(own, asked) if asked <= self._config.max_wait_sec else None

    def _left_sec(self, until_ns: int) -> float:
        return max(0.0, (until_ns - self._clock.monotonic_ns()) / SECOND_NS)

    async def _append(self, call: Call, draft: Draft) -> None:
        """Record something before the call goes on, so that the ceilings of the next one know of it.

        A step of work waits for the record of its own end, which has this beside it.
        """
        if call.caller.origin is not None:
            call.unrecorded.append(draft)
        else:
            await self._log.append([draft])


def _tool_call(item: ToolCallPlanned) -> ModelItem:
    planned = item.tool_call
    return ModelItem(kind="tool_call", id=planned.id, name=planned.name, arguments=planned.arguments)


def _finish(attempt: Attempt, finished: Finished, kept: Sequence[ThinkingPart]) -> ModelItem:
    tokens, micro_usd = attempt.tokens, attempt.micro_usd
    return ModelItem(
        kind="finish",
        reason=finished.reason,
        model=attempt.route.name,
        attempt=attempt.number,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cached_tokens=tokens.cached,
        reasoning_tokens=tokens.reasoning,
        estimated=tokens.is_estimated,
        cost_usd=None if micro_usd is None else micro_usd / MICRO,
        truncated=attempt.is_truncated,
        thinking=tuple(kept),
        first_token_ms=attempt.first_token_ms,
        duration_ms=attempt.duration_ms,
    )


def _fallback(call: Call, route: Route, following: Route, kind: str, reason: str) -> Draft:
    payload: JsonObject = {"from": route.name, "to": following.name, "status": kind, "reason": reason}
    return Draft(
        stream=STREAM,
        type=FELL_BACK,
        payload=payload,
        actor=str(call.actor),
        source=Source.SYSTEM,
        correlation=call.correlation,
    )


def _error(route: Route, fault: ProviderFault, reason: str, attempts: int) -> CodePlaneError:
    details: JsonObject = {"model": route.name, "kind": fault.kind, "attempts": attempts}
    if fault.status is not None:
        details["status"] = fault.status
    message = f"{route.name} {reason}"
    if not fault.is_passing:
        hint = f"set {route.entry.missing_key} and restart" if route.entry.missing_key else None
        return ProviderRejected(message, details=details, hint=hint, source=route.entry.config.name)
    if fault.retry_after_sec is not None:
        details["retry_after_sec"] = fault.retry_after_sec
    return ProviderUnavailable(message, details=details, source=route.entry.config.name)
