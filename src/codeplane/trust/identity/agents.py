"""Agents with tokens of their own: which were issued, which are still good, what they let their holders do."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import AgentsConfig, Capability
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import (
    CapabilityDenied,
    NotFound,
    Overloaded,
    PolicyDenied,
    RateLimited,
    TokenExpired,
    Unauthorized,
)
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import ProjectionStore
from codeplane.kernel.short_ids import match_id
from codeplane.trust.identity.agent_token import LEEWAY_SEC, Claims, TokenContext, signed, understand_tokens, verified
from codeplane.trust.identity.changes import Changes
from codeplane.trust.identity.devices import Recorder
from codeplane.trust.identity.issued import (
    ISSUED,
    KEYS_ROTATED,
    KEYS_STREAM,
    REVOKED,
    SESSION,
    AgentTable,
    Issued,
    agent_stream,
)
from codeplane.trust.identity.lifetime import Lifetime
from codeplane.trust.identity.signing_keys import SigningKeys

_MAX_VERIFIED = 4096
_SESSIONS_OF_A_TOKEN = 32
_TOKEN = "tok_"
_HINT = "get a new one: cpl agents token NAME"

T = TypeVar("T")


class Agents:
    """Only tokens that are written down as issued are believed, so that a signature alone lets nobody in."""

    def __init__(self, *, keys: SigningKeys, clock: Clock, config: AgentsConfig, changes: Changes) -> None:
        self._keys = keys
        self._clock = clock
        self._config = config
        self._changes = changes
        self._by_id: dict[str, Issued] = {}
        self._lives: dict[str, Lifetime] = {}
        # Which token has which id: a signature is checked once, everything else at every call.
        self._verified: dict[bytes, str] = {}
        self._writing = asyncio.Lock()

    def __iter__(self) -> Iterator[Issued]:
        return iter(tuple(self._by_id.values()))

    async def restore(self, tables: ProjectionStore) -> None:
        """Know again what was known before the restart; until then no agent's token is good."""
        for row in await tables.select(AgentTable.SELECT):
            self._put(AgentTable.issued(row))
        if self._by_id:
            await asyncio.to_thread(understand_tokens)

    def find(self, token: str) -> Issued:
        """What was issued as this token; raises when it is not, or no longer, good."""
        mark = sha256(token.encode("utf-8", "replace")).digest()
        token_id = self._verified.get(mark)
        if token_id is None or token_id not in self._by_id:
            claims, _ = verified(token, self._keys, self._clock)
            token_id = claims.jti
            self.check(token_id)
            if self._by_id[token_id].agent_id != claims.sub:
                raise Unauthorized("the agent's token is refused: it was issued to another agent", hint=_HINT)
            while len(self._verified) >= _MAX_VERIFIED:
                del self._verified[next(iter(self._verified))]
            self._verified[mark] = token_id
        self.check(token_id)
        return self._by_id[token_id]

    def check(self, token_id: str) -> int:
        """How many nanoseconds a token is still good; raises when it was revoked, its key dropped, or it is over."""
        issued = self._by_id.get(token_id)
        if issued is None:
            raise Unauthorized("the agent's token is refused: it is not among those issued here", hint=_HINT)
        if issued.revoked_ns is not None:
            raise Unauthorized(f"the token {token_id} of {issued.agent_id} was revoked", hint=_HINT)
        if not self._keys.knows(issued.key_id):
            raise Unauthorized("the agent's token is refused: its key is no longer in use", hint=_HINT)
        if issued.issued_ns > self._clock.now_ns() + LEEWAY_SEC * SECOND_NS:
            # The clock was set back: how long the token has been good for is not known any more.
            raise Unauthorized("the agent's token is refused: it is from the future", hint=_HINT)
        left = self._lives[token_id].left_ns(self._clock)
        if left <= 0:
            raise TokenExpired("the agent's token is over", hint=_HINT)
        return left if issued.session_of is None else min(left, self.check(issued.session_of))

    def is_live(self, issued: Issued) -> bool:
        """Whether a call with the token would be let in."""
        try:
            return self.check(issued.token_id) > 0
        except (Unauthorized, TokenExpired):
            return False

    def newest(self, agent_id: str) -> Issued | None:
        """The latest token of an agent that is still good."""
        return next((one for one in reversed(tuple(self)) if one.agent_id == agent_id and self.is_live(one)), None)

    @property
    def longest_minutes(self) -> float:
        """How long a token is good at most."""
        return self._config.token_minutes

    async def issue(
        self,
        record: Recorder,
        *,
        agent_id: str,
        capabilities: tuple[Capability, ...],
        context: TokenContext,
        minutes: float | None,
    ) -> tuple[str, Issued]:
        """A token for an agent, no longer than the settings allow."""
        longest = self._config.token_minutes

        async def settle() -> tuple[str, Issued]:
            live = sum(one.session_of is None and self.is_live(one) for one in self)
            if live >= self._config.max_agents:
                raise Overloaded(
                    f"{live} tokens are good already, as many as agents.max_agents allows",
                    hint="revoke some that are no longer used: cpl agents revoke NAME",
                )
            seconds = int(min(minutes or longest, longest) * 60)
            return await self._sign(record, ISSUED, agent_id, capabilities, context, seconds, session_of=None)

        return await self._whole(settle)

    async def session(self, record: Recorder, token: str, *, most: int | None = None) -> tuple[str, Issued]:
        """A short token in exchange for a long one, with the same rights and never outliving it; `most` bounds how many
        the agent has at once, since each can be another agent's."""

        async def settle() -> tuple[str, Issued]:
            parent = self.find(token)
            if parent.session_of is not None:
                raise PolicyDenied(
                    "this is a session's token already", hint="exchange the token that was issued to the agent"
                )
            self._check_started(parent.agent_id, most)
            open_ones = [one for one in self if one.session_of == parent.token_id and self.is_live(one)]
            if len(open_ones) >= _SESSIONS_OF_A_TOKEN:
                seconds = min(map(self._left_sec, open_ones))
                raise RateLimited(
                    f"{counted(len(open_ones), 'session')} of this token already open",
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

        return await self._whole(settle)

    def _check_started(self, agent_id: str, most: int | None) -> None:
        """Refuse a session beyond the agents that this one may start."""
        if most is None:
            return
        started = [one for one in self if one.session_of is not None and one.agent_id == agent_id and self.is_live(one)]
        if len(started) >= most:
            raise CapabilityDenied(
                f"{agent_id} may start {counted(most, 'agent')} at once, "
                f"and has {counted(len(started), 'open session')}",
                hint=f"let one end, or a person allows more: cpl grants grant {agent_id} spawn_agents --max-agents N",
                details={"max_agents": most, "open": len(started)},
            )

    def named(self, name: str) -> str:
        """An agent's id as it is; a token's by a beginning or end that only one of those that are good has."""
        if not name.startswith(_TOKEN) or name in self._by_id:
            return name
        good = [one.token_id for one in self if self.is_live(one)]
        return match_id(name, good, "live token", NotFound, "see those that there are: cpl agents")

    async def revoke(self, record: Recorder, name: str, *, reason: str) -> tuple[Issued, ...]:
        """End one token with its sessions, or all of an agent; their running streams end with them."""

        async def settle() -> tuple[Issued, ...]:
            known = [one for one in self if name in (one.token_id, one.agent_id, one.session_of)]
            if not known:
                raise NotFound(f"there is no agent and no token {name!r}", hint="see those that there are: cpl agents")
            gone = tuple(one for one in known if one.revoked_ns is None and not self._over(one))
            await self._end(record, gone, reason)
            return gone

        return await self._whole(settle)

    async def rotate_keys(self, record: Recorder, *, now: bool) -> tuple[str, tuple[Issued, ...]]:
        """Sign with a new key; old tokens stay good until they are over, or with `now` end at once."""

        async def settle() -> tuple[str, tuple[Issued, ...]]:
            live = tuple(filter(self.is_live, self))
            until_ns = 0 if now else max((one.expires_ns for one in live), default=0)
            # The file decides what is believed, so it comes first: a crash in between leaves nothing open.
            await asyncio.to_thread(understand_tokens)
            key_id = self._keys.rotate(until_ns=until_ns)
            fact: JsonObject = {"key_id": key_id, "at_ns": self._clock.now_ns(), "ended_at_once": now}
            self._changes.tell()
            await record([(KEYS_STREAM, KEYS_ROTATED, fact)])
            if now:
                await self._end(record, live, "the keys were replaced")
            return key_id, live if now else ()

        return await self._whole(settle)

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
    ) -> tuple[str, Issued]:
        await asyncio.to_thread(understand_tokens)
        at = self._clock.now_ns() // SECOND_NS
        claims = Claims(
            sub=agent_id,
            iat=at,
            exp=at + max(seconds, 1),
            jti=new_id("tok"),
            capabilities=capabilities,
            context=context,
        )
        token, key_id = signed(claims, self._keys)
        issued = Issued(
            token_id=claims.jti,
            agent_id=agent_id,
            key_id=key_id,
            issued_ns=at * SECOND_NS,
            expires_ns=claims.exp * SECOND_NS,
            capabilities=capabilities,
            context=context,
            session_of=session_of,
        )
        await record([(agent_stream(agent_id), kind, issued.fact())])
        self._forget_old()
        self._put(issued)
        return token, issued

    async def _end(self, record: Recorder, gone: tuple[Issued, ...], reason: str) -> None:
        at_ns = self._clock.now_ns()
        by_agent: dict[str, list[Issued]] = {}
        for one in gone:
            by_agent.setdefault(one.agent_id, []).append(one)
        if by_agent:
            await record(
                [
                    (
                        agent_stream(agent_id),
                        REVOKED,
                        {
                            "agent_id": agent_id,
                            "token_ids": [one.token_id for one in ended],
                            "at_ns": at_ns,
                            "reason": reason,
                        },
                    )
                    for agent_id, ended in by_agent.items()
                ]
            )
        for one in gone:
            self._by_id[one.token_id] = replace(one, revoked_ns=at_ns)
        self._changes.tell()

    async def _whole(self, settle: Callable[[], Awaitable[T]]) -> T:
        """One change at a time, and to its end: a caller that leaves must not part memory from the log."""

        async def alone() -> T:
            async with self._writing:
                return await settle()

        return await asyncio.shield(alone())

    def _left_sec(self, issued: Issued) -> int:
        return max(self.check(issued.token_id) // SECOND_NS, 1)

    def _over(self, issued: Issued) -> bool:
        return self._lives[issued.token_id].over(self._clock)

    def _put(self, issued: Issued) -> None:
        self._by_id[issued.token_id] = issued
        self._lives[issued.token_id] = Lifetime.until(issued.expires_ns, self._clock)

    def _forget_old(self) -> None:
        over = [token_id for token_id, life in self._lives.items() if life.over(self._clock)]
        for token_id in over:
            del self._by_id[token_id], self._lives[token_id]
