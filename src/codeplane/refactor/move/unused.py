"""Imports that only what went away had used."""

import re
from collections.abc import Sequence

from codeplane.code.facts.model import Facts, Import
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.expression import receiver
from codeplane.code.resolve.references import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger
from codeplane.refactor.move.cut import Piece
from codeplane.refactor.move.outside import taken_outside
from codeplane.refactor.move.statement import Item, Span, import_spans, line_end, removed, statement_at, without

_QUOTED_TYPE = re.compile(
    rb"[A-Za-z]{0,2}[\"']{1,3}\s*[\w.]+(?:\[[^\"']*\])?(?:\s*\|\s*[\w.]+(?:\[[^\"']*\])?)*\s*[\"']{1,3}"
)


def left_unused(
    world: World, resolver: Resolver, bound: Bound, pieces: Sequence[Piece], brought: Sequence[Import]
) -> tuple[list[Span], list[Danger]]:
    """What takes imports out that are certainly not used any more; of those that may be, a danger each."""
    text = world.text(bound.file)
    facts = world.facts(bound.file)
    assert facts is not None
    spans: list[Span] = []
    dangers: list[Danger] = []
    going: dict[int, list[int]] = {}
    imports = import_spans(facts, text)
    for one in brought:
        left = [
            at
            for at in occurrences(text, one.local)
            if not any(piece.begin <= at < piece.until for piece in pieces)
            and at not in (one.local_at, one.imported_at)
        ]
        left = [at for at in left if not any(start <= at < end for start, end in imports)]
        if any(_is_use(resolver, facts, text, bound.file, one.local, at) for at in left):
            continue
        said = any(_is_type(facts, text, at) for at in left if facts.in_text(at))
        why = _kept(world, bound, one, said, text) or taken_outside(world, resolver, bound.file, one.local)
        if why:
            what = f"{one.local} may not be needed in {bound.file} any more: {why}"
            dangers.append(Danger(kind="unused_import", what=what, path=bound.file, offset=one.at))
        else:
            going.setdefault(one.at, []).append(one.imported_at)
    gone: list[tuple[int, int]] = []
    parted: list[tuple[int, list[Item]]] = []
    for at, places in going.items():
        statement = statement_at(text, at)
        if statement is None:
            continue
        items = [one for one in statement.items if one.start in places]
        if len(items) == len(statement.items):
            gone.append((statement.start, statement.end))
        elif items:
            parted.append((at, items))
            spans += without(text, statement, items)
    spans += [removed(text, start, end, gone) for start, end in gone]
    return spans, dangers


def _is_use(resolver: Resolver, facts: Facts, text: bytes, path: str, name: str, at: int) -> bool:
    """Whether a place reads what an import bound; another scope's own name, a member or an argument's name do not."""
    if facts.in_text(at) or at in facts.labels or receiver(text, at, facts.in_text) != ():
        return False
    own = resolver.lexical(path, facts, at, name)
    return own is None or own.scope == 0


def _is_type(facts: Facts, text: bytes, at: int) -> bool:
    """Whether a name in text may be one that types are read from: a quoted expression, or a comment that says so."""
    start, end = facts.text_span(at)
    said = text[start:end]
    return b"type:" in said if said.startswith(b"#") else _QUOTED_TYPE.fullmatch(said) is not None


def _kept(world: World, bound: Bound, one: Import, said: bool, text: bytes) -> str:
    """Why an import may be needed all the same; empty when it is certainly not."""
    facts = world.facts(bound.file)
    assert facts is not None
    if said:
        return "its name is in strings that may be types"
    if bound.file.endswith(("/__init__.py", ".pyi")) or bound.file == "__init__.py":
        return "a package may give it to others"
    if any(export.evidence == "all" and export.name == one.local for export in facts.exports):
        return "it is in __all__"
    line = text[one.at : line_end(text, one.at)]
    if b"noqa" in line or b"isort" in line or b"pragma" in line:
        return "a comment asks to keep it"
    return ""
