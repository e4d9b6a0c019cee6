"""Who is calling: the owner, a device or an agent by token, an agent on this machine without one, nobody else."""

import asyncio
from collections.abc import Callable

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import CodePlaneError, TokenExpired, Unauthorized
from codeplane.trust.capabilities.held import Held
from codeplane.trust.identity.agent_token import MAX_TOKEN, looks_signed
from codeplane.trust.identity.agents import Agents
from codeplane.trust.identity.changes import Changes
from codeplane.trust.identity.device import Device
from codeplane.trust.identity.devices import DEVICE_PREFIX, Devices
from codeplane.trust.identity.issued import Issued
from codeplane.trust.identity.owner import OWNER, is_owners
from codeplane.trust.identity.pairing import Pairing

EMBEDDED = "embedded"
# The one operation that is for those who have no token yet, and who calls it: nobody's sessions are open to them.
PAIRING_OPERATION = "pairing.bind"
PAIRING = Actor(kind=ActorKind.SYSTEM, actor_id="pairing", owner_id="nobody")
AGENT_PREFIX = "agent_"
_DEVICE_ID = "dev_"
_ANONYMOUS = "anonymous"
_AGENT_SURFACES = frozenset({"mcp"})
_PUBLIC_SURFACES = frozenset({"rest"})
_PAIRING_SURFACES = frozenset({"connect", "grpc"})
# How often a lease is looked at while nothing tells of its end: clocks jump.
_LOOK_SEC = 5.0

AGENTS_HINT = "a person issues one: cpl agents token NAME; send it as `Authorization: Bearer …`"
_NOTHING = Held(capabilities=frozenset(), expires_ns=0)


class Identities:
    """Tells callers apart by token and surface."""

    def __init__(
        self,
        token: str,
        *,
        pairing: Pairing | None = None,
        devices: Devices | None = None,
        agents: Agents | None = None,
        changes: Changes | None = None,
        require_token: bool = False,
    ) -> None:
        self._owners = token.encode()
        self._pairing = pairing
        self._devices = devices
        self._agents = agents
        self._changes = changes or Changes()
        self._require_token = require_token

    def identify(self, caller: Caller, operation: str = "") -> Actor:
        """The actor behind a caller, or Unauthorized; whatever comes over MCP is an agent, never a person."""
        if caller.token is None:
            return self._without_token(caller, operation)
        holder = self._holder(caller.token, caller.surface)
        if isinstance(holder, Issued):
            return Actor(kind=ActorKind.AGENT, actor_id=holder.agent_id)
        if caller.surface in _AGENT_SURFACES:
            # Whatever it holds, a model is behind it: no agent approves its own action.
            if isinstance(holder, Device):
                return Actor(kind=ActorKind.AGENT, actor_id=f"{holder.device_id}/{caller.client or _ANONYMOUS}")
            return Actor(kind=ActorKind.AGENT, actor_id=_self_named(caller))
        if isinstance(holder, Device):
            return Actor(kind=ActorKind.DEVICE, actor_id=holder.device_id)
        return OWNER

    def held(self, caller: Caller) -> Held | None:
        """What the caller's own token lets it do; None for callers whose rights come from elsewhere."""
        if caller.actor is not None:
            # A call of the plane's own for an agent that asked before: what the agent holds now is what counts.
            if not has_own_token(caller.actor):
                return None
            newest = self._agents.newest(caller.actor.actor_id) if self._agents is not None else None
            return newest.held if newest is not None else _NOTHING
        if caller.token is None:
            return None
        holder = self._holder(caller.token)
        return holder.held if isinstance(holder, Issued) else None

    def is_live(self, actor: Actor) -> bool:
        """Whether the actor could call now: not revoked, its lease or token not over."""
        try:
            device_id = device_of(actor)
            if device_id is not None:
                return self._devices is not None and self._devices.check(device_id) > 0
        except (Unauthorized, TokenExpired):
            return False
        return not has_own_token(actor) or (
            self._agents is not None and self._agents.newest(actor.actor_id) is not None
        )

    async def ended(self, caller: Caller) -> CodePlaneError:
        """Wait until the caller is no longer let in, and say why; for what runs longer than one answer takes."""
        try:
            check = self._lasting(caller)
            while True:
                left_sec = check() / SECOND_NS if check is not None else None
                if left_sec is None:
                    # Nothing ends it but the server's own end.
                    await asyncio.get_running_loop().create_future()
                else:
                    await self._changes.wait(min(left_sec, _LOOK_SEC))
        except (Unauthorized, TokenExpired) as error:
            return error

    def _lasting(self, caller: Caller) -> Callable[[], int] | None:
        """How long the caller's right still lasts, whichever of its tokens it came with."""
        if caller.token is None:
            return None
        holder, devices, agents = self._holder(caller.token), self._devices, self._agents
        if isinstance(holder, Device) and devices is not None:
            return lambda: devices.check(holder.device_id)
        if isinstance(holder, Issued) and agents is not None:
            return lambda: agents.check(holder.token_id)
        return None

    def _without_token(self, caller: Caller, operation: str) -> Actor:
        surface = caller.surface
        if surface == EMBEDDED:
            return OWNER
        if operation == PAIRING_OPERATION and surface in _PAIRING_SURFACES and self._pairing is not None:
            # Before anything is opened or written for it.
            self._pairing.check_rate()
            return PAIRING
        if not self._require_token:
            if surface in _AGENT_SURFACES:
                return Actor(kind=ActorKind.AGENT, actor_id=_self_named(caller))
            if surface in _PUBLIC_SURFACES:
                return Actor(kind=ActorKind.SYSTEM, actor_id="probe")
        raise Unauthorized(f"calls over {surface} need a token", hint=_hint(surface))

    def _holder(self, token: str, surface: str = "") -> Actor | Device | Issued:
        if len(token) > MAX_TOKEN:
            raise Unauthorized(f"the token has more than {MAX_TOKEN} characters", hint=_hint(surface))
        if is_owners(token, self._owners):
            return OWNER
        if token.startswith(DEVICE_PREFIX) and self._devices is not None:
            return self._devices.find(token)
        if looks_signed(token) and self._agents is not None:
            return self._agents.find(token)
        raise Unauthorized("the token is nobody's", hint=_hint(surface))


def _hint(surface: str) -> str | None:
    """The next step: an agent is never sent to the owner's own token."""
    return AGENTS_HINT if surface in _AGENT_SURFACES else None


def _self_named(caller: Caller) -> str:
    """A client's own name for itself; one that a token stands for elsewhere is marked, since anyone can say it."""
    name = caller.client or _ANONYMOUS
    return f"~{name}" if name.startswith((AGENT_PREFIX, _DEVICE_ID, "~")) else name


def has_own_token(actor: Actor) -> bool:
    """Whether it is an agent that came with a token of its own."""
    return actor.kind is ActorKind.AGENT and actor.actor_id.startswith(AGENT_PREFIX)


def device_of(actor: Actor) -> str | None:
    """The device itself, or the one that an agent acts for."""
    if actor.kind is ActorKind.DEVICE:
        return actor.actor_id
    if actor.kind is ActorKind.AGENT and actor.actor_id.startswith(_DEVICE_ID):
        return actor.actor_id.partition("/")[0]
    return None
