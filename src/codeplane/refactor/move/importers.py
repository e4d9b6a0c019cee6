"""Python files that import a moved symbol."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codeplane.code.entity import Bound, Module
from codeplane.code.languages.expression import Step, receiver
from codeplane.code.model import REASONS, Facts, Import
from codeplane.code.resolve.names import gives_by_star
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.references import Reference
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger, Edit, Role
from codeplane.refactor.move.module_names import (
    absolute_name,
    module_parts,
    modules_of,
    parent_package,
    relative_name,
    root_of,
)
from codeplane.refactor.move.outside_use import outside_use
from codeplane.refactor.move.python_statement import (
    Item,
    Statement,
    add_after,
    remove_items,
    remove_statement,
    statement_at,
)
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.span import Span

_IMPORTED = REASONS.index("IMPORT_ALIAS")


@dataclass(slots=True)
class Importer:
    """Makes the edits of one file: `from old import X` and `old.X` are rewritten for the new module."""

    world: World
    resolver: Resolver
    relocation: Relocation
    bound: Bound
    to_path: str
    path: str
    edits: list[Edit] = field(default_factory=list)
    dangers: list[Danger] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    """Aliases of the symbol in the destination file that other files may use."""
    _added: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    _gone: list[Statement] = field(default_factory=list)

    def plan(self, references: Sequence[Reference]) -> None:
        """Find every edit, from the references to the symbol."""
        facts, text = self.world.facts(self.path), self.world.text(self.path)
        assert facts is not None
        named: dict[int, list[int]] = {}
        chains: list[tuple[int, tuple[Step, ...]]] = []
        for reference in references:
            index = facts.imported_at.get(reference.offset)
            if index is not None:
                if self._is_old(facts.imports[index].source):
                    named.setdefault(facts.imports[index].at, []).append(reference.offset)
                continue
            steps = receiver(text, reference.offset, facts.in_text)
            if steps and self._module(facts, steps):
                chains.append((reference.offset, steps))
        for at, places in named.items():
            self._rewrite_from_import(facts, text, at, places)
        self._through_module(facts, text, chains)
        self._stars(facts, text)
        spans = [(statement.start, statement.end) for statement in self._gone]
        for gone in self._gone:
            added = self._added.pop((gone.start, gone.end), [])
            if added:
                joint = "\n" + text[text.rfind(b"\n", 0, gone.start) + 1 : gone.start].decode("utf-8", "replace")
                self._add_edit(
                    Span(start=gone.start, end=gone.end, new=joint.join(added)),
                    "STRONG",
                    "IMPORT",
                    "imported from its new place",
                )
            else:
                self._add_edit(
                    remove_statement(text, gone.start, gone.end, spans), "STRONG", "IMPORT", "nothing of it is used"
                )
        for (start, end), new in self._added.items():
            self._add_edit(add_after(text, start, end, new), "STRONG", "IMPORT", "imported from its new place")

    def _add_edit(self, span: Span, tier: Tier, role: Role, why: str) -> None:
        self.edits.append(
            Edit(path=self.path, start=span.start, end=span.end, new=span.new, tier=tier, role=role, why=why)
        )

    def _is_old(self, source: str) -> bool:
        return modules_of(self.world, source, self.path) == (self.bound.file,)

    def source(self, was: str) -> str | None:
        """Return the name of the new module in this file, relative or absolute as the old one was."""
        close = relative_name(self.relocation, self.to_path, self.path) if was.startswith(".") else None
        named = modules_of(self.world, was, self.path) if was and not was.startswith(".") else ()
        root = root_of(was, named[0]) if len(named) == 1 else None
        found = close or absolute_name(self.relocation, self.to_path, self.path, root)
        if found is None:
            what = f"no import leads from {self.path} to {self.to_path}"
            self.dangers.append(Danger(kind="unresolved_import", what=what, path=self.path))
        return found

    def _rewrite_from_import(self, facts: Facts, text: bytes, at: int, places: Sequence[int]) -> None:
        """`from old import X, Y`: X gets a statement of its own, or is dropped in the file that now defines it."""
        statement = statement_at(text, at)
        source = self.source(statement.source) if statement is not None else None
        if statement is None or source is None:
            return
        items = [item for item in statement.items if item.start in places]
        if self.path == self.to_path:
            for item in items:
                if item.alias and item.alias != item.name:
                    self._rename_local(facts, text, item)
            if len(items) == len(statement.items):
                self._gone.append(statement)
            else:
                for span in remove_items(text, statement, items):
                    self._add_edit(span, "STRONG", "IMPORT", "defined here now")
            return
        if len(items) == len(statement.items):
            span = Span(start=statement.source_start, end=statement.source_end, new=source)
            self._add_edit(span, "STRONG", "IMPORT", f"{self.bound.name} is in {source} now")
            return
        for span in remove_items(text, statement, items):
            self._add_edit(span, "STRONG", "IMPORT", f"{self.bound.name} is in {source} now")
        names = [f"{item.name} as {item.alias}" if item.alias else item.name for item in items]
        self._added.setdefault((statement.start, statement.end), []).append(f"from {source} import {', '.join(names)}")

    def _rename_local(self, facts: Facts, text: bytes, item: Item) -> None:
        """Keep an alias that other files may use; replace any other by the name."""
        scope = next((import_.scope for import_ in facts.imports if import_.imported_at == item.start), 0)
        if scope == 0 and self._is_known(facts, item.alias):
            self.aliases.append(item.alias)
        else:
            self._replace_alias(facts, text, item.alias, scope)

    def _is_known(self, facts: Facts, alias: str) -> bool:
        """Whether other files may use a name of this file."""
        if self.path.endswith("__init__.py") or any(export.name == alias for export in facts.exports):
            return True
        return any(path != self.path and path.endswith((".py", ".pyi")) for path in self.world.files_with(alias))

    def _replace_alias(self, facts: Facts, text: bytes, alias: str, scope: int) -> None:
        """Replace the uses of an alias by the name, which is defined here now."""
        for at in occurrences(text, alias):
            if facts.in_text(at) or at in facts.imported_at or receiver(text, at, facts.in_text) != ():
                continue
            if self.resolver.lexical(self.path, facts, at, alias) == Bound(self.path, scope, alias):
                self._warn_if_hidden(facts, at)
                span = Span(start=at, end=at + len(alias.encode()), new=self.bound.name)
                self._add_edit(span, "STRONG", "REFERENCE", "the alias is gone with its import")

    def _warn_if_hidden(self, facts: Facts, at: int) -> None:
        """Add a danger if an inner scope hides the plain name at a place."""
        own = self.resolver.lexical(self.path, facts, at, self.bound.name)
        if own is not None and own.scope != 0:
            what = f"{self.bound.name} is called by its name alone where something nearer has it"
            self.dangers.append(Danger(kind="name_taken", what=what, path=self.path, offset=at))

    def _module(self, facts: Facts, steps: tuple[Step, ...]) -> bool:
        """Whether a chain of names leads to the old module."""
        last = steps[-1]
        meant = self.resolver.at(self.path, last.at, last.name).entities
        return meant == (Module(self.bound.file),) and not any(step.called for step in steps)

    def _through_module(self, facts: Facts, text: bytes, chains: Sequence[tuple[int, tuple[Step, ...]]]) -> None:
        """`old.X`: replace the name before the dot by the new module's, and import that too."""
        by_first: dict[Bound, list[tuple[int, tuple[Step, ...]]]] = {}
        for offset, steps in chains:
            own = self.resolver.lexical(self.path, facts, steps[0].at, steps[0].name)
            if own is not None:
                by_first.setdefault(own, []).append((offset, steps))
            else:
                what = f"{self.bound.name} is reached through {steps[0].name}, which no import names"
                self.dangers.append(Danger(kind="unresolved_use", what=what, path=self.path, offset=offset))
        for own, some in by_first.items():
            rows = facts.rows(own.scope, own.name)
            imports = [facts.imports[facts.bind_target(row)] for row in rows if facts.bind_reason(row) == _IMPORTED]
            if self.path == self.to_path:
                new, statement = "", ""
            elif not imports:
                new, statement = None, ""
            else:
                new, statement = self._new_module_name(facts, text, imports[0])
            if new is None:
                what = f"{self.bound.name} is reached through {own.name}, and its new module cannot be imported here"
                self.dangers.append(Danger(kind="name_taken", what=what, path=self.path, offset=some[0][0]))
                continue
            for offset, steps in some:
                if not new:
                    self._warn_if_hidden(facts, offset)
                span = Span(start=steps[0].at, end=offset, new=f"{new}." if new else "")
                self._add_edit(span, "STRONG", "REFERENCE", f"{self.bound.name} is in {self.to_path} now")
            if imports:
                self._import(facts, text, own, imports, statement, [steps[0].at for _, steps in some])

    def _new_module_name(self, facts: Facts, text: bytes, import_: Import) -> tuple[str | None, str]:
        """Return the name of the new module before the dot, and the statement that imports it."""
        dotted = self.source(import_.source if not import_.source.startswith(".") else "")
        if dotted is None:
            return None, ""
        stem = module_parts(self.to_path)[-1]
        if not import_.imported and not import_.alias:
            top = dotted.partition(".")[0]
            free = top == import_.local or not self._binds(facts, top, dotted)
            return (dotted, f"import {dotted}") if free else (None, "")
        parent = parent_package(self.relocation, self.to_path)
        name = None
        if import_.imported and parent is not None and parent not in ("src", "lib"):
            close = relative_name(self.relocation, parent, self.path) if import_.source.startswith(".") else None
            name = close or absolute_name(self.relocation, parent, self.path, None)
        if self._binds(facts, stem, dotted):
            return None, ""
        if name is not None:
            return stem, f"from {name} import {stem}"
        return stem, f"import {dotted}" if dotted == stem else f"import {dotted} as {stem}"

    def _binds(self, facts: Facts, name: str, dotted: str) -> bool:
        """Whether a name means something else in the file."""
        for bound_name, (scope, _, _, _) in zip(facts.bind_names, facts.binds.tolist(), strict=True):
            if bound_name == name:
                meant = self.resolver.meaning(Bound(self.path, scope, name))
                wanted = self.relocation.python.find(dotted.partition(".")[0], self.path)
                if meant != (Module(self.to_path),) and meant != tuple(map(Module, wanted)):
                    return True
        return False

    def _import(
        self, facts: Facts, text: bytes, own: Bound, imports: Sequence[Import], statement: str, rewritten: Sequence[int]
    ) -> None:
        """Import the new module, and drop the old one if nothing else is used from it."""
        first = statement_at(text, imports[0].at)
        if first is None:
            return
        known = {code.decode("utf-8", "replace") for code in (text[s.start : s.end] for s in self._all(facts, text))}
        spans = [(import_statement.start, import_statement.end) for import_statement in self._all(facts, text)]
        other = [
            at
            for at in occurrences(text, own.name)
            if not facts.in_text(at)
            and at not in rewritten
            and not any(start <= at < end for start, end in spans)
            and at not in facts.labels
            and receiver(text, at, facts.in_text) == ()
            and self.resolver.lexical(self.path, facts, at, own.name) == own
        ]
        listed = any(export.evidence == "all" and export.name == own.name for export in facts.exports)
        needed = bool(other) or listed or self.path.endswith("__init__.py") or len(imports) > 1
        if not needed and len(first.items) == 1 and not self._is_taken(own):
            self._gone.append(first)
        if statement and statement not in known:
            added = self._added.setdefault((first.start, first.end), [])
            if statement not in added:
                added.append(statement)

    def _is_taken(self, own: Bound) -> bool:
        """Whether other files import from this file what it imports itself."""
        return own.scope == 0 and bool(outside_use(self.world, self.resolver, self.path, own.name))

    def _all(self, facts: Facts, text: bytes) -> list[Statement]:
        found = (statement_at(text, at) for at in sorted({import_.at for import_ in facts.imports}))
        return [statement for statement in found if statement is not None]

    def _stars(self, facts: Facts, text: bytes) -> None:
        """Import the symbol by name where `from old import *` no longer does."""
        old = self.world.facts(self.bound.file)
        given = old is not None and gives_by_star(old, self.bound.name)
        if not facts.star or not given or self.path == self.to_path:
            return
        for import_ in facts.imports:
            if import_.imported == "*" and self._is_old(import_.source):
                statement, source = statement_at(text, import_.at), self.source(import_.source)
                if statement is not None and source is not None:
                    added = self._added.setdefault((statement.start, statement.end), [])
                    added.append(f"from {source} import {self.bound.name}")
