"""Which files differ between two states of git, with renames told as such."""

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
class Differing:
    """A file that differs; objects are None where there is no file, or where it lies in the work tree."""

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
        """What it was called."""
        return self.old_path or self.path


async def differing(
    reading: GitReader, base: GitState, target: GitState | WorkTree, paths: Sequence[str]
) -> list[Differing]:
    """The files that differ, in the order of their paths; of the work tree also those that git has not."""
    # Neither needs the other, and a process takes its time.
    changed, new = await asyncio.gather(
        _changed(reading, base, target, paths), _untracked(reading, base, target, paths)
    )
    found = {one.path: one for one in changed}
    for path in new:
        if path not in found or found[path].status == "deleted":
            found[path] = Differing(path=path, status="added", new_mode="100644", untracked=True)
    return [found[path] for path in sorted(found)]


async def _untracked(
    reading: GitReader, base: GitState, target: GitState | WorkTree, paths: Sequence[str]
) -> list[str]:
    """The files of the work tree that the state does not know and no rule of git's leaves out."""
    if isinstance(target, GitState):
        return []
    tracked = () if base.commit is not None else ("--cached",)
    done = await reading.run("ls-files", "-z", *tracked, "--others", "--exclude-standard", "--", *paths)
    # A folder is a repository of its own.
    return sorted({os.fsdecode(one) for one in done.records() if not one.endswith(b"/")})


async def _changed(
    reading: GitReader, base: GitState, target: GitState | WorkTree, paths: Sequence[str]
) -> list[Differing]:
    if base.commit is None:
        return []
    commits = [base.commit, *([target.commit] if isinstance(target, GitState) and target.commit else [])]
    done = await reading.run("diff", *_FORM, *commits, "--", *paths)
    return list(_parsed(done.records(), in_tree=isinstance(target, GitState)))


def with_renames(
    files: Sequence[Differing], old_text: Callable[[Differing], bytes], new_text: Callable[[Differing], bytes]
) -> list[Differing]:
    """The same with files that were moved without telling git joined: what is gone and what is new and alike."""
    gone = [one for one in files if one.status == "deleted" and one.old_mode not in (LINK, MODULE)]
    come = [one for one in files if one.untracked]
    if not gone or not come or len(gone) > _MOST_TRIED or len(come) > _MOST_TRIED:
        return list(files)
    lines = {one.path: Counter(old_text(one).split(b"\n")) for one in gone}
    others = {one.path: Counter(new_text(one).split(b"\n")) for one in come}
    ranked = sorted(
        (
            (score, one.path, other.path)
            for one in gone
            for other in come
            if _ending(one.path) == _ending(other.path)
            and (score := _likeness(lines[one.path], others[other.path])) >= _ALIKE
        ),
        key=lambda scored: (-scored[0], scored[1], scored[2]),
    )
    joined: dict[str, str] = {}
    taken: set[str] = set()
    for _, before, after in ranked:
        if before not in taken and after not in joined:
            joined[after] = before
            taken.add(before)
    by_path = {one.path: one for one in gone}
    return [_joined(one, by_path.get(joined.get(one.path, ""))) for one in files if one.path not in taken]


def _joined(one: Differing, before: Differing | None) -> Differing:
    if before is None:
        return one
    return replace(one, status="renamed", old_path=before.path, old_mode=before.old_mode, old_object=before.old_object)


def _parsed(records: Sequence[bytes], *, in_tree: bool) -> Iterable[Differing]:
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
        yield Differing(
            path=path,
            status="added" if copied else _STATUS.get(letter[0], "modified"),
            old_path=None if copied else old_path,
            old_mode=old_mode,
            new_mode=new_mode,
            old_object=before if before.strip("0") and not copied else None,
            new_object=after if after.strip("0") and (in_tree or new_mode == MODULE) else None,
        )


def _ending(path: str) -> str:
    return path.rpartition(".")[2] if "." in path.rpartition("/")[2] else ""


def _likeness(one: Counter[bytes], other: Counter[bytes]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total > 4 else float(one == other)
