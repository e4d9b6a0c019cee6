"""A limit on the size of a request's body."""

from starlette.types import Message, Receive

from codeplane.kernel.errors import TooLarge


class LimitedBody:
    """Counts the received bytes and raises TooLarge beyond the limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        self.refused = False

    def check_length(self, length: bytes) -> None:
        """Raise TooLarge if the announced length is over the limit."""
        if length.isdigit() and int(length) > self._limit:
            self._refuse()

    async def receive(self) -> Message:
        """Receive the next message, in place of the server's `receive`."""
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
