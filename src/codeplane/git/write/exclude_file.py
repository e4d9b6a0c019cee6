"""Lines of ours in `.git/info/exclude`: folders that git would take for files or repositories inside this one."""

import os
from collections.abc import Collection
from pathlib import Path, PurePath

from codeplane.disk.git_folders import git_folders
from codeplane.git.read.repository import common_dir, git_dir_of, read_plain_file
from codeplane.kernel.errors import GitRefused, InvalidArgument
from codeplane.kernel.ids import new_id

_MARK = b"# CodePlane: a further work tree"
_GIT_MARK = b"# CodePlane: where git keeps this repository"


class ExcludeFile:
    """What a repository ignores without saying so in a commit; each line of ours follows one that says so."""

    def __init__(self, shared: Path) -> None:
        """`shared` is where the work trees of a repository keep what they share."""
        self._file = shared / "info" / "exclude"

    def add(self, pattern: bytes) -> None:
        """Ignore what a pattern names."""
        lines = self._lines()
        if pattern not in lines:
            self._write([*lines, _MARK, pattern])

    def add_git_folder(self, pattern: bytes) -> None:
        """Ignore a folder of git's own, which it would take for files of the work tree."""
        lines = self._lines()
        if pattern not in lines:
            self._write([*lines, _GIT_MARK, pattern])

    def keep_only(self, patterns: Collection[bytes]) -> None:
        """Take away those of our lines that name none of these."""
        lines = self._lines()
        left: list[bytes] = []
        rest = iter(lines)
        for line in rest:
            if line == _MARK and (following := next(rest, None)) is not None:
                left += [line, following] if following in patterns else []
            else:
                left.append(line)
        if left != lines:
            self._write(left)

    def _lines(self) -> list[bytes]:
        try:
            return read_plain_file(self._file).removesuffix(b"\n").split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            # A link, which a hook can make, could lead to what nobody is shown.
            raise GitRefused(
                f".git/info/exclude is no plain file: {error.strerror}", hint=f"look at {self._file}, and remove it"
            ) from error

    def _write(self, lines: list[bytes]) -> None:
        self._file.parent.mkdir(exist_ok=True)
        part = self._file.with_name(f".codeplane-{new_id('part')}")
        with part.open("xb") as file:
            file.write(b"".join(line + b"\n" for line in lines))
        part.replace(self._file)


def pattern_of(path: PurePath) -> bytes:
    """What names one folder, below the root, and nothing else."""
    raw = os.fsencode(path)
    if b"\n" in raw:
        raise InvalidArgument("a folder whose name holds a line end cannot be ignored")
    for sign in (b"\\", b"*", b"?", b"["):
        raw = raw.replace(sign, b"\\" + sign)
    return b"/" + raw + b"/"


def exclude_git_folders(root: Path) -> None:
    """Keep git from taking its own folder for files of the work tree, where it lies there under another name."""
    gits = git_folders(root)
    if not gits:
        return
    exclude = ExcludeFile(common_dir(git_dir_of(root)))
    for path in sorted(gits.paths):
        if "\n" not in path:
            pattern = pattern_of(PurePath(path))
            exclude.add_git_folder(pattern.removesuffix(b"/") if (root / path).is_symlink() else pattern)
