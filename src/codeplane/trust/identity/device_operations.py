"""The operations on pairing codes and devices."""

from secrets import token_hex
from typing import ClassVar

from pydantic import Field, field_validator

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import InvalidArgument, PolicyDenied, Unauthorized
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.plural import ARE, plural
from codeplane.trust.identity.device import Device, device_stream
from codeplane.trust.identity.devices import Devices, Lease
from codeplane.trust.identity.identities import PAIRING
from codeplane.trust.identity.pairing import Pairing
from codeplane.trust.identity.revocation import RevokeRights, describe_revoked
from codeplane.trust.people import is_person, require_person

_MAX_LISTED = 1000


class NoRequest(Request):
    """No arguments."""


class PairingCode(Result):
    """A code for one device, shown once."""

    secret: ClassVar[bool] = True

    code: str
    expires_at: str
    salt: str = Field(description="random, so that nobody finds the code from the hash of this answer in the log")

    def text(self) -> str:
        return f"pairing code {self.code}, good once until {self.expires_at[:19]}Z"


class BindRequest(Request):
    """A device that shows a code."""

    code: str = Field(min_length=1, max_length=64, description="the pairing code, with or without its dash")
    device_name: str = Field(min_length=1, max_length=80, description="what the device is called in lists")
    public_key: str = Field("", max_length=2000, description="kept beside the device")

    @field_validator("device_name", "public_key")
    @classmethod
    def _check_plain(cls, value: str) -> str:
        if not all(char.isprintable() or char == "\n" for char in value) or value != value.strip():
            raise ValueError("must be printable, without surrounding white space")
        return value


class DeviceToken(Result):
    """A device's token, shown once; renewed with device.rotate after `renew_after`."""

    secret: ClassVar[bool] = True

    device_id: str
    token: str
    expires_at: str
    renew_after: str

    def text(self) -> str:
        until, renew = self.expires_at[:19], self.renew_after[:19]
        return f"device {self.device_id}, token {self.token}, until {until}Z, renew it after {renew}Z"


class DeviceView(Result):
    """One device in a list."""

    device_id: str
    name: str
    is_current: bool
    created_at: str
    expires_at: str
    renew_after: str
    revoked_at: str | None = None
    state: str = Field(description="live, revoked or expired")

    def line(self) -> str:
        """The device in one line."""
        when = f"{(self.revoked_at or self.expires_at)[:19]}Z"
        when = f"until {when}" if self.state == "live" else when
        mark = " (this one)" if self.is_current else ""
        return f"{self.device_id} {self.state} {when}  {self.name}{mark}"


class DeviceList(Result):
    """The devices, those that can call first."""

    items: tuple[DeviceView, ...]
    left_out: int = 0

    def text(self) -> str:
        lines = [item.line() for item in self.items]
        if self.left_out:
            lines.append(f"{plural(self.left_out, 'older one', verbs=ARE)} left out")
        return "\n".join(lines) or "no devices are paired"


class DeviceListRequest(Request):
    """Which devices to list."""

    include_ended: bool = Field(True, description="also those that were revoked or not renewed")


class RevokeDeviceRequest(Request):
    """The device to revoke, and why."""

    device_id: str = Field(min_length=1, max_length=100, description="its id, or a beginning or end that only it has")
    reason: str = Field("", max_length=500)


class RevokedDevice(Result):
    """The revoked device."""

    device_id: str
    name: str
    revoked_at: str
    grants_ended: int = 0
    questions_rejected: int = 0
    answers_forgotten: int = 0

    def text(self) -> str:
        rights = describe_revoked(self.grants_ended, self.questions_rejected, self.answers_forgotten)
        return f"device {self.device_id} ({self.name}) is revoked{rights}"


class DeviceOperations:
    """Pairs, lists and revokes devices, and renews their tokens."""

    def __init__(self, *, pairing: Pairing, devices: Devices, revoke_rights: RevokeRights) -> None:
        """`revoke_rights` ends the rights that outlive a device's token."""
        self._pairing = pairing
        self._devices = devices
        self._revoke_rights = revoke_rights

    @operation("pairing.create", risk=Risk.WRITE, people=True)
    async def create(self, call: Call, request: NoRequest) -> PairingCode:
        """Make a code with which one new device can be paired; for a person, good once and for minutes."""
        require_person(call.actor)
        refuse_idempotency_key(call)
        self._devices.check_room()
        code, slot = self._pairing.open()
        expires_ns = slot.life.expires_ns
        await call.record(
            [
                (
                    device_stream(slot.device_id),
                    "pairing.created",
                    {"device_id": slot.device_id, "expires_ns": expires_ns},
                )
            ]
        )
        return PairingCode(code=code, expires_at=rfc3339(expires_ns), salt=token_hex(16))

    @operation("pairing.bind", risk=Risk.WRITE)
    async def bind(self, call: Call, request: BindRequest) -> DeviceToken:
        """Exchange a pairing code for a device's token; needs no token. The code is used up by it."""
        if call.actor != PAIRING and not is_person(call.actor):
            raise PolicyDenied(f"{call.actor} cannot become a device", hint="pair devices from the device itself")
        refuse_idempotency_key(call)
        slot = self._pairing.take(request.code)
        lease = await self._devices.pair(
            call.record, self._pairing, slot, name=request.device_name, public_key=request.public_key
        )
        return _token_result(lease)

    @operation("device.rotate", risk=Risk.WRITE)
    async def rotate(self, call: Call, request: NoRequest) -> DeviceToken:
        """Give the calling device a new token with a full lease; the old one ends when the new one is used."""
        if call.actor.kind is not ActorKind.DEVICE:
            raise PolicyDenied(f"{call.actor} is not a device, and only a device renews its own token")
        refuse_idempotency_key(call)
        if call.caller.token is None:
            raise Unauthorized("a device renews its token by showing it")
        return _token_result(await self._devices.rotate(call.record, call.caller.token))

    @operation("device.list", risk=Risk.READ)
    async def list(self, call: Call, request: DeviceListRequest) -> DeviceList:
        """Devices that were paired, newest first, those that can call before those that ended."""
        views = [self._view(device, call.actor) for device in reversed(tuple(self._devices))]
        live = [view for view in views if view.state == "live"]
        ended = [view for view in views if view.state != "live"] if request.include_ended else []
        items = live + ended
        return DeviceList(items=tuple(items[:_MAX_LISTED]), left_out=max(len(items) - _MAX_LISTED, 0))

    @operation("device.revoke", risk=Risk.WRITE, people=True)
    async def revoke(self, call: Call, request: RevokeDeviceRequest) -> RevokedDevice:
        """End a device: its token is refused from now on and its streams end; for a person."""
        require_person(call.actor)
        device = await self._devices.revoke(call.record, request.device_id, reason=request.reason)
        assert device.revoked_ns is not None
        rights = await self._revoke_rights(call, device.device_id, everything=True)
        return RevokedDevice(
            device_id=device.device_id,
            name=device.name,
            revoked_at=rfc3339(device.revoked_ns),
            grants_ended=rights.grants,
            questions_rejected=rights.questions,
            answers_forgotten=rights.answers,
        )

    def _view(self, device: Device, actor: Actor) -> DeviceView:
        live = self._devices.is_live(device)
        return DeviceView(
            device_id=device.device_id,
            name=device.name,
            is_current=actor.kind is ActorKind.DEVICE and actor.actor_id == device.device_id,
            created_at=rfc3339(device.created_ns),
            expires_at=rfc3339(device.expires_ns),
            renew_after=rfc3339(device.renew_after_ns),
            revoked_at=None if device.revoked_ns is None else rfc3339(device.revoked_ns),
            state="live" if live else "expired" if device.revoked_ns is None else "revoked",
        )


def refuse_idempotency_key(call: Call) -> None:
    """Refuse an idempotency key for an operation that answers with a secret, which would have to be stored."""
    if call.idempotency_key is not None and call.action_id is None:
        raise InvalidArgument(
            f"{call.operation.name} answers with a secret that is shown once and not kept",
            hint="call it without idempotency_key",
        )


def _token_result(lease: Lease) -> DeviceToken:
    return DeviceToken(
        device_id=lease.device_id,
        token=lease.token,
        expires_at=rfc3339(lease.expires_ns),
        renew_after=rfc3339(lease.renew_after_ns),
    )
