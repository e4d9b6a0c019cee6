"""From a name at a place to what it means; nothing is guessed, and what is not certain says so."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codeplane.repo.facts.model import NO_TARGET, REASONS, Definition, Export, Facts, Import
from codeplane.repo.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.repo.resolve.exported import exported_places, given_whole
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
from codeplane.repo.resolve.world import World

_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait"})
_NAMESPACES = frozenset({"namespace"})
_VARIABLES = frozenset({"variable", "constant"})
_WHOLE = frozenset({"js_require"})
_HERITAGE = re.compile(rb"[^={]{0,200}=\s*class\b[^{]{0,200}\bextends\b")
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
        self._defined: dict[str, Mapping[int, Definition]] = {}
        self._given: dict[str, Mapping[int, Export]] = {}

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
        steps = self._receiver(facts, text, offset)
        if steps == ():
            return self._lexical(path, facts, offset, name)
        if steps is None:
            return Meaning(entities=(), certain=False, how="member")
        return self._member(path, facts, steps, offset, name)

    @staticmethod
    def _receiver(facts: Facts, text: bytes, offset: int) -> tuple[Step, ...] | None:
        """The chain before a member; a comment on the line before is not a part of it."""
        steps = receiver(text, offset)
        if steps == ():
            return steps
        dot = text.rfind(b".", 0, offset)
        if text.find(b"\n", dot, offset) >= 0 and facts.in_text(dot):
            return ()
        if steps and text.find(b"\n", steps[0].at, offset) >= 0 and any(facts.in_text(step.at) for step in steps):
            return None
        return steps

    def defined_at(self, path: str, facts: Facts, offset: int) -> Definition | None:
        """The definition whose name stands at a place."""
        defined = self._defined.get(path)
        if defined is None:
            defined = self._defined[path] = {one.name_at: one for one in facts.definitions}
        return defined.get(offset)

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
            return (Outside(source),) if modules.outside(source) else ()
        if whole:
            return _unique(entity for place in places for entity in self._whole(place, one.kind))
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
        assigned: Bound | None = None
        for one in line[1 if skip_own else 0 :]:
            facts = self._world.facts(one.file)
            if facts is None:
                continue
            for index, definition in self.definitions(one):
                body = facts.body_of.get(index, -1)
                if body < 0 or ((body, name) not in facts.declared and (body, name) not in facts.bound):
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
            elif one.kind == "class":
                return None
            scope = one.parent
        return None

    def value(self, entity: Entity) -> Entity | None:
        """What an entity is when its members are asked for: a class, a module, or an instance of a known class."""
        if not isinstance(entity, Bound):
            return entity
        if self._is_class(entity) or self._holds(entity):
            return entity
        return self._typed(entity)

    def _passed_on(self, path: str, facts: Facts, one: Export) -> Meaning:
        """What a name in a list of exports stands for."""
        if not one.source:
            own = Bound(path, 0, one.local)
            found = self.meaning(own)
            return Meaning(entities=found, certain=bool(found), how="export")
        modules = self._world.modules(facts)
        places = modules.find(one.source, path) if modules else ()
        if not places and modules is not None and modules.outside(one.source):
            return Meaning(entities=(Outside(one.source),), certain=True, how="export")
        found = _unique(entity for place in places for entity in self.export(place, one.local))
        if one.local == "*":
            found = tuple(map(Module, places))
        return Meaning(entities=found, certain=len(found) == 1, how="export")

    def _whole(self, place: str, kind: str) -> tuple[Entity, ...]:
        """What taking a whole module brings: the module, or the one thing it says it is."""
        facts = self._world.facts(place) if kind in _WHOLE else None
        given = given_whole(facts) if facts is not None else None
        found = self.meaning(Bound(place, 0, given.local)) if given is not None else ()
        return found or (Module(place),)

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
        rows = facts.bound.get((bound.scope, bound.name), ())
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
        first = min((int(row[1]) for row in facts.binds if row[0] == bound.scope and row[2] == _PARAM), default=-1)
        text = self._world.text(bound.file)
        before = text[
            max(0, facts.definitions[scope.definition].start - 60) : facts.definitions[scope.definition].start
        ]
        return first == at and b"@staticmethod" not in before

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
                # `exports.name = function …` is the only binding there is.
                found += self.meaning(Bound(module, 0, one.local or (name if one.evidence == "commonjs" else "")))
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
