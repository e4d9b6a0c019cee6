"""Python classes that are made from their fields: which of them have to be given, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.tokens import balanced, code_of, split_at
from codeplane.query.compare.verdict import Verdict

Given = Literal["required", "optional", "never"]
_DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "attrib", "s", "dataclass_transform"})
_BASES = frozenset({"NamedTuple", "TypedDict", "BaseModel", "SQLModel", "Struct"})
# Their values are always made by name.
_BY_NAME = frozenset({"TypedDict", "BaseModel", "SQLModel"})
_CALLS = frozenset({"field", "Field", "ib", "attrib"})
_DEFAULTS = frozenset({"default", "default_factory", "factory"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """How a field is given where a value is made."""

    given: Given
    by_name: bool = False


def is_made_of_fields(header: Header) -> bool:
    """Whether values of a class are made by giving its fields."""
    return _decorated(header) is not None or any(_last(base) in _BASES for base in header.bases)


def field_of(outline: Outline, place: int) -> Field | None:
    """How a definition is given where its class is made; None for what is no field of such a class."""
    one = outline.entities[place]
    if not outline.rules.field_classes or one.parent < 0 or one.kind not in ("variable", "constant"):
        return None
    holder = outline.parts(one.parent).header
    if outline.facts is None or one.definition is None or not is_made_of_fields(holder):
        return None
    name_end = one.definition.name_at + len(one.name.encode())
    tokens = code_of(outline.facts, outline.text, [(name_end, one.definition.end)])
    annotation, value = _cut(tokens)
    decorator = _decorated(holder) or ""
    call = _call(value)
    if not annotation and (call is None or "dataclass" in decorator):
        return None
    kind = next((token for token in annotation if token.isidentifier() and token != "typing"), "")
    if kind in ("ClassVar", "KW_ONLY") or (one.name.startswith("_") and _has_base(holder, _BY_NAME - {"TypedDict"})):
        return None
    named = "kw_only = True" in decorator or _has_base(holder, _BY_NAME) or "kw_only = True" in holder.bases
    named = named or _after_sign(outline, place)
    if _has_base(holder, frozenset({"TypedDict"})):
        loose = kind == "NotRequired" or ("total = False" in holder.bases and kind != "Required")
        return Field(given="optional" if loose else "required", by_name=True)
    if call is None:
        return Field(given="optional" if value else "required", by_name=named)
    return _of_call(call, by_name=named)


def judge_field(found: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Note what another default of a field does to those who make values of its class."""
    one, two = field_of(old, old_place), field_of(new, new_place)
    if one is None or two is None:
        return
    if two.given == "required" and one.given != "required":
        told = "has no default any more" if one.given == "optional" else "has to be given now"
        found.say(told, breaks=True)
    elif two.given == "never" and one.given != "never":
        found.say("can no longer be given", breaks=True)
    elif one.given != two.given:
        found.say("may be left out" if one.given == "required" else "may be given now", breaks=False)
    if two.by_name and not one.by_name and two.given != "never":
        found.say("is keyword-only now", breaks=True)


def judge_order(found: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Note which fields are no longer where those expect them who give fields by their place."""
    before, after = _placed(old, old_place), _placed(new, new_place)
    named = [name for name in before if name in _named(new, new_place)]
    if named:
        # Each of them says what it said; the class says it of all of them.
        found.say(f"{', '.join(named[:5])} {'is' if len(named) == 1 else 'are'} keyword-only now", breaks=True)
    stayed = [name for name in after if name in before]
    order = [name for name in before if name in after]
    came = [at for at, name in enumerate(after) if name not in before]
    late = {name for at, name in enumerate(after) if name in before and came and at > came[0]}
    moved = [name for name, other in zip(stayed, order, strict=True) if name != other or name in late]
    if moved:
        found.say(f"{', '.join(moved[:5])} {'has' if len(moved) == 1 else 'have'} another place", breaks=True)


def judge_made(found: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Note what a class can no longer do that its decorator did for it."""
    one, two = old.parts(old_place).header, new.parts(new_place).header
    if old.entities[old_place].kind != "class" or one.marks == two.marks:
        return
    before, after = _decorated(one), _decorated(two)
    if before is not None and not is_made_of_fields(two):
        own = {new.entities[child].name for child in new.children.get(new_place, ())}
        if "__init__" not in own and not two.bases and _placed(old, old_place):
            found.say("no longer made from its fields", breaks=True, tag="decorators_changed")
    if before is None or after is None:
        return
    if "frozen = True" in after and "frozen = True" not in before:
        found.say("can no longer be changed", breaks=True, tag="decorators_changed")
    if "order = True" in before and "order = True" not in after:
        found.say("can no longer be ordered", breaks=True, tag="decorators_changed")


def is_tuple(header: Header) -> bool:
    """Whether values of a class are taken apart by place."""
    return _has_base(header, frozenset({"NamedTuple"}))


def _named(outline: Outline, place: int) -> set[str]:
    """The fields that are given by name only."""
    found = set()
    for child in outline.children.get(place, ()):
        one = field_of(outline, child)
        if one is not None and one.given != "never" and one.by_name:
            found.add(outline.entities[child].name)
    return found


def _placed(outline: Outline, place: int) -> list[str]:
    """The fields that are given by place, in their order."""
    found = []
    for child in outline.children.get(place, ()):
        one = field_of(outline, child)
        if one is not None and one.given != "never" and not one.by_name:
            found.append(outline.entities[child].name)
    return found


def _of_call(call: tuple[str, Sequence[str]], *, by_name: bool) -> Field:
    """What `field(…)` says of the field."""
    name, inside = call
    given: Given = "required"
    for at, part in enumerate(split_at(inside, ",", angles=False)):
        if part[1:2] != ["="]:
            # Only these take the default first.
            if at == 0 and name != "field" and list(part) != ["..."]:
                given = "optional"
            continue
        said = " ".join(part[2:])
        if part[0] in _DEFAULTS and said not in ("...", "NOTHING", "MISSING"):
            given = "optional"
        if part[0] == "init" and said == "False":
            return Field(given="never")
        by_name = by_name or (part[0] == "kw_only" and said == "True")
    return Field(given=given, by_name=by_name)


def _cut(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """The annotation and the value of `: annotation = value`."""
    said = list(tokens)
    depth = 0
    for at, token in enumerate(said):
        depth += (token in "([{") - (token in ")]}")
        if token == "=" and not depth:
            return said[1:at] if said[:1] == [":"] else [], said[at + 1 :]
    return (said[1:] if said[:1] == [":"] else []), []


def _call(value: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """What is called to describe a field, and what is between its brackets."""
    if "(" not in value:
        return None
    at = list(value).index("(")
    name = value[at - 1] if at else ""
    if name not in _CALLS or not all(token.isidentifier() or token == "." for token in value[:at]):
        return None
    return name, value[at + 1 : balanced(value, at) - 1]


def _decorated(header: Header) -> str | None:
    """The decorator that makes a class of its fields."""
    for mark in header.marks:
        words = mark.partition("(")[0].replace("@", " ").replace(".", " ").split()
        if words and words[-1] in _DECORATORS and (words[-1] != "s" or words[:1] == ["attr"]):
            return mark
    return None


def _has_base(header: Header, wanted: frozenset[str]) -> bool:
    return any(_last(base) in wanted for base in header.bases)


def _last(base: str) -> str:
    words = base.partition("[")[0].split()
    return words[-1] if words and "=" not in words else ""


def _after_sign(outline: Outline, place: int) -> bool:
    """Whether `_: KW_ONLY` stands above a field."""
    one, facts = outline.entities[place], outline.facts
    holder = outline.entities[one.parent].definition
    if one.definition is None or holder is None or facts is None or b"KW_ONLY" not in outline.text:
        return False
    return b"KW_ONLY" in outline.text[holder.body : one.definition.start]
