"""Outside tools: MCP servers and plugins that the settings name, started with the server."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from codeplane import __version__
from codeplane.adapters.line_process import ProgramStart
from codeplane.adapters.mcp_client import McpConnector
from codeplane.adapters.mcp_program import program_transport
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.adapters.tool_secrets import SecretValues, known_secrets
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.disk.program_path import path_outside
from codeplane.kernel.config import Config, McpServerConfig, OutsideProgram
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import SandboxMissing, ToolServerUnavailable
from codeplane.kernel.external_tool import ToolConnector
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.testing.environment import clean_environment
from codeplane.testing.suite import CACHE
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep
from codeplane.work.tools.declaration import ServerSpec
from codeplane.work.tools.operations import ToolOperations
from codeplane.work.tools.registry import ToolRegistry
from codeplane.work.tools.trust import ToolTrust
from codeplane.work.tools.trust_table import ToolTrustTable

_RELIST_SEC = 60.0


class ToolsWiring(PlaneWiring):
    """Builds a connector for each server that is configured; nothing is started before the server is."""

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
        workspace = foundation.workspace
        self._sandbox = ShellSandbox(
            root=workspace.root,
            own=workspace.home,
            cache=workspace.home / "tests" / CACHE,
            home=Path.home(),
            environment=os.environ,
            secrets=foundation.secrets,
        )

    def part(self, conveyor: Conveyor) -> Part:
        return Part(
            operations=(ToolOperations(self.registry, reload=self._reload),),
            restore=self._restore,
            sweeps=(Sweep(run=self.registry.relist, every_sec=_RELIST_SEC, at_start=False),),
            stop=self.registry.stop,
        )

    async def start_servers(self) -> None:
        """Connect the servers; only a server of ours does, since an embedded run is over at once."""
        await self.registry.start()

    async def _restore(self) -> JsonObject:
        await self._trust.restore()
        await self._run_servers(self._loaded)
        return {}

    async def _reload(self) -> None:
        """Read the settings again; everything but outside tools waits for a restart."""
        if self._loaded.reload is not None:
            loaded = await asyncio.to_thread(self._loaded.reload)
            secrets = known_secrets(loaded.config, loaded.tool_secrets)
            self.foundation.redactor.learn(secrets)
            self.foundation.outward.learn(secrets)
            await self._run_servers(loaded)

    async def _run_servers(self, loaded: LoadedConfig) -> None:
        await self.registry.replace(self._specs(loaded), config=loaded.config.tools)

    def _specs(self, loaded: LoadedConfig) -> Mapping[str, ServerSpec]:
        config, secrets = loaded.config, loaded.tool_secrets
        return {name: self._mcp_spec(name, server, config, secrets) for name, server in config.mcp.servers.items()}

    def _mcp_spec(self, name: str, server: McpServerConfig, config: Config, secrets: SecretValues) -> ServerSpec:
        connector: ToolConnector = McpConnector(
            open=program_transport(lambda: self._program(server, secrets), max_line=config.tools.message_kb * 1024),
            config=config.tools,
            version=__version__,
            is_confined=_is_confined(server),
        )
        return ServerSpec(
            name=name,
            kind="mcp",
            connector=connector,
            settings=server,
            address=_address(server),
            is_sandboxed=server.sandbox == "required",
        )

    def _program(self, program: OutsideProgram, secrets: SecretValues) -> ProgramStart:
        """What to start for a server, in the sandbox unless the owner says otherwise; blocks."""
        root = self.foundation.workspace.root
        environment = clean_environment(os.environ, network=program.network)
        cache = str(Path.home() / ".cache" / "npm")
        given = {name: secrets.expand(value) for name, value in program.env.items()}
        environment = {**environment, "npm_config_cache": cache, **given}
        # Not from the work tree, where agents write: a program there would run with the owner's secrets.
        path = path_outside(environment["PATH"], root)
        command = shutil.which(program.command, path=path)
        if command is None:
            raise ToolServerUnavailable(f"{program.command!r} is not on PATH", hint="give the whole path in command")
        argv = [command, *map(secrets.expand, program.args)]
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
        return ProgramStart(argv=argv, cwd=root, environment=environment, mark=new_id("server"))


def _is_confined(program: OutsideProgram) -> bool:
    is_local = not (isinstance(program, McpServerConfig) and program.url)
    return is_local and program.sandbox == "required" and not program.network


def _address(server: McpServerConfig) -> str:
    """Where a server is, without what could be secret."""
    if server.url:
        parts = urlsplit(server.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"
    return " ".join([server.command, *server.args])[:200]
