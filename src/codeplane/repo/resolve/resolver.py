"""From a name at a place to what it means; nothing is guessed, and what is not certain says so."""

import re
from collections.abc import Mapping

from codeplane.repo.facts.model import NO_TARGET, REASONS, Definition, Export, Facts
from codeplane.repo.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.repo.resolve.exported import exported_places
from codeplane.repo.resolve.expression import (
    Step,
    annotated,
    chains,
    constructed,
    declared_type,
    extended,
    receiver,
    says_type,
)
from codeplane.repo.resolve.instance import class_of_this
from codeplane.repo.resolve.names import Meaning, Names
from codeplane.repo.resolve.world import World

_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait"})
_NAMESPACES = frozenset({"namespace"})
_VARIABLES = frozenset({"variable", "constant"})
_HERITAGE = re.compile(rb"[^={]{0,200}=\s*class\b[^{]{0,200}\bextends\b")
_PARAM = REASONS.index("PARAM")
_MAX_BASES = 60

# What decides whose member a chain ends in: the scope it is read in, and its names.
_Chain = tuple[int, bool, tuple[tuple[str, bool], ...]]


class Resolver(Names):
    """Answers within one world; what it found is kept for its length."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._lines: dict[Bound, tuple[tuple[Bound, ...], bool]] = {}
        self._defined: dict[str, Mapping[int, Definition]] = {}
        self._parameters: dict[str, Mapping[int, int]] = {}
        self._given: dict[str, Mapping[int, Export]] = {}
        self._values: dict[Bound, Entity | None] = {}
        self._members: dict[tuple[Bound, str, bool], tuple[Bound | None, bool]] = {}
        self._owners: dict[str, dict[_Chain, tuple[Entity | None, bool]]] = {}

    def at(self, path: str, offset: int, name: str) -> Meaning:
        """What the name at a place of a file means."""
        facts = self._world.facts(path)
        assert facts is not None
        index = facts.imported_at.get(offset)
        if index is not None:
            found = self.imported(path, facts, facts.imports[index])
            return Meaning(entities=found, certain=len(found) == 1, how="import")
        text = self._world.text(path)
        if facts.exports and facts.language != "python":
            given = self._given.get(path)
            if given is None:
                given = self._given[path] = exported_places(facts, text)
            if offset in given:
                return self._passed_on(path, facts, given[offset])
        if offset in facts.labels:
            return Meaning(entities=(), certain=False, how="label")
        steps = receiver(text, offset, facts.in_text)
        if steps == ():
            return self._lexical(path, facts, offset, name)
        if steps is None:
            return Meaning(entities=(), certain=False, how="member")
        return self._member(path, facts, steps, offset, name)

    def defined_at(self, path: str, facts: Facts, offset: int) -> Definition | None:
        """The definition whose name stands at a place."""
        defined = self._defined.get(path)
        if defined is None:
            defined = self._defined[path] = {one.name_at: one for one in facts.definitions}
        return defined.get(offset)

    def member(self, of: Bound, name: str, *, skip_own: bool = False) -> tuple[Bound | None, bool]:
        """The member a class has under a name, by its bases in their order; False when an unseen base may hide it."""
        key = (of, name, skip_own)
        held = self._members.get(key)
        if held is None:
            held = self._member_of(of, name, skip_own)
            if not self._underway:
                self._members[key] = held
        return held

    def _member_of(self, of: Bound, name: str, skip_own: bool) -> tuple[Bound | None, bool]:
        line, whole = self.line_of(of)
        assigned: Bound | None = None
        for one in line[1 if skip_own else 0 :]:
            facts = self._world.facts(one.file)
            if facts is None:
                continue
            for index, definition in self.definitions(one):
                body = facts.body_of.get(index, -1)
                if body < 0 or not ((body, name) in facts.declared or self.bindings.rows(one.file, facts, body, name)):
                    continue
                if definition.kind in _CLASSES:
                    found = Bound(one.file, body, name)
                    if not self._scripted(facts):
                        return found, whole or one == of
                    ways = self._ways(found)
                    if ways != {"assigned"}:
                        # Of a static and another member with one name this may be either.
                        return found, len(ways) < 2 and (whole or one == of)
                    # What is assigned to `this` is declared by a base, if one does.
                    assigned = assigned or found
                    continue
                if definition.kind in _NAMESPACES:
                    return Bound(one.file, body, name), True
                if facts.scopes[body].kind == "object":
                    # Anyone may put another member there.
                    return Bound(one.file, body, name), False
        return assigned, whole

    def _ways(self, member: Bound) -> set[str]:
        """How a class of JavaScript comes to a member: by assignment, statically, or as any."""
        text = self._world.text(member.file)
        found = set()
        for _, one in self.definitions(member):
            before = text[max(one.start, one.name_at - 80) : one.name_at]
            found.add("assigned" if before.endswith(b"this.") else "static" if b"static " in before else "declared")
        return found - {"assigned"} or found or {"declared"}

    def line_of(self, of: Bound) -> tuple[tuple[Bound, ...], bool]:
        """A class and its bases in the order members are looked up, and whether all of them are known."""
        held = self._lines.get(of)
        if held is not None:
            return held
        self._lines[of] = ((of,), True)
        self._underway += 1
        lines: list[list[Bound]] = []
        direct: list[Bound] = []
        whole = True
        for found in self._bases(of):
            classes = [one for one in found if isinstance(one, Bound) and self._is_class(one)]
            if len(classes) != 1:
                whole = False
                continue
            line, complete = self.line_of(classes[0])
            whole = whole and complete
            direct.append(classes[0])
            lines.append(list(line))
        self._underway -= 1
        merged = [of, *_merged([*lines, direct])][:_MAX_BASES]
        self._lines[of] = (tuple(dict.fromkeys(merged)), whole)
        return self._lines[of]

    def enclosing_class(self, path: str, facts: Facts, offset: int) -> Bound | None:
        """The class whose body a place is in."""
        scope = facts.scope_at(offset)
        while scope > 0:
            one = facts.scopes[scope]
            if one.definition >= 0:
                definition = facts.definitions[one.definition]
                if definition.kind in _CLASSES:
                    return Bound(path, definition.scope, definition.name)
            elif one.kind == "class":
                return None
            scope = one.parent
        return None

    def value(self, entity: Entity) -> Entity | None:
        """What an entity is when its members are asked for: a class, a module, or an instance of a known class."""
        if not isinstance(entity, Bound):
            return entity
        if entity in self._values:
            return self._values[entity]
        found = entity if self._is_class(entity) or self._holds(entity) else self._typed(entity)
        if not self._underway:
            self._values[entity] = found
        return found

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
        member, whole = self.member(of, name, skip_own=skip_own)
        if member is not None and isinstance(owner, Instance) and self._scripted(facts):
            # An instance does not have what only the class has.
            whole = whole and self._ways(member) != {"static"}
        entities: tuple[Entity, ...] = (member,) if member is not None else ()
        return Meaning(entities=entities, certain=whole, how="member")

    def _owner(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int) -> tuple[Entity | None, bool]:
        first = steps[0].at
        key = (facts.scope_at(first), facts.in_outer(first), tuple((step.name, step.called) for step in steps))
        held = self._owners.setdefault(path, {})
        if key not in held:
            held[key] = self._owning(path, facts, steps, offset)
        return held[key]

    def _owning(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int) -> tuple[Entity | None, bool]:
        first = steps[0]
        scripted = self._scripted(facts)
        if first.name == "super" and (first.called or facts.language != "python"):
            of = self._of_this(path, facts, offset) if scripted else self.enclosing_class(path, facts, offset)
            return (of, True) if of is not None and len(steps) == 1 else (None, False)
        current: Entity | None
        if first.name == "this" and facts.language != "python":
            of = self._of_this(path, facts, offset) if scripted else self.enclosing_class(path, facts, offset)
            current = Instance(of) if of is not None else None
        elif scripted and self._is_exports(path, facts, steps):
            steps = steps[1:] if first.name == "module" else steps
            current = Module(path)
        else:
            current = self._one(self._lexical(path, facts, first.at, first.name).entities)
        current = self._called(current) if first.called else self._valued(current)
        for step in steps[1:]:
            current = self._one(self._step(current, step.name))
            current = self._called(current) if step.called else self._valued(current)
        return current, False

    @staticmethod
    def _scripted(facts: Facts) -> bool:
        return facts.language in ("javascript", "typescript", "tsx")

    def _of_this(self, path: str, facts: Facts, offset: int) -> Bound | None:
        scope = class_of_this(facts, self._world.text(path), offset)
        if scope < 0 or facts.scopes[scope].definition < 0:
            return None
        definition = facts.definitions[facts.scopes[scope].definition]
        return Bound(path, definition.scope, definition.name)

    def _is_exports(self, path: str, facts: Facts, steps: tuple[Step, ...]) -> bool:
        """Whether a chain begins with this module's own `exports` or `module.exports`."""
        names = [step.name for step in steps[:2]]
        if names[0] != "exports" and names != ["module", "exports"]:
            return False
        return self.lexical(path, facts, steps[0].at, names[0]) is None

    def _step(self, entity: Entity | None, name: str) -> tuple[Entity, ...]:
        if isinstance(entity, Outside):
            return (entity,)
        if isinstance(entity, Module):
            return self.export(entity.path, name)
        if entity is None:
            return ()
        member, _ = self.member(entity.of if isinstance(entity, Instance) else entity, name)
        return self.meaning(member) if member is not None else ()

    def _valued(self, entity: Entity | None) -> Entity | None:
        return self.value(entity) if entity is not None else None

    def _called(self, entity: Entity | None) -> Entity | None:
        if isinstance(entity, Outside):
            return entity
        return Instance(entity) if isinstance(entity, Bound) and self._makes(entity) else None

    def _makes(self, of: Bound) -> bool:
        """Whether calling a name makes an instance of the class it names: an interface is made by something else."""
        kinds = {one.kind for _, one in self.definitions(of)}
        return bool(kinds & _CLASSES) and kinds.isdisjoint({"interface"} | _VARIABLES)

    @staticmethod
    def _one(entities: tuple[Entity, ...]) -> Entity | None:
        """The only thing meant, or None."""
        return entities[0] if len(entities) == 1 else None

    def _typed(self, bound: Bound) -> Entity | None:
        """The class a variable's own bindings name: by self, an annotation, or what it is constructed from."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return None
        text = self._world.text(bound.file)
        scripted = self._scripted(facts)
        found: set[Entity | None] = set()
        rows = self.bindings.rows(bound.file, facts, bound.scope, bound.name)
        places = [(int(facts.binds[row, 1]), int(facts.binds[row, 2])) for row in rows]
        places += [(one.name_at, NO_TARGET) for _, one in self.definitions(bound) if one.kind in ("field", "property")]
        for at, reason in places:
            if reason == _PARAM and self._is_instance(facts, bound, at):
                of = self.enclosing_class(bound.file, facts, at)
                return Instance(of) if of is not None else None
            end = at + len(bound.name.encode())
            if scripted:
                written = declared_type(text, end)
                made = None if written or says_type(text, end) else constructed(text, end)
            else:
                written = annotated(text, end)
                made = None if written else constructed(text, end)
            chain = written or made
            named = self._class_named(bound.file, facts, chain) if chain else None
            if made and isinstance(named, Instance) and not self._makes(named.of):
                named = None
            found.add(named)
        types = {one for one in found if one is not None}
        # One binding that says nothing makes the others a guess, unless it is an annotation that speaks for all.
        if len(types) == 1 and None not in found:
            return types.pop()
        return None

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
        text = self._world.text(bound.file)
        before = text[
            max(0, facts.definitions[scope.definition].start - 60) : facts.definitions[scope.definition].start
        ]
        return first == at and b"@staticmethod" not in before

    def _first_parameters(self, path: str, facts: Facts) -> Mapping[int, int]:
        """Where the first parameter of each scope stands."""
        found = self._parameters.get(path)
        if found is None:
            rows = facts.binds[facts.binds[:, 2] == _PARAM]
            # Rows are in the order of the text, so that the first of a scope is the last one put in from behind.
            found = self._parameters[path] = dict(rows[::-1, :2].tolist())
        return found

    def _is_class(self, bound: Bound) -> bool:
        return any(one.kind in _CLASSES for _, one in self.definitions(bound))

    def _holds(self, bound: Bound) -> bool:
        """Whether a name's members are written out where it is bound: a namespace's, an object's."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return False
        for index, one in self.definitions(bound):
            if one.kind in _NAMESPACES:
                return True
            if one.kind in _VARIABLES and facts.scopes[facts.body_of.get(index, 0)].kind == "object":
                return not says_type(self._world.text(bound.file), one.name_at + len(one.name.encode()))
        return False

    def _bases(self, of: Bound) -> list[tuple[Entity, ...]]:
        facts = self._world.facts(of.file)
        if facts is None:
            return []
        found: list[tuple[Entity, ...]] = []
        text = self._world.text(of.file)
        scripted = self._scripted(facts)
        for _, one in self.definitions(of):
            if one.kind in _CLASSES and one.bases is None and scripted and _HERITAGE.match(text, one.name_at):
                found.append(())
            if one.kind in _CLASSES and one.bases is not None:
                for chain in extended(text, *one.bases) if scripted else chains(text, *one.bases):
                    if chain is None:
                        found.append(())
                        continue
                    written, at = chain
                    names = [part.strip() for part in written.decode("utf-8", "replace").split(".")]
                    entities = self._lexical(of.file, facts, at, names[0]).entities
                    current = self._one(entities)
                    for name in names[1:]:
                        current = self._one(self._step(current, name))
                    if names == ["object"] and not entities:
                        continue
                    found.append((current,) if current is not None else ())
        return found


def _merged(lines: list[list[Bound]]) -> list[Bound]:
    """The order of Python's classes; where they disagree, the order they are written in."""
    lines = [list(line) for line in lines if line]
    found: list[Bound] = []
    while lines and len(found) < _MAX_BASES:
        for line in lines:
            head = line[0]
            if not any(head in other[1:] for other in lines):
                break
        else:
            head = lines[0][0]
        found.append(head)
        lines = [[one for one in line if one != head] for line in lines]
        lines = [line for line in lines if line]
    return found
