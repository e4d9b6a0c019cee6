"""What git runs by itself, hooks and filters, out of reach of what decides here: agents may have written it."""

import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from codeplane.disk.program_path import path_outside
from codeplane.git.read.repository import common_dir, git_dir_of
from codeplane.git.read.submodule_guard import settings_as_variables
from codeplane.git.safety import hook_watch
from codeplane.git.safety.filter_commands import FilterCommand, filter_commands, is_command
from codeplane.git.safety.program_settings import refuse_programs
from codeplane.git.safety.settings import Settings, settings_of
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.ids import digest
from codeplane.kernel.online_runs import OnlineRuns

_ASK_SEC = 20.0
# Settings can hold for some branches alone, and no file tells of that.
_ASKED_NS = 600 * SECOND_NS
# What is said to git itself, and not to those it runs.
_UNSET = "unset GIT_ALLOW_PROTOCOL GIT_NO_LAZY_FETCH GIT_COMMON_DIR\n"
_NAME = re.compile(r"[a-z][a-z-]{2,40}")
_OFFLINE, _NO_HOOKS = "-offline", "none"
_QUIET = {
    # What the settings of a submodule name is enclosed by nobody: it is updated by operations of its own.
    "submodule.recurse": "false",
    # A hook that breaks git's folder would have git take the work tree for one, and the settings in it.
    "safe.bareRepository": "explicit",
}
# What git leaves running in the background would run this hook, with the network when others must not have it.
_BY_MAINTENANCE, _NO_MAINTENANCE = "reference-transaction", {"maintenance.auto": "false", "gc.auto": "0"}
# More mounts than these make each hook slow to start.
_MAX_MODULES = 100
# Folders that git looks into for what it runs, in its own folder and in those of submodules.
_MADE = ("hooks", "worktrees", "modules")
# What filters and merge drivers keep in git's folder.
_FILTERS_OWN = ("objects", "lfs", "annex")
# A process apart, without the settings and packages of whoever works here.
_WATCHED = (sys.executable, "-I", "-S", hook_watch.__file__)
_WHY = "had no network, since an agent has read untrusted content; the owner gives it back: cpl approvals clear"
# Hooks that run where commits are received, or before a push, which is asked about anyway.
_NOT_LOCAL = frozenset(
    (
        *("pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout"),
        "sendemail-validate",
    )
)

Marks = tuple[tuple[int, int, int], ...]


class Enclosure(Protocol):
    """Encloses single programs."""

    def works(self, *, network: bool) -> bool:
        """Whether programs can be enclosed here, without `network` so that they reach no other machine."""
        ...

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
    ) -> list[str] | None:
        """What is put before a program; None where nothing can be enclosed so."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What the settings name: where hooks are, and the commands of filters and merge drivers."""

    marks: Marks
    read: Settings
    asked_ns: int
    hooks: Path
    filters: tuple[FilterCommand, ...]
    # Whether git would ask a program which files changed.
    monitored: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """What hooks and filters of one work tree write outside of it, what not, what they use, and whether offline."""

    root: Path
    # Git's folder of the work tree, and the one that all work trees share.
    folder: Path
    own: Path
    fixed: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()
    used: tuple[Path, ...] = ()
    # Where they find programs, when that is not where git itself does.
    path: str = ""
    offline: bool


class GuardedPrograms:
    """Has git find, in place of each hook and filter there is, one that runs it enclosed.

    Inside, `home` is empty, nothing is written but the work tree and git's folder without its settings and hooks, and
    nobody else's processes are there: whoever writes a hook, or what it runs, is not let near the owner's token and the
    policies by it, and leaves nothing behind that runs outside. While `offline` says so there is no network: what was
    read could have an agent write what sends things away.
    """

    def __init__(
        self,
        *,
        home: Path,
        enclosure: Enclosure,
        clock: Clock,
        offline: Callable[[], bool] = lambda: False,
        runs: OnlineRuns | None = None,
    ) -> None:
        """`runs` are those of git that may have hooks and filters with the network; whoever runs git tells them."""
        self._home = home
        self._enclosure = enclosure
        self._clock = clock
        self._offline = offline
        self.runs = runs or OnlineRuns()
        self._known: dict[Path, _Named] = {}

    def settings(
        self, root: Path, folder: Path, environment: Mapping[str, str], *, submodule: bool = False
    ) -> dict[str, str]:
        """The settings that git gets for the work tree `root`, whose own folder is `folder`.

        GitRefused when git would run a program that somebody else than the owner can have named.
        """
        named = self._named(root, folder, environment)
        own = _own(folder)
        refuse_programs(named.read, root=root, own=own, submodule=submodule)
        names = _runnable(named.hooks)
        is_any = bool(named.filters or names)
        reach = _Reach(
            root=root,
            folder=folder,
            own=own,
            fixed=_fixed(root, folder, own) if is_any else (),
            written=tuple(dict.fromkeys((own, folder))),
            used=(named.hooks, Path(environment.get("HOME") or "/"), *_folders(environment.get("PATH", ""))),
            path=environment.get("PATH", "") if self.search_path(root, environment) else "",
            offline=self._offline(),
        )
        if not is_any or self._is_offline(reach):
            self.runs.dismiss()
        quiet = (
            (_NO_MAINTENANCE if _BY_MAINTENANCE in names else {})
            | _QUIET
            | ({"core.fsmonitor": "false"} if named.monitored else {})
        )
        return self._hooks(reach, named.hooks) | self._filters(reach, named.filters) | quiet

    def search_path(self, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
        """Where git finds programs, when that is not where hooks and filters do: an environment of Python in the work
        tree is written by whoever writes there, and git runs `ssh` and `gpg` outside of any enclosure."""
        path = environment.get("PATH", "")
        outside = path_outside(path, root, self._home.parent)
        return {"PATH": outside} if outside != path and self._enclosure.works(network=True) else {}

    def environment(self, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment with these settings in it, for whoever asks git about the work tree `root`."""
        folder = git_dir_of(root)
        # Only the folder of a linked work tree has a file that names another one; a hook can write one.
        own = folder if folder == root / ".git" else _own(folder)
        environment = {**environment, "GIT_COMMON_DIR": str(own)}
        settings = settings_as_variables(self.settings(root, folder, environment), environment)
        return {**environment, **settings, **self.search_path(root, environment)}

    def online(self, root: Path, folder: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
        """The hooks and filters of a work tree that local commands would run with the network, come what may."""
        if self._enclosure.works(network=False):
            return ()
        named = self._named(root, folder, environment)
        return (*sorted(_runnable(named.hooks) - _NOT_LOCAL), *(one.key for one in named.filters))

    def _command(self, reach: _Reach, shown: tuple[Path, Path] | None, *, network: bool) -> list[str] | None:
        return self._enclosure.command(
            root=reach.root,
            hidden=self._home,
            shown=shown,
            fixed=reach.fixed,
            written=reach.written,
            used=reach.used,
            network=network,
        )

    def _before(self, reach: _Reach, shown: tuple[Path, Path] | None = None) -> tuple[list[str] | None, bool]:
        """What is put before a program, and whether that takes the network from it."""
        if reach.offline and (before := self._command(reach, shown, network=False)) is not None:
            return before, True
        return self._command(reach, shown, network=True), False

    def _hooks(self, reach: _Reach, hooks: Path) -> dict[str, str]:
        names = _runnable(hooks)
        if not names:
            # A hook that the command itself brings, or a filter writes meanwhile, is not run by it.
            return {"core.hooksPath": str(self._no_hooks())} if self._enclosure.works(network=True) else {}
        # A folder of its own: what another command has git find at the same time is not changed under it.
        name = digest(os.fsencode(hooks))[:16]
        place = self._home / "hooks" / (f"{name}{_OFFLINE}" if reach.offline else name)
        before, offline = self._before(reach, (hooks, place))
        if before is None:
            return {}
        place.mkdir(parents=True, exist_ok=True)
        for name in {entry.name for entry in place.iterdir()} - names:
            (place / name).unlink(missing_ok=True)
        for name in names:
            command = [*_WATCHED, name, str(reach.folder), str(reach.own), *before, str(hooks / name)]
            _put(place / name, _script(command, f"the hook {name}" if offline else "", path=reach.path))
        return {"core.hooksPath": str(place)}

    def _is_offline(self, reach: _Reach) -> bool:
        return reach.offline and self._enclosure.works(network=False)

    def _no_hooks(self) -> Path:
        place = self._home / "hooks" / _NO_HOOKS
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _filters(self, reach: _Reach, filters: Sequence[FilterCommand]) -> dict[str, str]:
        before, offline = self._before(_for_filters(reach, filters)) if filters else (None, False)
        if before is None:
            return {}
        filters = [one for one in filters if offline or not one.is_fetching]
        folder = self._home / "filters"
        folder.mkdir(exist_ok=True)
        said: dict[str, str] = {}
        for one in filters:
            name = digest(one.key.encode("utf-8", "surrogateescape"))[:16]
            place = folder / (f"{name}{_OFFLINE}" if reach.offline else name)
            command = [*before, "sh", "-c", one.body, "sh"]
            _put(place, _script(command, one.key if offline else "", path=reach.path))
            said[one.key] = one.calling(place)
        return said

    def _named(self, root: Path, folder: Path, environment: Mapping[str, str]) -> _Named:
        known, now = self._known.get(root), self._clock.monotonic_ns()
        marks = _marks((*_places(folder, environment), *(known.read.files if known is not None else ())))
        if known is None or known.marks != marks or now - known.asked_ns > _ASKED_NS:
            environment = {**environment, **self.search_path(root, environment)}
            said = _asked(root, environment, "rev-parse", "--git-path", "hooks").removesuffix("\n")
            hooks = Path(os.path.normpath(root / said)) if said else _own(folder) / "hooks"
            read = settings_of(root, lambda *words: _asked(root, environment, *words))
            # What was asked just now may be of a file that the marks above did not know yet.
            known = self._known[root] = _Named(
                marks=_marks((*_places(folder, environment), *read.files)),
                read=read,
                asked_ns=now,
                hooks=hooks,
                filters=filter_commands(read.settings),
                monitored=is_command(read.settings.get("core.fsmonitor", "")),
            )
        return known


def _asked(root: Path, environment: Mapping[str, str], *words: str) -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=root,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_ASK_SEC,
        check=False,
    )
    return os.fsdecode(done.stdout) if done.returncode == 0 else ""


def _folders(path: str) -> list[Path]:
    return [Path(os.path.normpath(folder)) for folder in path.split(os.pathsep) if folder.startswith("/")]


def _own(folder: Path) -> Path:
    return Path(os.path.normpath(common_dir(folder)))


def _for_filters(reach: _Reach, filters: Sequence[FilterCommand]) -> _Reach:
    """What filters and merge drivers reach: git goes on while they run, and so they write in its folder only what is
    theirs."""
    if any(one.is_fetching for one in filters):
        with suppress(OSError):
            (reach.own / "lfs").mkdir(exist_ok=True)
    place, root = Path(os.path.realpath(reach.root / ".git")), reach.root.resolve()
    written = [own for name in _FILTERS_OWN if (own := reach.own / name).is_dir() and not own.is_symlink()]
    return replace(
        reach,
        fixed=(place,) if root in place.parents else (),
        written=tuple(written),
        used=(*reach.used, *reach.written),
    )


def _fixed(root: Path, folder: Path, own: Path) -> tuple[Path, ...]:
    """What leads git to what it runs: its hooks and settings, those of other work trees and of submodules too.

    What is not there yet cannot be kept from being made, and so is made.
    """
    folders = tuple(dict.fromkeys((own, folder)))
    modules = [module for one in folders for module in _modules(one / "modules")]
    for made in (*(one / "modules" for one in folders), *(one / name for one in (own, *modules) for name in _MADE)):
        with suppress(OSError):
            made.mkdir(exist_ok=True)
    for one in (*folders, *modules):
        with suppress(OSError):
            (one / "config.worktree").touch()
    found = [own / name for name in ("hooks", "config", "worktrees")]
    found += [one / name for one in folders for name in ("config.worktree", "commondir", "gitdir", "modules")]
    found += [one / name for one in modules for name in (*_MADE, "config", "config.worktree", "commondir")]
    there = [place for place in (root / ".git", *found) if place.exists() and place != own]
    # Git runs commands and strategies that stand there; it comes and goes while git runs.
    return (*there, *(one / name for one in folders for name in hook_watch.STATE_FOLDERS))


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(one.path) for one in entries if one.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _modules(folder: Path) -> list[Path]:
    """The git folders of submodules, whose names may have slashes, and of those inside of them."""
    found: list[Path] = []
    left = _subfolders(folder)
    while left and len(found) < _MAX_MODULES:
        place = left.pop()
        if (place / "HEAD").exists():
            found.append(place)
            left += _subfolders(place / "modules")
        else:
            left += _subfolders(place)
    return sorted(found)


def _places(folder: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where settings can come to be that are not there yet."""
    home = Path(environment.get("HOME", "/"))
    own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config"
    # The branch too: settings can be included for one alone.
    settings = (_own(folder) / "config", folder / "config.worktree", home / ".gitconfig", own, Path("/etc/gitconfig"))
    return (*settings, folder / "HEAD")


def _marks(places: Sequence[Path]) -> Marks:
    """What changes when the settings do."""
    return tuple(map(_mark, places))


def _mark(place: Path) -> tuple[int, int, int]:
    try:
        found = place.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _runnable(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {
                one.name
                for one in entries
                if _NAME.fullmatch(one.name) and one.is_file() and os.access(one.path, os.X_OK)
            }
    except OSError:
        return set()


def _script(command: Sequence[str], offline: str, *, path: str) -> str:
    """A script that runs a command; of what ran `offline` it tells why, when that fails."""
    start = f"#!/bin/sh\n{_UNSET}"
    if path:
        start += f'PATH={shlex.quote(path)}:"$PATH"\nexport PATH\n'
    if not offline:
        return f'{start}exec {shlex.join(command)} "$@"\n'
    message = shlex.quote(f"codeplane: {offline} {_WHY}")
    return f'{start}{shlex.join(command)} "$@" || {{ code=$?; echo {message} >&2; exit $code; }}\n'


def _put(place: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    try:
        if place.read_bytes() == data:
            return
    except OSError:
        pass
    part = place.with_name(f".{place.name}.{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(data)
    part.chmod(0o700)
    part.replace(place)
