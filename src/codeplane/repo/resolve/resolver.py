"""From a name at a place to what it means; nothing is guessed, and what is not certain says so."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.repo.facts.model import NO_TARGET, REASONS, Definition, Facts, Import
from codeplane.repo.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.repo.resolve.expression import Step, annotated, chains, constructed, receiver
from codeplane.repo.resolve.world import World

_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait"})
_IMPORT, _GLOBAL, _NONLOCAL = (REASONS.index(one) for one in ("IMPORT_ALIAS", "GLOBAL", "NONLOCAL"))
_PARAM = REASONS.index("PARAM")
_MAX_HOPS = 30
_MAX_BASES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a name at a place stands for; `certain` says that nothing unseen could make it something else.

    `own` is the binding of this file that brings it, when there is one: an import's, for example.
    """

    entities: tuple[Entity, ...]
    certain: bool
    how: str
    own: Bound | None = None


class Resolver:
    """Answers within one world; what it found is kept for its length."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._exports: dict[tuple[str, str], tuple[Entity, ...]] = {}
        self._lines: dict[Bound, tuple[tuple[Bound, ...], bool]] = {}

    def at(self, path: str, offset: int, name: str) -> Meaning:
        """What the name at a place of a file means."""
        facts = self._world.facts(path)
        assert facts is not None
        index = facts.imported_at.get(offset)
        if index is not None:
            found = self.imported(path, facts, facts.imports[index])
            return Meaning(entities=found, certain=len(found) == 1, how="import")
        if offset in facts.labels:
            return Meaning(entities=(), certain=False, how="label")
        text = self._world.text(path)
        steps = receiver(text, offset)
        if steps == ():
            return self._lexical(path, facts, offset, name)
        if steps is None:
            return Meaning(entities=(), certain=False, how="member")
        return self._member(path, facts, steps, offset, name)

    def lexical(self, path: str, facts: Facts, offset: int, name: str) -> Bound | None:
        """The binding a plain name refers to, by scopes alone."""
        hidden = self._world.language(facts).hidden_from_functions
        scope = facts.scope_at(offset)
        if facts.in_outer(offset):
            scope = max(facts.scopes[scope].parent, 0)
        first = scope
        while scope >= 0:
            rows = facts.bound.get((scope, name))
            if rows and (scope == first or facts.scopes[scope].kind not in hidden):
                reasons = {int(facts.binds[row, 2]) for row in rows}
                if _GLOBAL in reasons:
                    return Bound(path, 0, name) if (0, name) in facts.bound else None
                if _NONLOCAL not in reasons:
                    return Bound(path, scope, name)
            scope = facts.scopes[scope].parent
        return None

    def meaning(self, bound: Bound) -> tuple[Entity, ...]:
        """What a binding stands for: itself, or what its imports bring."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return ()
        found: list[Entity] = []
        for row in facts.bound.get((bound.scope, bound.name), ()):
            _, _, reason, target = (int(one) for one in facts.binds[row])
            if reason == _IMPORT:
                found += self.imported(bound.file, facts, facts.imports[target])
            else:
                found.append(bound)
        if not found and (bound.scope, bound.name) in facts.declared:
            found.append(bound)
        return _unique(found)

    def imported(self, path: str, facts: Facts, one: Import) -> tuple[Entity, ...]:
        """What an import brings."""
        modules = self._world.modules(facts)
        if modules is None:
            return ()
        whole = one.imported == ""
        source = one.source.partition(".")[0] if whole and not one.alias and facts.language == "python" else one.source
        places = modules.find(source, path)
        if not places:
            return () if source.startswith(".") else (Outside(source),)
        if whole:
            return tuple(map(Module, places))
        return _unique(entity for place in places for entity in self.export(place, one.imported))

    def export(self, module: str, name: str, hops: int = _MAX_HOPS) -> tuple[Entity, ...]:
        """What a module gives under a name."""
        key = (module, name)
        if key in self._exports:
            return self._exports[key]
        self._exports[key] = ()
        found = self._exported(module, name, hops) if hops else ()
        self._exports[key] = found
        return found

    def definitions(self, bound: Bound) -> list[tuple[int, Definition]]:
        """The definitions that share a binding."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return []
        return [(index, facts.definitions[index]) for index in facts.declared.get((bound.scope, bound.name), ())]

    def member(self, of: Bound, name: str, *, skip_own: bool = False) -> tuple[Bound | None, bool]:
        """The member a class has under a name, by its bases in their order; False when an unseen base may hide it."""
        line, whole = self.line_of(of)
        for one in line[1 if skip_own else 0 :]:
            facts = self._world.facts(one.file)
            if facts is None:
                continue
            for index, definition in self.definitions(one):
                body = facts.body_of.get(index, -1)
                here = (body, name) in facts.declared or (body, name) in facts.bound
                if definition.kind in _CLASSES and body >= 0 and here:
                    return Bound(one.file, body, name), whole or one == of
        return None, whole

    def line_of(self, of: Bound) -> tuple[tuple[Bound, ...], bool]:
        """A class and its bases in the order members are looked up, and whether all of them are known."""
        held = self._lines.get(of)
        if held is not None:
            return held
        self._lines[of] = ((of,), True)
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
            scope = one.parent
        return None

    def value(self, entity: Entity) -> Entity | None:
        """What an entity is when its members are asked for: a class, a module, or an instance of a known class."""
        if not isinstance(entity, Bound):
            return entity
        if self._is_class(entity):
            return entity
        return self._typed(entity)

    def _lexical(self, path: str, facts: Facts, offset: int, name: str) -> Meaning:
        bound = self.lexical(path, facts, offset, name)
        if bound is not None:
            found = self.meaning(bound)
            return Meaning(entities=found, certain=bool(found), how="name", own=bound)
        found = self._by_star(path, facts, name, _MAX_HOPS)
        return Meaning(entities=found, certain=len(found) == 1, how="name")

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
        entities: tuple[Entity, ...] = (member,) if member is not None else ()
        return Meaning(entities=entities, certain=whole, how="member")

    def _owner(self, path: str, facts: Facts, steps: tuple[Step, ...], offset: int) -> tuple[Entity | None, bool]:
        first = steps[0]
        if first.name == "super" and (first.called or facts.language != "python"):
            of = self.enclosing_class(path, facts, offset)
            return (of, True) if of is not None and len(steps) == 1 else (None, False)
        current: Entity | None
        if first.name == "this" and facts.language != "python":
            of = self.enclosing_class(path, facts, offset)
            current = Instance(of) if of is not None else None
        else:
            current = self._one(self._lexical(path, facts, first.at, first.name).entities)
        current = self._called(current) if first.called else self._valued(current)
        for step in steps[1:]:
            current = self._one(self._step(current, step.name))
            current = self._called(current) if step.called else self._valued(current)
        return current, False

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
        return Instance(entity) if isinstance(entity, Bound) and self._is_class(entity) else None

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
        found: set[Entity | None] = set()
        rows = facts.bound.get((bound.scope, bound.name), ())
        places = [(int(facts.binds[row, 1]), int(facts.binds[row, 2])) for row in rows]
        places += [(one.name_at, NO_TARGET) for _, one in self.definitions(bound) if one.kind in ("field", "property")]
        for at, reason in places:
            if reason == _PARAM and self._is_instance(facts, bound, at):
                of = self.enclosing_class(bound.file, facts, at)
                return Instance(of) if of is not None else None
            end = at + len(bound.name.encode())
            written = annotated(text, end)
            made = None if written else constructed(text, end)
            chain = written or made
            found.add(self._class_named(bound.file, facts, chain) if chain else None)
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
        first = min((int(row[1]) for row in facts.binds if row[0] == bound.scope and row[2] == _PARAM), default=-1)
        text = self._world.text(bound.file)
        before = text[
            max(0, facts.definitions[scope.definition].start - 60) : facts.definitions[scope.definition].start
        ]
        return first == at and b"@staticmethod" not in before

    def _is_class(self, bound: Bound) -> bool:
        return any(one.kind in _CLASSES for _, one in self.definitions(bound))

    def _bases(self, of: Bound) -> list[tuple[Entity, ...]]:
        facts = self._world.facts(of.file)
        if facts is None:
            return []
        found: list[tuple[Entity, ...]] = []
        for _, one in self.definitions(of):
            if one.kind in _CLASSES and one.bases is not None:
                for chain in chains(self._world.text(of.file), *one.bases):
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

    def _exported(self, module: str, name: str, hops: int) -> tuple[Entity, ...]:
        facts = self._world.facts(module)
        if facts is None:
            return self._submodule(module, name)
        if not self._world.language(facts).implicit_exports:
            return self._declared_export(module, facts, name, hops)
        if (0, name) in facts.bound:
            found = self.meaning(Bound(module, 0, name))
            # `from . import name` in a package may bring the very module of that name.
            return found or self._submodule(module, name)
        return self._by_star(module, facts, name, hops) or self._submodule(module, name)

    def _declared_export(self, module: str, facts: Facts, name: str, hops: int) -> tuple[Entity, ...]:
        modules = self._world.modules(facts)
        found: list[Entity] = []
        stars: list[str] = []
        for one in facts.exports:
            if one.name == "*" and one.source:
                stars += modules.find(one.source, module) if modules else ()
            elif one.name == name and one.source:
                for place in modules.find(one.source, module) if modules else ():
                    found += [Module(place)] if one.local == "*" else self.export(place, one.local, hops - 1)
            elif one.name == name:
                bound = Bound(module, 0, one.local)
                found += self.meaning(bound)
        if not found and name != "default":
            for place in stars:
                found += self.export(place, name, hops - 1)
        return _unique(found)

    def _by_star(self, path: str, facts: Facts, name: str, hops: int) -> tuple[Entity, ...]:
        """What a name that is not bound here may come from: the modules everything is taken from."""
        modules = self._world.modules(facts)
        if not facts.star or modules is None or hops == 0:
            return ()
        found: list[Entity] = []
        for one in facts.imports:
            if one.imported != "*":
                continue
            for place in modules.find(one.source, path):
                given = self._world.facts(place)
                if given is not None and self._gives(given, name):
                    found += self.export(place, name, hops - 1)
        return _unique(found)

    @staticmethod
    def _gives(facts: Facts, name: str) -> bool:
        """Whether a module's `*` includes a name."""
        listed = {one.name for one in facts.exports if one.evidence == "all"}
        return name in listed if listed else not name.startswith("_")

    def _submodule(self, module: str, name: str) -> tuple[Entity, ...]:
        if module.endswith((".py", ".pyi")) or "." not in module.rpartition("/")[2]:
            found = self._world.python().submodule(module, name)
            return (Module(found),) if found is not None else ()
        return ()


def _unique(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    return tuple(dict.fromkeys(entities))


def _merged(lines: list[list[Bound]]) -> list[Bound]:
    """The order of Python's classes; where they disagree, the order they are written in."""
    lines = [list(line) for line in lines if line]
    found: list[Bound] = []
    while lines:
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
