"""The operations on grants: asking for one, giving, ending and seeing them."""

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
from codeplane.trust.capabilities.grant import LOW_PRIVILEGE, Grant, GrantContext, Holder
from codeplane.trust.capabilities.grants import Grants, drafted, ends_at
from codeplane.trust.capabilities.held import Held
from codeplane.trust.capabilities.requests import (
    AskRequest,
    GrantList,
    GrantRequest,
    GrantView,
    ListRequest,
    RevokeRequest,
)
from codeplane.trust.capabilities.table import COLUMNS, DENIED, REQUESTED, context_wire, grant_of
from codeplane.trust.people import is_person, person

HeldOf = Callable[[Call], Held | None]
_KINDS = tuple(f"{kind.value}:" for kind in (ActorKind.AGENT, ActorKind.ASSISTANT, ActorKind.JOB))
_AGENT = f"{ActorKind.AGENT.value}:"
# How the names of agents with tokens begin, which nobody else can take.
_WITH_TOKEN = "agent_"
_MATCH = "(?1 IS NULL OR (agent IN (?1, ?7) AND (?2 IS NULL OR verified = ?2)))"


class CapabilityOperations:
    """What agents can ask for and people give."""

    def __init__(self, *, grants: Grants, held_of: HeldOf, log: Ledger, clock: Clock, cursors: Cursors) -> None:
        """`held_of` tells what the token behind a call holds, or None without one."""
        self._grants = grants
        self._held_of = held_of
        self._log = log
        self._clock = clock
        self._cursors = cursors

    @operation("capability.request", risk=Risk.WRITE, budget=Budget.NONE, timeout_sec=0)
    async def request(self, call: Call, request: AskRequest) -> GrantView:
        """Ask for capabilities you were refused, for a while, bounded by paths and tools. Reading, context_sharing and
        streaming_tasks are given at once where the owner's settings give them to agents; a person decides the rest."""
        if is_person(call.actor):
            raise InvalidArgument("a person holds every capability", hint="to give some to an agent: cpl grants grant")
        held = self._held_of(call)
        issued, expires = ends_at(self._clock, request.duration_sec)
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
            "context": context_wire(grant.context),
            "duration_sec": request.duration_sec,
            "justification": request.justification,
            "action_id": call.action_id,
        }
        if (refusal := self._refused(call, request, held)) is not None:
            denied: JsonObject = {"grant_id": grant.grant_id, "agent": grant.agent, "reason": refusal}
            await self._log.append(
                [
                    drafted(REQUESTED, asked, call.actor, call.correlation),
                    drafted(DENIED, denied, call.actor, call.correlation),
                ]
            )
            raise CapabilityDenied(refusal, hint="a person can give it: cpl grants grant")
        requested = drafted(REQUESTED, asked, call.actor, call.correlation)
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
        """What is more than agents have anyway is for a person to decide, in every mode."""
        if self._is_low(request):
            return Assessment(risk=Risk.WRITE)
        what, bounds = request.words()
        said = f"it would let the agent {what}"
        return Assessment(risk=Risk.HIGH, effects=(said,), trusted_as=(said, *(bounds or ("without bounds",))))

    @previews("capability.request")
    async def preview_request(self, request: AskRequest) -> Preview:
        """What would be granted, in words."""
        what, bounds = request.words()
        why = [f"The agent says why: {request.justification}"] if request.justification else []
        return Preview(summary=f"let the agent {what}", body="\n".join([*(bounds or ["without bounds"]), *why]))

    @operation("capability.grant", risk=Risk.WRITE, budget=Budget.NONE, people=True)
    async def grant(self, call: Call, request: GrantRequest) -> GrantView:
        """Give an agent capabilities for a while, bounded by paths and tools; only a person can."""
        person(call.actor)
        issued, expires = ends_at(self._clock, request.duration_sec)
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
        """What would be granted, and to whom."""
        what, bounds = request.words()
        return Preview(summary=f"let {_holder(request)} {what}", body="\n".join(bounds or ["without bounds"]))

    @operation("capability.revoke", risk=Risk.WRITE, budget=Budget.NONE)
    async def revoke(self, call: Call, request: RevokeRequest) -> GrantView:
        """End a grant at once: a person any, an agent its own."""
        grant = self._grants.live(request.grant_id, self._only(call))
        await self._grants.revoke(grant, actor=call.actor, reason=request.reason, correlation=call.correlation)
        ended = {"ended_at": rfc3339(self._clock.now_ns()), "ended_by": str(call.actor), "reason": request.reason}
        return _view(grant, status="REVOKED").model_copy(update=ended)

    @previews("capability.revoke")
    async def preview_revoke(self, call: Call, request: RevokeRequest) -> Preview:
        """Which grant would end."""
        grant = self._grants.live(request.grant_id, self._only(call))
        return Preview(summary=f"take {', '.join(sorted(grant.capabilities))} from {grant.agent}", body=grant.grant_id)

    @operation("capability.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> GrantList:
        """Grants, newest first: all for a person, its own for an agent."""
        agent, verified, held = self._whose(call, request)
        scope = f"capability.list:{call.task.session_id if call.task else ''}:{agent}:{verified}:{request.everything}"
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        now = self._clock.now_ns()
        rows = await self._log.select(
            f"""SELECT {COLUMNS} FROM grants WHERE position < ?4 AND {_MATCH}
                AND (?3 OR (state = 'GRANTED' AND expires_ns > ?5)) ORDER BY position DESC LIMIT ?6""",
            (agent, verified, request.everything, before, now, request.limit + 1, _named(agent, token=True)),
        )
        page, following = rows[: request.limit], None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": int(str(page[-1][-1]))})
        return GrantList(
            results=tuple(_row(row, now) for row in page),
            held=held,
            held_context=self._bounds(call),
            pagination=Pagination(next_cursor=following),
        )

    async def _decider(self, call: Call) -> str:
        """Who gives what is asked for: the person who approved it, or the settings for whoever asked."""
        rows = (
            await self._log.select("SELECT decided_by FROM actions WHERE action_id = ?", (call.action_id,))
            if call.action_id
            else []
        )
        return str(rows[0][0]) if rows and rows[0][0] else str(call.actor)

    def _bounds(self, call: Call) -> JsonObject:
        """What bounds the token behind a call."""
        held = None if is_person(call.actor) else self._held_of(call)
        return {} if held is None else context_wire(GrantContext.of(held))

    def _is_low(self, request: AskRequest) -> bool:
        return frozenset[str](request.capabilities) <= LOW_PRIVILEGE & self._grants.agent_capabilities

    def _refused(self, call: Call, request: AskRequest, held: Held | None) -> str | None:
        """Why a wish is not granted; whatever a person approved is granted as it was shown to them."""
        if call.action_id is not None:
            return None
        if not self._is_low(request):
            # Wherever a rule let it pass without a question, nobody has decided.
            return f"{', '.join(sorted(request.capabilities))} is for a person to decide, and nobody was asked"
        if held is not None and not _within(request.context(), GrantContext.of(held)):
            return "the token bounds paths, tools or questions, and a grant without a person stays within them"
        return None

    def _only(self, call: Call) -> Holder | None:
        """Whose grants a caller is told of: a person of all, an agent of its own."""
        return None if is_person(call.actor) else Holder.of(call.actor, self._held_of(call))

    def _whose(self, call: Call, request: ListRequest) -> tuple[str | None, bool | None, tuple[str, ...]]:
        if is_person(call.actor):
            return _named(request.agent, token=False), None, ()
        held = self._held_of(call)
        own = {name for source in self._grants.sources(call.actor, held) for name in source.capabilities}
        granted = {name for grant in self._grants.of(Holder.of(call.actor, held)) for name in grant.capabilities}
        base = held.capabilities if held is not None else own - granted
        return str(call.actor), held is not None, tuple(sorted(base))


def _named(agent: str | None, *, token: bool) -> str | None:
    """An agent's name as actors are written: without a kind it is an agent, and with a token it is marked as such."""
    if agent is None:
        return None
    kind, name = (_AGENT, agent) if not agent.startswith(_KINDS) else (f"{agent.partition(':')[0]}:", "")
    name = name or agent.removeprefix(kind)
    marked = token and kind == _AGENT and not name.startswith(_WITH_TOKEN)
    return f"{kind}{_WITH_TOKEN if marked else ''}{name}"


def _holder(request: GrantRequest) -> Holder:
    """Whom a person means; only agents have tokens, jobs and assistants are named by the plane itself."""
    token = not request.without_token and (request.agent.startswith(_AGENT) or not request.agent.startswith(_KINDS))
    return Holder(name=str(_named(request.agent, token=token)), verified=token)


def _within(asked: GrantContext, bounds: GrantContext) -> bool:
    """Whether a wish names no more than a token's bounds do, word for word."""
    return (
        _some(asked.allowed_paths, bounds.allowed_paths)
        and _some(asked.allowed_tools, bounds.allowed_tools)
        and asked.approval_mode == bounds.approval_mode
    )


def _some(asked: tuple[str, ...] | None, bounds: tuple[str, ...] | None) -> bool:
    return bounds is None or (asked is not None and set(asked) <= set(bounds))


def _view(grant: Grant, *, status: str = "GRANTED") -> GrantView:
    return GrantView(
        grant_id=grant.grant_id,
        agent_id=grant.agent,
        verified=grant.verified,
        status=status,
        capabilities=tuple(sorted(grant.capabilities)),
        context=context_wire(grant.context),
        issued_at=rfc3339(grant.issued_ns) if grant.issued_ns else None,
        expires_at=rfc3339(grant.expires_ns) if grant.expires_ns else None,
        granted_by=grant.granted_by,
    )


def _row(row: tuple[Cell, ...], now_ns: int) -> GrantView:
    state, ended_ns, ended_by, reason = row[8:12]
    grant = grant_of(row)
    over = state == "GRANTED" and grant.expires_ns <= now_ns
    return _view(grant, status="EXPIRED" if over else str(state)).model_copy(
        update={
            "ended_at": None if ended_ns is None else rfc3339(int(str(ended_ns))),
            "ended_by": None if ended_by is None else str(ended_by),
            "reason": reason or None,
        }
    )
