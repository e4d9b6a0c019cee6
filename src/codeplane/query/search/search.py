"""The `search` operation: lines, symbols and references, one mode each."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from codeplane.code.resolve.world import World
from codeplane.disk.short_work import ShortWork
from codeplane.index.files.paths import path_text
from codeplane.index.freshness import SnapshotSource
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import ParseBacklog
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired, InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.trace import span
from codeplane.query.knowledge import Knowledge
from codeplane.query.near_names import near_names
from codeplane.query.search.advice import on_kinds, on_mode, on_path, on_undefined, on_unknown
from codeplane.query.search.exact_search import Line, Page, scan
from codeplane.query.search.hit import Hit, SearchResult, line_hit
from codeplane.query.search.matches import MatchList
from codeplane.query.search.name_table import NameTable
from codeplane.query.search.past_changes import LATE, NO_CHANGES, PastChanges, PastChangesReader
from codeplane.query.search.pattern import Pattern
from codeplane.query.search.ranked_search import search_hybrid, search_ranked
from codeplane.query.search.references import find_references
from codeplane.query.search.scope import Keep, scope
from codeplane.query.search.search_mode import choose_mode, fallback_modes
from codeplane.query.search.search_request import (
    SearchRequest,
    StreamRequest,
    describe_scope,
    pattern_of,
    request_digest,
)
from codeplane.query.search.semantic_search import search_semantic
from codeplane.query.search.symbols import definitions, symbols

_COUNT_SEC = 0.01
_SCAN_SEC = 10.0
_KEPT_SNAPSHOTS = 8
_KEPT_LISTS = 16
_HELD = frozenset({"ranked", "semantic", "hybrid", "references"})
_STREAMED = 100
_FED_SEC = 5.0
_NOT_FED = "PARTIAL: the newest changes are not in the full text yet"
_OF_WORDS = frozenset({"ranked", "hybrid"})
_BEST_FIRST = frozenset({"ranked", "hybrid", "semantic"})
_FEW = 10
_OF_SYMBOLS = frozenset({"definitions", "references", "symbol"})
_OF_NAMES = frozenset({"definitions", "references"})
# In a repository of this size these modes take no longer than a switch of threads.
_SHORT = frozenset({"literal", "definitions", "symbol", "ranked"})
_SHORT_FILES, _SHORT_BYTES = 2000, 8 * 1024 * 1024


class SearchOperations:
    """Search over the published state of the repository."""

    def __init__(self, *, root: Path, knowledge: Knowledge, cursors: Cursors, history: PastChangesReader) -> None:
        self._root = root
        self._knowledge = knowledge
        self._cursors = cursors
        self._history = history
        self._short = ShortWork(root)
        self._snapshots = BoundedCache[int, Snapshot](_KEPT_SNAPSHOTS)
        self._names: NameTable | None = None
        self._lists = BoundedCache[tuple[int, str], tuple[MatchList, ParseBacklog]](_KEPT_LISTS)

    @operation("search", risk=Risk.READ, toolset="core")
    async def search(self, call: Call, request: SearchRequest) -> SearchResult:
        """Find lines by text (literal) or RE2 regex, like ripgrep but indexed; files by a question or issue text
        (ranked: by words, best; semantic, hybrid: where words fail); definitions of a name (also Class.method,
        path:line), references to one (by certainty), symbol (parts of names).

        auto is literal or regex by the query's shape, ranks texts and whatever no line holds, and says what it took.
        """
        started = time.monotonic()
        with span("index.wait"):
            fresh = await self._knowledge.fresh()
        mode = choose_mode(call, request)
        keep = scope(request.paths, request.languages, request.tests, self._root)
        place = f"search:{call.task.session_id if call.task else ''}:{request_digest(request)}"
        resumed = self._resume(request.cursor, place) if request.cursor else None
        if resumed is not None:
            # What auto picked for the first page holds for all of them.
            mode = str(resumed[1]["mode"])
        asked = _Asked(request=request, mode=mode, keep=keep, scope=place, resumed=resumed)
        answer = await (self._exact if mode in ("literal", "regex") else self._list_page)(fresh, asked)
        if request.mode == "auto" and not answer.total:
            asked, answer = await self._otherwise(call, fresh, asked, answer)
        if resumed is None and (note := on_kinds(asked.mode, request.kinds)):
            call.warn(note)
        if resumed is None and answer.found is not None and answer.found.aside:
            call.warn(answer.found.aside)
        if not answer.total and asked.mode in _OF_NAMES and not (answer.found and answer.found.of):
            await self._say_undefined(call, fresh, asked)
        if keep is not None and not answer.hits and not any(map(keep, answer.snapshot.files)):
            call.warn(f"no file matches {describe_scope(request)}")
        freshness = fresh.of(answer.snapshot, answer.stale)
        return SearchResult(
            mode=asked.mode,
            results=answer.hits if request.include_snippets else tuple(hit.without_text() for hit in answer.hits),
            pagination=Pagination(next_cursor=answer.cursor, total_estimate=answer.total),
            total=answer.total,
            total_is_exact=answer.exact,
            files=answer.files,
            epoch=answer.snapshot.epoch,
            commit=answer.snapshot.commit,
            verified_sec_ago=freshness.verified_sec_ago,
            tiers=answer.found.tiers if answer.found else None,
            of=answer.found.of if answer.found else (),
            model=answer.found.model if answer.found else None,
            weaker=answer.found.weaker if answer.found else None,
            nothing=answer.found.nothing if answer.found else None,
            partial=answer.partial,
            stale=freshness.stale,
            query_time_ms=round((time.monotonic() - started) * 1000, 2),
        )

    async def _otherwise(
        self, call: Call, fresh: SnapshotSource, asked: "_Asked", answer: "_Answer"
    ) -> tuple["_Asked", "_Answer"]:
        """Return what the next modes find when the mode that auto chose finds nothing."""
        query = asked.request.query
        if named := on_path(answer.snapshot, query):
            call.warn(named)
            return asked, answer
        for mode in fallback_modes(asked.mode, query):
            other = replace(asked, mode=mode)
            found = await (self._exact if mode == "literal" else self._list_page)(fresh, other)
            if found.hits or mode == "ranked":
                if asked.mode == "regex" and found.hits:
                    call.warn(f"no line matches it as a regular expression; this is {on_mode(mode)}")
                return other, found
        return asked, answer

    async def _say_undefined(self, call: Call, fresh: SnapshotSource, asked: "_Asked") -> None:
        text = await self._exact(fresh, replace(asked, mode="literal"))
        if text.total:
            narrowed = asked.mode == "definitions" and (asked.keep is not None or bool(asked.request.kinds))
            call.warn(on_undefined(text.total, exact=text.exact, narrowed=narrowed))
            return
        near = await asyncio.to_thread(near_names, self._knowledge.store, asked.request.query)
        if advice := on_unknown(near):
            call.warn(advice)

    @operation("search.stream", risk=Risk.READ)
    async def stream(self, call: Call, request: StreamRequest) -> AsyncIterator[SearchResult]:
        """The pages of a search one after the other, the first as soon as it is there."""
        left = request.most
        page: SearchRequest = request
        while left > 0:
            result = await self.search(call, page)
            yield result
            left -= len(result.results)
            cursor = result.pagination.next_cursor
            if cursor is None or not result.results:
                return
            page = page.model_copy(update={"cursor": cursor, "limit": min(_STREAMED, max(left, 1))})

    async def _exact(self, fresh: SnapshotSource, asked: "_Asked") -> "_Answer":
        """A page of matching lines."""
        request = asked.request
        pattern = pattern_of(request, asked.mode)
        stale: tuple[str, ...] = ()
        counted = 0
        if asked.resumed is not None:
            snapshot, state = asked.resumed
            counted = int(str(state["seen"]))
            after = (os.fsdecode(str(state["path"]).encode("latin-1")), int(str(state["line"])))
            sweep = partial(_swept, None, snapshot, pattern, asked, after)
            page, hits, _ = await self._short.run_if(_is_short(snapshot, asked.mode), sweep)
        else:
            snapshot = await fresh.snapshot(strict=request.fresh == "strict")
            for _ in range(fresh.looks):
                sweep = partial(_swept, fresh, snapshot, pattern, asked, None)
                page, hits, changed = await self._short.run_if(_is_short(snapshot, asked.mode), sweep)
                if not changed:
                    break
                snapshot = await fresh.refresh(changed)
            else:
                stale = tuple(sorted({path_text(line.known.path) for line in page.lines}))
        cursor = None
        if page.seen > len(page.lines):
            last = page.lines[-1]
            place: JsonObject = {"path": os.fsencode(last.known.path).decode("latin-1"), "line": last.number}
            cursor = self._issue(snapshot, asked, {**place, "seen": counted + len(page.lines)})
        return _Answer(
            snapshot=snapshot,
            hits=hits,
            total=counted + page.seen,
            exact=page.complete,
            files=page.files,
            cursor=cursor,
            stale=stale,
        )

    async def _list_page(self, fresh: SnapshotSource, asked: "_Asked") -> "_Answer":
        """A page of what a mode lists, verified against the disk."""
        request = asked.request
        first = 0
        stale: tuple[str, ...] = ()
        if asked.resumed is not None:
            snapshot, state = asked.resumed
            first = int(str(state["first"]))
            held = self._lists.get((snapshot.epoch, asked.scope))
            # What is ranked may rank otherwise by now: vectors fill in, and files that went still count for a while.
            # Uses of a popular name take long to find.
            look, behind = await self._look(None, snapshot, asked, first, held)
        else:
            snapshot = await fresh.snapshot(strict=request.fresh == "strict")
            for _ in range(fresh.looks):
                look, behind = await self._look(fresh, snapshot, asked, first, None)
                if not look.changed:
                    break
                snapshot = await fresh.refresh(look.changed)
            else:
                stale = tuple(sorted(map(path_text, look.paths)))
        matches = look.found
        cursor = None
        if first + len(look.hits) < len(matches.places):
            cursor = self._issue(snapshot, asked, {"first": first + len(look.hits)})
            if asked.mode in _HELD and matches.whole:
                self._lists.put((snapshot.epoch, asked.scope), (matches, behind))
        return _Answer(
            snapshot=snapshot,
            hits=look.hits,
            total=matches.total,
            exact=matches.exact and not behind.files,
            files=look.files,
            cursor=cursor,
            stale=stale,
            found=matches,
            partial=behind.line() or matches.partial or self._unparsed_note(asked.mode),
        )

    async def _look(
        self,
        fresh: SnapshotSource | None,
        snapshot: Snapshot,
        asked: "_Asked",
        first: int,
        held: tuple[MatchList, ParseBacklog] | None,
    ) -> tuple["_Look", ParseBacklog]:
        """Query a mode, build the page, and check it against the disk, off the event loop."""
        behind = held[1] if held is not None else await self._knowledge.wait_for_facts(snapshot)
        if held is None and asked.mode == "semantic":
            await self._knowledge.wait_for_vectors()
        has_history = held is None and asked.mode in _OF_WORDS
        changes = await self._history.up_to(snapshot.commit) if has_history else NO_CHANGES
        limit, context = _page_size(asked), asked.request.context

        def look() -> _Look:
            late = (
                held is None
                and asked.mode in _OF_WORDS
                and not behind.files
                and not self._is_full_text_current(snapshot)
            )
            with span("index.query", mode=asked.mode, epoch=snapshot.epoch) as querying:
                matches = held[0] if held is not None else self._by_mode(snapshot, asked, changes)
                querying.note(found=len(matches.places))
            if late or not changes.is_known:
                matches = replace(matches, exact=False, partial=_NOT_FED if late else LATE)
            places = matches.places[first : first + limit]
            hits = tuple(place.hit(snapshot, context) for place in places)
            paths = {place.path for place in places} | matches.missing
            with span("files.stat", files=len(paths)):
                changed = fresh.find_changes(snapshot, paths) if fresh is not None else []
            return _Look(
                found=matches,
                hits=hits,
                paths=frozenset(paths),
                changed=changed,
                files=len({place.path for place in matches.places}),
            )

        is_short = self._knowledge.store.is_idle and _is_short(snapshot, asked.mode)
        if asked.mode in _OF_WORDS and not self._knowledge.text.contains(snapshot.epoch):
            is_short = False
        return await self._short.run_if(is_short, look), behind

    def _by_mode(self, snapshot: Snapshot, asked: "_Asked", changes: PastChanges) -> MatchList:
        request, store = asked.request, self._knowledge.store
        if asked.mode == "definitions":
            return definitions(snapshot, store, request.query, keep=asked.keep, kinds=request.kinds)
        if asked.mode == "symbol":
            return symbols(snapshot, store, self._name_table(), request.query, keep=asked.keep, kinds=request.kinds)
        if asked.mode == "ranked":
            text = self._knowledge.text
            return search_ranked(snapshot, text, changes, request.query, keep=asked.keep, tests=request.tests)
        if asked.mode == "hybrid":
            text, vectors = self._knowledge.text, self._knowledge.vectors
            return search_hybrid(snapshot, text, changes, vectors, request.query, keep=asked.keep, tests=request.tests)
        if asked.mode == "semantic":
            if self._knowledge.vectors is None:
                raise InvalidArgument("semantic search is switched off", hint="set embeddings.model, or use mode=auto")
            return search_semantic(snapshot, self._knowledge.vectors, request.query, keep=asked.keep)
        world = World(snapshot, store, self._knowledge.modules)
        page = request.limit if asked.resumed is None else None
        return find_references(world, store, request.query, keep=asked.keep, page=page)

    def _is_full_text_current(self, snapshot: Snapshot) -> bool:
        """Whether the full text has caught up with a snapshot, after a bounded wait."""
        return self._knowledge.text.wait(snapshot.epoch, _FED_SEC)

    def _name_table(self) -> NameTable:
        """The table of all names, rebuilt when the store's names change."""
        names = self._knowledge.store.all_names()
        held = self._names
        if held is None or held.names is not names:
            held = self._names = NameTable(names)
        return held

    def _unparsed_note(self, mode: str) -> str | None:
        """A note on files that could not be parsed."""
        count = self._knowledge.store.problem_counts().get("not parsed", 0) if mode in _OF_SYMBOLS else 0
        return f"{plural(count, 'file')} could not be parsed" if count else None

    def _issue(self, snapshot: Snapshot, asked: "_Asked", state: JsonObject) -> str:
        self._snapshots.put(snapshot.epoch, snapshot)
        return self._cursors.issue(scope=asked.scope, state={"epoch": snapshot.epoch, "mode": asked.mode, **state})

    def _resume(self, cursor: str, scope: str) -> tuple[Snapshot, JsonObject]:
        state = self._cursors.open(cursor, scope=scope)
        snapshot = self._snapshots.get(int(str(state["epoch"])))
        if snapshot is None:
            raise CursorExpired("the state this cursor speaks of is no longer held")
        return snapshot, state


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    request: SearchRequest
    mode: str
    keep: Keep | None
    scope: str
    resumed: tuple[Snapshot, JsonObject] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """The matches, the page shown, and the files that changed since."""

    found: MatchList
    hits: tuple[Hit, ...]
    paths: frozenset[str]
    changed: list[str]
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    snapshot: Snapshot
    hits: tuple[Hit, ...]
    total: int
    exact: bool
    files: int
    cursor: str | None
    stale: tuple[str, ...]
    found: MatchList | None = None
    partial: str | None = None


def _swept(
    fresh: SnapshotSource | None, snapshot: Snapshot, pattern: Pattern, asked: _Asked, after: tuple[str, int] | None
) -> tuple[Page, tuple[Hit, ...], list[str]]:
    """A page of lines as hits, and the files among them that changed."""
    with span("index.query", mode=asked.mode, epoch=snapshot.epoch) as querying:
        page = scan(
            snapshot,
            pattern,
            keep=asked.keep,
            after=after,
            limit=asked.request.limit,
            count_for_sec=_COUNT_SEC,
            deadline=time.monotonic() + _SCAN_SEC,
        )
        hits = _line_hits(snapshot, page.lines, asked.request.context)
        querying.note(found=page.seen)
    paths = {line.known.path for line in page.lines}
    with span("files.stat", files=len(paths)):
        return page, hits, fresh.find_changes(snapshot, paths) if fresh is not None else []


def _is_short(snapshot: Snapshot, mode: str) -> bool:
    """Whether a query takes no longer than a switch of threads."""
    return mode in _SHORT and len(snapshot.files) <= _SHORT_FILES and len(snapshot.content) <= _SHORT_BYTES


def _page_size(asked: _Asked) -> int:
    """The page size: as requested, or smaller by default for ranked modes."""
    few = asked.mode in _BEST_FIRST and "limit" not in asked.request.model_fields_set
    return _FEW if few else asked.request.limit


def _line_hits(snapshot: Snapshot, lines: Iterable[Line], context: int) -> tuple[Hit, ...]:
    return tuple(
        line_hit(
            snapshot,
            line.known,
            number=line.number,
            start=line.start,
            end=line.end,
            spans=line.spans,
            context=context,
        )
        for line in lines
    )
