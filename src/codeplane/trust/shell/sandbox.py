"""Ports to the machine that a shell command runs on: its sandbox, processes and environment."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

MARK = "CODEPLANE_SHELL_COMMAND"


class ShellSandbox(Protocol):
    """Runs commands in a sandbox."""

    def unavailable_reason(self) -> str:
        """Why it cannot be used here, or an empty string; determined once. Blocks."""
        ...

    def command(self, argv: Sequence[str], *, cwd: Path, network: bool) -> list[str]:
        """The command line that runs this one in the sandbox; everything it starts ends with it."""
        ...

    def hidden_secrets(self) -> list[str]:
        """The secrets files below the root that appear empty in the sandbox. Blocks."""
        ...


class ProcessUsage(Protocol):
    """How many processes a command has, and their private memory."""

    @property
    def processes(self) -> int: ...

    @property
    def resident_bytes(self) -> int: ...


class Processes(Protocol):
    """Inspects and ends the processes that a command started."""

    def cap_command(self, argv: Sequence[str], mark: str, *, most: int) -> list[str]:
        """The command line with the system's limit on processes, where there is one."""
        ...

    def census(self, pid: int, *, most: int) -> ProcessUsage:
        """Count a process and its descendants, up to a little past `most`."""
        ...

    def terminate(self, pid: int, *, enclosed: bool) -> None:
        """Ask all of them to end, except the sandbox itself, which would take the rest along."""
        ...

    def end(self, pid: int, mark: str) -> None:
        """Kill a process, its descendants, its session, and every process with the mark in its environment."""
        ...


class Environment(Protocol):
    """Gives a command its environment variables, without secrets."""

    def __call__(self, *, network: bool) -> Mapping[str, str]: ...
