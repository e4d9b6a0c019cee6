"""Grants and the rights in a token: which capabilities an agent holds, within which bounds, and until when."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeGuard, get_args

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Operation
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import Capability
from codeplane.kernel.plural import plural

ApprovalMode = Literal["automatic", "trust", "always"]
_BY_STRICTNESS: tuple[ApprovalMode | None, ...] = (None, "automatic", "trust", "always")

CAPABILITIES: frozenset[str] = frozenset(get_args(Capability))
# Granted without a question where the owner's settings give them to agents; a person decides about all others.
LOW_PRIVILEGE: frozenset[str] = frozenset({"read_files", "streaming_tasks"})

_WORDS: dict[Capability, str] = {
    "read_files": "read files",
    "write_files": "change files",
    "execute_tools": "run tools: tests, git with remotes, web pages",
    "execute_shell": "run shell commands",
    "spawn_agents": "start agents",
    "p2p_mesh": "talk to other agents directly",
    "context_sharing": "read what others did: their calls and events",
    "streaming_tasks": "stream tasks",
}


def is_capability(name: str) -> TypeGuard[Capability]:
    """Whether the name is that of a capability."""
    return name in CAPABILITIES


def is_approval_mode(name: str | None) -> TypeGuard[ApprovalMode]:
    """Whether the name is that of a mode."""
    return name in get_args(ApprovalMode)


def stricter_mode(one: ApprovalMode | None, other: ApprovalMode | None) -> ApprovalMode | None:
    """The mode that asks more; None asks what the owner's setting says."""
    return max((one, other), key=_BY_STRICTNESS.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRights:
    """The rights in one token; a list that is None restricts nothing, an empty one allows nothing."""

    capabilities: frozenset[Capability]
    expires_ns: int
    allowed_paths: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    max_agents: int | None = None
    approval_mode: ApprovalMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantContext:
    """The bounds of a grant; a list that is None restricts nothing, an empty one allows nothing."""

    allowed_paths: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    max_agents: int | None = None
    approval_mode: ApprovalMode | None = None

    @classmethod
    def of(cls, held: TokenRights) -> "GrantContext":
        """The bounds in a token."""
        return cls(
            allowed_paths=held.allowed_paths,
            allowed_tools=held.allowed_tools,
            max_agents=held.max_agents,
            approval_mode=held.approval_mode,
        )

    def reaches(self, operation: Operation) -> bool:
        """Whether the operation is among the allowed tools: by name, by tool name, or by a prefix ending in `*`."""
        if self.allowed_tools is None:
            return True
        names = (operation.name, operation.tool)
        return any(
            name.startswith(tool[:-1]) if tool.endswith("*") else name == tool
            for tool in self.allowed_tools
            for name in names
        )

    def words(self) -> list[str]:
        """The bounds in words."""
        bounds = []
        if self.allowed_paths is not None:
            bounds.append(f"changes only in: {_list_names(self.allowed_paths)}")
        if self.allowed_tools is not None:
            bounds.append(f"only with: {_list_names(self.allowed_tools)}")
        if self.max_agents is not None:
            bounds.append(f"at most {plural(self.max_agents, 'agent')}")
        if self.approval_mode is not None:
            bounds.append(f"questions: {self.approval_mode}")
        return bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The permissions of one agent until the grant ends."""

    grant_id: str
    # A `verified` grant belongs to the holder of a token of that name, any other to a client that calls itself so.
    agent: str
    verified: bool
    capabilities: frozenset[str]
    issued_ns: int
    expires_ns: int
    granted_by: str
    context: GrantContext = GrantContext()

    @property
    def holder(self) -> "Holder":
        """The agent that it was given to."""
        return Holder(name=self.agent, verified=self.verified)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """An agent that grants are given to; `verified` when a token proves its name."""

    name: str
    verified: bool

    @classmethod
    def of(cls, actor: Actor, held: TokenRights | None) -> "Holder":
        """The holder that an actor is."""
        return cls(name=str(actor), verified=held is not None)

    def __str__(self) -> str:
        return self.name if self.verified else f"{self.name} (without a token)"


def describe_grant(capabilities: Iterable[str], context: GrantContext, duration_ns: int) -> tuple[str, tuple[str, ...]]:
    """A grant in words: the capabilities and duration in one line, and its bounds."""
    wanted = set(capabilities)
    what = "; ".join(word for name, word in _WORDS.items() if name in wanted)
    bounds = context.words()
    if context.allowed_paths is not None and "read_files" in wanted:
        bounds.append("reading is not bounded by paths")
    return f"{what} (for {_duration_text(duration_ns)})", tuple(bounds)


def _duration_text(duration_ns: int) -> str:
    minutes = -(-duration_ns // (60 * SECOND_NS))
    return f"{minutes // 60} h" if minutes % 60 == 0 else f"{minutes} min"


def _list_names(names: tuple[str, ...]) -> str:
    # All of them: a person would agree unseen to any that were left out.
    return ", ".join(names) or "nothing"
