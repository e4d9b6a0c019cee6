"""Who may open MCP sessions, and whose session ends when there are too many: never the owner's for somebody else's."""

import json
import re
from collections.abc import Callable, Iterator

import pytest

from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import NOBODY, connect, exchange, needs_root
from tests.surfaces.http.wire import CALL

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
SESSIONS = 4


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that holds few sessions."""
    repo = make_repo(tmp_path_factory.mktemp("session-share") / "repo")
    running = start(repo, overrides=[f"sessions.max_open={SESSIONS}"])
    yield running
    running.stop()


@pytest.fixture(scope="module")
def token(server: Server) -> str:
    """The token of an agent."""
    result = server.call("agent.token", agent="other", capabilities=["read_files"])["result"]
    assert isinstance(result, dict)
    return str(result["token"])


def _request(
    method: str,
    params: object = None,
    *,
    token: str = "",
    session: str = "",
    path: str = "/mcp",
    version: str = "2025-11-25",
    number: str = "1",
) -> bytes:
    body = f'{{"jsonrpc": "2.0", "id": {number}, "method": "{method}", "params": {json.dumps(params or {})}}}'
    content = "application/x-ndjson" if path == "/mcp/stdio" else "application/json"
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Connection: close",
        "Accept: application/json, text/event-stream",
        f"Content-Type: {content}",
        f"MCP-Protocol-Version: {version}",
        f"Mcp-Method: {method}",
        *([f"Authorization: Bearer {token}"] if token else []),
        *([f"Mcp-Session-Id: {session}"] if session else []),
        f"Content-Length: {len(body)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def _status(answer: bytes) -> int:
    return int(answer[9:12])


@pytest.fixture
def open_session(server: Server) -> Iterator[Callable[..., str]]:
    """Opens a session, which ends with the test."""
    opened: list[tuple[str, str, int | None]] = []

    def open_one(token: str = "", account: int | None = None) -> str:
        answer = exchange((server.host, server.port), _request("initialize", INITIALIZE, token=token), account)
        found = re.search(rb"mcp-session-id: (\w+)", answer)
        assert found is not None, answer
        opened.append((found[1].decode(), token, account))
        return found[1].decode()

    yield open_one
    for session, token, account in opened:
        request = _request("x", token=token, session=session).replace(b"POST", b"DELETE", 1)
        assert _status(exchange((server.host, server.port), request, account)) in (200, 404)


def _listed(server: Server, session: str, token: str = "", account: int | None = None) -> int:
    request = _request("tools/list", token=token, session=session)
    return _status(exchange((server.host, server.port), request, account))


class TestFalseToken:
    @requirement("SRV-13")
    @needs_root
    @pytest.mark.parametrize("account", [None, NOBODY], ids=["own", "other"])
    def test_nothing_of_mcp_is_answered(
        self, server: Server, open_session: Callable[..., str], account: int | None
    ) -> None:
        requests = [
            _request("initialize", INITIALIZE, token="x"),
            _request("initialize", INITIALIZE, token="x", path="/mcp/stdio"),
            *(
                _request(method, MODERN, token="x", version="2026-07-28")
                for method in ("server/discover", "tools/list", "resources/list", "prompts/list")
            ),
            _request("tools/list", token="x", session=open_session()),
            b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n",
        ]
        for request in requests:
            answer = exchange((server.host, server.port), request, account)
            assert _status(answer) == 401, answer
            assert b"mcp-session-id" not in answer and b"UNAUTHORIZED" in answer

    @requirement("SRV-13")
    def test_a_good_one_is_served(self, server: Server, open_session: Callable[..., str], token: str) -> None:
        assert _listed(server, open_session(token), token) == 200
        modern = _request("tools/list", MODERN, token=token, version="2026-07-28")
        assert _status(exchange((server.host, server.port), modern)) == 200

    @requirement("SRV-13")
    @needs_root
    def test_other_surfaces_refuse_it_and_end(self, server: Server) -> None:
        address = server.host, server.port
        assert _status(exchange(address, _request("x", path=CALL, token="x"), NOBODY)) in (400, 401)
        call = _request("x", path=CALL, token="x").replace(b'"jsonrpc": "2.0"', b'"operation": "status"')
        assert _status(exchange(address, call, NOBODY)) in (400, 401)
        events = b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\n%b\r\n\r\n"
        assert _status(exchange(address, events % (b"/events", b"Connection: close"), NOBODY)) == 401
        upgrade = (
            b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
        )
        with connect(address, NOBODY) as sock:
            sock.sendall(events % (b"/ws/events", upgrade))
            answer = b""
            while b"UNAUTHORIZED" not in answer:
                data = sock.recv(65_536)
                assert data, answer
                answer += data


class TestShare:
    @requirement("SRV-13")
    @needs_root
    def test_another_account_ends_its_own_sessions_and_never_the_owners(
        self, server: Server, open_session: Callable[..., str], token: str
    ) -> None:
        owners = [open_session() for _ in range(SESSIONS // 2)]
        others = [open_session(token, NOBODY) for _ in range(SESSIONS)]
        assert [_listed(server, session) for session in owners] == [200, 200]
        assert [_listed(server, session, token, NOBODY) for session in others] == [404, 404, 200, 200]
        owners += [open_session() for _ in range(SESSIONS // 2)]
        assert [_listed(server, session) for session in owners[-3:]] == [200, 200, 200]

    @requirement("SRV-13")
    def test_an_id_alone_opens_no_session_of_others(
        self, server: Server, open_session: Callable[..., str], token: str
    ) -> None:
        assert _listed(server, open_session(), token) == 404
        assert _listed(server, open_session(token)) == 404

    @requirement("SRV-13")
    def test_the_longest_idle_session_makes_room(self, server: Server, open_session: Callable[..., str]) -> None:
        first, *rest = [open_session() for _ in range(SESSIONS)]
        assert _listed(server, first) == 200
        last = open_session()
        assert [_listed(server, session) for session in (first, *rest, last)] == [200, 404, 200, 200, 200]

    @requirement("SRV-13")
    def test_what_is_being_served_keeps_its_session(self, server: Server, open_session: Callable[..., str]) -> None:
        busy = open_session()
        stream = (
            f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            f"MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {busy}\r\n\r\n"
        )
        with connect((server.host, server.port)) as sock:
            sock.sendall(stream.encode())
            assert sock.recv(12) == b"HTTP/1.1 200"
            for _ in range(SESSIONS + 1):
                open_session()
            assert _listed(server, busy) == 200


@requirement("MCP-11")
@pytest.mark.parametrize("number", ["1.0", "1e0", "true", "null", "[]", "{}"])
def test_a_request_with_an_id_of_the_wrong_kind_is_told_so(
    server: Server, open_session: Callable[..., str], number: str
) -> None:
    answer = exchange((server.host, server.port), _request("tools/list", session=open_session(), number=number))
    assert _status(answer) == 400 and b"-32600" in answer


@requirement("MCP-11")
@pytest.mark.parametrize("number", ["1", "0", "-7", '"x"', '""'])
def test_any_string_or_whole_number_will_do(server: Server, open_session: Callable[..., str], number: str) -> None:
    answer = exchange((server.host, server.port), _request("tools/list", session=open_session(), number=number))
    assert _status(answer) == 200 and b'"tools"' in answer
