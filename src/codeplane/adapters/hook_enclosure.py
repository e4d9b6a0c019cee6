"""bubblewrap around git's hooks and filters: the user's own machine, without what decides here."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

_PROBE_SEC = 20.0
# Whoever starts it as root keeps what files of others take, and nothing that takes an enclosure apart.
_OF_ROOT = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETUID", "CAP_SETGID")
# What root could change the whole machine by, inside a namespace or not.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger")
_AROUND = ("--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--unshare-ipc")


class HookEnclosure:
    """Encloses single programs: all is as it is outside, but for what is hidden or fixed."""

    @cached_property
    def _program(self) -> tuple[str, ...] | None:
        program = shutil.which("bwrap")
        if program is None:
            return None
        kept = [word for capability in _OF_ROOT for word in ("--cap-add", capability)]
        as_root = (*_AROUND, *_kernel(), "--cap-drop", "ALL", *kept)
        ways = (as_root, (*_AROUND, "--unshare-user")) if os.geteuid() == 0 else ((*_AROUND, "--unshare-user"),)
        return next(((program, *way) for way in ways if _works([program, *way, "true"])), None)

    def command(self, *, hidden: Path, shown: tuple[Path, Path] | None, fixed: Sequence[Path]) -> list[str] | None:
        """What is put before a program; None where there is no bubblewrap that works.

        `hidden` is an empty folder inside, but for what `shown` puts there (from, to); `fixed` cannot be written.
        """
        if self._program is None:
            return None
        words = [*self._program, "--tmpfs", str(hidden)]
        words += ["--ro-bind", *map(str, shown)] if shown is not None else []
        for place in fixed:
            words += ["--ro-bind-try", str(place), str(place)]
        return [*words, "--"]


def _kernel() -> list[str]:
    return [word for place in _KERNEL for word in ("--ro-bind-try", place, place)]


def _works(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SEC, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
