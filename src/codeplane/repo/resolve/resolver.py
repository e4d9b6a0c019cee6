"""From a name at a place to what it means; nothing is guessed, and what is not certain says so."""

import re
from collections.abc import Iterator, Mapping, Sequence

from codeplane.repo.facts.model import NO_TARGET, REASONS, Definition, Export, Facts
from codeplane.repo.resolve.assignments import Assignments
from codeplane.repo.resolve.classes import NAMESPACES, VARIABLES, Classes
from codeplane.repo.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.repo.resolve.evidence import (
    binding_before,
    copied,
    decorators,
    is_property,
    module_before,
    returned,
    steps_of,
)
from codeplane.repo.resolve.exported import exported_places
from codeplane.repo.resolve.expression import (
    Step,
    annotated,
    constructed,
    declared_type,
    is_first_of_several,
    is_reached,
    receiver,
    says_type,
)
from codeplane.repo.resolve.given_places import names_given, says_nothing, sets_globals
from codeplane.repo.resolve.instance import Side, class_of_this, in_static
from codeplane.repo.resolve.names import Meaning
from codeplane.repo.resolve.narrowing import narrowings
from codeplane.repo.resolve.returning import is_generator, made_and_returned
from codeplane.repo.resolve.world import World

_PARAM, _DEFINED = REASONS.index("PARAM"), REASONS.index("DEF_IN_SCOPE")
_BEHIND = re.compile(rb"\s*\(\s*([\w\x80-\xff.]+(?:\([^)]*\))?)")
_STATIC = re.compile(rb"[ \t]*=[ \t]*staticmethod\b")
_FUNCTIONS = frozenset({"function", "method"})
_FIELDS = frozenset({"field", "property"})
_FURTHER_OUT = frozenset({REASONS.index("GLOBAL"), REASONS.index("NONLOCAL")})
# Languages in which a first value does not say what comes later.
_MAX_HEIRS = 400
_UNTYPED = frozenset({"javascript", "python"})

# What decides whose member a chain ends in: the scope it is read in, its names, and the binding that reaches it.
_Chain = tuple[int, bool, tuple[tuple[str, bool], ...], int]


class Resolver(Classes):
    """Answers within one world; what it found is kept for its length."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._defined: dict[str, Mapping[int, Definition]] = {}
        self._parameters: dict[str, Mapping[int, int]] = {}
        self._given: dict[str, Mapping[int, Export]] = {}
        self._outward: dict[tuple[str, str], Sequence[tuple[int, Sequence[int]]]] = {}
        self._values: dict[Bound, Entity | None] = {}
        self._owners: dict[str, dict[_Chain, tuple[Entity | None, bool]]] = {}
        self._overridden: dict[Bound, bool] = {}
        self._typing: set[tuple[Bound, int]] = set()
        self._assignments = Assignments(world, self)

    def at(self, path: str, offset: int, name: str) -> Meaning:
        """What the name at a place of a file means."""
        facts = self._world.facts(path)
        assert facts is not None
        index = facts.imported_at.get(offset)
        if index is not None:
            one = facts.imports[index]
            found = self.imported(path, facts, one)
            certain = bool(found) and not self.guesses(path, facts, one)
            return Meaning(entities=found, certain=certain, how="import")
        text = self._world.text(path)
        if facts.language == "python" and (before := module_before(text, offset)) is not None:
            modules = tuple(map(Module, self._world.python().find(f"{before}{name}", path)))
            return Meaning(entities=modules or (Outside(name),), certain=True, how="import")
        if facts.exports and facts.language != "python":
            given = self._given.get(path)
            if given is None:
                given = self._given[path] = exported_places(facts, text)
            if offset in given:
                return self._passed_on(path, facts, given[offset])
        if offset in facts.labels:
            return Meaning(entities=(), certain=False, how="label")
        steps = receiver(text, offset, facts.in_text)
        if steps == () and not is_reached(facts.language, text, offset):
            return self._lexical(path, facts, offset, name)
        if not steps:
            return Meaning(entities=(), certain=False, how="member")
        return self._member(path, facts, steps, offset, name)

    def defined_at(self, path: str, facts: Facts, offset: int) -> Definition | None:
        """The definition whose name stands at a place."""
        defined = self._defined.get(path)
        if defined is None:
            defined = self._defined[path] = {one.name_at: one for one in facts.definitions}
        return defined.get(offset)

    def value(self, entity: Entity) -> Entity | None:
        """What an entity is when its members are asked for: a class, a module, or an instance of a known class."""
        if not isinstance(entity, Bound):
            return entity
        if entity in self._values:
            return self._values[entity]
        if self._is_class(entity):
            found: Entity | None = None if self.is_replaced(entity) else entity
        else:
            found = entity if self._holds(entity) else self._typed(entity)
        if not self._underway and not self._typing:
            self._values[entity] = found
        return found

    def owner_at(self, path: str, facts: Facts, offset: int) -> Entity | None:
        """What the member at a place is a member of, as far as that is known."""
        steps = receiver(self._world.text(path), offset, facts.in_text)
        return self._owner(path, facts, steps, offset)[0] if steps else None

    def given_at(self, path: str, facts: Facts, end: int) -> Entity | None:
        """What the name that ends at a place is given there: by its type, or by what is made or copied."""
        text = self._world.text(path)
        return (
            self._declared_here(path, facts, text, end)
            if self._scripted(facts)
            else self._given_here(path, facts, text, end)
        )

    def _member(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int, name: str) -> Meaning:
        owner, skip_own = self._owner(path, facts, steps, offset)
        if owner is None:
            return Meaning(entities=(), certain=False, how="member")
        if isinstance(owner, Outside):
            return Meaning(entities=(owner,), certain=True, how="member")
        if isinstance(owner, Module):
            found = self.export(owner.path, name)
            return Meaning(entities=found, certain=len(found) == 1, how="member")
        of = owner.of if isinstance(owner, Instance) else owner
        side: Side = ""
        if self._scripted(facts):
            side = "instance" if isinstance(owner, Instance) else "static"
        member, whole = self.member(of, name, skip_own=skip_own, side=side)
        if member is None:
            return Meaning(entities=(), certain=whole, how="member")
        # Which of two it is stands in no binding: who asks about one of them compares the sides.
        certain = whole and not (side and self.has_both(member))
        return Meaning(entities=(member,), certain=certain, how="member", side=side if whole else "")

    def _owner(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int) -> tuple[Entity | None, bool]:
        first = steps[0].at
        scope = facts.scope_at(first)
        reached = self._reaching(path, facts, scope, steps[0])
        # In a class's body `this` is the class or an instance, field by field; `super` may be given a class.
        own = facts.scopes[scope].kind == "class" and steps[0].name in ("this", "super")
        which = -2 - first if own or (steps[0].name == "super" and steps[0].called) else reached
        key = (scope, facts.in_outer(first), tuple((step.name, step.called) for step in steps), which)
        held = self._owners.setdefault(path, {})
        found = held.get(key)
        if found is None:
            found = self._owning(path, facts, steps, offset, reached)
            if not self._typing:
                held[key] = found
        if facts.language == "python" and found[0] is not None and self._is_narrowed(path, facts, steps, found[0]):
            return None, False
        return found

    def _is_narrowed(self, path: str, facts: Facts, steps: tuple[Step, ...], owner: Entity) -> bool:
        """Whether the text asks about a receiver, so that it may be something else where it is used."""
        scope = facts.scopes[facts.scope_at(steps[0].at)]
        if scope.kind != "function" or any(step.called for step in steps):
            return False
        text, of = self._world.text(path), owner.of if isinstance(owner, Instance) else owner
        chain = ".".join(step.name for step in steps).encode()
        for one in narrowings(text, scope.start, steps[0].at, chain):
            if one.around and not one.classes:
                return True
            named = [self._class_named(path, facts, found) for found in one.classes]
            for found in named:
                near = isinstance(found, Instance) and isinstance(of, Bound) and self._are_kin(found.of, of)
                if not near and (one.around or isinstance(found, Instance)):
                    return True
        return False

    def _are_kin(self, one: Bound, other: Bound) -> bool:
        return other in self.line_of(one)[0] or one in self.line_of(other)[0]

    def _reaching(self, path: str, facts: Facts, scope: int, first: Step) -> int:
        """The one of several bindings in a scope that reaches a use, or -1 where that is not certain."""
        if facts.language != "python":
            return -1
        rows = self.bindings.rows(path, facts, scope, first.name)
        if len(rows) < 2 or self._set_elsewhere(Bound(path, scope, first.name), facts):
            return -1
        return binding_before(self._world.text(path), [int(facts.binds[row, 1]) for row in rows], first.at)

    def _owning(
        self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int, reached: int = -1
    ) -> tuple[Entity | None, bool]:
        first = steps[0]
        scripted = self._scripted(facts)
        if first.name == "super" and (first.called or facts.language != "python"):
            above = self._of_this(path, facts, offset) if scripted else self.enclosing_class(path, facts, offset)
            if first.called and above is not None and not self._begins_at(path, first, above):
                return None, False
            return (above, True) if above is not None and len(steps) == 1 else (None, False)
        current: Entity | None
        if first.name == "this" and facts.language != "python":
            around = self.enclosing_class(path, facts, offset) if not scripted else None
            current = self._of_this(path, facts, offset) if scripted else Instance(around) if around else None
        elif scripted and self._is_exports(path, facts, steps):
            steps = steps[1:] if first.name == "module" else steps
            current = Module(path)
        else:
            meant = self._lexical(path, facts, first.at, first.name)
            current = self._one(meant.entities) if meant.certain else None
        if reached >= 0 and not first.called and isinstance(current, Bound) and current.file == path:
            current = self._typed(current, reached) if not self._is_class(current) else self.value(current)
        else:
            current = self._called(current) if first.called else self._valued(current)
        for step in steps[1:]:
            current = self._one(self._step(current, step.name))
            current = self._called(current) if step.called else self._valued(current)
        return current, False

    def _begins_at(self, path: str, called: Step, of: Bound | Instance) -> bool:
        """Whether `super(…)` looks behind the class it stands in, not behind another one that it names."""
        named = _BEHIND.match(self._world.text(path), called.at + len(called.name))
        return named is None or not isinstance(of, Bound) or named[1].decode() in (of.name, "__class__")

    def _of_this(self, path: str, facts: Facts, offset: int) -> Bound | Instance | None:
        """What `this` is at a place: an instance of the class around, or the class itself where that is static."""
        text = self._world.text(path)
        scope = class_of_this(facts, text, offset)
        if scope < 0 or facts.scopes[scope].definition < 0:
            return None
        definition = facts.definitions[facts.scopes[scope].definition]
        of = Bound(path, definition.scope, definition.name)
        return of if in_static(facts, text, offset, scope) else Instance(of)

    def _is_exports(self, path: str, facts: Facts, steps: tuple[Step, ...]) -> bool:
        """Whether a chain begins with this module's own `exports` or `module.exports`."""
        names = [step.name for step in steps[:2]]
        if names[0] != "exports" and names != ["module", "exports"]:
            return False
        return self.lexical(path, facts, steps[0].at, names[0]) is None

    def _valued(self, entity: Entity | None) -> Entity | None:
        return self.value(entity) if entity is not None else None

    def _called(self, entity: Entity | None) -> Entity | None:
        if isinstance(entity, Outside):
            return entity
        if not isinstance(entity, Bound):
            return None
        if self._makes(entity):
            return None if self.is_replaced(entity) or self.makes_others(entity) else Instance(entity)
        return self._made_by_class(entity) or self._returned(entity, called=True)

    def _made_by_class(self, bound: Bound) -> Entity | None:
        """What calling the first parameter of a class method makes."""
        facts = self._world.facts(bound.file)
        rows = self.bindings.rows(bound.file, facts, bound.scope, bound.name) if facts is not None else ()
        if facts is None or len(rows) != 1 or int(facts.binds[rows[0], 2]) != _PARAM:
            return None
        at, scope = int(facts.binds[rows[0], 1]), facts.scopes[bound.scope]
        if not self._is_instance(facts, bound, at) or self._set_elsewhere(bound, facts):
            return None
        above = decorators(self._world.text(bound.file), facts.definitions[scope.definition])
        of = self.enclosing_class(bound.file, facts, at) if b"classmethod" in above else None
        return Instance(of) if of is not None and not self.makes_others(of) else None

    def _returned(self, of: Bound, *, called: bool, awaited: bool = False) -> Entity | None:
        """What calling a function gives, or reading a property, by what all its definitions say."""
        facts, definitions = self._world.facts(of.file), [one for _, one in self.definitions(of)]
        if facts is None or facts.language != "python" or not definitions or self.is_rebound(of, facts):
            return None
        text = self._world.text(of.file)
        found: set[Entity | None] = set()
        for index, one in self.definitions(of):
            if one.kind not in _FUNCTIONS or is_generator(facts, text, index):
                return None
            if is_property(text, one) is called:
                # A setter is no reading; a property that is called gives what its value gives.
                if called or len(definitions) == 1:
                    return None
                continue
            chain = returned(text, one, awaited=awaited)
            found.add(self._class_named(of.file, facts, chain) if chain else None)
        given = found.pop() if len(found) == 1 else None
        return None if isinstance(given, Instance) and self._gives_others(of, facts, given.of) else given

    def _gives_others(self, of: Bound, facts: Facts, given: Bound) -> bool:
        """Whether a method is overridden by one that returns something else than it says itself."""
        if facts.scopes[of.scope].kind != "class":
            return False
        held = self._overridden.get(of)
        if held is None:
            held = self._overridden[of] = any(not self._are_kin(one, given) for one in self._given_by_heirs(of, facts))
        return held

    def _given_by_heirs(self, of: Bound, facts: Facts) -> Iterator[Bound]:
        """The classes that overriding methods say they return, or are seen to make."""
        owner = facts.definitions[facts.scopes[of.scope].definition]
        above = Bound(of.file, owner.scope, owner.name)
        for path, position in self._world.named(of.name, limit=_MAX_HEIRS)[0]:
            there = self._world.facts(path)
            if there is None or there.language != "python" or position >= len(there.definitions):
                continue
            one = there.definitions[position]
            scope = there.scopes[one.scope]
            if scope.kind != "class" or scope.definition < 0 or one.kind not in _FUNCTIONS:
                continue
            heir = there.definitions[scope.definition]
            if (
                Bound(path, one.scope, one.name) == of
                or above not in self.line_of(Bound(path, heir.scope, heir.name))[0]
            ):
                continue
            text = self._world.text(path)
            chain = returned(text, one, awaited=text.startswith(b"async", one.start))
            chains = [chain] if chain else made_and_returned(there, text, position)
            for said in chains:
                found = self._class_named(path, there, said)
                if isinstance(found, Instance):
                    yield found.of

    def is_rebound(self, of: Bound, facts: Facts) -> bool:
        """Whether a function's name is given something else anywhere: what it says then holds no longer."""
        rows = self.bindings.rows(of.file, facts, of.scope, of.name)
        if any(int(facts.binds[row, 2]) != _DEFINED for row in rows) or self._set_elsewhere(of, facts):
            return True
        if facts.scopes[of.scope].kind == "class":
            return self._assignments.is_replaced(of)
        return of.scope == 0 and any(True for _ in self._assignments.to_module(of))

    def _typed(self, bound: Bound, only: int = -1) -> Entity | None:
        """The class a variable's own bindings name, or one of them: by self, an annotation, or what it is given."""
        facts = self._world.facts(bound.file)
        if facts is None or (bound, only) in self._typing:
            return None
        self._typing.add((bound, only))
        try:
            return self._told(bound, facts, only)
        finally:
            self._typing.discard((bound, only))

    def _told(self, bound: Bound, facts: Facts, only: int) -> Entity | None:
        text = self._world.text(bound.file)
        found: set[Entity | None] = set()
        rows = self.bindings.rows(bound.file, facts, bound.scope, bound.name)
        places = [(int(facts.binds[row, 1]), int(facts.binds[row, 2])) for row in rows]
        definitions = self.definitions(bound)
        if facts.language == "python" and any(one.kind in _FUNCTIONS for _, one in definitions):
            return self._returned(bound, called=False)
        if facts.scopes[bound.scope].kind == "class" and facts.language in _UNTYPED and not self._assignments.judging:
            return self._assignments.member(bound)
        places += [(one.name_at, NO_TARGET) for _, one in definitions if one.kind in _FIELDS]
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
            if reason == _PARAM and text[:at].endswith(b"*"):
                # The type is that of what it holds.
                return None
            if reason == _PARAM and facts.language in _UNTYPED and not says_type(text, end):
                # A default says what may be given, not what is.
                return None
            if not says_nothing(text, end) or says_type(text, end):
                found.add(self.given_at(bound.file, facts, end))
        if None in found or len(found) != 1:
            return None
        if only < 0 and facts.language == "python" and bound.scope == 0 and not isinstance(next(iter(found)), Outside):
            if sets_globals(text, bound.name):
                return None
            found.update(self._assignments.to_module(bound))
        return found.pop() if len(found) == 1 else None

    def _set_elsewhere(self, bound: Bound, facts: Facts) -> list[tuple[int, int]]:
        """Where other scopes of a file give a variable a value: by `global` and `nonlocal`, or just so."""
        if facts.language == "javascript":
            text = self._world.text(bound.file)
            here = [int(facts.binds[row, 1]) for row in self.bindings.rows(bound.file, facts, bound.scope, bound.name)]
            return [
                (at, NO_TARGET)
                for at in names_given(text, bound.name)
                if at not in here and not facts.in_text(at) and at not in facts.labels
                if self.lexical(bound.file, facts, at, bound.name) == bound
            ]
        if facts.language != "python":
            return []
        found = []
        for scope, rows in self._reaching_out(bound.file, facts, bound.name):
            if scope == bound.scope:
                continue
            if self._bound(bound.file, facts, scope, bound.name) == bound:
                places = ((int(facts.binds[row, 1]), int(facts.binds[row, 2])) for row in rows)
                found += [(at, NO_TARGET) for at, reason in places if reason not in _FURTHER_OUT]
        return found

    def _reaching_out(self, path: str, facts: Facts, name: str) -> Sequence[tuple[int, Sequence[int]]]:
        """The scopes of a file that say `global` or `nonlocal` of a name, with its rows there."""
        held = self._outward.get((path, name))
        if held is None:
            scopes = self.bindings.scopes(path, facts, name).items()
            held = [(at, rows) for at, rows in scopes if any(int(facts.binds[row, 2]) in _FURTHER_OUT for row in rows)]
            self._outward[path, name] = held
        return held

    def _declared_here(self, path: str, facts: Facts, text: bytes, end: int) -> Entity | None:
        """What one binding of JavaScript says: the type written there, or the class that makes it."""
        written = declared_type(text, end)
        made = None if written or says_type(text, end) else constructed(text, end)
        chain = written or made
        named = self._class_named(path, facts, chain) if chain else None
        return None if made and isinstance(named, Instance) and not self._makes(named.of) else named

    def _given_here(self, path: str, facts: Facts, text: bytes, end: int) -> Entity | None:
        """What one binding of Python says: its annotation, or else a base's; a call, or a copy of something known."""
        inside = facts.scope_at(end - 1)
        if facts.scopes[inside].kind != "lambda":
            written = annotated(text, end)
            if written is not None:
                return self._class_named(path, facts, written)
        made = constructed(text, end)
        chain = made or copied(text, end)
        if chain is None:
            return None
        if facts.language != "python":
            named = self._class_named(path, facts, made) if made else None
            return named if not isinstance(named, Instance) or self._makes(named.of) else None
        steps = steps_of(*chain, called=made is not None)
        if b"await" in text[end : chain[1]].split() or (made is not None and is_first_of_several(text, *chain)):
            return None
        given, passed_over = self._owner(path, facts, steps, chain[1])
        if isinstance(given, Outside):
            # What a value of others holds or gives may be ours; what their modules make is theirs.
            root = self._one(self._lexical(path, facts, steps[0].at, steps[0].name).entities)
            return given if isinstance(root, Outside) else None
        return given if isinstance(given, Instance) and not passed_over else None

    def _class_named(self, path: str, facts: Facts, chain: tuple[bytes, int]) -> Entity | None:
        written, at = chain
        names = [part.strip() for part in written.decode("utf-8", "replace").split(".")]
        current = self._one(self._lexical(path, facts, at, names[0]).entities)
        for name in names[1:]:
            current = self._one(self._step(current, name))
        if isinstance(current, Outside):
            return current
        return Instance(current) if isinstance(current, Bound) and self._is_class(current) else None

    def _is_instance(self, facts: Facts, bound: Bound, at: int) -> bool:
        """Whether a parameter is the first of a method: the instance or the class itself."""
        scope = facts.scopes[bound.scope]
        outer = facts.scopes[scope.parent] if scope.parent >= 0 else None
        methods = self._world.language(facts).methods_in
        if facts.language != "python" or outer is None or outer.kind not in methods or scope.definition < 0:
            return False
        first = self._first_parameters(bound.file, facts).get(bound.scope, -1)
        above = decorators(self._world.text(bound.file), facts.definitions[scope.definition])
        if first != at or b"staticmethod" in above or self._made_static(facts, bound):
            return False
        return not above or not self.is_handed_another(bound.file, facts, scope.definition)

    def _made_static(self, facts: Facts, bound: Bound) -> bool:
        """Whether a class makes a method static after it was written: `name = staticmethod(name)`."""
        method = facts.definitions[facts.scopes[bound.scope].definition]
        text, length = self._world.text(bound.file), len(method.name.encode())
        rows = self.bindings.rows(bound.file, facts, method.scope, method.name)
        ends = [int(facts.binds[row, 1]) + length for row in rows] if len(rows) > 1 else []
        return any(_STATIC.match(text, end) for end in ends)

    def _first_parameters(self, path: str, facts: Facts) -> Mapping[int, int]:
        """Where the first parameter of each scope stands."""
        found = self._parameters.get(path)
        if found is None:
            rows = facts.binds[facts.binds[:, 2] == _PARAM]
            # Rows are in the order of the text, so that the first of a scope is the last one put in from behind.
            found = self._parameters[path] = dict(rows[::-1, :2].tolist())
        return found

    def _holds(self, bound: Bound) -> bool:
        """Whether a name's members are written out where it is bound: a namespace's, an object's."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return False
        for index, one in self.definitions(bound):
            if one.kind in NAMESPACES:
                return True
            if one.kind in VARIABLES and facts.scopes[facts.body_of.get(index, 0)].kind == "object":
                return not says_type(self._world.text(bound.file), one.name_at + len(one.name.encode()))
        return False
