"""One page of a diff: typed, and as plain unified diff text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.patch import FilePatch, Origin, PatchHunk, PatchLine
from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

MAX_BYTES = 16 * 1024
MAX_FILES = 500
MAX_LINE = 4000
_ABSENT = "000000"

FileStatus = Literal["added", "modified", "deleted", "renamed", "copied", "typechange", "unmerged"]


class Line(Result):
    """A line that was added, removed or is there for context."""

    origin: Origin
    content: str
    old_lineno: int | None = None
    new_lineno: int | None = None
    no_newline: bool = False

    def text(self) -> str:
        end = "\n\\ No newline at end of file" if self.no_newline else ""
        return f"{self.origin}{self.content}{end}"


class Hunk(Result):
    """Lines that changed together."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    header: str
    lines: tuple[Line, ...]

    def text(self) -> str:
        return "\n".join([self.header, *(line.text() for line in self.lines)])


class DiffFile(Result):
    """A file that differs; `note` says why hunks are missing."""

    path: str
    status: FileStatus
    old_path: str | None = None
    old_mode: str | None = None
    new_mode: str | None = None
    similarity: int | None = None
    binary: bool
    insertions: int
    deletions: int
    hunks: tuple[Hunk, ...] = ()
    note: str | None = None

    def text(self) -> str:
        old = self.old_path or self.path
        lines = self._heads(old)
        if self.hunks:
            lines += [
                f"--- {'/dev/null' if self.status == 'added' else f'a/{old}'}",
                f"+++ {'/dev/null' if self.status == 'deleted' else f'b/{self.path}'}",
                *(hunk.text() for hunk in self.hunks),
            ]
        elif self.binary:
            lines.append(f"Binary files a/{old} and b/{self.path} differ")
        if self.note:
            lines.append(f"[{self.path}: {self.note}]")
        return "\n".join(lines)

    def stat(self) -> str:
        """The file in one line."""
        name = f"{self.old_path} -> {self.path}" if self.old_path else self.path
        size = "binary" if self.binary else f"+{self.insertions} -{self.deletions}"
        mode = f" mode {self.old_mode}->{self.new_mode}" if self.old_mode and self.new_mode else ""
        return f"{self.status[0].upper()} {name} {size}{mode}"

    def _heads(self, old: str) -> list[str]:
        """Return the extended header lines; a plain change of content needs none."""
        if self.status == "added":
            lines = [f"new file mode {self.new_mode}"]
        elif self.status == "deleted":
            lines = [f"deleted file mode {self.old_mode}"]
        else:
            lines = [f"old mode {self.old_mode}", f"new mode {self.new_mode}"] if self.old_mode else []
        if self.status in ("renamed", "copied"):
            word = "rename" if self.status == "renamed" else "copy"
            lines += [f"similarity index {self.similarity}%", f"{word} from {old}", f"{word} to {self.path}"]
        if self.status == "unmerged":
            return [f"* Unmerged path {self.path}"]
        return [f"diff --git a/{old} b/{self.path}", *lines] if lines or not self.hunks else []


class Stats(Result):
    """The whole difference in numbers, whatever of it is on this page."""

    files_changed: int
    insertions: int
    deletions: int

    def text(self) -> str:
        return f"{plural(self.files_changed, 'file')} +{self.insertions} -{self.deletions}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPage:
    """The files of one page, and the file and line where the next page starts."""

    files: tuple[DiffFile, ...]
    next: dict[str, int] | None


def diff_stats(files: Sequence[FilePatch]) -> Stats:
    """Count the files and lines of a diff."""
    return Stats(
        files_changed=len(files),
        insertions=sum(file.insertions for file in files),
        deletions=sum(file.deletions for file in files),
    )


def diff_page(files: Sequence[FilePatch], hidden_paths: HiddenPaths, *, at: dict[str, int] | None) -> DiffPage:
    """Take the files from `at` on that fit on a page; a file that does not fit continues on the next page."""
    first, line = (at["file"], at["line"]) if at else (0, 0)
    left = MAX_BYTES
    chosen: list[DiffFile] = []
    for number in range(first, len(files)):
        file = files[number]
        if hidden_paths.covers(file.path) or (file.old_path is not None and hidden_paths.covers(file.old_path)):
            chosen.append(_file(file, [], "content left out by the rules for secrets or by .cplignore"))
        else:
            hunks, taken, left = _fitting_hunks(file.hunks, line, left - 2 * len(file.path) - 40)
            rest = sum(len(hunk.printed) for hunk in file.hunks) - line - taken
            if rest and not taken and chosen:
                return DiffPage(files=tuple(chosen), next={"file": number, "line": line})
            chosen.append(_file(file, hunks, _note(file, hunks, line, rest)))
            if rest:
                return DiffPage(files=tuple(chosen), next={"file": number, "line": line + taken})
        line = 0
        if (left <= 0 or len(chosen) == MAX_FILES) and number + 1 < len(files):
            return DiffPage(files=tuple(chosen), next={"file": number + 1, "line": 0})
    return DiffPage(files=tuple(chosen), next=None)


def _note(file: FilePatch, hunks: Sequence[Hunk], line: int, rest: int) -> str | None:
    notes = []
    if line:
        notes.append("continued")
    if rest:
        notes.append(f"{plural(rest, 'more line')} on the next page")
    elif not file.whole:
        notes.append("the difference is too large to be read to here; ask with this path alone in paths")
    if any(len(shown_line.content) > MAX_LINE for hunk in hunks for shown_line in hunk.lines):
        notes.append(f"lines are cut at {MAX_LINE} bytes")
    return ", ".join(notes) or None


def _fitting_hunks(hunks: Sequence[PatchHunk], skip: int, left: int) -> tuple[list[Hunk], int, int]:
    """Return the hunks that fit after `skip` lines, how many lines they have, and the bytes left."""
    chosen: list[Hunk] = []
    taken = 0
    for hunk in hunks:
        size = len(hunk.printed)
        if skip >= size:
            skip -= size
            continue
        lines: list[PatchLine] = []
        every = hunk.lines
        for line in every[skip:]:
            cost = min(len(line.content), MAX_LINE) + 2
            # At least one line, or the next page would start at the same line.
            if cost > left and (taken or lines):
                break
            left -= cost
            lines.append(line)
        if lines:
            chosen.append(_hunk(hunk, every[:skip], lines))
            taken += len(lines)
        if skip + len(lines) < size:
            break
        skip = 0
    return chosen, taken, left


def _hunk(hunk: PatchHunk, before: Sequence[PatchLine], lines: Sequence[PatchLine]) -> Hunk:
    """Return a hunk with only `lines`, and ranges that fit them."""
    old_start = hunk.old_start + sum(line.origin != "+" for line in before)
    new_start = hunk.new_start + sum(line.origin != "-" for line in before)
    old_lines = sum(line.origin != "+" for line in lines)
    new_lines = sum(line.origin != "-" for line in lines)
    # An empty range names the line before it.
    old_start -= bool(hunk.old_lines and not old_lines)
    new_start -= bool(hunk.new_lines and not new_lines)
    ranges = f"@@ -{_range(old_start, old_lines)} +{_range(new_start, new_lines)} @@"
    return Hunk(
        old_start=old_start,
        old_lines=old_lines,
        new_start=new_start,
        new_lines=new_lines,
        header=ranges + hunk.section.decode("utf-8", "backslashreplace"),
        lines=tuple(_line(line) for line in lines),
    )


def _range(start: int, count: int) -> str:
    return f"{start}" if count == 1 else f"{start},{count}"


def _line(line: PatchLine) -> Line:
    content = line.content
    if len(content) > MAX_LINE:
        content = content[:MAX_LINE] + f"… {len(content) - MAX_LINE} bytes more".encode()
    return Line.model_construct(
        origin=line.origin,
        content=content.decode("utf-8", "backslashreplace"),
        old_lineno=line.old_lineno,
        new_lineno=line.new_lineno,
        no_newline=not line.ended,
    )


def _file(file: FilePatch, hunks: Sequence[Hunk], note: str | None) -> DiffFile:
    moded = file.old_mode != file.new_mode
    return DiffFile.model_validate(
        {
            "path": path_text(file.path),
            "status": file.status,
            "old_path": path_text(file.old_path) if file.old_path is not None else None,
            "old_mode": file.old_mode if moded and file.old_mode != _ABSENT else None,
            "new_mode": file.new_mode if moded and file.new_mode != _ABSENT else None,
            "similarity": file.similarity,
            "binary": file.binary,
            "insertions": file.insertions,
            "deletions": file.deletions,
            "hunks": tuple(hunks),
            "note": note,
        }
    )
