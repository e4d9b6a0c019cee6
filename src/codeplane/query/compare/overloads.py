"""Definitions that users see as one: overloads with their implementation, a property with its setter."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from codeplane.query.compare.change import Change
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair
from codeplane.query.compare.rules import CALLABLES

_JOINED = CALLABLES | {"property"}
_ACCESSORS = frozenset({"setter", "deleter", "getter"})
Side = tuple[Outline | None, int]
Sides = Callable[[Change], tuple[Side, Side]]
# Whether what is declared at one place, with its overloads, can be called as what was at another.
CanCall = Callable[[tuple[Outline, int], tuple[Outline, int]], bool]


def is_hidden(outline: Outline, place: int) -> bool:
    """Whether a declaration is hidden from callers by its overloads."""
    entity = outline.entities[place]
    header = outline.parts(place).header
    others = [other for other in outline.named.get((entity.parent, entity.kind, entity.name), ()) if other != place]
    if outline.rules.overloads == "without_body":
        return header.has_body and any(not outline.parts(other).header.has_body for other in others)
    if outline.rules.overloads == "decorated" and _is_declared(outline, place):
        return any(not _is_declared(outline, other) for other in others)
    return False


def overloads_of(outline: Outline, place: int) -> list[int]:
    """The declarations of a function that callers see."""
    entity = outline.entities[place]
    places = outline.named.get((entity.parent, entity.kind, entity.name), ())
    return [each for each in places if not is_hidden(outline, each)]


def join_overloads(changes: Sequence[Change], sides: Sides, can_call: CanCall) -> list[Change]:
    """Join the changes of each name; `sides` returns both states of a change's container."""
    leaders: dict[Hashable, list[Change]] = {}
    families: dict[int, list[Change]] = {}
    for change in changes:
        if _is_joinable(change) and change.pair.old is not None and change.pair.new is not None:
            keys = _key(change, "old"), _key(change, "new")
            family = next((leaders[key] for key in keys if key in leaders), [])
            family.append(change)
            for key in keys:
                leaders.setdefault(key, family)
    for change in changes:
        if _is_joinable(change) and (change.pair.old is None or change.pair.new is None):
            key = _key(change, "old" if change.pair.new is None else "new")
            leaders.setdefault(key, leaders.get(_counterpart(change, key, sides), [])).append(change)
    for family in leaders.values():
        families.update({id(change): family for change in family})
    joined: list[Change] = []
    listed: set[int] = set()
    for change in changes:
        alike = families.get(id(change))
        if alike is None:
            joined.append(change)
        elif id(alike) not in listed:
            listed.add(id(alike))
            whole = len(alike) > 1 or _is_part(change, sides)
            joined.append(_join_family(alike, sides, can_call) if whole else _with_overloads(change, can_call))
    return joined


def _with_overloads(change: Change, can_call: CanCall) -> Change:
    """A change of one overload, which breaks nobody if another one takes the same calls."""
    pair = change.pair
    if not change.breaking or change.change != "signature_changed" or pair.old is None or pair.new is None:
        return change
    if len(overloads_of(pair.old, pair.old_place)) < 2 or not _is_called(change):
        return change
    fits = can_call((pair.old, pair.old_place), (pair.new, pair.new_place))
    return replace(change, breaking=False, risk="medium") if fits else change


def _join_family(family: Sequence[Change], sides: Sides, can_call: CanCall) -> Change:
    """Join a family of changes into one."""
    whole = [change for change in family if change.pair.old is not None and change.pair.new is not None]
    is_partial = len(whole) < len(family)
    kinds = {change.change for change in family}
    if not whole and len(kinds) == 1 and not _is_part(family[0], sides):
        # All of it came, or went.
        shown = max(family, key=lambda change: (change.breaking, _has_body(change)))
        return replace(shown, breaking=any(change.breaking for change in family))
    why: list[str] = []
    tags: list[str] = []
    breaking = False
    for change in family:
        reasons, breaks = _judge(change)
        why += [reason for reason in reasons if reason not in why]
        tags += [tag for tag in change.tags if tag not in tags and tag not in ("symbol_added", "symbol_removed")]
        breaking = breaking or breaks
    if is_partial and "signature_changed" not in tags:
        tags.append("signature_changed")
    if not whole:
        whole = [replace(family[0], pair=_implementations(family[0], sides), change="signature_changed")]
    # One of several that stays where it was says that the function does.
    staying = [change for change in whole if change.change not in ("renamed", "moved")]
    shown = max(staying or whole, key=lambda change: (change.change != "body_changed", _has_body(change)))
    if shown.change == "body_changed" and is_partial:
        shown = replace(shown, change="signature_changed")
    pair = shown.pair
    renamed = shown.change in ("renamed", "moved") or not all(map(_is_called, family))
    if breaking and not renamed and pair.old is not None and pair.new is not None:
        breaking = not can_call((pair.old, pair.old_place), (pair.new, pair.new_place))
    lines = next((change.lines for change in family if change.lines is not None), None)
    risk = "high" if breaking else shown.risk if shown.risk != "high" or not family[0].breaking else "medium"
    keeps_calls = all(change.keeps_calls for change in family)
    return replace(shown, breaking=breaking, why=tuple(why), keeps_calls=keeps_calls, tags=tags, lines=lines, risk=risk)


def _judge(change: Change) -> tuple[tuple[str, ...], bool]:
    """The reasons of one family member, and whether they break users."""
    pair = change.pair
    if pair.old is not None and pair.new is not None:
        return change.why, change.breaking
    outline, place = (pair.old, pair.old_place) if pair.old is not None else (pair.new, pair.new_place)
    assert outline is not None
    gone = pair.new is None
    marks = " ".join(outline.parts(place).header.marks).split() if outline.known else []
    if not _ACCESSORS.isdisjoint(marks):
        return ("can no longer be set" if gone else "can be set now",), gone and change.visibility != "private"
    entity = outline.entities[place]
    among = outline.named.get((entity.parent, entity.kind, entity.name), ())
    # In a stub the declarations are all there is.
    alone = outline.known and all(_is_declared(outline, other) for other in among)
    breaks = gone and ((change.breaking and outline.rules.typed) or (alone and change.visibility == "public"))
    return ("an overload less" if gone else "an overload more",), breaks


def _is_joinable(change: Change) -> bool:
    outline = change.pair.new or change.pair.old
    kinds = {
        entity.kind for entity in (change.pair.before, change.pair.after) if entity is not None and not change.is_module
    }
    return outline is not None and outline.rules.one_name and bool(kinds) and kinds <= _JOINED


def _is_part(change: Change, sides: Sides) -> bool:
    """Whether an added or removed definition's name is in both states."""
    if not _is_joinable(change) or (change.pair.old is not None and change.pair.new is not None):
        return False
    pair = _implementations(change, sides)
    return pair.old is not None and pair.new is not None


def _implementations(change: Change, sides: Sides) -> Pair:
    """The implementations of one name in both states."""
    (old, old_parent), (new, new_parent) = sides(change)
    old_place, new_place = _implementation(old, old_parent, change), _implementation(new, new_parent, change)
    return Pair(old if old_place >= 0 else None, old_place, new if new_place >= 0 else None, new_place)


def _implementation(outline: Outline | None, parent: int, change: Change) -> int:
    now = change.pair.now
    places = outline.named.get((parent, now.kind, now.name), ()) if outline is not None else ()
    if outline is None or not outline.known:
        return max(places, default=-1)
    return max(places, key=lambda place: (outline.parts(place).header.has_body, place), default=-1)


def _counterpart(change: Change, key: Hashable, sides: Sides) -> Hashable:
    """The key of the same name in the other state."""
    pair = _implementations(change, sides)
    if pair.old is None or pair.new is None:
        return key
    gone = change.pair.new is None
    outline, place = (pair.new, pair.new_place) if gone else (pair.old, pair.old_place)
    return ("new" if gone else "old", outline.path, outline.entities[place].kind, outline.entities[place].path)


def _key(change: Change, side: str) -> Hashable:
    pair = change.pair
    outline, entity = (pair.old, pair.before) if side == "old" else (pair.new, pair.after)
    assert outline is not None and entity is not None
    return side, outline.path, entity.kind, entity.path


def _is_declared(outline: Outline, place: int) -> bool:
    """Whether it is an `@overload` declaration."""
    return any("overload" in mark.split() for mark in outline.parts(place).header.marks)


def _is_called(change: Change) -> bool:
    """Whether a definition is a function, not what gets or sets a value."""
    pair = change.pair
    sides = ((pair.old, pair.old_place), (pair.new, pair.new_place))
    return all(
        outline is None
        or (
            outline.entities[place].kind in CALLABLES
            and outline.known
            and outline.parts(place).header.modifiers.isdisjoint(("get", "set"))
        )
        for outline, place in sides
    )


def _has_body(change: Change) -> bool:
    pair = change.pair
    outline, place = (pair.new, pair.new_place) if pair.new is not None else (pair.old, pair.old_place)
    return outline is not None and outline.known and not _is_declared(outline, place)
