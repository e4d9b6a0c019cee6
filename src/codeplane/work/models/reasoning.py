"""What callers see of a model's reasoning."""

from codeplane.kernel.clock import Clock
from codeplane.kernel.model_provider import Reasoning, ThinkingDelta
from codeplane.work.models.schema import ModelItem

_MILLISECOND_NS = 1_000_000


class ReasoningView:
    """Shows reasoning as asked for: raw, as the provider's summary, or only how much there was and for how long."""

    def __init__(self, reasoning: Reasoning, clock: Clock) -> None:
        self._reasoning = reasoning
        self._clock = clock
        self._characters = 0
        self._since_ns = 0

    def show(self, delta: ThinkingDelta) -> list[ModelItem]:
        """The items for more reasoning."""
        if self._reasoning == "off":
            return []
        if delta.is_summary or self._reasoning == "raw":
            return [ModelItem(kind="thinking", delta=delta.text, is_summary=delta.is_summary)]
        self._since_ns = self._since_ns or self._clock.monotonic_ns()
        self._characters += len(delta.text)
        return []

    def pause(self) -> list[ModelItem]:
        """The items for reasoning that was not shown, once something else follows it."""
        if not self._characters:
            return []
        item = ModelItem(
            kind="thinking",
            delta="",
            is_summary=True,
            redacted=True,
            characters=self._characters,
            duration_ms=(self._clock.monotonic_ns() - self._since_ns) // _MILLISECOND_NS,
        )
        self._characters, self._since_ns = 0, 0
        return [item]
