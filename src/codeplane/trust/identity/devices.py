"""The paired devices, kept in memory and loaded from the table at the start."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import DevicesConfig
from codeplane.kernel.errors import DeviceNotFound, Overloaded, PairingRefused, TokenExpired, Unauthorized
from codeplane.kernel.event import Draft, Event
from codeplane.kernel.event_feed import EventFeed
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_id
from codeplane.trust.identity.change_signal import ChangeSignal
from codeplane.trust.identity.device import PAIRED, RENEWED, REVOKED, ROTATED, Device, DeviceTable, device_stream
from codeplane.trust.identity.lifetime import Lifetime
from codeplane.trust.identity.pairing import Pairing, PairingSlot
from codeplane.trust.identity.server_key import ServerKey

DEVICE_PREFIX = "cpd_"
_DAY_NS = 86_400 * SECOND_NS
# Long enough for a client to ask again when the answer got lost.
_GRACE_NS = 60 * SECOND_NS

T = TypeVar("T")
Recorder = Callable[[Sequence[tuple[str, str, JsonObject]]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A device's new token, and how long it is valid."""

    device_id: str
    token: str
    expires_ns: int
    renew_after_ns: int


class Devices:
    """Finds devices by their tokens; a change counts once it is durable."""

    def __init__(self, *, key: ServerKey, clock: Clock, config: DevicesConfig, changes: ChangeSignal) -> None:
        self._key = key
        self._clock = clock
        self._config = config
        self._changes = changes
        self._by_id: dict[str, Device] = {}
        self._by_seal: dict[str, str] = {}
        self._lives: dict[str, Lifetime] = {}
        self._graces: dict[str, Lifetime] = {}
        self._writing = asyncio.Lock()
        self._soon: Callable[[Sequence[Draft]], bool] | None = None
        self._feed = EventFeed({PAIRED, ROTATED, RENEWED, REVOKED}, self._apply)

    def __iter__(self) -> Iterator[Device]:
        return iter(tuple(self._by_id.values()))

    async def restore(self, log: Ledger) -> None:
        """Load the devices and follow what becomes of them; until then every device is refused."""
        self._soon = log.append_soon

        async def load() -> None:
            for row in await log.select(DeviceTable.SELECT):
                device = DeviceTable.from_row(row)
                if device.previous_until_ns > self._clock.now_ns() + _GRACE_NS:
                    # The clock was set back, so the rest of the grace period is unknown: it ends now.
                    device = replace(device, previous_seal=None)
                self._put(device)

        await self._feed.load(log, load)

    def find(self, token: str) -> Device:
        """The device that holds the token; raises when there is none, or it has expired."""
        seal = self._seal(token)
        device = self._by_id.get(self._by_seal.get(seal, ""))
        if device is None:
            raise Unauthorized("no device holds that token", hint="pair it again: cpl devices pair")
        self.check(device.device_id)
        if seal == device.previous_seal:
            if self._graces[device.device_id].over(self._clock):
                raise TokenExpired("the device's token was replaced by a newer one")
        elif device.previous_seal is not None:
            # The new token is in use, so the old one ends, also after a restart.
            self._record_renewal(device)
            self._put(device := replace(device, previous_seal=None))
        return device

    def _record_renewal(self, device: Device) -> None:
        """Record that a replaced token ended before its grace period; Overloaded when the log is full."""
        if self._graces[device.device_id].over(self._clock) or self._soon is None:
            return
        fact: JsonObject = {"device_id": device.device_id, "token_seal": device.token_seal}
        actor = str(Actor(kind=ActorKind.DEVICE, actor_id=device.device_id))
        draft = Draft(stream=device_stream(device.device_id), type=RENEWED, payload=fact, actor=actor)
        if not self._soon([draft]):
            raise Overloaded("the ledger's queue is full")

    def check(self, device_id: str) -> int:
        """How many nanoseconds the device's lease still lasts; raises when it was revoked or has expired."""
        device = self._by_id.get(device_id)
        if device is None or device.revoked_ns is not None:
            raise Unauthorized(f"the device {device_id} was revoked", hint="pair it again: cpl devices pair")
        left = self._lives[device_id].left_ns(self._clock)
        if left <= 0:
            raise TokenExpired("the device's token was not renewed in time")
        return left

    def is_live(self, device: Device) -> bool:
        """Whether the device can still call."""
        return device.revoked_ns is None and not self._lives[device.device_id].over(self._clock)

    def check_room(self) -> None:
        """Raise PairingRefused when there are as many devices as the settings allow."""
        if sum(map(self.is_live, self)) >= self._config.max_devices:
            raise PairingRefused(
                f"{self._config.max_devices} devices are paired already",
                hint="revoke one that is no longer used: cpl devices revoke ID",
            )

    async def pair(self, record: Recorder, pairing: Pairing, slot: PairingSlot, *, name: str, public_key: str) -> Lease:
        """Turn a pairing slot into a device."""
        lease = self._lease(slot.device_id)
        fact: JsonObject = {
            "device_id": slot.device_id,
            "name": name,
            "public_key": public_key,
            "token_seal": self._seal(lease.token),
            "at_ns": self._clock.now_ns(),
            "expires_ns": lease.expires_ns,
            "renew_after_ns": lease.renew_after_ns,
        }

        async def change() -> Lease:
            try:
                self.check_room()
                await record([(device_stream(slot.device_id), PAIRED, fact)])
            except BaseException:
                pairing.put_back(slot)
                raise
            return lease

        return await self._run_to_end(change)

    async def rotate(self, record: Recorder, token: str) -> Lease:
        """Issue a new token with a full lease; the old one ends when the new one is used, or a minute later."""

        async def change() -> Lease:
            device, now = self.find(token), self._clock.now_ns()
            lease, seal = self._lease(device.device_id), self._seal(token)
            # A client that uses the old token again has lost the answer; that does not extend the old token.
            is_retry = seal == device.previous_seal
            until = device.previous_until_ns if is_retry else now + _GRACE_NS
            fact: JsonObject = {
                "device_id": device.device_id,
                "token_seal": self._seal(lease.token),
                "expires_ns": lease.expires_ns,
                "renew_after_ns": lease.renew_after_ns,
                "previous_seal": seal,
                "previous_until_ns": until,
            }
            await record([(device_stream(device.device_id), ROTATED, fact)])
            return lease

        return await self._run_to_end(change)

    async def revoke(self, record: Recorder, name: str, *, reason: str) -> Device:
        """Revoke a device by its id or a unique beginning or end of it; its running streams end."""
        device_id = match_id(name, self._by_id, "device", DeviceNotFound)

        async def change() -> Device:
            device = self._by_id[device_id]
            if device.revoked_ns is not None:
                return device
            now = self._clock.now_ns()
            fact: JsonObject = {"device_id": device_id, "at_ns": now, "reason": reason}
            await record([(device_stream(device_id), REVOKED, fact)])
            return self._by_id[device_id]

        return await self._run_to_end(change)

    def _apply(self, event: Event) -> None:
        if event.type == PAIRED:
            self._put(DeviceTable.from_fact(event.payload))
        elif (device := self._by_id.get(str(event.payload["device_id"]))) is not None:
            self._put(DeviceTable.apply_change(device, event))
        if event.type == REVOKED:
            self._changes.notify()

    async def _run_to_end(self, settle: Callable[[], Awaitable[T]]) -> T:
        """Run one change at a time, to its end even when the caller is cancelled, so memory and log stay equal."""

        async def alone() -> T:
            async with self._writing:
                return await settle()

        return await asyncio.shield(alone())

    def _lease(self, device_id: str) -> Lease:
        now, whole = self._clock.now_ns(), int(self._config.token_days * _DAY_NS)
        return Lease(
            device_id=device_id,
            token=DEVICE_PREFIX + secrets.token_urlsafe(32),
            expires_ns=now + whole,
            renew_after_ns=now + whole // 2,
        )

    def _seal(self, token: str) -> str:
        return self._key.seal("device", token)

    def _put(self, device: Device) -> None:
        before = self._by_id.get(device.device_id)
        for seal in (before.token_seal, before.previous_seal) if before is not None else ():
            self._by_seal.pop(seal or "", None)
        for seal in (device.token_seal, device.previous_seal):
            if seal is not None:
                self._by_seal[seal] = device.device_id
        now = self._clock.now_ns()
        # A clock that was set back must not make a lease longer than a new one.
        longest = now + int(self._config.token_days * _DAY_NS)
        if before is None or before.expires_ns != device.expires_ns:
            self._lives[device.device_id] = Lifetime.until(min(device.expires_ns, longest), self._clock)
        if before is None or before.previous_seal != device.previous_seal:
            grace = min(device.previous_until_ns, now + _GRACE_NS)
            self._graces[device.device_id] = Lifetime.until(grace, self._clock)
        self._by_id[device.device_id] = device
