"""Who holds which capabilities: by the owner's settings, by a token, and by live grants."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from codeplane.disk.git_folders import GitFolders
from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call import Operation
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CapabilityDenied, GrantNotFound, Overloaded, PathDenied, SequenceConflict
from codeplane.kernel.event import Correlation, Draft, Event, Source
from codeplane.kernel.event_feed import EventFeed
from codeplane.kernel.ids import derived_event_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_id
from codeplane.trust.capabilities.grant import CAPABILITIES, Grant, GrantContext, Holder, TokenRights
from codeplane.trust.capabilities.path_scope import LinkResolver, scope_of
from codeplane.trust.capabilities.table import (
    COLUMNS,
    EXPIRED,
    GRANTED,
    PREFIX,
    REVOKED,
    grant_from_json,
    grant_from_row,
    grant_to_json,
)
from codeplane.trust.people import is_person

MAX_LIVE = 1000
MAX_LIVE_PER_AGENT = 50
# A refused caller must be able to ask and to see what it holds; these operations check their callers themselves.
ASKING = frozenset({"capability.request", "capability.list", "capability.revoke", "agent.session"})
# Operations that run other programs can write anywhere, so path bounds cannot be enforced on them.
_ANYWHERE = frozenset({"execute_tools", "execute_shell"})
_NEVER_NS = 2**62
_BY_SETTINGS = "settings"
_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Live:
    """A grant, and when it ends on the monotonic clock."""

    grant: Grant
    until_ns: int


class Grants:
    """Keeps the live grants in memory, as the log's events say."""

    def __init__(
        self,
        *,
        log: Ledger,
        clock: Clock,
        config: TrustConfig,
        real: LinkResolver | None = None,
        gits: Callable[[], GitFolders] | None = None,
        ignore_case: bool = False,
    ) -> None:
        """`real` follows links below the repository's root; `gits` gives git's folders; `ignore_case` fits the disk."""
        self._log = log
        self._clock = clock
        self._agents = frozenset[str](config.agent_capabilities)
        self._real = real
        self._gits = gits
        self._ignore_case = ignore_case
        self._live: dict[str, _Live] = {}
        self._by_holder: dict[Holder, dict[str, _Live]] = {}
        self._feed = EventFeed({GRANTED, REVOKED, EXPIRED}, self._apply)

    @property
    def agent_capabilities(self) -> frozenset[str]:
        """The capabilities that the owner's settings give to agents."""
        return self._agents

    async def restore(self) -> int:
        """Load the live grants from the table, and follow what becomes of them; returns how many there are."""
        await self._feed.load(self._log, self._load)
        return len(self._live)

    async def _load(self) -> None:
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM grants WHERE state = 'GRANTED' AND expires_ns > ?", (self._clock.now_ns(),)
        )
        self._live, self._by_holder = {}, {}
        for grant in map(grant_from_row, rows):
            self._keep(grant)

    def covers(
        self, actor: Actor, rights: TokenRights | None, operation: Operation, assessment: Assessment
    ) -> Grant | None:
        """The grant that covers the call's capability, tool and all of its paths, or None."""
        capability = operation.mark.capability
        if operation.name in ASKING:
            return _implicit_grant("asking", actor, CAPABILITIES)
        for grant in self.sources(actor, rights):
            able = capability in grant.capabilities and grant.context.reaches(operation)
            if able and not self._outside(grant, capability, assessment.paths):
                return grant
        return None

    def require(self, actor: Actor, rights: TokenRights | None, operation: Operation, assessment: Assessment) -> Grant:
        """The grant that covers the call; CapabilityDenied with what is missing and how to ask for it."""
        grant = self.covers(actor, rights, operation, assessment)
        if grant is None:
            raise self._refusal(actor, rights, operation, assessment)
        return grant

    def admit(self, actor: Actor, rights: TokenRights | None, operation: Operation, assessment: Assessment) -> Grant:
        """As `require`, with PathDenied when nothing but a path is missing."""
        try:
            return self.require(actor, rights, operation, assessment)
        except CapabilityDenied as error:
            if error.details.get("missing") == "paths":
                # The same error whether a path was known from the start or found while planning.
                for path in assessment.paths:
                    self.check_path(actor, rights, path, operation)
            raise

    def check_path(
        self, actor: Actor, rights: TokenRights | None, path: str, operation: Operation | None = None
    ) -> None:
        """Raise PathDenied unless the actor may write the path, with this operation where one is given."""
        capability = operation.mark.capability if operation is not None else "write_files"
        for grant in self.sources(actor, rights):
            fits = capability in grant.capabilities and (operation is None or grant.context.reaches(operation))
            if fits and scope_of(grant.context.allowed_paths, ignore_case=self._ignore_case).covers(path, self._real):
                return
        raise PathDenied(
            f"no grant of {actor} reaches {path[:_MAX_SHOWN]!r}",
            hint="ask for it: capability_request with allowed_paths; a person decides",
            details={"path": path[:_MAX_SHOWN]},
        )

    def resolve_links(self, path: str) -> str:
        """The path with the links of its folder followed; a link at its end would itself be written."""
        folder, slash, name = path.rpartition("/")
        real = self._real(folder) if slash and self._real is not None else None
        # A path that leads out of the repository is refused where it is opened; nothing out there is protected here.
        return path if real is None else f"{real}/{name}"

    def is_in_git_folder(self, path: str) -> bool:
        """Whether a path is inside git's folder, whatever that is called."""
        return self._gits is not None and self._gits().cover(path)

    def conversation_grant(self, actor: Actor) -> Grant:
        """The grant of a caller with the owner's token, for its threads and turns."""
        return _implicit_grant("conversation", actor, frozenset({"spawn_agents"}))

    def sources(self, actor: Actor, rights: TokenRights | None) -> Iterator[Grant]:
        """Everything the actor holds now: by its kind, by its token, and by grants."""
        if is_person(actor):
            yield _implicit_grant("person", actor, CAPABILITIES)
            return
        if actor.kind is ActorKind.SYSTEM:
            yield _implicit_grant("system", actor, frozenset({"read_files"}))
            return
        if rights is None:
            yield _implicit_grant(_BY_SETTINGS, actor, self._agents)
        elif self._clock.now_ns() < rights.expires_ns:
            yield _implicit_grant(
                "token", actor, frozenset[str](rights.capabilities), GrantContext.of(rights), rights.expires_ns
            )
        yield from self.of(Holder.of(actor, rights))

    def are_contexts_shared(self, actor: Actor, rights: TokenRights | None) -> bool:
        """Whether a token, or a grant by a person, lets the actor read what others did."""
        return any(
            "context_sharing" in grant.capabilities and _BY_SETTINGS not in (grant.grant_id, grant.granted_by)
            for grant in self.sources(actor, rights)
        )

    def max_agents(self, actor: Actor, rights: TokenRights) -> int | None:
        """How many agents the actor may start at once, by the widest of its grants; None means any number."""
        bounds = [
            source.context.max_agents for source in self.sources(actor, rights) if "spawn_agents" in source.capabilities
        ]
        if not bounds:
            return rights.max_agents
        return None if None in bounds else max(bound for bound in bounds if bound is not None)

    def of(self, holder: Holder) -> list[Grant]:
        """The live grants of one agent."""
        return [live.grant for live in self._by_holder.get(holder, {}).values() if self._lives(live)]

    def get_live(self, grant_id: str, holder: Holder | None = None) -> Grant:
        """A live grant by its id or a unique beginning or end of it, of this holder where one is given."""
        grants = {
            live.grant.grant_id: live.grant
            for live in self._live.values()
            if self._lives(live) and holder in (None, live.grant.holder)
        }
        return grants[match_id(grant_id, grants, "live grant", GrantNotFound)]

    def grants_of(self, actor_id: str) -> list[Grant]:
        """The live grants of an agent, by its bare name, or of the agents that act for a device."""
        name = f"{ActorKind.AGENT.value}:{actor_id}"
        grants = [live.grant for live in self._live.values() if self._lives(live)]
        return [grant for grant in grants if grant.agent == name or grant.agent.startswith(f"{name}/")]

    async def give(
        self,
        grant: Grant,
        *,
        actor: Actor | str,
        correlation: Correlation,
        before: tuple[Draft, ...] = (),
        reason: str | None = None,
        action_id: str | None = None,
    ) -> None:
        """Add a grant, which counts once it is durable.

        `before` are events that go in front of it, `actor` gives it, and `action_id` is the question they answered.
        """
        holder = grant.holder
        if len(self._live) >= MAX_LIVE:
            await self.sweep()
        if len(self._live) >= MAX_LIVE or len(self.of(holder)) >= MAX_LIVE_PER_AGENT:
            raise Overloaded(
                f"{holder} has {len(self.of(holder))} live grants, and there are {len(self._live)} in all",
                hint="wait until some end, or revoke some: cpl grants",
            )
        payload = grant_to_json(grant) | ({"justification": reason} if reason else {})
        payload |= {"action_id": action_id} if action_id else {}
        await self._log.append([*before, grant_event(GRANTED, payload, actor, correlation)])

    async def revoke(self, grant: Grant, *, actor: Actor, reason: str, correlation: Correlation) -> None:
        """End a grant, then record it: if the log fails, the grant has ended all the same."""
        self._forget(grant)
        payload: JsonObject = {"grant_id": grant.grant_id, "agent": grant.agent, "reason": reason}
        await self._log.append([grant_event(REVOKED, payload, actor, correlation)])

    async def sweep(self) -> int:
        """Remove and record the grants that have expired; returns how many."""
        expired = [live.grant for live in self._live.values() if not self._lives(live)]
        system = Actor(kind=ActorKind.SYSTEM, actor_id="grants")
        for grant in expired:
            ended = grant_event(EXPIRED, {"grant_id": grant.grant_id, "agent": grant.agent}, system, Correlation())
            # Another node may see it expire, too: the event's id makes the second one a conflict.
            ended = replace(ended, event_id=derived_event_id("grant-expired", grant.grant_id))
            with suppress(SequenceConflict):
                await self._log.append([ended])
            self._forget(grant)
        return len(expired)

    def _apply(self, event: Event) -> None:
        if event.type == GRANTED:
            self._keep(grant_from_json(event.payload))
        elif (live := self._live.get(str(event.payload["grant_id"]))) is not None:
            self._forget(live.grant)

    def _keep(self, grant: Grant) -> None:
        left = max(0, grant.expires_ns - self._clock.now_ns())
        live = _Live(grant=grant, until_ns=self._clock.monotonic_ns() + left)
        self._live[grant.grant_id] = self._by_holder.setdefault(grant.holder, {})[grant.grant_id] = live

    def _forget(self, grant: Grant) -> None:
        self._live.pop(grant.grant_id, None)
        of_holder = self._by_holder.get(grant.holder, {})
        of_holder.pop(grant.grant_id, None)
        if not of_holder:
            self._by_holder.pop(grant.holder, None)

    def _lives(self, live: _Live) -> bool:
        """Whether it has not expired by either clock: setting the wall clock back does not lengthen a grant."""
        return self._clock.monotonic_ns() < live.until_ns and self._clock.now_ns() < live.grant.expires_ns

    def _outside(self, grant: Grant, capability: str, paths: tuple[str, ...]) -> list[str]:
        """The paths of a call outside the grant's; `**` when the operation could write anywhere."""
        scope = scope_of(grant.context.allowed_paths, ignore_case=self._ignore_case)
        if scope.is_everywhere:
            return []
        if capability in _ANYWHERE and not paths:
            return ["**"]
        return [path for path in paths if not scope.covers(path, self._real)]

    def _refusal(
        self, actor: Actor, rights: TokenRights | None, operation: Operation, assessment: Assessment
    ) -> CapabilityDenied:
        capability = operation.mark.capability
        holding = [grant for grant in self.sources(actor, rights) if capability in grant.capabilities]
        reaching = [grant for grant in holding if grant.context.reaches(operation)]
        details: JsonObject = {"capability": capability, "operation": operation.name}
        hint = f'ask for it: capability_request capabilities=["{capability}"]'
        if not holding:
            missing, message = "capability", f"{actor} does not hold {capability}, which {operation.name} needs"
        elif not reaching:
            missing, message = "tool", f"{actor} holds {capability}, but not for {operation.name}"
            hint += f' allowed_tools=["{operation.name}"]'
        else:
            outside = self._outside(reaching[0], capability, assessment.paths)
            missing, message = "paths", f"{actor} holds {capability}, but not for {', '.join(outside[:5])[:_MAX_SHOWN]}"
            details["paths"] = list[str](outside[:20])
            if outside == ["**"]:
                message = f"{actor} holds {capability} for some paths, and {operation.name} can write anywhere"
        details["missing"] = missing
        if capability not in CAPABILITIES:
            hint = "only a person can do this"
        return CapabilityDenied(message, hint=f"{hint}; a person decides: cpl grants", details=details)


def grant_event(kind: str, payload: JsonObject, actor: Actor | str, correlation: Correlation) -> Draft:
    """An event of one grant's stream."""
    return Draft(
        stream=f"{PREFIX}{payload['grant_id']}",
        type=kind,
        payload=payload,
        actor=str(actor),
        source=Source.POLICY_ENGINE,
        correlation=correlation,
    )


def _implicit_grant(
    why: str,
    actor: Actor,
    capabilities: frozenset[str],
    context: GrantContext = GrantContext(),  # noqa: B008  # frozen
    expires_ns: int = _NEVER_NS,
) -> Grant:
    """The permissions that an actor holds without a grant, as a grant."""
    return Grant(
        grant_id=why,
        agent=str(actor),
        verified=True,
        capabilities=capabilities,
        issued_ns=0,
        expires_ns=expires_ns,
        granted_by="owner",
        context=context,
    )


def grant_period(clock: Clock, duration_sec: int) -> tuple[int, int]:
    """When a grant of that duration begins and ends."""
    now = clock.now_ns()
    return now, now + duration_sec * SECOND_NS
