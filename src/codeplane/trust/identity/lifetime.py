"""How long something is good, whichever way the clock jumps."""

from dataclasses import dataclass

from codeplane.kernel.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """An end by the wall clock, which is what is told and kept, and by the one that only grows."""

    expires_ns: int
    monotonic_ns: int

    @classmethod
    def until(cls, expires_ns: int, clock: Clock) -> "Lifetime":
        """The rest of a life that ends at a time of the wall clock."""
        return cls(expires_ns=expires_ns, monotonic_ns=clock.monotonic_ns() + max(expires_ns - clock.now_ns(), 0))

    def left_ns(self, clock: Clock) -> int:
        """What is left of it; a clock that is set back adds nothing, and one that is set forward takes away."""
        return min(self.expires_ns - clock.now_ns(), self.monotonic_ns - clock.monotonic_ns())

    def over(self, clock: Clock) -> bool:
        """Whether it has ended."""
        return self.left_ns(clock) <= 0
