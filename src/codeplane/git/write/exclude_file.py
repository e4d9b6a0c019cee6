"""Lines of ours in `.git/info/exclude`: folders that git would take for repositories inside this one."""

import os
from collections.abc import Collection
from pathlib import Path, PurePath

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.ids import new_id

_MARK = b"# CodePlane: a further work tree"


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
            return self._file.read_bytes().removesuffix(b"\n").split(b"\n")
        except FileNotFoundError:
            return []

    def _write(self, lines: list[bytes]) -> None:
        self._file.parent.mkdir(exist_ok=True)
        part = self._file.with_name(f".codeplane-{new_id('part')}")
        part.write_bytes(b"".join(line + b"\n" for line in lines))
        part.replace(self._file)


def pattern_of(path: PurePath) -> bytes:
    """What names one folder, below the root, and nothing else."""
    raw = os.fsencode(path)
    if b"\n" in raw:
        raise InvalidArgument("a folder whose name holds a line end cannot be ignored")
    for sign in (b"\\", b"*", b"?", b"["):
        raw = raw.replace(sign, b"\\" + sign)
    return b"/" + raw + b"/"
