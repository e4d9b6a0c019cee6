"""Pairing codes: short enough to type, short-lived, good once, and not to be found by trying."""

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

# Nothing that looks like something else when it is read from a screen.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 8
_WINDOW_NS = 60 * SECOND_NS
_WRONG_UNTIL_BURNT = 10
_OPEN_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The place a code opens for one device; the code itself is not kept."""

    device_id: str
    seal: str
    life: Lifetime


class Pairing:
    """Hands codes out and takes each back once; they live in memory, so a restart ends them all."""

    def __init__(self, *, key: ServerKey, clock: Clock, config: DevicesConfig) -> None:
        self._key = key
        self._clock = clock
        self._config = config
        self._open: dict[str, Slot] = {}
        self._wrong: dict[str, int] = {}
        self._tries: deque[int] = deque()

    def __len__(self) -> int:
        self._forget_old()
        return len(self._open)

    def open(self) -> tuple[str, Slot]:
        """A new code, as it is shown to a person, and its place."""
        self._forget_old()
        if len(self._open) >= _OPEN_AT_ONCE:
            first = min(slot.life.left_ns(self._clock) for slot in self._open.values())
            raise _limited(f"{_OPEN_AT_ONCE} pairing codes are open already", first)
        code = "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))
        expires_ns = self._clock.now_ns() + int(self._config.pairing_minutes * 60 * SECOND_NS)
        slot = Slot(device_id=new_id("dev"), seal=self._seal(code), life=Lifetime.until(expires_ns, self._clock))
        self._open[slot.device_id] = slot
        return f"{code[:4]}-{code[4:]}", slot

    def check_rate(self) -> None:
        """Refuse while there were too many wrong codes in the last minute, whoever sent them."""
        now = self._clock.monotonic_ns()
        while self._tries and now - self._tries[0] >= _WINDOW_NS:
            self._tries.popleft()
        if len(self._tries) >= self._config.pairing_tries:
            raise _limited("too many wrong pairing codes", self._tries[0] + _WINDOW_NS - now)

    def take(self, code: str) -> Slot:
        """The place of a right code, which is used up by this; a wrong one counts against everyone."""
        self._forget_old()
        seal = self._seal(_plain(code))
        found: Slot | None = None
        for slot in self._open.values():
            # All are compared, so that the time tells nothing.
            if hmac.compare_digest(slot.seal, seal):
                found = slot
        if found is not None:
            self._drop(found)
        # A right code that comes too early is used up too: the log has the hash of what was sent.
        self.check_rate()
        if found is not None:
            return found
        self._tries.append(self._clock.monotonic_ns())
        for slot in list(self._open.values()):
            self._wrong[slot.device_id] = self._wrong.get(slot.device_id, 0) + 1
            if self._wrong[slot.device_id] >= _WRONG_UNTIL_BURNT:
                self._drop(slot)
        raise PairingRefused("the pairing code is wrong, was used before or is too old")

    def put_back(self, slot: Slot) -> None:
        """Open the place again, because the device could not be written down."""
        self._open[slot.device_id] = slot

    def _seal(self, code: str) -> str:
        return self._key.seal("pairing", code)

    def _drop(self, slot: Slot) -> None:
        del self._open[slot.device_id]
        self._wrong.pop(slot.device_id, None)

    def _forget_old(self) -> None:
        for slot in [slot for slot in self._open.values() if slot.life.over(self._clock)]:
            self._drop(slot)


def _plain(code: str) -> str:
    """The code without what people put between its parts."""
    return "".join(char for char in code.upper() if char not in "- \t")


def _limited(said: str, left_ns: int) -> RateLimited:
    seconds = max(math.ceil(left_ns / SECOND_NS), 1)
    return RateLimited(
        said,
        hint=f"wait {seconds} s, then make a new code: cpl devices pair",
        details={"retry_after_sec": seconds},
    )
