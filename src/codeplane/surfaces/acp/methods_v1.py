"""The methods of ACP version 1."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import META
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.editor_files import EditorFiles
from codeplane.surfaces.acp.options import MODE, SessionOptions
from codeplane.surfaces.acp.requests import (
    ListSessions,
    NewSession,
    OpenSession,
    Prompt,
    SessionRequest,
    SetMode,
    SetOption,
    parse,
)
from codeplane.surfaces.acp.session import AcpSession
from codeplane.surfaces.acp.sessions import Sessions
from codeplane.surfaces.acp.v1 import V1Outlet
from codeplane.surfaces.json_rpc.message import METHOD_NOT_FOUND, Notification, Request, RpcError
from codeplane.surfaces.json_rpc.peer import Answer, Peer

VERSION = 1


class MethodsV1:
    """Answers a client of version 1."""

    def __init__(
        self,
        door: AcpDoor,
        peer: Peer,
        *,
        root: Path,
        options: SessionOptions,
        context_tokens: int,
        files: EditorFiles | None,
    ) -> None:
        self._peer = peer
        self._door = door
        outlet = V1Outlet(peer, context_tokens=context_tokens)
        self._sessions = Sessions(door, outlet, root=root, options=options, files=files)

    def initialized(self, info: JsonObject) -> JsonObject:
        """Return the answer to the handshake."""
        return {
            "protocolVersion": VERSION,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
                "auth": {},
            },
            "authMethods": [],
            "agentInfo": info,
        }

    async def handle_request(self, request: Request) -> JsonValue | Answer:
        """Answer a request."""
        method = _METHODS.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {request.method[:100]}")
        return await method(self, request.params)

    async def handle_notification(self, notification: Notification) -> None:
        """Cancel a turn or a request; others mean nothing here."""
        if notification.method == "session/cancel":
            request = parse(SessionRequest, notification.params)
            await self._sessions.get(request.session_id).cancel()
        elif notification.method == "$/cancel_request":
            request_id = notification.params.get("requestId")
            if isinstance(request_id, int | str):
                self._peer.cancel(request_id)

    async def end(self) -> None:
        """Follow nothing any more."""
        await self._sessions.end()

    async def _authenticate(self, params: JsonObject) -> JsonValue:
        raise InvalidArgument("there is no way to authenticate, and none is needed", hint="go on with session/new")

    async def _new(self, params: JsonObject) -> Answer:
        request = parse(NewSession, params)
        thread = await self._sessions.create(request)
        session = self._sessions.get(str(thread["thread_id"]))
        state = {"sessionId": session.thread_id, **await self._state(thread)}
        return Answer(result=state | self._sessions.servers_answer(session), after=self._opened(session))

    async def _load(self, params: JsonObject) -> Answer:
        request = parse(OpenSession, params)
        session, thread = await self._sessions.reopen(request, from_start=True)
        await self._sessions.replay(session)
        state = await self._state(thread) | self._sessions.servers_answer(session)
        return Answer(result=state, after=self._opened(session))

    async def _resume(self, params: JsonObject) -> Answer:
        request = parse(OpenSession, params)
        session, thread = await self._sessions.reopen(request, from_start=False)
        state = await self._state(thread) | self._sessions.servers_answer(session)
        return Answer(result=state, after=self._opened(session))

    async def _list(self, params: JsonObject) -> JsonValue:
        return await self._sessions.listing(parse(ListSessions, params))

    async def _close(self, params: JsonObject) -> JsonValue:
        await self._sessions.close(parse(SessionRequest, params).session_id)
        return {}

    async def _delete(self, params: JsonObject) -> JsonValue:
        await self._sessions.delete(parse(SessionRequest, params).session_id)
        return {}

    async def _set_mode(self, params: JsonObject) -> JsonValue:
        request = parse(SetMode, params)
        session = self._sessions.get(request.session_id)
        await self._sessions.options.choose(session.thread_id, MODE, request.mode_id)
        return {}

    async def _set_option(self, params: JsonObject) -> JsonValue:
        request = parse(SetOption, params)
        session = self._sessions.get(request.session_id)
        thread = await self._sessions.options.choose(session.thread_id, request.config_id, request.value)
        return {"configOptions": await self._sessions.options.config_options(thread)}

    async def _prompt(self, params: JsonObject) -> JsonValue:
        session, turn = await self._sessions.send(parse(Prompt, params))
        turn_id = str(turn["turn_id"])
        ended = await session.wait(turn_id)
        if ended.failure is not None:
            raise ended.failure
        meta: JsonObject = {"turnId": turn_id, "cursor": session.cursor.text}
        return {"stopReason": ended.stop_reason, "_meta": {META: meta}}

    async def _state(self, thread: JsonObject) -> JsonObject:
        options = self._sessions.options
        return {"modes": options.mode_state(thread), "configOptions": await options.config_options(thread)}

    def _opened(self, session: AcpSession) -> Callable[[], Awaitable[None]]:
        """Return what is done once the client has the answer: it knows the session only then."""

        async def follow() -> None:
            commands = await self._sessions.commands()
            update: JsonObject = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
            meta: JsonObject = {META: {"cursor": session.cursor.text}}
            await self._peer.notify("session/update", {"sessionId": session.thread_id, "update": update, "_meta": meta})
            session.follow()
            await self._sessions.begin_servers(session)

        return follow


_Method = Callable[[MethodsV1, JsonObject], Awaitable[JsonValue | Answer]]
_METHODS: Mapping[str, _Method] = {
    "authenticate": MethodsV1._authenticate,
    "session/new": MethodsV1._new,
    "session/load": MethodsV1._load,
    "session/resume": MethodsV1._resume,
    "session/list": MethodsV1._list,
    "session/close": MethodsV1._close,
    "session/delete": MethodsV1._delete,
    "session/set_mode": MethodsV1._set_mode,
    "session/set_config_option": MethodsV1._set_option,
    "session/prompt": MethodsV1._prompt,
}
