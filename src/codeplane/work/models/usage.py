"""What calls to models have cost, and the ceilings that refuse further ones."""

from dataclasses import dataclass

from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import ModelCeilings, ModelPrice
from codeplane.kernel.errors import ModelCeilingReached
from codeplane.kernel.event import Event
from codeplane.kernel.model_provider import Finished
from codeplane.kernel.ports import Ledger
from codeplane.ledger.projection import RETENTION_APPLIED
from codeplane.work.models.usage_table import CALLED, DAY, THREAD, TURN, day_of, number_of, scopes_of

# Of English text and code; for providers that do not count.
_CHARACTERS_A_TOKEN = 4
_MAX_SUMS = 1000
MICRO = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one attempt used; `is_estimated` when the provider did not say."""

    input: int
    output: int
    cached: int
    reasoning: int
    is_estimated: bool

    @classmethod
    def of(cls, finished: Finished | None, *, prompt_chars: int, output_chars: int) -> "Tokens":
        """What the provider counted, or else an estimate by the length of the texts."""
        counted = finished or Finished(reason="stop")
        given, made = counted.input_tokens, counted.output_tokens
        return cls(
            input=estimate_tokens(prompt_chars) if given is None else given,
            output=estimate_tokens(output_chars) if made is None else made,
            cached=counted.cached_tokens or 0,
            reasoning=counted.reasoning_tokens or 0,
            is_estimated=given is None or made is None,
        )

    def micro_usd(self, price: ModelPrice | None) -> int | None:
        """What they cost, in millionths of a dollar; None without a price."""
        if price is None:
            return None
        cached = min(self.cached, self.input)
        cached_price = price.input if price.cached_input is None else price.cached_input
        # A price for a million tokens is one in millionths for each.
        return round((self.input - cached) * price.input + cached * cached_price + self.output * price.output)


def estimate_tokens(characters: int) -> int:
    """About how many tokens a text is."""
    return -(-characters // _CHARACTERS_A_TOKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The sum of what was used in a turn, thread or day."""

    calls: int = 0
    failures: int = 0
    tokens: int = 0
    micro_usd: int = 0
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sum:
    """What was used up to a position of the log."""

    used: Used
    position: int

    def plus(self, event: Event) -> "_Sum":
        """The sum with one more call."""
        used, payload = self.used, event.payload
        tokens = number_of(payload, "input_tokens") + number_of(payload, "output_tokens")
        return _Sum(
            used=Used(
                calls=used.calls + 1,
                failures=used.failures + (payload["status"] != "ok"),
                tokens=used.tokens + tokens,
                micro_usd=used.micro_usd + number_of(payload, "cost_micro_usd"),
                unpriced_calls=used.unpriced_calls + (payload.get("cost_micro_usd") is None),
            ),
            position=event.position,
        )


class ModelUsage:
    """Holds calls to the ceilings; reads the table of usage once for each sum, and then adds the calls that follow."""

    def __init__(self, *, log: Ledger, clock: Clock, ceilings: ModelCeilings) -> None:
        self._log = log
        self._clock = clock
        self.ceilings = ceilings
        self._sums = BoundedCache[tuple[str, str], _Sum](_MAX_SUMS)
        log.listen({CALLED, RETENTION_APPLIED}, self._take)

    def _take(self, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            self._sums.clear()
            return
        for place in scopes_of(event):
            found = self._sums.get(place)
            if found is not None and event.position > found.position:
                self._sums.put(place, found.plus(event))

    async def usage_of(self, scope: str, name: str) -> Used:
        """What all models together were used for."""
        found = self._sums.get((scope, name))
        if found is None:
            found = self._read(scope, name)
            self._sums.put((scope, name), found)
        return found.used

    def _read(self, scope: str, name: str) -> _Sum:
        ((calls, failures, tokens, micro_usd, unpriced, position),) = self._log.lookup(
            """SELECT total(calls), total(failures), total(input_tokens) + total(output_tokens), total(cost_micro_usd),
               total(unpriced_calls), (SELECT last_position FROM log_state)
               FROM model_usage WHERE scope = ? AND name = ?""",
            (scope, name),
        )
        used = Used(
            calls=_to_int(calls),
            failures=_to_int(failures),
            tokens=_to_int(tokens),
            micro_usd=_to_int(micro_usd),
            unpriced_calls=_to_int(unpriced),
        )
        return _Sum(used=used, position=_to_int(position))

    async def today(self) -> Used:
        """What was used since midnight UTC."""
        return await self.usage_of(DAY, day_of(self._clock.now_ns()))

    async def check(self, call: Call) -> None:
        """Raise ModelCeilingReached when the turn, thread or day has used up what it may."""
        ids, most = call.correlation, self.ceilings
        for scope, name, usd, tokens in (
            (TURN, ids.turn_id, most.turn_usd, most.turn_tokens),
            (THREAD, ids.thread_id, most.thread_usd, most.thread_tokens),
            (DAY, day_of(self._clock.now_ns()), most.day_usd, most.day_tokens),
        ):
            if name is None or not (usd or tokens):
                continue
            used = await self.usage_of(scope, name)
            for unit, limit, spent, shown in (
                ("usd", usd, used.micro_usd / MICRO, f"${used.micro_usd / MICRO:.4f} of ${usd:g}"),
                ("tokens", float(tokens), float(used.tokens), f"{used.tokens:,} of {tokens:,} tokens"),
            ):
                if limit and spent >= limit:
                    raise ModelCeilingReached(
                        f"models have used {shown} that this {scope} may",
                        details={"ceiling": f"models.ceilings.{scope}_{unit}", "limit": limit, "used": spent},
                    )


def _to_int(value: str | int | float | bytes | None) -> int:
    assert isinstance(value, (int, float))
    return int(value)
