"""Which programs have a file open, by what /proc says."""

import os
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def commands_holding(file: Path) -> list[list[str]]:
    """The command lines of the processes of this account that have a file open; none where there is no /proc."""
    try:
        wanted = file.stat()
        pids = [entry.name for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return []
    return [_command(pid) for pid in pids if pid != str(os.getpid()) and _has_open(pid, wanted)]


def _has_open(pid: str, wanted: os.stat_result) -> bool:
    with suppress(OSError):
        for entry in (_PROC / pid / "fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(entry.stat(), wanted):
                    return True
    return False


def _command(pid: str) -> list[str]:
    try:
        return (_PROC / pid / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []
