"""Imports that nothing uses after a symbol has moved."""

import re
from collections.abc import Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.expression import receiver
from codeplane.code.model import Facts, Import
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger
from codeplane.refactor.move.outside_use import outside_use
from codeplane.refactor.move.python_cut import Piece
from codeplane.refactor.move.python_statement import Item, import_spans, remove_items, remove_statement, statement_at
from codeplane.refactor.move.span import Span, line_end

_QUOTED_TYPE = re.compile(
    rb"[A-Za-z]{0,2}[\"']{1,3}\s*[\w.]+(?:\[[^\"']*\])?(?:\s*\|\s*[\w.]+(?:\[[^\"']*\])?)*\s*[\"']{1,3}"
)


def find_unused_imports(
    world: World, resolver: Resolver, bound: Bound, pieces: Sequence[Piece], brought: Sequence[Import]
) -> tuple[list[Span], list[Danger]]:
    """Return the spans that remove imports that are certainly unused, and a danger for each that may be."""
    text = world.text(bound.file)
    facts = world.facts(bound.file)
    assert facts is not None
    spans: list[Span] = []
    dangers: list[Danger] = []
    going: dict[int, list[int]] = {}
    imports = import_spans(facts, text)
    for import_ in brought:
        left = [
            at
            for at in occurrences(text, import_.local)
            if not any(piece.begin <= at < piece.until for piece in pieces)
            and at not in (import_.local_at, import_.imported_at)
        ]
        left = [at for at in left if not any(start <= at < end for start, end in imports)]
        if any(_is_use(resolver, facts, text, bound.file, import_.local, at) for at in left):
            continue
        in_types = any(_is_type(facts, text, at) for at in left if facts.in_text(at))
        why = _reason_to_keep(world, bound, import_, in_types, text) or outside_use(
            world, resolver, bound.file, import_.local
        )
        if why:
            what = f"{import_.local} may not be needed in {bound.file} any more: {why}"
            dangers.append(Danger(kind="unused_import", what=what, path=bound.file, offset=import_.at))
        else:
            going.setdefault(import_.at, []).append(import_.imported_at)
    gone: list[tuple[int, int]] = []
    parted: list[tuple[int, list[Item]]] = []
    for at, places in going.items():
        statement = statement_at(text, at)
        if statement is None:
            continue
        items = [item for item in statement.items if item.start in places]
        if len(items) == len(statement.items):
            gone.append((statement.start, statement.end))
        elif items:
            parted.append((at, items))
            spans += remove_items(text, statement, items)
    spans += [remove_statement(text, start, end, gone) for start, end in gone]
    return spans, dangers


def _is_use(resolver: Resolver, facts: Facts, text: bytes, path: str, name: str, at: int) -> bool:
    """Whether a place reads an imported name: not a name of an inner scope, a member or a keyword argument."""
    if facts.in_text(at) or at in facts.labels or receiver(text, at, facts.in_text) != ():
        return False
    own = resolver.lexical(path, facts, at, name)
    return own is None or own.scope == 0


def _is_type(facts: Facts, text: bytes, at: int) -> bool:
    """Whether a name in a string or comment may be part of a type."""
    start, end = facts.text_span(at)
    span_text = text[start:end]
    return b"type:" in span_text if span_text.startswith(b"#") else _QUOTED_TYPE.fullmatch(span_text) is not None


def _reason_to_keep(world: World, bound: Bound, import_: Import, in_types: bool, text: bytes) -> str:
    """Return why an import may still be needed; empty if it is certainly not."""
    facts = world.facts(bound.file)
    assert facts is not None
    if in_types:
        return "its name is in strings that may be types"
    if bound.file.endswith(("/__init__.py", ".pyi")) or bound.file == "__init__.py":
        return "a package may give it to others"
    if any(export.evidence == "all" and export.name == import_.local for export in facts.exports):
        return "it is in __all__"
    line = text[import_.at : line_end(text, import_.at)]
    if b"noqa" in line or b"isort" in line or b"pragma" in line:
        return "a comment asks to keep it"
    return ""
