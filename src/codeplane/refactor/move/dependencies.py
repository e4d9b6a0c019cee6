"""The dependencies of a moved symbol: the names of its module that it uses, and how the new module gets them."""

import re
from dataclasses import dataclass, field

from codeplane.code.entity import Bound, Entity, Module
from codeplane.code.languages.expression import receiver
from codeplane.code.model import REASONS, Facts, Import
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.kernel.errors import NameTaken, NotRefactorable
from codeplane.refactor.draft import Danger
from codeplane.refactor.move.module_names import absolute_name, module_parts, modules_of, relative_name, root_of
from codeplane.refactor.move.python_cut import Piece
from codeplane.refactor.move.python_statement import statement_at
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.span import Span, line_start
from codeplane.refactor.move.top_statements import TopStatement, is_type_checking, top_statements

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_IMPORTED, _GLOBAL = REASONS.index("IMPORT_ALIAS"), REASONS.index("GLOBAL")
_OF_MODULE = frozenset({"__name__", "__file__", "__spec__", "__package__", "__path__", "__doc__"})


@dataclass(slots=True)
class SymbolDependencies:
    """Imports for the destination, and the changes of the moved text."""

    world: World
    resolver: Resolver
    relocation: Relocation
    bound: Bound
    to_path: str
    pieces: list[Piece]
    is_relative: bool
    going: frozenset[str] = frozenset()
    """The names that move: the symbol and what goes with it."""
    plain: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    brought: list[Import] = field(default_factory=list)
    """Imports of the old module that the moved text used."""
    from_old: list[str] = field(default_factory=list)
    from_new: set[str] = field(default_factory=set)
    changed: list[Span] = field(default_factory=list)
    dangers: list[Danger] = field(default_factory=list)

    def collect(self) -> None:
        """Find the dependencies by every name in the text."""
        facts, text = self.world.facts(self.bound.file), self.world.text(self.bound.file)
        assert facts is not None
        listed = top_statements(text, "python")
        used: dict[str, list[int]] = {}
        for at, name in self._names(facts, text):
            own = self.resolver.lexical(self.bound.file, facts, at, name)
            if own is not None and own.scope == 0:
                used.setdefault(name, []).append(at)
            elif own is None and name in _OF_MODULE:
                what = f"{name} means the module it stands in"
                self.dangers.append(Danger(kind="module_name", what=what, path=self.bound.file, offset=at))
            elif own is None and facts.star:
                self._add_star_import(facts, at, name)
        for row in range(len(facts.bind_names)):
            if facts.bind_names[row] in used and facts.bind_reason(row) == _GLOBAL:
                raise NotRefactorable(
                    f"{self.bound.name} uses {facts.bind_names[row]}, which `global` binds again",
                    hint="an import would keep its first value; move what assigns it along by hand",
                )
        # In the order of the old module.
        for name, places in sorted(used.items(), key=lambda item: self._bound_at(facts, item[0])):
            if name not in self.going:
                self._add_needed(facts, text, listed, name, places)
        if self.from_old:
            source = self.source(self.bound.file, None)
            if source is not None:
                self.plain.append(f"from {source} import {', '.join(self.from_old)}")
        self._inner_imports(facts)

    def _bound_at(self, facts: Facts, name: str) -> int:
        rows = facts.rows(0, name)
        return facts.bind_at(rows[0]) if rows else 0

    def source(self, module: str, was: str | None) -> str | None:
        """Return the name of a module in the destination, relative or absolute as it was."""
        close = was.startswith(".") if was is not None else self.is_relative
        found = relative_name(self.relocation, module, self.to_path) if close else None
        if found is None:
            root = root_of(was, module) if was is not None and not was.startswith(".") else None
            found = absolute_name(self.relocation, module, self.to_path, root)
        if found is None:
            what = f"no import leads from {self.to_path} to {module}"
            self.dangers.append(Danger(kind="unresolved_import", what=what, path=self.to_path))
        return found

    def _names(self, facts: Facts, text: bytes) -> list[tuple[int, str]]:
        found = []
        for piece in self.pieces:
            for match in _NAME.finditer(text, piece.start, piece.end):
                at = match.start()
                if facts.in_text(at) or at in facts.labels or receiver(text, at, facts.in_text) != ():
                    continue
                found.append((at, match[0].decode("utf-8", "replace")))
        return found

    def _add_star_import(self, facts: Facts, at: int, name: str) -> None:
        meant = self.resolver.at(self.bound.file, at, name).entities
        stars = [import_ for import_ in facts.imports if import_.imported == "*"] if meant else []
        for star in reversed(stars):
            for module in modules_of(self.world, star.source, self.bound.file):
                if not set(self.resolver.export(module, name)) & set(meant):
                    continue
                if module == self.to_path:
                    self.from_new.add(name)
                    return
                source = self.source(module, star.source)
                if source is not None and self._is_free(name, meant[0]):
                    self._add(f"from {source} import {name}", typed=False)
                return

    def _add_needed(self, facts: Facts, text: bytes, listed: list[TopStatement], name: str, places: list[int]) -> None:
        rows = facts.rows(0, name)
        imports = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORTED]
        tops_of = [next((top for top in listed if top.start <= import_.at < top.end), None) for import_ in imports]
        plainly = all(top is not None and (top.is_import or is_type_checking(text, top)) for top in tops_of)
        if len(imports) < len(rows) or not plainly:
            if imports:
                what = f"{name} is imported under a condition; it is taken from {self.bound.file}"
                self.dangers.append(
                    Danger(kind="conditional_import", what=what, path=self.bound.file, offset=imports[0].at)
                )
            if self._is_free(name, Bound(self.bound.file, 0, name)):
                self.from_old.append(name)
            return
        needed = [
            import_ for import_ in imports if import_.imported or import_.alias or self._says(text, import_.source)
        ] or imports
        for candidate, top in zip(imports, tops_of, strict=True):
            assert top is not None
            if candidate in needed:
                self.brought.append(candidate)
                self._add_import(facts, text, candidate, places, typed=not top.is_import)

    def _says(self, text: bytes, dotted: str) -> bool:
        wanted = dotted.encode()
        return any(wanted in text[piece.start : piece.end] for piece in self.pieces)

    def _add_import(self, facts: Facts, text: bytes, import_: Import, places: list[int], *, typed: bool) -> None:
        """Add one import of the old module to the new one."""
        if import_.source == "__future__":
            return
        found = modules_of(self.world, import_.source, self.bound.file)
        module = found[0] if len(found) == 1 else None
        meant = self.resolver.resolve_import(self.bound.file, facts, import_) if found else ()
        if meant == (Module(self.to_path),) or (found == (self.to_path,) and not import_.imported):
            self._own_module(text, import_, places)
            return
        if module == self.to_path and import_.imported:
            self.from_new.add(import_.imported)
            if import_.local != import_.imported:
                self.changed += [
                    Span(start=at, end=at + len(import_.local.encode()), new=import_.imported) for at in places
                ]
                for at in places:
                    if self._is_hidden(at, import_.imported):
                        what = f"{import_.local} becomes {import_.imported}, which something nearer is called as well"
                        self.dangers.append(Danger(kind="name_taken", what=what, path=self.bound.file, offset=at))
            return
        if self._has(import_) or not self._is_free(import_.local, meant[0] if meant else None, import_):
            return
        if not import_.imported:
            self._add(
                f"import {import_.source} as {import_.alias}" if import_.alias else f"import {import_.source}",
                typed=typed,
            )
            return
        source = import_.source
        if import_.source.startswith(".") and module is not None:
            source = self.source(module, import_.source) or import_.source
        named = f"{import_.imported} as {import_.alias}" if import_.alias else import_.imported
        self._add(f"from {source} import {named}", typed=typed)

    def _has(self, import_: Import) -> bool:
        """Whether the destination has the same import."""
        facts = self.world.facts(self.to_path)
        wanted = (import_.source, import_.imported, import_.local)
        return (
            facts is not None
            and not import_.source.startswith(".")
            and any(
                (other.source, other.imported, other.local) == wanted
                and not other.scope
                and not self._for_types([other.at])
                for other in facts.imports
            )
        )

    def _own_module(self, text: bytes, import_: Import, places: list[int]) -> None:
        """Drop the prefix where the text refers to the module that it moves to."""
        name = ".".join(module_parts(self.to_path)[-1:])
        prefix = import_.local if import_.imported or import_.alias else import_.source
        for at in places:
            match = re.compile(re.escape(prefix.encode()) + rb"\s*\.\s*(?=[A-Za-z_])").match(text, at)
            if match is None:
                what = f"{prefix} is used as a whole where it becomes the module itself"
                self.dangers.append(Danger(kind="own_module", what=what, path=self.bound.file, offset=at))
                continue
            self.from_new.add(name)
            self.changed.append(Span(start=at, end=match.end()))
            member = _NAME.match(text, match.end())
            inner = self._is_hidden(at, member[0].decode("utf-8", "replace")) if member is not None else False
            if inner:
                what = f"{prefix} is no longer written before a name that something nearer has as well"
                self.dangers.append(Danger(kind="name_taken", what=what, path=self.bound.file, offset=at))

    def _is_hidden(self, at: int, name: str) -> bool:
        facts = self.world.facts(self.bound.file)
        own = self.resolver.lexical(self.bound.file, facts, at, name) if facts is not None else None
        return own is not None and own.scope != 0

    def _is_free(self, name: str, meant: Entity | None, brought: Import | None = None) -> bool:
        """Whether a name must be imported; refused if it means something else in the destination."""
        facts = self.world.facts(self.to_path)
        rows = facts.rows_by_binding.get((0, name), []) if facts is not None else []
        if facts is None or not rows:
            return self._refuse_star_clash(facts, name, meant)
        known = self.resolver.meaning(Bound(self.to_path, 0, name))
        if isinstance(meant, Bound | Module) and known == (meant,):
            return self._for_types([facts.bind_at(row) for row in rows])
        if brought is not None and not brought.imported and not brought.alias:
            # `import a.b` and `import a.c` bind the same package.
            others = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORTED]
            if len(others) == len(rows) and all(not other.imported and not other.alias for other in others):
                return True
        at = facts.bind_at(rows[0])
        text = self.world.text(self.to_path)
        line, column = text.count(b"\n", 0, at) + 1, at - line_start(text, at) + 1
        why = f"{self.bound.name} uses another {name}"
        raise NameTaken(
            f"{self.to_path}:{line} has a {name} of its own, and {why}",
            details={"places": [{"path": self.to_path, "line": line, "column": column, "why": why}]},
        )

    def _refuse_star_clash(self, facts: Facts | None, name: str, meant: Entity | None) -> bool:
        """Return True; refuse a name for which `import *` gives the destination something else."""
        others = self.resolver.export(self.to_path, name) if facts is not None and facts.star else ()
        if any(entity != meant for entity in others):
            raise NameTaken(f"{self.to_path} has another {name} by `import *`, and {self.bound.name} uses this one")
        return True

    def _for_types(self, places: list[int]) -> bool:
        """Whether the destination binds a name only for type checkers, not at run time."""
        text = self.world.text(self.to_path)
        listed = [statement for statement in top_statements(text, "python") if is_type_checking(text, statement)]
        return all(any(statement.start <= at < statement.end for statement in listed) for at in places)

    def _add(self, statement: str, *, typed: bool) -> None:
        if statement not in self.plain and statement not in self.typed:
            (self.typed if typed else self.plain).append(statement)

    def _inner_imports(self, facts: Facts) -> None:
        """Rewrite relative imports inside the text, which start from another folder now."""
        text = self.world.text(self.bound.file)
        for at in {import_.at for import_ in facts.imports if any(p.start <= import_.at < p.end for p in self.pieces)}:
            statement = statement_at(text, at)
            if statement is None or not statement.source.startswith("."):
                continue
            found = self.world.python().find(statement.source, self.bound.file)
            if len(found) == 1 and self.relocation.python.find(statement.source, self.to_path) != found:
                source = self.source(found[0], statement.source)
                if source is not None:
                    self.changed.append(Span(start=statement.source_start, end=statement.source_end, new=source))
