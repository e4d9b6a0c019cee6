"""Outside agents that run a thread's turns, and the port by which they are started and asked."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from codeplane.kernel.json import JsonObject

StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
# What a tool call of an agent does, as the agent says; nobody has checked it.
ToolKind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """An agent's description of itself."""

    name: str = ""
    version: str = ""
    protocol: int = 0
    can_load: bool = False
    # Ways to sign in, by id, where it wants that.
    sign_ins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """A change of one file that an agent shows; without an old text it is created."""

    path: str
    old_text: str | None
    new_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentToolCall:
    """A tool that the agent runs itself, as far as it reported; None means unchanged by an update."""

    tool_call_id: str
    title: str | None = None
    kind: ToolKind | None = None
    status: str | None = None
    text: str | None = None
    diffs: tuple[FileDiff, ...] | None = None
    paths: tuple[str, ...] | None = None
    raw_input: JsonObject | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentText:
    """More of what the agent says, or of its reasoning."""

    text: str
    is_thought: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlan:
    """The agent's plan, which replaces the one before: (content, status) each."""

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUsage:
    """The fill level of the agent's context, and the cost of its session so far in US dollars."""

    used: int
    size: int
    cost_usd: float | None = None


AgentUpdate: TypeAlias = AgentText | AgentToolCall | AgentPlan | AgentUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStop:
    """The end of a prompt, with the tokens that the agent counted."""

    reason: StopReason
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalState:
    """The output of a terminal's command; without an exit code it still runs."""

    output: str
    truncated: bool
    exit_code: int | None


class AgentHost(Protocol):
    """Answers an agent's requests while it works; the agent is sent any CodePlaneError that a method raises."""

    async def update(self, update: AgentUpdate) -> None:
        """Take what the agent reports."""
        ...

    async def permit(self, tool_call: AgentToolCall) -> bool:
        """Whether the agent may run a tool of its own."""
        ...

    async def read_file(self, path: str, line: int | None, limit: int | None) -> str:
        """The text of a file, from a line on."""
        ...

    async def write_file(self, path: str, content: str) -> None:
        """Write a whole file."""
        ...

    async def open_terminal(self, command: str, cwd: str) -> str:
        """Start a shell command; returns the id of its terminal."""
        ...

    def terminal(self, terminal_id: str) -> TerminalState:
        """The state of a command."""
        ...

    async def wait_terminal(self, terminal_id: str) -> TerminalState:
        """Wait for the end of a command."""
        ...

    async def close_terminal(self, terminal_id: str, *, forget: bool) -> None:
        """End a command that runs; `forget` also what it printed."""
        ...

    async def call_tool(self, message: JsonObject) -> JsonObject | None:
        """Answer an MCP message of the agent with CodePlane's own tools; None for a notification."""
        ...

    def problem(self, text: str) -> None:
        """Take note of what the agent did and that was refused or ignored."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlace:
    """The work tree and the home of an agent."""

    tree: Path
    home: Path
    # A session of an earlier turn that is to go on, if the agent still has it.
    session_id: str | None = None


class AgentSession(Protocol):
    """An agent that is ready for prompts."""

    @property
    def session_id(self) -> str:
        """The agent's own id of the session."""
        ...

    @property
    def info(self) -> AgentInfo:
        """The agent's description of itself."""
        ...

    @property
    def is_resumed(self) -> bool:
        """Whether it goes on with the session of an earlier turn."""
        ...

    async def prompt(self, text: str) -> AgentStop:
        """Have the agent work on a message; OutsideAgentFailed when it ends instead."""
        ...

    async def cancel(self) -> None:
        """Ask the agent to end its prompt."""
        ...


class AgentConnector(Protocol):
    """Starts one agent."""

    def start(self, place: AgentPlace, host: AgentHost) -> AbstractAsyncContextManager[AgentSession]:
        """Run the agent; OutsideAgentFailed when it does not come up. Leaving it ends all of its processes."""
        ...
