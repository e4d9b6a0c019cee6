"""Rewriting one Python file for a moved module: its imports, and the names that they bind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.code.entity import Bound, Entity, Module
from codeplane.code.languages.expression import receiver
from codeplane.code.model import Facts, Import
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.refactor.move.module_names import absolute_name, module_parts, parent_package, root_of
from codeplane.refactor.move.outside_use import outside_use
from codeplane.refactor.move.python_dotted_uses import DottedUses
from codeplane.refactor.move.python_file_draft import PythonFileDraft
from codeplane.refactor.move.python_naming import FAMILIAR, PythonNaming
from codeplane.refactor.move.python_statement import Item, Statement, add_after, remove_items, statement_at
from codeplane.refactor.move.span import Span


@dataclass(slots=True, kw_only=True)
class _Named:
    """The new form of an item of a statement; without a source, the item is imported as a whole module."""

    item: Item
    source: str | None
    name: str
    tier: Tier


@dataclass(slots=True)
class PythonFile:
    """Finds the edits of one file."""

    draft: PythonFileDraft
    passed_on: frozenset[tuple[str, str]] = frozenset()
    """Modules, by file and name, that other files import from a file which only imports them."""
    _renamed: set[tuple[int, str]] = field(default_factory=set)
    _tops: dict[tuple[int, str], list[Statement]] = field(default_factory=dict)
    _naming: PythonNaming = field(init=False)

    def __post_init__(self) -> None:
        draft = self.draft
        self._naming = PythonNaming(draft.world, draft.relocation, draft.path, warn=draft.warn)

    def plan(self) -> None:
        """Find every edit of the file."""
        facts = self.draft.world.facts(self.draft.path)
        if facts is None:
            return
        text = self.draft.world.text(self.draft.path)
        statements = self._statements(facts, text)
        for statement, imports in statements:
            if statement.is_from:
                self._rewrite_from_import(facts, text, statement, imports)
            else:
                self._rewrite_import(facts, text, statement, imports)
        DottedUses(self.draft).rewrite(facts, text, statements)
        for (scope, top), kept in self._tops.items():
            self._keep_top(facts, text, scope, top, kept)
        for (start, end), new in self.draft.added.items():
            self.draft.put(
                add_after(text, start, end, new), "STRONG", "IMPORT", "what is used is imported from its new place"
            )

    def _statements(self, facts: Facts, text: bytes) -> list[tuple[Statement, list[Import]]]:
        """Return the statements that may change: all if the file moves, else those that name what moves."""
        by_place: dict[int, list[Import]] = {}
        moves, stem = self.draft.new_path != self.draft.path, self.draft.moved.stem
        for import_ in facts.imports:
            if import_.kind.startswith("python"):
                by_place.setdefault(import_.at, []).append(import_)
        if not moves:
            by_place = {
                at: some
                for at, some in by_place.items()
                if any(stem == import_.imported or stem in import_.source for import_ in some)
            }
        found = ((statement_at(text, at), imports) for at, imports in sorted(by_place.items()))
        return [(statement, imports) for statement, imports in found if statement is not None]

    def _rewrite_missing(self, source: str, start: int, end: int) -> None:
        """Rewrite an import of a module that does not exist (yet) by the package that does."""
        dots = source[: len(source) - len(source.lstrip("."))]
        parts = source[len(dots) :].split(".")
        for count in range(len(parts) - 1, -1 if dots else 0, -1):
            head = dots + ".".join(parts[:count])
            places = self.draft.world.python().find(head, self.draft.path)
            if not places:
                continue
            module = self._naming.module_of(head, start)
            new_module = self.draft.relocation.path(module) if module is not None else ""
            if module is None or self._naming.still_leads(head, module, new_module):
                return
            name = self._naming.new_name(new_module, head, module, start)
            if name is not None and name != head:
                new = f"{name}{'' if name.endswith('.') else '.'}{'.'.join(parts[count:])}"
                why = f"{head} is {name} afterwards; {source} itself is not there"
                self.draft.put(Span(start=start, end=end, new=new), self._naming.tier(head, module), "IMPORT", why)
            return

    def _rewrite_import(self, facts: Facts, text: bytes, statement: Statement, imports: Sequence[Import]) -> None:
        for item in statement.items:
            module = self._naming.module_of(item.name, item.start)
            if module is None:
                self._rewrite_missing(item.name, item.start, item.name_end)
                continue
            new_module = self.draft.relocation.path(module)
            if self._naming.still_leads(item.name, module, new_module):
                continue
            name = self._naming.new_name(new_module, item.name, module, item.start)
            if name is None:
                continue
            tier = self._naming.tier(item.name, module)
            why = f"{item.name} is {name} afterwards"
            span = Span(start=item.start, end=item.name_end, new=name)
            if item.alias:
                self.draft.put(span, tier, "IMPORT", why)
                continue
            scope = next((import_.scope for import_ in imports if import_.local_at == item.start), 0)
            old_top, top = item.name.partition(".")[0], name.partition(".")[0]
            taken = top != old_top and self.draft.is_taken(facts, text, top, new_module)
            given = top != old_top and not scope and not taken and self._is_imported_elsewhere(old_top)
            if taken or (given and "." not in item.name):
                if "." in item.name:
                    self.draft.warn("name_taken", f"{top} is already something else where {name} is needed", item.start)
                    self.draft.put(span, "UNKNOWN", "IMPORT", why)
                else:
                    self.draft.put(
                        Span(start=item.start, end=item.name_end, new=f"{name} as {item.name}"), tier, "IMPORT", why
                    )
                continue
            if given:
                self.draft.warn(
                    "unresolved_use", f"others take {old_top} from here, which is {top} afterwards", item.start
                )
            self.draft.put(span, tier, "IMPORT", why)
            if self.draft.world.python().find(old_top, self.draft.path) == (self.draft.moved.module,):
                whole = absolute_name(
                    self.draft.relocation, self.draft.moved.new_module, self.draft.new_path, root_of(item.name, module)
                )
                if whole is not None and (scope, old_top) not in self._renamed:
                    self._renamed.add((scope, old_top))
                    self.draft.rewrite_uses(facts, text, Bound(self.draft.path, scope, old_top), whole, tier)
            elif top != old_top:
                self._tops.setdefault((scope, old_top), []).append(statement)

    def _is_imported_elsewhere(self, name: str) -> bool:
        """Whether other files import from this file what it imports itself."""
        return bool(outside_use(self.draft.world, self.draft.resolver, self.draft.path, name))

    def _rewrite_from_import(self, facts: Facts, text: bytes, statement: Statement, imports: Sequence[Import]) -> None:
        package = self._naming.module_of(statement.source, statement.source_start)
        if package is None:
            self._rewrite_missing(statement.source, statement.source_start, statement.source_end)
            return
        named = [self._new_item(statement, package, item) for item in statement.items]
        if all(entry.source == statement.source and entry.name == entry.item.name for entry in named):
            return
        scopes = {import_.imported_at: import_.scope for import_ in imports}
        written = {
            id(entry): self._item_code(facts, text, package, entry, scopes.get(entry.item.start, 0)) for entry in named
        }
        tier = min((entry.tier for entry in named), key=lambda entry_tier: entry_tier == "STRONG")
        stay = statement.source
        if all(entry.source != stay for entry in named):
            stay = next((entry.source for entry in named if entry.source is not None), "")
        leaving = [entry for entry in named if entry.source != stay]
        if len(leaving) == len(named):
            # Items without a source form one statement.
            (whole,) = self._group_statements(leaving, written)
            self.draft.put(
                Span(start=statement.start, end=statement.end, new=whole), tier, "IMPORT", "the module moved"
            )
            return
        if stay != statement.source:
            span = Span(start=statement.source_start, end=statement.source_end, new=stay)
            self.draft.put(span, tier, "IMPORT", f"{statement.source} is {stay} afterwards")
        for entry in named:
            if entry not in leaving and written[id(entry)] != _item_text(entry.item):
                span = Span(start=entry.item.start, end=entry.item.end, new=written[id(entry)])
                self.draft.put(span, tier, "IMPORT", f"{entry.item.name} is {entry.name} afterwards")
        if leaving:
            for span in remove_items(text, statement, [item.item for item in leaving]):
                self.draft.put(span, tier, "IMPORT", f"not in {stay} any more")
            place = (statement.start, statement.end)
            self.draft.added.setdefault(place, []).extend(self._group_statements(leaving, written))

    def _group_statements(self, named: Sequence[_Named], written: Mapping[int, str]) -> list[str]:
        groups: dict[str | None, list[str]] = {}
        for entry in named:
            groups.setdefault(entry.source, []).append(written[id(entry)])
        return [
            f"from {source} import {', '.join(names)}" if source is not None else f"import {', '.join(names)}"
            for source, names in groups.items()
        ]

    def _new_item(self, statement: Statement, package: str, item: Item) -> _Named:
        """Return the new form of an item: a module follows its package, anything else the module that has it."""
        same = _Named(item=item, source=statement.source, name=item.name, tier="STRONG")
        source, at = statement.source, item.start
        new_package = self.draft.relocation.path(package)
        still_leads = self._naming.still_leads(source, package, new_package)
        module = self.draft.world.python().submodule(package, item.name)
        meant: tuple[Entity, ...] = self.draft.resolver.export(package, item.name) if module is not None else ()
        tier = self._naming.tier(source, package)
        if module is not None and meant == (Module(module),):
            new_module = self.draft.relocation.path(module)
            if still_leads and self.draft.relocation.python.submodule(new_package, item.name) == new_module:
                return same
            name, parent = module_parts(new_module)[-1], parent_package(self.draft.relocation, new_module)
            if parent is None or parent in FAMILIAR:
                return _Named(item=item, source=None, name=name, tier=tier)
            if self._naming.still_leads(source, package, parent):
                return _Named(item=item, source=source, name=name, tier=tier)
            found = self._naming.new_name(parent, source, package, at)
            return _Named(item=item, source=found, name=name, tier=tier) if found is not None else same
        if module is not None and Module(module) in meant and self.draft.relocation.path(module) != module:
            self.draft.warn("ambiguous_import", f"{item.name} may be the module that moves, or something else", at)
        if still_leads:
            return same
        found = self._naming.new_name(new_package, source, package, at)
        return _Named(item=item, source=found, name=item.name, tier=tier) if found is not None else same

    def _item_code(self, facts: Facts, text: bytes, package: str, entry: _Named, scope: int) -> str:
        """Return the new text of an item; if its name changes, its uses are rewritten or it gets an alias."""
        item = entry.item
        if item.alias:
            return entry.name if entry.source is None and item.alias == entry.name else f"{entry.name} as {item.alias}"
        if entry.name == item.name:
            return item.name
        bound = Bound(self.draft.path, scope, item.name)
        own_package = self.draft.path == package
        listed = [export for export in facts.exports if export.evidence == "all" and export.name == item.name]
        if (
            self.draft.is_taken(facts, text, entry.name, None)
            or len(self.draft.resolver.meaning(bound)) != 1
            or (not own_package and (listed or (self.draft.path, item.name) in self.passed_on))
        ):
            return f"{entry.name} as {item.name}"
        self.draft.rewrite_uses(facts, text, bound, entry.name, entry.tier)
        for export in listed:
            span = Span(start=export.at, end=export.at + len(item.name.encode()), new=entry.name)
            self.draft.put(span, entry.tier, "EXPORT", "the package gives its module")
        return entry.name

    def _keep_top(self, facts: Facts, text: bytes, scope: int, top: str, kept: Sequence[Statement]) -> None:
        """Keep a package imported that other names still start with."""
        bound = Bound(self.draft.path, scope, top)
        rows = facts.rows(scope, top)
        others = [facts.imports[facts.bind_target(row)].at for row in rows if facts.bind_reason(row) == 3]
        if any(at not in {statement.start for statement in kept} for at in others) or len(others) < len(rows):
            return
        used = [
            at
            for at in occurrences(text, top)
            if not facts.in_text(at)
            and not self.draft.in_import(at)
            and at not in self.draft.rewritten
            and at not in facts.labels
            and receiver(text, at, facts.in_text) == ()
            and self.draft.resolver.lexical(self.draft.path, facts, at, top) == bound
        ]
        if used:
            first = kept[0]
            self.draft.added.setdefault((first.start, first.end), []).insert(0, f"import {top}")


def passed_on_modules(world: World, resolver: Resolver, paths: Sequence[str], stem: str) -> frozenset[tuple[str, str]]:
    """Return the files from which others import a module that they only import: `from .other import module`."""
    found: set[tuple[str, str]] = set()
    for path in paths:
        facts = world.facts(path)
        for import_ in facts.imports if facts is not None and world.language(facts).names.dotted_modules else ():
            if import_.imported == stem:
                for place in world.python().find(import_.source, path):
                    if world.python().submodule(place, stem) is None:
                        found.add((place, stem))
    return frozenset(found)


def _item_text(item: Item) -> str:
    return f"{item.name} as {item.alias}" if item.alias else item.name
