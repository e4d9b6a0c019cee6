"""A clock that is moved by hand."""

from codeplane.kernel.clock import SECOND_NS


class HandClock:
    """Wall and monotonic time that pass only when told to."""

    def __init__(self) -> None:
        self.ns = 1_000

    def now_ns(self) -> int:
        return 1_700_000_000 * SECOND_NS + self.ns

    def monotonic_ns(self) -> int:
        return self.ns

    def pass_ms(self, milliseconds: float) -> None:
        """Let time pass."""
        self.ns += int(milliseconds * 1_000_000)
