"""Pairing codes: short enough to type, short-lived, valid once, and rate-limited against guessing."""

import hmac
import math
import secrets
from collections import deque
from dataclasses import dataclass

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import DevicesConfig
from codeplane.kernel.errors import PairingRefused, RateLimited
from codeplane.kernel.ids import new_id
from codeplane.trust.identity.lifetime import Lifetime
from codeplane.trust.identity.server_key import ServerKey

# Without characters that look alike on a screen.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 8
_WINDOW_NS = 60 * SECOND_NS
_WRONG_UNTIL_BURNT = 10
_OPEN_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingSlot:
    """A future device that a code was issued for; the code itself is not stored."""

    device_id: str
    seal: str
    life: Lifetime


class Pairing:
    """Issues codes and accepts each once; they are kept in memory, so a restart ends them all."""

    def __init__(self, *, key: ServerKey, clock: Clock, config: DevicesConfig) -> None:
        self._key = key
        self._clock = clock
        self._config = config
        self._open: dict[str, PairingSlot] = {}
        self._wrong: dict[str, int] = {}
        self._tries: deque[int] = deque()

    def __len__(self) -> int:
        self._forget_old()
        return len(self._open)

    def open(self) -> tuple[str, PairingSlot]:
        """Issue a code, as it is shown to a person, with its slot."""
        self._forget_old()
        if len(self._open) >= _OPEN_AT_ONCE:
            first = min(slot.life.left_ns(self._clock) for slot in self._open.values())
            raise _rate_limit(f"{_OPEN_AT_ONCE} pairing codes are open already", first)
        code = "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))
        expires_ns = self._clock.now_ns() + int(self._config.pairing_minutes * 60 * SECOND_NS)
        slot = PairingSlot(device_id=new_id("dev"), seal=self._seal(code), life=Lifetime.until(expires_ns, self._clock))
        self._open[slot.device_id] = slot
        return f"{code[:4]}-{code[4:]}", slot

    def check_rate(self) -> None:
        """Raise RateLimited after too many wrong codes in the last minute, from any caller."""
        now = self._clock.monotonic_ns()
        while self._tries and now - self._tries[0] >= _WINDOW_NS:
            self._tries.popleft()
        if len(self._tries) >= self._config.pairing_tries:
            raise _rate_limit("too many wrong pairing codes", self._tries[0] + _WINDOW_NS - now)

    def take(self, code: str) -> PairingSlot:
        """The slot of a right code, which is used up; a wrong one counts against every caller."""
        self._forget_old()
        seal = self._seal(_strip_separators(code))
        match: PairingSlot | None = None
        for slot in self._open.values():
            # All are compared, so that the time reveals nothing.
            if hmac.compare_digest(slot.seal, seal):
                match = slot
        if match is not None:
            self._drop(match)
        # A right code sent while rate-limited is used up too: the log holds the hash of what was sent.
        self.check_rate()
        if match is not None:
            return match
        self._tries.append(self._clock.monotonic_ns())
        for slot in list(self._open.values()):
            self._wrong[slot.device_id] = self._wrong.get(slot.device_id, 0) + 1
            if self._wrong[slot.device_id] >= _WRONG_UNTIL_BURNT:
                self._drop(slot)
        raise PairingRefused("the pairing code is wrong, was used before or is too old")

    def put_back(self, slot: PairingSlot) -> None:
        """Reopen a slot whose device could not be recorded."""
        self._open[slot.device_id] = slot

    def _seal(self, code: str) -> str:
        return self._key.seal("pairing", code)

    def _drop(self, slot: PairingSlot) -> None:
        del self._open[slot.device_id]
        self._wrong.pop(slot.device_id, None)

    def _forget_old(self) -> None:
        for slot in [slot for slot in self._open.values() if slot.life.over(self._clock)]:
            self._drop(slot)


def _strip_separators(code: str) -> str:
    """The code without separators."""
    return "".join(char for char in code.upper() if char not in "- \t")


def _rate_limit(message: str, left_ns: int) -> RateLimited:
    seconds = max(math.ceil(left_ns / SECOND_NS), 1)
    return RateLimited(
        message,
        hint=f"wait {seconds} s, then make a new code: cpl devices pair",
        details={"retry_after_sec": seconds},
    )
