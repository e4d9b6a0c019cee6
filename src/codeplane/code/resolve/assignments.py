"""Finds what a member or variable holds, from all its assignments in all files."""

import re
from collections.abc import Iterator
from typing import Protocol

from codeplane.code.entity import Bound, Entity, Instance, Module, Outside
from codeplane.code.languages.expression import says_type
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.assignment_places import says_nothing
from codeplane.code.resolve.world import World
from codeplane.index.path_kinds import is_test

_FUNCTIONS = frozenset({"function", "method"})
_FIELDS = frozenset({"field", "property"})
# Look at no more than this many definitions of a name.
_MAX_DEFINERS = 400
_FILLING = re.compile(
    rb"\bsetattr\(\s*self\s*,\s*[\w\x80-\xff]+\s*,|\bself\.__dict__\s*(?:\.update\(|\[[^\]\n]*\]\s*=(?!=)|=(?!=)|\|=)"
    rb"|\bvars\(\s*self\s*\)\s*(?:\[[^\]\n]*\]\s*=(?!=)|\.update\()"
)
# Every match of `_FILLING` contains one of these.
_FILLED_BY = (b"setattr(", b"self.__dict__", b"vars(")
_ENUM = re.compile(rb"\b(?:Enum|IntEnum|StrEnum|Flag|IntFlag)\b")


class Reading(Protocol):
    """The part of the resolver that is used here."""

    def definitions(self, bound: Bound) -> list[tuple[int, Definition]]: ...

    def line_of(self, of: Bound) -> tuple[tuple[Bound, ...], bool]: ...

    def is_descriptor(self, of: Bound) -> bool: ...

    def owner_at(self, path: str, facts: Facts, offset: int) -> Entity | None:
        """Return what the member at a place is a member of."""
        ...

    def value_at(self, path: str, facts: Facts, end: int) -> Entity | None:
        """Return the value that the name ending at a place gets there."""
        ...


class Assignments:
    """Finds the values of members and variables within one world, and caches the results."""

    def __init__(self, world: World, reading: Reading) -> None:
        self._world = world
        self._reading = reading
        self._known: dict[Bound, Entity | None] = {}
        self._filled: dict[Bound, bool] = {}
        # The owner of an assigned member is found by the nearest evidence: using all evidence there would never end.
        self.judging = 0

    def member(self, bound: Bound) -> Entity | None:
        """Return what all assignments to a class's member agree on; None if one cannot be read: it may be anything."""
        if bound not in self._known:
            # A member that depends on itself is unknown.
            self._known[bound] = None
            self._known[bound] = self._common_value(bound)
        return self._known[bound]

    def is_replaced(self, bound: Bound) -> bool:
        """Whether an assignment replaces a method of a class."""
        facts = self._world.facts(bound.file)
        of = facts.scopes[bound.scope].definition if facts is not None else -1
        if facts is None or of < 0:
            return False
        owner = Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name)
        for path, there, at in self._members(bound.name, self._world.language(facts).family or "", first=bound.file):
            found = self._owner(path, there, at)
            found = found.of if isinstance(found, Instance) else found
            if isinstance(found, Bound) and self._are_related(found, owner):
                return True
        return False

    def to_module(self, bound: Bound) -> Iterator[Entity | None]:
        """Yield what other files assign to a module's variable."""
        own = self._world.facts(bound.file)
        family = LANGUAGES[own.language].family_name if own is not None else ""
        for path, facts, at in self._members(bound.name, family):
            if path != bound.file and self._owner(path, facts, at) == Module(bound.file):
                yield self._assigned_value(path, facts, at, bound.name)

    def _common_value(self, bound: Bound) -> Entity | None:
        facts = self._world.facts(bound.file)
        of = facts.scopes[bound.scope].definition if facts is not None else -1
        if facts is None or of < 0:
            return None
        owner = Bound(bound.file, facts.definitions[of].scope, facts.definitions[of].name)
        declared = self._declared_type(bound, facts)
        if declared is not None:
            return declared[0]
        if any(self._is_filled(class_) for class_ in self._reading.line_of(owner)[0]):
            return None
        found: set[Entity] = set()
        for place in self._all(bound, facts, owner):
            if place is None:
                return None
            path, there, at = place
            if path != bound.file and any(isinstance(entity, Outside) for entity in found):
                # Values from outside have none of our members, whatever else is assigned there.
                break
            end = at + len(bound.name.encode())
            if says_nothing(self._world.text(path), end):
                continue
            given = self._reading.value_at(path, there, end)
            if given is None or (found and given not in found) or self._is_wrapped(given, owner):
                return None
            found.add(given)
        return found.pop() if found else None

    def _is_filled(self, of: Bound) -> bool:
        """Whether a Python class sets members of its instances by names that the code does not spell out."""
        facts = self._world.facts(of.file)
        if facts is None or not LANGUAGES[facts.language].classes.rebindable:
            return False
        if of not in self._filled:
            text = self._world.text(of.file)
            spans = [(definition.start, definition.end) for _, definition in self._reading.definitions(of)]
            # `bytes.find` is many times faster than a pattern with alternatives.
            spans = [span for span in spans if any(text.find(word, *span) >= 0 for word in _FILLED_BY)]
            found = (match.start() for span in spans for match in _FILLING.finditer(text, *span))
            self._filled[of] = any(not facts.in_text(at) for at in found)
        return self._filled[of]

    def _is_wrapped(self, given: Entity, owner: Bound) -> bool:
        """Whether reading a member gives something other than the value assigned to it."""
        if not isinstance(given, Instance):
            return False
        spans = [definition.bases for _, definition in self._reading.definitions(owner) if definition.bases is not None]
        text = self._world.text(owner.file)
        return self._reading.is_descriptor(given.of) or any(_ENUM.search(text, *span) for span in spans)

    def _declared_type(self, bound: Bound, facts: Facts) -> tuple[Entity | None] | None:
        """Return the declared type of a member, which overrides all assignments; None if it is not declared."""
        text, length = self._world.text(bound.file), len(bound.name.encode())
        places = [at for at in self._own_places(bound, facts) if says_type(text, at + length)]
        if not places:
            return None
        declared = {self._reading.value_at(bound.file, facts, at + length) for at in places}
        return (declared.pop(),) if len(declared) == 1 else (None,)

    def _own_places(self, bound: Bound, facts: Facts) -> list[int]:
        rows = facts.rows(bound.scope, bound.name)
        found = [facts.bind_at(row) for row in rows]
        fields = [
            definition.name_at for _, definition in self._reading.definitions(bound) if definition.kind in _FIELDS
        ]
        return list(dict.fromkeys([*found, *fields]))

    def _all(self, bound: Bound, facts: Facts, owner: Bound) -> Iterator[tuple[str, Facts, int] | None]:
        """Yield every place that gives the member a value, the nearest first, and None for a value that is unknown."""
        for at in self._own_places(bound, facts):
            yield bound.file, facts, at
        yield from self._redeclarations(bound, owner)
        family = self._world.language(facts).family or ""
        kept = self._is_kept_to_itself(owner)
        for path, there, at in self._members(bound.name, family, first=bound.file):
            of = self._owner(path, there, at)
            if of is None and kept and path != bound.file:
                continue
            of = of.of if isinstance(of, Instance) else of
            if of is None or (isinstance(of, Bound) and self._are_related(of, owner)):
                yield path, there, at

    def _redeclarations(self, bound: Bound, owner: Bound) -> Iterator[tuple[str, Facts, int] | None]:
        """Yield the places where bases and subclasses define the member in their bodies."""
        listed, all_of_them = self._world.find_definitions(bound.name, limit=_MAX_DEFINERS)
        if not all_of_them:
            yield None
        for path, position in listed:
            facts = self._world.facts(path)
            if facts is None or position >= len(facts.definitions):
                continue
            definition = facts.definitions[position]
            of = facts.scopes[definition.scope].definition
            if definition.scope == bound.scope and path == bound.file:
                if definition.kind in _FUNCTIONS:
                    yield None
                continue
            if of < 0 or facts.scopes[definition.scope].kind != "class" or definition.kind in _FIELDS:
                continue
            holder = Bound(path, facts.definitions[of].scope, facts.definitions[of].name)
            if self._are_related(holder, owner):
                yield None if definition.kind in _FUNCTIONS else (path, facts, definition.name_at)

    def _is_kept_to_itself(self, owner: Bound) -> bool:
        """Whether only its own file can use instances of a class: the test runner makes those of a test class."""
        if not is_test(owner.file) or len(self._world.files_with(owner.name)) > 1:
            return False
        if owner.name.startswith("Test"):
            return True
        for class_ in self._reading.line_of(owner)[0]:
            text = self._world.text(class_.file)
            spans = [found.bases for _, found in self._reading.definitions(class_) if found.bases is not None]
            if any(b"TestCase" in text[start:end] for start, end in spans):
                return True
        return False

    def _are_related(self, class_: Bound, other: Bound) -> bool:
        return other in self._reading.line_of(class_)[0] or class_ in self._reading.line_of(other)[0]

    def _members(self, name: str, family: str, first: str = "") -> Iterator[tuple[str, Facts, int]]:
        """Yield the places in code where a member of the given name is assigned."""
        for path, places in self._world.files_assigning(name, family, first=first):
            facts = self._world.facts(path)
            if facts is None:
                continue
            for at in places:
                if not facts.in_text(at) or self._world.text(path)[at - 1 : at] in (b'"', b"'"):
                    yield path, facts, at

    def _owner(self, path: str, facts: Facts, at: int) -> Entity | None:
        self.judging += 1
        try:
            return self._reading.owner_at(path, facts, at)
        finally:
            self.judging -= 1

    def _assigned_value(self, path: str, facts: Facts, at: int, name: str) -> Entity | None:
        return self._reading.value_at(path, facts, at + len(name.encode()))
