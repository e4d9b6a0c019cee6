"""Finds the programs that have a file open, in /proc."""

import os
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def commands_holding(file: Path) -> list[list[str]]:
    """The command lines of this user's processes that have a file open; empty without /proc."""
    try:
        status = file.stat()
        pids = [entry.name for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return []
    return [_command(pid) for pid in pids if pid != str(os.getpid()) and _has_open(pid, status)]


def _has_open(pid: str, status: os.stat_result) -> bool:
    with suppress(OSError):
        for entry in (_PROC / pid / "fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(entry.stat(), status):
                    return True
    return False


def _command(pid: str) -> list[str]:
    try:
        return (_PROC / pid / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []
