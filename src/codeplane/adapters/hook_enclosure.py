"""bubblewrap around git's hooks and filters: the user's own machine, without what decides here."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from codeplane.adapters.bubblewrap import mask_options, pin_options
from codeplane.adapters.secret_files import Hidden, SecretFiles
from codeplane.kernel.workspace import client_secrets

_PROBE_SEC = 20.0
# One operation asks git many things, each of which may run a filter.
_WALKED_SEC = 1.0
# Whoever starts it as root keeps what files of others take, and nothing that takes an enclosure apart.
_OF_ROOT = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETUID", "CAP_SETGID")
# What root could change the whole machine by, inside a namespace or not.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger")
# What a program leaves behind ends with it.
_AROUND = ("--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--unshare-ipc", "--die-with-parent")
_NO_NETWORK = "--unshare-net"
# Sockets of daemons and terminals that act for anyone who reaches them, with their own network, lie there.
_SOCKETS = ("/run", "/tmp", "/var/tmp")  # nosec B108  # what is hidden
# Where some systems have all their programs.
_PROGRAMS = Path("/run/current-system")


class HookEnclosure:
    """Encloses single programs: all is as it is outside, but for what is hidden or fixed, and for secrets files.

    The secrets of registered clients are hidden always: whoever has one answers for a person.
    """

    def __init__(self, secrets: SecretFiles, *, registered: Path | None = None) -> None:
        self._secrets = secrets
        self._registered = registered or client_secrets(os.environ, Path.home())
        self._known: dict[Path, tuple[float, list[Hidden]]] = {}

    @cached_property
    def _program(self) -> tuple[str, ...] | None:
        program = shutil.which("bwrap")
        if program is None:
            return None
        kept = [word for capability in _OF_ROOT for word in ("--cap-add", capability)]
        as_root = (*_AROUND, *_kernel(), "--cap-drop", "ALL", *kept)
        ways = (as_root, (*_AROUND, "--unshare-user")) if os.geteuid() == 0 else ((*_AROUND, "--unshare-user"),)
        return next(((program, *way) for way in ways if _works([program, *way, "true"])), None)

    @cached_property
    def _program_without_network(self) -> tuple[str, ...] | None:
        program = (*self._program, _NO_NETWORK) if self._program is not None else None
        return program if program is not None and _works([*program, "true"]) else None

    def command(
        self,
        *,
        root: Path,
        hidden: Path,
        shown: tuple[Path, Path] | None,
        fixed: Sequence[Path],
        used: Sequence[Path] = (),
        network: bool = True,
    ) -> list[str] | None:
        """What is put before a program of the work tree `root`; None where there is no bubblewrap that works.

        `hidden` is an empty folder inside, but for what `shown` puts there (from, to); `fixed` cannot be written.
        Without `network`, other machines cannot be reached, nor programs outside; of folders for temporary files only
        the root, the home and what is `used` are there.
        """
        program = self._program if network else self._program_without_network
        if program is None:
            return None
        root, home = root.resolve(), hidden.resolve()
        # What lies in what is hidden is not there at all.
        secrets = [one for one in self._hidden_secrets(root) if home not in one.path.parents]
        registered = dict.fromkeys((self._registered, self._registered.resolve()))
        words = [*program, *([] if network else _without_sockets((_PROGRAMS, Path.home(), root, *used)))]
        # Before all else: what is put over a part of these folders stays.
        words += [word for place in registered for word in _pinned(place, Path.home())]
        words += ["--bind", str(root), str(root), *pin_options(secrets, root)] if secrets else []
        words += ["--tmpfs", str(hidden)]
        for place in registered:
            if place.is_dir() and not place.is_symlink():
                words += ["--tmpfs", str(place)]
        words += ["--ro-bind", *map(str, shown)] if shown is not None else []
        # The folders around them too: another put in their place would have settings of its own.
        for around in dict.fromkeys(place.parent for place in fixed):
            words += ["--bind-try", str(around), str(around)]
        for place in fixed:
            words += ["--ro-bind-try", str(place), str(place)]
        words += [word for one in secrets for word in mask_options(one, self._secrets.empty)]
        return [*words, "--"]

    def _hidden_secrets(self, root: Path) -> list[Hidden]:
        known, now = self._known.get(root), time.monotonic()
        if known is None or now - known[0] > _WALKED_SEC:
            found = self._secrets.hidden((root, *self._secrets.roots()))
            known = self._known[root] = now, found
        return known[1]


def _without_sockets(used: Sequence[Path]) -> list[str]:
    """The options that empty the folders where others listen, but for what is used of them."""
    emptied = [folder for folder in map(Path, _SOCKETS) if folder.is_dir() and not folder.is_symlink()]
    words = [word for folder in emptied for word in ("--tmpfs", str(folder))]
    below = [place for place in used if not set(emptied).isdisjoint(place.parents)]
    words += [word for place in below for word in ("--bind-try", str(place), str(place))]
    temporary = os.environ.get("TMPDIR", "")
    return [*words, "--dir", temporary] if not set(emptied).isdisjoint(Path(temporary).parents) else words


def _pinned(place: Path, home: Path) -> list[str]:
    """The options by which no folder between a home and a place can be renamed."""
    around = [folder for folder in reversed(place.parents) if home in folder.parents and place.is_dir()]
    return [word for folder in around for word in ("--bind", str(folder), str(folder))]


def _kernel() -> list[str]:
    return [word for place in _KERNEL for word in ("--ro-bind-try", place, place)]


def _works(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SEC, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
