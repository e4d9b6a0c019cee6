"""Fields of Python classes such as dataclasses: which are required, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.tokens import closing_index, code_of, split_at
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
    """How a field is passed to the constructor."""

    given: Given
    by_name: bool = False


def is_made_of_fields(header: Header) -> bool:
    """Whether a class's constructor takes its fields."""
    return _field_decorator(header) is not None or any(_last(base) in _BASES for base in header.bases)


def field_of(outline: Outline, place: int) -> Field | None:
    """How a definition is passed to its class's constructor; None if it is not a field."""
    entity = outline.entities[place]
    if not outline.rules.field_classes or entity.parent < 0 or entity.kind not in ("variable", "constant"):
        return None
    holder = outline.parts(entity.parent).header
    if outline.facts is None or entity.definition is None or not is_made_of_fields(holder):
        return None
    name_end = entity.definition.name_at + len(entity.name.encode())
    tokens = code_of(outline.facts, outline.text, [(name_end, entity.definition.end)])
    annotation, value = _cut(tokens)
    decorator = _field_decorator(holder) or ""
    call = _call(value)
    if not annotation and (call is None or "dataclass" in decorator):
        return None
    kind = next((token for token in annotation if token.isidentifier() and token != "typing"), "")
    if kind in ("ClassVar", "KW_ONLY") or (entity.name.startswith("_") and _has_base(holder, _BY_NAME - {"TypedDict"})):
        return None
    named = "kw_only = True" in decorator or _has_base(holder, _BY_NAME) or "kw_only = True" in holder.bases
    named = named or _after_sign(outline, place)
    if _has_base(holder, frozenset({"TypedDict"})):
        loose = kind == "NotRequired" or ("total = False" in holder.bases and kind != "Required")
        return Field(given="optional" if loose else "required", by_name=True)
    if call is None:
        return Field(given="optional" if value else "required", by_name=named)
    return _of_call(call, by_name=named)


def judge_field(verdict: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Judge a changed default of a field."""
    old_field, new_field = field_of(old, old_place), field_of(new, new_place)
    if old_field is None or new_field is None:
        return
    if new_field.given == "required" and old_field.given != "required":
        message = "has no default any more" if old_field.given == "optional" else "has to be given now"
        verdict.add(message, breaks=True)
    elif new_field.given == "never" and old_field.given != "never":
        verdict.add("can no longer be given", breaks=True)
    elif old_field.given != new_field.given:
        verdict.add("may be left out" if old_field.given == "required" else "may be given now", breaks=False)
    if new_field.by_name and not old_field.by_name and new_field.given != "never":
        verdict.add("is keyword-only now", breaks=True)


def judge_order(verdict: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Judge fields that changed their position."""
    before, after = _positional_fields(old, old_place), _positional_fields(new, new_place)
    named = [name for name in before if name in _keyword_fields(new, new_place)]
    if named:
        # Each field is declared as before; only the class declares them together.
        verdict.add(f"{', '.join(named[:5])} {'is' if len(named) == 1 else 'are'} keyword-only now", breaks=True)
    stayed = [name for name in after if name in before]
    order = [name for name in before if name in after]
    came = [at for at, name in enumerate(after) if name not in before]
    late = {name for at, name in enumerate(after) if name in before and came and at > came[0]}
    moved = [name for name, other in zip(stayed, order, strict=True) if name != other or name in late]
    if "dataclass" in (_field_decorator(new.parts(new_place).header) or ""):
        # Its users give no value for a name with an underscore.
        moved = [name for name in moved if not name.startswith("_")]
    if moved:
        verdict.add(f"{', '.join(moved[:5])} {'has' if len(moved) == 1 else 'have'} another place", breaks=True)


def judge_made(verdict: Verdict, old: Outline, old_place: int, new: Outline, new_place: int) -> None:
    """Judge what a class lost with its decorator."""
    old_header, new_header = old.parts(old_place).header, new.parts(new_place).header
    if old.entities[old_place].kind != "class" or old_header.marks == new_header.marks:
        return
    before, after = _field_decorator(old_header), _field_decorator(new_header)
    if before is not None and not is_made_of_fields(new_header):
        own = {new.entities[child].name for child in new.children.get(new_place, ())}
        if "__init__" not in own and not new_header.bases and _positional_fields(old, old_place):
            verdict.add("no longer made from its fields", breaks=True, tag="decorators_changed")
    if before is None or after is None:
        return
    if "frozen = True" in after and "frozen = True" not in before:
        verdict.add("can no longer be changed", breaks=True, tag="decorators_changed")
    if "order = True" in before and "order = True" not in after:
        verdict.add("can no longer be ordered", breaks=True, tag="decorators_changed")


def is_tuple(header: Header) -> bool:
    """Whether values of a class unpack by position."""
    return _has_base(header, frozenset({"NamedTuple"}))


def _keyword_fields(outline: Outline, place: int) -> set[str]:
    """The keyword-only fields."""
    names = set()
    for child in outline.children.get(place, ()):
        field = field_of(outline, child)
        if field is not None and field.given != "never" and field.by_name:
            names.add(outline.entities[child].name)
    return names


def _positional_fields(outline: Outline, place: int) -> list[str]:
    """The positional fields, in order."""
    names = []
    for child in outline.children.get(place, ()):
        field = field_of(outline, child)
        if field is not None and field.given != "never" and not field.by_name:
            names.append(outline.entities[child].name)
    return names


def _of_call(call: tuple[str, Sequence[str]], *, by_name: bool) -> Field:
    """Read the arguments of `field(…)`."""
    name, inside = call
    given: Given = "required"
    for at, part in enumerate(split_at(inside, ",", angles=False)):
        if part[1:2] != ["="]:
            # Only these take the default first.
            if at == 0 and name != "field" and list(part) != ["..."]:
                given = "optional"
            continue
        value = " ".join(part[2:])
        if part[0] in _DEFAULTS and value not in ("...", "NOTHING", "MISSING"):
            given = "optional"
        if part[0] == "init" and value == "False":
            return Field(given="never")
        by_name = by_name or (part[0] == "kw_only" and value == "True")
    return Field(given=given, by_name=by_name)


def _cut(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """The annotation and the value of `: annotation = value`."""
    tokens_left = list(tokens)
    depth = 0
    for at, token in enumerate(tokens_left):
        depth += (token in "([{") - (token in ")]}")
        if token == "=" and not depth:
            return tokens_left[1:at] if tokens_left[:1] == [":"] else [], tokens_left[at + 1 :]
    return (tokens_left[1:] if tokens_left[:1] == [":"] else []), []


def _call(value: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """The function that describes a field, and the tokens of its arguments."""
    if "(" not in value:
        return None
    at = list(value).index("(")
    name = value[at - 1] if at else ""
    if name not in _CALLS or not all(token.isidentifier() or token == "." for token in value[:at]):
        return None
    return name, value[at + 1 : closing_index(value, at) - 1]


def _field_decorator(header: Header) -> str | None:
    """The decorator that generates a constructor from fields, or None."""
    for mark in header.marks:
        words = mark.partition("(")[0].replace("@", " ").replace(".", " ").split()
        if "init = False" in mark:
            continue
        if words and words[-1] in _DECORATORS and (words[-1] != "s" or words[:1] == ["attr"]):
            return mark
    return None


def _has_base(header: Header, wanted: frozenset[str]) -> bool:
    return any(_last(base) in wanted for base in header.bases)


def _last(base: str) -> str:
    words = base.partition("[")[0].split()
    return words[-1] if words and "=" not in words else ""


def _after_sign(outline: Outline, place: int) -> bool:
    """Whether `_: KW_ONLY` precedes a field."""
    entity, facts = outline.entities[place], outline.facts
    holder = outline.entities[entity.parent].definition
    if entity.definition is None or holder is None or facts is None or b"KW_ONLY" not in outline.text:
        return False
    return b"KW_ONLY" in outline.text[holder.body : entity.definition.start]
