"""Only this machine's own programs and pages may talk to the server, and not for ever."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import CALL, STREAM, get, open_response, owner, raw, send

LOCAL = "Host: 127.0.0.1"


@pytest.fixture(scope="module")
def lenient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that accepts one host and one origin more, and small bodies only."""
    overrides = [
        "server.host=127.0.0.2",
        "server.allowed_hosts=[Dev.Box]",
        "server.allowed_origins=['https://tool.example']",
        "server.max_body_bytes=2000",
        "server.max_connections=3",
    ]
    repo = make_repo(tmp_path_factory.mktemp("lenient") / "repo")
    running = start(repo, overrides=overrides)
    yield running
    running.stop()


class TestHost:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "127.0.0.1:80", "LocalHost:1234", "[::1]", "[::1]:9", "localhost \t"]
    )
    def test_a_loopback_name_is_taken(self, codeplane_server: Server, host: str) -> None:
        assert get(codeplane_server, "/health", f"Host: {host}").status == 200

    @pytest.mark.parametrize(
        "target",
        [
            "http://evil.example/health",
            "http://evil.example:80/health",
            "https://evil.example/health",
            "http://127.0.0.1.evil.example/health",
            "http://127.0.0.1@evil.example/health",
            "http://user@127.0.0.1/health",
            "http://evil.example?/health",
            "HTTP://EVIL.example/health",
        ],
    )
    def test_a_target_that_names_another_is_refused_whatever_the_header_says(
        self, codeplane_server: Server, target: str
    ) -> None:
        answer = get(codeplane_server, target, LOCAL)
        assert answer.status in (400, 403), answer
        assert answer.status == 400 or answer.error["error"] == "ORIGIN_DENIED"

    def test_a_target_that_names_us_as_the_header_does_is_taken(self, codeplane_server: Server) -> None:
        assert get(codeplane_server, "http://127.0.0.1/health", LOCAL).status == 200
        assert get(codeplane_server, "http://127.0.0.1/health", "Host: evil.example").status == 403

    @requirement("SRV-02")
    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "localhost.",
            "127.0.0.2",
            "0.0.0.0",
            "user@127.0.0.1",
            "127.0.0.1/x",
            "127.0.0.1#x",
            "127.0.0.1, evil.example",
            "127.0.0.1:port",
            "[::1",
            "[::1]evil",
            "",
            "\xe9",
        ],
    )
    def test_any_other_name_is_refused(self, codeplane_server: Server, host: str) -> None:
        answer = get(codeplane_server, "/health", f"Host: {host}")
        assert (answer.status, answer.error["error"]) == (403, "ORIGIN_DENIED")

    def test_no_name_and_two_names_are_refused(self, codeplane_server: Server) -> None:
        assert get(codeplane_server, "/health").status == 403
        assert get(codeplane_server, "/health", LOCAL, "Host: evil.example").status == 403
        assert get(codeplane_server, "/health", "Host: evil.example", LOCAL).status == 403

    @pytest.mark.parametrize("path", ["/status", "/metrics", "/mcp", "/mcp/stdio", "/events", "/nowhere", CALL])
    def test_nothing_is_reachable_under_another_name(self, codeplane_server: Server, path: str) -> None:
        assert get(codeplane_server, path, "Host: evil.example").status == 403

    def test_the_settings_name_further_hosts_whatever_their_case(self, lenient: Server) -> None:
        assert _status(lenient, "Host: dev.box:8080") == 200
        assert _status(lenient, "Host: DEV.BOX") == 200
        assert _status(lenient, "Host: other.box") == 403

    def test_the_address_it_listens_on_is_its_own(self, lenient: Server) -> None:
        assert _status(lenient, f"Host: 127.0.0.2:{lenient.port}") == 200
        assert _status(lenient, "Host: 127.0.0.3") == 403


class TestOrigin:
    def test_a_page_of_its_own_is_let_in(self, codeplane_server: Server) -> None:
        for host in ("127.0.0.1", "localhost", "[::1]"):
            origin = f"Origin: http://{host}:{codeplane_server.port}"
            assert get(codeplane_server, "/health", LOCAL, origin).status == 200

    @requirement("SRV-02")
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "null",
            "",
            "http://127.0.0.1",
            "http://127.0.0.1:1",
            "http://localhost:{other}",
            "https://127.0.0.1:{port}",
            "http://127.0.0.1:{port}.evil.example",
            "http://evil.example:{port}",
            "http://x@127.0.0.1:{port}",
            "file://",
            "vscode-webview://127.0.0.1:{port}",
        ],
    )
    def test_a_page_of_anybody_else_is_not(self, codeplane_server: Server, origin: str) -> None:
        text = origin.format(port=codeplane_server.port, other=codeplane_server.port + 1)
        answer = get(codeplane_server, "/health", LOCAL, f"Origin: {text}")
        assert (answer.status, answer.error["error"]) == (403, "ORIGIN_DENIED")

    def test_two_origins_are_not_better_than_one(self, codeplane_server: Server) -> None:
        own = f"Origin: http://127.0.0.1:{codeplane_server.port}"
        assert get(codeplane_server, "/health", LOCAL, own, "Origin: https://evil.example").status == 403

    def test_the_right_token_does_not_help_a_foreign_page(self, codeplane_server: Server) -> None:
        headers = {**owner(codeplane_server), "origin": "https://evil.example"}
        body = b'{"operation":"status"}'
        assert send(codeplane_server, "POST", CALL, body=body, headers=headers).status == 403

    def test_the_settings_name_further_origins(self, lenient: Server) -> None:
        assert _status(lenient, LOCAL, "Origin: https://tool.example") == 200
        assert _status(lenient, LOCAL, "Origin: https://tool.example:444") == 403
        assert _status(lenient, LOCAL, "Origin: http://tool.example") == 403


class TestSize:
    @pytest.mark.parametrize("path", [CALL, STREAM, "/mcp"])
    def test_a_body_that_is_announced_as_too_long_is_not_read(self, codeplane_server: Server, path: str) -> None:
        head = f"POST {path} HTTP/1.1\r\n{LOCAL}\r\nContent-Type: application/json\r\n"
        head += "Accept: application/json, text/event-stream\r\nContent-Length: 4194305\r\nConnection: close\r\n\r\n"
        answer = raw(codeplane_server, head.encode())
        assert answer.status == 413
        assert answer.error["details"] == {"limit": 4_194_304, "setting": "server.max_body_bytes"}

    @requirement("SRV-10")
    @pytest.mark.parametrize("path", [CALL, STREAM, "/mcp"])
    def test_a_body_in_pieces_is_cut_off(self, codeplane_server: Server, path: str) -> None:
        kind = "application/connect+json" if path == STREAM else "application/json"
        head = f"POST {path} HTTP/1.1\r\n{LOCAL}\r\nContent-Type: {kind}\r\n"
        # Without a token Connect is refused by its head alone.
        head += f"Authorization: Bearer {codeplane_server.token}\r\n"
        head += "Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        piece = b"%x\r\n%b\r\n" % (1 << 20, b" " * (1 << 20))
        answer = raw(codeplane_server, head.encode() + piece * 5 + b"0\r\n\r\n")
        assert answer.status == 413

    def test_the_limit_is_a_setting_and_reaches_exactly_to_it(self, lenient: Server) -> None:
        for size, status in ((2000, 200), (2001, 413)):
            body = b'{"operation":"status"}'.ljust(size)
            head = f"POST {CALL} HTTP/1.1\r\n{LOCAL}\r\nAuthorization: Bearer {lenient.token}\r\n"
            head += f"Content-Length: {size}\r\nConnection: close\r\n\r\n"
            assert raw(lenient, head.encode() + body).status == status


class TestCrowd:
    @requirement("SRV-13", "SRV-10")
    def test_more_requests_at_once_than_allowed_are_told_to_come_again(self, lenient: Server) -> None:
        with ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(open_response(lenient, "GET", "/events"))
            answer = send(lenient, path="/status")
            assert (answer.status, answer.error["error"], answer.error["retryable"]) == (503, "OVERLOADED", True)
            # What the owner needs to see what goes on has its place all the same.
            assert send(lenient, path="/health").status == 200
            assert send(lenient, path="/status", headers=owner(lenient)).status == 200
            assert send(lenient, path="/status", headers={"authorization": "Bearer x"}).status == 503
        # The places are free again as soon as the server has seen the connections go.
        until(lambda: send(lenient, path="/status").status == 200)


def _status(server: Server, *lines: str) -> int:
    return get(server, "/health", *lines).status
