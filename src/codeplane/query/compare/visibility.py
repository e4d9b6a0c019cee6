"""The visibility of a definition, by its language's keywords, case or export lists."""

import re

from codeplane.code.languages.contract import Visibility
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Entity, Outline
from codeplane.query.compare.rules import ORDER, PROMISES
from codeplane.query.compare.tokens import code_of

# Folders of a repository that show how it is used, and that nobody uses.
_SHOWN = frozenset({"example", "examples", "demo", "demos", "docs", "benchmark", "benchmarks"})
_PLACES = frozenset({"namespace", "module"})
_SECTION = re.compile(rb"\b(public|private|protected)\s*:")
_EXPORTED = re.compile(rb"\bexport\s+(?:(?:declare|default|abstract|async|const|let|var)\s+)*\Z")
_RUBY_SECTION = re.compile(rb"^[ \t]*(public|private|protected)[ \t]*(?:#.*)?$", re.MULTILINE)
_MAIN = re.compile(rb"^package main\b", re.MULTILINE)
_DECLARING = (".d.ts", ".d.mts", ".d.cts")


def visibility_of(outline: Outline, place: int) -> Visibility:
    """The visibility of an entity, at most that of its container."""
    if (known := outline.visibilities.get(place)) is not None:
        return known
    entity = outline.entities[place]
    visibility = _own_visibility(outline, entity, place)
    if entity.parent >= 0 and not _is_decided_by_crate(outline, entity):
        visibility = max(visibility, visibility_of(outline, entity.parent), key=lambda each: ORDER[each])
    outline.visibilities[place] = visibility
    return visibility


def _own_visibility(outline: Outline, entity: Entity, place: int) -> Visibility:
    """The visibility of a definition, ignoring its container."""
    rules = outline.rules
    if outline.path.partition("/")[0].lower() in _SHOWN:
        return "internal"
    if outline.is_program and rules.visible in ("all", "underscore"):
        return "internal"
    if rules.visible == "underscore":
        return _by_underscore(outline, entity)
    if rules.visible == "exported":
        return _by_export(outline, entity, place)
    if rules.visible == "capital":
        if "internal" in outline.path.split("/")[:-1] or _MAIN.search(outline.text):
            return "internal"
        return "public" if entity.name[:1].isupper() else "private"
    if rules.crates and outline.package is not None and not outline.package.is_seen(outline.path, entity.path):
        return "internal"
    if entity.definition is None:
        return "public"
    around = outline.entities[entity.parent].kind if entity.parent >= 0 else ""
    if entity.kind == "enum_member" or around in PROMISES or (around == "record" and entity.kind == "field"):
        return "public"
    if rules.visible == "pub":
        return _by_pub(outline, entity, place)
    if rules.visible == "static":
        words = _before(outline, entity)
        return "private" if not {"static", "local"}.isdisjoint(words) and entity.parent < 0 else "public"
    if rules.visible == "sections":
        return _by_section(outline, entity, around)
    return _by_modifier(outline, entity, outline.parts(place).header) if rules.visible == "modifier" else "public"


def _is_decided_by_crate(outline: Outline, entity: Entity) -> bool:
    """Whether what a module passes on decides about a definition in it, and not who sees the module."""
    around = outline.entities[entity.parent]
    return outline.rules.crates and around.kind == "module" and outline.package is not None


def _by_underscore(outline: Outline, entity: Entity) -> Visibility:
    if outline.rules.visibility_sections and entity.parent >= 0 and entity.definition is not None:
        # Ruby says it once for all that follows.
        holder = outline.entities[entity.parent].definition
        sections = _RUBY_SECTION.findall(
            outline.text, holder.start if holder is not None else 0, entity.definition.start
        )
        if sections and sections[-1] != b"public":
            return "private" if sections[-1] == b"private" else "protected"
    if entity.name in outline.rules.uncalled:
        return "private"
    if entity.name.startswith("_") and not (entity.name.startswith("__") and entity.name.endswith("__")):
        return "private"
    if entity.parent >= 0 or not outline.rules.private_modules:
        return "public"
    if entity.definition is not None and any(first <= entity.definition.start < end for first, end in outline.run_only):
        return "internal"
    if outline.is_private_module and not outline.is_passed_on(entity.name):
        return "internal"
    return (
        "internal"
        if outline.is_listed and entity.kind != "export" and entity.name not in outline.exported
        else "public"
    )


def _by_export(outline: Outline, entity: Entity, place: int) -> Visibility:
    if outline.facts is None:
        return "public"
    if outline.is_program:
        return "internal"
    if entity.parent < 0 and outline.package is not None and not outline.package.is_seen(outline.path, entity.name):
        return "internal"
    if entity.kind == "export":
        return "public"
    if entity.parent >= 0:
        if entity.name.startswith("#") or (outline.rules.underscore_members and entity.name.startswith("_")):
            return "private"
        if outline.entities[entity.parent].kind in _PLACES and not outline.path.endswith(_DECLARING):
            at = entity.definition.start if entity.definition is not None else 0
            if not _EXPORTED.search(outline.text, max(0, at - 60), at):
                return "private"
        modifiers = outline.parts(place).header.modifiers
        return "private" if "private" in modifiers else "protected" if "protected" in modifiers else "public"
    if outline.path.endswith(_DECLARING) and not outline.facts.exports:
        return "public"
    return "public" if entity.name in outline.exported else "internal"


def _by_pub(outline: Outline, entity: Entity, place: int) -> Visibility:
    words = _before(outline, entity)
    marks = outline.parts(place).header.marks
    if outline.rules.is_unpromised is not None and any(map(outline.rules.is_unpromised, marks)):
        return "internal"
    if "pub" not in words:
        return "public" if entity.kind == "macro" and any("macro_export" in mark for mark in marks) else "private"
    after = words.index("pub") + 1
    return "internal" if outline.is_program or words[after : after + 1] == ["("] else "public"


def _by_modifier(outline: Outline, entity: Entity, header: Header) -> Visibility:
    words = header.modifiers | set(_before(outline, entity))
    if "public" in words or ("open" in words and outline.rules.open_is_public):
        return "public"
    if "protected" in words:
        return "internal" if "private" in words else "protected"
    if not {"private", "fileprivate"}.isdisjoint(words):
        return "private"
    if "internal" in words:
        return "internal"
    if entity.kind in _PLACES:
        return "public"
    is_member = entity.parent >= 0 and outline.entities[entity.parent].kind not in _PLACES
    return outline.rules.member if is_member else outline.rules.top


def _by_section(outline: Outline, entity: Entity, around: str) -> Visibility:
    """The visibility set by the last section label in C++."""
    if entity.definition is not None and any(first <= entity.definition.start < end for first, end in outline.unnamed):
        return "private"
    if entity.parent < 0 or around in _PLACES or entity.definition is None:
        return "private" if "static" in _before(outline, entity) and entity.parent < 0 else "public"
    holder = outline.entities[entity.parent].definition
    if holder is None or not holder.start <= entity.definition.start < holder.end:
        return "public"
    sections = _SECTION.findall(outline.text, holder.start, entity.definition.start)
    section = sections[-1].decode() if sections else "private" if around == "class" else "public"
    return "public" if section == "public" else "protected" if section == "protected" else "private"


def _before(outline: Outline, entity: Entity) -> list[str]:
    if entity.definition is None or outline.facts is None:
        return []
    return code_of(outline.facts, outline.text, [(outline.start_of(entity.definition), entity.definition.name_at)])
