"""Layouts: whether a changed body of a type changes what it holds for its users."""

import re
from collections.abc import Sequence

from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.rules import CALLABLES, PROMISES, VALUES
from codeplane.query.compare.type_compatibility import is_computed
from codeplane.query.compare.type_finder import FindType
from codeplane.query.compare.type_judge import TypeJudge
from codeplane.query.compare.type_use import is_only_given, is_only_taken
from codeplane.query.compare.visibility import visibility_of

_EMBEDDED = re.compile(r"(\* )?(\w+(?: \. \w+)?)( \[.*?\](?= |$))?")
_CONTAINED = frozenset({"struct", "record", "enum_member"})


def layout_breaks(pair: Pair, types: tuple[FindType, FindType]) -> bool:
    """Whether a changed body is a changed layout, as of a struct."""
    assert pair.old is not None and pair.new is not None
    kind = pair.now.kind
    if kind in VALUES or kind in CALLABLES:
        return False
    rules = pair.new.rules
    if kind in PROMISES and rules.whole_interfaces:
        bodies = pair.old.parts(pair.old_place).body, pair.new.parts(pair.new_place).body
        if is_computed(*map(" ".join, bodies)):
            return False
        return not (rules.unions and is_same_interface(pair, types))
    if kind == "struct" and rules.embedding:
        before, after = (_embedded_types(side.parts(place).body) for side, place in pair.sides)
        return not before <= after
    if kind == "struct" and rules.crates and all(is_closed(*side) for side in pair.sides):
        return False
    return rules.typed and kind in _CONTAINED


def _embedded_types(body: Sequence[str]) -> set[str]:
    """The types that a struct embeds."""
    return {" ".join(found) for found in _EMBEDDED.findall(" ".join(token for token in body if token[:1] not in '`"'))}


def is_same_interface(pair: Pair, types: tuple[FindType, FindType]) -> bool:
    """Whether an interface may have, and ask for, neither more nor less than before."""
    assert pair.old is not None and pair.new is not None
    judge = TypeJudge((pair.old, pair.old_place), (pair.new, pair.new_place), types)
    return judge.holds_the_same(is_taken=is_only_taken(pair), is_given=is_only_given(pair))


def is_closed(outline: Outline, place: int) -> bool:
    """Whether a struct of Rust has fields, and none that users see."""
    if outline.entities[place].kind != "struct":
        return False
    body = outline.parts(place).body
    fields = outline.children.get(place, ())
    kinds = {visibility_of(outline, child) for child in fields if outline.entities[child].kind == "field"}
    is_seen = any(token == "pub" and body[at + 1 : at + 2] != ("(",) for at, token in enumerate(body))
    return (body[:1] == ("(",) and not is_seen) or (bool(kinds) and "public" not in kinds)
