"""The operations on agents' tokens and the keys they are signed with."""

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.config import Capability
from codeplane.kernel.errors import NotFound, PolicyDenied
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.plural import ARE, plural
from codeplane.trust.capabilities.grant import ApprovalMode, TokenRights
from codeplane.trust.capabilities.path_scope import MAX_PATTERN, MAX_PATTERNS, check_pattern
from codeplane.trust.identity.agent_token import TokenContext
from codeplane.trust.identity.agents import Agents
from codeplane.trust.identity.device_operations import NoRequest, refuse_idempotency_key
from codeplane.trust.identity.identities import AGENT_PREFIX
from codeplane.trust.identity.issued_token import IssuedToken
from codeplane.trust.identity.revocation import RevokedRights, RevokeRights, describe_revoked
from codeplane.trust.people import require_person

_MAX_LISTED = 1000
Pattern = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]
Tool = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,98}\*?$")]


class TokenRequest(Request):
    """The agent and rights of a new token."""

    agent: str = Field(
        pattern=r"^(agent_)?[a-z0-9][a-z0-9._-]{0,62}$",
        description="the agent's name, as in reviewer or agent_reviewer",
    )
    capabilities: tuple[Capability, ...] = Field(("read_files",), min_length=1, max_length=8)
    allowed_paths: tuple[Pattern, ...] | None = Field(
        None, max_length=MAX_PATTERNS, description="only these, as in src/**; left out: all"
    )
    allowed_tools: tuple[Tool, ...] | None = Field(
        None, max_length=MAX_PATTERNS, description="only these operations, as in git.status or git.*; left out: all"
    )
    max_agents: int | None = Field(
        None, ge=0, le=10_000, description="how many sessions it may have open: agents it starts"
    )
    approval_mode: ApprovalMode = Field("trust", description="never asks less than trust.mode does")
    minutes: float | None = Field(None, gt=0, description="its life; at most agents.token_minutes")

    @field_validator("allowed_paths")
    @classmethod
    def _paths(cls, patterns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for pattern in patterns or ():
            check_pattern(pattern)
        return patterns


class AgentToken(Result):
    """A token for an agent, shown once."""

    secret: ClassVar[bool] = True

    agent_id: str
    token_id: str
    token: str
    expires_at: str

    def text(self) -> str:
        return f"{self.agent_id}, token {self.token_id} until {self.expires_at[:19]}Z:\n{self.token}"


class TokenView(Result):
    """One token in a list."""

    agent_id: str
    token_id: str
    kind: Literal["token", "session"]
    state: Literal["live", "revoked", "ended"]
    issued_at: str
    expires_at: str
    capabilities: tuple[Capability, ...]
    allowed_paths: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    max_agents: int | None = None
    approval_mode: ApprovalMode | None = None

    def line(self) -> str:
        """The token in one line."""
        bounds = [
            f"{name} {' '.join(values) or 'none'}"
            for name, values in (("paths", self.allowed_paths), ("tools", self.allowed_tools))
            if values is not None
        ]
        rights = "; ".join([" ".join(self.capabilities), *bounds])
        state = f"until {self.expires_at[:19]}Z" if self.state == "live" else self.state
        return f"{self.agent_id} {self.kind} {self.token_id} {state}  {rights}"


class AgentListRequest(Request):
    """Which tokens to list."""

    include_ended: bool = Field(False, description="also those that were revoked")
    sessions: bool = Field(False, description="also those of sessions")


class AgentList(Result):
    """The tokens of agents, newest first."""

    items: tuple[TokenView, ...]
    left_out: int = 0

    def text(self) -> str:
        lines = [item.line() for item in self.items]
        if self.left_out:
            lines.append(f"{plural(self.left_out, 'older one', verbs=ARE)} left out")
        return "\n".join(lines) or "no agent has a token"


class RevokeAgentRequest(Request):
    """The agent or token to revoke, and why."""

    agent: str = Field(min_length=1, max_length=100, description="an agent's name or id, or a token's id")
    reason: str = Field("", max_length=500)


class RevokedTokens(Result):
    """The revoked tokens, and what else of the agent's ended."""

    token_ids: tuple[str, ...]
    grants_ended: int = 0
    questions_rejected: int = 0
    answers_forgotten: int = 0

    @classmethod
    def of(cls, tokens: tuple[IssuedToken, ...], rights: RevokedRights) -> "RevokedTokens":
        """The result of a revocation."""
        return cls(
            token_ids=tuple(token.token_id for token in tokens),
            grants_ended=rights.grants,
            questions_rejected=rights.questions,
            answers_forgotten=rights.answers,
        )

    def text(self) -> str:
        revoked = f"revoked {', '.join(self.token_ids)}" if self.token_ids else "it has no token that is good"
        return revoked + describe_revoked(self.grants_ended, self.questions_rejected, self.answers_forgotten)


class RotateKeysRequest(Request):
    """Whether tokens signed before end at once."""

    now: bool = Field(False, description="end all tokens that agents hold at once")


class RotatedKeys(Result):
    """The key that signs from now on."""

    key_id: str
    ended: tuple[str, ...]

    def text(self) -> str:
        old_tokens = "tokens signed before stay good until they are over"
        old_tokens = f"tokens ended: {len(self.ended)}" if self.ended else old_tokens
        return f"agents' tokens are signed with {self.key_id} from now on; {old_tokens}"


# How many agents an actor may start, by its token and its grants.
MostAgents = Callable[[Actor, TokenRights], int | None]


class AgentOperations:
    """Issues, lists and revokes the tokens of agents."""

    def __init__(self, agents: Agents, *, revoke_rights: RevokeRights, most: MostAgents | None = None) -> None:
        """`revoke_rights` ends the rights that outlive a token; `most` also counts grants."""
        self._agents = agents
        self._most = most or _limit_of_token
        self._revoke_rights = revoke_rights

    @operation("agent.token", risk=Risk.WRITE, people=True)
    async def token(self, call: Call, request: TokenRequest) -> AgentToken:
        """Issue a token to an agent, with what it may do and for how long; for a person. It is shown once."""
        require_person(call.actor)
        refuse_idempotency_key(call)
        token, issued = await self._agents.issue(
            call.record,
            agent_id=_agent_id(request.agent),
            capabilities=tuple(dict.fromkeys(request.capabilities)),
            context=TokenContext(
                approval_mode=request.approval_mode,
                allowed_paths=request.allowed_paths,
                allowed_tools=request.allowed_tools,
                max_agents=request.max_agents,
            ),
            minutes=request.minutes,
        )
        if request.minutes is not None and request.minutes > (longest := self._agents.longest_minutes):
            call.warn(f"it is good for {longest:g} minutes, the most that agents.token_minutes allows")
        return _token_result(token, issued)

    @operation("agent.session", risk=Risk.WRITE)
    async def session(self, call: Call, request: NoRequest) -> AgentToken:
        """Exchange the agent's token that this call shows for a short session token with the same rights."""
        refuse_idempotency_key(call)
        token = call.caller.token
        if token is None or not call.actor.actor_id.startswith(AGENT_PREFIX):
            raise PolicyDenied(
                f"{call.actor} shows no agent's token", hint="a person issues one: cpl agents token NAME"
            )
        most = self._most(call.actor, self._agents.find(token).rights)
        return _token_result(*await self._agents.session(call.record, token, most=most))

    @operation("agent.list", risk=Risk.READ)
    async def list(self, call: Call, request: AgentListRequest) -> AgentList:
        """Tokens that agents hold, newest first, with what they allow."""
        items = [
            view
            for view in map(self._view, reversed(tuple(self._agents)))
            if (request.include_ended or view.state == "live") and (request.sessions or view.kind == "token")
        ]
        return AgentList(items=tuple(items[:_MAX_LISTED]), left_out=max(len(items) - _MAX_LISTED, 0))

    @operation("agent.revoke", risk=Risk.WRITE, people=True)
    async def revoke(self, call: Call, request: RevokeAgentRequest) -> RevokedTokens:
        """End all an agent holds (tokens, sessions, grants, open questions), or one token with its sessions; for a
        person."""
        require_person(call.actor)
        name = self._agents.resolve_name(request.agent)
        whole = not name.startswith("tok_")
        agent_id = _agent_id(name) if whole else name
        revoked: tuple[IssuedToken, ...] = ()
        missing: NotFound | None = None
        try:
            revoked = await self._agents.revoke(call.record, agent_id, reason=request.reason)
        except NotFound as error:
            # Its tokens expired long ago, or it never had one, but grants and answers may still exist.
            missing = error
        if not whole:
            if missing is not None:
                raise missing
            return RevokedTokens.of(revoked, await self._revoke_orphans(call, revoked))
        rights = RevokedRights()
        # An agent without a token goes by the name that it gives itself.
        for agent_name in dict.fromkeys((agent_id, name)):
            rights += await self._revoke_rights(call, agent_name, everything=True)
        if missing is not None and rights == RevokedRights():
            raise missing
        return RevokedTokens.of(revoked, rights)

    @operation("agent.rotate_keys", risk=Risk.WRITE, people=True)
    async def rotate_keys(self, call: Call, request: RotateKeysRequest) -> RotatedKeys:
        """Sign agents' tokens with a new key; with `now` all tokens of before end; for a person."""
        require_person(call.actor)
        key_id, ended = await self._agents.rotate_keys(call.record, now=request.now)
        await self._revoke_orphans(call, ended)
        return RotatedKeys(key_id=key_id, ended=tuple(token.token_id for token in ended))

    async def _revoke_orphans(self, call: Call, ended: tuple[IssuedToken, ...]) -> RevokedRights:
        """Reject the open questions of agents that have no token left."""
        rights = RevokedRights()
        for agent_id in dict.fromkeys(token.agent_id for token in ended):
            if self._agents.newest_token(agent_id) is None:
                rights += await self._revoke_rights(call, agent_id, everything=False)
        return rights

    def _view(self, issued: IssuedToken) -> TokenView:
        ended: Literal["revoked", "ended"] = "ended" if issued.revoked_ns is None else "revoked"
        return TokenView(
            agent_id=issued.agent_id,
            token_id=issued.token_id,
            kind="token" if issued.session_of is None else "session",
            state="live" if self._agents.is_live(issued) else ended,
            issued_at=rfc3339(issued.issued_ns),
            expires_at=rfc3339(issued.expires_ns),
            capabilities=issued.capabilities,
            allowed_paths=issued.context.allowed_paths,
            allowed_tools=issued.context.allowed_tools,
            max_agents=issued.context.max_agents,
            approval_mode=issued.context.approval_mode,
        )


def _limit_of_token(actor: Actor, held: TokenRights) -> int | None:
    return held.max_agents


def _agent_id(name: str) -> str:
    return name if name.startswith(AGENT_PREFIX) else AGENT_PREFIX + name


def _token_result(token: str, issued: IssuedToken) -> AgentToken:
    return AgentToken(
        agent_id=issued.agent_id, token_id=issued.token_id, token=token, expires_at=rfc3339(issued.expires_ns)
    )
