"""The pairing of definitions in two states: by name, then by similarity."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from codeplane.query.compare.outline import Entity, Outline
from codeplane.query.compare.rules import CALLABLES, VALUES

_ALIKE = 0.5
_MOVED = 0.6
_FEW = 8
_LONG = 12
_CLOSE = 0.6
_MOST_TRIED = 20_000


@dataclass(slots=True)
class Pair:
    """A definition in two states; either side may be missing."""

    old: Outline | None
    old_place: int
    new: Outline | None
    new_place: int
    inside: list["Pair"] = field(default_factory=list)

    @property
    def before(self) -> Entity | None:
        """The old entity."""
        return self.old.entities[self.old_place] if self.old is not None else None

    @property
    def after(self) -> Entity | None:
        """The new entity."""
        return self.new.entities[self.new_place] if self.new is not None else None

    @property
    def now(self) -> Entity:
        """The new entity, or the old one if it is gone."""
        entity = self.after or self.before
        assert entity is not None
        return entity

    @property
    def sides(self) -> tuple[tuple[Outline, int], tuple[Outline, int]]:
        """The outline and place of a definition that is in both states."""
        assert self.old is not None and self.new is not None
        return (self.old, self.old_place), (self.new, self.new_place)


class Pairing:
    """Pairs the definitions of all changed files; `tired` if there were too many to compare."""

    def __init__(self, files: Sequence[tuple[Outline | None, Outline | None]]) -> None:
        self.pairs: list[Pair] = []
        self.tired = False
        self._tried = 0
        self._gone: list[Pair] = []
        self._come: list[Pair] = []
        self._after: dict[str, Outline] = {}
        for old, new in files:
            self.pairs += self._match_children(old, -1, new, -1)
            if old is not None and new is not None:
                self._after[old.path] = new
        self._find_moved()

    def _match_children(self, old: Outline | None, old_parent: int, new: Outline | None, new_parent: int) -> list[Pair]:
        """Pair the children of two definitions or files."""
        before, after = _children_by_name(old, old_parent), _children_by_name(new, new_parent)
        pairs: list[Pair] = []
        gone: list[int] = []
        for key, places in before.items():
            others = after.get(key, [])
            matched = list(self._of_one_name(old, places, new, others))
            pairs += [Pair(old, place, new, other) for place, other in matched]
            paired, taken = {place for place, _ in matched}, {other for _, other in matched}
            gone += [place for place in places if place not in paired]
            after[key] = [other for other in others if other not in taken]
        come = [place for places in after.values() for place in places]
        pairs += self._of_other_kind(old, gone, new, come)
        pairs += self._match_renames(old, gone, new, come)
        for pair in pairs:
            pair.inside = self._match_children(pair.old, pair.old_place, pair.new, pair.new_place)
        lost = [Pair(old, place, None, -1) for place in gone]
        made = [Pair(None, -1, new, place) for place in come]
        self._gone += lost
        self._come += made
        return pairs + lost + made

    def _of_one_name(
        self, old: Outline | None, places: list[int], new: Outline | None, others: list[int]
    ) -> Iterable[tuple[int, int]]:
        """Pair overloads by bytes, then signature, then order."""
        if old is None or new is None:
            return
        if len(places) == 1 and len(others) == 1:
            yield places[0], others[0]
            return
        left, right = list(places), list(others)
        if old.rules.overloads == "decorated" and old.known and new.known:
            # What is called is what implements the overloads, whichever of them look alike.
            called = [_without_overloads(old, left), _without_overloads(new, right)]
            if [len(side) for side in called] == [1, 1]:
                yield called[0][0], called[1][0]
                left.remove(called[0][0])
                right.remove(called[1][0])
        ways: tuple[Callable[[Outline, int], object], ...] = (_bytes, _types, _count, _order)
        for way in ways:
            known: dict[object, list[int]] = {}
            for other in right:
                known.setdefault(way(new, other), []).append(other)
            for place in list(left):
                among = known.get(way(old, place))
                if among:
                    other = among.pop(0)
                    left.remove(place)
                    right.remove(other)
                    yield place, other

    @staticmethod
    def _of_other_kind(old: Outline | None, gone: list[int], new: Outline | None, come: list[int]) -> list[Pair]:
        """Pair definitions that kept their name but changed their kind."""
        if old is None or new is None:
            return []
        # A name that is only passed on now is not what it was; that it is still there is seen elsewhere.
        by_path = {new.entities[place].path: place for place in come if new.entities[place].kind != "export"}
        pairs = []
        for place in list(gone):
            if old.entities[place].kind == "export":
                continue
            other = by_path.pop(old.entities[place].path, None)
            if other is not None:
                gone.remove(place)
                come.remove(other)
                pairs.append(Pair(old, place, new, other))
        return pairs

    def _match_renames(self, old: Outline | None, gone: list[int], new: Outline | None, come: list[int]) -> list[Pair]:
        """Pair renamed definitions: same kind and signature, similar body."""
        if old is None or new is None or not gone or not come:
            return []
        known = old.known and new.known
        heads: dict[object, tuple[list[int], list[int]]] = {}
        # What is still to be had by its name did not get another one.
        lost_names = [
            place for place in gone if old.entities[place].parent >= 0 or old.entities[place].name not in new.bound
        ]
        for side, (outline, places) in enumerate(((old, lost_names), (new, come))):
            for place in places:
                heads.setdefault(_head(outline, place, known=known), ([], []))[side].append(place)
        ranked: list[tuple[float, int, int]] = []
        for head, (lost, made) in heads.items():
            alone = len(lost) == 1 and len(made) == 1
            for place, other in (
                ((old_place, new_place) for old_place in lost for new_place in made) if head is not None else ()
            ):
                if self._is_tired():
                    break
                score = _likeness(old, place, new, other)
                if score >= _required_similarity(old, place, new, other, alone=alone):
                    ranked.append((score, place, other))
        pairs = []
        for _, place, other in sorted(
            ranked, key=lambda ranked_pair: (-ranked_pair[0], ranked_pair[1], ranked_pair[2])
        ):
            if place in gone and other in come:
                gone.remove(place)
                come.remove(other)
                pairs.append(Pair(old, place, new, other))
        return pairs

    def _is_tired(self) -> bool:
        self._tried += 1
        self.tired = self.tired or self._tried > _MOST_TRIED
        return self.tired

    def _sources_of(self, old: Outline, name: str) -> set[str]:
        """The last parts of the modules that a file takes a name from now."""
        now = self._after.get(old.path)
        if now is None or now.facts is None:
            return set()
        sources = [item.source for item in now.facts.imports if item.scope == 0 and item.local == item.imported == name]
        sources += [export.source for export in now.facts.exports if export.name == name == export.local]
        return {re.split(r"[./:]+", re.sub(r"\.[cm]?[jt]sx?$", "", source))[-1] for source in sources if source}

    def _find_moved(self) -> None:
        """Pair definitions moved between files: same name, or identical body."""
        by_name: dict[tuple[str, str], list[Pair]] = defaultdict(list)
        by_body: dict[tuple[str, tuple[str, ...]], list[Pair]] = defaultdict(list)
        for pair in self._come:
            entity = pair.now
            if entity.parent < 0 and entity.kind not in VALUES and entity.kind != "export" and pair.new is not None:
                by_name[entity.kind, entity.name].append(pair)
                if pair.new.known and len(words := _words(pair.new, pair.new_place)) >= _LONG:
                    by_body[entity.kind, tuple(words)].append(pair)
        joined: set[int] = set()
        for pair in self._gone:
            old, entity = pair.old, pair.now
            if old is None or entity.parent >= 0 or entity.kind in VALUES or entity.kind == "export":
                continue
            exact = by_body.get((entity.kind, tuple(_words(old, pair.old_place)))) if old.known else None
            near = [
                (score, other)
                for other in by_name.get((entity.kind, entity.name), ())
                if id(other) not in joined
                and other.new is not None
                and (score := _moved_likeness(old, pair.old_place, other.new, other.new_place)) >= _MOVED
            ]
            named = (
                [scored for scored in near if _stem(scored[1]) in self._sources_of(old, entity.name)]
                if near[1:]
                else []
            )
            best = max(named or near, key=lambda scored: scored[0])[1] if near else None
            if best is None and exact:
                best = next((other for other in exact if id(other) not in joined), None)
            if best is None and (sources := self._sources_of(old, entity.name)):
                # However much it has changed, its old place takes it from there.
                others = by_name.get((entity.kind, entity.name), ())
                best = next((other for other in others if id(other) not in joined and _stem(other) in sources), None)
            if best is not None:
                joined.add(id(best))
                pair.new, pair.new_place = best.new, best.new_place
                pair.inside = self._match_children(pair.old, pair.old_place, pair.new, pair.new_place)
        self.pairs = [pair for pair in self.pairs if id(pair) not in joined]


def _stem(pair: Pair) -> str:
    folder, _, name = pair.new.path.rpartition("/") if pair.new is not None else ("", "", "")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod") else stem


def _without_overloads(outline: Outline, places: Sequence[int]) -> list[int]:
    """The definitions of a name that are not declared as `@overload`."""
    return [
        place for place in places if not any("overload" in mark.split() for mark in outline.parts(place).header.marks)
    ]


def _children_by_name(outline: Outline | None, parent: int) -> dict[tuple[str, str], list[int]]:
    """The children of a definition or file, by kind and name."""
    places_by_name: dict[tuple[str, str], list[int]] = {}
    if outline is None:
        return places_by_name
    if parent >= 0:
        places: Iterable[int] = outline.children.get(parent, ())
        above = f"{outline.entities[parent].path}."
    else:
        places = (place for place, entity in enumerate(outline.entities) if entity.parent < 0)
        above = ""
    for place in places:
        entity = outline.entities[place]
        places_by_name.setdefault((entity.kind, entity.path.removeprefix(above)), []).append(place)
    return places_by_name


def _bytes(outline: Outline, place: int) -> object:
    return outline.own_bytes(place) if outline.known else outline.entities[place].signature


def _types(outline: Outline, place: int) -> object:
    if not outline.known:
        return outline.entities[place].signature
    header = outline.parts(place).header
    return tuple(parameter.type or parameter.name for parameter in header.parameters or ()), header.has_body


def _count(outline: Outline, place: int) -> object:
    return len(outline.parts(place).header.parameters or ()) if outline.known else 0


def _order(outline: Outline, place: int) -> object:
    return 0


def _head(outline: Outline, place: int, *, known: bool) -> object:
    """The key that renamed definitions must share; None if never renamed."""
    entity = outline.entities[place]
    if entity.kind == "export":
        return None
    if not known:
        return (entity.kind, entity.signature) if entity.signature else None
    header = outline.parts(place).header
    if entity.kind in CALLABLES:
        return entity.kind, header.parameters, header.returns
    if entity.kind in VALUES:
        return entity.kind, header.returns, outline.parts(place).body
    # Of a type that says little, what it builds on is most of what it says.
    return entity.kind, header.bases if len(_words(outline, place)) < _FEW else None


def _required_similarity(old: Outline, place: int, new: Outline, other: int, *, alone: bool) -> float:
    """The similarity required to pair two definitions; lower without alternatives."""
    if not (old.known and new.known):
        return 1.0 if alone else 2.0
    if old.entities[place].kind in VALUES:
        return 1.0
    few = min(len(_words(old, place)), len(_words(new, other))) < _FEW
    parameters = len(old.parts(place).header.parameters or ())
    if few:
        return 0.3 if alone and parameters > 1 else 1.0 if alone else 2.0
    return 0.35 if alone and parameters > 1 else _ALIKE


def _likeness(old: Outline, place: int, new: Outline, other: int) -> float:
    if not (old.known and new.known):
        return 1.0
    if old.entities[place].kind in VALUES:
        return _value_likeness(old, place, new, other)
    return _share(_words(old, place), _words(new, other))


def _value_likeness(old: Outline, place: int, new: Outline, other: int) -> float:
    """The similarity of two values: equal, and long enough or similarly named."""
    first, second = old.parts(place), new.parts(other)
    if (first.header.returns, first.body) != (second.header.returns, second.body):
        return 0.0
    names = difflib.SequenceMatcher(None, old.entities[place].name, new.entities[other].name).ratio()
    is_telling = len(first.body) > 3 or names >= _CLOSE
    return 1.0 if is_telling and not old.is_inside_callable(place) else 0.0


def _moved_likeness(old: Outline, place: int, new: Outline, other: int) -> float:
    if not (old.known and new.known):
        return 1.0 if old.entities[place].signature == new.entities[other].signature else 0.0
    before, after = _words(old, place), _words(new, other)
    few = min(len(before), len(after)) < _FEW
    same = few and _head(old, place, known=True) == _head(new, other, known=True)
    return 1.0 if same else _share(before, after)


def _words(outline: Outline, place: int) -> list[str]:
    """All tokens of a definition's body, with its own name masked."""
    entity = outline.entities[place]
    own = list(outline.parts(place).body)
    for child in outline.children.get(place, ()):
        own += [outline.entities[child].name, *outline.parts(child).body]
    return ["\x04" if token == entity.name else token for token in own]


def _share(tokens: Sequence[str], other_tokens: Sequence[str]) -> float:
    if not tokens and not other_tokens:
        return 1.0
    return 2 * (Counter(tokens) & Counter(other_tokens)).total() / (len(tokens) + len(other_tokens))
