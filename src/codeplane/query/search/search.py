"""The `search` operation: exact lines, symbols and their uses, each by its own mode."""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal as OneOf

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from codeplane.code.resolve.world import World
from codeplane.index.files.paths import shown
from codeplane.index.freshness import Fresh
from codeplane.index.snapshot import Snapshot
from codeplane.index.update_loop import Behind
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.counted import counted
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CursorExpired, InvalidArgument
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.trace import span
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.advice import on_kinds, on_path, on_undefined
from codeplane.query.search.hit import Hit, SearchResult, line_hit
from codeplane.query.search.matches import Found
from codeplane.query.search.name_table import NameTable
from codeplane.query.search.pattern import MAX_PATTERN, Literal, Pattern, Regex, literal_ignoring_case, looks_like_regex
from codeplane.query.search.ranked_search import hybrid, ranked
from codeplane.query.search.references import uses
from codeplane.query.search.scan import Line, Page, scan
from codeplane.query.search.scope import Keep, Tests, scope
from codeplane.query.search.semantic_search import semantic
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

Mode = OneOf[
    "auto",
    "literal",
    "regex",
    "ranked",
    "lexical",
    "symbol",
    "definitions",
    "references",
    "semantic",
    "hybrid",
]
# A word as people write it in a sentence, with what may stand around it.
_WORD = re.compile(r"[\"'`(\[]*[^\W\d_][\w'’.-]*[\"'`)\]]*[,.;:!?]*$")
_LEAST_WORDS, _SHARE_OF_WORDS = 3, 0.6


class SearchRequest(PageRequest, WorkspaceRequest):
    """What to look for, and where."""

    query: str = Field(min_length=1, max_length=MAX_PATTERN)
    mode: Mode = Field("auto", description="auto picks by the query's shape")
    paths: tuple[str, ...] = Field((), description="globs or folders to look in", max_length=100)
    languages: tuple[str, ...] = Field((), max_length=50)
    kinds: tuple[str, ...] = Field((), description="of symbols: function, class, method …", max_length=50)
    tests: Tests = "include"
    ignore_case: bool = False
    context: int = Field(0, ge=0, le=10, description="lines before and after")
    fresh: OneOf["default", "strict"] = Field("default", description="strict walks the disk first")
    limit: int = Field(20, ge=1, le=100, description="default 10 where files are ranked")
    # Accepted and not listed: agents want the lines, and pay for every byte of a tool list.
    include_snippets: SkipJsonSchema[bool] = Field(True, description="false: where the lines are, without their text")


class StreamRequest(SearchRequest):
    """What to look for, and how much of it."""

    most: int = Field(1000, ge=1, le=100_000, description="lines in all")


class SearchOperations:
    """Search over the published state of the repository."""

    def __init__(self, *, root: Path, knowledge: Knowledge, cursors: Cursors) -> None:
        self._root = root
        self._knowledge = knowledge
        self._cursors = cursors
        self._snapshots = BoundedCache[int, Snapshot](_KEPT_SNAPSHOTS)
        self._names: NameTable | None = None
        self._lists = BoundedCache[tuple[int, str], tuple[Found, Behind]](_KEPT_LISTS)

    @operation("search", risk=Risk.READ, toolset="core")
    async def search(self, call: Call, request: SearchRequest) -> SearchResult:
        """Find lines by text (literal) or RE2 regex, like ripgrep but indexed; files by a question or issue text
        (ranked by words, semantic by meaning, hybrid); definitions of a name (also Class.method, path:line),
        references to one (by certainty), symbol (parts of names).

        auto is literal or regex by the query's shape, and ranks when that finds nothing; it says what it took.
        """
        started = time.monotonic()
        with span("index.wait"):
            fresh = await self._knowledge.fresh()
        mode = _meant(call, request)
        keep = scope(request.paths, request.languages, request.tests, self._root)
        place = f"search:{call.task.session_id if call.task else ''}:{_words(request)}"
        resumed = self._resume(request.cursor, place) if request.cursor else None
        if resumed is not None:
            # What auto picked for the first page holds for all of them.
            mode = str(resumed[1]["mode"])
        asked = _Asked(request=request, mode=mode, keep=keep, scope=place, resumed=resumed)
        answer = await (self._exact if mode in ("literal", "regex") else self._listed)(fresh, asked)
        if request.mode == "auto" and not answer.total and (second_mode := _second_mode(mode, request.query)):
            named = on_path(answer.snapshot, request.query)
            ranking = replace(asked, mode=second_mode)
            second = await self._listed(fresh, ranking) if named is None else None
            if second is not None and second.hits:
                asked, answer = ranking, second
            elif named is not None:
                call.warn(named)
        if resumed is None and (told := on_kinds(asked.mode, request.kinds)):
            call.warn(told)
        if resumed is None and answer.found is not None and answer.found.aside:
            call.warn(answer.found.aside)
        if not answer.total and asked.mode in _OF_NAMES and not (answer.found and answer.found.of):
            await self._say_undefined(call, fresh, asked)
        if keep is not None and not answer.hits and not any(map(keep, answer.snapshot.files)):
            call.warn(f"no file matches {_scoped(request)}")
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
            partial=answer.partial,
            stale=freshness.stale,
            query_time_ms=round((time.monotonic() - started) * 1000, 2),
        )

    async def _say_undefined(self, call: Call, fresh: Fresh, asked: "_Asked") -> None:
        text = await self._exact(fresh, replace(asked, mode="literal"))
        if text.total:
            narrowed = asked.mode == "definitions" and (asked.keep is not None or bool(asked.request.kinds))
            call.warn(on_undefined(text.total, exact=text.exact, narrowed=narrowed))

    @operation("search.stream", risk=Risk.READ)
    async def stream(self, call: Call, request: StreamRequest) -> AsyncIterator[SearchResult]:
        """The pages of a search one after the other, the first as soon as it is there."""
        left = request.most
        page: SearchRequest = request
        while left > 0:
            found = await self.search(call, page)
            yield found
            left -= len(found.results)
            cursor = found.pagination.next_cursor
            if cursor is None or not found.results:
                return
            page = page.model_copy(update={"cursor": cursor, "limit": min(_STREAMED, max(left, 1))})

    async def _exact(self, fresh: Fresh, asked: "_Asked") -> "_Answer":
        """A page of matching lines, found by sweeping the text."""
        request = asked.request
        pattern = _pattern(request, asked.mode)
        stale: tuple[str, ...] = ()
        counted = 0
        if asked.resumed is not None:
            snapshot, state = asked.resumed
            counted = int(str(state["seen"]))
            after = (os.fsdecode(str(state["path"]).encode("latin-1")), int(str(state["line"])))
            page, hits, _ = await asyncio.to_thread(_swept, None, snapshot, pattern, asked, after)
        else:
            snapshot = await fresh.snapshot(strict=request.fresh == "strict")
            for _ in range(fresh.looks):
                page, hits, changed = await asyncio.to_thread(_swept, fresh, snapshot, pattern, asked, None)
                if not changed:
                    break
                snapshot = await fresh.refreshed(changed)
            else:
                stale = tuple(sorted({shown(line.known.path) for line in page.lines}))
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

    async def _listed(self, fresh: Fresh, asked: "_Asked") -> "_Answer":
        """A page of what a mode lists; the files shown are looked at again before it leaves."""
        request = asked.request
        first = 0
        stale: tuple[str, ...] = ()
        if asked.resumed is not None:
            snapshot, state = asked.resumed
            first = int(str(state["first"]))
            held = self._lists.get((snapshot.epoch, asked.scope))
            # What is ranked may rank otherwise by now: vectors fill in, and files that went still count for a while.
            # Uses of a popular name take long to find.
            look, behind = await self._looked(None, snapshot, asked, first, held)
        else:
            snapshot = await fresh.snapshot(strict=request.fresh == "strict")
            for _ in range(fresh.looks):
                look, behind = await self._looked(fresh, snapshot, asked, first, None)
                if not look.changed:
                    break
                snapshot = await fresh.refreshed(look.changed)
            else:
                stale = tuple(sorted(map(shown, look.paths)))
        found = look.found
        cursor = None
        if first + len(look.hits) < len(found.places):
            cursor = self._issue(snapshot, asked, {"first": first + len(look.hits)})
            if asked.mode in _HELD and found.whole:
                self._lists.put((snapshot.epoch, asked.scope), (found, behind))
        return _Answer(
            snapshot=snapshot,
            hits=look.hits,
            total=found.total,
            exact=found.exact and not behind.files,
            files=look.files,
            cursor=cursor,
            stale=stale,
            found=found,
            partial=behind.line() or found.partial or self._unparsed(asked.mode),
        )

    async def _looked(
        self,
        fresh: Fresh | None,
        snapshot: Snapshot,
        asked: "_Asked",
        first: int,
        held: tuple[Found, Behind] | None,
    ) -> tuple["_Look", Behind]:
        """What a mode lists, the page of it, and what of that has changed on disk: in one step off the event loop."""
        behind = held[1] if held is not None else await self._knowledge.behind(snapshot)
        if held is None and asked.mode == "semantic":
            await self._knowledge.filled()
        limit, context = _page_size(asked), asked.request.context

        def look() -> _Look:
            late = held is None and asked.mode in _OF_WORDS and not behind.files and not self._fed(snapshot)
            with span("index.query", mode=asked.mode, epoch=snapshot.epoch) as querying:
                found = held[0] if held is not None else self._by_mode(snapshot, asked)
                querying.note(found=len(found.places))
            found = replace(found, exact=False, partial=_NOT_FED) if late else found
            places = found.places[first : first + limit]
            hits = tuple(one.hit(snapshot, context) for one in places)
            paths = {place.path for place in places} | found.missing
            with span("files.stat", files=len(paths)):
                changed = fresh.changed(snapshot, paths) if fresh is not None else []
            return _Look(
                found=found,
                hits=hits,
                paths=frozenset(paths),
                changed=changed,
                files=len({place.path for place in found.places}),
            )

        return await asyncio.to_thread(look), behind

    def _by_mode(self, snapshot: Snapshot, asked: "_Asked") -> Found:
        request, store = asked.request, self._knowledge.store
        if asked.mode == "definitions":
            return definitions(snapshot, store, request.query, keep=asked.keep, kinds=request.kinds)
        if asked.mode == "symbol":
            return symbols(snapshot, store, self._named(), request.query, keep=asked.keep, kinds=request.kinds)
        if asked.mode == "ranked":
            return ranked(snapshot, self._knowledge.text, request.query, keep=asked.keep, tests=request.tests)
        if asked.mode == "hybrid":
            text, vectors = self._knowledge.text, self._knowledge.vectors
            return hybrid(snapshot, text, vectors, request.query, keep=asked.keep, tests=request.tests)
        if asked.mode == "semantic":
            if self._knowledge.vectors is None:
                raise InvalidArgument("semantic search is switched off", hint="set embeddings.model, or use mode=auto")
            return semantic(snapshot, self._knowledge.vectors, request.query, keep=asked.keep)
        world = World(snapshot, store, self._knowledge.modules)
        page = request.limit if asked.resumed is None else None
        return uses(world, store, request.query, keep=asked.keep, page=page)

    def _fed(self, snapshot: Snapshot) -> bool:
        """Whether the full text has all of a snapshot; the facts are there a little sooner, and it is waited for."""
        return self._knowledge.text.wait(snapshot.epoch, _FED_SEC)

    def _named(self) -> NameTable:
        """Every name there is; made anew when the store's names are others."""
        names = self._knowledge.store.all_names()
        held = self._names
        if held is None or held.names is not names:
            held = self._names = NameTable(names)
        return held

    def _unparsed(self, mode: str) -> str | None:
        """What an answer about symbols cannot know of."""
        count = self._knowledge.store.problem_counts().get("not parsed", 0) if mode in _OF_SYMBOLS else 0
        return f"{counted(count, 'file')} could not be parsed" if count else None

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
    """What was found, the page that is shown of it, and which of its files have changed since."""

    found: Found
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
    found: Found | None = None
    partial: str | None = None


def _swept(
    fresh: Fresh | None, snapshot: Snapshot, pattern: Pattern, asked: _Asked, after: tuple[str, int] | None
) -> tuple[Page, tuple[Hit, ...], list[str]]:
    """A page of lines as they are shown, and which of their files are no longer as they were."""
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
        return page, hits, fresh.changed(snapshot, paths) if fresh is not None else []


def _meant(call: Call, request: SearchRequest) -> str:
    """The mode that is asked for; auto goes by the query's shape, and takes what no expression is as text."""
    if request.mode != "auto":
        return "ranked" if request.mode == "lexical" else request.mode
    if request.kinds:
        return "definitions"
    if not looks_like_regex(request.query):
        return "literal"
    try:
        Regex(request.query)
    except InvalidArgument as error:
        call.warn(f"looked for as text: {error.message}")
        return "literal"
    return "regex"


def _page_size(asked: _Asked) -> int:
    """How many hits a page has: what was asked for, or fewer of what comes best first."""
    few = asked.mode in _BEST_FIRST and "limit" not in asked.request.model_fields_set
    return _FEW if few else asked.request.limit


def _second_mode(mode: str, query: str) -> str | None:
    """What auto tries when the first mode finds nothing: ranking for sentences, parts of names for the rest."""
    if _is_sentence(query):
        return "ranked"
    return "symbol" if mode in ("literal", "definitions") else None


def _is_sentence(query: str) -> bool:
    """Whether a query reads like a question, an issue or a phrase rather than like text that stands somewhere."""
    said = query.split()
    words = sum(_WORD.match(one) is not None for one in said)
    return words >= _LEAST_WORDS and words >= _SHARE_OF_WORDS * len(said)


def _pattern(request: SearchRequest, mode: str) -> Pattern:
    if mode == "regex":
        return Regex(request.query, ignore_case=request.ignore_case)
    return literal_ignoring_case(request.query) if request.ignore_case else Literal(request.query)


def _scoped(request: SearchRequest) -> str:
    said = {"paths": list(request.paths), "languages": list(request.languages), "tests": request.tests}
    return " ".join(f"{name}={value}" for name, value in said.items() if value and value != "include")


def _words(request: SearchRequest) -> str:
    return digest(
        canonical(request.model_dump(mode="json", exclude={"cursor", "limit", "context", "fresh", "include_snippets"}))
    )


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
