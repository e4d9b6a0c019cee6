"""A client for Python programs; needs only the standard library and the table of errors.

The one for asyncio is `codeplane.client.async_client.AsyncClient`, apart so that others need not import asyncio.
"""

from codeplane.client.bonjour import AnnouncedServer, find_announced
from codeplane.client.client import Client
from codeplane.client.explorations import ExploreCalls, ExploreEvent, ExploreStream
from codeplane.client.jobs import Job, JobCalls, JobDiff
from codeplane.client.log_stream import LogStream
from codeplane.client.records import Approval, Device, Gap, Heartbeat, Item, LogEvent, PairedDevice, PairingCode, Token
from codeplane.client.resuming_stream import Reconnection
from codeplane.client.schedules import Schedule, ScheduleCalls, ScheduleRun, Wakeup
from codeplane.client.search_stream import SearchHit, SearchPage, SearchStream
from codeplane.client.thread_stream import ThreadStream
from codeplane.client.threads import Thread, ThreadEvent, ThreadMessage, ThreadSnapshot, TurnBudget, TurnResult

__all__ = [
    "AnnouncedServer",
    "Approval",
    "Client",
    "Device",
    "ExploreCalls",
    "ExploreEvent",
    "ExploreStream",
    "Gap",
    "Heartbeat",
    "Item",
    "Job",
    "JobCalls",
    "JobDiff",
    "LogEvent",
    "LogStream",
    "PairedDevice",
    "PairingCode",
    "Reconnection",
    "Schedule",
    "ScheduleCalls",
    "ScheduleRun",
    "SearchHit",
    "SearchPage",
    "SearchStream",
    "Thread",
    "ThreadEvent",
    "ThreadMessage",
    "ThreadSnapshot",
    "ThreadStream",
    "Token",
    "TurnBudget",
    "TurnResult",
    "Wakeup",
    "find_announced",
]
