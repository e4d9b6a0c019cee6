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
    for export in facts.exports:
        if export.evidence not in _NAMING or not (
            export.source or export.name != export.local or export.evidence == "commonjs"
        ):
            continue
        if export.name == "*" or (export.evidence == "commonjs" and not export.local):
            continue
        found.setdefault(export.at, export)
        if export.source and export.name != export.local and export.local != "*":
            start = max(0, export.at - _BEFORE)
            before = _AS.search(text[start : export.at])
            if before is not None and before[1] == export.local.encode():
                found[start + before.start(1)] = export
    return found


def whole_export(facts: Facts) -> Export | None:
    """What `module.exports` or `export =` makes of a module as a whole, if it is a name."""
    whole = [export for export in facts.exports if export.evidence == "module_exports"]
    return whole[0] if len(whole) == 1 and whole[0].local else None
