"""Where tested code runs: a port, since what encloses it is the machine's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeplane.testing.parent_tree import ParentTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """What code in a sandbox can reach: the root and `writable` to write, `tools` to read though they lie in a home.

    With a `copy`, that is mounted where the root is. `secrets` are patterns of secrets files that it may see; all
    others are empty.
    """

    root: Path
    writable: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    network: bool = False
    copy: ParentTree | None = None
    secrets: tuple[str, ...] = ()


class Sandbox(Protocol):
    """Encloses a command."""

    def missing(self) -> str:
        """Why it cannot be used here, or nothing when it can; found out once."""
        ...

    def command(self, argv: Sequence[str], *, cwd: Path, enclosure: Enclosure) -> list[str]:
        """The command that runs this one enclosed; whatever it starts ends with it."""
        ...

    def hidden_secrets(self, enclosure: Enclosure) -> list[str]:
        """The secrets files below the root that are empty inside."""
        ...


class ProcessTree(Protocol):
    """Ends processes with everything they started."""

    def end(self, pid: int, mark: str) -> None:
        """Kill a process, its descendants, its session, and whatever has the mark in its environment."""
        ...


class Environment(Protocol):
    """Gives the variables of a run."""

    def __call__(self, *, network: bool) -> Mapping[str, str]: ...
