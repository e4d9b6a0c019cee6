"""The hits and the result of a search."""

from itertools import zip_longest
from typing import Literal as OneOf

import numpy as np

from codeplane.index.fact_store import Symbol
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.operation import Result
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural

MAX_LINE = 300
_BREAK = ord("\n")
_NOTHING = np.empty(0, np.uint8)
MatchType = OneOf["exact", "fuzzy", "semantic"]


class SymbolInfo(Result):
    """The definition a line is, or belongs to."""

    name: str
    kind: str
    container: str | None = None
    id: str | None = None

    @classmethod
    def of(cls, symbol: Symbol) -> "SymbolInfo":
        """Build from a symbol."""
        return cls(name=symbol.name, kind=symbol.kind, container=symbol.path.rpartition(".")[0] or None, id=symbol.uid)


class Hit(Result):
    """One line that answers."""

    path: str
    line: int
    column: int
    snippet: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    score: float = 1.0
    match_type: MatchType = "exact"
    symbol: SymbolInfo | None = None
    tier: str | None = None

    def without_text(self) -> "Hit":
        """The hit without its text."""
        return self.model_copy(update={"snippet": "", "spans": (), "before": (), "after": ()})

    def lines(self, after: int = 0, until: int | None = None) -> list[str]:
        """The hit as lines, without its path; context only behind line `after`, and before line `until`."""
        first = self.line - len(self.before)
        lines = [f"{first + index}- {text}" for index, text in enumerate(self.before) if first + index > after]
        unsure = f"  ({self.tier.lower()})" if self.tier in ("ANCHORED", "UNKNOWN") else ""
        lines.append(f"{self.line}: {self.snippet}{unsure}")
        following = enumerate(self.after, self.line + 1)
        return lines + [f"{number}- {text}" for number, text in following if until is None or number < until]


class SearchResult(Result):
    """Lines, and what the answer speaks of."""

    mode: str
    results: tuple[Hit, ...]
    pagination: Pagination
    total: int
    total_is_exact: bool
    files: int
    epoch: int
    commit: str | None
    verified_sec_ago: float
    tiers: dict[str, int] | None = None
    of: tuple[str, ...] = ()
    model: str | None = None
    weaker: str | None = None
    nothing: str | None = None
    partial: str | None = None
    stale: tuple[str, ...] = ()
    query_time_ms: float

    def text(self) -> str:
        if self.results and not any(hit.snippet for hit in self.results):
            places: dict[str, list[str]] = {}
            for hit in self.results:
                places.setdefault(hit.path, []).append(str(hit.line))
            places_by_path = [f"{path}:{','.join(dict.fromkeys(numbers))}" for path, numbers in places.items()]
            return "\n".join([*places_by_path, self._summary()]) + self.pagination.line()
        lines: list[str] = []
        previous: Hit | None = None
        for hit, following in zip_longest(self.results, self.results[1:]):
            beside = previous if previous is not None and previous.path == hit.path else None
            if beside is None:
                lines.append(hit.path)
            elif beside.lines() == hit.lines():
                # Two places of one line.
                continue
            # A line that two hits have around them is shown once.
            is_next = following is not None and following.path == hit.path and following.line > hit.line
            last = beside.line + len(beside.after) if beside is not None and beside.line < hit.line else 0
            lines += hit.lines(last, following.line if following is not None and is_next else None)
            previous = hit
        return "\n".join([*lines, self._summary()]) + self.pagination.line()

    def _summary(self) -> str:
        shown_now, more = len(self.results), "" if self.total_is_exact else "+"
        state = f"epoch {self.epoch} at {(self.commit or 'no commit')[:9]}"
        what = self.mode if self.model is None else f"{self.mode} by {self.model}"
        files = plural(self.files, "file", more)
        # A line that refers to it twice counts twice.
        noun = "place" if self.mode == "references" else "line"
        summary = f"[{shown_now} of {plural(self.total, noun, more)} in {files}, {what}, {state}]"
        if not self.results and self.total == 0:
            summary = f"[nothing {'here fits' if self.nothing else 'found'}, {what}, {state}]"
        if self.nothing:
            summary += f" {self.nothing}"
        if self.tiers:
            summary += " " if self.total_is_exact else " at least "
            summary += ", ".join(f"{count} {tier.lower()}" for tier, count in self.tiers.items() if count)
        if self.of:
            summary += f" of {'; '.join(self.of[:5])}" + (f" and {len(self.of) - 5} more" if len(self.of) > 5 else "")
        if self.weaker:
            summary += f" {self.weaker}"
        if self.partial:
            summary += f" {self.partial}"
        if self.stale:
            summary += f" STALE: changed while searching: {', '.join(self.stale[:5])}"
        return summary


def line_at(snapshot: Snapshot, known: IndexedFile, offset: int) -> tuple[int, int, int]:
    """The number, start and end of the line at a place of a file."""
    content, at, last = snapshot.content, known.offset + offset, known.offset + known.length
    start = content.rfind(b"\n", known.offset, at) + 1 or known.offset
    end = content.find(b"\n", at, last)
    # In a long file numpy counts several times as fast.
    before = np.frombuffer(content, np.uint8, start - known.offset, known.offset) if start > known.offset else _NOTHING
    number = int(np.count_nonzero(before == _BREAK)) + 1
    return number, start, last if end < 0 else end


def line_start(text: bytes, number: int) -> int:
    """The start of a line, or the end of a shorter text."""
    if number <= 1:
        return 0
    breaks = np.flatnonzero(np.frombuffer(text, np.uint8) == _BREAK)
    return int(breaks[number - 2]) + 1 if number - 2 < len(breaks) else len(text)


def line_hit(
    snapshot: Snapshot,
    known: IndexedFile,
    *,
    number: int,
    start: int,
    end: int,
    spans: tuple[tuple[int, int], ...],
    context: int,
    score: float = 1.0,
    match_type: MatchType = "exact",
    symbol: SymbolInfo | None = None,
    tier: str | None = None,
) -> Hit:
    """Build a hit; `start` and `end` are places in the content, spans count from `start`."""
    raw = bytes(snapshot.content[start:end])
    first = spans[0][0] if spans else 0
    window = max(0, first - MAX_LINE // 2) if len(raw) > MAX_LINE else 0
    snippet = decode(raw[window : window + MAX_LINE])
    if len(raw) > MAX_LINE:
        snippet = f"…{snippet}…"
    before, after = _around(snapshot, known, start, end, context) if context else ((), ())
    return Hit(
        path=path_text(known.path),
        line=number,
        column=len(decode(raw[:first])) + 1 if first else 1,
        snippet=snippet,
        spans=tuple((a - window, b - window) for a, b in spans if a >= window and b <= window + MAX_LINE),
        before=before,
        after=after,
        score=score,
        match_type=match_type,
        symbol=symbol,
        tier=tier,
    )


def decode(raw: bytes) -> str:
    """Decode bytes for display."""
    return raw.decode("utf-8", "replace").rstrip("\r")


def _around(
    snapshot: Snapshot, known: IndexedFile, start: int, end: int, context: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    content = snapshot.content
    before: list[str] = []
    at = start
    while len(before) < context and at > known.offset:
        first = content.rfind(b"\n", known.offset, at - 1) + 1 or known.offset
        before.insert(0, decode(bytes(content[first : min(at - 1, first + MAX_LINE)])))
        at = first
    after: list[str] = []
    at, last = end + 1, known.offset + known.length
    while len(after) < context and at < last:
        stop = content.find(b"\n", at, last)
        stop = last if stop < 0 else stop
        after.append(decode(bytes(content[at : min(stop, at + MAX_LINE)])))
        at = stop + 1
    return tuple(before), tuple(after)
