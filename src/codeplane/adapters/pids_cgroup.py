"""Limits on a command's number of processes by control groups, which bind root too."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_MOUNTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
_ENTER = 'echo $$ > "$0" && exec "$@"'


class PidsCgroup:
    """Runs commands in their own control groups, where this process may create them."""

    def __init__(self, mounts: Sequence[Path] = _MOUNTS) -> None:
        self._mounts = mounts

    def command(self, argv: Sequence[str], *, name: str, most: int) -> list[str]:
        """Return the command with a limit on its processes; unchanged where that is not possible."""
        for mount in self._mounts:
            group = mount / name
            try:
                group.mkdir()
                (group / "pids.max").write_text(f"{most}\n")
            except OSError:
                self._remove(group)
                continue
            return ["/bin/sh", "-c", _ENTER, str(group / "cgroup.procs"), *argv]
        return list(argv)

    def remove(self, name: str) -> None:
        """Take the group away once all its processes have ended."""
        for mount in self._mounts:
            self._remove(mount / name)

    @staticmethod
    def _remove(group: Path) -> None:
        with suppress(OSError):
            group.rmdir()
