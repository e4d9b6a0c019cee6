"""Outside agents that speak the Agent Client Protocol, version 1, over stdin and stdout; this is their client."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

from codeplane.adapters.acp_messages import (
    PROTOCOL,
    choose_option,
    object_list,
    read_info,
    read_stop,
    read_tool_call,
    read_update,
)
from codeplane.adapters.json_rpc_peer import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, JsonRpcPeer, RpcError
from codeplane.adapters.line_process import ProgramStart, start_program
from codeplane.adapters.tool_socket import ToolSocket, open_tool_socket
from codeplane.kernel.config import AgentsConfig, OutsideAgentConfig
from codeplane.kernel.errors import (
    CodePlaneError,
    NotFound,
    OutsideAgentFailed,
    OutsideAgentRefused,
    OutsideAgentSignIn,
    OutsideAgentTimeout,
    ToolServerUnavailable,
)
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.outside_agent import AgentHost, AgentInfo, AgentPlace, AgentSession, AgentStop, TerminalState

_SIGN_IN = -32000
_SERVER = "codeplane"
_CANCEL_SEC = 2.0

# What to start for an agent, with the socket of our tools if it gets them; may block.
StartAgent = Callable[[AgentPlace, ToolSocket | None], ProgramStart]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpConnector:
    """Starts one agent."""

    name: str
    start_command: StartAgent
    settings: OutsideAgentConfig
    config: AgentsConfig
    version: str

    def start(self, place: AgentPlace, host: AgentHost) -> AbstractAsyncContextManager[AgentSession]:
        return self._start(place, host)

    @asynccontextmanager
    async def _start(self, place: AgentPlace, host: AgentHost) -> AsyncIterator[AgentSession]:
        max_line = self.config.message_kb * 1024
        async with AsyncExitStack() as stack:
            socket = None
            if self.settings.tools:
                socket = await stack.enter_async_context(open_tool_socket(host.call_tool, max_line=max_line))
            try:
                given = await asyncio.to_thread(self.start_command, place, socket)
                process = await stack.enter_async_context(start_program(given, max_line=max_line))
            except ToolServerUnavailable as error:
                raise OutsideAgentFailed(f"{self.name}: {error.message}", hint=error.hint) from error
            session = AcpSession(name=self.name, host=host, offers_terminal=self.settings.terminal)
            peer = JsonRpcPeer(
                process=process,
                handle=session.handle,
                notify=session.notify,
                problem=host.problem,
                max_bytes=self.config.output_mb * 1024 * 1024,
            )
            session.peer = peer
            session.reading = asyncio.ensure_future(peer.run())
            session.reading.add_done_callback(lambda done: peer.fail(_end_of(self.name, done)))
            try:
                try:
                    async with asyncio.timeout(self.config.start_sec):
                        await self._open(session, place, socket)
                except TimeoutError:
                    words = process.last_words.strip()
                    raise OutsideAgentTimeout(
                        f"{self.name} was not ready within {self.config.start_sec:g} s{f': {words}' if words else ''}"
                    ) from None
                yield session
            finally:
                session.reading.cancel()
                await asyncio.wait({session.reading})
                await peer.close()

    async def _open(self, session: "AcpSession", place: AgentPlace, socket: ToolSocket | None) -> None:
        client: JsonObject = {"name": _SERVER, "title": "CodePlane", "version": self.version}
        able: JsonObject = {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": self.settings.terminal,
        }
        answer = await session.ask(
            "initialize", {"protocolVersion": PROTOCOL, "clientCapabilities": able, "clientInfo": client}
        )
        session.info = read_info(answer)
        if session.info.protocol != PROTOCOL:
            raise OutsideAgentFailed(
                f"{self.name} speaks version {session.info.protocol} of the protocol, and not {PROTOCOL}",
                hint="install a version of the agent or of its adapter that speaks ACP version 1",
            )
        servers: list[JsonValue] = []
        if socket is not None:
            program, *arguments = socket.command
            servers.append(
                {"name": _SERVER, "command": program, "args": list[JsonValue](arguments), "env": list[JsonValue]()}
            )
        where: JsonObject = {"cwd": str(place.tree), "mcpServers": servers}
        if place.session_id is not None and session.info.can_load:
            session.is_loading = True
            try:
                # What it repeats of the conversation is in the thread already.
                await session.ask("session/load", {**where, "sessionId": place.session_id})
                session.session_id, session.is_resumed = place.session_id, True
            except OutsideAgentFailed as error:
                session.host.problem(f"its session could not be loaded: {error.message}")
            finally:
                session.is_loading = False
        if not session.session_id:
            opened = await session.ask("session/new", where)
            session_id = opened.get("sessionId")
            if not isinstance(session_id, str) or not session_id or len(session_id) > 1000:
                raise OutsideAgentRefused(f"{self.name} opened a session without an id")
            session.session_id = session_id
        if self.settings.mode:
            await session.ask("session/set_mode", {"sessionId": session.session_id, "modeId": self.settings.mode})


@dataclass(slots=True, kw_only=True)
class AcpSession:
    """A running agent, and the answers to what it asks."""

    name: str
    host: AgentHost
    offers_terminal: bool
    session_id: str = ""
    info: AgentInfo = field(default_factory=AgentInfo)
    is_resumed: bool = False
    is_loading: bool = False
    peer: JsonRpcPeer = field(init=False)
    reading: "asyncio.Future[CodePlaneError]" = field(init=False)

    async def prompt(self, text: str) -> AgentStop:
        try:
            block: JsonObject = {"type": "text", "text": text}
            answer = await self.ask("session/prompt", {"sessionId": self.session_id, "prompt": [block]})
        except asyncio.CancelledError:
            with suppress(TimeoutError, CodePlaneError):
                async with asyncio.timeout(_CANCEL_SEC):
                    await self.cancel()
            raise
        try:
            return read_stop(answer)
        except ValueError as error:
            raise OutsideAgentRefused(f"{self.name} ended its turn with {error}") from error

    async def cancel(self) -> None:
        await self.peer.tell("session/cancel", {"sessionId": self.session_id})

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """The agent's answer; errors of its own as ours."""
        if self.reading.done():
            raise _end_of(self.name, self.reading)
        try:
            return await self.peer.request(method, params)
        except RpcError as error:
            if error.code == _SIGN_IN and method.startswith("session/"):
                ways = ", ".join(self.info.sign_ins)
                raise OutsideAgentSignIn(
                    f"{self.name} wants its person to sign in{f' ({ways})' if ways else ''}: {error.message}"
                ) from error
            raise OutsideAgentFailed(f"{self.name} answered {method} with {error.code}: {error.message}") from error

    async def notify(self, method: str, params: JsonObject) -> None:
        """Take a notification of the agent."""
        if method != "session/update":
            if not method.startswith(("$/", "_")):
                self.host.problem(f"a notification that is not known: {method[:100]}")
            return
        if self.is_loading or not self.session_id:
            # Some announce their commands before they have answered.
            return
        update = params.get("update")
        if params.get("sessionId") != self.session_id or not isinstance(update, dict):
            self.host.problem("an update of another session")
            return
        try:
            reported = read_update(update)
        except ValueError as error:
            self.host.problem(str(error))
            return
        if reported is not None:
            await self.host.update(reported)

    async def handle(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request of the agent."""
        if method in _METHODS and params.get("sessionId") != self.session_id:
            raise RpcError(INVALID_PARAMS, "there is no such session")
        match method:
            case "session/request_permission":
                return await self._permit(params)
            case "fs/read_text_file":
                return await self._read_file(params)
            case "fs/write_text_file":
                await self.host.write_file(_needed(params, "path"), _needed(params, "content"))
                return {}
            case _ if method.startswith("terminal/") and method in _METHODS and self.offers_terminal:
                return await self._terminal(method, params)
        self.host.problem(f"it asked for {method[:100]}, which is refused")
        raise RpcError(METHOD_NOT_FOUND, f"{method[:100]} is not offered")

    async def _read_file(self, params: JsonObject) -> JsonObject:
        path, line, limit = _needed(params, "path"), params.get("line"), params.get("limit")
        first, count = (value if isinstance(value, int) else None for value in (line, limit))
        try:
            return {"content": await self.host.read_file(path, first, count)}
        except NotFound as error:
            # Agents ask whether a file is there by this code.
            raise RpcError(RESOURCE_NOT_FOUND, f"Resource not found: {path[:200]}") from error

    async def _permit(self, params: JsonObject) -> JsonObject:
        call = params.get("toolCall")
        try:
            tool_call = read_tool_call(call if isinstance(call, dict) else {})
        except ValueError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        is_allowed = await self.host.permit(tool_call)
        option = choose_option(object_list(params, "options"), is_allowed=is_allowed)
        if option is None:
            # It offered nothing that says what was decided.
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": option}}

    async def _terminal(self, method: str, params: JsonObject) -> JsonObject:
        if method == "terminal/create":
            words = params.get("args")
            arguments = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
            cwd = params.get("cwd")
            command = _command(_needed(params, "command"), arguments)
            return {"terminalId": await self.host.open_terminal(command, cwd if isinstance(cwd, str) else "")}
        terminal_id = _needed(params, "terminalId")
        if method == "terminal/output":
            state = self.host.terminal(terminal_id)
            status: JsonObject = {} if state.exit_code is None else {"exitStatus": _exit_status(state)}
            return {"output": state.output, "truncated": state.truncated, **status}
        if method == "terminal/wait_for_exit":
            return _exit_status(await self.host.wait_terminal(terminal_id))
        await self.host.close_terminal(terminal_id, forget=method == "terminal/release")
        return {}


_METHODS = frozenset(
    {
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
    }
)


def _end_of(name: str, reading: "asyncio.Future[CodePlaneError]") -> CodePlaneError:
    """Why nothing more comes from an agent."""
    if reading.cancelled():
        return OutsideAgentFailed(f"{name} was ended")
    if (failure := reading.exception()) is not None:
        return OutsideAgentFailed(f"{name} could not be followed: {type(failure).__name__}: {failure}")
    error = reading.result()
    return type(error)(f"{name}: {error.message}", hint=error.hint)


def _needed(params: JsonObject, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"{name} is missing")
    return value


def _command(command: str, arguments: list[str]) -> str:
    """A command line of a program and its arguments; without arguments it is a line already."""
    return shlex.join([command, *arguments]) if arguments else command


def _exit_status(state: TerminalState) -> JsonObject:
    return {"exitCode": state.exit_code, "signal": None}
