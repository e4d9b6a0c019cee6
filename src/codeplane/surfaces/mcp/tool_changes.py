"""`notifications/tools/list_changed`: clients hear when operations come and go."""

import asyncio
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codeplane.kernel.catalogue import Catalogue, CatalogueChange
from codeplane.surfaces.mcp.tasks import declares_tasks, missing_extension

# A client that does not read must not hold up the others.
_SEND_SEC = 5.0


class ToolChanges:
    """Notifies the sessions of the older protocol, and the listening streams of the newer one."""

    def __init__(self, catalogue: Catalogue, *, max_streams: int) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listen = ToolListener(self._bus, max_subscriptions=max_streams)
        self._connections: WeakSet[Connection] = WeakSet()
        self._sending: set[asyncio.Task[None]] = set()
        self._end = catalogue.listen(self._on_change)

    async def note_connection(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Remember the connection of a client that is notified, around the handler of every message."""
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            # The SDK's sessions live for one request, and it gives their connection no public name.
            self._connections.add(ctx.session._connection)
        return await call_next(ctx)

    def close(self) -> None:
        """Notify nobody any more, and end the listening streams."""
        self._end()
        self.listen.close()
        for task in self._sending:
            task.cancel()

    def _on_change(self, change: CatalogueChange) -> None:
        task = asyncio.ensure_future(self._notify(tuple(self._connections)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _notify(self, connections: tuple[Connection, ...]) -> None:
        await self._bus.publish(ToolsListChanged())
        await asyncio.gather(*map(_notify_connection, connections), return_exceptions=True)


async def _notify_connection(connection: Connection) -> None:
    async with asyncio.timeout(_SEND_SEC):
        await connection.send_tool_list_changed()


class ToolListener(ListenHandler):
    """Serves `subscriptions/listen` for changes of the tools, the only ones that are notified."""

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Acknowledge what is delivered, and nothing else; tasks are asked about, and only by who declares them."""
        asked = (ctx.params or {}).get("notifications")
        if isinstance(asked, Mapping) and asked.get("taskIds") and not declares_tasks(ctx):
            raise missing_extension()
        wanted = types.SubscriptionFilter(tools_list_changed=params.notifications.tools_list_changed)
        return await super().__call__(ctx, params.model_copy(update={"notifications": wanted}))
