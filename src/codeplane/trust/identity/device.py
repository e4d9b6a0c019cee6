"""A paired device, and the table of devices."""

from dataclasses import dataclass, replace
from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import Tables
from codeplane.ledger.rows import Cell

PAIRED, ROTATED, RENEWED, REVOKED = "device.paired", "device.rotated", "device.renewed", "device.revoked"


def device_stream(device_id: str) -> str:
    """The event stream of one device."""
    return f"device/{device_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A paired device, with the seals of its tokens."""

    device_id: str
    name: str
    public_key: str
    token_seal: str
    created_ns: int
    expires_ns: int
    renew_after_ns: int
    previous_seal: str | None = None
    previous_until_ns: int = 0
    revoked_ns: int | None = None


class DeviceTable:
    """Devices with the seals of their tokens."""

    name: ClassVar[str] = "devices"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("devices",)
    types: ClassVar[frozenset[str]] = frozenset({PAIRED, ROTATED, RENEWED, REVOKED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE devices(
            device_id TEXT PRIMARY KEY, name TEXT, public_key TEXT, token_seal TEXT, created_ns INTEGER,
            expires_ns INTEGER, renew_after_ns INTEGER, previous_seal TEXT, previous_until_ns INTEGER,
            revoked_ns INTEGER)""",
    )
    SELECT: ClassVar[str] = """SELECT device_id, name, public_key, token_seal, created_ns, expires_ns, renew_after_ns,
        previous_seal, previous_until_ns, revoked_ns FROM devices ORDER BY created_ns, device_id"""

    def apply(self, tables: Tables, event: Event) -> None:
        fact = event.payload
        device_id = _cell(fact["device_id"])
        if event.type == PAIRED:
            tables.execute(
                "INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0, NULL)",
                (
                    device_id,
                    *(
                        _cell(fact[name])
                        for name in ("name", "public_key", "token_seal", "at_ns", "expires_ns", "renew_after_ns")
                    ),
                ),
            )
        elif event.type == ROTATED:
            tables.execute(
                """UPDATE devices SET previous_seal = ?, previous_until_ns = ?, token_seal = ?, expires_ns = ?,
                   renew_after_ns = ? WHERE device_id = ?""",
                (
                    *(
                        _cell(fact[name])
                        for name in ("previous_seal", "previous_until_ns", "token_seal", "expires_ns", "renew_after_ns")
                    ),
                    device_id,
                ),
            )
        elif event.type == RENEWED:
            tables.execute(
                "UPDATE devices SET previous_seal = NULL WHERE device_id = ? AND token_seal = ?",
                (device_id, _cell(fact["token_seal"])),
            )
        else:
            tables.execute(
                "UPDATE devices SET revoked_ns = ? WHERE device_id = ? AND revoked_ns IS NULL",
                (_cell(fact["at_ns"]), device_id),
            )

    @staticmethod
    def from_fact(fact: JsonObject) -> Device:
        """The device that `device.paired` is about."""
        return Device(
            device_id=str(fact["device_id"]),
            name=str(fact["name"]),
            public_key=str(fact["public_key"]),
            token_seal=str(fact["token_seal"]),
            created_ns=_number(fact, "at_ns"),
            expires_ns=_number(fact, "expires_ns"),
            renew_after_ns=_number(fact, "renew_after_ns"),
        )

    @staticmethod
    def apply_change(device: Device, event: Event) -> Device:
        """The device after an event that changes it, as `apply` changes its row."""
        fact = event.payload
        if event.type == ROTATED:
            previous = fact["previous_seal"]
            return replace(
                device,
                previous_seal=None if previous is None else str(previous),
                previous_until_ns=_number(fact, "previous_until_ns"),
                token_seal=str(fact["token_seal"]),
                expires_ns=_number(fact, "expires_ns"),
                renew_after_ns=_number(fact, "renew_after_ns"),
            )
        if event.type == RENEWED:
            return replace(device, previous_seal=None) if device.token_seal == fact["token_seal"] else device
        return device if device.revoked_ns is not None else replace(device, revoked_ns=_number(fact, "at_ns"))

    @staticmethod
    def from_row(row: tuple[Cell, ...]) -> Device:
        """The device in a row of `SELECT`."""
        device_id, name, public_key, seal, created, expires, renew, previous, until, revoked = row
        return Device(
            device_id=str(device_id),
            name=str(name),
            public_key=str(public_key),
            token_seal=str(seal),
            created_ns=int(str(created)),
            expires_ns=int(str(expires)),
            renew_after_ns=int(str(renew)),
            previous_seal=None if previous is None else str(previous),
            previous_until_ns=int(str(until)),
            revoked_ns=None if revoked is None else int(str(revoked)),
        )


def _number(fact: JsonObject, name: str) -> int:
    value = fact[name]
    assert isinstance(value, int)
    return value


def _cell(value: JsonValue) -> Cell:
    assert value is None or isinstance(value, (str, int))
    return value
