"""Who holds what: the owner's settings, what a token says, and the grants that live."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeplane.disk.git_folders import GitFolders
from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CapabilityDenied, GrantNotFound, Overloaded, PathDenied
from codeplane.kernel.event import Correlation, Draft, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Operation
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_id
from codeplane.trust.capabilities.grant import CAPABILITIES, Grant, GrantContext, Holder
from codeplane.trust.capabilities.held import Held
from codeplane.trust.capabilities.paths import RealPath, scope_of
from codeplane.trust.capabilities.table import COLUMNS, EXPIRED, GRANTED, PREFIX, REVOKED, grant_of, payload_of
from codeplane.trust.people import is_person

MAX_LIVE = 1000
MAX_LIVE_PER_AGENT = 50
# Whoever is refused must be able to ask, and to see what it has; these look after themselves.
ASKING = frozenset({"capability.request", "capability.list", "capability.revoke", "agent.session"})
# What runs other programs writes where it likes: bounds on paths could not be kept.
_ANYWHERE = frozenset({"execute_tools", "execute_shell"})
_FOR_EVER_NS = 2**62
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Live:
    """A grant and the moment it ends by the clock that nobody can set back."""

    grant: Grant
    until_ns: int


class Grants:
    """Answers from memory what the table of grants says; the log is told first when something is given."""

    def __init__(
        self,
        *,
        log: Ledger,
        clock: Clock,
        config: TrustConfig,
        real: RealPath | None = None,
        gits: Callable[[], GitFolders] | None = None,
        ignore_case: bool = False,
    ) -> None:
        """`real` follows links below the repository's root; `gits` are the folders there that git keeps it in;
        `ignore_case` is for disks that do."""
        self._log = log
        self._clock = clock
        self._agents = frozenset[str](config.agent_capabilities)
        self._real = real
        self._gits = gits
        self._ignore_case = ignore_case
        self._live: dict[str, _Live] = {}
        self._by_holder: dict[Holder, dict[str, _Live]] = {}

    @property
    def agent_capabilities(self) -> frozenset[str]:
        """What the owner's settings give to agents."""
        return self._agents

    async def restore(self) -> int:
        """Take up what lived when the last server ended; returns how many grants that are."""
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM grants WHERE state = 'GRANTED' AND expires_ns > ?", (self._clock.now_ns(),)
        )
        self._live, self._by_holder = {}, {}
        for grant in map(grant_of, rows):
            self._keep(grant)
        return len(self._live)

    def covers(self, actor: Actor, held: Held | None, operation: Operation, assessment: Assessment) -> Grant | None:
        """What lets the actor make this call: one source for its capability, its tool and all its paths; or None."""
        capability = operation.mark.capability
        if operation.name in ASKING:
            return _own("asking", actor, CAPABILITIES)
        for grant in self.sources(actor, held):
            able = capability in grant.capabilities and grant.context.reaches(operation)
            if able and not self._outside(grant, capability, assessment.paths):
                return grant
        return None

    def require(self, actor: Actor, held: Held | None, operation: Operation, assessment: Assessment) -> Grant:
        """The same, or CapabilityDenied with what is missing and how to ask for it."""
        grant = self.covers(actor, held, operation, assessment)
        if grant is None:
            raise self._refusal(actor, held, operation, assessment)
        return grant

    def check_path(self, actor: Actor, held: Held | None, path: str, operation: Operation | None = None) -> None:
        """PathDenied unless something the actor holds lets it write there, with this operation where one is named."""
        capability = operation.mark.capability if operation is not None else "write_files"
        for grant in self.sources(actor, held):
            fits = capability in grant.capabilities and (operation is None or grant.context.reaches(operation))
            if fits and scope_of(grant.context.allowed_paths, ignore_case=self._ignore_case).covers(path, self._real):
                return
        raise PathDenied(
            f"no grant of {actor} reaches {path[:_SHOWN]!r}",
            hint="ask for it: capability_request with allowed_paths; a person decides",
            details={"path": path[:_SHOWN]},
        )

    def located(self, path: str) -> str:
        """The path with links on the way to it followed, not one at its end: that one would itself be written."""
        folder, slash, name = path.rpartition("/")
        real = self._real(folder) if slash and self._real is not None else None
        # What leads out of the repository is refused by whoever opens it; here nothing is ours to guard there.
        return path if real is None else f"{real}/{name}"

    def is_gits(self, path: str) -> bool:
        """Whether a path lies in a folder that git keeps the repository in, whatever it is called."""
        return self._gits is not None and self._gits().cover(path)

    def sources(self, actor: Actor, held: Held | None) -> Iterator[Grant]:
        """Everything the actor holds now: by being who it is, by its token, and by grants."""
        if is_person(actor):
            yield _own("person", actor, CAPABILITIES)
            return
        if actor.kind is ActorKind.SYSTEM:
            yield _own("system", actor, frozenset({"read_files"}))
            return
        if held is None:
            yield _own("settings", actor, self._agents)
        elif self._clock.now_ns() < held.expires_ns:
            yield _own("token", actor, frozenset[str](held.capabilities), GrantContext.of(held), held.expires_ns)
        yield from self.of(Holder.of(actor, held))

    def most_agents(self, actor: Actor, held: Held) -> int | None:
        """How many agents the actor may start at once, by the widest of what lets it; None is as many as it likes."""
        bounds = [one.context.max_agents for one in self.sources(actor, held) if "spawn_agents" in one.capabilities]
        if not bounds:
            return held.max_agents
        return None if None in bounds else max(bound for bound in bounds if bound is not None)

    def of(self, holder: Holder) -> list[Grant]:
        """The grants of one agent that live."""
        return [live.grant for live in self._by_holder.get(holder, {}).values() if self._lives(live)]

    def live(self, grant_id: str, holder: Holder | None = None) -> Grant:
        """A grant that lives, of this holder where one is named, by its id or a beginning or end that only it has."""
        found = {
            one.grant.grant_id: one.grant
            for one in self._live.values()
            if self._lives(one) and holder in (None, one.grant.holder)
        }
        return found[match_id(grant_id, found, "live grant", GrantNotFound)]

    def held_by(self, actor_id: str) -> list[Grant]:
        """The grants that live of an agent, by its bare name, and of those who act in the name of a device."""
        name = f"{ActorKind.AGENT.value}:{actor_id}"
        agents = [one.grant for one in self._live.values() if self._lives(one)]
        return [grant for grant in agents if grant.agent == name or grant.agent.startswith(f"{name}/")]

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
        """Let a grant live from the moment that it is durable; `before` are events that belong in front of it, `actor`
        is who gives it and `action_id` the question that they answered."""
        holder = grant.holder
        if len(self._live) >= MAX_LIVE:
            await self.sweep()
        if len(self._live) >= MAX_LIVE or len(self.of(holder)) >= MAX_LIVE_PER_AGENT:
            raise Overloaded(
                f"{holder} has {len(self.of(holder))} live grants, and there are {len(self._live)} in all",
                hint="wait until some end, or revoke some: cpl grants",
            )
        payload = payload_of(grant) | ({"justification": reason} if reason else {})
        payload |= {"action_id": action_id} if action_id else {}
        await self._log.append([*before, drafted(GRANTED, payload, actor, correlation)])
        self._keep(grant)

    async def revoke(self, grant: Grant, *, actor: Actor, reason: str, correlation: Correlation) -> None:
        """End a grant at once, and then say so: should the log fail, it is not held in the meantime."""
        self._forget(grant)
        payload: JsonObject = {"grant_id": grant.grant_id, "agent": grant.agent, "reason": reason}
        await self._log.append([drafted(REVOKED, payload, actor, correlation)])

    async def sweep(self) -> int:
        """Forget and record what has ended by itself; returns how many."""
        over = [live.grant for live in self._live.values() if not self._lives(live)]
        if over:
            system = Actor(kind=ActorKind.SYSTEM, actor_id="grants")
            await self._log.append(
                [
                    drafted(EXPIRED, {"grant_id": one.grant_id, "agent": one.agent}, system, Correlation())
                    for one in over
                ]
            )
            for one in over:
                self._forget(one)
        return len(over)

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
        """By both clocks: setting the wall clock back lengthens nothing."""
        return self._clock.monotonic_ns() < live.until_ns and self._clock.now_ns() < live.grant.expires_ns

    def _outside(self, grant: Grant, capability: str, paths: tuple[str, ...]) -> list[str]:
        """What of a call lies outside the grant's paths; all of it when nobody can tell where it writes."""
        scope = scope_of(grant.context.allowed_paths, ignore_case=self._ignore_case)
        if scope.is_everywhere:
            return []
        if capability in _ANYWHERE and not paths:
            return ["**"]
        return [path for path in paths if not scope.covers(path, self._real)]

    def _refusal(
        self, actor: Actor, held: Held | None, operation: Operation, assessment: Assessment
    ) -> CapabilityDenied:
        capability = operation.mark.capability
        holding = [grant for grant in self.sources(actor, held) if capability in grant.capabilities]
        reaching = [grant for grant in holding if grant.context.reaches(operation)]
        details: JsonObject = {"capability": capability, "operation": operation.name}
        hint = f'ask for it: capability_request capabilities=["{capability}"]'
        if not holding:
            missing, said = "capability", f"{actor} does not hold {capability}, which {operation.name} needs"
        elif not reaching:
            missing, said = "tool", f"{actor} holds {capability}, but not for {operation.name}"
            hint += f' allowed_tools=["{operation.name}"]'
        else:
            outside = self._outside(reaching[0], capability, assessment.paths)
            missing, said = "paths", f"{actor} holds {capability}, but not for {', '.join(outside[:5])[:_SHOWN]}"
            details["paths"] = list[str](outside[:20])
            if outside == ["**"]:
                said = f"{actor} holds {capability} for some paths, and {operation.name} can write anywhere"
        details["missing"] = missing
        if capability not in CAPABILITIES:
            hint = "only a person can do this"
        return CapabilityDenied(said, hint=f"{hint}; a person decides: cpl grants", details=details)


def drafted(kind: str, payload: JsonObject, actor: Actor | str, correlation: Correlation) -> Draft:
    """An event of one grant's stream."""
    return Draft(
        stream=f"{PREFIX}{payload['grant_id']}",
        type=kind,
        payload=payload,
        actor=str(actor),
        source=Source.POLICY_ENGINE,
        correlation=correlation,
    )


def _own(
    why: str,
    actor: Actor,
    capabilities: frozenset[str],
    context: GrantContext = GrantContext(),  # noqa: B008  # frozen
    expires_ns: int = _FOR_EVER_NS,
) -> Grant:
    """What an actor holds without anyone having granted it, in the same shape."""
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


def ends_at(clock: Clock, duration_sec: int) -> tuple[int, int]:
    """When a grant of that length begins and ends."""
    now = clock.now_ns()
    return now, now + duration_sec * SECOND_NS
