"""Tools of other programs, and the port by which their servers are reached."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from codeplane.kernel.config import ToolsConfig
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHints:
    """A server's unverified claims about the effects of a tool; None where it claims nothing."""

    read_only: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalTool:
    """A tool as its server announces it."""

    name: str
    description: str = ""
    schema: JsonObject = field(default_factory=dict)
    hints: ToolHints = ToolHints()

    @property
    def fingerprint(self) -> str:
        """A hash of everything that the server says of the tool."""
        hints: JsonObject = {
            "read_only": self.hints.read_only,
            "destructive": self.hints.destructive,
            "open_world": self.hints.open_world,
        }
        description: JsonObject = {
            "name": self.name,
            "description": self.description,
            "schema": self.schema,
            "hints": hints,
        }
        return digest(canonical(description))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The answer of a tool, as bounded text."""

    text: str
    is_error: bool = False
    # How many bytes more there were.
    cut_bytes: int = 0


def bounded_answer(text: str, config: ToolsConfig, *, is_error: bool = False) -> ToolAnswer:
    """The text within the bound of the settings."""
    data = text.encode("utf-8", "backslashreplace")
    most = config.output_kb * 1024
    kept = data[:most].decode("utf-8", "ignore")
    return ToolAnswer(text=kept, is_error=is_error, cut_bytes=max(0, len(data) - most))


ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class ToolSession(Protocol):
    """A connection to a server that is ready."""

    async def list_tools(self) -> tuple[ExternalTool, ...]:
        """The tools as they are now."""
        ...

    async def call(self, tool: str, arguments: JsonObject, on_progress: ReportProgress) -> ToolAnswer:
        """Call a tool by the name that its server gives it; cancelling it tells the server so."""
        ...

    async def wait_closed(self) -> str:
        """Wait until the connection is over; returns why."""
        ...


class ToolListener(Protocol):
    """Receives what a connection reports unasked."""

    def tools_changed(self) -> None:
        """The list of tools is another one."""
        ...

    def problem(self, text: str) -> None:
        """The server did something that was refused or ignored."""
        ...


class ToolConnector(Protocol):
    """Connects to one server."""

    @property
    def is_confined(self) -> bool:
        """Whether the server reaches no other machine, whatever it says."""
        ...

    def connect(self, listener: ToolListener) -> AbstractAsyncContextManager[ToolSession]:
        """Start or reach the server; the connection belongs to the task that enters it. ToolServerUnavailable or
        ToolSignInNeeded when that fails."""
        ...


class PluginHost(Protocol):
    """The part of CodePlane that a plugin can use, as an actor of its own."""

    async def call(self, operation: str, arguments: JsonObject) -> JsonObject:
        """Call an operation; its result or error as JSON."""
        ...

    def events(self) -> AsyncIterator[JsonObject]:
        """The events that it asked for and may see, as they happen; CodePlaneError when it may see none."""
        ...
