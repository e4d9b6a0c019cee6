"""Runs one sandboxed hook and removes what it planted in git's folder.

This is a script of its own, started in place of a hook, and imports nothing of CodePlane. A hook can write in git's
folder, and git uses what is there outside the sandbox: it writes through symbolic links and continues a merge that
nobody started. Git waits while a hook runs, so new files of the kinds that only git creates were planted.
"""

import os
import select
import signal
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

# The state of an operation in progress. A hook may change the messages.
_STATE_FILES = (
    *("MERGE_HEAD", "MERGE_MODE", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"),
    *("BISECT_LOG", "BISECT_START", "BISECT_NAMES", "BISECT_TERMS", "BISECT_RUN", "BISECT_ANCESTORS_OK"),
)
_MESSAGES = ("MERGE_MSG", "SQUASH_MSG")
STATE_FOLDERS = ("sequencer", "rebase-merge", "rebase-apply")
# Names another folder for settings and hooks; only linked work trees have one.
_OTHER_FOLDER, _WORK_TREES = "commondir", "worktrees"
_ASIDE = "codeplane-set-aside"
# Folders directly in a git folder that hold many files, whose names cannot be chosen. Branches may be called so too.
_OBJECTS, _LFS = "objects", "lfs"
_MANY_FILES = frozenset({_OBJECTS, _LFS, "annex"})
# Those among the objects in which git writes files of fixed names.
_FIXED_NAMES = frozenset({"info", "pack"})
_MODULES = "modules"
_MAX_STATE = 1024 * 1024

State = dict[str, bytes | None]


def links_in(*folders: Path, lfs: bool = False, opening: bool = False) -> dict[Path, str]:
    """Find the symbolic links in git folders, and commondir files, with their targets.

    With `lfs`, look among the files of Git LFS too; with `opening`, make unreadable folders readable again.
    """
    links: dict[Path, str] = {}
    given = frozenset(map(str, folders))
    modules = tuple(f"{folder}/{_MODULES}/" for folder in given)
    skipped = _MANY_FILES - {_LFS} if lfs else _MANY_FILES
    # Folders, and which of their subfolders are looked into; None for all.
    left: list[tuple[str, frozenset[str] | None]] = [(folder, None) for folder in given]
    while left:
        folder, followed = left.pop()
        with suppress(OSError):
            if opening:
                _open(Path(folder))
            with os.scandir(folder) as scan:
                entries = list(scan)
            is_module = folder.startswith(modules) and any(entry.name == "HEAD" for entry in entries)
            for entry in entries:
                if entry.is_symlink():
                    links[Path(entry.path)] = str(Path(entry.path).readlink())
                elif not entry.is_dir(follow_symlinks=False):
                    if entry.name == _OTHER_FOLDER and Path(folder).parent.name != _WORK_TREES:
                        links[Path(entry.path)] = ""
                elif entry.name in skipped and (folder in given or is_module):
                    left += [(entry.path, _FIXED_NAMES)] if entry.name == _OBJECTS else []
                elif followed is None or entry.name in followed:
                    left.append((entry.path, followed and frozenset()))
    return links


def _open(folder: Path) -> None:
    mode = folder.lstat().st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)


def _state_of(folder: Path) -> State:
    """Return the state files and folders that exist, with the contents that a hook may not change."""
    names = (*_STATE_FILES, *_MESSAGES, *STATE_FOLDERS)
    return {
        name: _read(folder / name) if name in _STATE_FILES else None for name in names if os.path.lexists(folder / name)
    }


def _read(place: Path) -> bytes | None:
    try:
        with open(place, "rb", opener=_open_no_follow) as file:
            return file.read(_MAX_STATE)
    except OSError:
        return None


def _open_no_follow(place: str, flags: int) -> int:
    return os.open(place, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)


def _take_away(before: dict[Path, str], folders: tuple[Path, ...]) -> list[Path]:
    """Remove new links."""
    links = links_in(*folders, lfs=True, opening=True)
    planted = [place for place, leads in links.items() if before.get(place) != leads]
    for place in planted:
        # A folder can be listed under two names.
        place.unlink(missing_ok=True)
    return planted


def _put_back(before: State, folder: Path) -> list[Path]:
    """Move new state aside and restore changed state files."""
    now = _state_of(folder)
    planted = [name for name in now if name not in before or before[name] != now[name]]
    # A new folder, which no hook has created before.
    aside = folder / f"{_ASIDE}-{time.time_ns()}"
    for name in planted:
        place = folder / name
        _open(place)
        aside.mkdir(exist_ok=True)
        place.rename(aside / name)
        if (content := before.get(name)) is not None:
            with open(place, "xb", opener=_open_no_follow) as file:
                file.write(content)
    return [folder / name for name in planted]


def _run(command: list[str]) -> int:
    """Run bubblewrap until everything inside has ended, or git is gone; return the exit code."""
    git = os.getppid()
    info_end, info_start = os.pipe()
    os.set_inheritable(info_start, True)
    words = [command[0], "--info-fd", str(info_start), *command[1:]]
    child = os.posix_spawnp(words[0], words, os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    os.close(info_start)
    with os.fdopen(info_end, "rb") as info:
        first = _pidfd(_inner_pid(info.read(_MAX_STATE)))
    _wait_for_any(_pidfd(child), _pidfd(git))
    if os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None and os.getppid() != git:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    # Background processes that it left may still write.
    _wait_for_any(first)
    return os.waitstatus_to_exitcode(status)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        # The process has ended, or the system has no pidfds.
        return None


def _wait_for_any(*processes: int | None) -> None:
    waiter = select.poll()
    known = [process for process in processes if process is not None]
    for process in known:
        waiter.register(process, select.POLLIN)
    if known:
        waiter.poll()


def _inner_pid(info: bytes) -> int:
    number = info.partition(b'"child-pid":')[2].partition(b",")[0].strip(b" }\n")
    return int(number) if number.isdigit() else 0


def main(name: str, folder: Path, shared: Path, command: list[str]) -> int:
    """Run the hook `name` for the git folder `folder`; `shared` is the folder that all work trees share."""
    with suppress(PermissionError):
        # Outside git's process group, so that planted files are removed even when git is ended.
        os.setsid()
    folders = tuple(dict.fromkeys((folder, shared)))
    links = links_in(*folders, lfs=True)
    # A push takes no lock here, so another command may start a merge during its hook.
    state = None if name == "pre-push" else _state_of(folder)
    code = _run(command)
    planted = _take_away(links, folders)
    planted += _put_back(state, folder) if state is not None else []
    if not planted:
        return code if code >= 0 else 128 - code
    named = ", ".join(ascii(os.path.relpath(place, shared))[1:-1] for place in planted[:10])
    sys.stderr.write(
        f"codeplane: the hook {name} made what only git makes in its folder, which is taken away: {named}\n"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]))
