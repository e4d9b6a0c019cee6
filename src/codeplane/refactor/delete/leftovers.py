"""What a deletion leaves in a file: imports and exports to remove, and uses that prevent it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codeplane.code.entity import Bound
from codeplane.code.languages.expression import receiver
from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.references import Reference
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import SURE
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Edit
from codeplane.refactor.move.all_list import remove_from_all
from codeplane.refactor.move.javascript_statement import ModuleStatement, module_statements, remove_names
from codeplane.refactor.move.python_statement import Item, Statement, remove_items, remove_statement, statement_at
from codeplane.refactor.move.span import Span


@dataclass(slots=True)
class Leftovers:
    """One file that refers to what is deleted."""

    world: World
    resolver: Resolver
    bound: Bound
    path: str
    used: list[Reference] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)

    def classify(self, references: Sequence[Reference]) -> None:
        """Sort references into imports and uses; an import whose alias is used counts as a use."""
        facts, text = self.world.facts(self.path), self.world.text(self.path)
        assert facts is not None
        language = self.world.language(facts)
        listed = module_statements(text, language.grammar) if language.names.aliases_exports else []
        lists = [(spec.start, spec.end) for statement in listed for spec in statement.specifiers]
        imports = [
            reference
            for reference in references
            if reference.role in ("IMPORT", "EXPORT") or any(start <= reference.offset < end for start, end in lists)
        ]
        self.used = [reference for reference in references if reference not in imports]
        # What is given away by another name is used by that.
        others = [spec for each in listed if each.is_export for spec in each.specifiers if spec.name != spec.local]
        self.used += [each for each in imports if any(spec.start <= each.offset < spec.end for spec in others)]
        for import_ in imports:
            index = facts.imported_at.get(import_.offset)
            local = facts.imports[index].local if index is not None else self.bound.name
            scope = facts.imports[index].scope if index is not None else 0
            if local != self.bound.name and self._uses(facts, text, Bound(self.path, scope, local)):
                self.used.append(import_)
        if any(reference.tier in SURE for reference in self.used):
            # A used name stays imported, so that the place to fix is found.
            return
        sure = {import_.offset for import_ in imports if import_.tier in SURE}
        if language.names.dotted_modules:
            self._python(facts, text, sure)
        elif language.names.aliases_exports:
            self._javascript(text, listed, sure)
        else:
            # Imports of these languages are not removed, and one that is left does not compile.
            self.used += [import_ for import_ in imports if import_ not in self.used]

    def _uses(self, facts: Facts, text: bytes, bound: Bound) -> bool:
        return any(
            at not in facts.imported_at
            and not facts.in_text(at)
            and at not in facts.labels
            and receiver(text, at, facts.in_text) == ()
            and self.resolver.lexical(self.path, facts, at, bound.name) == bound
            for at in occurrences(text, bound.name)
        )

    def _add_edit(self, span: Span, why: str) -> None:
        self.edits.append(
            Edit(path=self.path, start=span.start, end=span.end, new=span.new, tier="STRONG", role="IMPORT", why=why)
        )

    def _python(self, facts: Facts, text: bytes, places: set[int]) -> None:
        parted: list[tuple[Statement, list[Item]]] = []
        for at in sorted(
            {import_.at for import_ in facts.imports if import_.imported_at in places or import_.local_at in places}
        ):
            statement = statement_at(text, at)
            if statement is not None:
                parted.append((statement, [item for item in statement.items if item.start in places]))
        gone = [
            (import_statement.start, import_statement.end)
            for import_statement, items in parted
            if len(items) == len(import_statement.items)
        ]
        for statement, items in parted:
            if (statement.start, statement.end) in gone:
                self._add_edit(
                    remove_statement(text, statement.start, statement.end, gone),
                    "imports what is deleted, and nothing uses it",
                )
            else:
                for span in remove_items(text, statement, items):
                    self._add_edit(span, "imports what is deleted, and nothing uses it")
        if places or self.path == self.bound.file:
            for span in remove_from_all(facts, text, self.bound.name):
                self._add_edit(span, "given away no more")

    def _javascript(self, text: bytes, listed: Sequence[ModuleStatement], places: set[int]) -> None:
        for statement in listed:
            gone = [spec for spec in statement.specifiers if any(spec.start <= at < spec.end for at in places)]
            if gone:
                for span in remove_names(text, statement, gone):
                    self._add_edit(span, "names what is deleted, and nothing uses it")
            elif (
                statement.default
                and any(statement.start <= at < statement.source_start for at in places)
                and not statement.specifiers
            ):
                self._add_edit(
                    remove_statement(text, statement.start, statement.end),
                    "imports what is deleted, and nothing uses it",
                )
