"""The `search` operation."""

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Literal as OneOf

from pathspec import GitIgnoreSpec
from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired, InvalidArgument
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.query.pattern import MAX_PATTERN, Literal, Pattern, Regex, literal_ignoring_case, looks_like_regex
from codeplane.repo.query.scan import Line, Page, scan
from codeplane.repo.truth.freshness import Fresh
from codeplane.repo.truth.ignore import as_text, is_pattern
from codeplane.repo.truth.paths import canonical as canonical_path
from codeplane.repo.truth.paths import shown

_COUNT_SEC = 0.02
_SCAN_SEC = 10.0
_MAX_LINE = 300
_KEPT_SNAPSHOTS = 8

Mode = OneOf["auto", "literal", "regex"]


class SearchRequest(PageRequest):
    """What to look for, and where."""

    query: str = Field(min_length=1, max_length=MAX_PATTERN)
    mode: Mode = Field("auto", description="auto picks by the query's shape")
    paths: tuple[str, ...] = Field((), description="globs or folders to look in", max_length=100)
    ignore_case: bool = False
    context: int = Field(0, ge=0, le=10, description="lines before and after")
    fresh: OneOf["default", "strict"] = Field("default", description="strict walks the disk first")


class Hit(Result):
    """One matching line."""

    path: str
    line: int
    column: int
    snippet: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    score: float = 1.0
    match_type: OneOf["exact"] = "exact"


class SearchResult(Result):
    """Matching lines in the order of paths, and what the answer speaks of."""

    mode: OneOf["literal", "regex"]
    results: tuple[Hit, ...]
    pagination: Pagination
    total: int
    total_is_exact: bool
    files: int
    epoch: int
    commit: str | None
    verified_sec_ago: float
    stale: tuple[str, ...] = ()
    query_time_ms: float

    def text(self) -> str:
        lines: list[str] = []
        path = None
        for hit in self.results:
            if hit.path != path:
                lines.append(hit.path)
                path = hit.path
            lines += [f"{hit.line - len(hit.before) + index}- {text}" for index, text in enumerate(hit.before)]
            lines.append(f"{hit.line}: {hit.snippet}")
            lines += [f"{hit.line + 1 + index}- {text}" for index, text in enumerate(hit.after)]
        return "\n".join([*lines, self._summary()]) + self.pagination.line()

    def _summary(self) -> str:
        shown, more = len(self.results), "" if self.total_is_exact else "+"
        state = f"epoch {self.epoch} at {(self.commit or 'no commit')[:9]}"
        said = f"[{shown} of {self.total}{more} lines in {self.files}{more} files, {self.mode}, {state}]"
        if not self.results and self.total == 0:
            said = f"[nothing found, {self.mode}, {state}]"
        if self.stale:
            said += f" STALE: changed while searching: {', '.join(self.stale[:5])}"
        return said


class SearchOperations:
    """Search over the published state of the repository."""

    def __init__(self, *, root: Path, fresh: Callable[[], Awaitable[Fresh]], cursors: Cursors) -> None:
        self._root = root
        self._fresh_when_ready = fresh
        self._cursors = cursors
        self._snapshots: OrderedDict[int, Snapshot] = OrderedDict()

    @operation("search", risk=Risk.READ, toolset="core")
    async def search(self, call: Call, request: SearchRequest) -> SearchResult:
        """Find lines: text as it stands (literal) or a regular expression (regex, RE2), like ripgrep but indexed.

        auto picks by the query's shape and says which it took. Results are ordered by path; page with cursor.
        """
        started = time.monotonic()
        fresh = await self._fresh_when_ready()
        mode = request.mode if request.mode != "auto" else "regex" if looks_like_regex(request.query) else "literal"
        pattern = _pattern(request, mode)
        keep = _PathFilter(request.paths, self._root) if request.paths else None
        scope = f"search:{call.task.session_id if call.task else ''}:{_asked(request)}"
        after: tuple[str, int] | None = None
        stale: tuple[str, ...] = ()
        counted = 0
        if request.cursor:
            snapshot, after, counted = self._resume(request.cursor, scope)
            page = await self._scan(snapshot, pattern, request, keep, after)
        else:
            snapshot, page, stale = await self._scan_fresh(fresh, pattern, request, keep)
        if keep is not None and not page.lines and not any(map(keep, snapshot.files)):
            call.warn(f"no file matches paths={list(request.paths)}")
        following = None
        if page.seen > len(page.lines):
            last = page.lines[-1]
            self._keep(snapshot)
            following = self._cursors.issue(
                scope=scope,
                state={
                    "epoch": snapshot.epoch,
                    "path": os.fsencode(last.known.path).decode("latin-1"),
                    "line": last.number,
                    "seen": counted + len(page.lines),
                },
            )
        freshness = fresh.of(snapshot, stale)
        return SearchResult(
            mode=mode,
            results=await asyncio.to_thread(_hits, snapshot, page.lines, request.context),
            pagination=Pagination(next_cursor=following, total_estimate=counted + page.seen),
            total=counted + page.seen,
            total_is_exact=page.complete,
            files=page.files,
            epoch=snapshot.epoch,
            commit=snapshot.commit,
            verified_sec_ago=freshness.verified_sec_ago,
            stale=freshness.stale,
            query_time_ms=round((time.monotonic() - started) * 1000, 2),
        )

    async def _scan_fresh(
        self, fresh: Fresh, pattern: Pattern, request: SearchRequest, keep: "_PathFilter | None"
    ) -> tuple[Snapshot, Page, tuple[str, ...]]:
        """Search, look whether the files found are still as they were, and search again if not."""
        snapshot = await fresh.snapshot(strict=request.fresh == "strict")
        for _ in range(fresh.looks):
            page = await self._scan(snapshot, pattern, request, keep, None)
            paths = {line.known.path for line in page.lines}
            newer = await fresh.recheck(snapshot, paths)
            if newer is None:
                return snapshot, page, ()
            snapshot = newer
        return snapshot, page, tuple(sorted(map(shown, paths)))

    @staticmethod
    async def _scan(
        snapshot: Snapshot,
        pattern: Pattern,
        request: SearchRequest,
        keep: "_PathFilter | None",
        after: tuple[str, int] | None,
    ) -> Page:
        deadline = time.monotonic() + _SCAN_SEC
        return await asyncio.to_thread(
            scan,
            snapshot,
            pattern,
            keep=keep,
            after=after,
            limit=request.limit,
            count_for_sec=_COUNT_SEC,
            deadline=deadline,
        )

    def _keep(self, snapshot: Snapshot) -> None:
        self._snapshots[snapshot.epoch] = snapshot
        self._snapshots.move_to_end(snapshot.epoch)
        while len(self._snapshots) > _KEPT_SNAPSHOTS:
            self._snapshots.popitem(last=False)

    def _resume(self, cursor: str, scope: str) -> tuple[Snapshot, tuple[str, int], int]:
        state = self._cursors.open(cursor, scope=scope)
        snapshot = self._snapshots.get(int(str(state["epoch"])))
        if snapshot is None:
            raise CursorExpired("the state this cursor speaks of is no longer held")
        return (
            snapshot,
            (os.fsdecode(str(state["path"]).encode("latin-1")), int(str(state["line"]))),
            int(str(state["seen"])),
        )


def _pattern(request: SearchRequest, mode: str) -> Pattern:
    if mode == "regex":
        return Regex(request.query, ignore_case=request.ignore_case)
    return literal_ignoring_case(request.query) if request.ignore_case else Literal(request.query)


def _asked(request: SearchRequest) -> str:
    return digest(canonical(request.model_dump(mode="json", exclude={"cursor", "limit", "context", "fresh"})))


class _PathFilter:
    """Globs with git's meaning; a folder's name is everything below it. Asked once a file, remembered."""

    def __init__(self, globs: tuple[str, ...], root: Path) -> None:
        for glob in globs:
            if not is_pattern(_anchored(glob, root)):
                raise InvalidArgument(f"{glob!r} is not a path or glob", hint="write for example src or src/**/*.py")
        self._spec = GitIgnoreSpec.from_lines([_anchored(glob, root) for glob in globs])
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._spec.match_file(as_text(path))
        return found


def _anchored(glob: str, root: Path) -> str:
    """A glob as git reads it: a plain name or one with folders counts from the root, `*.py` counts anywhere."""
    plain = canonical_path(glob, root=root)
    return f"/{plain}" if "/" in plain or not any(char in plain for char in "*?[") else plain


def _hits(snapshot: Snapshot, lines: Iterable[Line], context: int) -> tuple[Hit, ...]:
    return tuple(_hit(snapshot, line, context) for line in lines)


def _hit(snapshot: Snapshot, line: Line, context: int) -> Hit:
    raw = bytes(snapshot.content[line.start : line.end])
    start, _ = line.spans[0]
    window = max(0, start - _MAX_LINE // 2) if len(raw) > _MAX_LINE else 0
    snippet = _decode(raw[window : window + _MAX_LINE])
    if len(raw) > _MAX_LINE:
        snippet = f"…{snippet}…"
    before, after = _around(snapshot, line, context)
    return Hit(
        path=shown(line.known.path),
        line=line.number,
        column=len(_decode(raw[:start])) + 1,
        snippet=snippet,
        spans=tuple((a - window, b - window) for a, b in line.spans if a >= window and b <= window + _MAX_LINE),
        before=before,
        after=after,
    )


def _around(snapshot: Snapshot, line: Line, context: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    content, known = snapshot.content, line.known
    before: list[str] = []
    at = line.start
    while len(before) < context and at > known.offset:
        start = content.rfind(b"\n", known.offset, at - 1) + 1 or known.offset
        before.insert(0, _decode(bytes(content[start : min(at - 1, start + _MAX_LINE)])))
        at = start
    after: list[str] = []
    at, last = line.end + 1, known.offset + known.length
    while len(after) < context and at < last:
        end = content.find(b"\n", at, last)
        end = last if end < 0 else end
        after.append(_decode(bytes(content[at : min(end, at + _MAX_LINE)])))
        at = end + 1
    return tuple(before), tuple(after)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").rstrip("\r")
