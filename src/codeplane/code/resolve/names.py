"""Resolves names through scopes, imports and exports; the resolution of classes and members builds on it."""

import re
from collections.abc import Iterable, Sequence

from codeplane.code.entity import Bound, Entity, Meaning, Module, Outside
from codeplane.code.languages.javascript.exports import whole_export
from codeplane.code.languages.modules import is_package
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Definition, Export, Facts, Import
from codeplane.code.resolve.world import World

_IMPORT, _GLOBAL, _NONLOCAL = (REASONS.index(reason) for reason in ("IMPORT_ALIAS", "GLOBAL", "NONLOCAL"))
_WHOLE = frozenset({"js_require"})
_MAX_HOPS = 30
# Code in these scopes runs when they are called.
_LATER = frozenset({"function", "lambda"})
_TYPES = frozenset({"type", "interface"})
_ASKED = re.compile(rb"\btypeof\s+\Z")
_VALUES = frozenset({"constant", "field", "property", "variable"})


class Names:
    """Resolves names within one world, and caches the results."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._exports: dict[tuple[str, str], tuple[Entity, ...]] = {}
        self._meanings: dict[Bound, tuple[Entity, ...]] = {}
        self._plain: dict[tuple[str, int, str], Meaning] = {}
        # While a lookup that may lead back to itself is running, results found on the way may be incomplete.
        self._underway = 0

    def lexical(self, path: str, facts: Facts, offset: int, name: str) -> Bound | None:
        """Return the binding that a plain name refers to, by scopes alone."""
        return self._find_binding(path, facts, self._read_in(path, facts, offset, name), name)

    def _find_binding(self, path: str, facts: Facts, first: int, name: str) -> Bound | None:
        hidden = self._world.language(facts).hidden_from_functions
        scope = first
        while scope >= 0:
            rows = facts.rows(scope, name)
            if rows and (scope == first or facts.scopes[scope].kind not in hidden):
                reasons = {facts.bind_reason(row) for row in rows}
                if _GLOBAL in reasons:
                    return Bound(path, 0, name) if facts.rows(0, name) else None
                if _NONLOCAL not in reasons:
                    return Bound(path, scope, name)
            scope = facts.scopes[scope].parent
        return None

    def _read_in(self, path: str, facts: Facts, offset: int, name: str) -> int:
        """Return the scope in which the lookup of a plain name at a place begins."""
        scope = facts.scope_at(offset)
        if (outer := facts.outer_start(offset)) >= 0:
            # Scopes that start in that stretch come first, such as a comprehension that another one iterates over.
            while scope > 0 and facts.scopes[scope].start >= outer:
                if facts.rows(scope, name):
                    return scope
                scope = facts.scopes[scope].parent
            scope = max(facts.scopes[scope].parent, 0)
        rules = LANGUAGES[facts.language].names
        if rules.declared_first:
            return self._declaring_scope(path, facts, scope, offset, name)
        if rules.type_queries:
            return self._first_scope(path, facts, scope, offset, name)
        in_class = rules.reads_module_early and facts.scopes[scope].kind == "class"
        # Before a class binds a name of its own, the module's is read, whatever scopes are in between.
        return 0 if in_class and self._is_too_early(path, facts, scope, offset, name) else scope

    def _declaring_scope(self, path: str, facts: Facts, scope: int, offset: int, name: str) -> int:
        """Return the nearest scope that binds a name and in which it is known at a place."""
        while scope > 0:
            places = [facts.bind_at(row) for row in facts.rows(scope, name)]
            if offset in places:
                return scope
            if places and self._visibility_start(path, facts, min(places), name) <= offset:
                return scope
            scope = facts.scopes[scope].parent
        return 0

    def _visibility_start(self, path: str, facts: Facts, at: int, name: str) -> int:
        """Return where the name that is bound at a place begins to be known in its scope."""
        return 0

    def _first_scope(self, path: str, facts: Facts, scope: int, offset: int, name: str) -> int:
        """Return the scope to begin in; `typeof name` needs a value, so skip scopes with only a type of that name."""
        if not _ASKED.search(self._world.text(path), max(0, offset - 12), offset):
            return scope
        first, at = scope, scope
        while at > 0:
            rows = facts.rows(at, name)
            if rows and not self._are_types(path, facts, at, name, rows):
                break
            at = facts.scopes[at].parent
            first = at if rows else first
        return first

    def _are_types(self, path: str, facts: Facts, scope: int, name: str, rows: Sequence[int]) -> bool:
        """Whether a scope binds a name to nothing that could be a value."""
        defined = (facts.definitions[index] for index in facts.definitions_in(scope, name))
        types = {definition.name_at for definition in defined if definition.kind in _TYPES}
        return all(facts.bind_at(row) in types for row in rows)

    def _is_too_early(self, path: str, facts: Facts, scope: int, offset: int, name: str) -> bool:
        """Whether a class reads a name before it binds it: above the binding, or in its value, as in `x = x`."""
        rows = facts.rows(scope, name)
        if not rows:
            return False
        first = min(facts.bind_at(row) for row in rows)
        if offset <= first:
            return offset < first
        defined = (facts.definitions[index] for index in facts.definitions_in(scope, name))
        return any(
            definition.name_at == first and definition.kind in _VALUES and offset < definition.end
            for definition in defined
        )

    def meaning(self, bound: Bound) -> tuple[Entity, ...]:
        """Return what a binding refers to: itself, or what its imports bring."""
        held = self._meanings.get(bound)
        if held is None:
            held = self._find_meaning(bound)
            if not self._underway:
                self._meanings[bound] = held
        return held

    def _find_meaning(self, bound: Bound) -> tuple[Entity, ...]:
        facts = self._world.facts(bound.file)
        if facts is None:
            return ()
        found: list[Entity] = []
        for row in facts.rows(bound.scope, bound.name):
            if facts.bind_reason(row) == _IMPORT:
                found += self.resolve_import(bound.file, facts, facts.imports[facts.bind_target(row)])
            else:
                found.append(bound)
        if not found and facts.definitions_in(bound.scope, bound.name):
            found.append(bound)
        return _unique(found)

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...]:
        """Return what an import brings."""
        modules = self._world.modules(facts)
        if modules is None:
            return ()
        whole = import_.imported == ""
        first = whole and not import_.alias and LANGUAGES[facts.language].import_binds == "first"
        source = import_.source.partition(".")[0] if first else import_.source
        places = modules.find(source, path)
        if not places:
            return (Outside(source),) if modules.outside(source) else ()
        if whole:
            return _unique(entity for place in places for entity in self._module_import(place, import_.kind))
        return _unique(entity for place in places for entity in self.export(place, import_.imported))

    def export(self, module: str, name: str, hops: int = _MAX_HOPS) -> tuple[Entity, ...]:
        """Return what a module exports under a name."""
        key = (module, name)
        if key in self._exports:
            return self._exports[key]
        self._exports[key] = ()
        self._underway += 1
        found = self._find_export(module, name, hops) if hops else ()
        self._underway -= 1
        self._exports[key] = found
        return found

    def definitions(self, bound: Bound) -> list[tuple[int, Definition]]:
        """Return the definitions that share a binding, each with its index."""
        facts = self._world.facts(bound.file)
        if facts is None:
            return []
        there = facts.definitions_in(bound.scope, bound.name)
        return [(index, facts.definitions[index]) for index in there]

    def resolve_plain_name(self, path: str, facts: Facts, offset: int, name: str) -> Meaning:
        """Return what a plain name at a place means by scopes, imports and packages."""
        if facts.star and LANGUAGES[facts.language].names.binds_stars:
            brought = self._before_own(path, facts, offset, name)
            if brought is not None:
                return brought
        key = (path, self._read_in(path, facts, offset, name), name)
        held = self._plain.get(key)
        if held is None:
            held = self._plainly(path, facts, key[1], name)
            if not self._underway:
                self._plain[key] = held
        return held

    def _plainly(self, path: str, facts: Facts, scope: int, name: str) -> Meaning:
        bound = self._find_binding(path, facts, scope, name)
        if bound is not None:
            found = self.meaning(bound)
            certain = bool(found) and not self._is_guess(bound, facts)
            return Meaning(entities=found, certain=certain, how="name", own=bound)
        found = self._by_star(path, facts, name, _MAX_HOPS) or self._in_package(path, facts, name)
        # Files for several systems may each define a name of their package.
        several = bool(found) and LANGUAGES[facts.language].names.system_twins
        return Meaning(entities=found, certain=len(found) == 1 or several, how="name")

    def _in_package(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...]:
        """Return what the other files of a package define under a name, if files of a package share their names."""
        modules = self._world.modules(facts)
        beside = modules.beside(path) if modules is not None else ()
        return self._top_level(beside, name) if beside else ()

    def are_linked(self, bound: Bound, other: Bound) -> bool:
        """Whether top-level names in two files may be one symbol, in a language that links them."""
        beside = self._world.beside(bound.file)
        return not beside or other.file in beside

    def _top_level(self, paths: Iterable[str], name: str) -> tuple[Entity, ...]:
        """Return the definitions of a name at the top of some files, without imports, which are private to a file."""
        found: list[Entity] = []
        holding = set(self._world.files_with(name))
        for path in paths:
            facts = self._world.facts(path) if path in holding else None
            rows = facts.rows(0, name) if facts is not None else ()
            if facts is not None and any(facts.bind_reason(row) != _IMPORT for row in rows):
                found.append(Bound(path, 0, name))
        return tuple(found)

    def _before_own(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return the meaning of a name that both `import *` and the module bind; None if the module's binding holds."""
        own = self._find_binding(path, facts, self._read_in(path, facts, offset, name), name)
        if own is None or own.scope != 0:
            return None
        found = self._by_star(path, facts, name, _MAX_HOPS)
        if not found or own in found or self.meaning(own) == found:
            return None
        text = self._world.text(path)
        first = min(facts.bind_at(row) for row in facts.rows(0, name))
        last_star = max(import_.at for import_ in facts.imports if import_.imported == "*")
        line = text.rfind(b"\n", 0, first) + 1
        straight = text[line : line + 1] not in (b" ", b"\t") and last_star < first
        if straight and offset >= first:
            return None
        scope = facts.scope_at(offset)
        while scope > 0 and facts.scopes[scope].kind not in _LATER:
            scope = facts.scopes[scope].parent
        if straight and scope == 0:
            return Meaning(entities=found, certain=len(found) == 1, how="star")
        return Meaning(entities=_unique([*self.meaning(own), *found]), certain=False, how="star")

    def guesses(self, path: str, facts: Facts, import_: Import) -> bool:
        """Whether an import may mean another module: there are several, or it was found by its name alone."""
        modules = self._world.modules(facts)
        return modules is not None and modules.is_guess(import_.source, path)

    def _is_guess(self, bound: Bound, facts: Facts) -> bool:
        rows = facts.rows(bound.scope, bound.name)
        brought = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORT]
        return any(self.guesses(bound.file, facts, import_) for import_ in brought)

    def _meaning_of_export(self, path: str, facts: Facts, export: Export) -> Meaning:
        """Return what a name in a list of exports refers to."""
        if not export.source:
            own = Bound(path, 0, export.local)
            found = self.meaning(own)
            return Meaning(entities=found, certain=bool(found), how="export")
        modules = self._world.modules(facts)
        places = modules.find(export.source, path) if modules else ()
        if not places and modules is not None and modules.outside(export.source):
            return Meaning(entities=(Outside(export.source),), certain=True, how="export")
        found = _unique(entity for place in places for entity in self.export(place, export.local))
        if export.local == "*":
            found = tuple(map(Module, places))
        return Meaning(entities=found, certain=len(found) == 1, how="export")

    def _module_import(self, place: str, kind: str) -> tuple[Entity, ...]:
        """Return what importing a whole module brings: the module, or the one value that it exports as a whole."""
        facts = self._world.facts(place) if kind in _WHOLE else None
        given = whole_export(facts) if facts is not None else None
        found = self.meaning(Bound(place, 0, given.local)) if given is not None else ()
        return found or (Module(place),)

    def _find_export(self, module: str, name: str, hops: int) -> tuple[Entity, ...]:
        if is_package(module):
            return self._top_level(self._world.go().files_exporting(module, name), name)
        facts = self._world.facts(module)
        if facts is None:
            return self._submodule(module, name)
        if self._world.language(facts).visible_names:
            found = self.meaning(Bound(module, 0, name)) if facts.rows(0, name) else ()
            return found or self._by_star(module, facts, name, hops)
        if not self._world.language(facts).implicit_exports:
            return self._declared_export(module, facts, name, hops)
        if facts.rows(0, name):
            found = self.meaning(Bound(module, 0, name))
            # `from . import name` in a package may import the submodule of that name.
            return found or self._submodule(module, name)
        return self._by_star(module, facts, name, hops) or self._submodule(module, name)

    def _declared_export(self, module: str, facts: Facts, name: str, hops: int) -> tuple[Entity, ...]:
        modules = self._world.modules(facts)
        found: list[Entity] = []
        stars: list[str] = []
        for export in facts.exports:
            if export.name == "*" and export.source:
                stars += modules.find(export.source, module) if modules else ()
            elif export.name == name and export.source:
                for place in modules.find(export.source, module) if modules else ():
                    found += [Module(place)] if export.local == "*" else self.export(place, export.local, hops - 1)
            elif export.name == name:
                # `exports.name = function …` is the only binding of the name.
                found += self.meaning(Bound(module, 0, export.local or (name if export.evidence == "commonjs" else "")))
        if not found and name != "default":
            for place in stars:
                found += self.export(place, name, hops - 1)
        return _unique(found)

    def _by_star(self, path: str, facts: Facts, name: str, hops: int) -> tuple[Entity, ...]:
        """Return what a name that is not bound here may mean, by the modules from which everything is imported."""
        modules = self._world.modules(facts)
        if not facts.star or modules is None or hops == 0:
            return ()
        found: list[Entity] = []
        for import_ in facts.imports:
            if import_.imported != "*":
                continue
            for place in modules.find(import_.source, path):
                given = self._world.facts(place)
                if is_package(place) or (given is not None and gives_by_star(given, name)):
                    found += self.export(place, name, hops - 1)
        return _unique(found)

    def _submodule(self, module: str, name: str) -> tuple[Entity, ...]:
        found = self._world.python().submodule(module, name)
        return (Module(found),) if found is not None else ()


def gives_by_star(facts: Facts, name: str) -> bool:
    """Whether `import *` from a module includes a name."""
    listed = {export.name for export in facts.exports if export.evidence == "all"}
    return name in listed if listed else not name.startswith("_")


def _unique(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    return tuple(dict.fromkeys(entities))
