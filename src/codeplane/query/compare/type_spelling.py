"""Types of Rust that are spelled differently and are the same."""

import re
from dataclasses import replace

from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline

_SELF = re.compile(r"\bSelf\b(?! ::)")
# A lifetime that would be left out all the same.
_LEFT_OUT = re.compile(r"< ' ?_ (?:> ?|, (?P<more>))")
_FIRST = re.compile(r"(?<!:: )(?<![\w'])[A-Za-z_]\w*")


def with_same_spelling(old: Outline, old_place: int, new: Outline, new_place: int, header: Header) -> Header:
    """The old header, with the types spelled as they are now where both spellings mean the same."""
    if not (old.rules.crates and new.rules.crates) or old.facts is None or new.facts is None:
        return header
    now = new.parts(new_place).header

    def respelled(before: str, after: str) -> str:
        if before == after or not before or not after:
            return before
        return after if _spelled_out(old, old_place, before) == _spelled_out(new, new_place, after) else before

    header = replace(header, returns=respelled(header.returns, now.returns))
    if header.parameters is None or now.parameters is None or len(header.parameters) != len(now.parameters):
        return header
    pairs = zip(header.parameters, now.parameters, strict=True)
    return replace(
        header, parameters=tuple(replace(each, type=respelled(each.type, other.type)) for each, other in pairs)
    )


def _spelled_out(outline: Outline, place: int, written: str) -> str:
    """A type with the paths that a file imports its names by, and with its own name for `Self`."""
    parent = outline.entities[place].parent
    if parent >= 0 and not outline.parts(parent).header.generics and outline.entities[parent].kind != "trait":
        written = _SELF.sub(outline.entities[parent].name, written)
    written = _LEFT_OUT.sub(lambda found: "< " if found["more"] is not None else "", written)
    paths = {
        item.local or item.imported: " :: ".join((*item.source.split("::"), item.imported))
        for item in (outline.facts.imports if outline.facts is not None else ())
        if item.scope == 0 and item.imported not in ("", "*", "self")
    }
    return " ".join(_FIRST.sub(lambda found: paths.get(found[0], found[0]), written).split())
