"""bubblewrap around git's hooks and filters: they read the user's machine and write only the repository."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from codeplane.adapters.bubblewrap import mask_options, pin_options
from codeplane.adapters.secret_files import Hidden, SecretFiles
from codeplane.adapters.work_tree_mount import WorkTreeMount
from codeplane.disk.program_path import path_outside
from codeplane.kernel.workspace import OWN_FOLDER, client_secrets, install_record

_PROBE_SEC = 20.0
# One operation asks git many things, each of which may run a filter.
_WALKED_SEC = 1.0
# Root keeps the capabilities that files of others need, and none that could undo the sandbox.
_OF_ROOT = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETUID", "CAP_SETGID")
# What root could change the whole machine by, inside a namespace or not.
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger")
# Nothing outside is written: what is written in a home is run later, by git too. What a program leaves behind ends
# with it.
_AROUND = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *("--unshare-pid", "--unshare-ipc", "--die-with-parent"),
)
_NO_NETWORK = "--unshare-net"
# Sockets of daemons and terminals that act for anyone who reaches them, outside of any enclosure, lie there.
_SOCKETS = ("/run", "/var/run", "/tmp", "/var/tmp")  # nosec B108  # what is hidden
# Where some systems have all their programs.
_PROGRAMS = Path("/run/current-system")
# How names of other machines are looked up.
_NAMES = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd")
_AGENT = "SSH_AUTH_SOCK"
# The sockets of container engines in a home, which mount whatever they are asked to.
_ENGINES = (".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack/run")
# Hook managers keep programs in caches, and run them: what is written there must not be what the owner runs.
_CACHE, _OWN_CACHE = ".cache", "hook-cache"
_VARIABLES = {"npm_config_cache": "npm"}
# What the owner installed there is shown, and cannot be written.
_INSTALLED = ("pypoetry/virtualenvs", "ms-playwright", "Cypress", "puppeteer")
# Folders in which that lies beside what is written, with files that list it.
_LISTED = ("pre-commit", "prek")
_MAX_LIST = 16 * 1024 * 1024


class HookSandbox:
    """Wraps single programs, which read all but the hidden paths and write only the repository.

    The secrets of registered clients are always hidden: they allow answering for a person. `writable` are further
    places that the owner lets them write or, if they are sockets, reach.
    """

    def __init__(
        self,
        secrets: SecretFiles,
        *,
        registered: Path | None = None,
        writable: Sequence[str] = (),
    ) -> None:
        self._secrets = secrets
        self._registered = registered or client_secrets(os.environ, Path.home())
        self._writable = tuple(Path(os.path.normpath(Path(place).expanduser())) for place in writable)
        self._known: dict[Path, tuple[float, list[Hidden]]] = {}
        self._mount = WorkTreeMount(secrets.roots())

    @cached_property
    def _program(self) -> tuple[str, ...] | None:
        program = shutil.which("bwrap", path=path_outside(os.environ.get("PATH", ""), *self._secrets.roots()))
        if program is None:
            return None
        capabilities = [word for capability in _OF_ROOT for word in ("--cap-add", capability)]
        as_root = (*_AROUND, *_kernel(), "--cap-drop", "ALL", *capabilities)
        ways = (as_root, (*_AROUND, "--unshare-user")) if os.geteuid() == 0 else ((*_AROUND, "--unshare-user"),)
        return next(((program, *way) for way in ways if _works([program, *way, "true"])), None)

    @cached_property
    def _program_without_network(self) -> tuple[str, ...] | None:
        program = (*self._program, _NO_NETWORK) if self._program is not None else None
        return program if program is not None and _works([*program, "true"]) else None

    @cached_property
    def _shield_program(self) -> tuple[str, ...] | None:
        if self._program is None:
            return None
        user = () if _is_as_root(self._program) else ("--unshare-user",)
        program = (self._program[0], *user, "--dev-bind", "/", "/")
        # The programs that git starts in there are sandboxed as ever; some systems do not let one be in another.
        return program if _works([*program, *self._program, "true"]) else None

    def shield(self, home: Path, root: Path, *, ssh: bool) -> list[str]:
        """Return the command prefix for git itself, which then writes neither `home` nor others like it in `root`.

        It is empty where bubblewrap does not work, and where git may use `ssh`, which refuses settings of the system
        in a namespace of users.
        """
        program = self._shield_program
        if program is None or (ssh and not _is_as_root(program)):
            return []
        homes = [home, *(place for place in _other_homes(home) if root in place.parents)]
        if mounted := self._mount.command(root, read_only=homes, writable=[home / _OWN_CACHE]):
            return mounted
        words = [*program, *(word for place in homes for word in ("--ro-bind-try", str(place), str(place)))]
        cache = str(home / _OWN_CACHE)
        return [*words, "--bind-try", cache, cache, "--"]

    def without_links(self, root: Path, *, ssh: bool) -> list[str]:
        """Return the command prefix for git itself, for which the system follows no symbolic link of the work tree.

        It is empty where that does not work, and for `ssh` in a namespace of users.
        """
        return [] if ssh and os.geteuid() != 0 else self._mount.command(root)

    def works(self, *, network: bool) -> bool:
        """Return whether bubblewrap works here, without `network` also without it; tried once."""
        return self._program_for(network) is not None

    def _program_for(self, network: bool) -> tuple[str, ...] | None:
        return self._program if network else self._program_without_network

    def command(
        self,
        *,
        root: Path,
        hidden: Path,
        shown: tuple[Path, Path] | None,
        fixed: Sequence[Path],
        written: Sequence[Path] = (),
        used: Sequence[Path] = (),
        network: bool = True,
        read_only: bool = False,
    ) -> list[str] | None:
        """Return the command prefix for a program of the work tree `root`; None where bubblewrap does not work.

        The root and what is `written` can be written, but for what is `fixed`, and so can caches of its own and folders
        for temporary files, which are empty but for what is `used`; of two of them, what lies deeper decides. `hidden`
        is an empty folder inside, but for what `shown` puts there (from, to). Without `network`, other machines cannot
        be reached. `read_only`, nothing is written that outlives the program.
        """
        program = self._program_for(network)
        if program is None:
            return None
        root, home = root.resolve(), hidden.resolve()
        # What lies in what is hidden is not there at all.
        secrets = [secret for secret in self._hidden_secrets(root) if home not in secret.path.parents]
        registered = dict.fromkeys((self._registered, self._registered.resolve()))
        opened = self._writable_paths((root, home, Path.home()))
        words = [*program, "--unsetenv", "TMPDIR", *_without_sockets((root, *written, *used), network=network)]
        homes = [word for place in _other_homes(root) if place != home for word in ("--tmpfs", str(place))]
        masks = [word for secret in secrets for word in mask_options(secret, self._secrets.empty)]
        if read_only:
            emptied = [Path.home() / _CACHE, hidden, *registered]
            words += [
                *homes,
                *(word for place in emptied if _is_real_folder(place) for word in ("--tmpfs", str(place))),
            ]
            return [*words, *masks, "--"]
        words += [*_caches(home / _OWN_CACHE, Path.home() / _CACHE), *homes]
        words += [word for place in opened for word in ("--bind-try", str(place), str(place))]
        words += [word for place in (root, *written) for word in ("--bind", str(place), str(place))]
        # Before all else: what is put over a part of these folders stays.
        words += [word for place in registered for word in _pin_options(place, (root, *opened))]
        words += pin_options(secrets, root)
        words += ["--tmpfs", str(hidden)]
        words += [word for place in registered if _is_real_folder(place) for word in ("--tmpfs", str(place))]
        words += ["--ro-bind", *map(str, shown)] if shown is not None else []
        # The folders around them too: another put in their place would have settings of its own.
        around = [place.parent for place in fixed if place.parent not in (root, *written)]
        inside = [place for place in written if not set(fixed).isdisjoint(place.parents)]
        binds = dict.fromkeys((*around, *inside), "--bind-try") | dict.fromkeys(fixed, "--ro-bind-try")
        # One inside of another after it.
        for place in sorted(binds, key=lambda bind: len(bind.parts)):
            words += [binds[place], str(place), str(place)]
        return [*words, *masks, "--"]

    def _hidden_secrets(self, root: Path) -> list[Hidden]:
        known, now = self._known.get(root), time.monotonic()
        if known is None or now - known[0] > _WALKED_SEC:
            hidden = self._secrets.find_hidden((root, *self._secrets.roots()))
            known = self._known[root] = now, hidden
        return known[1]

    def _writable_paths(self, hidden: Sequence[Path]) -> list[Path]:
        """Return the paths that the owner allows to be written, without those around hidden ones."""
        around = {folder for place in hidden for folder in (place, *place.parents)}
        return [place for place in self._writable if place not in around and place.resolve() not in around]


def _without_sockets(used: Sequence[Path], *, network: bool) -> list[str]:
    """Return the options that hide the folders of other programs' sockets, except those in use."""
    emptied = [folder for folder in map(Path, _SOCKETS) if folder.is_dir() and not folder.is_symlink()]
    words = [word for folder in emptied for word in ("--tmpfs", str(folder))]
    outward = [*map(Path, _NAMES), *([Path(agent)] if (agent := os.environ.get(_AGENT)) else [])] if network else []
    shown = (_PROGRAMS, Path.home(), *used, *outward)
    below = [place for place in shown if not set(emptied).isdisjoint(place.parents)]
    words += [word for place in below for word in ("--ro-bind-try", str(place), str(place))]
    engines = [place for name in _ENGINES if (place := Path.home() / name).is_dir() and not place.is_symlink()]
    return words + [word for place in engines for word in ("--tmpfs", str(place))]


def _other_homes(root: Path) -> list[Path]:
    """Return the `.codeplane/` folders of other repositories, whose owner tokens must stay hidden."""
    try:
        found = json.loads(install_record(os.environ, Path.home()).read_text())["repositories"]
        folders = [Path(name).resolve() / OWN_FOLDER for name in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [folder for folder in folders if root not in folder.parents and folder.is_dir() and not folder.is_symlink()]


def _caches(own: Path, cache: Path) -> list[str]:
    """Return the options that mount separate caches over the owner's, with what is installed there."""
    try:
        own.mkdir(parents=True, exist_ok=True)
        cache.mkdir(exist_ok=True)
    except OSError:
        # Without a home there is no cache.
        return []
    words = ["--bind", str(own), str(cache)]
    for name, folder in _VARIABLES.items():
        words += ["--setenv", name, str(cache / folder)]
    installed = [cache / name for name in _INSTALLED if (cache / name).is_dir()]
    for name in _LISTED:
        installed += _installed_entries(own / name, cache / name)
    return words + [word for place in installed for word in ("--ro-bind-try", str(place), str(place))]


def _installed_entries(own: Path, folder: Path) -> list[Path]:
    """Return what is installed in a folder, copying files beside it when the owner's are newer."""
    with suppress(OSError), os.scandir(folder) as entries:
        listed = list(entries)
        own.mkdir(exist_ok=True)
        # No link is followed: hooks write there.
        copies = os.open(own, os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for entry in listed:
                if entry.is_file(follow_symlinks=False):
                    _copy_newer(entry, copies, part=own.parent.with_name(f"{own.name}.{os.getpid()}"))
        finally:
            os.close(copies)
        return [Path(entry.path) for entry in listed if entry.is_dir(follow_symlinks=False)]
    return []


def _copy_newer(entry: os.DirEntry[str], folder: int, *, part: Path) -> None:
    try:
        known = os.stat(entry.name, dir_fd=folder, follow_symlinks=False).st_mtime_ns
    except OSError:
        known = 0
    if entry.stat().st_size <= _MAX_LIST and entry.stat().st_mtime_ns > known:
        shutil.copyfile(entry.path, part)
        os.replace(part, entry.name, dst_dir_fd=folder)


def _pin_options(place: Path, bases: Sequence[Path]) -> list[str]:
    """Return the options that keep the folders between a writable folder and a path from being renamed."""
    written = [folder for folder in reversed(place.parents) if not set(bases).isdisjoint(folder.parents)]
    return [word for folder in written if place.is_dir() for word in ("--bind", str(folder), str(folder))]


def _kernel() -> list[str]:
    return [word for place in _KERNEL for word in ("--ro-bind-try", place, place)]


def _is_real_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _is_as_root(program: Sequence[str]) -> bool:
    return "--unshare-user" not in program


def _works(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SEC, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
