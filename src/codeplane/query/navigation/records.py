"""What navigation answers with; lines and columns count from 1, ends are exclusive."""

from codeplane.code.resolve.references import Role
from codeplane.code.resolve.tier import Tier
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural


class Span(Result):
    """A stretch of a file."""

    line: int
    column: int
    end_line: int
    end_column: int


class SymbolPlace(Result):
    """A definition: where its name is, what it spans, and how certain it is that it is meant."""

    id: str | None = None
    kind: str
    name: str
    qualified_name: str
    path: str
    name_span: Span
    span: Span
    tier: Tier
    signature: str | None = None
    doc: str | None = None

    def text(self) -> str:
        head = f"{self.path}:{self.name_span.line}:{self.name_span.column} {self.kind} {self.qualified_name}"
        unsure = "" if self.tier in ("PROVEN", "STRONG") else f" ({self.tier.lower()})"
        lines = [head + unsure, *([f"  {self.signature}"] if self.signature else [])]
        return "\n".join([*lines, *([f"  {self.doc}"] if self.doc else [])])


class Answered(Result):
    """What every answer about a place says of itself."""

    epoch: int
    commit: str | None
    partial: str | None = None
    stale: tuple[str, ...] = ()
    open_documents: tuple[str, ...] = ()
    """The files that were answered from open documents, since those differ from the disk."""

    def caveats(self) -> str:
        """The state of the repository and what is not whole, as the last line of an answer."""
        text = f"[epoch {self.epoch} at {(self.commit or 'no commit')[:9]}]"
        if self.partial:
            text += f" {self.partial}"
        if self.stale:
            text += f" STALE: changed meanwhile: {', '.join(self.stale[:5])}"
        return text


class SymbolAt(Answered):
    """What the name at a place means.

    `unknown` says why there is no definition: the place has no name, or the name means nothing that is known here.
    `candidates` are definitions of the same name, for a name whose meaning is not known.
    """

    name: str = ""
    name_span: Span | None = None
    role: Role | None = None
    definitions: tuple[SymbolPlace, ...] = ()
    declarations: tuple[SymbolPlace, ...] = ()
    outside: str | None = None
    unknown: str | None = None
    candidates: tuple[SymbolPlace, ...] = ()
    candidate_count: int = 0
    cut: str | None = None

    def text(self) -> str:
        lines = [place.text() for place in self.definitions]
        lines += [f"{self.name} is from outside this repository: {self.outside}"] if self.outside else []
        lines += [self.unknown] if self.unknown else []
        if self.candidates:
            lines.append(f"candidates by name, {len(self.candidates)} of {self.candidate_count}:")
            lines += [place.text() for place in self.candidates]
        lines += [self.cut] if self.cut else []
        return "\n".join([*lines, self.caveats()])


class OutlineEntry(Result):
    """A definition in a file; `container` is the position in the list of the one it is inside of, or -1."""

    id: str
    kind: str
    name: str
    container: int
    name_span: Span
    span: Span
    signature: str = ""


class SymbolOutline(Answered):
    """The definitions of a file, of every depth, in their order."""

    path: str
    language: str | None = None
    entries: tuple[OutlineEntry, ...] = ()

    def text(self) -> str:
        depths: list[int] = []
        lines = []
        for entry in self.entries:
            depths.append(depths[entry.container] + 1 if 0 <= entry.container < len(depths) else 0)
            span = f"{entry.span.line}-{entry.span.end_line}"
            lines.append(f"{'  ' * depths[-1]}{span} {entry.signature or f'{entry.kind} {entry.name}'}")
        return "\n".join([self.path, *lines, self.caveats()])


class ReferencePlace(Result):
    """A place that refers to a symbol, or may."""

    path: str
    line: int
    column: int
    end_column: int
    tier: Tier
    role: Role
    name: str

    def text(self) -> str:
        unsure = "" if self.tier in ("PROVEN", "STRONG") else f" ({self.tier.lower()})"
        return f"{self.path}:{self.line}:{self.column}{unsure}"


class ReferenceBatch(Answered):
    """Some of the references; the last batch says whether they are all."""

    places: tuple[ReferencePlace, ...] = ()
    of: tuple[str, ...] = ()
    total: int = 0
    """How many there were up to the end of this batch."""
    done: bool = False
    cut: str | None = None
    """What was not looked at; None if the answer is whole."""

    def text(self) -> str:
        lines = [place.text() for place in self.places]
        if not self.done:
            return "\n".join(lines)
        found = f"{plural(self.total, 'reference')} to {'; '.join(self.of[:5])}" if self.of else "no symbol there"
        return "\n".join([*lines, found, *([self.cut] if self.cut else []), self.caveats()])


class SymbolList(Answered):
    """Definitions whose names are like a query, best first."""

    symbols: tuple[SymbolPlace, ...] = ()
    cut: str | None = None

    def text(self) -> str:
        lines = [symbol.text() for symbol in self.symbols] or ["nothing found"]
        return "\n".join([*lines, *([self.cut] if self.cut else []), self.caveats()])


class TextColumns(Answered):
    """The same columns counted otherwise, in the order asked."""

    columns: tuple[int, ...] = ()
