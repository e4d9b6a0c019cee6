"""A request's body, up to a limit."""

from starlette.types import Message, Receive

from codeplane.kernel.errors import TooLarge


class BoundedBody:
    """Counts what comes in and refuses to go on beyond the limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        self.refused = False

    def announced(self, length: bytes) -> None:
        """Refuse a body by the length it is said to have."""
        if length.isdigit() and int(length) > self._limit:
            self._refuse()

    async def receive(self) -> Message:
        """The next piece, in place of the server's own `receive`."""
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            self._refuse()
        return message

    def _refuse(self) -> None:
        self.refused = True
        raise TooLarge(
            f"the body is over {self._limit} bytes",
            details={"limit": self._limit, "setting": "server.max_body_bytes"},
        )
