"""Clients that find their server: by the repository's own files, and by Bonjour where its owner wants that."""

import json
import socket
from pathlib import Path

import pytest

from codeplane.client import AnnouncedServer, Client, Reconnection, find_announced
from codeplane.client.async_client import AsyncClient
from codeplane.kernel.errors import InvalidArgument, ServerUnreachable, Unauthorized
from tests.harness import Server, cpl, make_repo, start, until
from tests.interaction.requirements import requirement

pytestmark = requirement("CLIENT-01")

LOOPBACK = "127.0.0.1"
PATIENT = Reconnection(tries=10_000, first_sec=0.01, most_sec=0.02)
TLS = ("server.tls=self_signed", "server.require_token=true")


def test_a_repository_is_enough(server: Server) -> None:
    inside = server.repo / "deep" / "inside"
    inside.mkdir(parents=True, exist_ok=True)
    for folder in (server.repo, inside, str(server.repo)):
        assert "result" in Client.of_repository(folder).call("session.info", {})


async def test_the_client_for_asyncio_finds_it_too(server: Server) -> None:
    assert "result" in await AsyncClient.of_repository(server.repo).call("session.info", {})


def test_a_stream_goes_on_when_the_server_comes_back_at_another_port(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop")
    server = start(repo, overrides=["server.port=0"])
    client = Client.of_repository(repo, reconnection=PATIENT)
    thread_id = client.create_thread(title="first")
    with client.watch_thread(thread_id) as events:
        assert next(events).type == "thread.created"
        server.kill()
        server = start(repo, overrides=[f"server.port={_free_port()}"])
        try:
            Client.of_repository(repo).call("thread.rename", {"thread_id": thread_id, "title": "second"})
            renamed = next(events)
            assert (renamed.type, renamed.sequence) == ("thread.renamed", 2)
        finally:
            server.stop()


def test_where_no_server_runs_or_another_program_answers_no_token_is_shown(tmp_path: Path, server: Server) -> None:
    with pytest.raises(ServerUnreachable):
        Client.of_repository(tmp_path)
    # A copy of the repository with the files of a server that serves another folder.
    copied = tmp_path / "copy" / ".codeplane"
    copied.mkdir(parents=True)
    for name in ("repo_id", "owner.token", "port"):
        (copied / name).write_text((server.workspace.home / name).read_text())
    facts = json.loads(server.workspace.server.read_text())
    (copied / "server.json").write_text(json.dumps({**facts, "instance": "server_of_somebody"}))
    with pytest.raises(ServerUnreachable, match="is not the server of"):
        Client.of_repository(copied.parent).call("session.info", {})
    (copied / "server.json").write_text(json.dumps({**facts, "host": "192.0.2.1"}))
    with pytest.raises(ServerUnreachable):
        Client.of_repository(copied.parent).call("session.info", {})


@requirement("CLIENT-02")
def test_a_server_is_announced_only_where_its_owner_wants_that_and_with_tls(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop")
    refused = cpl("up", "--set", "server.announce=true", "--repo", str(repo))
    assert refused.returncode != 0 and "server.announce is on, but server.tls is off" in refused.stderr
    quiet = start(repo, overrides=TLS)
    try:
        assert _of(quiet, find_announced(seconds=2, interfaces=[LOOPBACK])) == []
    finally:
        quiet.stop()
    server = start(repo, overrides=(*TLS, "server.announce=true"))
    try:
        (found,) = until(lambda: _of(server, find_announced(seconds=1, interfaces=[LOOPBACK])))
        assert found.addresses == (LOOPBACK,) and str(repo) not in str(found)
        pinned = str(server.facts["tls_fingerprint"])
        assert found.fingerprint == pinned
        client = Client.of_announced(found, fingerprint=pinned, token=server.token)
        assert "result" in client.call("session.info", {})
        wrong = Client.of_announced(found, fingerprint="00" * 32, token=server.token)
        with pytest.raises(Unauthorized, match="another certificate"):
            wrong.call("session.info", {})
        for bad in ("", "00", "what it says"):
            with pytest.raises(InvalidArgument):
                Client.of_announced(found, fingerprint=bad)
    finally:
        server.stop()
    assert _of(server, find_announced(seconds=1, interfaces=[LOOPBACK])) == []


def test_listening_is_bounded() -> None:
    for seconds in (0, -1, 61):
        with pytest.raises(InvalidArgument):
            find_announced(seconds=seconds)


def _of(server: Server, found: list[AnnouncedServer]) -> list[AnnouncedServer]:
    """Those at the server's port: others may announce theirs on this machine."""
    port = str(server.facts.get("tls_url", "")).rpartition(":")[2]
    return [one for one in found if str(one.port) == port]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        return int(listener.getsockname()[1])
