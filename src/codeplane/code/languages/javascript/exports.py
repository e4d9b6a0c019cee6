"""Where a file names its exports: in export lists, and in assignments to `exports`."""

import re
from collections.abc import Mapping

from codeplane.code.model import Export, Facts

_NAMING = frozenset({"named", "star", "commonjs"})
_AS = re.compile(rb"([\w$\x80-\xff]+)\s+as\s+$")
_BEFORE = 300


def exported_places(facts: Facts, text: bytes) -> Mapping[int, Export]:
    """The places of names that no scope of the file explains: what is passed on, and what it is called outside."""
    found: dict[int, Export] = {}
    for one in facts.exports:
        if one.evidence not in _NAMING or not (one.source or one.name != one.local or one.evidence == "commonjs"):
            continue
        if one.name == "*" or (one.evidence == "commonjs" and not one.local):
            continue
        found.setdefault(one.at, one)
        if one.source and one.name != one.local and one.local != "*":
            start = max(0, one.at - _BEFORE)
            before = _AS.search(text[start : one.at])
            if before is not None and before[1] == one.local.encode():
                found[start + before.start(1)] = one
    return found


def given_whole(facts: Facts) -> Export | None:
    """What `module.exports` or `export =` makes of a module as a whole, if it is a name."""
    whole = [one for one in facts.exports if one.evidence == "module_exports"]
    return whole[0] if len(whole) == 1 and whole[0].local else None
