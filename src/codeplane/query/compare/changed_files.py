"""The changed files between two states of git, with renames detected."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from codeplane.git.read.reader import GitReader
from codeplane.query.compare.states import GitState, WorkTree

Status = Literal["added", "modified", "deleted", "renamed"]
LINK, MODULE = "120000", "160000"
_FORM = (
    *("--raw", "-z", "--no-abbrev", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative"),
    *("--submodule=short", "-O/dev/null"),
)
_STATUS: dict[str, Status] = {"A": "added", "D": "deleted", "R": "renamed"}
_MOST_TRIED = 100
_ALIKE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A changed file; an object is None without a file or in the work tree."""

    path: str
    status: Status
    old_path: str | None = None
    old_mode: str = ""
    new_mode: str = ""
    old_object: str | None = None
    new_object: str | None = None
    untracked: bool = False

    @property
    def before(self) -> str:
        """Its old path."""
        return self.old_path or self.path


async def list_changed_files(
    reading: GitReader, base: GitState, target: GitState | WorkTree, paths: Sequence[str]
) -> list[ChangedFile]:
    """List changed files, ordered by path; of the work tree also untracked ones."""
    # Neither needs the other, and a process takes its time.
    changed, new = await asyncio.gather(
        _list_changes(reading, base, target, paths), _list_untracked(reading, base, target, paths)
    )
    files = {file.path: file for file in changed}
    for path in new:
        if path not in files or files[path].status == "deleted":
            files[path] = ChangedFile(path=path, status="added", new_mode="100644", untracked=True)
    return [files[path] for path in sorted(files)]


async def _list_untracked(
    reading: GitReader, base: GitState, target: GitState | WorkTree, paths: Sequence[str]
) -> list[str]:
    """Untracked files of the work tree that git does not ignore."""
    if isinstance(target, GitState):
        return []
    tracked = () if base.commit is not None else ("--cached",)
    done = await reading.run("ls-files", "-z", *tracked, "--others", "--exclude-standard", "--", *paths)
    # A folder is a repository of its own.
    return sorted({os.fsdecode(record) for record in done.records() if not record.endswith(b"/")})


async def _list_changes(
    reading: GitReader, base: GitState, target: GitState | WorkTree, paths: Sequence[str]
) -> list[ChangedFile]:
    if base.commit is None:
        return []
    commits = [base.commit, *([target.commit] if isinstance(target, GitState) and target.commit else [])]
    done = await reading.run("diff", *_FORM, *commits, "--", *paths)
    return list(_parse_records(done.records(), in_tree=isinstance(target, GitState)))


def join_renames(
    files: Sequence[ChangedFile], old_text: Callable[[ChangedFile], bytes], new_text: Callable[[ChangedFile], bytes]
) -> list[ChangedFile]:
    """Join deleted and untracked files of similar content as renames."""
    gone = [file for file in files if file.status == "deleted" and file.old_mode not in (LINK, MODULE)]
    come = [file for file in files if file.untracked]
    if not gone or not come or len(gone) > _MOST_TRIED or len(come) > _MOST_TRIED:
        return list(files)
    lines = {file.path: Counter(old_text(file).split(b"\n")) for file in gone}
    others = {file.path: Counter(new_text(file).split(b"\n")) for file in come}
    ranked = sorted(
        (
            (score, file.path, other.path)
            for file in gone
            for other in come
            if _file_extension(file.path) == _file_extension(other.path)
            and (score := _likeness(lines[file.path], others[other.path])) >= _ALIKE
        ),
        key=lambda scored: (-scored[0], scored[1], scored[2]),
    )
    joined: dict[str, str] = {}
    taken: set[str] = set()
    for _, before, after in ranked:
        if before not in taken and after not in joined:
            joined[after] = before
            taken.add(before)
    by_path = {file.path: file for file in gone}
    return [_join_changes(file, by_path.get(joined.get(file.path, ""))) for file in files if file.path not in taken]


def _join_changes(file: ChangedFile, before: ChangedFile | None) -> ChangedFile:
    if before is None:
        return file
    return replace(file, status="renamed", old_path=before.path, old_mode=before.old_mode, old_object=before.old_object)


def _parse_records(records: Sequence[bytes], *, in_tree: bool) -> Iterable[ChangedFile]:
    items = iter(records)
    unmerged: set[str] = set()
    for item in items:
        old_mode, new_mode, before, after, letter = item[1:].decode().split(" ")
        path = os.fsdecode(next(items))
        old_path = None
        if letter[0] in "RC":
            old_path, path = path, os.fsdecode(next(items))
        if letter[0] == "U":
            if path in unmerged:
                continue
            unmerged.add(path)
        copied = letter[0] == "C"
        yield ChangedFile(
            path=path,
            status="added" if copied else _STATUS.get(letter[0], "modified"),
            old_path=None if copied else old_path,
            old_mode=old_mode,
            new_mode=new_mode,
            old_object=before if before.strip("0") and not copied else None,
            new_object=after if after.strip("0") and (in_tree or new_mode == MODULE) else None,
        )


def _file_extension(path: str) -> str:
    return path.rpartition(".")[2] if "." in path.rpartition("/")[2] else ""


def _likeness(lines: Counter[bytes], other_lines: Counter[bytes]) -> float:
    total = lines.total() + other_lines.total()
    return 2 * (lines & other_lines).total() / total if total > 4 else float(lines == other_lines)
