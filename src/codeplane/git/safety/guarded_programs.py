"""Runs the hooks and filters that git starts in a sandbox, since agents may have written them."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from codeplane.disk.git_folders import git_folders
from codeplane.disk.program_path import path_outside
from codeplane.git.read.repository import git_dir_of
from codeplane.git.read.submodule_guard import settings_as_variables
from codeplane.git.safety import hook_watch
from codeplane.git.safety.filter_commands import FilterCommand
from codeplane.git.safety.named_programs import ProgramFinder
from codeplane.git.safety.program_reach import ProgramReach, fixed_places, lfs_places, shared_folder
from codeplane.git.safety.program_scripts import program_script, put_script, script_start, script_without_links
from codeplane.git.safety.program_settings import refuse_programs
from codeplane.index.files.paths import path_text
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import GitRefused
from codeplane.kernel.ids import digest
from codeplane.kernel.online_runs import OnlineRuns
from codeplane.kernel.secret_paths import secret_shell_patterns

_NAME = re.compile(r"[a-z][a-z-]{2,40}")
_OFFLINE, _ENCLOSED, _NO_HOOKS = "-offline", "-enclosed", "none"
_QUIET = {
    # Programs in the settings of submodules are not sandboxed here; submodules have operations of their own.
    "submodule.recurse": "false",
    # If a hook breaks git's folder, git must not read the work tree as a bare repository with its settings.
    "safe.bareRepository": "explicit",
}
# Background maintenance would run this hook with the network after others have lost it.
_BY_MAINTENANCE, _NO_MAINTENANCE = "reference-transaction", {"maintenance.auto": "false", "gc.auto": "0"}
# An isolated Python process, without the user's settings and packages.
_WATCHED = (sys.executable, "-I", "-S", hook_watch.__file__)
# Hooks that run where commits are received, or before a push, which needs permission anyway.
_NOT_LOCAL = frozenset(
    (
        *("pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout"),
        "sendemail-validate",
    )
)


class Enclosure(Protocol):
    """Sandboxes single programs."""

    def works(self, *, network: bool) -> bool:
        """Whether programs can be sandboxed here, without `network` so that they reach no other machine."""
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
        read_only: bool = False,
    ) -> list[str] | None:
        """Return the words to put before a program; None when it cannot be sandboxed so.

        A `read_only` one leaves nothing behind.
        """
        ...

    def shield(self, home: Path, root: Path, *, ssh: bool) -> list[str]:
        """Return the words to put before git, which keep it from writing `home`; none where that does not work."""
        ...

    def without_links(self, root: Path, *, ssh: bool) -> list[str]:
        """Return the words to put before git, with which the system follows no link of the work tree; or none."""
        ...


class GuardedPrograms:
    """Replace each hook and filter by a script that runs it in a sandbox.

    In the sandbox `home` is empty, only the work tree and git's folder without its settings and hooks can be written,
    and no other processes are visible. So a hook that an agent wrote reaches neither the owner's token nor the
    policies, and leaves nothing that runs outside. While `offline` returns True there is no network, since untrusted
    content could have made an agent write a program that sends data away.
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
        """`runs` counts the runs of git whose hooks and filters may use the network."""
        self._home = home
        self._enclosure = enclosure
        self._clock = clock
        self._offline = offline
        self.runs = runs or OnlineRuns()
        self._finder = ProgramFinder(clock)

    def settings(
        self,
        root: Path,
        folder: Path,
        environment: Mapping[str, str],
        *,
        submodule: bool = False,
        fetches: bool = False,
    ) -> dict[str, str]:
        """Return the settings for git in the work tree `root`, whose git folder is `folder`.

        Only a command that `fetches` what Git LFS left out runs that outside the sandbox. GitRefused when git would run
        a program that someone other than the owner may have configured.
        """
        named = self._finder.find(root, folder, environment, self.search_path)
        own = shared_folder(folder)
        refuse_programs(named.read, root=root, own=own, submodule=submodule)
        names = _runnable(named.hooks)
        is_any = bool(named.filters or names)
        if is_any and self._enclosure.works(network=True):
            _refuse_link(root)
        offline = self._offline()
        has_lfs = not offline and any(command.is_fetching for command in named.filters)
        reach = ProgramReach(
            root=root,
            folder=folder,
            own=own,
            # For hooks: filters write nothing of git's folder but what is theirs.
            fixed=fixed_places(root, folder, own) if names else (),
            lfs=lfs_places(own) if names and has_lfs else (),
            written=tuple(dict.fromkeys((own, folder))),
            used=(named.hooks, Path(environment.get("HOME") or "/"), *_folders(environment.get("PATH", ""))),
            path=environment.get("PATH", "") if self.search_path(root, environment) else "",
            offline=offline,
        )
        if not is_any or self._is_offline(reach):
            self.runs.dismiss()
        quiet = (
            (_NO_MAINTENANCE if _BY_MAINTENANCE in names else {})
            | _QUIET
            | ({"core.fsmonitor": "false"} if named.monitored else {})
        )
        return self._hooks(reach, named.hooks) | self._filters(reach, named.filters, fetches=fetches) | quiet

    def search_path(self, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
        """Return git's search path when it must differ from that of hooks and filters.

        Agents can write a Python environment in the work tree, and git runs `ssh` and `gpg` outside the sandbox.
        """
        path = environment.get("PATH", "")
        outside = path_outside(path, root, self._home.parent)
        return {"PATH": outside} if outside != path and self._enclosure.works(network=True) else {}

    def shield(self, root: Path, folder: Path, environment: Mapping[str, str], *, remote: bool) -> list[str]:
        """Return the words to put before a git command that writes files, so that it cannot write `home`.

        What it may write was checked before; but a hook or filter runs in the middle of it, and can move branches.
        """
        named = self._finder.find(root, folder, environment, self.search_path)
        if not named.filters and not _runnable(named.hooks):
            return self.without_links(root, remote=remote)
        is_fetching = not self._offline() and any(command.is_fetching for command in named.filters)
        return self._enclosure.shield(self._home, root, ssh=remote or is_fetching)

    def without_links(self, root: Path, *, remote: bool = False) -> list[str]:
        """Return the words to put before a git command that reads files of the work tree.

        A test that swaps a folder for a link in the middle of it brings in nothing from outside.
        """
        return self._enclosure.without_links(root, ssh=remote)

    def environment(self, root: Path, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment with these settings, for reading the work tree `root`."""
        folder = git_dir_of(root)
        # Only linked work trees have a commondir file; a hook could write one elsewhere.
        own = folder if folder == root / ".git" else shared_folder(folder)
        environment = {**environment, "GIT_COMMON_DIR": str(own)}
        settings = settings_as_variables(self.settings(root, folder, environment), environment)
        return {**environment, **settings, **self.search_path(root, environment)}

    def online(self, root: Path, folder: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
        """List the hooks and filters that local commands run with the network even while `offline`."""
        if self._enclosure.works(network=False):
            return ()
        named = self._finder.find(root, folder, environment, self.search_path)
        return (*sorted(_runnable(named.hooks) - _NOT_LOCAL), *(command.key for command in named.filters))

    def _command(
        self, reach: ProgramReach, shown: tuple[Path, Path] | None, *, network: bool, read_only: bool = False
    ) -> list[str] | None:
        return self._enclosure.command(
            root=reach.root,
            hidden=self._home,
            shown=shown,
            fixed=reach.fixed,
            written=reach.written,
            used=reach.used,
            network=network,
            read_only=read_only,
        )

    def _before(self, reach: ProgramReach, shown: tuple[Path, Path] | None = None) -> tuple[list[str] | None, bool]:
        """Return the words to put before a program, and whether they keep it off the network."""
        if reach.offline and (before := self._command(reach, shown, network=False)) is not None:
            return before, True
        return self._command(reach, shown, network=True), False

    def _hooks(self, reach: ProgramReach, hooks: Path) -> dict[str, str]:
        names = _runnable(hooks)
        if not names:
            # A hook that the command checks out, or that a filter writes meanwhile, must not run.
            return {"core.hooksPath": str(self._no_hooks())} if self._enclosure.works(network=True) else {}
        # A folder for each hooks folder, so that commands running at the same time do not affect each other.
        name = digest(os.fsencode(hooks))[:16]
        place = self._home / "hooks" / (f"{name}{_OFFLINE}" if reach.offline else name)
        if self._before(reach, (hooks, place))[0] is None:
            return {}
        place.mkdir(parents=True, exist_ok=True)
        # Names with a dot are files that another command is writing right now.
        for name in {entry.name for entry in place.iterdir() if not entry.name.startswith(".")} - names:
            (place / name).unlink(missing_ok=True)
        for name in names:
            before, offline = self._before(reach.for_hook(name), (hooks, place))
            command = [*_WATCHED, name, str(reach.folder), str(reach.own), *(before or ()), str(hooks / name)]
            put_script(place / name, program_script(command, f"the hook {name}" if offline else "", path=reach.path))
        return {"core.hooksPath": str(place)}

    def _is_offline(self, reach: ProgramReach) -> bool:
        return reach.offline and self._enclosure.works(network=False)

    def _no_hooks(self) -> Path:
        place = self._home / "hooks" / _NO_HOOKS
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _filters(self, reach: ProgramReach, filters: Sequence[FilterCommand], *, fetches: bool) -> dict[str, str]:
        settings: dict[str, str] = {}
        for command in filters:
            before, offline = self._before(reach.for_filter(command.folders))
            if before is None:
                return {}
            is_outside = command.is_fetching and fetches and not offline
            is_enclosed = command.is_fetching and not fetches
            place = self._filter_place(command.key, _OFFLINE if reach.offline else _ENCLOSED if is_enclosed else "")
            if is_outside:
                put_script(place, script_without_links(command.body, reach.own / "lfs"))
            else:
                path = "" if command.folders else reach.path
                script = program_script([*before, *_shell(command)], command.key if offline else "", path=path)
                put_script(place, self._isolation_script(reach, command) + script)
            settings[command.key] = command.script_setting(place)
        return settings

    def _filter_place(self, key: str, suffix: str) -> Path:
        folder = self._home / "filters"
        folder.mkdir(exist_ok=True)
        name = digest(key.encode("utf-8", "surrogateescape"))[:16]
        return folder / f"{name}{suffix}"

    def _isolation_script(self, reach: ProgramReach, command: FilterCommand) -> str:
        """Return the beginning of a script that runs a filter in isolation when git gives it a secrets file.

        Git hands over the content, which the sandbox hides elsewhere, so the filter must leave it nowhere and tell
        nobody but git. A process is given every file.
        """
        if command.folders or (not command.is_process and command.path_argument is None):
            return ""
        bare = reach.for_filter(())
        before = self._command(bare, None, network=not self._enclosure.works(network=False), read_only=True)
        if before is None:
            return ""
        run = f'exec {shlex.join([*before, *_shell(command)])} "$@" 2> /dev/null'
        start = script_start(reach.path)
        if command.is_process:
            return f"{start}{run}\n"
        return f'{start}case "${command.path_argument}" in {secret_shell_patterns()}) {run};; esac\n'


def _refuse_link(root: Path) -> None:
    """Raise GitRefused when a link leads to git's folder: nothing can be mounted over one, so it could be replaced."""
    for place in (root / path for path in (".git", *sorted(git_folders(root).paths))):
        if place.is_symlink():
            raise GitRefused(
                f"{path_text(str(place))} leads to git's folder and is a symbolic link, which hooks could replace",
                hint='name the folder in a file: to=$(readlink -f .git) && rm .git && echo "gitdir: $to" > .git',
            )


def _folders(path: str) -> list[Path]:
    return [Path(os.path.normpath(folder)) for folder in path.split(os.pathsep) if folder.startswith("/")]


def _runnable(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {
                entry.name
                for entry in entries
                if _NAME.fullmatch(entry.name) and entry.is_file() and os.access(entry.path, os.X_OK)
            }
    except OSError:
        return set()


def _shell(command: FilterCommand) -> list[str]:
    return ["sh", "-c", command.body, "sh"]
