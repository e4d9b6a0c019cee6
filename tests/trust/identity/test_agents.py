"""Agents' tokens: believed only when they are exactly what was issued, and only as long as it was said."""

import asyncio
import base64
import json
import sqlite3
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import (
    CodePlaneError,
    InvalidArgument,
    NotFound,
    Overloaded,
    PolicyDenied,
    RateLimited,
    TokenExpired,
    Unauthorized,
)
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import differences
from codeplane.trust.identity.agent_operations import AgentList, AgentToken, RevokedTokens, RotatedKeys
from codeplane.trust.identity.agents import Agents
from codeplane.trust.identity.issued_token import IssuedTokenTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock, run
from tests.trust.identity.identity_setup import MCP, OWNER, Desk, desk, holding

pytestmark = requirement("TRUST-22")


def refused(opened: Desk, token: str) -> type[CodePlaneError] | None:
    """How the token is refused, or None when it lets an agent in."""
    try:
        assert opened.identities.identify(holding(token)).kind is ActorKind.AGENT
    except CodePlaneError as error:
        return type(error)
    return None


def claims_of(token: str) -> dict[str, JsonValue]:
    claims: dict[str, JsonValue] = jwt.decode(token, options={"verify_signature": False})
    return claims


def encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


async def test_a_token_says_who_and_what(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        made = await opened.agent(
            "reviewer",
            capabilities=["read_files", "execute_tools"],
            allowed_paths=["src/**"],
            allowed_tools=["git.*"],
            max_agents=5,
            minutes=10,
        )
        now = opened.clock.now_ns() // SECOND_NS
        assert claims_of(made.token) == {
            "iss": "codeplane",
            "sub": "agent_reviewer",
            "aud": ["codeplane"],
            "exp": now + 600,
            "iat": now,
            "jti": made.token_id,
            "capabilities": ["read_files", "execute_tools"],
            "context": {
                "approval_mode": "trust",
                "allowed_paths": ["src/**"],
                "allowed_tools": ["git.*"],
                "max_agents": 5,
            },
        }
        assert jwt.get_unverified_header(made.token)["alg"] == "EdDSA"
        for surface in ("connect", "grpc", "mcp", "embedded", "rest"):
            actor = opened.identities.identify(holding(made.token, surface))
            assert str(actor) == "agent:agent_reviewer"
        held = opened.identities.token_rights(holding(made.token))
        assert held is not None
        assert held.capabilities == {"read_files", "execute_tools"}
        assert (held.allowed_paths, held.allowed_tools) == (("src/**",), ("git.*",))
        assert (held.max_agents, held.approval_mode) == (5, "trust")
        assert held.expires_ns == (now + 600) * SECOND_NS


async def test_what_others_hold_does_not_come_from_a_token(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        for caller in (OWNER, MCP, holding(device.token), holding(device.token, "mcp")):
            assert opened.identities.token_rights(caller) is None
        with pytest.raises(Unauthorized):
            opened.identities.token_rights(holding("wrong"))


async def test_a_resumed_call_holds_what_its_agent_holds_now(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        await opened.agent(capabilities=["write_files"])
        actor = Actor(kind=ActorKind.AGENT, actor_id="agent_reviewer")
        resumed = Caller(surface="approval", actor=actor)
        held = opened.identities.token_rights(resumed)
        assert held is not None and held.capabilities == {"write_files"}
        assert opened.identities.is_live(actor)
        await opened.call(RevokedTokens, "agent.revoke", agent="reviewer")
        held = opened.identities.token_rights(resumed)
        assert held is not None and held.capabilities == frozenset()
        assert not opened.identities.is_live(actor)
        assert (
            opened.identities.token_rights(
                Caller(surface="approval", actor=Actor(kind=ActorKind.OWNER, actor_id="owner"))
            )
            is None
        )


async def test_a_token_ends_at_its_time_and_no_later_than_the_settings_say(tmp_path: Path) -> None:
    async with desk(tmp_path, token_minutes=60) as opened:
        short, long = await opened.agent("short", minutes=1), await opened.agent("long", minutes=10_000)
        asked: JsonObject = {"agent": "longer", "minutes": 61}
        (output,) = (await opened.conveyor.call("agent.token", asked, OWNER)).meta.warnings
        assert "60 minutes" in output and "agents.token_minutes" in output
        opened.clock.advance(59)
        assert refused(opened, short.token) is None
        opened.clock.advance(1)
        assert refused(opened, short.token) is TokenExpired
        opened.clock.advance(60 * 59)
        assert refused(opened, long.token) is TokenExpired


@pytest.mark.parametrize("looked_before", [False, True])
async def test_a_clock_that_is_set_back_makes_no_token_live_longer(tmp_path: Path, looked_before: bool) -> None:
    async with desk(tmp_path) as opened:
        token = (await opened.agent(minutes=10)).token
        if looked_before:
            assert refused(opened, token) is None
        opened.clock.advance(300)
        opened.clock.jump(-200)
        opened.clock.advance(300)
        assert refused(opened, token) in (TokenExpired, Unauthorized)
        opened.clock.jump(-1000)
        assert refused(opened, token) is Unauthorized


async def test_what_is_not_exactly_a_token_of_ours_is_refused(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        good = (await opened.agent()).token
        head, body, signature = good.split(".")
        header, claims = jwt.get_unverified_header(good), claims_of(good)
        key_id, private = opened.keys.signer()
        public = private.public_key()

        def made(change: dict[str, JsonValue] | None = None, without: str = "", **headers: JsonValue) -> str:
            payload = {name: value for name, value in (claims | (change or {})).items() if name != without}
            return jwt.encode(payload, private, algorithm="EdDSA", headers={"kid": key_id, **headers})

        assert refused(opened, made()) is None
        now = opened.clock.now_ns() // SECOND_NS
        hs256 = {**header, "alg": "HS256"}
        raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        forged = {
            "alg none": f"{encoded({**header, 'alg': 'none'})}.{body}.",
            "alg None": f"{encoded({**header, 'alg': 'None'})}.{body}.",
            "alg none with its signature": f"{encoded({**header, 'alg': 'none'})}.{body}.{signature}",
            "no signature": f"{head}.{body}.",
            "HS256 with the public key": jwt.encode(claims, raw, algorithm="HS256", headers={"kid": key_id}),
            "HS256 with the PEM": _hs256(hs256, claims, pem),
            "other key": jwt.encode(claims, Ed25519PrivateKey.generate(), algorithm="EdDSA", headers={"kid": key_id}),
            "unknown kid": made(kid="key_none"),
            "kid is a path": made(kid="../../etc/passwd"),
            "no kid": jwt.encode(claims, private, algorithm="EdDSA"),
            "crit": made(crit=["exp"]),
            "jwk": made(jwk={"kty": "OKP"}),
            "jku": made(jku="https://example.com/keys"),
            "wrong audience": made({"aud": ["another"]}),
            "audience among others": made({"aud": ["codeplane", "another"]}),
            "audience as text": made({"aud": "codeplane"}),
            "no audience": made(without="aud"),
            "wrong issuer": made({"iss": "another"}),
            "no issuer": made(without="iss"),
            "no end": made(without="exp"),
            "end as text": made({"exp": str(now + 60)}),
            "end is true": made({"exp": True}),
            "end is a float": made({"exp": now + 60.5}),
            "endless": made({"exp": 2**70}),
            "no start": made(without="iat"),
            "from the future": made({"iat": now + 60}),
            "not before": made({"nbf": now + 60}),
            "no id": made(without="jti"),
            "id that was never issued": made({"jti": "tok_00000000"}),
            "no subject": made(without="sub"),
            "another subject": made({"sub": "agent_admin"}),
            "unknown capability": made({"capabilities": ["root"]}),
            "further claims": made({"admin": True}),
            "truncated": good[:-1],
            "truncated to two parts": f"{head}.{body}",
            "a part more": f"{good}.x",
            "changed body": f"{head}.{encoded({**claims, 'capabilities': ['execute_shell']})}.{signature}",
            "too long": f"{head}.{body}{'A' * 8192}.{signature}",
            "not ASCII": good[:-1] + "é",
            "deep": f"{encoded(header)}.{base64.urlsafe_b64encode(b'[' * 3000).decode().rstrip('=')}.{signature}",
            "empty parts": "..",
            "ey": "ey..",
        }
        for name, token in forged.items():
            assert refused(opened, token) is Unauthorized, name
        assert refused(opened, made({"exp": now - 1})) is TokenExpired
        assert refused(opened, good) is None


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_token_with_any_other_letter_is_refused(signed_token: tuple[Agents, str], data: st.DataObject) -> None:
    agents, token = signed_token
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABCDwxyz0189-_.=+/ \n\0é"))
    changed = token[:at] + letter + token[at + data.draw(st.integers(0, 2)) :]
    assume(changed != token)
    with pytest.raises(Unauthorized):
        agents.find(changed)
    assert agents.find(token).agent_id == "agent_reviewer"


@pytest.fixture
def signed_token(tmp_path: Path) -> tuple[Agents, str]:
    """An agent's token, and those who know of it."""

    async def sign() -> tuple[Agents, str]:
        async with desk(tmp_path) as opened:
            return opened.agents, (await opened.agent()).token

    return run(sign())


def _hs256(header: dict[str, JsonValue], claims: dict[str, JsonValue], key: bytes) -> str:
    """What PyJWT itself refuses to make: a public key taken for a secret."""
    import hmac

    signed = f"{encoded(header)}.{encoded(claims)}"
    mark = base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), "sha256")).rstrip(b"=").decode()
    return f"{signed}.{mark}"


async def test_tokens_live_through_a_restart_and_revoked_ones_do_not(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk(tmp_path, clock=clock) as opened:
        stays, gone = await opened.agent("stays"), await opened.agent("gone")
        ended = await opened.call(RevokedTokens, "agent.revoke", agent=gone.token_id, reason="leaked")
        assert ended.token_ids == (gone.token_id,)
        assert refused(opened, gone.token) is Unauthorized
    async with desk(tmp_path, clock=clock) as opened:
        assert refused(opened, stays.token) is None
        assert refused(opened, gone.token) is Unauthorized


async def test_revoking_an_agent_ends_all_it_holds_and_nothing_else(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        first, second, other = await opened.agent("a"), await opened.agent("a"), await opened.agent("b")
        session = await opened.call(AgentToken, "agent.session", holding(first.token))
        watching = asyncio.ensure_future(opened.identities.wait_for_end(holding(session.token)))
        await asyncio.sleep(0)
        ended = await opened.call(RevokedTokens, "agent.revoke", agent="a")
        assert set(ended.token_ids) == {first.token_id, second.token_id, session.token_id}
        assert isinstance(await watching, Unauthorized)
        for made in (first, second, session):
            assert refused(opened, made.token) is Unauthorized
        assert refused(opened, other.token) is None
        # A person can let the agent in again.
        assert refused(opened, (await opened.agent("a")).token) is None
        with pytest.raises(NotFound):
            await opened.call(RevokedTokens, "agent.revoke", agent="nobody")


async def test_a_session_is_short_and_ends_with_its_token(tmp_path: Path) -> None:
    async with desk(tmp_path, session_minutes=10) as opened:
        token = await opened.agent(minutes=15, capabilities=["write_files"], allowed_paths=["docs/**"])
        session = await opened.call(AgentToken, "agent.session", holding(token.token))
        held = opened.identities.token_rights(holding(session.token))
        assert held is not None
        assert held.capabilities == {"write_files"}
        assert held.allowed_paths == ("docs/**",)
        with pytest.raises(PolicyDenied):
            await opened.call(AgentToken, "agent.session", holding(session.token))
        opened.clock.advance(600)
        assert refused(opened, session.token) is TokenExpired
        late = await opened.call(AgentToken, "agent.session", holding(token.token))
        assert late.expires_at == token.expires_at
        await opened.call(RevokedTokens, "agent.revoke", agent=token.token_id)
        assert refused(opened, late.token) is Unauthorized


async def test_sessions_of_one_token_are_bounded(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        token = holding((await opened.agent()).token)
        for _ in range(32):
            await opened.call(AgentToken, "agent.session", token)
        with pytest.raises(RateLimited) as caught:
            await opened.call(AgentToken, "agent.session", token)
        assert caught.value.details == {"retry_after_sec": 3600}


async def test_tokens_that_are_good_at_once_are_bounded(tmp_path: Path) -> None:
    async with desk(tmp_path, max_agents=2) as opened:
        await opened.agent("a", minutes=1)
        await opened.agent("b")
        with pytest.raises(Overloaded):
            await opened.agent("c")
        opened.clock.advance(60)
        assert (await opened.agent("c")).agent_id == "agent_c"


async def test_with_a_new_key_old_tokens_stay_good_until_they_are_over(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk(tmp_path, clock=clock) as opened:
        old = await opened.agent(minutes=10)
        first_key = opened.keys.active
        rotated = await opened.call(RotatedKeys, "agent.rotate_keys")
        assert rotated.key_id == opened.keys.active != first_key
        new = await opened.agent(minutes=60)
        assert jwt.get_unverified_header(new.token)["kid"] == rotated.key_id
        assert refused(opened, old.token) is None and refused(opened, new.token) is None
        assert "private" not in (tmp_path / "agent.keys").read_text().partition("retired")[2]
    async with desk(tmp_path, clock=clock) as opened:
        assert refused(opened, old.token) is None and refused(opened, new.token) is None
        clock.advance(600)
        assert refused(opened, old.token) is Unauthorized
        assert first_key is not None and not opened.keys.knows(first_key)
        assert refused(opened, new.token) is None


async def test_dropping_the_old_key_ends_its_tokens_at_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        old = await opened.agent()
        assert refused(opened, old.token) is None
        watching = asyncio.ensure_future(opened.identities.wait_for_end(holding(old.token)))
        await asyncio.sleep(0)
        rotated = await opened.call(RotatedKeys, "agent.rotate_keys", now=True)
        assert rotated.ended == (old.token_id,)
        assert isinstance(await watching, Unauthorized)
        assert refused(opened, old.token) is Unauthorized
        assert refused(opened, (await opened.agent()).token) is None


async def test_without_its_key_file_no_old_token_is_believed(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        old = await opened.agent()
    (tmp_path / "agent.keys").unlink()
    async with desk(tmp_path) as opened:
        assert refused(opened, old.token) is Unauthorized
        assert refused(opened, (await opened.agent()).token) is None


async def test_only_a_person_issues_revokes_and_rotates(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        device = await opened.pair()
        agent = holding((await opened.agent()).token)
        for caller in (MCP, agent, holding(device.token, "mcp")):
            with pytest.raises(PolicyDenied):
                await opened.call(AgentToken, "agent.token", caller, agent="x")
            with pytest.raises(PolicyDenied):
                await opened.call(RevokedTokens, "agent.revoke", caller, agent="reviewer")
            with pytest.raises(PolicyDenied):
                await opened.call(RotatedKeys, "agent.rotate_keys", caller)
        for caller in (OWNER, MCP, holding(device.token)):
            with pytest.raises(PolicyDenied):
                await opened.call(AgentToken, "agent.session", caller)
        assert (await opened.call(AgentToken, "agent.token", holding(device.token), agent="x")).token


@pytest.mark.parametrize(
    "arguments",
    [
        {"agent": ""},
        {"agent": "Reviewer"},
        {"agent": "a/b"},
        {"agent": "x" * 100},
        {"agent": "x", "capabilities": []},
        {"agent": "x", "capabilities": ["root"]},
        {"agent": "x", "allowed_paths": ["../x"]},
        {"agent": "x", "allowed_paths": ["/etc/*"]},
        {"agent": "x", "allowed_paths": ["a\\b"]},
        {"agent": "x", "allowed_tools": ["rm -rf"]},
        {"agent": "x", "minutes": 0},
        {"agent": "x", "minutes": float("inf"), "idempotency_key": "k"},
        {"agent": "x", "max_agents": -1},
        {"agent": "x", "approval_mode": "never"},
        {"agent": "x", "idempotency_key": "k1"},
        {"agent": "x", "allowed_paths": [f"{n:03d}/" + "y" * 400 for n in range(100)]},
    ],
)
async def test_what_no_token_can_say_is_refused(tmp_path: Path, arguments: dict[str, JsonValue]) -> None:
    async with desk(tmp_path) as opened:
        with pytest.raises(CodePlaneError) as caught:
            await opened.call(AgentToken, "agent.token", **arguments)
        assert caught.value.code in (InvalidArgument.code, 1003)
        assert not list(opened.agents)


async def test_what_agents_hold_is_listed(tmp_path: Path) -> None:
    async with desk(tmp_path) as opened:
        assert (await opened.call(AgentList, "agent.list")).text() == "no agent has a token"
        first = await opened.agent("a", allowed_paths=[])
        await opened.agent("b")
        await opened.call(AgentToken, "agent.session", holding(first.token))
        await opened.call(RevokedTokens, "agent.revoke", agent="b")
        listed = await opened.call(AgentList, "agent.list")
        assert [(item.agent_id, item.state) for item in listed.items] == [("agent_a", "live")]
        assert "paths none" in listed.text()
        everything = await opened.call(AgentList, "agent.list", include_ended=True, sessions=True)
        assert [(item.agent_id, item.kind, item.state) for item in everything.items] == [
            ("agent_a", "session", "live"),
            ("agent_b", "token", "revoked"),
            ("agent_a", "token", "live"),
        ]


async def test_the_table_is_a_function_of_the_log_and_forgets(tmp_path: Path) -> None:
    clock = ManualClock()
    async with desk(tmp_path, clock=clock) as opened:
        old = await opened.agent("old", minutes=1)
        await opened.call(AgentToken, "agent.session", holding(old.token))
        await opened.call(RevokedTokens, "agent.revoke", agent="old")
        clock.advance(8 * 86_400)
        kept = await opened.agent("kept", allowed_paths=["src/**"], max_agents=0)
        await opened.log.flush()
        connection = sqlite3.connect(tmp_path / "ledger.db")
        assert differences(connection, IssuedTokenTable()) == []
        assert connection.execute("SELECT token_id FROM agent_tokens").fetchall() == [(kept.token_id,)]
        connection.close()
        before = list(opened.agents)
    async with desk(tmp_path, clock=clock) as opened:
        assert list(opened.agents) == before
