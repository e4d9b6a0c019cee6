"""The contents of an `index.scip`: the symbols at each place, read by proto/codeplane/scip/v1."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from google.protobuf.message import DecodeError

from codeplane._gen.scip import scip_pb2
from codeplane.kernel.errors import ScipRefused

Encoding = Literal["utf-8", "utf-16", "utf-32"]

DEFINITION = 1
_ENCODINGS: dict[int, Encoding] = {1: "utf-8", 2: "utf-16", 3: "utf-32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A symbol at a place of a document; lines and columns from 0, columns in units of the encoding."""

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
    """Two symbols that belong together: a method and the one it overrides, a field and its declaration."""

    symbol: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file as the indexer saw it; `text` only if the indexer included it."""

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
    """Parse an index; ScipRefused if the bytes are none, or end too early."""
    try:
        message = scip_pb2.Index.FromString(raw)
        documents = tuple(_document(scip_pb2.Document.FromString(part)) for part in message.documents)
    except DecodeError as error:
        raise ScipRefused(
            "this is no SCIP index, or it ends in the middle: it was cut off, or its indexer did not finish"
        ) from error
    if not message.HasField("metadata"):
        raise ScipRefused(
            "this is no SCIP index: it has no metadata", hint="name the file an indexer wrote: index.scip"
        )
    metadata = message.metadata
    return Index(
        tool=metadata.tool_info.name,
        version=metadata.tool_info.version,
        root=unquote(urlsplit(metadata.project_root).path),
        documents=documents,
    )


def _document(message: scip_pb2.Document) -> Document:
    return Document(
        path=message.relative_path,
        language=message.language,
        text=message.text if message.HasField("text") else None,
        encoding=_ENCODINGS.get(message.position_encoding),
        occurrences=tuple(_occurrences(message)),
        relations=tuple(_relations(message)),
    )


def _occurrences(message: scip_pb2.Document) -> Iterator[Occurrence]:
    for occurrence in message.occurrences:
        place, symbol = tuple(occurrence.range), occurrence.symbol
        if len(place) not in (3, 4) or not symbol:
            continue
        line, column, end_line, end_column = place if len(place) == 4 else (*place[:2], place[0], place[2])
        if min(place) < 0:
            raise ScipRefused(f"this is no SCIP index: a place in {message.relative_path} is negative")
        yield Occurrence(
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            symbol=symbol,
            roles=occurrence.symbol_roles,
        )


def _relations(message: scip_pb2.Document) -> Iterator[Relation]:
    """Yield the symbols that references, an implementation or a definition tie together."""
    for information in message.symbols:
        for other in information.relationships:
            if other.symbol and (other.is_reference or other.is_implementation or other.is_definition):
                yield Relation(symbol=information.symbol, other=other.symbol)
