"""Constructors: what adding or removing one means for callers."""

from codeplane.query.compare.fields import is_made_of_fields
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.rules import ORDER
from codeplane.query.compare.visibility import visibility_of

_NAMES = frozenset({"constructor", "__init__", "__construct"})


def takes_away(old: Outline | None, new: Outline, place: int) -> bool:
    """Whether an added constructor removes the implicit one without arguments."""
    entity = new.entities[place]
    if old is None or not old.known or not new.rules.constructors or not is_constructor(new, place):
        return False
    around = new.entities[entity.parent]
    before = old.named.get((-1, around.kind, around.name), ()) if around.parent < 0 else ()
    if (
        len(before) != 1
        or around.kind not in ("class", "struct")
        or (around.kind == "struct" and new.rules.structs_need_nothing)
    ):
        return False
    header = old.parts(before[0]).header
    above = [base for base in header.bases if base != "object" and not base.startswith("implements ")]
    if (new.rules.constructors == "inherited" and above) or header.parameters or is_made_of_fields(header):
        return False
    if "abstract" in header.modifiers or any(is_constructor(old, each) for each in old.children.get(before[0], ())):
        return False
    made = [each for each in new.children.get(entity.parent, ()) if is_constructor(new, each)]
    return not any(needs_nothing(new, each) and ORDER[visibility_of(new, each)] < 2 for each in made) and (
        ORDER[visibility_of(new, place)] < 2 or _has_own(old, before[0])
    )


def is_constructor(outline: Outline, place: int) -> bool:
    """Whether a definition is a constructor."""
    entity = outline.entities[place]
    if entity.parent < 0 or entity.kind not in ("method", "constructor", "function", "prototype"):
        return False
    return entity.kind == "constructor" or entity.name in _NAMES or entity.name == outline.entities[entity.parent].name


def needs_nothing(outline: Outline, place: int) -> bool:
    """Whether a callable has no required parameters."""
    given = outline.parts(place).header.parameters or ()
    return not any(
        parameter.is_required for parameter in (given[1:] if outline.language.classes.receiver_parameter else given)
    )


def _has_own(outline: Outline, place: int) -> bool:
    """Whether a class has members that are not static."""
    among = outline.children.get(place, ())
    return any("static" not in outline.parts(child).header.modifiers for child in among)
