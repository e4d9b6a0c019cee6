"""A client for programs in Python: the standard library and the table of errors, nothing slow to import."""

from codeplane.client.client import Client
from codeplane.client.records import Approval, Bound, Device, Gap, Happened, Heartbeat, Item, PairingCode, Token

__all__ = [
    "Approval",
    "Bound",
    "Client",
    "Device",
    "Gap",
    "Happened",
    "Heartbeat",
    "Item",
    "PairingCode",
    "Token",
]
