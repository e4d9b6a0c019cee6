"""Whether a name at a place is the symbol's own, or an alias that is spelled the same."""

from collections.abc import Iterable

from codeplane.code.entity import Bound, Module
from codeplane.code.languages.expression import receiver
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World

_IMPORT = REASONS.index("IMPORT_ALIAS")
# Exports without a name of their own, which each importer names.
_NAMELESS = frozenset({"", "default", "*"})
_MAX_HOPS = 30


class Spelling:
    """Follows one name from where it is used to where it is introduced."""

    def __init__(self, world: World, resolver: Resolver, bounds: Iterable[Bound]) -> None:
        self._world = world
        self._resolver = resolver
        self._bounds = frozenset(bounds)
        self._name = next(iter(self._bounds)).name
        self._known: dict[Bound, bool] = {}

    def doubtful(self, paths: Iterable[str]) -> bool:
        """Whether any of these files has an alias of this name for another thing, which is rare."""
        name = self._name
        for path in paths:
            facts = self._world.facts(path)
            if facts is None:
                continue
            if any(import_.alias == name and import_.imported not in (name, *_NAMELESS) for import_ in facts.imports):
                return True
            if any(export.name == name and export.local not in (name, *_NAMELESS) for export in facts.exports):
                return True
        return False

    def is_own(self, path: str, offset: int) -> bool:
        """Whether the name at a place is the symbol's own."""
        facts = self._world.facts(path)
        if facts is None:
            return False
        index = facts.imported_at.get(offset)
        if index is not None:
            import_ = facts.imports[index]
            if offset == import_.imported_at and import_.imported == self._name:
                return self._is_own_import(path, facts, import_.source, import_.imported)
            return self.along(Bound(path, import_.scope, import_.local))
        given = [
            export
            for export in facts.exports
            if export.at == offset and not LANGUAGES[facts.language].names.lists_exports
        ]
        if given and any(
            export.name == self._name and export.local not in (self._name, *_NAMELESS) for export in given
        ):
            return False
        text = self._world.text(path)
        steps = receiver(text, offset, facts.in_text)
        if steps == ():
            own = self._resolver.lexical(path, facts, offset, self._name)
            return own is None or self.along(own)
        if steps:
            before = self._resolver.at(path, steps[-1].at, steps[-1].name)
            modules = [entity for entity in before.entities if isinstance(entity, Module)]
            if modules and not steps[-1].called:
                return any(self._is_own_export(module.path, _MAX_HOPS) for module in modules)
        return True

    def along(self, bound: Bound) -> bool:
        """Whether a binding is renamed with the symbol."""
        if bound in self._bounds:
            return True
        if bound not in self._known:
            self._known[bound] = False
            self._known[bound] = self._is_imported(bound)
        return self._known[bound]

    def gives(self, module: str) -> bool:
        """Whether a module exports the symbol under its own name."""
        return self._is_own_export(module, _MAX_HOPS)

    def _is_imported(self, bound: Bound) -> bool:
        facts = self._world.facts(bound.file)
        if facts is None:
            return False
        for row in facts.rows(bound.scope, bound.name):
            if facts.bind_reason(row) != _IMPORT:
                continue
            import_ = facts.imports[facts.bind_target(row)]
            if import_.imported in _NAMELESS or (
                import_.imported == self._name
                and self._is_own_import(bound.file, facts, import_.source, import_.imported)
            ):
                return True
        return False

    def _is_own_import(self, path: str, facts: Facts, source: str, name: str) -> bool:
        modules = self._world.modules(facts)
        places = modules.find(source, path) if modules is not None else ()
        return (
            any(self._is_own_export(place, _MAX_HOPS) for place in places) if name == self._name else name in _NAMELESS
        )

    def _is_own_export(self, module: str, hops: int) -> bool:
        facts = self._world.facts(module)
        if facts is None or hops == 0:
            return False
        modules = self._world.modules(facts)
        if self._world.language(facts).implicit_exports:
            if facts.rows(0, self._name):
                return self.along(Bound(module, 0, self._name))
            stars = [import_.source for import_ in facts.imports if import_.imported == "*"]
        else:
            for export in facts.exports:
                if export.name != self._name:
                    continue
                if export.local in _NAMELESS:
                    return True
                if export.local != self._name:
                    return False
                if not export.source:
                    return self.along(Bound(module, 0, self._name))
                places = modules.find(export.source, module) if modules is not None else ()
                return any(self._is_own_export(place, hops - 1) for place in places)
            stars = [export.source for export in facts.exports if export.name == "*" and export.source]
        places = tuple(place for star in stars for place in (modules.find(star, module) if modules else ()))
        return any(self._is_own_export(place, hops - 1) for place in places)
