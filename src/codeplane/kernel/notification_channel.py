"""Ways to bring a notification to a person who is not looking."""

from typing import Protocol

from codeplane.kernel.json import JsonObject


class DeliveryFailed(Exception):
    """A channel could not bring a notification; `may_repeat` when it may later."""

    def __init__(self, message: str, *, may_repeat: bool) -> None:
        super().__init__(message)
        self.may_repeat = may_repeat


class NotificationChannel(Protocol):
    """A way to reach a person."""

    @property
    def name(self) -> str:
        """Its name in records."""
        ...

    @property
    def address(self) -> str:
        """Its address on another machine, which a person allows once; empty for a local channel."""
        ...

    async def send(self, notice: JsonObject) -> None:
        """Bring a notification; DeliveryFailed when that did not work."""
        ...
