"""The sandbox of tested code, as a port: each machine has its own way to enclose a process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeplane.testing.commit_copy import CommitCopy


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """What code in a sandbox can reach: it may write the root and `writable`, and read `tools` even in a home folder.

    A `copy` is mounted in place of the root. `secrets`: patterns of secrets files that it may see; all others are
    empty.
    """

    root: Path
    writable: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    network: bool = False
    copy: CommitCopy | None = None
    secrets: tuple[str, ...] = ()


class Sandbox(Protocol):
    """Encloses a command."""

    def unavailable_reason(self) -> str:
        """Say why it cannot be used here, or nothing when it can; checked once."""
        ...

    def command(self, argv: Sequence[str], *, cwd: Path, enclosure: Enclosure) -> list[str]:
        """Return the command that runs this one enclosed; whatever it starts ends with it."""
        ...

    def hidden_secrets(self, enclosure: Enclosure) -> list[str]:
        """Return the secrets files below the root that are empty inside."""
        ...


class ProcessTree(Protocol):
    """Ends processes with everything they started."""

    def end(self, pid: int, mark: str) -> None:
        """Kill a process, its descendants, its session, and all processes with the mark in their environment."""
        ...


class Environment(Protocol):
    """Returns the environment variables of a run."""

    def __call__(self, *, network: bool) -> Mapping[str, str]: ...
