"""The operations on how a person is reached: `notification.reach_out` and those on channels."""

import asyncio

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.errors import NotFound, RateLimited
from codeplane.kernel.event import ContentTrust, Draft, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.ports import Ledger
from codeplane.trust.notifications.delivery import NotificationDelivery
from codeplane.trust.notifications.table import REACHED_OUT, STREAM

_HOUR_NS = 3600 * SECOND_NS


class NoRequest(Request):
    """Nothing."""


class ReachOutRequest(Request):
    """A message that a person should get now."""

    text: str = Field(min_length=1, max_length=300, pattern=r"\S", description="one or two sentences")


class ReachedOut(Result):
    """How often that is still let through in this hour."""

    left: int

    def text(self) -> str:
        return f"queued; {self.left} more in this hour"


class AllowRequest(Request):
    """An address of the settings."""

    address: str = Field(min_length=1, max_length=2000, description="as notification_channels shows it")


class ChannelView(Result):
    """A way to reach you."""

    name: str
    address: str
    allowed: bool
    problem: str = ""

    def text(self) -> str:
        state = self.problem or ("ready" if self.allowed else "waits for: cpl notifications allow")
        return f"{self.name} {self.address}".rstrip() + f": {state}"


class ChannelList(Result):
    """The ways to reach you."""

    channels: tuple[ChannelView, ...]

    def text(self) -> str:
        return "\n".join(channel.text() for channel in self.channels) or (
            "none; set notifications.command or notifications.webhook in your own settings"
        )


class ChannelOperations:
    """Reaches out to a person, and says how they are reached."""

    def __init__(self, *, log: Ledger, clock: Clock, delivery: NotificationDelivery, reach_outs_per_hour: int) -> None:
        self._log = log
        self._clock = clock
        self._delivery = delivery
        self._reach_outs_per_hour = reach_outs_per_hour
        # Of several calls at once, each counts those before it.
        self._counting = asyncio.Lock()

    @operation("notification.reach_out", risk=Risk.WRITE)
    async def reach_out(self, call: Call, request: ReachOutRequest) -> ReachedOut:
        """Tell the person something that they should know now. Use it seldom: a few an hour are let through."""
        async with self._counting:
            return await self._reach_out(call, request)

    async def _reach_out(self, call: Call, request: ReachOutRequest) -> ReachedOut:
        since_ns = self._clock.now_ns() - _HOUR_NS
        ((cell,),) = await self._log.select(
            "SELECT count(*) FROM notifications WHERE resource_kind = 'thread' AND created_ns > ?", (since_ns,)
        )
        count = int(str(cell))
        if count >= self._reach_outs_per_hour:
            raise RateLimited(
                f"the person was reached out to {count} times in the last hour",
                hint="put it into your answer, or into an artifact; the owner raises notifications.reach_outs_per_hour",
                details={"retry_after_sec": 3600},
            )
        ids = call.correlation
        payload: JsonObject = {"summary": request.text, "thread_id": ids.thread_id, "by": str(call.actor)}
        draft = Draft(
            stream=STREAM,
            type=REACHED_OUT,
            payload=payload,
            actor=str(call.actor),
            source=Source.MODEL_UNTRUSTED,
            content_trust=ContentTrust.UNTRUSTED_MODEL,
            correlation=ids,
        )
        await self._log.append([draft])
        return ReachedOut(left=self._reach_outs_per_hour - count - 1)

    @operation("notification.channels", risk=Risk.READ, people=True)
    async def show_channels(self, call: Call, request: NoRequest) -> ChannelList:
        """How you are reached when you do not look, and whether each way may be used."""
        views = [
            ChannelView(name=channel.name, address=channel.address, allowed=await self._delivery.is_allowed(channel))
            for channel in self._delivery.channels
        ]
        return ChannelList(channels=tuple(views))

    @operation("notification.allow", risk=Risk.WRITE, people=True)
    async def allow(self, call: Call, request: AllowRequest) -> ChannelList:
        """Let notifications go to the address of your settings; another address asks again."""
        for channel in self._delivery.channels:
            if channel.address and channel.address == request.address:
                await self._delivery.allow(channel, by=str(call.actor))
                return await self.show_channels(call, NoRequest())
        raise NotFound(f"no channel sends to {request.address}", hint="set notifications.webhook in your own settings")

    @operation("notification.test", risk=Risk.WRITE, people=True)
    async def test(self, call: Call, request: NoRequest) -> ChannelList:
        """Send a notification by every channel that may be used, and say what became of it."""
        notice: JsonObject = {
            "notification_id": f"note_{call.call_id}",
            "type": "TEST",
            "summary": "this is how CodePlane reaches you",
            "resource_kind": "test",
            "resource_id": None,
            "created_at": rfc3339(self._clock.now_ns()),
            "repository": "test",
        }
        views = []
        for channel in self._delivery.channels:
            allowed = await self._delivery.is_allowed(channel)
            problem = await self._delivery.send(notice, channel) if allowed else "not allowed yet"
            views.append(ChannelView(name=channel.name, address=channel.address, allowed=allowed, problem=problem))
        return ChannelList(channels=tuple(views))
