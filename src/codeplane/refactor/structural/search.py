"""The search for matches of a pattern, in the files that can contain one."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codeplane.code.languages.registry import languages
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.query.search.memmem import find
from codeplane.query.search.scope import Keep
from codeplane.refactor.structural.grammar import GRAMMARS, extent, faults, tree
from codeplane.refactor.structural.pattern import StructuralPattern

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MAX_PARSED = 4 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"

Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The match of a metavariable: nothing, one piece, or several with what is between them."""

    start: int
    end: int
    nodes: tuple["SgNode", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One match; offsets count characters of the file's text."""

    start: int
    end: int
    node: "SgNode"
    captures: Mapping[str, Captured]
    in_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMatches:
    """The matches of one file, outer before inner, and the file's text."""

    path: str
    grammar: str
    text: str
    skipped: int
    """The bytes of the byte order mark before the text."""
    faults: int
    matches: tuple[Match, ...]


@dataclass(slots=True)
class SearchCoverage:
    """What a search covered, and what it did not."""

    files: int = 0
    unread: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    truncated: str = ""


def search_files(
    snapshot: Snapshot,
    pattern: StructuralPattern,
    looked: SearchCoverage,
    *,
    keep: Keep | None,
    deadline: float,
    most: int,
    stop: Stop,
) -> Iterator[FileMatches]:
    """Yield the files with matches in path order, until time is up, enough is found or nobody waits."""
    found = 0
    for known in snapshot.texts:
        grammar = _grammar(known.path, pattern)
        if grammar is None or (keep is not None and not keep(known.path)) or not _may_match(snapshot, known, pattern):
            continue
        if stop() or time.monotonic() > deadline:
            looked.truncated = f"{'stopped' if stop() else 'out of time'} at {known.path}: the rest was not looked at"
            return
        looked.files += 1
        matches = _in_file(snapshot, known, grammar, pattern, looked)
        if matches is None:
            continue
        found += len(matches.matches)
        yield matches
        if found >= most:
            looked.truncated = f"{found} matches up to {known.path}: the rest was not looked at"
            return


def _grammar(path: str, pattern: StructuralPattern) -> str | None:
    language = languages().of(path)
    if language is None or language.embedded:
        return None
    return language.name if language.name in pattern.rules and language.name in GRAMMARS[pattern.language] else None


def _may_match(snapshot: Snapshot, known: IndexedFile, pattern: StructuralPattern) -> bool:
    end = known.offset + known.length
    return all(find(snapshot.content, word, known.offset, end) >= 0 for word in pattern.words)


def _in_file(
    snapshot: Snapshot, known: IndexedFile, grammar: str, pattern: StructuralPattern, looked: SearchCoverage
) -> FileMatches | None:
    raw = snapshot.text(known)
    skipped = len(_BOM) if raw.startswith(_BOM) else 0
    try:
        text = raw[skipped:].decode()
    except UnicodeDecodeError:
        looked.unread.append(known.path)
        return None
    if len(raw) > MAX_PARSED:
        looked.unread.append(known.path)
        return None
    root = tree(text, grammar)
    nodes = root.find_all(**pattern.rules[grammar])
    broken = len(faults(root))
    if broken:
        looked.broken.append(known.path)
    if not nodes:
        return None
    matches = {extent(node): node for node in nodes}
    return FileMatches(
        path=known.path,
        grammar=grammar,
        text=text,
        skipped=skipped,
        faults=broken,
        matches=tuple(
            Match(
                start=start,
                end=end,
                node=node,
                captures=_captures(node, pattern),
                in_error=broken > 0 and _in_error(node),
            )
            for (start, end), node in sorted(matches.items(), key=lambda match: (match[0][0], -match[0][1]))
        ),
    )


def _captures(node: "SgNode", pattern: StructuralPattern) -> dict[str, Captured]:
    found = {}
    for name in pattern.ones:
        capture = node.get_match(name)
        if capture is not None:
            start, end = extent(capture)
            found[name] = Captured(start=start, end=end, nodes=(capture,))
    for name in pattern.lists:
        several = node.get_multiple_matches(name)
        start = extent(several[0])[0] if several else 0
        end = extent(several[-1])[1] if several else 0
        found[name] = Captured(start=start, end=end, nodes=tuple(several))
    return found


def _in_error(node: "SgNode") -> bool:
    """Whether a match touches code that does not parse."""
    return node.find(kind="ERROR") is not None or any(ancestor.kind() == "ERROR" for ancestor in node.ancestors())
