"""Resolves Rust paths: the names before `::`, and the meaning of the name after it."""

import re
from abc import ABC

from codeplane.code.entity import Bound, Entity, Meaning, Module, Outside
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Facts
from codeplane.code.resolve.values import Values

_PART = re.compile(rb"([A-Za-z_\x80-\xff][\w\x80-\xff]*)[ \t\r\n]*\Z")
_FAR = 300
_MAX_NAMED = 2_000


def path_before(text: bytes, offset: int) -> tuple[tuple[str, int], ...] | None:
    """Return the names of a path before a place (`a::B::` before `new`), each with its offset.

    Empty if there is no `::` before the place; None if the path begins with something that is not read, as in
    `<T as U>::` or `Vec::<T>::`.
    """
    found: list[tuple[str, int]] = []
    at = offset
    while text[max(0, at - 2) : at] == b"::":
        end = at - 2
        start = max(0, end - _FAR)
        part = _PART.search(text[start:end])
        if part is None:
            # A path that begins with `::` names a crate.
            before = text[end - 1 : end]
            return tuple(reversed(found)) if found and not before.strip(b" \t\r\n(,=&{;<") else None
        at = start + part.start(1)
        found.append((part[1].decode("utf-8", "replace"), at))
    return tuple(reversed(found))


def _inline_modules(facts: Facts, offset: int) -> int:
    """Return how many inline modules of the file a place is nested in."""
    scope, found = facts.scope_at(offset), 0
    while scope > 0:
        found += facts.scopes[scope].kind == "namespace"
        scope = facts.scopes[scope].parent
    return found


class RustPaths(Values, ABC):
    """Follows Rust paths through modules, crates and types."""

    def _at_path(
        self, path: str, facts: Facts, parts: tuple[tuple[str, int], ...] | None, offset: int, name: str
    ) -> Meaning:
        """Return the meaning of the last name of a Rust path, in a module, an outside crate or a type."""
        unknown = Meaning(entities=(), certain=False, how="member")
        found = self._before_colons(path, facts, parts) if parts else ()
        if len(found) != 1:
            return unknown
        (owner,) = found
        if isinstance(owner, Outside):
            return Meaning(entities=found, certain=True, how="member")
        if isinstance(owner, Module):
            given = self.export(owner.path, name)
            return Meaning(entities=given, certain=len(given) == 1, how="member")
        return self._of_type(owner, name) if isinstance(owner, Bound) else unknown

    def _before_colons(self, path: str, facts: Facts, parts: tuple[tuple[str, int], ...]) -> tuple[Entity, ...]:
        modules = self._world.modules(facts)
        first, at = parts[0]
        current: tuple[Entity, ...]
        rest = parts[1:]
        if first in ("crate", "self", "super"):
            depth = 1
            while depth < len(parts) and parts[depth][0] == "super":
                depth += 1
            above = 0 if first == "self" else depth
            inside = 0 if first == "crate" else _inline_modules(facts, at)
            if above < inside:
                # An inline module of this file.
                return ()
            source = "crate" if first == "crate" else "::".join(["super"] * (above - inside)) or "self"
            found = modules.find(source, path) if modules else ()
            current, rest = tuple(Module(one) for one in found if source != "super" or one != path), parts[depth:]
        elif first == "Self":
            around = self._implementing(path, facts, at)
            current = (around,) if around is not None else ()
        else:
            meant = self.plain(path, facts, at, first)
            current = tuple(self._as_module(one) for one in meant.entities)
            if not current and modules is not None and meant.own is None:
                current = (Outside(first),) if modules.outside(first) else tuple(map(Module, modules.find(first, path)))
        for name, _ in rest:
            stepped = [self._rust_step(one, name) for one in current]
            current = tuple(dict.fromkeys(found for some in stepped for found in some))
        return current

    def _rust_step(self, entity: Entity, name: str) -> tuple[Entity, ...]:
        if isinstance(entity, Outside):
            return (entity,)
        if not isinstance(entity, Module):
            return ()
        facts = self._world.facts(entity.path)
        modules = self._world.modules(facts) if facts is not None else None
        child = modules.find(f"self::{name}", entity.path) if modules is not None else ()
        return tuple(map(Module, child)) or tuple(map(self._as_module, self.export(entity.path, name)))

    def _as_module(self, entity: Entity) -> Entity:
        """Return the file that `mod name;` loads, if the entity is the binding it makes; otherwise the entity."""
        if not isinstance(entity, Bound) or not any(one.kind == "module" for _, one in self.definitions(entity)):
            return entity
        facts = self._world.facts(entity.file)
        modules = self._world.modules(facts) if facts is not None else None
        found = modules.find(f"self::{entity.name}", entity.file) if modules is not None else ()
        return Module(found[0]) if len(found) == 1 else entity

    def _implementing(self, path: str, facts: Facts, offset: int) -> Bound | None:
        """Return the type whose `impl` block or own body contains a place."""
        scope = facts.scope_at(offset)
        while scope > 0 and facts.scopes[scope].kind not in ("class", "enum"):
            scope = facts.scopes[scope].parent
        for one in facts.definitions if scope > 0 else ():
            if one.scope == scope and one.container >= 0:
                owner = facts.definitions[one.container]
                return Bound(path, owner.scope, owner.name)
        return None

    def _of_type(self, of: Bound, name: str) -> Meaning:
        """Return the member that a Rust type has under a name, from its `impl` blocks in any file."""
        unknown = Meaning(entities=(), certain=False, how="member")
        kinds = {one.kind for _, one in self.definitions(of)}
        if not kinds or not kinds <= {"struct", "enum", "union", "trait"}:
            # An alias or a parameter may be any type.
            return unknown
        listed, whole = self._world.named(name, limit=_MAX_NAMED)
        found: list[Entity] = []
        in_trait = False
        for file, position in listed:
            facts = self._world.facts(file)
            if facts is None or not LANGUAGES[facts.language].names.module_paths or position >= len(facts.definitions):
                continue
            one = facts.definitions[position]
            owner = facts.definitions[one.container] if one.container >= 0 else None
            if one.path.split(".")[-2:-1] == [of.name] and (owner is None or file == of.file):
                found.append(Bound(file, one.scope, name))
            in_trait = in_trait or (owner is not None and owner.kind == "trait")
        if found:
            return Meaning(
                entities=tuple(found), certain=whole and len(found) == 1 and "trait" not in kinds, how="member"
            )
        # A member that no `impl` block of the type has comes from a trait, which may be from outside.
        return unknown if in_trait or not whole else Meaning(entities=(of,), certain=True, how="member")
