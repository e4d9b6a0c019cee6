"""The operations on grants: requesting, granting, revoking and listing them."""

from collections.abc import Callable

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock, rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CapabilityDenied, InvalidArgument
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger
from codeplane.ledger.rows import Cell
from codeplane.trust.capabilities.grant import LOW_PRIVILEGE, Grant, GrantContext, Holder, TokenRights
from codeplane.trust.capabilities.grants import Grants, grant_event, grant_period
from codeplane.trust.capabilities.models import (
    AskRequest,
    GrantList,
    GrantRequest,
    GrantView,
    ListRequest,
    RevokeRequest,
)
from codeplane.trust.capabilities.table import COLUMNS, DENIED, REQUESTED, context_to_json, grant_from_row
from codeplane.trust.people import is_person, require_person

TokenRightsOf = Callable[[Call], TokenRights | None]
_KINDS = tuple(f"{kind.value}:" for kind in (ActorKind.AGENT, ActorKind.ASSISTANT, ActorKind.JOB))
_AGENT = f"{ActorKind.AGENT.value}:"
# The prefix of agents with tokens, which no client can give itself.
_TOKEN_PREFIX = "agent_"
_MATCH = "(?1 IS NULL OR (agent IN (?1, ?7) AND (?2 IS NULL OR verified = ?2)))"


class CapabilityOperations:
    """Agents request capabilities, people grant them."""

    def __init__(self, *, grants: Grants, held_of: TokenRightsOf, log: Ledger, clock: Clock, cursors: Cursors) -> None:
        """`held_of` gives the rights of the token behind a call, or None without one."""
        self._grants = grants
        self._held_of = held_of
        self._log = log
        self._clock = clock
        self._cursors = cursors

    @operation("capability.request", risk=Risk.WRITE, budget=Budget.NONE, timeout_sec=0)
    async def request(self, call: Call, request: AskRequest) -> GrantView:
        """Ask for capabilities you were refused, for a while, bounded by paths and tools. read_files and
        streaming_tasks are given at once where the owner's settings give them to agents; a person decides the rest."""
        if is_person(call.actor):
            raise InvalidArgument("a person holds every capability", hint="to give some to an agent: cpl grants grant")
        held = self._held_of(call)
        issued, expires = grant_period(self._clock, request.duration_sec)
        grant = Grant(
            grant_id=new_id("grant"),
            agent=str(call.actor),
            verified=held is not None,
            capabilities=frozenset(request.capabilities),
            issued_ns=issued,
            expires_ns=expires,
            granted_by=f"action:{call.action_id}" if call.action_id else "settings",
            context=request.context(),
        )
        asked: JsonObject = {
            "grant_id": grant.grant_id,
            "agent": grant.agent,
            "verified": grant.verified,
            "capabilities": sorted(grant.capabilities),
            "context": context_to_json(grant.context),
            "duration_sec": request.duration_sec,
            "justification": request.justification,
            "action_id": call.action_id,
        }
        if (refusal := self._why_refused(call, request, held)) is not None:
            denied: JsonObject = {"grant_id": grant.grant_id, "agent": grant.agent, "reason": refusal}
            await self._log.append(
                [
                    grant_event(REQUESTED, asked, call.actor, call.correlation),
                    grant_event(DENIED, denied, call.actor, call.correlation),
                ]
            )
            raise CapabilityDenied(refusal, hint="a person can give it: cpl grants grant")
        requested = grant_event(REQUESTED, asked, call.actor, call.correlation)
        await self._grants.give(
            grant,
            actor=await self._decider(call),
            correlation=call.correlation,
            before=(requested,),
            action_id=call.action_id,
        )
        return _view(grant)

    @assesses("capability.request")
    def assess_request(self, request: AskRequest) -> Assessment:
        """A request for more than agents have by default goes to a person, in every mode."""
        if self._is_low(request):
            return Assessment(risk=Risk.WRITE)
        what, bounds = request.words()
        effect = f"it would let the agent {what}"
        return Assessment(risk=Risk.HIGH, effects=(effect,), trusted_as=(effect, *(bounds or ("without bounds",))))

    @previews("capability.request")
    async def preview_request(self, request: AskRequest) -> Preview:
        """The requested grant in words."""
        what, bounds = request.words()
        why = [f"The agent says why: {request.justification}"] if request.justification else []
        return Preview(summary=f"let the agent {what}", body="\n".join([*(bounds or ["without bounds"]), *why]))

    @operation("capability.grant", risk=Risk.WRITE, budget=Budget.NONE, people=True)
    async def grant(self, call: Call, request: GrantRequest) -> GrantView:
        """Give an agent capabilities for a while, bounded by paths and tools; only a person can."""
        require_person(call.actor)
        issued, expires = grant_period(self._clock, request.duration_sec)
        holder = _holder(request)
        grant = Grant(
            grant_id=new_id("grant"),
            agent=holder.name,
            verified=holder.verified,
            capabilities=frozenset(request.capabilities),
            issued_ns=issued,
            expires_ns=expires,
            granted_by=str(call.actor),
            context=request.context(),
        )
        if grant.context.allowed_paths is not None and "read_files" in grant.capabilities:
            call.warn("allowed_paths bounds what is changed; reading is not bounded by paths")
        await self._grants.give(grant, actor=call.actor, correlation=call.correlation, reason=request.reason)
        return _view(grant)

    @previews("capability.grant")
    async def preview_grant(self, request: GrantRequest) -> Preview:
        """The grant in words, and its holder."""
        what, bounds = request.words()
        return Preview(summary=f"let {_holder(request)} {what}", body="\n".join(bounds or ["without bounds"]))

    @operation("capability.revoke", risk=Risk.WRITE, budget=Budget.NONE)
    async def revoke(self, call: Call, request: RevokeRequest) -> GrantView:
        """End a grant at once: a person any, an agent its own."""
        grant = self._grants.get_live(request.grant_id, self._visible_holder(call))
        await self._grants.revoke(grant, actor=call.actor, reason=request.reason, correlation=call.correlation)
        ended = {"ended_at": rfc3339(self._clock.now_ns()), "ended_by": str(call.actor), "reason": request.reason}
        return _view(grant, status="REVOKED").model_copy(update=ended)

    @previews("capability.revoke")
    async def preview_revoke(self, call: Call, request: RevokeRequest) -> Preview:
        """Which grant would end."""
        grant = self._grants.get_live(request.grant_id, self._visible_holder(call))
        return Preview(summary=f"take {', '.join(sorted(grant.capabilities))} from {grant.agent}", body=grant.grant_id)

    @operation("capability.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> GrantList:
        """Grants, newest first: all for a person, its own for an agent."""
        agent, verified, held = self._list_scope(call, request)
        scope = f"capability.list:{call.task.session_id if call.task else ''}:{agent}:{verified}:{request.everything}"
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        now = self._clock.now_ns()
        rows = await self._log.select(
            f"""SELECT {COLUMNS} FROM grants WHERE position < ?4 AND {_MATCH}
                AND (?3 OR (state = 'GRANTED' AND expires_ns > ?5)) ORDER BY position DESC LIMIT ?6""",
            (agent, verified, request.everything, before, now, request.limit + 1, _actor_name(agent, token=True)),
        )
        page, following = rows[: request.limit], None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": int(str(page[-1][-1]))})
        return GrantList(
            results=tuple(_view_of_row(row, now) for row in page),
            held=held,
            held_context=self._bounds(call),
            pagination=Pagination(next_cursor=following),
        )

    async def _decider(self, call: Call) -> str:
        """Who grants the request: the person who approved it, else the caller by the settings."""
        rows = (
            await self._log.select("SELECT decided_by FROM actions WHERE action_id = ?", (call.action_id,))
            if call.action_id
            else []
        )
        return str(rows[0][0]) if rows and rows[0][0] else str(call.actor)

    def _bounds(self, call: Call) -> JsonObject:
        """The bounds of the token behind a call."""
        held = None if is_person(call.actor) else self._held_of(call)
        return {} if held is None else context_to_json(GrantContext.of(held))

    def _is_low(self, request: AskRequest) -> bool:
        return frozenset[str](request.capabilities) <= LOW_PRIVILEGE & self._grants.agent_capabilities

    def _why_refused(self, call: Call, request: AskRequest, held: TokenRights | None) -> str | None:
        """Why a request is not granted, or None; what a person approved is always granted."""
        if call.action_id is not None:
            return None
        if not self._is_low(request):
            # A rule may have allowed the call without a question, but no person has decided.
            return f"{', '.join(sorted(request.capabilities))} is for a person to decide, and nobody was asked"
        if held is not None and not _within(request.context(), GrantContext.of(held)):
            return "the token bounds paths, tools or questions, and a grant without a person stays within them"
        return None

    def _visible_holder(self, call: Call) -> Holder | None:
        """The holder whose grants the caller may see: None for a person, who sees all."""
        return None if is_person(call.actor) else Holder.of(call.actor, self._held_of(call))

    def _list_scope(self, call: Call, request: ListRequest) -> tuple[str | None, bool | None, tuple[str, ...]]:
        if is_person(call.actor):
            return _actor_name(request.agent, token=False), None, ()
        held = self._held_of(call)
        own = {name for source in self._grants.sources(call.actor, held) for name in source.capabilities}
        granted = {name for grant in self._grants.of(Holder.of(call.actor, held)) for name in grant.capabilities}
        base = held.capabilities if held is not None else own - granted
        return str(call.actor), held is not None, tuple(sorted(base))


def _actor_name(agent: str | None, *, token: bool) -> str | None:
    """An agent's name as an actor's: the default kind is agent, and agents with a token get their prefix."""
    if agent is None:
        return None
    kind, name = (_AGENT, agent) if not agent.startswith(_KINDS) else (f"{agent.partition(':')[0]}:", "")
    name = name or agent.removeprefix(kind)
    marked = token and kind == _AGENT and not name.startswith(_TOKEN_PREFIX)
    return f"{kind}{_TOKEN_PREFIX if marked else ''}{name}"


def _holder(request: GrantRequest) -> Holder:
    """The holder that a person names; only agents have tokens."""
    token = not request.without_token and (request.agent.startswith(_AGENT) or not request.agent.startswith(_KINDS))
    return Holder(name=str(_actor_name(request.agent, token=token)), verified=token)


def _within(asked: GrantContext, bounds: GrantContext) -> bool:
    """Whether a request stays within a token's bounds, compared literally."""
    return (
        _is_subset(asked.allowed_paths, bounds.allowed_paths)
        and _is_subset(asked.allowed_tools, bounds.allowed_tools)
        and asked.approval_mode == bounds.approval_mode
    )


def _is_subset(asked: tuple[str, ...] | None, bounds: tuple[str, ...] | None) -> bool:
    return bounds is None or (asked is not None and set(asked) <= set(bounds))


def _view(grant: Grant, *, status: str = "GRANTED") -> GrantView:
    return GrantView(
        grant_id=grant.grant_id,
        agent_id=grant.agent,
        verified=grant.verified,
        status=status,
        capabilities=tuple(sorted(grant.capabilities)),
        context=context_to_json(grant.context),
        issued_at=rfc3339(grant.issued_ns) if grant.issued_ns else None,
        expires_at=rfc3339(grant.expires_ns) if grant.expires_ns else None,
        granted_by=grant.granted_by,
    )


def _view_of_row(row: tuple[Cell, ...], now_ns: int) -> GrantView:
    state, ended_ns, ended_by, reason = row[8:12]
    grant = grant_from_row(row)
    over = state == "GRANTED" and grant.expires_ns <= now_ns
    return _view(grant, status="EXPIRED" if over else str(state)).model_copy(
        update={
            "ended_at": None if ended_ns is None else rfc3339(int(str(ended_ns))),
            "ended_by": None if ended_by is None else str(ended_by),
            "reason": reason or None,
        }
    )
