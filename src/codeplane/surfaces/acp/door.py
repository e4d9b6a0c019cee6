"""Calls of operations on behalf of one ACP client."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from codeplane.kernel.actor import AskPerson, Caller
from codeplane.kernel.client_servers import ServerOffers
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.surfaces.json_rpc.socket import Connection

SURFACE = "acp"
_MAX_NAME = 80


class AcpDoor:
    """The door, as this client passes it."""

    def __init__(self, conveyor: Conveyor, connection: Connection, offers: ServerOffers) -> None:
        """`offers` holds the MCP servers that the client brings along."""
        self.offers = offers
        self._conveyor = conveyor
        self._connection = connection
        self.client: str | None = None
        self.connection_id = f"{SURFACE}:{connection.connection_id}"
        # What runs the threads that this client opens.
        agent = connection.query.get("agent")
        self.new_thread: JsonObject = {
            "toolset": connection.query.get("toolset") or "core",
            **({"agent": agent} if agent else {}),
        }

    def set_client(self, name: str) -> None:
        """Note the name that the client gives itself."""
        self.client = "".join(char if char.isprintable() else "?" for char in name[:_MAX_NAME]) or None

    async def call(
        self,
        operation: str,
        arguments: JsonObject,
        *,
        ask: AskPerson | None = None,
        wait_sec: float | None = None,
    ) -> JsonObject:
        """Return the result of an operation; raise its error. `wait_sec` is how long it waits for a person."""
        return (await self._outcome(operation, arguments, ask, wait_sec)).model_dump(mode="json")

    async def text(self, operation: str, arguments: JsonObject, *, wait_sec: float | None = None) -> str:
        """Return the result of an operation in words; `wait_sec` is how long it waits for a person."""
        return (await self._outcome(operation, arguments, None, wait_sec)).text()

    async def stream(self, operation: str, arguments: JsonObject) -> AsyncGenerator[Result, None]:
        """Yield the items of a stream; raise the error that it ends with."""
        items = self._conveyor.stream(operation, arguments, self._caller(None))
        async with aclosing(cast(AsyncGenerator[Result | Outcome, None], items)) as source:
            async for item in source:
                if not isinstance(item, Outcome):
                    yield item
                elif item.error is not None:
                    raise item.error

    async def _outcome(
        self, operation: str, arguments: JsonObject, ask: AskPerson | None, wait_sec: float | None = None
    ) -> Result:
        outcome = await self._conveyor.call(operation, arguments, self._caller(ask, wait_sec))
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        return outcome.result

    def _caller(self, ask: AskPerson | None, wait_sec: float | None = None) -> Caller:
        return Caller(
            surface=SURFACE,
            connection_id=self.connection_id,
            client=self.client,
            token=self._connection.token,
            client_secret=self._connection.client_secret,
            ask=ask,
            wait_sec=wait_sec,
        )
