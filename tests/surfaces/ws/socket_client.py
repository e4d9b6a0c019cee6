"""The two ends of a WebSocket in one process: the application as a server would call it, and who talks to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.types import Message

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.ws.events import EventSocket
from codeplane.wiring.app import Plane
from tests.kernel.plane import plane

_PATIENCE_SEC = 30.0


@dataclass
class SocketClient:
    """One connection, as its reader sees it."""

    to_server: "asyncio.Queue[Message]" = field(default_factory=asyncio.Queue)
    to_reader: "asyncio.Queue[Message]" = field(default_factory=asyncio.Queue)
    taking: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, message: Message) -> None:
        """What the server sends; it waits while the reader takes nothing."""
        await self.taking.wait()
        self.to_reader.put_nowait(message)

    def say(self, words: object) -> None:
        """Send one message."""
        text = words if isinstance(words, str) else json.dumps(words)
        self.to_server.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        """Go away."""
        self.to_server.put_nowait({"type": "websocket.disconnect", "code": 1001})

    async def hear(self) -> JsonObject:
        """The next message."""
        message = await self._next()
        assert message["type"] == "websocket.send", message
        heard: JsonObject = json.loads(message["text"])
        return heard

    async def hear_news(self) -> JsonObject:
        """The next message that is no heartbeat."""
        while (heard := await self.hear())["type"] == "heartbeat":
            pass
        return heard

    async def hear_event(self, kind: str) -> JsonObject:
        """The next event of a type; others are passed over."""
        while True:
            heard = await self.hear()
            event = heard.get("event")
            if isinstance(event, dict) and event["type"] == kind:
                return event

    async def closed(self) -> tuple[int, str]:
        """How the server closed it; messages before that are passed over."""
        while (message := await self._next())["type"] != "websocket.close":
            pass
        return message["code"], message.get("reason", "")

    async def _next(self) -> Message:
        while True:
            message = await asyncio.wait_for(self.to_reader.get(), _PATIENCE_SEC)
            if message["type"] != "websocket.accept":
                return message


@dataclass(frozen=True, kw_only=True)
class EventServer:
    """A CodePlane in this process with its event socket."""

    plane: Plane
    stopping: asyncio.Event
    hello_sec: float
    take_sec: float

    async def call(self, operation: str, **arguments: object) -> JsonObject:
        """A call by the owner."""
        outcome = await self.plane.conveyor.call(operation, arguments, Caller(surface="embedded", client="test"))  # type: ignore[arg-type]  # plain JSON
        assert outcome.error is None, outcome.error
        found: JsonObject = json.loads(outcome.result_json)
        return found

    async def mark(self, name: str) -> None:
        """Something that happens."""
        await self.call("session.create", description=name)

    @asynccontextmanager
    async def talking(
        self, query: str = "", *, headers: Sequence[tuple[bytes, bytes]] = ()
    ) -> AsyncIterator[SocketClient]:
        """A connection for as long as the block runs."""
        talk = SocketClient()
        talk.taking.set()
        app = Starlette(
            routes=EventSocket(
                conveyor=self.plane.conveyor,
                stopping=self.stopping,
                hello_sec=self.hello_sec,
                take_sec=self.take_sec,
            ).routes()
        )
        scope = {
            "type": "websocket",
            "path": "/ws/events",
            "query_string": query.encode(),
            "headers": list(headers),
            "subprotocols": [],
        }
        talk.to_server.put_nowait({"type": "websocket.connect"})
        serving = asyncio.ensure_future(app(scope, talk.to_server.get, talk.take))
        serving.add_done_callback(lambda _: talk.ended.set())
        try:
            yield talk
        finally:
            talk.leave()
            await asyncio.wait_for(serving, _PATIENCE_SEC)

    @property
    def owner(self) -> list[tuple[bytes, bytes]]:
        """The owner's header."""
        return [(b"authorization", f"Bearer {self.plane.token}".encode())]


@asynccontextmanager
async def open_here(root: Path, *, hello_sec: float = 30.0, take_sec: float = 30.0) -> AsyncIterator[EventServer]:
    """A CodePlane of the test's own."""
    async with plane(root.resolve()) as opened:
        yield EventServer(plane=opened, stopping=asyncio.Event(), hello_sec=hello_sec, take_sec=take_sec)
