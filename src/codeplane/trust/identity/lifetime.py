"""How long a credential stays valid, however the wall clock jumps."""

from dataclasses import dataclass

from codeplane.kernel.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """An end on the wall clock, which is shown and stored, and on the monotonic clock."""

    expires_ns: int
    monotonic_ns: int

    @classmethod
    def until(cls, expires_ns: int, clock: Clock) -> "Lifetime":
        """The lifetime that ends at a time of the wall clock."""
        return cls(expires_ns=expires_ns, monotonic_ns=clock.monotonic_ns() + max(expires_ns - clock.now_ns(), 0))

    def left_ns(self, clock: Clock) -> int:
        """The time left; setting the clock back adds nothing, setting it forward shortens it."""
        return min(self.expires_ns - clock.now_ns(), self.monotonic_ns - clock.monotonic_ns())

    def over(self, clock: Clock) -> bool:
        """Whether it has ended."""
        return self.left_ns(clock) <= 0
