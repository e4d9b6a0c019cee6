"""How values of a class are made where nobody wrote it down, and what a constructor that is written takes away."""

from codeplane.query.compare.fields import is_made_of_fields
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.rules import ORDER

_NAMES = frozenset({"constructor", "__init__", "__construct"})


def takes_away(old: Outline | None, new: Outline, place: int) -> bool:
    """Whether a constructor that came leaves no way to make a value with nothing, as there was without one."""
    one = new.entities[place]
    if old is None or not old.known or not new.rules.constructors or not is_constructor(new, place):
        return False
    around = new.entities[one.parent]
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
    made = [each for each in new.children.get(one.parent, ()) if is_constructor(new, each)]
    return not any(needs_nothing(new, each) and ORDER[new.visibility(each)] < 2 for each in made) and (
        ORDER[new.visibility(place)] < 2 or _has_own(old, before[0])
    )


def is_constructor(outline: Outline, place: int) -> bool:
    """Whether it is what runs when a value is made."""
    one = outline.entities[place]
    if one.parent < 0 or one.kind not in ("method", "constructor", "function", "prototype"):
        return False
    return one.kind == "constructor" or one.name in _NAMES or one.name == outline.entities[one.parent].name


def needs_nothing(outline: Outline, place: int) -> bool:
    """Whether it can be called with nothing but the object itself."""
    given = outline.parts(place).header.parameters or ()
    return not any(one.is_required for one in (given[1:] if outline.language.classes.receiver_parameter else given))


def _has_own(outline: Outline, place: int) -> bool:
    """Whether there is anything in a class that needs a value of it."""
    among = outline.children.get(place, ())
    return any("static" not in outline.parts(child).header.modifiers for child in among)
