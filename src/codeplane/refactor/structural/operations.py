"""The `search.structural` operation: code by its shape."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import ARE, plural
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.consistent_read import ConsistentRead, read_consistently
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.scope import Keep, scope
from codeplane.refactor.structural.pattern import MAX_PATTERN, StructuralPattern, parse_pattern
from codeplane.refactor.structural.search import FileMatches, Match, SearchCoverage, Stop, search_files

_MAX_MATCHES = 2000
_SECONDS = 10.0
_KEPT_LISTS = 16
_MAX_TEXT = 300
_MAX_CAPTURE = 100


class StructuralRequest(PageRequest, WorkspaceRequest):
    """A pattern, and where to look for it."""

    pattern: str = Field(
        min_length=1, max_length=MAX_PATTERN, description="code with $NAME for one piece, $$$NAME for any number"
    )
    language: str = Field(min_length=1, max_length=100, description="such as python; what the pattern is written in")
    paths: tuple[str, ...] = Field((), description="globs or folders to look in", max_length=100)


class StructuralHit(Result):
    """A match: lines and columns from 1, columns in characters."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    captures: dict[str, str]

    def line_of_text(self) -> str:
        """The hit as it is read, without its path."""
        taken = "  ".join(f"{name}={' '.join(text.split())}" for name, text in self.captures.items())
        first, _, more = self.code.partition("\n")
        return f"{self.line}:{self.column}: {first.rstrip()}{' …' if more else ''}" + (f"  [{taken}]" if taken else "")


class StructuralResult(Result):
    """Matches, and what was not looked at."""

    results: tuple[StructuralHit, ...]
    pagination: Pagination
    total: int
    total_is_exact: bool
    files: int
    epoch: int
    commit: str | None
    partial: str | None = None
    stale: tuple[str, ...] = ()

    def text(self) -> str:
        lines: list[str] = []
        path = None
        for hit in self.results:
            if hit.path != path:
                lines.append(hit.path)
                path = hit.path
            lines.append(hit.line_of_text())
        more = "" if self.total_is_exact else "+"
        summary = (
            f"{len(self.results)} of {plural(self.total, 'match', more)} in {plural(self.files, 'file')}"
            if self.total
            else "no match"
        )
        lines.append(f"[{summary}, epoch {self.epoch} at {(self.commit or 'no commit')[:9]}]")
        lines[-1] += f" {self.partial}" if self.partial else ""
        lines[-1] += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}" if self.stale else ""
        return "\n".join(lines) + self.pagination.line()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hits:
    hits: tuple[StructuralHit, ...]
    paths: frozenset[str]
    partial: str
    truncated: bool


class StructuralOperations:
    """Finds code by patterns over the published state of the repository."""

    def __init__(self, *, root: Path, knowledge: Knowledge, cursors: Cursors) -> None:
        self._root = root
        self._knowledge = knowledge
        self._cursors = cursors
        self._lists = BoundedCache[tuple[int, str], ConsistentRead[_Hits]](_KEPT_LISTS)

    @operation("search.structural", risk=Risk.READ)
    async def structural(self, call: Call, request: StructuralRequest) -> StructuralResult:
        """Find code by its shape, whatever its spacing: pattern `foo($A, $$$REST)` in a language.

        $NAME is one piece of syntax (the same name, the same text), $$$NAME any number, $_ one nobody asks for.
        """
        words = digest(canonical(request.model_dump(mode="json", exclude={"cursor", "limit"})))
        place = f"search.structural:{call.task.session_id if call.task else ''}:{words}"
        first = 0
        if request.cursor is not None:
            state = self._cursors.open(request.cursor, scope=place)
            first, epoch = int(str(state["first"])), int(str(state["epoch"]))
            stored = self._lists.get((epoch, place))
            if stored is None:
                raise CursorExpired("what this cursor speaks of is no longer held", hint="ask again without it")
            found = stored
        else:
            found = await self._search(request)
        hits = found.answer.hits[first : first + request.limit]
        cursor = None
        if first + len(hits) < len(found.answer.hits):
            epoch = found.snapshot.epoch
            self._lists.put((epoch, place), found)
            cursor = self._cursors.issue(scope=place, state={"first": first + len(hits), "epoch": epoch})
        total = len(found.answer.hits)
        return StructuralResult(
            results=hits,
            pagination=Pagination(next_cursor=cursor, total_estimate=total),
            total=total,
            total_is_exact=not found.answer.truncated,
            files=len(found.answer.paths),
            epoch=found.snapshot.epoch,
            commit=found.snapshot.commit,
            partial=found.answer.partial or None,
            stale=found.stale,
        )

    async def _search(self, request: StructuralRequest) -> ConsistentRead[_Hits]:
        pattern = parse_pattern(request.pattern, request.language)
        keep = scope(request.paths, (), "include", self._root)
        stopped = threading.Event()
        try:
            return await read_consistently(
                self._knowledge,
                lambda snapshot: _collect_hits(snapshot, pattern, keep, stopped.is_set),
                lambda hits: hits.paths,
                facts=False,
            )
        finally:
            # A cancelled caller no longer waits, but the thread would go on.
            stopped.set()


def _collect_hits(snapshot: Snapshot, pattern: StructuralPattern, keep: Keep | None, stop: Stop) -> _Hits:
    looked, hits, paths = SearchCoverage(), list[StructuralHit](), set[str]()
    deadline = time.monotonic() + _SECONDS
    for file in search_files(snapshot, pattern, looked, keep=keep, deadline=deadline, most=_MAX_MATCHES, stop=stop):
        paths.add(file.path)
        hits += [_hit(file, match) for match in file.matches]
    notes = [looked.truncated] if looked.truncated else []
    if looked.unread:
        notes.append(f"{plural(len(looked.unread), 'file', verbs=ARE)} too large or not UTF-8")
    if looked.broken:
        broken = plural(len(looked.broken), "file", verbs=("does", "do"))
        notes.append(f"{broken} not parse as a whole: {', '.join(map(path_text, looked.broken[:3]))}")
    if pattern.left_out:
        notes.append(f"the pattern does not parse as {', '.join(pattern.left_out)}")
    if keep is not None and not any(map(keep, snapshot.files)):
        notes.append("no file matches paths")
    return _Hits(hits=tuple(hits), paths=frozenset(paths), partial="; ".join(notes), truncated=bool(looked.truncated))


def _hit(file: FileMatches, match: Match) -> StructuralHit:
    line, column = _place(file.text, match.start)
    end_line, end_column = _place(file.text, match.end)
    return StructuralHit(
        path=path_text(file.path),
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        code=_cut(file.text[match.start : match.end], _MAX_TEXT),
        captures={
            name: _cut(file.text[captured.start : captured.end], _MAX_CAPTURE)
            for name, captured in match.captures.items()
        },
    )


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
