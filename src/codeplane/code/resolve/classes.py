"""Resolves classes: their bases, the order in which members are looked up, and the member that a name means."""

import re

from codeplane.code.entity import Bound, Entity, Instance, Module, Outside, Side
from codeplane.code.languages.expression import base_types, chains
from codeplane.code.languages.javascript.this_binding import in_static, is_static
from codeplane.code.languages.outside_packages import package_of
from codeplane.code.languages.python.class_creation import (
    all_give_back,
    decorator_places,
    is_known_to_keep,
    makes_its_own,
    metaclass,
)
from codeplane.code.languages.python.decorators import hands_another
from codeplane.code.languages.python.evidence import decorators
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.names import Names
from codeplane.code.resolve.world import World

CLASSES = frozenset({"class", "interface", "struct", "enum", "trait"})
NAMESPACES = frozenset({"namespace"})
VARIABLES = frozenset({"variable", "constant"})
_HERITAGE = re.compile(rb"[^={]{0,200}=\s*class\b[^{]{0,200}\bextends\b")
_MAX_BASES = 60
_DEFINED, _IMPORTED = REASONS.index("DEF_IN_SCOPE"), REASONS.index("IMPORT_ALIAS")
# Bases from outside whose members are not used by name.
_EMPTY = frozenset({"Generic", "Protocol", "ABC"})
_EMPTY_IN = frozenset({"typing", "typing_extensions", "abc"})


class Classes(Names):
    """Resolves classes and their members within one world."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._lines: dict[Bound, tuple[tuple[Bound, ...], bool]] = {}
        self._prefixes: dict[Bound, frozenset[Bound]] = {}
        self._members: dict[tuple[Bound, str, bool, Side], tuple[Bound | None, bool]] = {}
        self._replaced: dict[Bound, bool] = {}
        self._handed: dict[tuple[str, int], bool] = {}
        self._others: dict[Bound, bool] = {}
        self._intercepted: dict[Bound, bool] = {}

    def member(self, of: Bound, name: str, *, skip_own: bool = False, side: Side = "") -> tuple[Bound | None, bool]:
        """Return the member of a class or its bases, in lookup order, and False if an unseen base may hide it.

        `side` says whether it is a member of the class or of its instances, in languages that separate them.
        """
        key = (of, name, skip_own, side)
        held = self._members.get(key)
        if held is None:
            held = self._member_of(of, name, skip_own, side)
            if not self._underway:
                self._members[key] = held
        return held

    def _member_of(self, of: Bound, name: str, skip_own: bool, side: Side) -> tuple[Bound | None, bool]:
        line, whole = self.line_of(of)
        assigned: Bound | None = None
        for class_ in line[1 if skip_own else 0 :]:
            facts = self._world.facts(class_.file)
            if facts is None:
                continue
            for index, definition in self.definitions(class_):
                body = facts.body_of.get(index, -1)
                if body < 0 or not (facts.definitions_in(body, name) or facts.rows(body, name)):
                    continue
                if definition.kind in CLASSES:
                    found = Bound(class_.file, body, name)
                    if not LANGUAGES[facts.language].classes.static_members:
                        # With one base, nothing comes between a class and that base unless a subclass puts it there.
                        near = not skip_own or len(self._bases(of)) == 1
                        seen = whole or class_ == of or (near and class_ in self._before_unseen(of))
                        return found, seen and not self._is_twice(class_) and not self._is_intercepted(of)
                    ways = self._ways(found)
                    lacks = "static" not in ways if side == "static" else side == "instance" and ways == {"static"}
                    if lacks and facts.scopes[body].kind == "class":
                        continue
                    if ways != {"assigned"}:
                        # If a static member and another one share the name, this may be either.
                        return found, (bool(side) or len(ways) < 2) and (whole or class_ == of)
                    # A member assigned to `this` is the member that a base declares, if any.
                    assigned = assigned or found
                    continue
                if definition.kind in NAMESPACES:
                    return Bound(class_.file, body, name), True
                if facts.scopes[body].kind == "object":
                    # Any code may put another member there.
                    return Bound(class_.file, body, name), False
        return assigned, whole

    def has_both(self, member: Bound) -> bool:
        """Whether a JavaScript class has both a static member and another one of the same name."""
        facts = self._world.facts(member.file)
        return facts is not None and LANGUAGES[facts.language].classes.static_members and len(self._ways(member)) > 1

    def _ways(self, member: Bound) -> set[str]:
        """Return how a JavaScript class gets a member: by assignment, as a static one, or by a plain declaration."""
        facts, text = self._world.facts(member.file), self._world.text(member.file)
        found = set()
        for _, definition in self.definitions(member):
            if text[max(0, definition.name_at - 5) : definition.name_at] == b"this.":
                static = facts is not None and in_static(facts, text, definition.name_at, member.scope)
                found.add("static" if static else "assigned")
            else:
                found.add("static" if is_static(text, definition) else "declared")
        return found - {"assigned"} or found or {"declared"}

    def line_of(self, of: Bound) -> tuple[tuple[Bound, ...], bool]:
        """Return a class and its bases in the order members are looked up, and whether all of them are known."""
        held = self._lines.get(of)
        if held is not None:
            return held
        self._lines[of] = ((of,), True)
        self._underway += 1
        lines: list[list[Bound]] = []
        direct: list[Bound] = []
        whole = not self._is_twice(of)
        for found in self._bases(of):
            classes = [entity for entity in found if isinstance(entity, Bound) and self._is_class(entity)]
            if len(classes) != 1:
                whole = False
                continue
            line, complete = self.line_of(classes[0])
            whole = whole and complete and not self.is_replaced(classes[0])
            direct.append(classes[0])
            lines.append(list(line))
        self._underway -= 1
        # The order of a single base needs no merge.
        merged = [of, *(lines[0] if len(lines) == 1 else _merge_lines([*lines, direct]))][:_MAX_BASES]
        self._lines[of] = (tuple(dict.fromkeys(merged)), whole)
        return self._lines[of]

    def _before_unseen(self, of: Bound) -> frozenset[Bound]:
        """Return the classes whose members certainly come before those of bases that cannot be read."""
        held = self._prefixes.get(of)
        if held is not None:
            return held
        self._prefixes[of] = frozenset({of})
        found = {of}
        bases = self._bases(of)
        for base in bases:
            known = [entity for entity in base if isinstance(entity, Bound) and self._is_class(entity)]
            if len(known) != 1 or self._is_twice(of) or self.is_replaced(known[0]):
                break
            found |= self._before_unseen(known[0]) if len(bases) == 1 else {known[0]}
            if not self.line_of(known[0])[1]:
                break
        self._prefixes[of] = frozenset(found)
        return self._prefixes[of]

    def enclosing_class(self, path: str, facts: Facts, offset: int) -> Bound | None:
        """Return the class whose body contains a place."""
        scope = facts.scope_at(offset)
        while scope > 0:
            inner = facts.scopes[scope]
            if inner.definition >= 0:
                definition = facts.definitions[inner.definition]
                if definition.kind in CLASSES:
                    return Bound(path, definition.scope, definition.name)
            elif inner.kind == "class":
                return None
            scope = inner.parent
        return None

    def has_unread_base(self, of: Bound) -> bool:
        """Whether a base of a class, or of one of its bases, is neither known nor one of an outside package."""
        line, is_whole = self.line_of(of)
        return not is_whole and any(
            self._is_twice(class_)
            or any(
                self.is_replaced(base[0])
                if len(base) == 1 and isinstance(base[0], Bound) and self._is_class(base[0])
                else not base or not all(isinstance(entity, Outside) for entity in base)
                for base in self._bases(class_)
            )
            for class_ in line
        )

    def packages_below(self, of: Bound) -> frozenset[str]:
        """Return the outside packages from which a class inherits or implements something."""
        bases = (base for class_ in self.line_of(of)[0] for base in self._bases(class_, implemented=True))
        return frozenset(package_of(entity.source) for base in bases for entity in base if isinstance(entity, Outside))

    def _step(self, entity: Entity | None, name: str) -> tuple[Entity, ...]:
        if isinstance(entity, Outside):
            return (entity,)
        if isinstance(entity, Module):
            return self.export(entity.path, name)
        if entity is None:
            return ()
        member, _ = self.member(entity.of if isinstance(entity, Instance) else entity, name)
        return self.meaning(member) if member is not None else ()

    def _makes(self, of: Bound) -> bool:
        """Whether calling a name makes an instance of its class; an interface is instantiated by something else."""
        kinds = {definition.kind for _, definition in self.definitions(of)}
        return bool(kinds & CLASSES) and kinds.isdisjoint({"interface"} | VARIABLES)

    def _is_twice(self, of: Bound) -> bool:
        """Whether a class is defined more than once, so that its name may mean any of the definitions."""
        definitions = self.definitions(of)
        if len(definitions) < 2:
            return False
        facts = self._world.facts(of.file)
        return facts is not None and LANGUAGES[facts.language].classes.rebindable

    def is_replaced(self, of: Bound) -> bool:
        """Whether a class's name may mean something else: it is assigned again, or a decorator may replace it."""
        held = self._replaced.get(of)
        if held is None:
            held = self._replaced[of] = self._is_replaced(of)
        return held

    def _is_replaced(self, of: Bound) -> bool:
        facts = self._world.facts(of.file)
        if facts is None or not LANGUAGES[facts.language].classes.rebindable:
            return False
        if any(definition.kind not in CLASSES for _, definition in self.definitions(of)):
            return True
        for row in facts.rows(of.scope, of.name):
            reason = facts.bind_reason(row)
            imported = facts.imports[facts.bind_target(row)] if reason == _IMPORTED else None
            itself = imported is not None and self.resolve_import(of.file, facts, imported) in ((of,), ())
            if reason != _DEFINED and not itself:
                return True
        text = self._world.text(of.file)
        for _, definition in self.definitions(of):
            above = decorators(text, definition)
            start = text.rfind(b"\n", 0, definition.start) + 1 - len(above)
            if any(not self._keeps(of.file, facts, *found) for found in decorator_places(above, start)):
                return True
        return False

    def is_handed_another(self, path: str, facts: Facts, index: int) -> bool:
        """Whether a decorator in this repository may call a method on something other than instances of its class."""
        held = self._handed.get((path, index))
        if held is None:
            held = self._handed[path, index] = self._is_handed(path, facts, index)
        return held

    def _is_handed(self, path: str, facts: Facts, index: int) -> bool:
        text, definition = self._world.text(path), facts.definitions[index]
        above = decorators(text, definition)
        start = text.rfind(b"\n", 0, definition.start) + 1 - len(above)
        for name, at in decorator_places(above, start):
            current = self._decorator(path, facts, name, at)
            there = self._world.facts(current.file) if isinstance(current, Bound) else None
            if isinstance(current, Bound) and there is not None:
                found = self.definitions(current)
                if any(hands_another(there, self._world.text(current.file), position) for position, _ in found):
                    return True
        return False

    def _decorator(self, path: str, facts: Facts, name: str, at: int) -> Entity | None:
        """Return what the dotted name of a decorator refers to."""
        names = name.split(".")
        current = self._only_entity(self.resolve_plain_name(path, facts, at, names[0]).entities)
        for part in names[1:]:
            current = self._only_entity(self._step(current, part)) if isinstance(current, Module) else current
        return current

    def _keeps(self, path: str, facts: Facts, name: str, at: int) -> bool:
        """Whether a decorator returns the class that it decorates."""
        current = self._decorator(path, facts, name, at)
        if not isinstance(current, Bound):
            return is_known_to_keep(name)
        there = self._world.facts(current.file)
        functions = [index for index, definition in self.definitions(current) if definition.kind == "function"]
        return there is not None and all_give_back(there, self._world.text(current.file), functions)

    def _is_intercepted(self, of: Bound) -> bool:
        """Whether a class itself decides what reading any of its members returns."""
        held = self._intercepted.get(of)
        if held is None:
            held = self._intercepted[of] = any(self._has(class_, "__getattribute__") for class_ in self.line_of(of)[0])
        return held

    def _has(self, of: Bound, name: str) -> bool:
        """Whether a class itself, not a base, binds a member."""
        facts = self._world.facts(of.file)
        bodies = [facts.body_of.get(index, -1) for index, _ in self.definitions(of)] if facts is not None else []
        return facts is not None and any(facts.rows(body, name) for body in bodies)

    def is_descriptor(self, of: Bound) -> bool:
        """Whether an instance of a class returns something else when it is read as a member of another class."""
        return any(self._has(class_, "__get__") for class_ in self.line_of(of)[0])

    def makes_others(self, of: Bound) -> bool:
        """Whether calling a class may return something other than its instance, by `__new__` or by its metaclass."""
        held = self._others.get(of)
        if held is None:
            self._others[of] = False
            held = self._others[of] = any(self._makes_others(class_) for class_ in self.line_of(of)[0])
        return held

    def _makes_others(self, of: Bound) -> bool:
        facts = self._world.facts(of.file)
        if facts is None or not LANGUAGES[facts.language].classes.rebindable:
            return False
        if self._overrides_making(of, "__new__"):
            return True
        for _, definition in self.definitions(of):
            named = metaclass(self._world.text(of.file), definition)
            if named is None:
                continue
            name, at = named
            meant = self._only_entity(self.resolve_plain_name(of.file, facts, at, name).entities) if name else None
            if not name or (isinstance(meant, Bound) and self._meta_makes(meant)):
                return True
        return False

    def _meta_makes(self, meta: Bound) -> bool:
        return any(self._overrides_making(class_, "__call__") for class_ in self.line_of(meta)[0])

    def _overrides_making(self, of: Bound, name: str) -> bool:
        """Whether a class overrides how instances are made, so that the result may be anything."""
        facts = self._world.facts(of.file)
        if facts is None:
            return False
        text = self._world.text(of.file)
        for index, _ in self.definitions(of):
            body = facts.body_of.get(index, -1)
            own = facts.definitions_in(body, name)
            if not all(makes_its_own(facts, text, position, name) for position in own):
                return True
            if not own and facts.rows(body, name):
                return True
        return False

    @staticmethod
    def _only_entity(entities: tuple[Entity, ...]) -> Entity | None:
        """Return the only entity, or None if there is not exactly one."""
        return entities[0] if len(entities) == 1 else None

    def _is_class(self, bound: Bound) -> bool:
        return any(definition.kind in CLASSES for _, definition in self.definitions(bound))

    def _bases(self, of: Bound, *, implemented: bool = False) -> list[tuple[Entity, ...]]:
        facts = self._world.facts(of.file)
        if facts is None:
            return []
        found: list[tuple[Entity, ...]] = []
        text = self._world.text(of.file)
        has_clauses = LANGUAGES[facts.language].classes.heritage_clauses
        for _, definition in self.definitions(of):
            if (
                definition.kind in CLASSES
                and definition.bases is None
                and has_clauses
                and _HERITAGE.match(text, definition.name_at)
            ):
                found.append(())
            if definition.kind in CLASSES and definition.bases is not None:
                bases = (
                    base_types(text, *definition.bases)
                    if has_clauses and not implemented
                    else chains(text, *definition.bases)
                )
                for chain in bases:
                    if chain is None:
                        found.append(())
                        continue
                    written, at = chain
                    names = [part.strip() for part in written.decode("utf-8", "replace").split(".")]
                    entities = self.resolve_plain_name(of.file, facts, at, names[0]).entities
                    current = self._only_entity(entities)
                    for name in names[1:]:
                        current = self._only_entity(self._step(current, name))
                    if names == ["object"] and not entities:
                        continue
                    if names[-1] in _EMPTY and isinstance(current, Outside) and current.source in _EMPTY_IN:
                        continue
                    found.append((current,) if current is not None else ())
        return found


def _merge_lines(lines: list[list[Bound]]) -> list[Bound]:
    """Merge lookup orders of bases as Python does; where they conflict, keep the order in which they are written."""
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
        lines = [[class_ for class_ in line if class_ != head] for line in lines]
        lines = [line for line in lines if line]
    return found
