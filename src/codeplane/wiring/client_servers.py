"""Starts MCP servers that clients bring along: sandboxed, and without the owner's secrets."""

import asyncio
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from codeplane import __version__
from codeplane.adapters.line_process import ProgramStart
from codeplane.adapters.mcp_client import McpConnector
from codeplane.adapters.mcp_http import HttpServer, http_transport
from codeplane.adapters.mcp_program import program_transport
from codeplane.adapters.shell_sandbox import ShellSandbox, is_shown
from codeplane.adapters.tool_secrets import is_secret_name
from codeplane.disk.program_path import path_outside
from codeplane.kernel.client_servers import ClientServer
from codeplane.kernel.config import McpServerConfig, ToolsConfig
from codeplane.kernel.errors import InvalidArgument, SandboxMissing, ToolServerUnavailable
from codeplane.work.tools.client_servers import ServerPlan, StartServerRequest
from codeplane.work.tools.declaration import ServerSpec

_KIND = "client"
_UNFIT = re.compile(r"[^a-z0-9]+")
_MAX_NAME = 24
# What lies here is never shown to a program that a client names, whatever its arguments are.
_PRIVATE = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".password-store", ".mozilla", ".codeplane"}
)

# Read by the dynamic linker and the C library of whatever is started first, which is bubblewrap.
_LOADER = ("LD_", "GLIBC_", "GCONV_", "MALLOC_", "LOCPATH", "NLSPATH", "DYLD_")

StartProgram = Callable[[McpServerConfig], ProgramStart]


class ClientServerPlans:
    """Plans the start of each server that a client describes; refuses what cannot be sandboxed."""

    def __init__(
        self,
        *,
        root: Path,
        home: Path,
        path: Callable[[], str],
        sandbox: ShellSandbox,
        config: ToolsConfig,
        start: StartProgram,
    ) -> None:
        """`start` says what to start for a program, in the sandbox; `path` is where programs are looked for."""
        self._root = root
        self._home = home
        self._path = path
        self._sandbox = sandbox
        self._config = config
        self._start = start

    async def plan(self, server: ClientServer, definition: str) -> ServerPlan:
        """Return what would be started; raises InvalidArgument, SandboxMissing or ToolServerUnavailable."""
        if loaders := [name for name in server.env if _steers_sandbox(name)]:
            raise InvalidArgument(
                f"the variable {loaders[0][:100]} decides what runs outside of the sandbox",
                hint="leave it out, or the owner adds the server: cpl tools add",
            )
        reads = () if server.url else await asyncio.to_thread(self._folders, server)
        settings = _settings(server, reads)
        named = [*server.env.items(), *server.headers.items()]
        request = StartServerRequest(
            server=server.name,
            command=server.command,
            args=server.args,
            variables=tuple(
                f"{name}, a secret that is not shown" if is_secret_name(name) else f"{name}={value}"
                for name, value in server.env.items()
            ),
            reads=reads,
            url=server.url,
            headers=tuple(server.headers),
            definition=definition,
        )

        def spec(thread_id: str, suffix: str) -> ServerSpec:
            name = _UNFIT.sub("-", server.name.lower()).strip("-")[:_MAX_NAME].rstrip("-") or "server"
            return ServerSpec(
                name=f"{name}-{suffix}",
                kind=_KIND,
                connector=self._connector(settings),
                settings=settings,
                toolset=_KIND,
                address=settings.url or " ".join([settings.command, *settings.args])[:200],
                is_sandboxed=not settings.url,
                thread_id=thread_id,
                trusted_as=f"{name}@{definition[:16]}",
            )

        secrets = (value.removeprefix("Bearer ").strip() for name, value in named if is_secret_name(name))
        return ServerPlan(request=request, spec=spec, secrets=tuple(filter(None, secrets)))

    def _connector(self, settings: McpServerConfig) -> McpConnector:
        bound = self._config.message_kb * 1024
        if settings.url:
            # As the client wrote it: a `${NAME}` in it stands for nothing here.
            place = HttpServer(url=settings.url, headers=settings.headers)
            return McpConnector(
                open=http_transport(lambda: place, max_bytes=bound), config=self._config, version=__version__
            )
        return McpConnector(
            open=program_transport(lambda: self._start(settings), max_line=bound),
            config=self._config,
            version=__version__,
            is_confined=True,
        )

    def _folders(self, server: ClientServer) -> tuple[str, ...]:
        """The folders that its arguments name, and that the sandbox would not show; blocks."""
        if reason := self._sandbox.unavailable_reason():
            raise SandboxMissing(
                f"the server cannot run in a sandbox: {reason}",
                hint="install bubblewrap; a client's server is not started without it",
            )
        command = shutil.which(server.command, path=path_outside(self._path(), self._root))
        if command is None:
            raise ToolServerUnavailable(f"{server.command[:200]!r} is not on PATH", hint="give the whole path")
        if Path(command).resolve().is_relative_to(self._root):
            raise ToolServerUnavailable(
                f"{command} is in the repository, where agents write", hint="the owner adds it: cpl tools add"
            )
        tools = (Path(command).parent, Path(command).resolve().parent)
        argv = self._sandbox.command([command], cwd=self._root, network=False, workspace="read", readable=tools)
        return tuple(dict.fromkeys(str(self._folder(path)) for path in _paths(server.args) if not is_shown(argv, path)))

    def _folder(self, path: Path) -> Path:
        """What of the disk an argument needs; ToolServerUnavailable for what is not shown to such a server."""
        whole = path.resolve()
        folder = whole if whole.is_dir() else whole.parent
        if "node_modules" in folder.parts:
            folder = Path(*folder.parts[: folder.parts.index("node_modules") + 1])
        home = self._home.resolve()
        is_private = folder.is_relative_to(home) and not _PRIVATE.isdisjoint(folder.relative_to(home).parts)
        if is_private or home.is_relative_to(folder) or self._root.is_relative_to(folder):
            raise ToolServerUnavailable(
                f"{path} is in {folder}, which is not shown to a client's server",
                hint="move it into a folder of its own, or the owner adds it: cpl tools add",
            )
        return folder


def _steers_sandbox(name: str) -> bool:
    """Whether a variable reaches the program that builds the sandbox, or chooses which program that is."""
    return name.upper() == "PATH" or name.upper().startswith(_LOADER)


def _paths(args: Sequence[str]) -> list[Path]:
    """The files and folders that arguments name, also as in `--root=/folder`."""
    words = [word.partition("=")[2] if word.startswith("-") and "=" in word else word for word in args]
    return [Path(word) for word in words if word.startswith("/") and "\0" not in word and Path(word).exists()]


def _settings(server: ClientServer, reads: tuple[str, ...]) -> McpServerConfig:
    has_secret = any(map(is_secret_name, (*server.env, *server.headers)))
    try:
        return McpServerConfig(
            command=server.command,
            args=server.args,
            env=dict(server.env),
            url=server.url,
            headers=dict(server.headers),
            readable=reads,
            workspace="read",
            # A key that the client gives it is an account of the person's.
            identity="user" if has_secret else "none",
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise InvalidArgument(f"the server is not complete: {first['msg']}") from None
