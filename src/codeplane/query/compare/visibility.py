"""Who can know of a definition, by itself: what its language says with a word, a letter or a list."""

import re
from typing import TYPE_CHECKING

from codeplane.code.languages.contract import Visibility
from codeplane.query.compare.header import Header
from codeplane.query.compare.rules import PROMISES
from codeplane.query.compare.tokens import code_of

if TYPE_CHECKING:
    from codeplane.query.compare.outline import Entity, Outline

_PLACES = frozenset({"namespace", "module"})
_SECTION = re.compile(rb"\b(public|private|protected)\s*:")
_EXPORTED = re.compile(rb"\bexport\s+(?:(?:declare|default|abstract|async|const|let|var)\s+)*\Z")
_RUBY_SECTION = re.compile(rb"^[ \t]*(public|private|protected)[ \t]*(?:#.*)?$", re.MULTILINE)
_MAIN = re.compile(rb"^package main\b", re.MULTILINE)
_DECLARING = (".d.ts", ".d.mts", ".d.cts")


def seen_by_itself(outline: "Outline", one: "Entity", place: int) -> Visibility:
    """How visible a definition is where all around it is."""
    rules = outline.rules
    if rules.visible == "underscore":
        return _by_underscore(outline, one)
    if rules.visible == "exported":
        return _by_export(outline, one, place)
    if rules.visible == "capital":
        if "internal" in outline.path.split("/")[:-1] or _MAIN.search(outline.text):
            return "internal"
        return "public" if one.name[:1].isupper() else "private"
    if one.definition is None:
        return "public"
    around = outline.entities[one.parent].kind if one.parent >= 0 else ""
    if one.kind == "enum_member" or around in PROMISES or (around == "record" and one.kind == "field"):
        return "public"
    if rules.visible == "pub":
        return _by_pub(outline, one, place)
    if rules.visible == "static":
        said = _before(outline, one)
        return "private" if not {"static", "local"}.isdisjoint(said) and one.parent < 0 else "public"
    if rules.visible == "sections":
        return _by_section(outline, one, around)
    return _by_modifier(outline, one, outline.parts(place).header) if rules.visible == "modifier" else "public"


def _by_underscore(outline: "Outline", one: "Entity") -> Visibility:
    if outline.rules.visibility_sections and one.parent >= 0 and one.definition is not None:
        # Ruby says it once for all that follows.
        holder = outline.entities[one.parent].definition
        said = _RUBY_SECTION.findall(outline.text, holder.start if holder is not None else 0, one.definition.start)
        if said and said[-1] != b"public":
            return "private" if said[-1] == b"private" else "protected"
    if one.name.startswith("_") and not (one.name.startswith("__") and one.name.endswith("__")):
        return "private"
    if one.parent >= 0 or not outline.rules.private_modules:
        return "public"
    if outline.is_private_module and not outline.is_passed_on(one.name):
        return "internal"
    return "internal" if outline.is_listed and one.kind != "export" and one.name not in outline.exported else "public"


def _by_export(outline: "Outline", one: "Entity", place: int) -> Visibility:
    if one.kind == "export" or outline.facts is None:
        return "public"
    if one.parent >= 0:
        if one.name.startswith("#"):
            return "private"
        if outline.entities[one.parent].kind in _PLACES and not outline.path.endswith(_DECLARING):
            at = one.definition.start if one.definition is not None else 0
            if not _EXPORTED.search(outline.text, max(0, at - 60), at):
                return "private"
        said = outline.parts(place).header.modifiers
        return "private" if "private" in said else "protected" if "protected" in said else "public"
    if outline.path.endswith(_DECLARING) and not outline.facts.exports:
        return "public"
    return "public" if one.name in outline.exported else "internal"


def _by_pub(outline: "Outline", one: "Entity", place: int) -> Visibility:
    said = _before(outline, one)
    if "pub" not in said:
        marks = outline.parts(place).header.marks
        return "public" if one.kind == "macro" and any("macro_export" in mark for mark in marks) else "private"
    after = said.index("pub") + 1
    return "internal" if said[after : after + 1] == ["("] else "public"


def _by_modifier(outline: "Outline", one: "Entity", header: Header) -> Visibility:
    said = header.modifiers | set(_before(outline, one))
    if "public" in said or ("open" in said and outline.rules.open_is_public):
        return "public"
    if "protected" in said:
        return "internal" if "private" in said else "protected"
    if not {"private", "fileprivate"}.isdisjoint(said):
        return "private"
    if "internal" in said:
        return "internal"
    if one.kind in _PLACES:
        return "public"
    is_member = one.parent >= 0 and outline.entities[one.parent].kind not in _PLACES
    return outline.rules.member if is_member else outline.rules.top


def _by_section(outline: "Outline", one: "Entity", around: str) -> Visibility:
    """C++ says it once for all that follows."""
    if one.definition is not None and any(first <= one.definition.start < end for first, end in outline.unnamed):
        return "private"
    if one.parent < 0 or around in _PLACES or one.definition is None:
        return "private" if "static" in _before(outline, one) and one.parent < 0 else "public"
    holder = outline.entities[one.parent].definition
    if holder is None or not holder.start <= one.definition.start < holder.end:
        return "public"
    found = _SECTION.findall(outline.text, holder.start, one.definition.start)
    said = found[-1].decode() if found else "private" if around == "class" else "public"
    return "public" if said == "public" else "protected" if said == "protected" else "private"


def _before(outline: "Outline", one: "Entity") -> list[str]:
    if one.definition is None or outline.facts is None:
        return []
    return code_of(outline.facts, outline.text, [(outline.start_of(one.definition), one.definition.name_at)])
