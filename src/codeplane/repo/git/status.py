"""The `git.status` operation: what is staged, changed, untracked and in conflict."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.ids import digest
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.repo.git.conflict import Conflict, conflict
from codeplane.repo.git.opened import git_dir_of
from codeplane.repo.git.pages import Continued, Pages
from codeplane.repo.git.reading import Reading
from codeplane.repo.git.state import State, progress_in, state_in
from codeplane.repo.truth.paths import shown

WORDS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "typechange"}
_LETTERS = {word: letter for letter, word in WORDS.items()}
_PAGE = 500
_SUBMODULE = (("C", "new commits"), ("M", "modified content"), ("U", "untracked content"))


class StatusRequest(Continued):
    """Which paths."""

    paths: tuple[str, ...] = Field((), max_length=1000)


class Changed(Result):
    """A path that differs, and how; of a submodule, what in it does."""

    path: str
    status: str
    old_path: str | None = None
    submodule: str | None = None

    @property
    def letter(self) -> str:
        """How `git status --short` says it."""
        return _LETTERS.get(self.status, "?")


class StatusResult(Result):
    """How index and work tree differ from the last commit."""

    branch: str | None
    head_commit: str | None
    is_clean: bool
    staged: tuple[Changed, ...]
    modified: tuple[Changed, ...]
    untracked: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    state: State
    progress: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    total: int
    pagination: Pagination

    def text(self) -> str:
        head = f"{self.branch or 'detached'} at {self.head_commit[:9] if self.head_commit else 'no commit yet'}"
        if self.upstream:
            apart = f" +{self.ahead} -{self.behind}" if self.ahead is not None else " gone"
            head += f" ({self.upstream}{apart})"
        if self.state != "none":
            head += f", {self.state} in progress" + (f" ({self.progress})" if self.progress else "")
        if self.is_clean:
            return f"{head}, clean"
        listed = len(self.conflicts) + len(self._lines()) + len(self.untracked)
        cut = f"\n[{listed} of {self.total}]" if self.pagination.next_cursor else ""
        untracked = [f"?? {path}" for path in self.untracked]
        lines = [head, *(one.text() for one in self.conflicts), *self._lines(), *untracked]
        return "\n".join(lines) + cut + self.pagination.line()

    def _lines(self) -> list[str]:
        staged = {one.path: one for one in self.staged}
        modified = {one.path: one for one in self.modified}
        lines = []
        for path in dict.fromkeys([*staged, *modified]):
            index, tree = staged.get(path), modified.get(path)
            sides = [one for one in (index, tree) if one is not None]
            old = next((f"{one.old_path} -> " for one in sides if one.old_path), "")
            inner = next((f" ({one.submodule})" for one in sides if one.submodule), "")
            lines.append(f"{index.letter if index else ' '}{tree.letter if tree else ' '} {old}{path}{inner}")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One path of a status: what the index and the work tree say of it."""

    path: str
    index: str = "."
    tree: str = "."
    old_path: str | None = None
    submodule: str | None = None
    oids: dict[int, str] | None = None

    @property
    def is_untracked(self) -> bool:
        """Whether git knows nothing of it."""
        return self.tree == "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A whole status, as git gives it."""

    headers: dict[str, str]
    records: list[Record]
    digest: str

    @property
    def staged(self) -> int:
        """How many paths have something staged."""
        return sum(record.index != "." and record.oids is None and not record.is_untracked for record in self.records)


async def status(reading: Reading, paths: Sequence[str] = ()) -> Status:
    """The status of a work tree, or of some paths in it.

    By git and not libgit2: on a repository of 7,000 files git answers in 65 ms where libgit2 takes 90, and it alone
    knows clean filters, the sparse index, the untracked cache and sha256.
    """
    asked = ("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--find-renames", "--ahead-behind")
    found = await reading.run(*asked, "--", *paths)
    headers: dict[str, str] = {}
    records: list[Record] = []
    parts = iter(found.records())
    for part in parts:
        kind, _, rest = part.partition(b" ")
        if kind == b"#":
            name, _, value = os.fsdecode(rest).partition(" ")
            headers[name] = value
        elif kind == b"1":
            xy, sub, *_, path = rest.split(b" ", 7)
            records.append(_record(xy, sub, path))
        elif kind == b"2":
            xy, sub, *_, path = rest.split(b" ", 8)
            records.append(_record(xy, sub, path, old=next(parts)))
        elif kind == b"u":
            xy, sub, _, _, _, _, *oids, path = rest.split(b" ", 9)
            by_stage = {stage: oid.decode() for stage, oid in enumerate(oids, start=1) if oid.strip(b"0")}
            records.append(Record(path=os.fsdecode(path), index="U", tree="U", oids=by_stage))
        elif kind == b"?":
            records.append(Record(path=os.fsdecode(rest), tree="?"))
    return Status(headers=headers, records=records, digest=digest(found.out))


def _record(xy: bytes, sub: bytes, path: bytes, *, old: bytes | None = None) -> Record:
    inner = [word for letter, word in _SUBMODULE if letter in sub.decode()[1:]] if sub[:1] == b"S" else []
    return Record(
        path=os.fsdecode(path),
        index=chr(xy[0]),
        tree=chr(xy[1]),
        old_path=os.fsdecode(old) if old is not None else None,
        submodule=", ".join(inner) or None,
    )


class StatusOperations:
    """Answers `git.status`."""

    def __init__(self, *, reading: Reading, cursors: Cursors) -> None:
        self._reading = reading
        self._pages = Pages(cursors)

    @operation("git.status", risk=Risk.READ, toolset="core")
    async def status(self, call: Call, request: StatusRequest) -> StatusResult:
        """Branch, staged, modified, untracked and conflicting files as in `git status --short`, what merge or rebase is
        in progress, and ahead/behind."""
        paths = self._reading.pathspecs(request.paths)
        found = await status(self._reading, paths)
        if not found.records:
            await self._reading.refuse_unknown(paths)
        page = self._pages.page(call, request, found.records, limit=_PAGE, state=found.digest)
        return _result(self._reading, found, page.items, page.pagination)


def _result(reading: Reading, found: Status, page: Sequence[Record], pagination: Pagination) -> StatusResult:
    git_dir = git_dir_of(reading.root)
    headers = found.headers
    oid, branch, apart = headers.get("branch.oid"), headers.get("branch.head"), headers.get("branch.ab", "").split()
    upstream = headers.get("branch.upstream")
    known = [record for record in page if record.oids is None and not record.is_untracked]
    return StatusResult(
        branch=None if branch in (None, "(detached)") else shown(branch),
        head_commit=None if oid == "(initial)" else oid,
        is_clean=not found.records,
        staged=tuple(_changed(record, record.index) for record in known if record.index != "."),
        modified=tuple(_changed(record, record.tree) for record in known if record.tree != "."),
        untracked=tuple(shown(record.path) for record in page if record.is_untracked),
        conflicts=tuple(conflict(record.path, record.oids) for record in page if record.oids is not None),
        state=state_in(git_dir),
        progress=progress_in(git_dir),
        upstream=shown(upstream) if upstream else None,
        ahead=int(apart[0]) if apart else None,
        behind=-int(apart[1]) if apart else None,
        total=len(found.records),
        pagination=pagination,
    )


def _changed(record: Record, letter: str) -> Changed:
    old = record.old_path if letter in "RC" else None
    return Changed(
        path=shown(record.path),
        status=WORDS.get(letter, "modified"),
        old_path=shown(old) if old is not None else None,
        submodule=record.submodule,
    )
