"""Where a shell command runs: ports, since what encloses and ends it is the machine's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

MARK = "CODEPLANE_SHELL_COMMAND"


class ShellSandbox(Protocol):
    """Encloses a command."""

    def missing(self) -> str:
        """Why it cannot be used here, or nothing when it can; found out once. Blocks."""
        ...

    def command(self, argv: Sequence[str], *, cwd: Path, network: bool) -> list[str]:
        """The command that runs this one enclosed; whatever it starts ends with it."""
        ...

    def hidden_secrets(self) -> list[str]:
        """The secrets files below the root that are empty inside. Blocks."""
        ...


class Census(Protocol):
    """How many processes a command has, and the memory they hold to themselves."""

    @property
    def processes(self) -> int: ...

    @property
    def resident_bytes(self) -> int: ...


class Processes(Protocol):
    """What a command started, seen from outside."""

    def capped(self, argv: Sequence[str], mark: str, *, most: int) -> list[str]:
        """The command with the system's own bound on its processes, where there is one."""
        ...

    def census(self, pid: int, *, most: int) -> Census:
        """Count a process and its descendants, no further than a little past `most`."""
        ...

    def terminate(self, pid: int, *, enclosed: bool) -> None:
        """Ask all of them to end; of an enclosed command not what encloses it, which would take the rest along."""
        ...

    def end(self, pid: int, mark: str) -> None:
        """Kill a process, its descendants, its session, and whatever has the mark in its environment."""
        ...


class Environment(Protocol):
    """Gives the variables of a command: where tools are, and no secrets."""

    def __call__(self, *, network: bool) -> Mapping[str, str]: ...
