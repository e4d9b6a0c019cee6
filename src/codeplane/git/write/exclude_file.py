"""Our lines in `.git/info/exclude`, for folders that git would take for files or nested repositories."""

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
    """The exclude file of a repository; a comment of ours stands before each of our lines."""

    def __init__(self, shared: Path) -> None:
        """`shared` is the git folder that all work trees share."""
        self._file = shared / "info" / "exclude"

    def add(self, pattern: bytes) -> None:
        """Ignore a pattern."""
        lines = self._lines()
        if pattern not in lines:
            self._write([*lines, _MARK, pattern])

    def add_git_folder(self, pattern: bytes) -> None:
        """Ignore a git folder that git would take for files of the work tree."""
        lines = self._lines()
        if pattern not in lines:
            self._write([*lines, _GIT_MARK, pattern])

    def keep_only(self, patterns: Collection[bytes]) -> None:
        """Remove our lines except for these patterns."""
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
            # A hook could make it a link to a hidden file.
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
    """Return a pattern that matches only this folder below the root."""
    raw = os.fsencode(path)
    if b"\n" in raw:
        raise InvalidArgument("a folder whose name holds a line end cannot be ignored")
    for sign in (b"\\", b"*", b"?", b"["):
        raw = raw.replace(sign, b"\\" + sign)
    return b"/" + raw + b"/"


def exclude_git_folders(root: Path) -> None:
    """Ignore git folders that lie in the work tree under another name."""
    gits = git_folders(root)
    if not gits:
        return
    exclude = ExcludeFile(common_dir(git_dir_of(root)))
    for path in sorted(gits.paths):
        if "\n" not in path:
            pattern = pattern_of(PurePath(path))
            exclude.add_git_folder(pattern.removesuffix(b"/") if (root / path).is_symlink() else pattern)
