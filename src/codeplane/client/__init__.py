"""A client for Python programs; needs only the standard library and the table of errors."""

from codeplane.client.client import Client
from codeplane.client.records import Approval, Device, Gap, Heartbeat, Item, LogEvent, PairedDevice, PairingCode, Token

__all__ = [
    "Approval",
    "Client",
    "Device",
    "Gap",
    "Heartbeat",
    "Item",
    "LogEvent",
    "PairedDevice",
    "PairingCode",
    "Token",
]
