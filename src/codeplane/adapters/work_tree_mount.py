"""A mount of a work tree for git in which the system follows no symbolic link, for as long as one command runs.

Git looks whether a folder on the way to a file is a link, and opens the file afterwards. Tests and shell commands write
the work tree meanwhile: one that swaps a folder for a link in between would have git read or write files outside of it.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from codeplane.disk.git_folders import git_folders
from codeplane.disk.program_path import path_outside

_PROBE_SEC = 20.0
_SCRIPT = """set -e
mount --rbind -o nosymfollow -- "$1" "$1"
shift
while [ "$1" != -- ]; do mount --rbind -- "$2" "$2"; mount -o "remount,bind,$1" -- "$2"; shift 2; done
shift
cd "$PWD"
exec "$@"
"""


class WorkTreeMount:
    """Puts words before git that mount its work tree so; none where namespaces or the mount option are missing."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        """`roots` are work trees, which programs are not taken from."""
        self._roots = tuple(roots)

    @cached_property
    def _program(self) -> tuple[str, ...]:
        path = path_outside(os.environ.get("PATH", ""), *self._roots)
        unshare, shell, mount = (shutil.which(name, path=path) for name in ("unshare", "sh", "mount"))
        if unshare is None or shell is None or mount is None:
            return ()
        script = _SCRIPT.replace("mount ", f"{mount} ")
        if os.geteuid() == 0:
            return (unshare, "--mount", shell, "-c", script, shell)
        # Mounting takes root in the namespace; git is whom it was again.
        again = f"exec {unshare} --user --map-user={os.geteuid()} --map-group={os.getegid()} "
        return (unshare, "--mount", "--user", "--map-root-user", shell, "-c", script.replace("exec ", again), shell)

    @cached_property
    def _works(self) -> bool:
        """Whether git can be run so here; tried once."""
        with tempfile.TemporaryDirectory() as folder:
            options = [word for option in ("symfollow", "ro", "rw") for word in (option, folder)]
            command = [*self._program, folder, *options, "--", "true"]
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SEC, check=False
                )
            except (OSError, subprocess.TimeoutExpired):
                return False
            return done.returncode == 0

    def command(self, root: Path, *, read_only: Sequence[Path] = (), writable: Sequence[Path] = ()) -> list[str]:
        """Return the words; folders that are `read_only` cannot be written either, but for what is `writable`.

        In git's folder links are followed as ever: the owner may keep large files elsewhere.
        """
        gits = [root / path for path in (".git", *sorted(git_folders(root).paths))]
        if not self._program or any(map(Path.is_symlink, gits)) or not self._works:
            return []
        words = [*self._program, str(root)]
        for option, places in (("symfollow", gits), ("ro", read_only), ("rw", writable)):
            words += [word for place in places if place.is_dir() for word in (option, str(place))]
        return [*words, "--"]
