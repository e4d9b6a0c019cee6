"""Brings notifications to a person who is not looking: by a command of theirs, or to an address of theirs."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.errors import ShuttingDown
from codeplane.kernel.event import Draft, Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.notification_channel import DeliveryFailed, NotificationChannel
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.trust.notifications.table import KINDS, STREAM, is_notification, notification_id

WEBHOOK_ALLOWED, DELIVERY_FAILED = "notification.webhook_allowed", "notification.delivery_failed"
_TRIES, _PAUSE_SEC = 3, 1.0
_SUMMARY = 300
_MINUTE_NS = 60 * SECOND_NS


class NotificationDelivery:
    """Follows the log and hands each notification to every channel, at most once."""

    def __init__(
        self,
        *,
        log: Ledger,
        clock: Clock,
        channels: Sequence[NotificationChannel],
        repository: str,
        per_minute: int,
        redactor: Redactor,
        on_problem: Callable[[str], None],
    ) -> None:
        """More than `per_minute` notifications are not sent, so that a loop of programs ends here.

        `redactor` is for what leaves this machine: a summary may quote what a person or a model wrote.
        """
        self._log = log
        self._clock = clock
        self._channels = tuple(channels)
        self._repository = repository
        self._per_minute = per_minute
        self._redactor = redactor
        self._on_problem = on_problem
        self._sent: deque[int] = deque()
        self._following: asyncio.Task[None] | None = None

    @property
    def channels(self) -> tuple[NotificationChannel, ...]:
        """The ways to reach a person."""
        return self._channels

    def start(self) -> None:
        """Deliver what comes from now on; only a server does."""
        if self._channels:
            self._following = asyncio.ensure_future(self._follow())

    async def stop(self) -> None:
        """Deliver nothing any more."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})

    async def allow(self, channel: NotificationChannel, *, by: str) -> None:
        """Record that a person wants notifications to go to the channel's address."""
        payload: JsonObject = {"channel": channel.name, "address_hash": digest(channel.address.encode())}
        await self._log.append([Draft(stream=STREAM, type=WEBHOOK_ALLOWED, payload=payload, actor=by)])

    async def is_allowed(self, channel: NotificationChannel) -> bool:
        """Whether a channel may be used: it stays on this machine, or its present address was allowed."""
        if not channel.address:
            return True
        allowed = await self._log.query(EventQuery(stream=STREAM, types=(WEBHOOK_ALLOWED,), newest=True, limit=20))
        return any(event.payload.get("address_hash") == digest(channel.address.encode()) for event in allowed)

    async def send(self, notice: JsonObject, channel: NotificationChannel) -> str:
        """Bring one notification by one channel; returns why it did not arrive, or an empty text."""
        for attempt in range(1, _TRIES + 1):
            try:
                await channel.send(notice)
                return ""
            except DeliveryFailed as error:
                if not error.may_repeat or attempt == _TRIES:
                    return str(error)
                await asyncio.sleep(_PAUSE_SEC * attempt)
        raise AssertionError("every try ends above")

    async def _follow(self) -> None:
        newest = await self._log.query(EventQuery(newest=True, limit=1))
        after = newest[-1].position if newest else 0
        try:
            async for item in self._log.follow(EventQuery(after=after, types=tuple(KINDS))):
                if isinstance(item, Event) and is_notification(item):
                    await self._deliver(item)
        except ShuttingDown:
            return

    async def _deliver(self, event: Event) -> None:
        if not self._has_room():
            self._on_problem(f"over {self._per_minute} notifications in a minute: {event.type} is not delivered")
            return
        for channel in self._channels:
            if not await self.is_allowed(channel):
                continue
            if problem := await self.send(self._notice(event), channel):
                self._on_problem(f"{channel.name}: {problem}")
                failed: JsonObject = {"channel": channel.name, "notification_id": notification_id(event)}
                draft = Draft(stream=STREAM, type=DELIVERY_FAILED, payload={**failed, "reason": problem[:_SUMMARY]})
                await self._log.append([draft])

    def _has_room(self) -> bool:
        now_ns = self._clock.monotonic_ns()
        while self._sent and self._sent[0] <= now_ns - _MINUTE_NS:
            self._sent.popleft()
        if len(self._sent) >= self._per_minute:
            return False
        self._sent.append(now_ns)
        return True

    def _notice(self, event: Event) -> JsonObject:
        kind, resource_kind, field = KINDS[event.type]
        resource = event.payload.get(field) or event.correlation.to_wire().get(field)
        return {
            "notification_id": notification_id(event),
            "type": kind,
            "summary": self._redactor.text(str(event.payload.get("summary") or ""))[:_SUMMARY],
            "resource_kind": resource_kind,
            "resource_id": None if resource is None else str(resource),
            "created_at": rfc3339(event.at_ns),
            "repository": self._repository,
        }
