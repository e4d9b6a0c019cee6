"""The edits of one Python file for a moved module, as they are collected."""

from dataclasses import dataclass, field

from codeplane.code.entity import Bound, Module
from codeplane.code.languages.expression import receiver
from codeplane.code.model import Facts
from codeplane.code.resolve.occurrences import occurrences
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import Tier
from codeplane.code.resolve.world import World
from codeplane.refactor.draft import Danger, Edit, Role
from codeplane.refactor.move.module_names import module_parts
from codeplane.refactor.move.python_statement import statement_at
from codeplane.refactor.move.relocation import Relocation
from codeplane.refactor.move.span import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedModule:
    """The module that moves, or the package whose modules do."""

    module: str
    new_module: str

    @property
    def stem(self) -> str:
        """The present name."""
        return module_parts(self.module)[-1]

    @property
    def new_stem(self) -> str:
        """The new name."""
        return module_parts(self.new_module)[-1]


@dataclass(slots=True)
class PythonFileDraft:
    """The edits and dangers of one file, with what its rewriting shares."""

    world: World
    resolver: Resolver
    relocation: Relocation
    moved: MovedModule
    path: str
    edits: list[Edit] = field(default_factory=list)
    dangers: list[Danger] = field(default_factory=list)
    added: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    """Statements to add, by the span of the statement that they follow."""
    rewritten: set[int] = field(default_factory=set)
    """Offsets of uses that were rewritten."""
    _spans: list[tuple[int, int]] | None = None

    @property
    def new_path(self) -> str:
        return self.relocation.path(self.path)

    def put(self, span: Span, tier: Tier, role: Role, why: str) -> None:
        self.edits.append(
            Edit(path=self.path, start=span.start, end=span.end, new=span.new, tier=tier, role=role, why=why)
        )

    def warn(self, kind: str, what: str, at: int) -> None:
        self.dangers.append(Danger(kind=kind, what=what, path=self.path, offset=at))

    def in_import(self, at: int) -> bool:
        """Whether a place is in an import statement."""
        if self._spans is None:
            facts, text = self.world.facts(self.path), self.world.text(self.path)
            assert facts is not None
            found = (statement_at(text, offset) for offset in {import_.at for import_ in facts.imports})
            self._spans = [(statement.start, statement.end) for statement in found if statement is not None]
        return any(start <= at < end for start, end in self._spans)

    def is_taken(self, facts: Facts, text: bytes, name: str, module: str | None) -> bool:
        """Whether a name means something else in the file than the module that is to have it."""
        if name == self.moved.stem and module is None:
            return False
        top = self.relocation.python.find(name, self.new_path) if module is not None else ()
        for index, bound_name in enumerate(facts.bind_names):
            if bound_name != name:
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
            and not self.in_import(at)
            and receiver(text, at, facts.in_text) == ()
            and at not in facts.labels
            for at in occurrences(text, name)
        )

    def rewrite_uses(self, facts: Facts, text: bytes, bound: Bound, new: str, tier: Tier) -> None:
        """Rewrite every use of a name that an import binds."""
        length = len(bound.name.encode())
        for at in occurrences(text, bound.name):
            if self.in_import(at):
                continue
            if facts.in_text(at):
                if text[at + length : at + length + 1] == b"." and text[at - 1 : at] in (b'"', b"'", b"[", b" "):
                    self.put(
                        Span(start=at, end=at + length, new=new), "UNKNOWN", "STRING", "text that may name the module"
                    )
                continue
            if at in facts.labels or receiver(text, at, facts.in_text) != ():
                continue
            if self.resolver.lexical(self.path, facts, at, bound.name) == bound:
                sure: Tier = "PROVEN" if tier == "STRONG" else tier
                self.put(
                    Span(start=at, end=at + length, new=new), sure, "REFERENCE", "bound by the import that changes"
                )
                self.rewritten.add(at)
