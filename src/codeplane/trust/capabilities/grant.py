"""A grant: which capabilities an agent holds, within which bounds, and until when."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard, get_args

from codeplane.kernel.actor import Actor
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import Capability
from codeplane.kernel.counted import counted
from codeplane.kernel.operation import Operation
from codeplane.trust.capabilities.held import ApprovalMode, Held

CAPABILITIES: frozenset[str] = frozenset(get_args(Capability))
# These are given at once where the owner's settings give them to agents; all others a person decides.
LOW_PRIVILEGE: frozenset[str] = frozenset({"read_files", "context_sharing", "streaming_tasks"})

_WORDS: dict[Capability, str] = {
    "read_files": "read files",
    "write_files": "change files",
    "execute_tools": "run tools: tests, git with remotes, web pages",
    "execute_shell": "run shell commands",
    "spawn_agents": "start agents",
    "p2p_mesh": "talk to other agents directly",
    "context_sharing": "share context with other agents",
    "streaming_tasks": "stream tasks",
}
_STRICTEST: tuple[ApprovalMode, ...] = ("automatic", "trust", "always")


def is_capability(name: str) -> TypeGuard[Capability]:
    """Whether a name is one of the eight."""
    return name in CAPABILITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantContext:
    """The bounds of a grant; a list that was not given bounds nothing, an empty one leaves nothing."""

    allowed_paths: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    max_agents: int | None = None
    approval_mode: ApprovalMode | None = None

    @classmethod
    def of(cls, held: Held) -> "GrantContext":
        """The bounds that a token names."""
        return cls(
            allowed_paths=held.allowed_paths,
            allowed_tools=held.allowed_tools,
            max_agents=held.max_agents,
            approval_mode=held.approval_mode,
        )

    def reaches(self, operation: Operation) -> bool:
        """Whether the operation is among the allowed tools: by its name, as a tool, or by a beginning with `*`."""
        if self.allowed_tools is None:
            return True
        names = (operation.name, operation.tool)
        return any(
            name.startswith(tool[:-1]) if tool.endswith("*") else name == tool
            for tool in self.allowed_tools
            for name in names
        )

    def words(self) -> list[str]:
        """The bounds as a person reads them."""
        said = []
        if self.allowed_paths is not None:
            said.append(f"changes only in: {_listed(self.allowed_paths)}")
        if self.allowed_tools is not None:
            said.append(f"only with: {_listed(self.allowed_tools)}")
        if self.max_agents is not None:
            said.append(f"at most {counted(self.max_agents, 'agent')}")
        if self.approval_mode is not None:
            said.append(f"questions: {self.approval_mode}")
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What one agent may do until the grant ends."""

    grant_id: str
    # `verified` grants belong to whoever shows a token of that name, the others to whoever calls itself so.
    agent: str
    verified: bool
    capabilities: frozenset[str]
    issued_ns: int
    expires_ns: int
    granted_by: str
    context: GrantContext = GrantContext()

    @property
    def holder(self) -> "Holder":
        """Whom it was given to."""
        return Holder(name=self.agent, verified=self.verified)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whom grants are given to: an agent by name, told apart by whether a token proves the name."""

    name: str
    verified: bool

    @classmethod
    def of(cls, actor: Actor, held: Held | None) -> "Holder":
        """The holder behind an actor."""
        return cls(name=str(actor), verified=held is not None)

    def __str__(self) -> str:
        return self.name if self.verified else f"{self.name} (without a token)"


def stricter(first: ApprovalMode, second: ApprovalMode | None) -> ApprovalMode:
    """The mode that asks more: a grant can make an agent ask more often than the settings do, never less."""
    return first if second is None else max(first, second, key=_STRICTEST.index)


def in_words(capabilities: Iterable[str], context: GrantContext, duration_ns: int) -> tuple[str, tuple[str, ...]]:
    """A grant for a person: what for how long in one line, and its bounds."""
    wanted = set(capabilities)
    what = "; ".join(word for name, word in _WORDS.items() if name in wanted)
    bounds = context.words()
    if context.allowed_paths is not None and "read_files" in wanted:
        bounds.append("reading is not bounded by paths")
    return f"{what} (for {_for_long(duration_ns)})", tuple(bounds)


def _for_long(duration_ns: int) -> str:
    minutes = -(-duration_ns // (60 * SECOND_NS))
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"


def _listed(names: tuple[str, ...]) -> str:
    # All of them: whatever was left out would be agreed to unseen.
    return ", ".join(names) or "nothing"
