"""Planning of structural replacements: an edit per match, only proposed if it would change the meaning."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.index.path_kinds import is_copy
from codeplane.query.search.scope import Keep
from codeplane.refactor.draft import Coverage, Danger, Draft, Edit
from codeplane.refactor.structural.grammar import extent, faults, tree
from codeplane.refactor.structural.pattern import StructuralPattern, parse_pattern
from codeplane.refactor.structural.rewrite import Rewrite, Rewritten
from codeplane.refactor.structural.search import FileMatches, Match, SearchCoverage, Stop, search_files

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MAX_EDITS = 20_000
_NEAR = 2
# Kinds of nodes whose children are independent of each other.
_SEVERAL = re.compile(
    r"block|body|module|program|source|file|unit|chunk|compound|suite|list|argument|parameter|array|tuple"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    match: Match
    new: Rewritten


class _SyntaxIndex:
    """Looks up many spans in one tree; the children of a node are read once."""

    def __init__(self, root: "SgNode") -> None:
        self._root = root
        self._inside: dict[tuple[int, int, str], tuple[list[SgNode], list[int], list[int]]] = {}

    def is_whole(self, start: int, end: int, *, alone: bool = False) -> bool:
        """Whether a span is one node, or unless it must be `alone`, several nodes of a list or block."""
        node, place = self._root, extent(self._root)
        while place != (start, end):
            nodes, starts, ends = self._children(node, place)
            # The last node that begins there or before; of several, the first that reaches far enough.
            index = bisect_right(starts, start) - 1
            while index > 0 and starts[index - 1] == starts[index] and ends[index - 1] >= end:
                index -= 1
            if index < 0 or ends[index] < end:
                if alone or not _SEVERAL.search(node.kind()):
                    return False
                return start in starts and end in ends
            node, place = nodes[index], (starts[index], ends[index])
        return True

    def _children(self, node: "SgNode", place: tuple[int, int]) -> tuple[list["SgNode"], list[int], list[int]]:
        key = (*place, node.kind())
        children = self._inside.get(key)
        if children is None:
            nodes = node.children()
            places = [extent(node) for node in nodes]
            children = self._inside[key] = nodes, [place for place, _ in places], [place for _, place in places]
        return children


def plan_replace(
    world: World,
    pattern: str,
    rewrite: str,
    language: str,
    *,
    keep: Keep | None,
    deadline: float,
    stop: Stop = lambda: False,
) -> Draft:
    """Plan to replace every match of a pattern by a rewrite, only the outermost of nested matches."""
    wanted = parse_pattern(pattern, language)
    written = Rewrite(rewrite, wanted)
    looked, edits, dangers = SearchCoverage(), list[Edit](), list[Danger]()
    for file in search_files(world.snapshot, wanted, looked, keep=keep, deadline=deadline, most=MAX_EDITS, stop=stop):
        changes, nested = _outermost(file, written)
        if nested:
            what = f"{nested} matches inside other matches are left as they are: replace again for those"
            dangers.append(Danger(kind="nested_match", what=what, path=file.path, count=nested))
        edits += _edits(file, changes, dangers)
    return Draft(
        title=f"{wanted.text} → {rewrite.strip() or 'nothing'}",
        edits=tuple(edits),
        dangers=(*dangers, *_unsearched_dangers(wanted, looked)),
        coverage=Coverage(
            files_scanned=looked.files,
            unparsed=tuple(sorted({*looked.broken, *looked.unread})),
            truncated=looked.truncated,
            families=(wanted.language,),
        ),
    )


def _outermost(file: FileMatches, rewrite: Rewrite) -> tuple[list[_Change], int]:
    changes, nested, until = [], 0, -1
    for match in file.matches:
        if match.start < until:
            nested += 1
            continue
        until = match.end
        new = rewrite.of(file.text, match)
        if new.text != file.text[match.start : match.end]:
            changes.append(_Change(match=match, new=new))
    return changes, nested


def _edits(file: FileMatches, changes: Sequence[_Change], dangers: list[Danger]) -> list[Edit]:
    """Return the edits of a file, each checked by parsing the new file."""
    doubts = _doubts(file, changes)
    found, at, place = [], 0, file.skipped
    for change, doubt in zip(changes, doubts, strict=True):
        place += len(file.text[at : change.match.start].encode())
        start, at = place, change.match.end
        place += len(file.text[change.match.start : at].encode())
        if doubt:
            dangers.append(Danger(kind="changed_meaning", what=doubt, path=file.path, offset=start))
        copy = "" if not is_copy(file.path) else "the file is built or brought along: its source is elsewhere"
        tier: Tier = "ANCHORED" if doubt or copy else "PROVEN"
        found.append(
            Edit(
                path=file.path,
                start=start,
                end=place,
                new=change.new.text,
                tier=tier,
                role="REFERENCE",
                why=doubt or copy or "matches the pattern",
            )
        )
    return found


def _doubts(file: FileMatches, changes: Sequence[_Change]) -> list[str]:
    """Return why each change is uncertain; empty for one that is certain."""
    parts, places, done, length = [], [], 0, 0
    for change in changes:
        parts += [file.text[done : change.match.start], change.new.text]
        length += len(parts[-2])
        places.append(length)
        length += len(parts[-1])
        done = change.match.end
    root = tree("".join([*parts, file.text[done:]]), file.grammar)
    broken = faults(root)
    spans = [(place, place + len(change.new.text)) for change, place in zip(changes, places, strict=True)]
    breaks = [len(broken) > file.faults and any(_touch(span, fault) for fault in broken) for span in spans]
    if len(broken) > file.faults and not any(breaks):
        breaks = [True] * len(spans)
    standing = _SyntaxIndex(root)
    return [
        _doubt(change, standing, place, broken=wrong)
        for change, place, wrong in zip(changes, places, breaks, strict=True)
    ]


def _touch(span: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two spans touch, or nearly: an error is reported beside what is missing."""
    return span[0] <= other[1] + _NEAR and other[0] <= span[1] + _NEAR


def _doubt(change: _Change, standing: _SyntaxIndex, place: int, *, broken: bool) -> str:
    if change.match.in_error:
        return "stands where the file does not parse"
    if broken:
        return "the file would no longer parse"
    new = change.new
    lead, body = len(new.text) - len(new.text.lstrip()), new.text.strip()
    if body and not standing.is_whole(place + lead, place + lead + len(body)):
        return "what is around it would take the new text apart"
    for start, end in new.pieces:
        if not standing.is_whole(place + start, place + end, alone=True):
            return "a piece that is taken over would be taken apart"
    return ""


def _unsearched_dangers(pattern: StructuralPattern, looked: SearchCoverage) -> list[Danger]:
    found = []
    if pattern.left_out:
        what = f"the pattern does not parse as {', '.join(pattern.left_out)}: such files were not looked at"
        found.append(Danger(kind="grammar", what=what))
    found += [Danger(kind="not_read", what="too large or not UTF-8", path=path) for path in looked.unread]
    return found
