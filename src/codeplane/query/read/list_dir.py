"""The `list_dir` operation: a folder's entries in the index."""

import difflib
import threading
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from codeplane.index.files.paths import canonical, path_text
from codeplane.index.snapshot import IndexedFile, LeftOut, Snapshot
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired, NotFound
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical as canonical_json
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.consistent_read import read_consistently
from codeplane.query.folders import Folder, folders_of
from codeplane.query.knowledge import Knowledge

_KEPT = 4
_ALL_THE_WAY = 1000
_NAMED = 50


class ListRequest(PageRequest, WorkspaceRequest):
    """Which folder, and how deep."""

    path: str = Field("", max_length=4096, description="a folder; the root without it")
    depth: int = Field(1, ge=1, le=5)
    skipped: bool = Field(False, description="say which files are not searched, and why")
    limit: int = Field(200, ge=1, le=1000)


class Entry(Result):
    """A folder with how many files are below it, or a file."""

    path: str
    is_dir: bool
    depth: int
    file_count: int | None = None
    size_bytes: int
    skipped: str | None = None

    def text(self) -> str:
        name = self.path.rpartition("/")[2]
        indent = "  " * self.depth
        if self.is_dir:
            return f"{indent}{name}/ {plural(self.file_count or 0, 'file')}, {_size(self.size_bytes)}"
        return f"{indent}{name} {_size(self.size_bytes)}" + (f" ({self.skipped})" if self.skipped else "")


class NotSearched(Result):
    """A file or folder that is not searched, and why."""

    path: str
    reason: str


class ListResult(Result):
    """A page of a folder's entries, folders first."""

    path: str
    entries: tuple[Entry, ...]
    total: int
    file_count: int
    size_bytes: int
    left_out: dict[str, int] | None = None
    not_searched: tuple[NotSearched, ...] = Field((), description="at most 50, on the first page; left_out counts all")
    pagination: Pagination
    epoch: int
    commit: str | None
    stale: tuple[str, ...] = ()

    def text(self) -> str:
        head = f"{self.path or '.'}/ {plural(self.file_count or 0, 'file')}, {_size(self.size_bytes)}"
        state = f"epoch {self.epoch} at {(self.commit or 'no commit')[:9]}"
        end = f"[{len(self.entries)} of {plural(self.total, 'entry')}, {state}]"
        if self.left_out:
            end += " not searched: " + ", ".join(f"{count:,} {why}" for why, count in sorted(self.left_out.items()))
        if self.stale:
            end += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}"
        return (
            "\n".join([head, *(entry.text() for entry in self.entries), end, *self._unsearched_lines()])
            + self.pagination.line()
        )

    def _unsearched_lines(self) -> list[str]:
        more = sum((self.left_out or {}).values()) - len(self.not_searched)
        named = [f"  {item.path} ({item.reason})" for item in self.not_searched]
        return [*named, f"  and {more:,} more; path=FOLDER names those below one"] if named and more else named


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """The entries of a folder, and the files to verify."""

    entries: list["tuple[int, Folder | IndexedFile]"]
    folder: Folder
    paths: tuple[str, ...]


class ListOperations:
    """Lists folders; all pages come from one snapshot."""

    def __init__(self, *, root: Path, knowledge: Knowledge, cursors: Cursors) -> None:
        self._root = root
        self._knowledge = knowledge
        self._cursors = cursors
        self._trees = BoundedCache[int, tuple[Snapshot, Folder]](_KEPT)
        self._growing = threading.Lock()

    @operation("list_dir", risk=Risk.READ)
    async def list_dir(self, call: Call, request: ListRequest) -> ListResult:
        """The folders and files in a folder, with counts and sizes; depth up to 5, paged. skipped=true names
        what is not searched at or below the folder, and says why."""
        path = canonical(request.path, root=self._root)
        asked = digest(canonical_json(request.model_dump(mode="json", exclude={"cursor", "limit"})))
        scope = f"list_dir:{call.task.session_id if call.task else ''}:{asked}"
        first, stale = 0, tuple[str, ...]()
        if request.cursor:
            state = self._cursors.open(request.cursor, scope=scope)
            first = int(str(state["first"]))
            held = self._trees.get(int(str(state["epoch"])))
            if held is None:
                raise CursorExpired("the state this cursor speaks of is no longer held")
            snapshot, look = held[0], self._look(held[0], path, request)
        else:
            read = await read_consistently(
                self._knowledge,
                lambda snapshot_read: self._look(snapshot_read, path, request),
                lambda look: look.paths,
                facts=False,
            )
            snapshot, look, stale = read.snapshot, read.answer, read.stale
        page = look.entries[first : first + request.limit]
        after = first + len(page)
        left_out = _unsearched_files(snapshot, look.folder) if request.skipped else {}
        cursor = None
        if after < len(look.entries):
            cursor = self._cursors.issue(scope=scope, state={"epoch": snapshot.epoch, "first": after})
        return ListResult(
            path=path_text(path),
            entries=tuple(_entry(depth, entry, request.skipped) for depth, entry in page),
            total=len(look.entries),
            file_count=look.folder.file_count,
            size_bytes=look.folder.size_bytes,
            left_out={reason: those.count for reason, those in left_out.items()} if request.skipped else None,
            not_searched=_first_of(left_out) if not request.cursor else (),
            pagination=Pagination(next_cursor=cursor, total_estimate=len(look.entries)),
            epoch=snapshot.epoch,
            commit=snapshot.commit,
            stale=stale,
        )

    def _look(self, snapshot: Snapshot, path: str, request: ListRequest) -> _Look:
        root = self._tree(snapshot)
        known = snapshot.files.get(path)
        if known is not None:
            alone = Folder(path.rpartition("/")[0], files=[known], file_count=1, size_bytes=known.stamp.size)
            return _Look(entries=[(1, known)], folder=alone, paths=(path,))
        folder = root.at(path)
        if folder is None:
            raise _ignored_error(path) if (self._root / path).is_dir() else _not_found(root, path)
        entries = list(folder.below(request.depth))
        files = [entry.path for _, entry in entries[: request.limit] if isinstance(entry, IndexedFile)]
        return _Look(entries=entries, folder=folder, paths=tuple(files))

    def _tree(self, snapshot: Snapshot) -> Folder:
        with self._growing:
            held = self._trees.get(snapshot.epoch)
            if held is None:
                held = (snapshot, folders_of(snapshot.files))
                self._trees.put(snapshot.epoch, held)
            return held[1]


def _entry(depth: int, entry: Folder | IndexedFile, skipped: bool) -> Entry:
    if isinstance(entry, Folder):
        return Entry(
            path=path_text(entry.path),
            is_dir=True,
            depth=depth,
            file_count=entry.file_count,
            size_bytes=entry.size_bytes,
        )
    why = entry.skipped if skipped else None
    return Entry(path=path_text(entry.path), is_dir=False, depth=depth, size_bytes=entry.stamp.size, skipped=why)


def _unsearched_files(snapshot: Snapshot, folder: Folder) -> dict[str, LeftOut]:
    """The unsearched files at or below a folder, by reason."""
    skipped: dict[str, list[str]] = {}
    for _, entry in folder.below(_ALL_THE_WAY):
        if isinstance(entry, IndexedFile) and entry.skipped is not None:
            skipped.setdefault(entry.skipped, []).append(entry.path)
    by_reason = {reason: LeftOut(count=len(paths), paths=tuple(paths)) for reason, paths in skipped.items()}
    for reason, those in snapshot.left_out.items():
        if not folder.path:
            by_reason[reason] = those
        # Of more than are kept nobody knows how many are below a folder.
        elif those.count == len(those.paths) and (
            below := tuple(path for path in those.paths if path.startswith(f"{folder.path}/"))
        ):
            by_reason[reason] = LeftOut(count=len(below), paths=below)
    return by_reason


def _first_of(left_out: dict[str, LeftOut]) -> tuple[NotSearched, ...]:
    """Some unsearched files, rarest reasons first."""
    rarest = sorted(left_out.items(), key=lambda pair: (pair[1].count, pair[0]))
    named = [
        NotSearched(path=path_text(path), reason=reason) for reason, those in rarest for path in those.paths[:_NAMED]
    ]
    return tuple(named[:_NAMED])


def _ignored_error(path: str) -> NotFound:
    hint = ".gitignore, .cplignore or the built-in rules (node_modules/, build/ …) leave it out, or it is empty"
    return NotFound(f"nothing in {path_text(path)!r} is indexed", hint=hint)


def _not_found(root: Folder, path: str) -> NotFound:
    folder, name = root, ""
    for name in path.split("/"):
        below = folder.folders.get(name)
        if below is None:
            break
        folder = below
    names = [*folder.folders, *(known.path.rpartition("/")[2] for known in folder.files)]
    near = difflib.get_close_matches(name, names, n=3)
    prefix = f"{folder.path}/" if folder.path else ""
    hint = (
        f"did you mean {' or '.join(path_text(prefix + neighbour) for neighbour in near)}?"
        if near
        else "list_dir lists the root"
    )
    return NotFound(f"no folder {path_text(path)!r} is indexed", hint=hint)


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
