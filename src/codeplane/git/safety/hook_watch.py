"""Runs one enclosed hook, and takes away what it planted in git's folder.

A script of its own, started by what git finds in the place of a hook: it imports nothing of CodePlane. A hook writes
in git's folder, and git uses what is there outside of the enclosure: it writes through links, and goes on with a merge
that nobody began. Git waits while a hook runs, so what only git makes, and is new, was planted.
"""

import os
import select
import signal
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

# What git is in the middle of. A hook may change the message.
_STATE_FILES = (
    *("MERGE_HEAD", "MERGE_MODE", "MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"),
    *("BISECT_LOG", "BISECT_START", "BISECT_NAMES", "BISECT_TERMS", "BISECT_RUN", "BISECT_ANCESTORS_OK"),
)
_MESSAGES = ("MERGE_MSG", "SQUASH_MSG")
STATE_FOLDERS = ("sequencer", "rebase-merge", "rebase-apply")
# Names another folder for settings and hooks; only the folders of work trees have one.
_OTHER_FOLDER, _WORK_TREES = "commondir", "worktrees"
_ASIDE = "codeplane-set-aside"
# What programs keep there themselves; git writes objects under names that nobody chooses.
_NOT_WALKED = frozenset({"objects", "lfs", "annex"})
_MAX_STATE = 1024 * 1024

State = dict[str, bytes | None]


def links_in(*folders: Path, opening: bool = False) -> dict[Path, str]:
    """The symbolic links in folders of git, and what leads to other settings, with where they lead.

    With `opening`, a folder that was made unreadable is opened again.
    """
    found: dict[Path, str] = {}
    left = [str(folder) for folder in folders]
    while left:
        folder = left.pop()
        with suppress(OSError):
            if opening:
                _open(Path(folder))
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink():
                        found[Path(entry.path)] = str(Path(entry.path).readlink())
                    elif entry.is_dir(follow_symlinks=False):
                        left += [entry.path] if entry.name not in _NOT_WALKED else []
                    elif entry.name == _OTHER_FOLDER and Path(folder).parent.name != _WORK_TREES:
                        found[Path(entry.path)] = ""
    return found


def _open(folder: Path) -> None:
    mode = folder.lstat().st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)


def _state_of(folder: Path) -> State:
    """The state files and folders there are; what the files hold, where a hook may not change it."""
    names = (*_STATE_FILES, *_MESSAGES, *STATE_FOLDERS)
    return {
        name: _read(folder / name) if name in _STATE_FILES else None for name in names if os.path.lexists(folder / name)
    }


def _read(place: Path) -> bytes | None:
    try:
        with open(place, "rb", opener=_unfollowed) as file:
            return file.read(_MAX_STATE)
    except OSError:
        return None


def _unfollowed(place: str, flags: int) -> int:
    return os.open(place, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)


def _take_away(before: dict[Path, str], folders: tuple[Path, ...]) -> list[Path]:
    """Remove the links that are new."""
    found = links_in(*folders, opening=True)
    planted = [place for place, leads in found.items() if before.get(place) != leads]
    for place in planted:
        # One folder may have two names.
        place.unlink(missing_ok=True)
    return planted


def _put_back(before: State, folder: Path) -> list[Path]:
    """Set the state aside that is new, and give state files back what they held."""
    now = _state_of(folder)
    planted = [name for name in now if name not in before or before[name] != now[name]]
    # A new one, which no hook has made before.
    aside = folder / f"{_ASIDE}-{time.time_ns()}"
    for name in planted:
        place = folder / name
        _open(place)
        aside.mkdir(exist_ok=True)
        place.rename(aside / name)
        if (held := before.get(name)) is not None:
            with open(place, "xb", opener=_unfollowed) as file:
                file.write(held)
    return [folder / name for name in planted]


def _run(command: list[str]) -> int:
    """Run bubblewrap until everything inside has ended, which it does when git is gone; the exit code."""
    git = os.getppid()
    told, telling = os.pipe()
    os.set_inheritable(telling, True)
    words = [command[0], "--info-fd", str(telling), *command[1:]]
    child = os.posix_spawnp(words[0], words, os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    os.close(telling)
    with os.fdopen(told, "rb") as info:
        first = _pidfd(_inner_pid(info.read(_MAX_STATE)))
    _wait_for_any(_pidfd(child), _pidfd(git))
    if os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None and os.getppid() != git:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    # What it left running may still write.
    _wait_for_any(first)
    return os.waitstatus_to_exitcode(status)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        # It has ended, or the system has none of these.
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
    """Run the hook `name` of the work tree whose git folder is `folder`; `shared` is what work trees share."""
    with suppress(PermissionError):
        # Not ended with git's group: what is planted is taken away all the same.
        os.setsid()
    folders = tuple(dict.fromkeys((folder, shared)))
    links = links_in(*folders)
    # Nothing waits for others while a push is checked: somebody may begin a merge meanwhile.
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
