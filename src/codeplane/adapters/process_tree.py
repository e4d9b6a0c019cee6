"""Killing a process and everything it started, found in /proc."""

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_ROUNDS = 20


class LinuxProcessTree:
    """Finds a process's descendants, its session, and processes with its marker in their environment."""

    def __init__(self, *, variable: str) -> None:
        self._variable = variable

    def end(self, pid: int, mark: str) -> None:
        """Kill until nothing is left, because processes may start others meanwhile."""
        wanted = f"{self._variable}={mark}".encode()
        for _ in range(_ROUNDS):
            processes = self._find_processes(pid, wanted)
            if not processes:
                return
            for process in processes:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)

    def _find_processes(self, pid: int, wanted: bytes) -> set[int]:
        parents: dict[int, int] = {}
        processes: set[int] = set()
        for entry in os.scandir(_PROC):
            if not entry.name.isdigit():
                continue
            process = int(entry.name)
            facts = _facts(process)
            if facts is None or process == os.getpid():
                continue
            state, parent, session = facts
            parents[process] = parent
            if state in "ZX":
                continue
            if (pid and (process == pid or session == pid)) or _has_marker(process, wanted):
                processes.add(process)
        growing = True
        while growing and processes:
            below = {process for process, parent in parents.items() if parent in processes and process not in processes}
            below = {process for process in below if (facts := _facts(process)) is not None and facts[0] not in "ZX"}
            growing = bool(below)
            processes |= below
        return processes


def _facts(pid: int) -> tuple[str, int, int] | None:
    """Return the state, parent and session of a process; None when it has ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name is in brackets and may hold anything.
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[1]), int(fields[3])


def _has_marker(pid: int, wanted: bytes) -> bool:
    try:
        return wanted in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
