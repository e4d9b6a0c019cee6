"""Outside tools: MCP servers and plugins that the settings name, started with the server."""

import asyncio
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from codeplane import __version__
from codeplane.adapters.line_process import ProgramStart
from codeplane.adapters.mcp_client import McpConnector
from codeplane.adapters.mcp_program import program_transport
from codeplane.adapters.plugin_process import PluginConnector
from codeplane.adapters.shell_sandbox import ShellSandbox, is_shown
from codeplane.adapters.tool_secrets import known_secrets
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.disk.program_path import path_outside
from codeplane.kernel.config import McpServerConfig, OutsideProgram, PluginConfig, ToolOverride
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.declared_operation import FAMILY
from codeplane.kernel.errors import ConfigInvalid, SandboxMissing, ToolServerUnavailable
from codeplane.kernel.external_tool import ExternalTool
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, dumps
from codeplane.testing.environment import clean_environment
from codeplane.testing.suite import CACHE
from codeplane.wiring.client_servers import ClientServerPlans
from codeplane.wiring.mcp_connection import http_connector, server_oauth
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep
from codeplane.wiring.trust import TrustWiring
from codeplane.work.tools.client_servers import ClientServers
from codeplane.work.tools.declaration import ServerSpec
from codeplane.work.tools.operations import ToolOperations
from codeplane.work.tools.plugin_host import PluginDoor
from codeplane.work.tools.registry import ToolRegistry
from codeplane.work.tools.trust import ToolTrust
from codeplane.work.tools.trust_table import ToolTrustTable

_RELIST_SEC = 60.0
_ALL = "all"


class ToolsWiring(PlaneWiring):
    """Builds a connector for each configured server; nothing starts before our server does."""

    tables = (ToolTrustTable,)

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation = self.foundation
        self._loaded: LoadedConfig = foundation.loaded
        self._trust = ToolTrust(foundation.log)
        self.registry = ToolRegistry(
            catalogue=foundation.catalogue,
            trust=self._trust,
            config=foundation.config.tools,
            clock=foundation.clock,
        )
        self._identities = house.plane(TrustWiring).identity.identities
        self._door: Conveyor | None = None
        workspace = foundation.workspace
        sandbox = self._sandbox = ShellSandbox(
            root=workspace.root,
            own=workspace.home,
            cache=workspace.home / "tests" / CACHE,
            home=Path.home(),
            environment=os.environ,
            secrets=foundation.secrets,
        )
        plans = ClientServerPlans(
            root=workspace.root,
            home=Path.home(),
            path=lambda: os.environ.get("PATH", ""),
            sandbox=sandbox,
            config=foundation.config.tools,
            # What a client writes stands for itself: no secret of the owner's is put into it.
            start=lambda server: self._program(server, str),
        )
        self.client_servers = ClientServers(
            self.registry,
            policy=foundation.config.tools.from_clients,
            secret=foundation.token.encode(),
            plan=plans.plan,
            learn=self._learn,
        )

    def part(self, conveyor: Conveyor) -> Part:
        self._door = conveyor
        return Part(
            operations=(ToolOperations(self.registry, reload=self._reload), self.client_servers),
            restore=self._restore,
            sweeps=(Sweep(run=self.registry.relist, every_sec=_RELIST_SEC, at_start=False),),
            stop=self.registry.stop,
        )

    async def start_servers(self) -> None:
        """Connect the servers; only our server does, since an embedded run is short."""
        await self.registry.start()

    async def _restore(self) -> JsonObject:
        await self._trust.restore()
        await self._run_servers(self._loaded)
        return {}

    async def _reload(self) -> None:
        """Read the settings again; everything but outside tools waits for a restart."""
        if self._loaded.reload is not None:
            loaded = await asyncio.to_thread(self._loaded.reload)
            self._learn(known_secrets(loaded.config, loaded.tool_secrets))
            await self._run_servers(loaded)

    async def _run_servers(self, loaded: LoadedConfig) -> None:
        plugins = loaded.config.tools.plugins
        self._identities.admit_plugins({name: plugin.capabilities for name, plugin in plugins.items()})
        await self.registry.replace(self._specs(loaded), config=loaded.config.tools)

    def _specs(self, loaded: LoadedConfig) -> Mapping[str, ServerSpec]:
        servers = {name: self._mcp_spec(name, server, loaded) for name, server in loaded.config.mcp.servers.items()}
        plugins = {
            name: self._plugin_spec(name, plugin, loaded) for name, plugin in loaded.config.tools.plugins.items()
        }
        if both := sorted(servers.keys() & plugins.keys()):
            raise ConfigInvalid(
                f"mcp.servers and tools.plugins both have {both[0]!r}", hint="call one of them something else"
            )
        return servers | plugins

    def _mcp_spec(self, name: str, server: McpServerConfig, loaded: LoadedConfig) -> ServerSpec:
        return ServerSpec(
            name=name,
            kind="mcp",
            connector=self._mcp_connector(name, server, loaded),
            settings=server,
            toolset=self._toolset(name),
            address=_address(server),
            is_sandboxed=server.sandbox == "required",
        )

    def _mcp_connector(self, name: str, server: McpServerConfig, loaded: LoadedConfig) -> McpConnector:
        if server.url:
            oauth = server_oauth(name, server, loaded, self._learn)
            return http_connector(server, loaded, oauth, version=__version__)
        config = loaded.config.tools
        return McpConnector(
            open=program_transport(
                lambda: self._program(server, loaded.tool_secrets.expand), max_line=config.message_kb * 1024
            ),
            config=config,
            version=__version__,
            is_confined=_is_confined(server),
        )

    def _plugin_spec(self, name: str, plugin: PluginConfig, loaded: LoadedConfig) -> ServerSpec:
        connector = PluginConnector(
            name=name,
            start=lambda: self._program(plugin, loaded.tool_secrets.expand),
            tools=tuple(
                ExternalTool(name=tool, description=declared.description, schema=dict(declared.schema_))
                for tool, declared in plugin.tools.items()
            ),
            host=PluginDoor(name, self._find_door, events=plugin.events),
            config=loaded.config.tools,
            is_confined=_is_confined(plugin),
        )
        # What the settings declare counts like what they say of the tools of a server.
        overrides = {
            tool: ToolOverride(risk=declared.risk, identity=declared.identity)
            for tool, declared in plugin.tools.items()
        }
        shared = plugin.model_dump(include=set(OutsideProgram.model_fields))
        return ServerSpec(
            name=name,
            kind="plugin",
            connector=connector,
            settings=McpServerConfig(**shared, tools=overrides),
            toolset=self._toolset(name),
            address=_address(plugin),
            is_sandboxed=plugin.sandbox == "required",
            capabilities={tool: declared.capability for tool, declared in plugin.tools.items()},
            revision=dumps(plugin.model_dump(mode="json")),
        )

    def _toolset(self, server: str) -> str:
        """The server's name, unless a toolset or family of ours has it, which its tools must not slip into."""
        ours = {_ALL, "core", FAMILY, *self.foundation.catalogue.families()}
        return _ALL if server in ours else server

    def _find_door(self) -> Conveyor:
        assert self._door is not None, "plugins are started after the door is made"
        return self._door

    def _learn(self, secrets: Iterable[str]) -> None:
        """Redact these in records, displays and answers."""
        known = list(secrets)
        self.foundation.redactor.learn(known)
        self.foundation.outward.learn(known)

    def _program(self, program: OutsideProgram, expand: Callable[[str], str]) -> ProgramStart:
        """The command of a server, in the sandbox unless the owner says otherwise; blocks.

        `expand` puts the owner's secrets in place of their placeholders.
        """
        root = self.foundation.workspace.root
        environment = clean_environment(os.environ, network=program.network)
        cache = str(Path.home() / ".cache" / "npm")
        given = {name: expand(value) for name, value in program.env.items()}
        environment = {**environment, "npm_config_cache": cache, **given}
        # Not from the work tree, where agents write: a program there would run with the owner's secrets.
        path = path_outside(environment["PATH"], root)
        command = shutil.which(program.command, path=path)
        if command is None:
            raise ToolServerUnavailable(f"{program.command!r} is not on PATH", hint="give the whole path in command")
        argv = [command, *map(expand, program.args)]
        cwd = Path(program.cwd) if program.cwd else root
        if program.sandbox == "required":
            if reason := self._sandbox.unavailable_reason():
                raise SandboxMissing(
                    f"the server cannot run in a sandbox: {reason}",
                    hint="install bubblewrap, or set sandbox: off for this server",
                )
            tools = (Path(command).parent, Path(command).resolve().parent, *map(Path, program.readable))
            argv = self._sandbox.command(
                argv,
                cwd=cwd,
                network=program.network,
                workspace=program.workspace,
                readable=tools,
                writable=tuple(map(Path, program.writable)),
            )
            _refuse_hidden(program.args, argv)
        return ProgramStart(argv=argv, cwd=root, environment=environment, mark=new_id("server"))


def _refuse_hidden(arguments: Iterable[str], command: Sequence[str]) -> None:
    """Raise ToolServerUnavailable for an argument that names a file or folder which the sandbox does not show."""
    for argument in arguments:
        path = Path(argument)
        if not path.is_absolute() or not path.exists() or is_shown(command, path):
            continue
        folder = path if path.is_dir() else path.parent
        if "node_modules" in folder.parts:
            folder = Path(*folder.parts[: folder.parts.index("node_modules") + 1])
        raise ToolServerUnavailable(
            f"{path} is out of the server's sight in the sandbox",
            hint=f"show it the folder: cpl tools add … --readable {folder}, or `readable` in your settings",
        )


def _is_confined(program: OutsideProgram) -> bool:
    is_local = not (isinstance(program, McpServerConfig) and program.url)
    return is_local and program.sandbox == "required" and not program.network


def _address(server: OutsideProgram) -> str:
    """The address of a server, without possible secrets."""
    if isinstance(server, McpServerConfig) and server.url:
        parts = urlsplit(server.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
    return " ".join([server.command, *server.args])[:200]
