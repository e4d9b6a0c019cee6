"""The methods of the draft of ACP version 2."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import META
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.options import SessionOptions
from codeplane.surfaces.acp.requests import (
    ListSessions,
    NewSession,
    OpenSession,
    Prompt,
    SessionRequest,
    SetOption,
    parse,
)
from codeplane.surfaces.acp.session import AcpSession
from codeplane.surfaces.acp.sessions import Sessions
from codeplane.surfaces.acp.v2 import V2Outlet, state_of
from codeplane.surfaces.json_rpc.message import INVALID_PARAMS, METHOD_NOT_FOUND, Notification, Request, RpcError
from codeplane.surfaces.json_rpc.peer import CANCEL_REQUEST, Answer, Peer

VERSION = 2


class MethodsV2:
    """Answers a client of version 2."""

    def __init__(self, door: AcpDoor, peer: Peer, *, root: Path, options: SessionOptions, context_tokens: int) -> None:
        self._peer = peer
        outlet = V2Outlet(peer, context_tokens=context_tokens)
        self._sessions = Sessions(door, outlet, root=root, options=options)

    def initialized(self, info: JsonObject) -> JsonObject:
        """Return the answer to the handshake."""
        return {
            "protocolVersion": VERSION,
            "info": info,
            "capabilities": {
                "session": {"prompt": {"embeddedContext": {}}, "mcp": {"stdio": {}, "http": {}}, "delete": {}}
            },
            "authMethods": [],
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
        elif notification.method == CANCEL_REQUEST:
            request_id = notification.params.get("requestId")
            if isinstance(request_id, int | str):
                self._peer.cancel(request_id)

    async def end(self) -> None:
        """Follow nothing any more."""
        await self._sessions.end()

    async def _new(self, params: JsonObject) -> Answer:
        thread = await self._sessions.create(parse(NewSession, params))
        session = self._sessions.get(str(thread["thread_id"]))
        state = {"sessionId": session.thread_id, **await self._state(thread)}
        return Answer(result=state | self._sessions.servers_answer(session), after=self._follow(session))

    async def _resume(self, params: JsonObject) -> Answer:
        request = parse(OpenSession, params)
        replay = request.replay_from
        if replay is not None and replay.get("type") != "start":
            raise RpcError(INVALID_PARAMS, "Invalid params: replayFrom: only `start`, or a cursor in `_meta`, is known")
        session, thread = await self._sessions.reopen(request, from_start=replay is not None)
        await self._sessions.replay(session)
        # What it does now, before the answer, whether history was wanted or not.
        snapshot: JsonObject = {"sessionUpdate": "state_update", **state_of(session.state)}
        meta: JsonObject = {META: {"cursor": session.cursor.text}}
        await self._peer.notify("session/update", {"sessionId": session.thread_id, "update": snapshot, "_meta": meta})
        state = await self._state(thread) | self._sessions.servers_answer(session)
        return Answer(result=state, after=self._follow(session))

    async def _list(self, params: JsonObject) -> JsonValue:
        return await self._sessions.listing(parse(ListSessions, params))

    async def _close(self, params: JsonObject) -> JsonValue:
        await self._sessions.close(parse(SessionRequest, params).session_id)
        return {}

    async def _delete(self, params: JsonObject) -> JsonValue:
        await self._sessions.delete(parse(SessionRequest, params).session_id)
        return {}

    async def _set_option(self, params: JsonObject) -> JsonValue:
        request = parse(SetOption, params)
        session = self._sessions.get(request.session_id)
        thread = await self._sessions.options.choose(session.thread_id, request.config_id, request.value)
        return {"configOptions": await self._options(thread)}

    async def _prompt(self, params: JsonObject) -> JsonValue:
        """Accept a prompt: its turn runs in the background, and its end is an update."""
        session, turn = await self._sessions.send(parse(Prompt, params))
        session.forget(str(turn["turn_id"]))
        return {"messageId": turn["user_message_id"], "_meta": {META: {"turnId": turn["turn_id"]}}}

    def _follow(self, session: AcpSession) -> Callable[[], Awaitable[None]]:
        async def follow() -> None:
            session.follow()
            await self._sessions.begin_servers(session)

        return follow

    async def _state(self, thread: JsonObject) -> JsonObject:
        commands: list[JsonValue] = [
            {**command, "type": "command", "input": {"type": "text", "hint": "what to do"}}
            for command in await self._sessions.commands()
        ]
        return {"configOptions": await self._options(thread), "availableCommands": commands}

    async def _options(self, thread: JsonObject) -> list[JsonValue]:
        options = await self._sessions.options.config_options(thread)
        return [
            {"configId": option["id"], **{name: value for name, value in option.items() if name != "id"}}
            for option in options
        ]


_Method = Callable[[MethodsV2, JsonObject], Awaitable[JsonValue | Answer]]
_METHODS: Mapping[str, _Method] = {
    "session/new": MethodsV2._new,
    "session/resume": MethodsV2._resume,
    "session/list": MethodsV2._list,
    "session/close": MethodsV2._close,
    "session/delete": MethodsV2._delete,
    "session/set_config_option": MethodsV2._set_option,
    "session/prompt": MethodsV2._prompt,
}
