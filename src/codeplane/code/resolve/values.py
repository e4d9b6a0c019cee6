"""Finds what names hold: the class on which bindings, annotations, constructor calls and return types agree."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from codeplane.code.entity import Bound, Entity, Instance, Outside
from codeplane.code.languages.expression import (
    Step,
    annotated_type,
    constructed_class,
    declared_type,
    is_first_of_several,
    says_type,
)
from codeplane.code.languages.javascript.results import assigned_call, is_getter, written_result
from codeplane.code.languages.outside_packages import gives_its_own, tells_nothing
from codeplane.code.languages.python.evidence import copied_chain, decorators, is_property, returned_class, steps_of
from codeplane.code.languages.python.returns import is_generator, returned_calls
from codeplane.code.languages.python.unpacking import with_own_value
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import NO_TARGET, REASONS, Facts
from codeplane.code.resolve.assignment_places import names_given, says_nothing, sets_globals
from codeplane.code.resolve.assignments import Assignments
from codeplane.code.resolve.classes import NAMESPACES, VARIABLES, Classes
from codeplane.code.resolve.world import World

_PARAM, _DEFINED = REASONS.index("PARAM"), REASONS.index("DEF_IN_SCOPE")
_STATIC = re.compile(rb"[ \t]*=[ \t]*staticmethod\b")
FUNCTIONS = frozenset({"function", "method"})
FIELDS = frozenset({"field", "property"})
_FURTHER_OUT = frozenset({REASONS.index("GLOBAL"), REASONS.index("NONLOCAL")})
# Look at no more than this many definitions of a method's name.
_MAX_HEIRS = 400


class Values(Classes, ABC):
    """Resolves values within one world; a subclass that reads chains implements `_owner`."""

    _assignments: Assignments

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._outward: dict[tuple[str, str], Sequence[tuple[int, Sequence[int]]]] = {}
        self._plainly_given: dict[tuple[str, str], dict[Bound | None, list[int]]] = {}
        self._values: dict[Bound, Entity | None] = {}
        self._overridden: dict[Bound, bool] = {}
        self._typing: set[tuple[Bound, int]] = set()

    @abstractmethod
    def _owner(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int) -> tuple[Entity | None, bool]:
        """Return what a chain of names is, and whether its own members are skipped."""

    @abstractmethod
    def _given_by_statement(self, path: str, facts: Facts, text: bytes, end: int) -> tuple[Entity | None] | None:
        """Return what `with` or `for` binds to the name that ends at a place; None where neither binds it."""

    def value(self, entity: Entity) -> Entity | None:
        """Return what an entity is when its members are read: a class, a module, or an instance of a known class."""
        if not isinstance(entity, Bound):
            return entity
        if entity in self._values:
            return self._values[entity]
        if self._is_class(entity):
            found: Entity | None = None if self.is_replaced(entity) else entity
        else:
            found = entity if self._holds(entity) else self._type_of(entity)
        if not self._underway and not self._typing:
            self._values[entity] = found
        return found

    def value_at(self, path: str, facts: Facts, end: int) -> Entity | None:
        """Return what the name that ends at a place holds there, by its type or by the value that is made or copied."""
        text = self._world.text(path)
        return (
            self._javascript_value(path, facts, text, end)
            if LANGUAGES[facts.language].names.declares_types
            else self._python_value(path, facts, text, end)
        )

    def _are_kin(self, class_: Bound, other: Bound) -> bool:
        return other in self.line_of(class_)[0] or class_ in self.line_of(other)[0]

    def _returned_value(self, of: Bound, *, called: bool, awaited: bool = False) -> Entity | None:
        """Return what calling a function or reading a property gives, if all its definitions agree."""
        facts, definitions = self._world.facts(of.file), [definition for _, definition in self.definitions(of)]
        if facts is None or not LANGUAGES[facts.language].names.follows_values:
            return None
        if not definitions or self.is_rebound(of, facts):
            return None
        text = self._world.text(of.file)
        found: set[Entity | None] = set()
        for index, definition in self.definitions(of):
            if definition.kind not in FUNCTIONS or is_generator(facts, text, index):
                return None
            if is_property(text, definition) is called:
                # A setter does not read the property; calling a property calls its value.
                if called or len(definitions) == 1:
                    return None
                continue
            chain = returned_class(text, definition, awaited=awaited)
            found.add(self._class_named(of.file, facts, chain) if chain else None)
        given = found.pop() if len(found) == 1 else None
        return None if isinstance(given, Instance) and self._gives_others(of, facts, given.of) else given

    def _written_result(self, of: Bound, on: Entity | None, *, called: bool) -> Entity | None:
        """Return what a function says that it gives where that is written behind its parameters; `this` is `on`."""
        facts, definitions = self._world.facts(of.file), self.definitions(of)
        if facts is None or not definitions or not LANGUAGES[facts.language].names.written_results:
            return None
        text = self._world.text(of.file)
        found: set[Entity | None] = set()
        for _, definition in definitions:
            if definition.kind not in FUNCTIONS or is_getter(text, definition) is called:
                return None
            chain = written_result(text, definition, facts.in_text)
            if chain is None:
                return None
            found.add(on if chain[0] == b"this" else self._class_named(of.file, facts, chain))
        given = found.pop() if len(found) == 1 else None
        return given if isinstance(given, Instance) else None

    def _gives_others(self, of: Bound, facts: Facts, given: Bound) -> bool:
        """Whether a method is overridden by one that returns something other than the method itself declares."""
        if facts.scopes[of.scope].kind != "class":
            return False
        held = self._overridden.get(of)
        if held is None:
            held = self._overridden[of] = any(
                not self._are_kin(class_, given) for class_ in self._classes_returned_by_heirs(of, facts)
            )
        return held

    def _classes_returned_by_heirs(self, of: Bound, facts: Facts) -> Iterator[Bound]:
        """Yield the classes that overriding methods declare as their return type, or visibly make and return."""
        for path, there, position in self._overriding_methods(of, facts):
            text, method = self._world.text(path), there.definitions[position]
            chain = returned_class(text, method, awaited=text.startswith(b"async", method.start))
            chains = [chain] if chain else returned_calls(there, text, position)
            for chain in chains:
                found = self._class_named(path, there, chain)
                if isinstance(found, Instance):
                    yield found.of

    def _overriding_methods(self, of: Bound, facts: Facts) -> Iterator[tuple[str, Facts, int]]:
        """Yield the methods of subclasses that override a method: file, facts and index of each."""
        if facts.scopes[of.scope].kind != "class":
            return
        owner = facts.definitions[facts.scopes[of.scope].definition]
        above = Bound(of.file, owner.scope, owner.name)
        for path, position in self._world.find_definitions(of.name, limit=_MAX_HEIRS)[0]:
            there = self._world.facts(path)
            if there is None or not LANGUAGES[there.language].names.follows_values:
                continue
            if position >= len(there.definitions):
                continue
            method = there.definitions[position]
            scope = there.scopes[method.scope]
            if scope.kind != "class" or scope.definition < 0 or method.kind not in FUNCTIONS:
                continue
            heir = there.definitions[scope.definition]
            if (
                Bound(path, method.scope, method.name) == of
                or above not in self.line_of(Bound(path, heir.scope, heir.name))[0]
            ):
                continue
            yield path, there, position

    def is_rebound(self, of: Bound, facts: Facts) -> bool:
        """Whether a function's name is assigned something else anywhere, so that its declaration no longer holds."""
        rows = facts.rows(of.scope, of.name)
        if any(facts.bind_reason(row) != _DEFINED for row in rows) or self._set_elsewhere(of, facts):
            return True
        if facts.scopes[of.scope].kind == "class":
            return self._assignments.is_replaced(of)
        return of.scope == 0 and any(True for _ in self._assignments.to_module(of))

    def _type_of(self, bound: Bound, only: int = -1) -> Entity | None:
        """Return the class that all bindings of a variable name, or the one at `only`: by self, annotation or value."""
        facts = self._world.facts(bound.file)
        if facts is None or (bound, only) in self._typing:
            return None
        self._typing.add((bound, only))
        try:
            return self._type_by_bindings(bound, facts, only)
        finally:
            self._typing.discard((bound, only))

    def _type_by_bindings(self, bound: Bound, facts: Facts, only: int) -> Entity | None:
        text = self._world.text(bound.file)
        found: set[Entity | None] = set()
        rows = facts.rows(bound.scope, bound.name)
        places = [(facts.bind_at(row), facts.bind_reason(row)) for row in rows]
        definitions = self.definitions(bound)
        rules = LANGUAGES[facts.language].names
        if rules.follows_values and any(definition.kind in FUNCTIONS for _, definition in definitions):
            return self._returned_value(bound, called=False)
        if rules.written_results and any(definition.kind in FUNCTIONS for _, definition in definitions):
            return self._written_result(bound, None, called=False)
        if facts.scopes[bound.scope].kind == "class" and rules.untyped and not self._assignments.judging:
            return self._assignments.member(bound)
        places += [(definition.name_at, NO_TARGET) for _, definition in definitions if definition.kind in FIELDS]
        if only >= 0:
            places = [place for place in places if place[0] == only]
        if only < 0:
            places += self._set_elsewhere(bound, facts)
        for at, reason in places:
            if reason == _PARAM and self._is_instance(facts, bound, at):
                of = self.enclosing_class(bound.file, facts, at)
                found.add(Instance(of) if of is not None else None)
                continue
            end = at + len(bound.name.encode())
            if reason == _PARAM and text[at - 1 : at] == b"*":
                # The annotation is the type of its items.
                return None
            if reason == _PARAM and rules.untyped and not says_type(text, end):
                # A default says what may be passed, not what is passed.
                return None
            if not says_nothing(text, end) or says_type(text, end):
                found.add(self.value_at(bound.file, facts, end))
        if None in found or len(found) != 1:
            return None
        if only < 0 and rules.open_modules and bound.scope == 0 and not isinstance(next(iter(found)), Outside):
            if sets_globals(text, bound.name):
                return None
            found.update(self._assignments.to_module(bound))
        return found.pop() if len(found) == 1 else None

    def _set_elsewhere(self, bound: Bound, facts: Facts) -> list[tuple[int, int]]:
        """Return where other scopes of a file assign a variable: by `global` and `nonlocal`, or by plain assignment."""
        how = LANGUAGES[facts.language].names.outer_assignment
        if how == "plain":
            here = [facts.bind_at(row) for row in facts.rows(bound.scope, bound.name)]
            there = self._plain_assignments(bound.file, facts, bound.name).get(bound, ())
            return [(at, NO_TARGET) for at in there if at not in here]
        if how != "declared" or not facts.reaches_out:
            return []
        found = []
        for scope, rows in self._outward_scopes(bound.file, facts, bound.name):
            if scope == bound.scope:
                continue
            if self._find_binding(bound.file, facts, scope, bound.name) == bound:
                places = ((facts.bind_at(row), facts.bind_reason(row)) for row in rows)
                found += [(at, NO_TARGET) for at, reason in places if reason not in _FURTHER_OUT]
        return found

    def _plain_assignments(self, path: str, facts: Facts, name: str) -> Mapping[Bound | None, Sequence[int]]:
        """Return the places in a JavaScript file that assign to a plain name, grouped by its binding there."""
        held = self._plainly_given.get((path, name))
        if held is None:
            held = self._plainly_given[path, name] = {}
            for at in names_given(self._world.text(path), name):
                if not facts.in_text(at) and not facts.is_label(at):
                    held.setdefault(self.lexical(path, facts, at, name), []).append(at)
        return held

    def _outward_scopes(self, path: str, facts: Facts, name: str) -> Sequence[tuple[int, Sequence[int]]]:
        """Return the scopes of a file that declare a name `global` or `nonlocal`, with its rows there."""
        held = self._outward.get((path, name))
        if held is None:
            scopes = facts.rows_by_scope(name).items()
            held = [(at, rows) for at, rows in scopes if any(facts.bind_reason(row) in _FURTHER_OUT for row in rows)]
            self._outward[path, name] = held
        return held

    def _javascript_value(self, path: str, facts: Facts, text: bytes, end: int) -> Entity | None:
        """Return what one JavaScript binding holds: the type written there, or the class that it instantiates."""
        written = declared_type(text, end)
        made = None if written or says_type(text, end) else constructed_class(text, end)
        chain = written or made
        named = self._class_named(path, facts, chain) if chain else None
        named = None if made and not self._gives(named, made[0]) else named
        if named is None and not says_type(text, end) and LANGUAGES[facts.language].names.written_results:
            steps = assigned_call(text, end, facts.in_text)
            given = self._owner(path, facts, steps, steps[-1].at) if steps else (None, False)
            return given[0] if isinstance(given[0], Instance) and not given[1] else None
        return named

    def _python_value(self, path: str, facts: Facts, text: bytes, end: int) -> Entity | None:
        """Return what one Python binding holds, by its annotation, or else by a call or a copy of something known."""
        rules = LANGUAGES[facts.language].names
        by_statement = self._given_by_statement(path, facts, text, end) if rules.follows_values else None
        if by_statement is not None:
            return by_statement[0]
        inside = facts.scope_at(end - 1)
        if facts.scopes[inside].kind != "lambda":
            written = annotated_type(text, end)
            if written is not None:
                return self._class_named(path, facts, written)
        text = with_own_value(text, end) or text if rules.follows_values else text
        made = constructed_class(text, end)
        chain = made or copied_chain(text, end)
        if chain is None:
            return None
        if not rules.follows_values:
            named = self._class_named(path, facts, made) if made else None
            return named if made and self._gives(named, made[0]) else None
        steps = steps_of(*chain, called=made is not None)
        if made is not None and is_first_of_several(text, *chain):
            return None
        if b"await" in text[end : chain[1]].split():
            return self._awaited_value(path, facts, steps) if made is not None else None
        given, passed_over = self._owner(path, facts, steps, chain[1])
        if isinstance(given, Outside):
            # What an outside value holds or returns may be ours; what an outside module makes is not.
            root = self._only_entity(self.resolve_plain_name(path, facts, steps[0].at, steps[0].name).entities)
            return given if isinstance(root, Outside) else None
        return given if isinstance(given, Instance) and not passed_over else None

    def _awaited_value(self, path: str, facts: Facts, steps: tuple[Step, ...]) -> Entity | None:
        """Return what awaiting a call gives, by the declared return type of the called function."""
        called = self._callee(path, facts, steps)
        given = self._returned_value(called, called=True, awaited=True) if isinstance(called, Bound) else None
        return given if isinstance(given, Instance) else None

    def _callee(self, path: str, facts: Facts, steps: tuple[Step, ...]) -> Entity | None:
        """Return what the last name of a chain is, before it is called."""
        last = steps[-1]
        if len(steps) == 1:
            return self._only_entity(self.resolve_plain_name(path, facts, last.at, last.name).entities)
        owner, passed_over = self._owner(path, facts, steps[:-1], last.at)
        return self._only_entity(self._step(owner, last.name)) if owner is not None and not passed_over else None

    def _gives(self, named: Entity | None, written: bytes) -> bool:
        """Whether calling the last name of a chain certainly gives its instance, or a value of its outside package."""
        if isinstance(named, Outside):
            return gives_its_own(named.source, written.decode("utf-8", "replace").rpartition(".")[2].strip())
        return not isinstance(named, Instance) or self._makes(named.of)

    def _class_named(self, path: str, facts: Facts, chain: tuple[bytes, int]) -> Entity | None:
        written, at = chain
        names = [part.strip() for part in written.decode("utf-8", "replace").split(".")]
        current = self._only_entity(self.resolve_plain_name(path, facts, at, names[0]).entities)
        for name in names[1:]:
            current = self._only_entity(self._step(current, name))
        if isinstance(current, Outside):
            return None if tells_nothing(current.source) else current
        return Instance(current) if isinstance(current, Bound) and self._is_class(current) else None

    def _is_instance(self, facts: Facts, bound: Bound, at: int) -> bool:
        """Whether a parameter is the first of a method: the instance or the class itself."""
        scope = facts.scopes[bound.scope]
        outer = facts.scopes[scope.parent] if scope.parent >= 0 else None
        language = LANGUAGES[facts.language]
        if not language.classes.receiver_parameter or outer is None or scope.definition < 0:
            return False
        if outer.kind not in language.methods_in:
            return False
        first = facts.first_parameters.get(bound.scope, -1)
        above = decorators(self._world.text(bound.file), facts.definitions[scope.definition])
        if first != at or b"staticmethod" in above or self._is_made_static(facts, bound):
            return False
        return not above or not self.is_handed_another(bound.file, facts, scope.definition)

    def _is_made_static(self, facts: Facts, bound: Bound) -> bool:
        """Whether a class makes a method static after its definition: `name = staticmethod(name)`."""
        method = facts.definitions[facts.scopes[bound.scope].definition]
        text, length = self._world.text(bound.file), len(method.name.encode())
        rows = facts.rows(method.scope, method.name)
        ends = [facts.bind_at(row) + length for row in rows] if len(rows) > 1 else []
        return any(_STATIC.match(text, end) for end in ends)

    def _holds(self, bound: Bound) -> bool:
        """Whether the members of a name are written where it is bound, as in a namespace or an object."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return False
        for index, definition in self.definitions(bound):
            if definition.kind in NAMESPACES:
                return True
            if definition.kind in VARIABLES and facts.scopes[facts.body_of.get(index, 0)].kind == "object":
                return not says_type(self._world.text(bound.file), definition.name_at + len(definition.name.encode()))
        return False
