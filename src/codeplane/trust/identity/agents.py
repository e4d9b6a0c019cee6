"""Agents with tokens of their own: issuing, checking and revoking the tokens."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import AgentsConfig, Capability
from codeplane.kernel.errors import (
    CapabilityDenied,
    NotFound,
    Overloaded,
    PolicyDenied,
    RateLimited,
    TokenExpired,
    Unauthorized,
)
from codeplane.kernel.event import Event
from codeplane.kernel.event_feed import EventFeed
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_id
from codeplane.trust.identity.agent_token import LEEWAY_SEC, Claims, TokenContext, import_jwt, sign_token, verify_token
from codeplane.trust.identity.change_signal import ChangeSignal
from codeplane.trust.identity.devices import Recorder
from codeplane.trust.identity.issued_token import (
    ISSUED,
    KEYS_ROTATED,
    KEYS_STREAM,
    REVOKED,
    SESSION,
    IssuedToken,
    IssuedTokenTable,
    agent_stream,
    token_from_json,
)
from codeplane.trust.identity.lifetime import Lifetime
from codeplane.trust.identity.signing_keys import SigningKeys

_MAX_VERIFIED = 4096
_SESSIONS_OF_A_TOKEN = 32
_TOKEN = "tok_"
_HINT = "get a new one: cpl agents token NAME"

T = TypeVar("T")


class Agents:
    """The issued tokens; one that is not recorded here is refused even when its signature is right."""

    def __init__(self, *, keys: SigningKeys, clock: Clock, config: AgentsConfig, changes: ChangeSignal) -> None:
        self._keys = keys
        self._clock = clock
        self._config = config
        self._changes = changes
        self._by_id: dict[str, IssuedToken] = {}
        self._lives: dict[str, Lifetime] = {}
        # Token hash → token id: a signature is checked once, everything else at every call.
        self._verified = BoundedCache[bytes, str](_MAX_VERIFIED)
        self._writing = asyncio.Lock()
        self._feed = EventFeed({ISSUED, SESSION, REVOKED, KEYS_ROTATED}, self._apply)

    def __iter__(self) -> Iterator[IssuedToken]:
        return iter(tuple(self._by_id.values()))

    async def restore(self, log: Ledger) -> None:
        """Load the issued tokens and follow what becomes of them; until then every agent's token is refused."""

        async def load() -> None:
            for row in await log.select(IssuedTokenTable.SELECT):
                self._put(IssuedTokenTable.from_row(row))

        await self._feed.load(log, load)
        if self._by_id:
            await asyncio.to_thread(import_jwt)

    def find(self, token: str) -> IssuedToken:
        """The record of a token; raises when the token is not, or no longer, valid."""
        token_hash = sha256(token.encode("utf-8", "replace")).digest()
        token_id = self._verified.get(token_hash)
        if token_id is None or token_id not in self._by_id:
            claims, _ = verify_token(token, self._keys, self._clock)
            token_id = claims.jti
            self.check(token_id)
            if self._by_id[token_id].agent_id != claims.sub:
                raise Unauthorized("the agent's token is refused: it was issued to another agent", hint=_HINT)
            self._verified.put(token_hash, token_id)
        self.check(token_id)
        return self._by_id[token_id]

    def check(self, token_id: str) -> int:
        """How many nanoseconds a token stays valid; raises when it was revoked, has expired, or its key was dropped."""
        issued = self._by_id.get(token_id)
        if issued is None:
            raise Unauthorized("the agent's token is refused: it is not among those issued here", hint=_HINT)
        if issued.revoked_ns is not None:
            raise Unauthorized(f"the token {token_id} of {issued.agent_id} was revoked", hint=_HINT)
        if not self._keys.knows(issued.key_id):
            raise Unauthorized("the agent's token is refused: its key is no longer in use", hint=_HINT)
        if issued.issued_ns > self._clock.now_ns() + LEEWAY_SEC * SECOND_NS:
            # The clock was set back, so the token's age is unknown.
            raise Unauthorized("the agent's token is refused: it is from the future", hint=_HINT)
        left = self._lives[token_id].left_ns(self._clock)
        if left <= 0:
            raise TokenExpired("the agent's token has expired", hint=_HINT)
        return left if issued.session_of is None else min(left, self.check(issued.session_of))

    def is_live(self, issued: IssuedToken) -> bool:
        """Whether a call with the token would be admitted."""
        try:
            return self.check(issued.token_id) > 0
        except (Unauthorized, TokenExpired):
            return False

    def newest_token(self, agent_id: str) -> IssuedToken | None:
        """The latest valid token of an agent."""
        return next(
            (token for token in reversed(tuple(self)) if token.agent_id == agent_id and self.is_live(token)), None
        )

    @property
    def longest_minutes(self) -> float:
        """The longest life of a token, in minutes."""
        return self._config.token_minutes

    async def issue(
        self,
        record: Recorder,
        *,
        agent_id: str,
        capabilities: tuple[Capability, ...],
        context: TokenContext,
        minutes: float | None,
    ) -> tuple[str, IssuedToken]:
        """Issue a token to an agent, valid no longer than the settings allow."""
        longest = self._config.token_minutes

        async def change() -> tuple[str, IssuedToken]:
            live = sum(token.session_of is None and self.is_live(token) for token in self)
            if live >= self._config.max_agents:
                raise Overloaded(
                    f"{live} tokens are valid already, as many as agents.max_agents allows",
                    hint="revoke some that are no longer used: cpl agents revoke NAME",
                )
            seconds = int(min(minutes or longest, longest) * 60)
            return await self._sign(record, ISSUED, agent_id, capabilities, context, seconds, session_of=None)

        return await self._run_to_end(change)

    async def session(self, record: Recorder, token: str, *, most: int | None = None) -> tuple[str, IssuedToken]:
        """Exchange a token for a short-lived session token with the same rights, which never outlives it.

        `most` limits the agent's open sessions, since each can be another agent's.
        """

        async def change() -> tuple[str, IssuedToken]:
            parent = self.find(token)
            if parent.session_of is not None:
                raise PolicyDenied(
                    "this is a session's token already", hint="exchange the token that was issued to the agent"
                )
            self._check_started(parent.agent_id, most)
            open_sessions = [
                session for session in self if session.session_of == parent.token_id and self.is_live(session)
            ]
            if len(open_sessions) >= _SESSIONS_OF_A_TOKEN:
                seconds = min(map(self._left_sec, open_sessions))
                raise RateLimited(
                    f"{plural(len(open_sessions), 'session')} of this token already open",
                    details={"retry_after_sec": seconds},
                )
            seconds = min(int(self._config.session_minutes * 60), self._left_sec(parent))
            return await self._sign(
                record,
                SESSION,
                parent.agent_id,
                parent.capabilities,
                parent.context,
                seconds,
                session_of=parent.token_id,
            )

        return await self._run_to_end(change)

    def _check_started(self, agent_id: str, most: int | None) -> None:
        """Raise CapabilityDenied when the agent has as many open sessions as it may start agents."""
        if most is None:
            return
        sessions = [
            token
            for token in self
            if token.session_of is not None and token.agent_id == agent_id and self.is_live(token)
        ]
        if len(sessions) >= most:
            raise CapabilityDenied(
                f"{agent_id} may start {plural(most, 'agent')} at once, "
                f"and has {plural(len(sessions), 'open session')}",
                hint=f"let one end, or a person allows more: cpl grants grant {agent_id} spawn_agents --max-agents N",
                details={"max_agents": most, "open": len(sessions)},
            )

    def resolve_name(self, name: str) -> str:
        """The id that a name means: an agent's as it is, a token's by a unique beginning or end of a valid one."""
        if not name.startswith(_TOKEN) or name in self._by_id:
            return name
        valid = [token.token_id for token in self if self.is_live(token)]
        return match_id(name, valid, "live token", NotFound, "list them: cpl agents")

    async def revoke(self, record: Recorder, name: str, *, reason: str) -> tuple[IssuedToken, ...]:
        """Revoke one token with its sessions, or all of an agent's; their running streams end."""

        async def change() -> tuple[IssuedToken, ...]:
            matching = [token for token in self if name in (token.token_id, token.agent_id, token.session_of)]
            if not matching:
                raise NotFound(f"there is no agent and no token {name!r}", hint="list them: cpl agents")
            revoked = tuple(token for token in matching if token.revoked_ns is None and not self._over(token))
            await self._end(record, revoked, reason)
            return revoked

        return await self._run_to_end(change)

    async def rotate_keys(self, record: Recorder, *, now: bool) -> tuple[str, tuple[IssuedToken, ...]]:
        """Sign with a new key; old tokens stay valid until they expire, or with `now` end at once."""

        async def change() -> tuple[str, tuple[IssuedToken, ...]]:
            live = tuple(filter(self.is_live, self))
            until_ns = 0 if now else max((token.expires_ns for token in live), default=0)
            # The key file decides which tokens are valid, so it is written first: a crash in between is safe.
            await asyncio.to_thread(import_jwt)
            key_id = self._keys.rotate(until_ns=until_ns)
            fact: JsonObject = {"key_id": key_id, "at_ns": self._clock.now_ns(), "ended_at_once": now}
            self._changes.notify()
            await record([(KEYS_STREAM, KEYS_ROTATED, fact)])
            if now:
                await self._end(record, live, "the keys were replaced")
            return key_id, live if now else ()

        return await self._run_to_end(change)

    async def _sign(
        self,
        record: Recorder,
        kind: str,
        agent_id: str,
        capabilities: tuple[Capability, ...],
        context: TokenContext,
        seconds: int,
        *,
        session_of: str | None,
    ) -> tuple[str, IssuedToken]:
        await asyncio.to_thread(import_jwt)
        at = self._clock.now_ns() // SECOND_NS
        claims = Claims(
            sub=agent_id,
            iat=at,
            exp=at + max(seconds, 1),
            jti=new_id("tok"),
            capabilities=capabilities,
            context=context,
        )
        token, key_id = sign_token(claims, self._keys)
        issued = IssuedToken(
            token_id=claims.jti,
            agent_id=agent_id,
            key_id=key_id,
            issued_ns=at * SECOND_NS,
            expires_ns=claims.exp * SECOND_NS,
            capabilities=capabilities,
            context=context,
            session_of=session_of,
        )
        await record([(agent_stream(agent_id), kind, issued.to_json())])
        return token, issued

    async def _end(self, record: Recorder, revoked: tuple[IssuedToken, ...], reason: str) -> None:
        at_ns = self._clock.now_ns()
        by_agent: dict[str, list[IssuedToken]] = {}
        for token in revoked:
            by_agent.setdefault(token.agent_id, []).append(token)
        if by_agent:
            await record(
                [
                    (
                        agent_stream(agent_id),
                        REVOKED,
                        {
                            "agent_id": agent_id,
                            "token_ids": [token.token_id for token in ended],
                            "at_ns": at_ns,
                            "reason": reason,
                        },
                    )
                    for agent_id, ended in by_agent.items()
                ]
            )

    async def _run_to_end(self, settle: Callable[[], Awaitable[T]]) -> T:
        """Run one change at a time, to its end even when the caller is cancelled, so memory and log stay equal."""

        async def alone() -> T:
            async with self._writing:
                return await settle()

        return await asyncio.shield(alone())

    def _left_sec(self, issued: IssuedToken) -> int:
        return max(self.check(issued.token_id) // SECOND_NS, 1)

    def _over(self, issued: IssuedToken) -> bool:
        return self._lives[issued.token_id].over(self._clock)

    def _apply(self, event: Event) -> None:
        if event.type in (ISSUED, SESSION):
            self._forget_old()
            issued = token_from_json(event.payload)
            if issued.token_id not in self._by_id:
                self._put(issued)
            return
        if event.type == REVOKED:
            ids, at_ns = event.payload["token_ids"], event.payload["at_ns"]
            assert isinstance(ids, list) and isinstance(at_ns, int)
            for token in filter(None, map(self._by_id.get, ids)):
                if token.revoked_ns is None:
                    self._by_id[token.token_id] = replace(token, revoked_ns=at_ns)
        self._changes.notify()

    def _put(self, issued: IssuedToken) -> None:
        self._by_id[issued.token_id] = issued
        self._lives[issued.token_id] = Lifetime.until(issued.expires_ns, self._clock)

    def _forget_old(self) -> None:
        over = [token_id for token_id, life in self._lives.items() if life.over(self._clock)]
        for token_id in over:
            del self._by_id[token_id], self._lives[token_id]
