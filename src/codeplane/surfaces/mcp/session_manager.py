"""The limit on MCP sessions, and eviction for new ones.

Other accounts have half of the sessions together. Where there is no room, the longest idle session of the account that
has most ends; the owner's is never evicted for another account's. Its client gets 404 and opens another, as in MCP.
"""

from collections import Counter
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

import mcp_types as types
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from codeplane.surfaces.connections.session_holder import HOLDER, SessionHolder
from codeplane.surfaces.mcp.caller import CLIENT_HEADER, SESSION_HEADER
from codeplane.surfaces.mcp.session_transport import SessionTransport

_UNKNOWN = SessionHolder(is_own=False, group=None)
# The SDK asks for a session without saying for whom.
_holder: ContextVar[SessionHolder] = ContextVar("holder", default=_UNKNOWN)
# The session that a request opens, in its scope.
_OPENED = "codeplane.mcp.opened"
_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)
# Methods that say something about a session there is.
_IN_SESSION = ("GET", "DELETE")


class SessionManager(StreamableHTTPSessionManager):
    """The SDK's sessions with our transports and a fair share for each holder."""

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (named := Request(scope).headers.get(SESSION_HEADER)) is not None:
            if named in self._server_instances and self.session_for(scope, named) is None:
                await _session_error("Session not found", HTTPStatus.NOT_FOUND)(scope, receive, send)
                return
        else:
            if scope["method"] in _IN_SESSION:
                # The SDK would open a session for it, which may evict another.
                refusal = _session_error("Bad Request: Missing session ID", HTTPStatus.BAD_REQUEST)
                await refusal(scope, receive, send)
                return
            _holder.set(holder := _holder_of(scope))
            _scope.set(scope)
            await self._make_room(holder)
            send = _without_session_id(send)
        await super()._handle_stateful_request(scope, receive, send)

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        holder = _holder.get()
        if not self._has_room(holder):
            return None
        admitted = super()._admit_session(requestor)
        if admitted is None or admitted.mcp_session_id is None:
            return admitted
        scope = _scope.get()
        transport = SessionTransport(
            holder=holder,
            client_secret=_client_secret(scope) if scope is not None else None,
            mcp_session_id=admitted.mcp_session_id,
            security_settings=self.security_settings,
            idle_timeout=self.session_idle_timeout,
        )
        self._server_instances[admitted.mcp_session_id] = transport
        if scope is not None:
            scope[_OPENED] = transport
        return transport

    def session(self, session_id: str) -> SessionTransport | None:
        """Return the open session of an id."""
        transport = self._server_instances.get(session_id)
        return transport if isinstance(transport, SessionTransport) else None

    def session_for(self, scope: Scope, session_id: str) -> SessionTransport | None:
        """Return the open session of an id if the request comes from its opener.

        An answer to a question names no caller but its session, and so nobody takes part who knows no more than the id.
        """
        session = self.session(session_id)
        is_theirs = session is not None and session.belongs_to(_holder_of(scope), _client_secret(scope))
        return session if is_theirs else None

    async def note_client(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Tell a session who opened it, around the handler of `initialize`."""
        result = await call_next(ctx)
        request = ctx.request
        if ctx.method == "initialize" and isinstance(request, Request):
            named = request.headers.get(SESSION_HEADER)
            transport = self.session(named) if named is not None else request.scope.get(_OPENED)
            if isinstance(transport, SessionTransport):
                transport.set_client(types.InitializeRequestParams.model_validate(ctx.params or {}, by_name=False))
        return result

    def _sessions(self, *, of_others: bool) -> list[SessionTransport]:
        every = [session for session in self._server_instances.values() if isinstance(session, SessionTransport)]
        return [session for session in every if not session.holder.is_own] if of_others else every

    def _has_room(self, holder: SessionHolder) -> bool:
        limit = self.max_sessions
        if limit is None:
            return True
        is_share_free = holder.is_own or len(self._sessions(of_others=True)) < max(1, limit // 2)
        return is_share_free and len(self._server_instances) < limit

    async def _make_room(self, holder: SessionHolder) -> None:
        if self._has_room(holder):
            return
        sessions = self._sessions(of_others=not holder.is_own)
        count = Counter(session.holder for session in sessions)
        idle = [(since, session) for session in sessions if (since := session.idle_since) is not None]
        if not idle:
            return
        _, ended = min(idle, key=lambda pair: (-count[pair[1].holder], pair[1].holder.is_own, pair[0]))
        assert ended.mcp_session_id is not None
        await self._discard_session(ended.mcp_session_id, ended)


def _holder_of(scope: Scope) -> SessionHolder:
    holder = scope.get("state", {}).get(HOLDER)
    return holder if isinstance(holder, SessionHolder) else _UNKNOWN


def _client_secret(scope: Scope) -> str | None:
    return Request(scope).headers.get(CLIENT_HEADER)


def _session_error(message: str, status: HTTPStatus) -> Response:
    """Return the refusal of a request whose session is not there, for this caller or at all."""
    error = types.ErrorData(code=types.INVALID_REQUEST, message=message)
    body = types.JSONRPCError(jsonrpc="2.0", id=None, error=error).model_dump_json(by_alias=True, exclude_unset=True)
    return Response(body, status_code=status, media_type="application/json")


def _without_session_id(send: Send) -> Send:
    """Wrap `send` to drop the id of a session that was refused."""

    async def send_without_id(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= 400:
            headers = [pair for pair in message["headers"] if pair[0].lower() != SESSION_HEADER.encode()]
            message = {**message, "headers": headers}
        await send(message)

    return send_without_id
