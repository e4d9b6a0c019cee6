"""Classes: what they build on, in which order members are looked up, and which member a name is."""

import re

from codeplane.repo.facts.model import Facts
from codeplane.repo.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.repo.resolve.expression import chains, extended
from codeplane.repo.resolve.names import Names
from codeplane.repo.resolve.world import World

CLASSES = frozenset({"class", "interface", "struct", "enum", "trait"})
NAMESPACES = frozenset({"namespace"})
VARIABLES = frozenset({"variable", "constant"})
_HERITAGE = re.compile(rb"[^={]{0,200}=\s*class\b[^{]{0,200}\bextends\b")
_MAX_BASES = 60
# Bases of others that bring no members anyone names.
_EMPTY = frozenset({"Generic", "Protocol", "ABC"})
_EMPTY_IN = frozenset({"typing", "typing_extensions", "abc"})


class Classes(Names):
    """What is known of classes within one world."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._lines: dict[Bound, tuple[tuple[Bound, ...], bool]] = {}
        self._prefixes: dict[Bound, frozenset[Bound]] = {}
        self._members: dict[tuple[Bound, str, bool], tuple[Bound | None, bool]] = {}

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
                if body < 0 or not (
                    self.bindings.definitions(one.file, facts, body, name)
                    or self.bindings.rows(one.file, facts, body, name)
                ):
                    continue
                if definition.kind in CLASSES:
                    found = Bound(one.file, body, name)
                    if not self._scripted(facts):
                        # With one base nothing stands between a class and it, unless a subclass puts it there.
                        near = not skip_own or len(self._bases(of)) == 1
                        return found, whole or one == of or (near and one in self._before_unseen(of))
                    ways = self._ways(found)
                    if ways != {"assigned"}:
                        # Of a static and another member with one name this may be either.
                        return found, len(ways) < 2 and (whole or one == of)
                    # What is assigned to `this` is declared by a base, if one does.
                    assigned = assigned or found
                    continue
                if definition.kind in NAMESPACES:
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
        # One base's line is the order already.
        merged = [of, *(lines[0] if len(lines) == 1 else _merged([*lines, direct]))][:_MAX_BASES]
        self._lines[of] = (tuple(dict.fromkeys(merged)), whole)
        return self._lines[of]

    def _before_unseen(self, of: Bound) -> frozenset[Bound]:
        """The classes whose members certainly come before those of bases that cannot be read."""
        held = self._prefixes.get(of)
        if held is not None:
            return held
        self._prefixes[of] = frozenset({of})
        found = {of}
        bases = self._bases(of)
        for base in bases:
            known = [one for one in base if isinstance(one, Bound) and self._is_class(one)]
            if len(known) != 1:
                break
            found |= self._before_unseen(known[0]) if len(bases) == 1 else {known[0]}
            if not self.line_of(known[0])[1]:
                break
        self._prefixes[of] = frozenset(found)
        return self._prefixes[of]

    def enclosing_class(self, path: str, facts: Facts, offset: int) -> Bound | None:
        """The class whose body a place is in."""
        scope = facts.scope_at(offset)
        while scope > 0:
            one = facts.scopes[scope]
            if one.definition >= 0:
                definition = facts.definitions[one.definition]
                if definition.kind in CLASSES:
                    return Bound(path, definition.scope, definition.name)
            elif one.kind == "class":
                return None
            scope = one.parent
        return None

    @staticmethod
    def _scripted(facts: Facts) -> bool:
        return facts.language in ("javascript", "typescript", "tsx")

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
        """Whether calling a name makes an instance of the class it names: an interface is made by something else."""
        kinds = {one.kind for _, one in self.definitions(of)}
        return bool(kinds & CLASSES) and kinds.isdisjoint({"interface"} | VARIABLES)

    @staticmethod
    def _one(entities: tuple[Entity, ...]) -> Entity | None:
        """The only thing meant, or None."""
        return entities[0] if len(entities) == 1 else None

    def _is_class(self, bound: Bound) -> bool:
        return any(one.kind in CLASSES for _, one in self.definitions(bound))

    def _bases(self, of: Bound) -> list[tuple[Entity, ...]]:
        facts = self._world.facts(of.file)
        if facts is None:
            return []
        found: list[tuple[Entity, ...]] = []
        text = self._world.text(of.file)
        scripted = self._scripted(facts)
        for _, one in self.definitions(of):
            if one.kind in CLASSES and one.bases is None and scripted and _HERITAGE.match(text, one.name_at):
                found.append(())
            if one.kind in CLASSES and one.bases is not None:
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
                    if names[-1] in _EMPTY and isinstance(current, Outside) and current.source in _EMPTY_IN:
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
