"""Attributes that a class of Python lists by their names: `__slots__` and `__match_args__`."""

import re
from collections.abc import Sequence

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.entity import Bound
from codeplane.code.resolve.tier import Tier
from codeplane.refactor.rename.ground import Ground

_LISTS = ("__slots__", "__match_args__")
_CALLED = re.compile(rb"[\w\x80-\xff\])][ \t]*[(\[]")
_VALUE = re.compile(rb"[\"'][ \t]*:[ \t]*[\"']$")


def slot_tier(ground: Ground, bounds: Sequence[Bound], path: str, facts: Facts, text: bytes, at: int) -> Tier | None:
    """How sure a name in quotes is an entry for one of these members; None where it is none."""
    end = at + ground.length
    if text[at - 1 : at] not in (b'"', b"'") or text[end : end + 1] != text[at - 1 : at]:
        return None
    scope = facts.scope_at(at)
    if facts.scopes[scope].kind != "class":
        return None
    listed = [facts.definitions[index] for name in _LISTS for index in facts.declared.get((scope, name), ())]
    around = next((one for one in listed if one.start <= at < one.end), None)
    of = facts.scopes[scope].definition
    if around is None or of < 0:
        return None
    before = text[text.find(b"=", around.name_at) + 1 : at]
    # What is given to a call, or says something of an entry, may be anything.
    plain = not _CALLED.search(before) and not _VALUE.search(before)
    if any(one.file == path and one.scope == scope for one in bounds):
        return "STRONG" if plain else "UNKNOWN"
    owner = Bound(path, facts.definitions[of].scope, facts.definitions[of].name)
    mine = ground.subject.owner
    if mine is None:
        return None
    related = mine in ground.resolver.line_of(owner)[0] or owner in ground.resolver.line_of(mine)[0]
    return "ANCHORED" if related and plain else None
