"""The operations on outside tools, for people alone: what agents are offered are the tools themselves."""

from collections.abc import Awaitable, Callable

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.operation import Request, Risk, operation
from codeplane.work.tools.declaration import ServedTool
from codeplane.work.tools.models import (
    ServerList,
    ServerRequest,
    ServerView,
    ToolView,
    TrustRequest,
    TrustResult,
)
from codeplane.work.tools.registry import Served, ToolRegistry
from codeplane.work.tools.risk import RISKS, hinted_risk
from codeplane.work.tools.trust_table import STREAM, TOOL_DISTRUSTED, TOOL_TRUSTED


class ToolOperations:
    """Lists, tests and trusts the servers of outside tools."""

    def __init__(self, registry: ToolRegistry, *, reload: Callable[[], Awaitable[None]]) -> None:
        """`reload` reads the settings again and runs the servers that they name."""
        self._registry = registry
        self._reload = reload

    @operation("tools.list", risk=Risk.READ, people=True)
    async def list(self, call: Call, request: Request) -> ServerList:
        """The servers of outside tools, their state, their tools with risk and identity, and their last errors."""
        return ServerList(servers=tuple(self._view(served) for served in self._registry))

    @operation("tools.test", risk=Risk.WRITE, people=True, timeout_sec=0)
    async def test(self, call: Call, request: ServerRequest) -> ServerView:
        """Connect a server again and list its tools; the error that it fails with, if it does."""
        served = self._registry.get(request.server)
        if not self._registry.is_started:
            raise InvalidArgument("servers of tools run only with the server", hint="cpl up, then again")
        if served.spec.settings.disabled:
            raise InvalidArgument(f"{request.server} is disabled", hint="change it in the settings, then: cpl tools")
        await served.server.reconnect()
        return self._view(served)

    @operation("tools.trust", risk=Risk.WRITE, people=True)
    async def trust(self, call: Call, request: TrustRequest) -> TrustResult:
        """Trust tools as they are now: they run with the risk that their server states, or with the one given."""
        served = self._registry.get(request.server)
        chosen = _choose(served, request.tools)
        confined = served.spec.connector.is_confined
        await call.record(
            [
                (
                    STREAM,
                    TOOL_TRUSTED,
                    {
                        "server": served.spec.trust_name,
                        "tool": found.tool.name,
                        "fingerprint": found.tool.fingerprint,
                        "risk": (
                            RISKS[request.risk]
                            if request.risk is not None
                            else hinted_risk(found.tool, is_confined=confined)
                        ).name,
                    },
                )
                for found in chosen
            ]
        )
        return self._result(request.server, chosen)

    @operation("tools.distrust", risk=Risk.WRITE, people=True)
    async def distrust(self, call: Call, request: TrustRequest) -> TrustResult:
        """Trust tools no longer: calls of them ask again."""
        served = self._registry.get(request.server)
        chosen = _choose(served, request.tools)
        await call.record(
            [(STREAM, TOOL_DISTRUSTED, {"server": served.spec.trust_name, "tool": found.tool.name}) for found in chosen]
        )
        return self._result(request.server, chosen)

    @operation("tools.reload", risk=Risk.WRITE, people=True)
    async def reload(self, call: Call, request: Request) -> ServerList:
        """Read the settings of outside tools again, and start and end servers accordingly."""
        await self._reload()
        return ServerList(servers=tuple(self._view(served) for served in self._registry))

    def _view(self, served: Served) -> ServerView:
        return ServerView.of(served, is_started=self._registry.is_started)

    def _result(self, server: str, chosen: tuple[ServedTool, ...]) -> TrustResult:
        names = {found.tool.name for found in chosen}
        now = self._registry.get(server).tools
        return TrustResult(server=server, tools=tuple(ToolView.of(found) for found in now if found.tool.name in names))


def _choose(served: Served, names: tuple[str, ...]) -> tuple[ServedTool, ...]:
    """The tools of those names, or all; NotFound for a name that the server does not have now."""
    known = {found.tool.name: found for found in served.tools}
    if not known:
        raise NotFound(f"{served.spec.name} has no tools now", hint=f"cpl tools test {served.spec.name}")
    if unknown := [name for name in names if name not in known]:
        raise NotFound(f"{served.spec.name} has no tool {unknown[0][:100]!r}", hint=f"it has {', '.join(known)}"[:500])
    return tuple(known[name] for name in names or known)
