"""What is on every answer: which repository it is of, which request it belongs to, and errors of one shape."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.errors import ERRORS
from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import CALL, Answer, call, get, owner, raw, send

LOCAL = "Host: 127.0.0.1"


def refusals(server: Server) -> Iterator[tuple[int, Answer]]:
    """One answer of every way to be refused, with the status it should have."""
    limit = 4 * 1024 * 1024 + 1
    yield 404, send(server, path="/nowhere")
    yield 501, call(server, "no.such.operation")
    yield 405, send(server, "POST", "/health")
    yield 405, send(server, "DELETE", CALL)
    yield 400, send(server, "POST", CALL, body=b"{", headers=owner(server))
    yield 400, call(server, "status", {"nothing": 1})
    yield 401, call(server, "status", headers={})
    yield 401, send(server, path="/events")
    yield 403, get(server, "/health", "Host: evil.example")
    yield 403, get(server, "/health", LOCAL, "Origin: https://evil.example")
    long = f"POST {CALL} HTTP/1.1\r\n{LOCAL}\r\nContent-Length: {limit}\r\nConnection: close\r\n\r\n"
    yield 413, raw(server, long.encode())


@requirement("SRV-01")
def test_every_answer_names_the_repository(codeplane_server: Server) -> None:
    answers = [send(codeplane_server, path=path) for path in ("/health", "/ready", "/status", "/metrics")]
    answers += [answer for _, answer in refusals(codeplane_server)]
    answers += [
        send(codeplane_server, "HEAD"),
        send(codeplane_server, "GET", "/mcp"),
        send(codeplane_server, "PUT", "/mcp"),
    ]
    for answer in answers:
        assert answer.headers["x-codeplane-repo"] == str(codeplane_server.repo.resolve())


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"NOT HTTP\r\n\r\n",
        b"GET /health HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n",
    ],
    ids=["no HTTP", "impossible length", "connect"],
)
def test_what_is_not_even_a_request_is_answered_with_the_repository_too(
    codeplane_server: Server, request_bytes: bytes
) -> None:
    answer = raw(codeplane_server, request_bytes)
    assert answer.status == 400
    assert answer.headers["x-codeplane-repo"] == str(codeplane_server.repo.resolve())


def test_every_refusal_has_the_shape_of_the_one_table(codeplane_server: Server) -> None:
    table = {error.name: error.code for error in ERRORS}
    for status, answer in refusals(codeplane_server):
        assert answer.status == status, answer.body
        assert answer.headers["content-type"] == "application/json"
        assert set(answer.error) >= {"code", "error", "message", "retryable", "hint", "source", "details"}
        assert table[str(answer.error["error"])] == answer.error["code"]
        assert answer.error["hint"]


def test_a_wrong_method_says_which_are_right(codeplane_server: Server) -> None:
    answer = send(codeplane_server, "GET", CALL)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@requirement("SRV-01")
@pytest.mark.parametrize(
    "name",
    ['dépôt Å 日本 😀 line\nbreak\ttab 100% #?&=\\"quoted"', " spaces "],
    ids=["characters", "spaces at the ends"],
)
def test_odd_repository_paths(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / name)
    server = start(repo)
    try:
        header = send(server).headers["x-codeplane-repo"].encode("latin-1").decode()
        assert header.rstrip() == str(repo).replace("\n", "%0A").replace("\t", "%09").rstrip()
        found = cpl("status", "--json", cwd=repo)
        assert found.returncode == 0, found.stderr
        # What the shim does: the same server is found again, through files whose names are as odd.
        again = cpl("up", "--detach", "--json", cwd=repo)
        assert '"note":"already running"' in again.stdout, again.stderr
        assert cpl("mcp", "--repo", str(repo), stdin="").returncode == 0
    finally:
        server.stop()


def test_a_repository_that_json_cannot_name_is_refused_with_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    done = cpl("up", cwd=folder)
    assert done.returncode == 1
    assert "not a UTF-8 name" in done.stderr
    assert "hint: rename the folder" in done.stderr


class TestRequestId:
    """A request has one name, the caller's if it gave one."""

    def test_the_callers_name_is_used_and_told_back(self, codeplane_server: Server) -> None:
        answer = call(codeplane_server, "status", headers={**owner(codeplane_server), "X-Request-Id": "build-7/step 3"})
        assert answer.meta["request_id"] == "build-7/step 3"
        assert answer.headers["x-request-id"] == "build-7/step 3"

    def test_a_failed_call_has_it_too(self, codeplane_server: Server) -> None:
        headers = {**owner(codeplane_server), "X-Request-Id": "r1"}
        for answer in (
            call(codeplane_server, "status", {"x": 1}, headers=headers),
            call(codeplane_server, "no.such", headers=headers),
            call(codeplane_server, "status", headers={"X-Request-Id": "r1"}),
        ):
            assert (answer.meta["request_id"], answer.headers["x-request-id"]) == ("r1", "r1")
        assert send(codeplane_server, path="/nowhere", headers=headers).headers["x-request-id"] == "r1"

    @pytest.mark.parametrize(
        "given", ["", "x" * 129, "caf\xe9", "tab\there"], ids=["empty", "long", "not ASCII", "control"]
    )
    def test_a_name_that_is_not_fit_to_be_repeated_is_replaced(self, codeplane_server: Server, given: str) -> None:
        answer = call(codeplane_server, "status", headers={**owner(codeplane_server), "X-Request-Id": given})
        assert str(answer.meta["request_id"]).startswith("req_")
        assert answer.headers["x-request-id"] == answer.meta["request_id"]

    def test_without_one_every_request_has_its_own(self, codeplane_server: Server) -> None:
        names = {call(codeplane_server, "status").headers["x-request-id"] for _ in range(3)}
        assert len(names) == 3
