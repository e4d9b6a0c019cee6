"""Who is calling, and the token that says so."""

import os
import stat
from pathlib import Path

import pytest

from codeplane.kernel.actor import ActorKind, Caller
from codeplane.kernel.errors import StorageReadOnly, Unauthorized
from codeplane.trust.identity import Identities, owner_token
from codeplane.trust.people import is_person
from tests.interaction.requirements import requirement
from tests.trust.identity.identity_setup import desk, holding

TOKEN = "t" * 43
IDENTITY = Identities(TOKEN)


@pytest.mark.parametrize("surface", ["connect", "grpc", "embedded", "rest", "anything"])
def test_the_right_token_is_the_owner(surface: str) -> None:
    actor = IDENTITY.identify(Caller(surface=surface, token=TOKEN))
    assert (actor.kind, actor.owner_id) == (ActorKind.OWNER, "owner")


@pytest.mark.parametrize("surface", ["connect", "mcp", "embedded", "rest"])
@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "t", TOKEN.upper(), f" {TOKEN}", "ü" * 43, "\ud800"])
def test_a_wrong_token_is_nobody(surface: str, token: str) -> None:
    with pytest.raises(Unauthorized):
        IDENTITY.identify(Caller(surface=surface, token=token))


@pytest.mark.parametrize("surface", ["connect", "grpc", "web", "", "MCP", "embedded2"])
def test_without_a_token_an_unknown_surface_is_nobody(surface: str) -> None:
    with pytest.raises(Unauthorized) as caught:
        IDENTITY.identify(Caller(surface=surface, client="mcp"))
    assert "owner.token" in caught.value.hint


@requirement("TRUST-04")
@pytest.mark.parametrize("token", [None, TOKEN])
def test_an_agent_is_never_the_owner(token: str | None) -> None:
    actor = IDENTITY.identify(Caller(surface="mcp", client="claude", token=token))
    assert (actor.kind, actor.actor_id, actor.owner_id) == (ActorKind.AGENT, "claude", "owner")
    assert str(actor) == "agent:claude"
    assert IDENTITY.identify(Caller(surface="mcp", client="owner", token=token)).kind is ActorKind.AGENT
    assert IDENTITY.identify(Caller(surface="mcp", token=token)).actor_id == "anonymous"


def test_whoever_embeds_it_is_the_owner_and_a_probe_is_not() -> None:
    assert IDENTITY.identify(Caller(surface="embedded")).kind is ActorKind.OWNER
    assert IDENTITY.identify(Caller(surface="rest")).kind is ActorKind.SYSTEM


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_token_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "owner.token"
    mask = os.umask(0)
    try:
        token = owner_token(path)
    finally:
        os.umask(mask)
    assert len(token) >= 43
    assert mode(path) == 0o600
    assert path.read_text() == token + "\n"
    assert owner_token(path) == token
    assert owner_token(tmp_path / "another.token") != token


@pytest.mark.parametrize("before", [0o644, 0o666, 0o777, 0o400])
def test_a_token_that_others_could_read_is_closed_to_them(tmp_path: Path, before: int) -> None:
    path = tmp_path / "owner.token"
    path.write_text(TOKEN)
    path.chmod(before)
    assert owner_token(path) == TOKEN
    assert mode(path) == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"short", b"\xff" * 64, b"\0" * 64, b"t" * 20 + b" " + b"t" * 20, "ü".encode() * 43]
)
def test_what_is_no_token_is_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "owner.token"
    path.write_bytes(content)
    path.chmod(0o644)
    token = owner_token(path)
    assert len(token) >= 43
    assert path.read_text() == token + "\n"
    assert mode(path) == 0o600


def test_a_token_that_cannot_be_written_is_said_in_our_words(tmp_path: Path) -> None:
    (tmp_path / "owner.token").mkdir()
    with pytest.raises(StorageReadOnly):
        owner_token(tmp_path / "owner.token")
    with pytest.raises(StorageReadOnly):
        owner_token(tmp_path / "nowhere" / "owner.token")


CLOSED = Identities(TOKEN, require_token=True)


@pytest.mark.parametrize("surface", ["mcp", "rest", "connect", "grpc", "web"])
def test_where_tokens_are_required_nobody_is_served_without_one(surface: str) -> None:
    with pytest.raises(Unauthorized):
        CLOSED.identify(Caller(surface=surface, client="claude"))
    assert CLOSED.identify(Caller(surface="embedded")).kind is ActorKind.OWNER


def test_where_tokens_are_required_the_right_one_is_still_right() -> None:
    assert CLOSED.identify(Caller(surface="mcp", client="claude", token=TOKEN)).kind is ActorKind.AGENT
    assert CLOSED.identify(Caller(surface="connect", token=TOKEN)).kind is ActorKind.OWNER
    assert CLOSED.identify(Caller(surface="rest", token=TOKEN)).kind is ActorKind.OWNER


@pytest.mark.parametrize("name", ["agent_reviewer", "dev_0198/claude", "~agent_reviewer", "~x"])
def test_a_client_cannot_call_itself_what_a_token_stands_for(name: str) -> None:
    for token in (None, TOKEN):
        assert IDENTITY.identify(Caller(surface="mcp", client=name, token=token)).actor_id == f"~{name}"


def test_tokens_of_devices_and_agents_are_nobodys_where_there_are_none() -> None:
    for token in ("cpd_" + "x" * 43, "eyJhbGciOiJFZERTQSJ9.e30.xxx", "x" * 9000):
        with pytest.raises(Unauthorized):
            IDENTITY.identify(Caller(surface="connect", token=token))


async def test_an_agent_on_a_device_is_not_that_person(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        agent = opened.identities.identify(holding(device.token, "mcp"))
        assert str(agent) == f"agent:{device.device_id}/phone"
        assert not is_person(agent)
        assert is_person(opened.identities.identify(holding(device.token)))


def test_the_owner_is_known_though_the_token_looks_like_anothers() -> None:
    for token in ("cpd_" + "x" * 43, "eyJ." + "x" * 40 + ".x"):
        identities = Identities(token)
        assert identities.identify(Caller(surface="connect", token=token)).kind is ActorKind.OWNER
