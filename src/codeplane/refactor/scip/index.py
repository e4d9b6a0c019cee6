"""Reads an `index.scip`: the few messages of the SCIP protocol that say which symbol stands where.

The wire format is that of protocol buffers; of a message only the fields named here are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from codeplane.kernel.errors import ScipRefused
from codeplane.refactor.scip.wire import fields, text_of, varints

Encoding = Literal["utf-8", "utf-16", "utf-32"]

DEFINITION = 1
_ENCODINGS: dict[int, Encoding] = {1: "utf-8", 2: "utf-16", 3: "utf-32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A stretch of a document that is a symbol; lines and columns from 0, columns in units of the encoding."""

    line: int
    column: int
    end_line: int
    end_column: int
    symbol: str
    roles: int

    @property
    def is_definition(self) -> bool:
        """Whether the symbol is defined here."""
        return bool(self.roles & DEFINITION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Symbols that belong together: a method and what it overrides, a field and what declares it."""

    symbol: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file as the indexer saw it; `text` only where the indexer wrote it down."""

    path: str
    language: str
    text: str | None
    encoding: Encoding | None
    occurrences: tuple[Occurrence, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A whole index."""

    tool: str
    version: str
    root: str
    documents: tuple[Document, ...]


def read_index(raw: bytes) -> Index:
    """The index that some bytes are; ScipRefused where they are none, or end too early."""
    view = memoryview(raw)
    tool = version = root = ""
    documents, seen = [], False
    for number, value in fields(view):
        if number == 1 and isinstance(value, memoryview):
            seen = True
            for inner, part in fields(value):
                if inner == 2 and isinstance(part, memoryview):
                    said = {at: text_of(one) for at, one in fields(part) if at in (1, 2)}
                    tool, version = said.get(1, ""), said.get(2, "")
                elif inner == 3:
                    root = unquote(urlsplit(text_of(part)).path)
        elif number == 2 and isinstance(value, memoryview):
            documents.append(_document(value))
    if not seen:
        raise ScipRefused(
            "this is no SCIP index: it has no metadata", hint="name the file an indexer wrote: index.scip"
        )
    return Index(tool=tool, version=version, root=root, documents=tuple(documents))


def _document(view: memoryview) -> Document:
    path = language = ""
    text, encoding = None, None
    occurrences, relations = [], list[Relation]()
    for number, value in fields(view):
        if number == 1:
            path = text_of(value)
        elif number == 2 and isinstance(value, memoryview):
            found = _occurrence(value)
            if found is not None:
                occurrences.append(found)
        elif number == 3 and isinstance(value, memoryview):
            relations += _relations(value)
        elif number == 4:
            language = text_of(value)
        elif number == 5:
            text = text_of(value)
        elif number == 6 and isinstance(value, int):
            encoding = _ENCODINGS.get(value)
    return Document(
        path=path,
        language=language,
        text=text,
        encoding=encoding,
        occurrences=tuple(occurrences),
        relations=tuple(relations),
    )


def _occurrence(view: memoryview) -> Occurrence | None:
    place: list[int] = []
    symbol, roles = "", 0
    for number, value in fields(view):
        if number == 1:
            place += [value] if isinstance(value, int) else varints(value)
        elif number == 2:
            symbol = text_of(value)
        elif number == 3 and isinstance(value, int):
            roles = value
    if len(place) not in (3, 4) or not symbol:
        return None
    line, column, *rest = place
    end_line, end_column = rest if len(rest) == 2 else (line, rest[0])
    return Occurrence(line=line, column=column, end_line=end_line, end_column=end_column, symbol=symbol, roles=roles)


def _relations(view: memoryview) -> Iterator[Relation]:
    """What a symbol's information relates it to, where the two are referred to together."""
    told = list(fields(view))
    symbol = next((text_of(value) for number, value in told if number == 1), "")
    for number, value in told:
        if number == 4 and isinstance(value, memoryview):
            related = dict(fields(value))
            # Together in references (2), as implementation (3) or by definition (5); a type (4) is another thing.
            if 1 in related and (related.get(2) or related.get(3) or related.get(5)):
                yield Relation(symbol=symbol, other=text_of(related[1]))
