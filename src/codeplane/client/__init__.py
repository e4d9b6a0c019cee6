"""A client for Python programs; needs only the standard library and the table of errors.

The one for asyncio is `codeplane.client.async_client.AsyncClient`, apart so that others need not import asyncio.
"""

from codeplane.client.client import Client
from codeplane.client.jobs import Job, JobCalls, JobDiff
from codeplane.client.records import Approval, Device, Gap, Heartbeat, Item, LogEvent, PairedDevice, PairingCode, Token
from codeplane.client.schedules import Schedule, ScheduleCalls, ScheduleRun, Wakeup
from codeplane.client.thread_stream import Reconnection, ThreadStream
from codeplane.client.threads import Thread, ThreadEvent, ThreadMessage, ThreadSnapshot, TurnBudget, TurnResult

__all__ = [
    "Approval",
    "Client",
    "Device",
    "Gap",
    "Heartbeat",
    "Item",
    "Job",
    "JobCalls",
    "JobDiff",
    "LogEvent",
    "PairedDevice",
    "PairingCode",
    "Reconnection",
    "Schedule",
    "ScheduleCalls",
    "ScheduleRun",
    "Thread",
    "ThreadEvent",
    "ThreadMessage",
    "ThreadSnapshot",
    "ThreadStream",
    "Token",
    "TurnBudget",
    "TurnResult",
    "Wakeup",
]
