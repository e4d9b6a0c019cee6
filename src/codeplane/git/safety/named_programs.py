"""The programs that git's settings name: hooks, filters and merge drivers."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.git.safety.filter_commands import FilterCommand, filter_commands, is_command
from codeplane.git.safety.program_reach import shared_folder
from codeplane.git.safety.settings import Settings, settings_of
from codeplane.kernel.clock import SECOND_NS, Clock

_ASK_SEC = 20.0
# Settings can apply to some branches only, which no file's stamp shows, so git is asked again after a while.
_ASKED_NS = 600 * SECOND_NS
Stamps = tuple[tuple[int, int, int, int], ...]
SearchPath = Callable[[Path, Mapping[str, str]], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPrograms:
    """The programs that the settings name: the hooks folder, and the commands of filters and merge drivers."""

    stamps: Stamps
    read: Settings
    asked_ns: int
    hooks: Path
    filters: tuple[FilterCommand, ...]
    # Whether git would ask a program which files changed.
    monitored: bool


class ProgramFinder:
    """Asks git which programs its settings name, again when a file of settings has changed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Path, NamedPrograms] = {}

    def find(self, root: Path, folder: Path, environment: Mapping[str, str], search_path: SearchPath) -> NamedPrograms:
        """Return the programs that the settings of a repository name now."""
        known, now = self._known.get(root), self._clock.monotonic_ns()
        stamps = _stamps((*_setting_files(folder, environment), *(known.read.files if known is not None else ())))
        if known is None or known.stamps != stamps or now - known.asked_ns > _ASKED_NS:
            environment = {**environment, **search_path(root, environment)}
            path = _ask_git(root, environment, "rev-parse", "--git-path", "hooks").removesuffix("\n")
            hooks = Path(os.path.normpath(root / path)) if path else shared_folder(folder) / "hooks"
            read = settings_of(root, lambda *words: _ask_git(root, environment, *words))
            # The settings may come from files that the stamps above do not cover.
            known = self._known[root] = NamedPrograms(
                stamps=_stamps((*_setting_files(folder, environment), *read.files)),
                read=read,
                asked_ns=now,
                hooks=hooks,
                filters=filter_commands(read.settings),
                monitored=is_command(read.settings.get("core.fsmonitor", "")),
            )
        return known


def _ask_git(root: Path, environment: Mapping[str, str], *words: str) -> str:
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


def _setting_files(folder: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files where settings may be added."""
    home = Path(environment.get("HOME", "/"))
    own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config"
    # HEAD too, since settings can be included for one branch only.
    settings = (
        shared_folder(folder) / "config",
        folder / "config.worktree",
        home / ".gitconfig",
        own,
        Path("/etc/gitconfig"),
    )
    return (*settings, folder / "HEAD")


def _stamps(files: Sequence[Path]) -> Stamps:
    """Return stamps that change when the settings do."""
    return tuple(map(_stamp, files))


def _stamp(file: Path) -> tuple[int, int, int, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0, 0, 0, 0
    # Unlike the first time, the second one cannot be set.
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino
