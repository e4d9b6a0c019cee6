"""Names written in text that code reads: annotations in quotes, `__all__`, type comments, names for run time."""

import re
from collections.abc import Iterator, Sequence

from codeplane.code.facts.model import Facts
from codeplane.code.resolve.entity import Bound, Entity
from codeplane.code.resolve.tier import Tier
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.ground import Ground
from codeplane.refactor.rename.slots import slot_tier
from codeplane.refactor.rename.spelling import Spelling

_TYPE_COMMENT = re.compile(rb"#\s*type:\s*(?!ignore\b)")
_DOTTED = re.compile(rb"[A-Za-z_][\w.]*$")
_PLAIN = re.compile(rb"[\w.\[\], |\"'\s]*$")
_QUOTES = b"\"'`"
_LITERAL = frozenset({b"Literal", b"Annotated"})
_ACCESS = 400
_MAX_DOTTED = 200
_SPELLED = "spells the whole dotted path"
_PATH_ALONE = re.compile(rb"[A-Za-z]{0,2}([\"'])[\w.:]+\1")
_CASTS = re.compile(rb"\b(?:cast|TypeVar|NewType|ForwardRef)\s*\(\s*(?:[^()]*?[=,]\s*)?$")


def string_edits(ground: Ground, bounds: Sequence[Bound]) -> Iterator[Edit]:
    """An edit for every place in text that is, or may be, a use of the name."""
    if not ground.subject.language.names.names_in_strings or ground.subject.sort == "local":
        return
    spelling = Spelling(ground.world, ground.resolver, bounds)
    for path, facts in ground.files(ground.name):
        text = ground.world.text(path)
        listed = {one.at for one in facts.exports if one.evidence == "all" and one.name == ground.name}
        reached = _reached(facts, ground.name)
        for at in ground.places(path, ground.name):
            if not facts.in_text(at):
                continue
            tier, role, why = _judged(ground, spelling, bounds, path, facts, text, at, listed, reached)
            if tier is not None:
                yield Edit(
                    path=path,
                    start=at,
                    end=at + ground.length,
                    new=ground.new,
                    tier=tier,
                    role="EXPORT" if role == "EXPORT" else "STRING",
                    why=why,
                    # A sentence may speak of it; a string that is its path and nothing else is read by a program.
                    likely=why != _SPELLED or _PATH_ALONE.match(text, _span(facts, at)[0]) is not None,
                )
        if ground.late("names in strings were read"):
            return


def _judged(
    ground: Ground,
    spelling: Spelling,
    bounds: Sequence[Bound],
    path: str,
    facts: Facts,
    text: bytes,
    at: int,
    listed: set[int],
    reached: Sequence[int],
) -> tuple[Tier | None, str, str]:
    if at in listed:
        return (*_of_all(ground, spelling, bounds, path, facts), "listed in __all__")
    start, end = _span(facts, at)
    if _TYPE_COMMENT.match(text, start):
        found = _named(ground, spelling, bounds, path, at)
        return ("STRONG" if found else None), "STRING", "in a type comment"
    if text[start : start + 1] == b"#":
        return None, "", ""
    if ground.subject.sort == "member" and (slot := slot_tier(ground, bounds, path, facts, text, at)) is not None:
        return slot, "STRING", "an attribute that its class lists"
    named = _stands_as_type(text, start) and _named(ground, spelling, bounds, path, at)
    # Only what would mean the symbol is worth a parse.
    if named and _is_annotation(ground, path, text, at):
        inside = text[start:end]
        plain = b"\\" not in inside and _PLAIN.match(inside) is not None
        return ("STRONG" if plain else "UNKNOWN"), "STRING", "an annotation in quotes"
    alone = text[at - 1 : at] in (b'"', b"'") and text[at + ground.length : at + ground.length + 1] in (b'"', b"'")
    if alone and any(call < at < call + _ACCESS for call in reached):
        return "UNKNOWN", "STRING", "reached by its name at run time"
    if alone and named and _CASTS.search(text, max(0, start - 120), start):
        return "UNKNOWN", "STRING", "a type in quotes"
    if _spelled_out(ground, bounds, path, text, at):
        return "UNKNOWN", "STRING", _SPELLED
    return None, "", ""


def _of_all(
    ground: Ground, spelling: Spelling, bounds: Sequence[Bound], path: str, facts: Facts
) -> tuple[Tier | None, str]:
    given = ground.resolver.export(path, ground.name)
    if not any(one in bounds for one in given):
        return None, ""
    if not spelling.gives(path):
        return None, ""
    return ("STRONG" if len(given) == 1 else "UNKNOWN"), "EXPORT"


def _reached(facts: Facts, name: str) -> list[int]:
    return [one.at for one in facts.dynamic if one.literal == name and one.pattern == "getattr"]


def _span(facts: Facts, at: int) -> tuple[int, int]:
    return facts.text_span(at)


def _named(ground: Ground, spelling: Spelling, bounds: Sequence[Bound], path: str, at: int) -> bool:
    """Whether the name would mean the symbol if its text were code."""
    meaning = ground.resolver.at(path, at, ground.name)
    return meaning.certain and any(one in bounds for one in meaning.entities) and spelling.is_own(path, at)


def _stands_as_type(text: bytes, start: int) -> bool:
    """Whether what stands before a string allows that it is a type; on the line after a colon it is a docstring."""
    before = text[max(0, start - 200) : start]
    plain = before.rstrip()
    if plain.endswith(b":"):
        return b"\n" not in before[len(plain) :]
    return plain.endswith((b"->", b"[", b",", b"|", b"=", b"("))


def _is_annotation(ground: Ground, path: str, text: bytes, at: int) -> bool:
    """Whether a string stands where types do; one that is a value inside a type does not count."""
    node = ground.syntax.node(path, at, at + ground.length)
    typed = False
    while node is not None and node.type not in ("block", "module", "call"):
        if node.type in ("generic_type", "subscript"):
            head = text[node.start_byte : node.end_byte].partition(b"[")[0].strip().rpartition(b".")[2]
            if head in _LITERAL:
                return False
        typed = typed or node.type == "type"
        node = node.parent
    return typed


def _spelled_out(ground: Ground, bounds: Sequence[Bound], path: str, text: bytes, at: int) -> bool:
    """Whether a string holds the dotted path that leads to the symbol from outside."""
    if text[at - 1 : at] not in (b".", b":"):
        return False
    dotted = _DOTTED.search(text, max(0, at - _MAX_DOTTED), at - 1)
    if dotted is None:
        return False
    parts = dotted[0].decode("utf-8", "replace").split(".")
    for cut in range(len(parts), 0, -1):
        for module in ground.world.python().find(".".join(parts[:cut]), path):
            found: list[Entity] = []
            names = [*parts[cut:], ground.name]
            found += ground.resolver.export(module, names[0])
            for name in names[1:]:
                owners = [one for one in found if isinstance(one, Bound)]
                found = [one for owner in owners if (one := ground.resolver.member(owner, name)[0]) is not None]
            if any(one in bounds for one in found):
                return True
    return False
