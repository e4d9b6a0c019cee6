"""Parser for what `git diff --raw --numstat --patch -z` prints: files, hunks and lines."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from codeplane.kernel.errors import TooLarge

# Make git print a diff in one known form, whatever the settings say.
DIFF_OPTIONS = (
    "--raw",
    "--numstat",
    "-z",
    "--find-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--submodule=short",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
)
Origin = Literal["+", "-", " "]
_ORIGINS: dict[bytes, Origin] = {b"+": "+", b"-": "-"}
WORDS = {
    "A": "added",
    "M": "modified",
    "D": "deleted",
    "R": "renamed",
    "C": "copied",
    "T": "typechange",
    "U": "unmerged",
}
_RANGE = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)", re.DOTALL)
_NO_NEWLINE = b"\\"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchLine:
    """A line of a hunk, without its newline; `ended` is False for a last line without one."""

    origin: Origin
    content: bytes
    old_lineno: int | None
    new_lineno: int | None
    ended: bool = True


@dataclass(slots=True, kw_only=True)
class PatchHunk:
    """One hunk as git printed it, with the section name that follows the ranges."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    section: bytes
    printed: list[bytes] = field(default_factory=list)
    unended: set[int] = field(default_factory=set)

    @property
    def lines(self) -> list[PatchLine]:
        """The lines with their numbers; built on demand, since most of a large patch is never shown."""
        old, new = self.old_start, self.new_start
        lines = []
        for number, line in enumerate(self.printed):
            origin: Origin = _ORIGINS.get(line[:1], " ")
            in_old, in_new = origin != "+", origin != "-"
            lines.append(
                PatchLine(
                    origin=origin,
                    content=line[1:],
                    old_lineno=old if in_old else None,
                    new_lineno=new if in_new else None,
                    ended=number not in self.unended,
                )
            )
            old, new = old + in_old, new + in_new
        return lines


@dataclass(slots=True, kw_only=True)
class FilePatch:
    """One file that differs; `whole` unless the patch ended before its hunks did."""

    path: str
    old_path: str | None
    status: str
    old_mode: str
    new_mode: str
    similarity: int | None
    insertions: int = 0
    deletions: int = 0
    binary: bool = False
    hunks: list[PatchHunk] = field(default_factory=list)
    whole: bool = True


def parse_patch(out: bytes, *, cut: bool) -> list[FilePatch]:
    """Parse the files of a diff in git's order; `cut` says that the output is incomplete."""
    files, rest = _summary(out)
    if rest is None:
        if cut:
            raise TooLarge("the list of files that differ is too long", hint="name fewer of them with paths")
        return _merge_conflicts(files)
    sections = _Sections(rest)
    for file in files:
        if file.status == "unmerged":
            sections.skip_unmerged(file.path)
            continue
        name = sections.begin()
        if name is None:
            file.whole = not cut
            continue
        _fill(file, sections)
        # A change of kind, such as from file to link, is printed as a deletion and an addition.
        if file.status == "typechange" and sections.begins_again(name):
            _fill(file, sections)
    if cut:
        _mark_unfinished(files)
    return _merge_conflicts(files)


def _summary(out: bytes) -> tuple[list[FilePatch], bytes | None]:
    """Parse the raw and numeric lists; return the files and the patch that follows, or None."""
    files: list[FilePatch] = []
    at = 0

    def next_field() -> bytes:
        nonlocal at
        end = out.find(b"\0", at)
        if end < 0:
            raise TooLarge("the list of files that differ is too long", hint="name fewer of them with paths")
        part, at = out[at:end], end + 1
        return part

    while out.startswith(b":", at):
        old_mode, new_mode, _, _, letter = next_field()[1:].decode().split(" ")
        path = os.fsdecode(next_field())
        moved = letter[0] in "RC"
        old_path, path = (path, os.fsdecode(next_field())) if moved else (None, path)
        similarity = int(letter[1:]) if moved and letter[1:] else None
        status = WORDS.get(letter[0], "modified")
        files.append(
            FilePatch(
                path=path,
                old_path=old_path,
                status=status,
                old_mode=old_mode,
                new_mode=new_mode,
                similarity=similarity,
            )
        )
    for file in files:
        insertions, deletions, name = next_field().split(b"\t", 2)
        if not name:
            next_field(), next_field()
        file.binary = insertions == b"-"
        if not file.binary:
            file.insertions, file.deletions = int(insertions), int(deletions)
    return files, out[at:].removeprefix(b"\0") or None


class _Sections:
    """The lines of a patch, one section a file."""

    def __init__(self, patch: bytes) -> None:
        # After the last newline comes nothing, or a line that was not read to its end.
        self._lines = patch.split(b"\n")[:-1]
        self._at = 0

    def peek(self) -> bytes | None:
        """The next line; None at the end."""
        return self._lines[self._at] if self._at < len(self._lines) else None

    def next(self) -> bytes | None:
        """Take the next line."""
        line = self.peek()
        self._at += 1
        return line

    def skip_unmerged(self, path: str) -> None:
        """Skip the notice for a path in conflict, which stands in place of a section."""
        if (line := self.peek()) is not None and line.startswith(b"* Unmerged path"):
            self._at += 1 + path.count("\n")

    def begin(self) -> bytes | None:
        """Skip to the next section and take its first line, which names the file."""
        while (line := self.next()) is not None:
            if line.startswith(b"diff --git "):
                return line
        return None

    def begins_again(self, name: bytes) -> bool:
        """Take the first line of a second section of the same file, if one follows."""
        if self.peek() != name:
            return False
        self._at += 1
        return True

    def read_hunk(self, hunk: PatchHunk) -> bool:
        """Take the lines of a hunk; False when the patch ends first."""
        old_left, new_left = hunk.old_lines, hunk.new_lines
        lines, at = self._lines, self._at
        while old_left or new_left:
            if at >= len(lines):
                self._at = at
                return False
            line = lines[at]
            at += 1
            if line[:1] == _NO_NEWLINE:
                hunk.unended.add(len(hunk.printed) - 1)
                continue
            hunk.printed.append(line)
            first = line[:1]
            old_left -= first != b"+"
            new_left -= first != b"-"
        if at < len(lines) and lines[at][:1] == _NO_NEWLINE:
            at += 1
            hunk.unended.add(len(hunk.printed) - 1)
        self._at = at
        return True

    def body(self) -> Iterator[bytes]:
        """Take the lines up to the next section."""
        while (line := self.peek()) is not None and not line.startswith((b"diff --git ", b"* Unmerged path")):
            self._at += 1
            yield line


def _fill(file: FilePatch, sections: _Sections) -> None:
    """Parse the hunks of a section; lines are counted, since any of them can look like a header."""
    for line in sections.body():
        header = _RANGE.fullmatch(line)
        if header is None:
            continue
        hunk = PatchHunk(
            old_start=int(header[1]),
            old_lines=int(header[2] or 1),
            new_start=int(header[3]),
            new_lines=int(header[4] or 1),
            section=header[5],
        )
        file.hunks.append(hunk)
        if not sections.read_hunk(hunk):
            file.whole = False
            return


def _mark_unfinished(files: list[FilePatch]) -> None:
    """Mark the last file with hunks, which can lack some when the patch was not read to its end."""
    for file in reversed(files):
        if file.hunks:
            file.whole = False
            return


def _merge_conflicts(files: list[FilePatch]) -> list[FilePatch]:
    """Keep one entry per path: git lists a path in conflict twice, for the conflict and for the change."""
    differing = {file.path for file in files if file.status != "unmerged"}
    return [file for file in files if file.status != "unmerged" or file.path not in differing]
