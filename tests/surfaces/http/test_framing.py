"""Heads and trailers that say something else than the bytes around them: refused, or without a meaning."""

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import CALL, Answer, raw

pytestmark = requirement("SRV-10")

POST = "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
BODY = '{"operation":"status","arguments":{}}'
UPGRADE = (
    "{method} /ws/events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)


def _chunked(server: Server, *, headers: str = "", trailers: str = "") -> Answer:
    """A call whose body is one chunk, with trailers behind it."""
    head = f"{POST.format(path=CALL)}{headers}Transfer-Encoding: chunked\r\n\r\n"
    return raw(server, f"{head}{len(BODY):x}\r\n{BODY}\r\n0\r\n{trailers}\r\n".encode())


class TestTrailers:
    def test_a_token_in_one_is_none(self, codeplane_server: Server) -> None:
        token = f"Authorization: Bearer {codeplane_server.token}\r\n"
        assert _chunked(codeplane_server, headers=token).status == 200
        assert _chunked(codeplane_server, trailers=token).status == 401

    @pytest.mark.parametrize("trailer", ["Host: evil.example\r\n", "Origin: https://evil.example\r\n", "X-A: b\r\n"])
    def test_what_one_says_refuses_nothing(self, codeplane_server: Server, trailer: str) -> None:
        token = f"Authorization: Bearer {codeplane_server.token}\r\n"
        assert _chunked(codeplane_server, headers=token, trailers=trailer).status == 200

    def test_they_count_for_the_size_of_the_head(self, codeplane_server: Server) -> None:
        token = f"Authorization: Bearer {codeplane_server.token}\r\n"
        refused = _chunked(codeplane_server, headers=token, trailers=f"X-A: {'x' * 1000}\r\n" * 100)
        assert refused.error["error"] == "HEADERS_TOO_LARGE"


class TestCodings:
    @pytest.mark.parametrize(
        "lines",
        [
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked, chunked\r\n",
        ],
    )
    def test_one_that_is_not_known_is_refused(self, codeplane_server: Server, lines: str) -> None:
        head = f"{POST.format(path=CALL)}Authorization: Bearer {codeplane_server.token}\r\n{lines}\r\n"
        refused = raw(codeplane_server, f"{head}{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n".encode())
        assert refused.status == 400
        assert refused.error["error"] == "MALFORMED_REQUEST"

    @pytest.mark.parametrize("name", ["chunked", "Chunked", " chunked "])
    def test_chunked_is_known(self, codeplane_server: Server, name: str) -> None:
        head = f"{POST.format(path=CALL)}Authorization: Bearer {codeplane_server.token}\r\n"
        body = f"Transfer-Encoding: {name}\r\n\r\n{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"
        assert raw(codeplane_server, (head + body).encode()).status == 200


@pytest.mark.parametrize("version", ["2.0", "0.9", "3.0"])
def test_another_version_is_refused(codeplane_server: Server, version: str) -> None:
    request = f"GET /health HTTP/{version}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    assert raw(codeplane_server, request.encode()).status == 400


class TestUpgrades:
    @pytest.mark.parametrize("method", ["GET", "POST"])
    @pytest.mark.parametrize("lines", ["Content-Length: 500\r\n", "Transfer-Encoding: chunked\r\n"])
    def test_one_with_a_body_is_refused_before_the_body(
        self, codeplane_server: Server, method: str, lines: str
    ) -> None:
        refused = raw(codeplane_server, f"{UPGRADE.format(method=method)}{lines}\r\n".encode())
        assert refused.status == 400
        assert refused.error["error"] == "MALFORMED_REQUEST"
