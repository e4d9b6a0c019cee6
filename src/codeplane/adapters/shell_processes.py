"""The processes of a shell command, read from /proc."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeplane.adapters.pids_cgroup import PidsCgroup
from codeplane.adapters.process_tree import LinuxProcessTree

_PROC = Path("/proc")
# Of bubblewrap itself: the one we started, and the first process of the namespace.
_ENCLOSING = 2
_GROUP = "codeplane-"
_ABOVE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """The number of processes and their private memory."""

    processes: int
    resident_bytes: int


class ShellProcesses:
    """Counts and kills the processes of a command; in a pid namespace none escapes."""

    def __init__(self, *, variable: str) -> None:
        self._tree = LinuxProcessTree(variable=variable)
        self._group = PidsCgroup()
        self._page = os.sysconf("SC_PAGE_SIZE")

    def cap_command(self, argv: Sequence[str], mark: str, *, most: int) -> list[str]:
        """Return the command with a kernel limit a little above the counted one, which a fork bomb outruns."""
        return self._group.command(argv, name=_GROUP + mark, most=most + _ABOVE)

    def census(self, pid: int, *, most: int) -> ProcessUsage:
        """Count a process and its descendants, stopping above `most`."""
        count = pages = 0
        for child, _ in _descendants(pid):
            count += 1
            pages += _own_pages(child)
            if count > most:
                break
        return ProcessUsage(processes=count, resident_bytes=pages * self._page)

    def terminate(self, pid: int, *, enclosed: bool) -> None:
        """Send SIGTERM to all but bubblewrap's own processes."""
        for child, depth in list(_descendants(pid)):
            if depth >= (_ENCLOSING if enclosed else 0):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGTERM)

    def end(self, pid: int, mark: str) -> None:
        """Send SIGKILL to all, and to processes with the marker."""
        if pid:
            # With the first process of a namespace the kernel ends all others, however fast they multiply.
            for child, depth in list(_descendants(pid, deepest=1)):
                if depth == 1:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(child, signal.SIGKILL)
        self._tree.end(pid, mark)
        self._group.remove(_GROUP + mark)


def _descendants(pid: int, *, deepest: int = 1_000_000) -> Iterator[tuple[int, int]]:
    """Return a process and its descendants with their depth, nearest first."""
    level, depth, seen = [pid], 0, {pid}
    while level:
        below: list[int] = []
        for process in level:
            yield process, depth
            if depth < deepest:
                below += [child for child in _children(process) if child not in seen]
        seen.update(below)
        level, depth = below, depth + 1


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found += [int(word) for word in (task / "children").read_bytes().split()]
    return found


def _own_pages(pid: int) -> int:
    try:
        words = (_PROC / str(pid) / "statm").read_bytes().split()
        return int(words[1]) - int(words[2])
    except (OSError, IndexError):
        return 0
