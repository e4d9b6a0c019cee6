"""Identifies callers: the owner, a device or an agent by token, or a local agent without one."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from codeplane.kernel.actor import PLUGIN_PREFIX, Actor, ActorKind, Caller
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import Capability
from codeplane.kernel.errors import CodePlaneError, TokenExpired, Unauthorized
from codeplane.trust.capabilities.grant import TokenRights
from codeplane.trust.identity.agent_token import MAX_TOKEN, looks_like_jwt
from codeplane.trust.identity.agents import Agents
from codeplane.trust.identity.change_signal import ChangeSignal
from codeplane.trust.identity.device import Device
from codeplane.trust.identity.devices import DEVICE_PREFIX, Devices
from codeplane.trust.identity.issued_token import IssuedToken
from codeplane.trust.identity.owner import OWNER, is_owner_token
from codeplane.trust.identity.pairing import Pairing

EMBEDDED = "embedded"
# The only operation for callers without a token, and the actor that calls it, which owns no sessions.
PAIRING_OPERATION = "pairing.bind"
PAIRING = Actor(kind=ActorKind.SYSTEM, actor_id="pairing", owner_id="nobody")
AGENT_PREFIX = "agent_"
_DEVICE_ID = "dev_"
_ANONYMOUS = "anonymous"
_AGENT_SURFACES = frozenset({"mcp", "acp", "lsp", "app-server"})
# Where a person's own program talks with an assistant of ours.
_CONVERSATION_SURFACES = frozenset({"acp", "app-server", "lsp"})
_PUBLIC_SURFACES = frozenset({"rest"})
_PAIRING_SURFACES = frozenset({"connect", "grpc"})
# How often a lease is checked even when nothing signals its end, because clocks jump.
_CHECK_SEC = 5.0

AGENTS_HINT = "a person issues one: cpl agents token NAME; send it as `Authorization: Bearer …`"
_FOR_EVER_NS = 2**63 - 1
_NO_RIGHTS = TokenRights(capabilities=frozenset(), expires_ns=0)


class Identities:
    """Identifies callers by token and surface."""

    def __init__(
        self,
        token: str,
        *,
        pairing: Pairing | None = None,
        devices: Devices | None = None,
        agents: Agents | None = None,
        changes: ChangeSignal | None = None,
        require_token: bool = False,
    ) -> None:
        self._owners = token.encode()
        self._pairing = pairing
        self._devices = devices
        self._agents = agents
        self._changes = changes or ChangeSignal()
        self._require_token = require_token
        self._plugins: dict[str, TokenRights] = {}

    def admit_plugins(self, capabilities: Mapping[str, Iterable[Capability]]) -> None:
        """Let these plugins do what the settings say, and no others."""
        self._plugins = {
            f"{PLUGIN_PREFIX}{name}": TokenRights(capabilities=frozenset(given), expires_ns=_FOR_EVER_NS)
            for name, given in capabilities.items()
        }

    def identify(self, caller: Caller, operation: str = "") -> Actor:
        """The actor behind a caller, or Unauthorized; whatever comes over an agent surface is an agent."""
        if caller.token is None:
            return self._without_token(caller, operation)
        holder = self._holder(caller.token, caller.surface)
        if isinstance(holder, IssuedToken):
            return Actor(kind=ActorKind.AGENT, actor_id=holder.agent_id)
        if caller.surface in _AGENT_SURFACES:
            # A model is behind it whatever token it has: no agent approves its own action.
            if isinstance(holder, Device):
                return Actor(kind=ActorKind.AGENT, actor_id=f"{holder.device_id}/{caller.client or _ANONYMOUS}")
            return Actor(kind=ActorKind.AGENT, actor_id=_claimed_name(caller))
        if isinstance(holder, Device):
            return Actor(kind=ActorKind.DEVICE, actor_id=holder.device_id)
        return OWNER

    def token_rights(self, caller: Caller) -> TokenRights | None:
        """The rights of the caller's own token; None for callers whose rights come from elsewhere."""
        if caller.actor is not None:
            if is_plugin(caller.actor):
                return self._plugins.get(caller.actor.actor_id, _NO_RIGHTS)
            # A resumed call of an agent: the agent's current rights count.
            if not has_own_token(caller.actor):
                return None
            newest = self._agents.newest_token(caller.actor.actor_id) if self._agents is not None else None
            return newest.rights if newest is not None else _NO_RIGHTS
        if caller.token is None:
            return None
        holder = self._holder(caller.token)
        return holder.rights if isinstance(holder, IssuedToken) else None

    def may_converse(self, caller: Caller) -> bool:
        """Whether the caller may open threads and send turns by the owner's token, which its program showed."""
        shown = caller.token if caller.surface in _CONVERSATION_SURFACES else None
        return shown is not None and is_owner_token(shown, self._owners)

    def is_live(self, actor: Actor) -> bool:
        """Whether the actor could call now: not revoked, and its lease or token has not expired."""
        return self.end_reason(actor) is None

    def end_reason(self, actor: Actor) -> str | None:
        """Why the actor could not call any more, as words about it; None while it could."""
        try:
            device_id = device_of(actor)
            if device_id is not None:
                if self._devices is None:
                    return "is no device of this repository"
                self._devices.check(device_id)
                return None
        except TokenExpired:
            return "did not renew its token in time, which has expired"
        except Unauthorized:
            return "was revoked"
        if is_plugin(actor):
            return None if actor.actor_id in self._plugins else "is not in the settings any more"
        if not has_own_token(actor) or self._agents is None:
            return "was revoked" if has_own_token(actor) else None
        if self._agents.newest_token(actor.actor_id) is not None:
            return None
        return "was revoked, or its token has expired"

    async def wait_for_end(self, caller: Caller) -> CodePlaneError:
        """Wait until the caller is no longer admitted, and return why; for streams."""
        try:
            check = self._remaining_life(caller)
            while True:
                left_sec = check() / SECOND_NS if check is not None else None
                if left_sec is None:
                    # It lasts as long as the server.
                    await asyncio.get_running_loop().create_future()
                else:
                    await self._changes.wait(min(left_sec, _CHECK_SEC))
        except (Unauthorized, TokenExpired) as error:
            return error

    def _remaining_life(self, caller: Caller) -> Callable[[], int] | None:
        """A function that returns how long the caller's token stays valid; None when it does not expire."""
        if caller.token is None:
            return None
        holder, devices, agents = self._holder(caller.token), self._devices, self._agents
        if isinstance(holder, Device) and devices is not None:
            return lambda: devices.check(holder.device_id)
        if isinstance(holder, IssuedToken) and agents is not None:
            return lambda: agents.check(holder.token_id)
        return None

    def _without_token(self, caller: Caller, operation: str) -> Actor:
        surface = caller.surface
        if surface == EMBEDDED:
            return OWNER
        if operation == PAIRING_OPERATION and surface in _PAIRING_SURFACES and self._pairing is not None:
            # Before any session is opened or event written for it.
            self._pairing.check_rate()
            return PAIRING
        if not self._require_token:
            if surface in _AGENT_SURFACES:
                return Actor(kind=ActorKind.AGENT, actor_id=_claimed_name(caller))
            if surface in _PUBLIC_SURFACES:
                return Actor(kind=ActorKind.SYSTEM, actor_id="probe")
        raise Unauthorized(f"calls over {surface} need a token", hint=_hint(surface))

    def _holder(self, token: str, surface: str = "") -> Actor | Device | IssuedToken:
        if len(token) > MAX_TOKEN:
            raise Unauthorized(f"the token has more than {MAX_TOKEN} characters", hint=_hint(surface))
        if is_owner_token(token, self._owners):
            return OWNER
        if token.startswith(DEVICE_PREFIX) and self._devices is not None:
            return self._devices.find(token)
        if looks_like_jwt(token) and self._agents is not None:
            return self._agents.find(token)
        raise Unauthorized("unknown token", hint=_hint(surface))


def _hint(surface: str) -> str | None:
    """The hint for a surface; an agent is never pointed to the owner's token."""
    return AGENTS_HINT if surface in _AGENT_SURFACES else None


def _claimed_name(caller: Caller) -> str:
    """A client's own name; one that looks like a token holder's is marked, since any client can claim it."""
    name = caller.client or _ANONYMOUS
    return f"~{name}" if name.startswith((AGENT_PREFIX, PLUGIN_PREFIX, _DEVICE_ID, "~")) else name


def has_own_token(actor: Actor) -> bool:
    """Whether the actor is an agent with a token of its own."""
    return actor.kind is ActorKind.AGENT and actor.actor_id.startswith(AGENT_PREFIX)


def is_plugin(actor: Actor) -> bool:
    """Whether the actor is a plugin of the owner's."""
    return actor.kind is ActorKind.AGENT and actor.actor_id.startswith(PLUGIN_PREFIX)


def device_of(actor: Actor) -> str | None:
    """The id of the device that the actor is, or acts for."""
    if actor.kind is ActorKind.DEVICE:
        return actor.actor_id
    if actor.kind is ActorKind.AGENT and actor.actor_id.startswith(_DEVICE_ID):
        return actor.actor_id.partition("/")[0]
    return None
