"""All servers of outside tools, and their tools in the catalogue."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codeplane.kernel.call import Operation
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import ToolsConfig
from codeplane.kernel.errors import CodePlaneError, NotFound
from codeplane.kernel.external_tool import ExternalTool
from codeplane.work.tools.declaration import ServedTool, ServerSpec, declare_tool
from codeplane.work.tools.names import operation_names
from codeplane.work.tools.risk import judge_risk
from codeplane.work.tools.server import ToolServer
from codeplane.work.tools.trust import ToolTrust


@dataclass(slots=True)
class Served:
    """A server with what it serves."""

    spec: ServerSpec
    server: ToolServer
    announced: tuple[ExternalTool, ...] = ()
    tools: tuple[ServedTool, ...] = ()
    # What of it is in the catalogue, by name.
    operations: dict[str, ServedTool] = field(default_factory=dict)


class ToolRegistry:
    """Starts the servers that the settings name, and keeps the catalogue in step with their tools."""

    def __init__(self, *, catalogue: Catalogue, trust: ToolTrust, config: ToolsConfig, clock: Clock) -> None:
        self._catalogue = catalogue
        self._trust = trust
        self._config = config
        self._clock = clock
        self._served: dict[str, Served] = {}
        self._is_started = False
        trust.on_change = self._judge_again

    def __iter__(self) -> Iterator[Served]:
        return iter(sorted(self._served.values(), key=lambda served: served.spec.name))

    @property
    def is_started(self) -> bool:
        """Whether servers run here; an embedded run starts none."""
        return self._is_started

    def get(self, name: str) -> Served:
        """A server by its name."""
        if name not in self._served:
            known = ", ".join(sorted(self._served)) or "there are none; add one: cpl tools add"
            raise NotFound(f"there is no tool server {name!r}", hint=f"known: {known}")
        return self._served[name]

    async def replace(self, specs: Mapping[str, ServerSpec], *, config: ToolsConfig) -> None:
        """Run exactly these servers; those with unchanged settings keep running."""
        self._config = config
        for name in [*self._served]:
            known, wanted = self._served[name].spec, specs.get(name)
            if known.thread_id is not None:
                # A client's, which ends with its session.
                continue
            if wanted is None or _facts(wanted) != _facts(known):
                await self._remove(name)
        for name, spec in specs.items():
            if name not in self._served:
                self._add(spec)

    async def start(self) -> None:
        """Connect all of them, in the background."""
        self._is_started = True
        for served in self._served.values():
            self._start(served)

    async def stop(self) -> None:
        """End all of them."""
        self._is_started = False
        await asyncio.gather(*(served.server.stop() for served in self._served.values()))

    async def relist(self) -> None:
        """Look whether a server has other tools, which some change without saying so."""
        for served in self._served.values():
            served.server.tools_changed()

    def knows(self, name: str) -> bool:
        """Whether there is a server of that name."""
        return name in self._served

    async def add(self, spec: ServerSpec) -> None:
        """Add a server and wait until its tools are known; the error when that fails, and it is tried again."""
        self._add(spec)
        await self._served[spec.name].server.reconnect()

    async def remove(self, name: str) -> None:
        """End a server, if it is there, and take its tools away."""
        if name in self._served:
            await self._remove(name)

    def _add(self, spec: ServerSpec) -> None:
        server = ToolServer(spec.name, spec.connector, publish=self._publish, config=self._config, clock=self._clock)
        served = self._served[spec.name] = Served(spec=spec, server=server)
        if self._is_started:
            self._start(served)

    def _start(self, served: Served) -> None:
        if not served.spec.settings.disabled:
            served.server.start()

    async def _remove(self, name: str) -> None:
        served = self._served.pop(name)
        await served.server.stop()
        if served.operations:
            self._catalogue.change(remove=served.operations)

    def _judge_again(self, name: str) -> None:
        for served in [found for found in self._served.values() if found.spec.trust_name == name]:
            self._publish(served.server, served.announced)

    def _publish(self, server: ToolServer, tools: tuple[ExternalTool, ...]) -> None:
        """Put the tools of a server into the catalogue; those that are the same stay, with their running calls."""
        served = self._served.get(server.name)
        if served is None or served.server is not server:
            return
        served.announced = tools
        if len(tools) > self._config.max_tools:
            server.problem(f"it has more than {self._config.max_tools} tools: the others are left out")
        judged = self._judge(served, tools[: self._config.max_tools])
        added: list[Operation] = []
        kept: dict[str, ServedTool] = {}
        listed: list[ServedTool] = []
        for tool in judged:
            if served.operations.get(tool.operation) == tool:
                kept[tool.operation] = tool
                listed.append(tool)
                continue
            try:
                added.append(declare_tool(served.spec, server, tool))
                kept[tool.operation] = tool
                listed.append(tool)
            except CodePlaneError as error:
                listed.append(_refused(tool, error))
        new = {operation.name for operation in added}
        removed = [name for name in served.operations if name not in kept or name in new]
        try:
            if added or removed:
                self._catalogue.change(add=added, remove=removed)
            served.operations = kept
        except CodePlaneError as error:
            server.problem(error.message)
            listed = [_refused(tool, error) if tool.operation in new else tool for tool in listed]
        served.tools = tuple(listed)

    def _judge(self, served: Served, tools: tuple[ExternalTool, ...]) -> list[ServedTool]:
        spec = served.spec
        wanted = {tool.name: tool for tool in tools if not _is_disabled(spec, tool.name)}
        names = operation_names(spec.name, wanted)
        return [
            ServedTool(
                tool=tool,
                operation=names[name],
                judged=judge_risk(
                    tool, spec.settings, self._trust.get(spec.trust_name, name), is_confined=spec.connector.is_confined
                ),
                identity=spec.identity(name),
            )
            for name, tool in wanted.items()
        ]


def _refused(tool: ServedTool, error: CodePlaneError) -> ServedTool:
    return ServedTool(
        tool=tool.tool, operation=tool.operation, judged=tool.judged, identity=tool.identity, problem=error.message
    )


def _is_disabled(spec: ServerSpec, tool: str) -> bool:
    override = spec.settings.tools.get(tool)
    return override is not None and override.disabled


def _facts(spec: ServerSpec) -> tuple[object, ...]:
    """What a running server depends on."""
    return spec.kind, spec.settings, spec.capabilities, spec.address, spec.revision
