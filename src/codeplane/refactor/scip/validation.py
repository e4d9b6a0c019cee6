"""Validation of an index against the present files."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.code.languages.registry import languages
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_copy
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.errors import ScipRefused
from codeplane.kernel.plural import plural
from codeplane.query.search.scope import Keep
from codeplane.refactor.scip.index import Document, Encoding, Index, Occurrence, Relation
from codeplane.refactor.scip.names import is_local, name_of

_NAMED = 20
_SPELLED = 0.9
# Indexers err now and then; a place with another spelling is never believed.
_MAY_DIFFER = 3
_ENCODINGS: tuple[Encoding, ...] = ("utf-16", "utf-32", "utf-8")
_WORD = re.compile(rb"[\w$\x80-\xff]+")
_INSIDE_WORD = re.compile(rb"[\w$]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolSpan:
    """A span of a file in bytes, and its symbol."""

    start: int
    end: int
    symbol: str
    is_definition: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedDocument:
    """A document that fits its file, with the digest of the file's content."""

    path: str
    digest: str
    spoken: tuple[SymbolSpan, ...]
    relations: tuple[Relation, ...]


def accept_documents(
    index: Index, snapshot: Snapshot, *, prefix: str, written_ns: int, keep: Keep | None
) -> tuple[AcceptedDocument, ...]:
    """Return the documents of an index; ScipRefused if one does not fit its file, or files of its languages have none.

    `prefix`: the folder that paths in the index are relative to; `written_ns`: when the index was written; `keep`:
    which files it was made of, if not of the whole repository.
    """
    if not index.documents:
        raise ScipRefused("the index speaks of no file", hint="run the indexer where the sources are")
    found, wrong = [], []
    for document in index.documents:
        path = os.path.normpath(f"{prefix}/{document.path}" if prefix else document.path)
        known = snapshot.files.get(path)
        why = _mismatch(document, known, snapshot, written_ns)
        places = _locate(document, snapshot.text(known)) if known is not None and not why else None
        if known is None or places is None:
            wrong.append((path, why or "its places do not spell the names of their symbols"))
        else:
            found.append(AcceptedDocument(path=path, digest=known.digest, spoken=places, relations=document.relations))
    if wrong:
        path, why = wrong[0]
        raise ScipRefused(
            f"{len(wrong)} of {len(index.documents)} documents do not fit their files: {path_text(path)}: {why}",
            details={"documents": [f"{path_text(path)}: {why}" for path, why in wrong[:_NAMED]]},
        )
    _refuse_partial(found, snapshot, keep)
    return tuple(found)


def _mismatch(document: Document, known: IndexedFile | None, snapshot: Snapshot, written_ns: int) -> str:
    """Return why a document does not fit the present file; empty if it may."""
    if known is None or known.skipped is not None:
        return "there is no such file here"
    if document.text is not None:
        same = document.text.encode() == snapshot.text(known)
        return "" if same else "its text is another one"
    return "it was changed after the index was written" if known.stamp.mtime_ns > written_ns else ""


def _refuse_partial(found: Sequence[AcceptedDocument], snapshot: Snapshot, keep: Keep | None) -> None:
    spoken_of = {document.path for document in found}
    named = {language.name for document in found if (language := languages().of(document.path)) is not None}
    missing = [
        known.path
        for known in snapshot.texts
        if known.path not in spoken_of
        and known.length
        and (language := languages().of(known.path)) is not None
        and language.name in named
        and (keep is None or keep(known.path))
        and not is_copy(known.path)
    ]
    if missing:
        raise ScipRefused(
            f"the index has no document of {plural(len(missing), 'file')} of {', '.join(sorted(named))}, such as "
            f"{path_text(missing[0])}: it is partial",
            hint="make it of all files, or say in paths what it was made of",
            details={"missing": [path_text(path) for path in missing[:_NAMED]], "total": len(missing)},
        )


def _locate(document: Document, raw: bytes) -> tuple[SymbolSpan, ...] | None:
    """Return the occurrences as spans of bytes; None if they do not fit the text in any encoding of columns."""
    lines = raw.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for encoding in (document.encoding,) if document.encoding else _ENCODINGS:
        found = _locate_in(document, raw, lines, starts, encoding)
        if found is not None:
            return found
    return None


def _locate_in(
    document: Document, raw: bytes, lines: list[bytes], starts: list[int], encoding: Encoding
) -> tuple[SymbolSpan, ...] | None:
    found: list[SymbolSpan] = []
    named = right = 0
    locals_: dict[str, bytes] = {}
    for occurrence in document.occurrences:
        start = _offset(lines, starts, occurrence.line, occurrence.column, encoding)
        end = _offset(lines, starts, occurrence.end_line, occurrence.end_column, encoding)
        if start is None or end is None or end < start:
            return None
        if start == end:
            continue
        text, name = raw[start:end], name_of(occurrence.symbol)
        if is_local(occurrence.symbol):
            if locals_.setdefault(occurrence.symbol, text) != text and occurrence.is_definition:
                return None
        elif name is not None:
            spells = text.strip(b"'\"`#") == name.encode()
            if (occurrence.is_definition and not spells) or not _is_whole_word(raw, start, end):
                return None
            named, right = named + 1, right + (spells or _is_aliased(raw, text, name.encode()))
        found.append(_symbol_span(document, occurrence, start, end))
    return tuple(found) if named - right <= max(_MAY_DIFFER, named * (1 - _SPELLED)) else None


def _symbol_span(document: Document, occurrence: Occurrence, start: int, end: int) -> SymbolSpan:
    symbol = f"{document.path} {occurrence.symbol}" if is_local(occurrence.symbol) else occurrence.symbol
    return SymbolSpan(start=start, end=end, symbol=symbol, is_definition=occurrence.is_definition)


def _is_aliased(raw: bytes, text: bytes, name: bytes) -> bool:
    """Whether a place has another spelling because the file gives its symbol an alias."""
    first = _WORD.match(text)
    if first is not None and first[0] == name:
        return b" as " in text
    return (
        first is not None
        and first[0] == text
        and re.search(rb"(?:\bas|\bimport)\s+" + re.escape(text), raw) is not None
    )


def _is_whole_word(raw: bytes, start: int, end: int) -> bool:
    """Whether a span begins and ends at word borders."""
    opens = start and _INSIDE_WORD.match(raw, start) and _INSIDE_WORD.match(raw, start - 1)
    closes = _INSIDE_WORD.match(raw, end - 1) and _INSIDE_WORD.match(raw, end)
    return not opens and not closes


def _offset(lines: list[bytes], starts: list[int], line: int, column: int, encoding: Encoding) -> int | None:
    if line >= len(lines):
        return None
    text = lines[line]
    if encoding == "utf-8" or text.isascii():
        return starts[line] + column if column <= len(text) else None
    try:
        decoded = text.decode()
        if encoding == "utf-32":
            return starts[line] + len(decoded[:column].encode()) if column <= len(decoded) else None
        units = decoded.encode("utf-16-le")
        return (
            starts[line] + len(units[: column * 2].decode("utf-16-le").encode()) if column * 2 <= len(units) else None
        )
    except UnicodeDecodeError:
        return None
