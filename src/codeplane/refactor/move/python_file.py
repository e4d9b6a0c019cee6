"""What a move of modules changes in one Python file: its imports, and the dotted names that lead to what moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.code.facts.model import Facts, Import
from codeplane.code.resolve.entity import Bound, Entity, Module
from codeplane.code.resolve.expression import receiver
from codeplane.code.resolve.references import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger, Edit, Role
from codeplane.refactor.move.module_names import absolute, parent_of, root_of, steps_of
from codeplane.refactor.move.outside import taken_outside
from codeplane.refactor.move.python_naming import FAMILIAR, PythonNaming
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.statement import Item, Span, Statement, added_after, statement_at, without


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The module that moves, or the package whose modules do: what a dotted name that leads there means."""

    module: str
    new_module: str

    @property
    def stem(self) -> str:
        """Its name now."""
        return steps_of(self.module)[-1]

    @property
    def new_stem(self) -> str:
        """Its name afterwards."""
        return steps_of(self.new_module)[-1]


@dataclass(slots=True, kw_only=True)
class _Named:
    """What an item of a statement becomes; without a source it is imported as a whole module."""

    item: Item
    source: str | None
    name: str
    tier: Tier


@dataclass(slots=True)
class PythonFile:
    """The making of one file's edits."""

    world: World
    resolver: Resolver
    relocation: Relocation
    moved: Moved
    path: str
    passed_on: frozenset[tuple[str, str]] = frozenset()
    """Names of modules that other files take from a file which only imports them."""
    edits: list[Edit] = field(default_factory=list)
    dangers: list[Danger] = field(default_factory=list)
    _added: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    _rewritten: set[int] = field(default_factory=set)
    _spans: list[tuple[int, int]] | None = None
    _renamed: set[tuple[int, str]] = field(default_factory=set)
    _tops: dict[tuple[int, str], list[Statement]] = field(default_factory=dict)
    _naming: PythonNaming = field(init=False)

    def __post_init__(self) -> None:
        self._naming = PythonNaming(self.world, self.relocation, self.path, fear=self._fear)

    def planned(self) -> None:
        """Find every edit of the file."""
        facts = self.world.facts(self.path)
        if facts is None:
            return
        text = self.world.text(self.path)
        statements = self._statements(facts, text)
        for statement, imports in statements:
            if statement.is_from:
                self._from(facts, text, statement, imports)
            else:
                self._import(facts, text, statement, imports)
        self._chains(facts, text, statements)
        for (scope, top), kept in self._tops.items():
            self._keep_top(facts, text, scope, top, kept)
        for (start, end), new in self._added.items():
            self._put(
                added_after(text, start, end, new), "STRONG", "IMPORT", "what is used is imported from its new place"
            )

    def _imports(self, at: int) -> bool:
        """Whether a place is in an import statement."""
        if self._spans is None:
            facts, text = self.world.facts(self.path), self.world.text(self.path)
            assert facts is not None
            found = (statement_at(text, one) for one in {one.at for one in facts.imports})
            self._spans = [(one.start, one.end) for one in found if one is not None]
        return any(start <= at < end for start, end in self._spans)

    def _statements(self, facts: Facts, text: bytes) -> list[tuple[Statement, list[Import]]]:
        """The statements that may change: all where the file moves, elsewhere those that name what does."""
        by_place: dict[int, list[Import]] = {}
        moves, stem = self._new_path != self.path, self.moved.stem
        for one in facts.imports:
            if one.kind.startswith("python"):
                by_place.setdefault(one.at, []).append(one)
        if not moves:
            by_place = {
                at: some
                for at, some in by_place.items()
                if any(stem == one.imported or stem in one.source for one in some)
            }
        found = ((statement_at(text, at), imports) for at, imports in sorted(by_place.items()))
        return [(statement, imports) for statement, imports in found if statement is not None]

    def _put(self, span: Span, tier: Tier, role: Role, why: str) -> None:
        self.edits.append(
            Edit(path=self.path, start=span.start, end=span.end, new=span.new, tier=tier, role=role, why=why)
        )

    def _fear(self, kind: str, what: str, at: int) -> None:
        self.dangers.append(Danger(kind=kind, what=what, path=self.path, offset=at))

    @property
    def _new_path(self) -> str:
        return self.relocation.path(self.path)

    def _unseen(self, source: str, start: int, end: int) -> None:
        """A module that is not there, made later perhaps, goes with the package that is."""
        dots = source[: len(source) - len(source.lstrip("."))]
        parts = source[len(dots) :].split(".")
        for count in range(len(parts) - 1, -1 if dots else 0, -1):
            head = dots + ".".join(parts[:count])
            places = self.world.python().find(head, self.path)
            if not places:
                continue
            module = self._naming.found(head, start)
            new_module = self.relocation.path(module) if module is not None else ""
            if module is None or self._naming.leads(head, module, new_module):
                return
            name = self._naming.name(new_module, head, module, start)
            if name is not None and name != head:
                new = f"{name}{'' if name.endswith('.') else '.'}{'.'.join(parts[count:])}"
                why = f"{head} is {name} afterwards; {source} itself is not there"
                self._put(Span(start=start, end=end, new=new), self._naming.tier(head, module), "IMPORT", why)
            return

    def _import(self, facts: Facts, text: bytes, statement: Statement, imports: Sequence[Import]) -> None:
        for item in statement.items:
            module = self._naming.found(item.name, item.start)
            if module is None:
                self._unseen(item.name, item.start, item.name_end)
                continue
            new_module = self.relocation.path(module)
            if self._naming.leads(item.name, module, new_module):
                continue
            name = self._naming.name(new_module, item.name, module, item.start)
            if name is None:
                continue
            tier = self._naming.tier(item.name, module)
            why = f"{item.name} is {name} afterwards"
            span = Span(start=item.start, end=item.name_end, new=name)
            if item.alias:
                self._put(span, tier, "IMPORT", why)
                continue
            scope = next((one.scope for one in imports if one.local_at == item.start), 0)
            old_top, top = item.name.partition(".")[0], name.partition(".")[0]
            taken = top != old_top and self._taken(facts, text, top, new_module)
            given = top != old_top and not scope and not taken and self._given(old_top)
            if taken or (given and "." not in item.name):
                if "." in item.name:
                    self._fear("name_taken", f"{top} is already something else where {name} is needed", item.start)
                    self._put(span, "UNKNOWN", "IMPORT", why)
                else:
                    self._put(
                        Span(start=item.start, end=item.name_end, new=f"{name} as {item.name}"), tier, "IMPORT", why
                    )
                continue
            if given:
                self._fear("unresolved_use", f"others take {old_top} from here, which is {top} afterwards", item.start)
            self._put(span, tier, "IMPORT", why)
            if self.world.python().find(old_top, self.path) == (self.moved.module,):
                whole = absolute(self.relocation, self.moved.new_module, self._new_path, root_of(item.name, module))
                if whole is not None and (scope, old_top) not in self._renamed:
                    self._renamed.add((scope, old_top))
                    self._uses(facts, text, Bound(self.path, scope, old_top), whole, tier)
            elif top != old_top:
                self._tops.setdefault((scope, old_top), []).append(statement)

    def _given(self, name: str) -> bool:
        """Whether others take from this file what an import of it brings."""
        return bool(taken_outside(self.world, self.resolver, self.path, name))

    def _from(self, facts: Facts, text: bytes, statement: Statement, imports: Sequence[Import]) -> None:
        package = self._naming.found(statement.source, statement.source_start)
        if package is None:
            self._unseen(statement.source, statement.source_start, statement.source_end)
            return
        named = [self._named(statement, package, item) for item in statement.items]
        if all(one.source == statement.source and one.name == one.item.name for one in named):
            return
        scopes = {one.imported_at: one.scope for one in imports}
        written = {id(one): self._written(facts, text, package, one, scopes.get(one.item.start, 0)) for one in named}
        tier = min((one.tier for one in named), key=lambda one: one == "STRONG")
        stay = statement.source
        if all(one.source != stay for one in named):
            stay = next((one.source for one in named if one.source is not None), "")
        leaving = [one for one in named if one.source != stay]
        if len(leaving) == len(named):
            # What has no source is one statement, whatever is in it.
            (whole,) = self._grouped(leaving, written)
            self._put(Span(start=statement.start, end=statement.end, new=whole), tier, "IMPORT", "the module moved")
            return
        if stay != statement.source:
            span = Span(start=statement.source_start, end=statement.source_end, new=stay)
            self._put(span, tier, "IMPORT", f"{statement.source} is {stay} afterwards")
        for one in named:
            if one not in leaving and written[id(one)] != _said(one.item):
                span = Span(start=one.item.start, end=one.item.end, new=written[id(one)])
                self._put(span, tier, "IMPORT", f"{one.item.name} is {one.name} afterwards")
        if leaving:
            for span in without(text, statement, [one.item for one in leaving]):
                self._put(span, tier, "IMPORT", f"not in {stay} any more")
            place = (statement.start, statement.end)
            self._added.setdefault(place, []).extend(self._grouped(leaving, written))

    def _grouped(self, named: Sequence[_Named], written: Mapping[int, str]) -> list[str]:
        groups: dict[str | None, list[str]] = {}
        for one in named:
            groups.setdefault(one.source, []).append(written[id(one)])
        return [
            f"from {source} import {', '.join(names)}" if source is not None else f"import {', '.join(names)}"
            for source, names in groups.items()
        ]

    def _named(self, statement: Statement, package: str, item: Item) -> _Named:
        """What an item becomes: a module goes with its package, anything else with the module that has it."""
        same = _Named(item=item, source=statement.source, name=item.name, tier="STRONG")
        source, at = statement.source, item.start
        new_package = self.relocation.path(package)
        kept = self._naming.leads(source, package, new_package)
        module = self.world.python().submodule(package, item.name)
        meant: tuple[Entity, ...] = self.resolver.export(package, item.name) if module is not None else ()
        tier = self._naming.tier(source, package)
        if module is not None and meant == (Module(module),):
            new_module = self.relocation.path(module)
            if kept and self.relocation.python.submodule(new_package, item.name) == new_module:
                return same
            name, parent = steps_of(new_module)[-1], parent_of(self.relocation, new_module)
            if parent is None or parent in FAMILIAR:
                return _Named(item=item, source=None, name=name, tier=tier)
            if self._naming.leads(source, package, parent):
                return _Named(item=item, source=source, name=name, tier=tier)
            found = self._naming.name(parent, source, package, at)
            return _Named(item=item, source=found, name=name, tier=tier) if found is not None else same
        if module is not None and Module(module) in meant and self.relocation.path(module) != module:
            self._fear("ambiguous_import", f"{item.name} may be the module that moves, or something else", at)
        if kept:
            return same
        found = self._naming.name(new_package, source, package, at)
        return _Named(item=item, source=found, name=item.name, tier=tier) if found is not None else same

    def _written(self, facts: Facts, text: bytes, package: str, one: _Named, scope: int) -> str:
        """An item as it is written afterwards; the uses of a name that changes change with it, or it gets an alias."""
        item = one.item
        if item.alias:
            return one.name if one.source is None and item.alias == one.name else f"{one.name} as {item.alias}"
        if one.name == item.name:
            return item.name
        bound = Bound(self.path, scope, item.name)
        own_package = self.path == package
        listed = [export for export in facts.exports if export.evidence == "all" and export.name == item.name]
        if (
            self._taken(facts, text, one.name, None)
            or len(self.resolver.meaning(bound)) != 1
            or (not own_package and (listed or (self.path, item.name) in self.passed_on))
        ):
            return f"{one.name} as {item.name}"
        self._uses(facts, text, bound, one.name, one.tier)
        for export in listed:
            span = Span(start=export.at, end=export.at + len(item.name.encode()), new=one.name)
            self._put(span, one.tier, "EXPORT", "the package gives its module")
        return one.name

    def _taken(self, facts: Facts, text: bytes, name: str, module: str | None) -> bool:
        """Whether a name means something else in the file than a module that is to be known by it."""
        if name == self.moved.stem and module is None:
            return False
        top = self.relocation.python.find(name, self._new_path) if module is not None else ()
        for index, one in enumerate(facts.bind_names):
            if one != name:
                continue
            scope = facts.bind_scope(index)
            meant = self.resolver.meaning(Bound(self.path, scope, name))
            if not top or tuple(
                Module(self.relocation.path(place.path)) for place in meant if isinstance(place, Module)
            ) != tuple(map(Module, top)):
                return True
        if module is not None:
            return False
        return any(
            not facts.in_text(at)
            and not self._imports(at)
            and receiver(text, at, facts.in_text) == ()
            and at not in facts.labels
            for at in occurrences(text, name)
        )

    def _uses(self, facts: Facts, text: bytes, bound: Bound, new: str, tier: Tier) -> None:
        """Every use of a name that an import binds."""
        length = len(bound.name.encode())
        for at in occurrences(text, bound.name):
            if self._imports(at):
                continue
            if facts.in_text(at):
                if text[at + length : at + length + 1] == b"." and text[at - 1 : at] in (b'"', b"'", b"[", b" "):
                    self._put(
                        Span(start=at, end=at + length, new=new), "UNKNOWN", "STRING", "text that may name the module"
                    )
                continue
            if at in facts.labels or receiver(text, at, facts.in_text) != ():
                continue
            if self.resolver.lexical(self.path, facts, at, bound.name) == bound:
                sure: Tier = "PROVEN" if tier == "STRONG" else tier
                self._put(
                    Span(start=at, end=at + length, new=new), sure, "REFERENCE", "bound by the import that changes"
                )
                self._rewritten.add(at)

    def _chains(
        self,
        facts: Facts,
        text: bytes,
        statements: Sequence[tuple[Statement, list[Import]]],
    ) -> None:
        """Dotted names that lead to what moves: `a.b.c` in `a.b.c.x`."""
        stem = self.moved.stem
        goal = Module(self.moved.module)
        for at in occurrences(text, stem):
            if facts.in_text(at) or self._imports(at):
                continue
            steps = receiver(text, at, facts.in_text)
            meaning = self.resolver.at(self.path, at, stem)
            if steps == () and meaning.own is None and goal in meaning.entities and at not in facts.labels:
                self._fear("unresolved_use", f"{stem} is what moves, and comes with everything of another module", at)
            if not steps:
                continue
            if goal not in meaning.entities:
                near = steps_of(self.moved.module)[-2:-1] == [steps[-1].name]
                if not meaning.entities and (near or self._may_have(steps[-1].at, steps[-1].name)):
                    self._fear("unresolved_use", f"{steps[-1].name}.{stem} may lead to what moves", at)
                continue
            sure = meaning.entities == (goal,) and not any(step.called for step in steps)
            end = at + len(stem.encode())
            own = self.resolver.lexical(self.path, facts, steps[0].at, steps[0].name)
            rows = [] if own is None else facts.rows(own.scope, own.name)
            targets = [facts.bind_target(row) for row in rows]
            bound_by = [facts.imports[one] for one in targets if one < len(facts.imports)]
            said = ".".join([*(step.name for step in steps), stem])
            whole = bool(bound_by) and all(not one.imported and not one.alias for one in bound_by)
            if whole and (found := self.world.python().find(said, self.path)) == (self.moved.module,):
                new = absolute(self.relocation, self.moved.new_module, self._new_path, root_of(said, found[0]))
                start = steps[0].at
            elif self._stays_below(steps[-1].at, steps[-1].name):
                new, start = self.moved.new_stem, at
            else:
                new = absolute(self.relocation, self.moved.new_module, self._new_path, None)
                start = steps[0].at
            if new is None:
                self._fear("unresolved_import", f"nothing leads to {self.moved.new_module}", at)
                continue
            if new == text[start:end].decode("utf-8", "replace"):
                continue
            if not sure:
                self._put(Span(start=start, end=end, new=new), "UNKNOWN", "REFERENCE", "may lead to what moves")
                continue
            if start != at:
                if not self._reached(new, facts, text, said, statements, bound_by):
                    self._put(Span(start=start, end=end, new=new), "UNKNOWN", "REFERENCE", "its new name is taken here")
                    continue
                self._rewritten.add(start)
            self._put(Span(start=start, end=end, new=new), "STRONG", "REFERENCE", f"{said} is what moves")

    def _may_have(self, at: int, name: str) -> bool:
        """Whether a name stands for a module that has what moves, among other things that it may stand for."""
        meant = self.resolver.at(self.path, at, name).entities
        modules = [one.path for one in meant if isinstance(one, Module)]
        return any(Module(self.moved.module) in self.resolver.export(one, self.moved.stem) for one in modules)

    def _stays_below(self, at: int, name: str) -> bool:
        """Whether what stands before the moved module's name still has it below."""
        meant = self.resolver.at(self.path, at, name).entities
        parent = parent_of(self.relocation, self.moved.new_module)
        return len(meant) == 1 and isinstance(meant[0], Module) and self.relocation.path(meant[0].path) == parent

    def _reached(
        self,
        new: str,
        facts: Facts,
        text: bytes,
        said: str,
        statements: Sequence[tuple[Statement, list[Import]]],
        bound_by: Sequence[Import],
    ) -> bool:
        """See to it that a dotted name is imported: by a statement that named it, or by one more."""
        for statement, _ in statements:
            for item in statement.items if not statement.is_from else ():
                if not item.alias and (item.name == said or item.name.startswith(f"{said}.")):
                    # The statement itself says where the new name is taken.
                    return not any(one.kind == "name_taken" and one.path == self.path for one in self.dangers)
        top = new.partition(".")[0]
        if top == said.partition(".")[0] and all(not one.imported and not one.alias for one in bound_by):
            return True
        if self._taken(facts, text, top, self.moved.new_module):
            self._fear("name_taken", f"{top} is already something else where {new} is needed", bound_by[0].at)
            return False
        if not bound_by:
            return False
        first = next((one for one, _ in statements if one.start == bound_by[0].at), None)
        if first is None:
            return False
        added = self._added.setdefault((first.start, first.end), [])
        if f"import {new}" not in added:
            added.append(f"import {new}")
        return True

    def _keep_top(self, facts: Facts, text: bytes, scope: int, top: str, kept: Sequence[Statement]) -> None:
        """A package that other names still begin with stays imported."""
        bound = Bound(self.path, scope, top)
        rows = facts.rows(scope, top)
        others = [facts.imports[facts.bind_target(row)].at for row in rows if facts.bind_reason(row) == 3]
        if any(at not in {one.start for one in kept} for at in others) or len(others) < len(rows):
            return
        used = [
            at
            for at in occurrences(text, top)
            if not facts.in_text(at)
            and not self._imports(at)
            and at not in self._rewritten
            and at not in facts.labels
            and receiver(text, at, facts.in_text) == ()
            and self.resolver.lexical(self.path, facts, at, top) == bound
        ]
        if used:
            first = kept[0]
            self._added.setdefault((first.start, first.end), []).insert(0, f"import {top}")


def passed_on(world: World, resolver: Resolver, paths: Sequence[str], stem: str) -> frozenset[tuple[str, str]]:
    """The files from which others take a module that these only import: `from .other import module`."""
    found: set[tuple[str, str]] = set()
    for path in paths:
        facts = world.facts(path)
        for one in facts.imports if facts is not None and world.language(facts).names.dotted_modules else ():
            if one.imported == stem:
                for place in world.python().find(one.source, path):
                    if world.python().submodule(place, stem) is None:
                        found.add((place, stem))
    return frozenset(found)


def _said(item: Item) -> str:
    return f"{item.name} as {item.alias}" if item.alias else item.name
