"""Additions that break users of what they are added to."""

from codeplane.query.compare.base_classes import is_made_here, is_protocol
from codeplane.query.compare.constructors import takes_away
from codeplane.query.compare.fields import field_of, is_tuple
from codeplane.query.compare.header import Header
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.rules import CALLABLES, PROMISES
from codeplane.query.compare.visibility import visibility_of


def reasons_added_breaks(new: Outline, place: int, old: Outline | None) -> list[str]:
    """The reasons why an added definition breaks users of its container; empty if it does not.

    `old` is the file as it was, if it was there.
    """
    entity = new.entities[place]
    if entity.parent < 0 or not new.known:
        return []
    around = new.entities[entity.parent]
    header, holder = new.parts(place).header, new.parts(entity.parent).header
    if visibility_of(new, entity.parent) != "public":
        return []
    if new.package is not None and new.package.is_sealed(new.path, around.path):
        return []
    if takes_away(old, new, place):
        return [f"{around.name} can no longer be made with nothing"]
    if "deleted" in header.modifiers:
        return ["it is refused now"]
    if new.language.classes.traits and around.kind == "trait" and entity.kind == "type":
        return [] if header.rest else [f"{around.name} asks for it now"]
    if new.rules.protocols and any(is_protocol(new, base) for base in holder.bases):
        return [f"{around.name} asks for it now"] if around.kind == "class" else []
    if around.kind in PROMISES and entity.kind != "type":
        if _has_lost_base(old, new, entity.parent):
            # What it builds on no longer may have brought it.
            return []
        needed = not header.optional and not (header.has_body and entity.kind in CALLABLES)
        if new.rules.default_methods and (
            header.modifiers & {"default", "static", "private"} or entity.kind == "field"
        ):
            needed = False
        if new.rules.default_methods and around.kind == "annotation" and "default" in header.rest.split():
            needed = False
        if new.language.classes.traits and entity.kind == "constant" and header.has_body:
            needed = False
        # Users who get values of it need not write them.
        needed = needed and not (old is not None and is_made_here(old, new, place))
        return [f"{around.name} asks for it now"] if needed and entity.kind != "enum_member" else []
    if "abstract" in header.modifiers or any("abstractmethod" in mark for mark in header.marks):
        return [f"{around.name} asks for it now"]
    if entity.kind == "enum_member" and new.rules.closed_enums and not _is_open(holder):
        return ["every match over it has to name it"]
    if entity.kind == "field" and new.rules.closed_structs and around.kind == "struct" and not _is_open(holder):
        others = [child for child in new.children.get(entity.parent, ()) if child != place]
        fields = [child for child in others if new.entities[child].kind == "field"]
        if fields and all(visibility_of(new, child) == "public" for child in fields):
            return ["every value that is written out has to name it"]
    field = field_of(new, place)
    if field is not None and field.given == "required":
        return ["it has to be given now"]
    return ["every value that is taken apart has one more"] if field is not None and is_tuple(holder) else []


def _has_lost_base(old: Outline | None, new: Outline, place: int) -> bool:
    """Whether a type built on something before that it no longer builds on."""
    entity = new.entities[place]
    places = old.named.get((-1, entity.kind, entity.name), ()) if old is not None and entity.parent < 0 else ()
    if old is None or len(places) != 1:
        return False
    return bool(set(old.parts(places[0]).header.bases) - set(new.parts(place).header.bases))


def _is_open(header: Header) -> bool:
    return any("non_exhaustive" in mark for mark in header.marks)
