"""TLS and tokens: what is asked of those who come from elsewhere, and of those who do not."""

import json
import ssl
import subprocess
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import CALL

pytestmark = requirement("TRUST-23")

MCP = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
TOOL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "git_status", "arguments": {}}}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CA and a client's certificate that it signed."""
    folder = tmp_path_factory.mktemp("ca")
    fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    commands = (
        ["req", "-x509", "-subj", "/CN=authority", *fresh, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2"],
        ["req", "-subj", "/CN=client", *fresh, "-keyout", "client.key", "-out", "client.csr"],
        ["x509", "-req", "-in", "client.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
         "client.pem", "-days", "2"],
    )  # fmt: skip
    for command in commands:
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, authority: Path) -> Iterator[Server]:
    """A server with a certificate of its own that wants one from its clients, and a token from everybody."""
    repo = make_repo(tmp_path_factory.mktemp("closed") / "repo")
    overrides = ["server.tls=self_signed", "server.require_token=true", f"server.tls_client_ca={authority / 'ca.pem'}"]
    running = start(repo, overrides=overrides)
    yield running
    running.stop()


def asked(server: Server, authority: Path | None, *, token: str | None) -> int:
    """The status of a call over TLS, with or without a client's certificate."""
    context = ssl.create_default_context(cafile=str(server.workspace.tls / "certificate.pem"))
    if authority is not None:
        context.load_cert_chain(authority / "client.pem", authority / "client.key")
    port = int(json.loads(server.workspace.server.read_text())["tls_url"].rpartition(":")[2])
    connection = HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
    try:
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        connection.request("POST", CALL, json.dumps({"operation": "session.info"}), headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_with_a_certificate_and_a_token_one_is_served(closed: Server, authority: Path) -> None:
    assert asked(closed, authority, token=closed.token) == 200


def test_without_a_token_one_is_not(closed: Server, authority: Path) -> None:
    assert asked(closed, authority, token=None) == 401


def test_without_a_certificate_nobody_is_even_heard(closed: Server) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        asked(closed, None, token=closed.token)


def test_over_mcp_a_token_is_asked_for_too(closed: Server) -> None:
    for token, wanted in ((None, "UNAUTHORIZED"), (closed.token, "on ")):
        headers = {**MCP, **({"authorization": f"Bearer {token}"} if token else {})}
        response, _ = closed.request("POST", "/mcp", body=json.dumps(HELLO).encode(), headers=headers)
        headers["mcp-session-id"] = response.headers["mcp-session-id"]
        _, body = closed.request("POST", "/mcp", body=json.dumps(TOOL).encode(), headers=headers)
        assert (b"UNAUTHORIZED" in body) is (wanted == "UNAUTHORIZED"), body


def test_the_owners_own_commands_and_the_shim_go_on_working(closed: Server) -> None:
    assert cpl("status", cwd=closed.repo).returncode == 0
    output = "".join(json.dumps(message) + "\n" for message in (HELLO, TOOL))
    answered = cpl("mcp", "--repo", str(closed.repo), stdin=output)
    assert answered.returncode == 0
    assert "UNAUTHORIZED" not in answered.stdout


@pytest.mark.parametrize(
    "settings",
    [
        ["server.host=0.0.0.0"],
        ["server.host=0.0.0.0", "server.tls=self_signed"],
        ["server.host=0.0.0.0", "server.require_token=true"],
        ["server.tls=files", "server.tls_certificate=/nowhere.pem", "server.tls_key=/nowhere.pem"],
    ],
    ids=["bare", "no token", "no tls", "no files"],
)
def test_what_would_be_open_to_others_does_not_start(repo: Path, settings: list[str]) -> None:
    done = cpl("up", "--repo", str(repo), *(part for one in settings for part in ("--set", one)))
    assert done.returncode == 1
    assert "\nhint: " in done.stderr


def test_beyond_loopback_with_both_it_starts(repo: Path) -> None:
    names = 'server.allowed_hosts=["box.local"]'
    settings = ["server.host=0.0.0.0", "server.tls=self_signed", "server.require_token=true", names]
    running = start(repo, overrides=settings)
    try:
        assert running.host == "127.0.0.1"
        assert asked(running, None, token=running.token) == 200
        shown = json.loads(cpl("status", "--json", "--repo", str(repo)).stdout)
        assert shown["tls_url"].startswith("https://box.local:") and len(shown["tls_fingerprint"]) == 95
        assert shown["grpc_address"].startswith("0.0.0.0:")
        for command in ("status", "up"):
            output = cpl(command, "--repo", str(repo)).stdout
            assert shown["url"] in output
            assert all(shown[name] in output for name in ("tls_url", "tls_fingerprint", "grpc_address")), output
        assert "--set server.tls" in cpl("status", "--repo", str(repo)).stdout
    finally:
        running.stop()


def test_the_address_it_listens_on_is_its_name_and_all_addresses_are_not(repo: Path) -> None:
    own = start(repo, overrides=["server.host=127.8.9.1", "server.tls=self_signed"])
    try:
        text = json.loads(own.workspace.server.read_text())["tls_url"]
        assert text.startswith("https://127.8.9.1:")
        context = ssl.create_default_context(cafile=str(own.workspace.tls / "certificate.pem"))
        for host, wanted in (("127.8.9.1", 200), ("0.0.0.0", 403), ("box.local", 403)):
            connection = HTTPSConnection("127.8.9.1", int(text.rpartition(":")[2]), context=context, timeout=30)
            connection.request("GET", "/health", headers={"host": host})
            answer = connection.getresponse()
            assert answer.status == wanted, host
            assert wanted == 200 or b"server.allowed_hosts" in answer.read()
            connection.close()
    finally:
        own.stop()
