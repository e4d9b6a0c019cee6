"""The parse worker process: reads batches on standard input, answers on standard output, ends with its parent."""

import gc
import os
import struct
import sys
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from codeplane.code.facts.assembly import MAX_DEFINITIONS
from codeplane.code.facts.extract import MAX_PARSED, extractor
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts, pack_facts
from codeplane.index.name_postings import packed_keys
from codeplane.index.words import Vocabulary, split_camel_case, with_parts

_HEAD = struct.Struct("<I")
_MAX_CHECKED = 50_000
# Of zlib's: a 25th less than the first, for a 200th of a worker's time; those above take longer than they save.
_LEVEL = 4
# Of a larger file the beginning is ranked; exact search looks at all of it.
MAX_FED = 1024 * 1024
SYNTAX_ERROR, LEFT_OUT = "syntax error", "definitions left out"


class Source(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A file to parse, by its place in the content or with its `text`; `key` is the caller's, `name` the path's bytes
    as Latin-1."""

    key: int
    name: str
    language: str
    offset: int
    length: int
    text: bytes | None = None


class Batch(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """Sources in one content file; `check` only tests whether they parse."""

    content: str
    sources: tuple[Source, ...]
    check: bool = False


class DefinitionRow(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """The columns of a definition that are stored outside its facts."""

    uid: bytes
    name: str
    kind: str
    path: str
    signature: str
    ordinal: int
    line: int


class Identified(Protocol):
    """The parts of a definition's identity beside its family and file."""

    @property
    def kind(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def ordinal(self) -> int: ...


class ParseResult(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A file's packed facts with their lookup data; a file with a problem may have none.

    `pieces` and `named` are what full text is fed beside the text; pieces are None where they are still to be made.
    """

    key: int
    facts: bytes = b""
    rows: tuple[DefinitionRow, ...] = ()
    names: bytes = b""
    problem: str = ""
    pieces: str | None = None
    named: str = ""
    nodes: int = 0
    errors: int = 0
    has_content: bool = False


def uid_of(family: str, file: str, definition: Identified) -> bytes:
    """The id of a definition (002 §7.4), from its family, file, kind, lexical path, signature and ordinal."""
    return sha256(
        f"{family}:{definition.kind}:{file}:{definition.path}:{definition.signature}:{definition.ordinal}".encode()
    ).digest()[:8]


def parse_source(source: Source, text: bytes, vocabulary: Vocabulary | None = None) -> ParseResult:
    """Parse one file; a failure says why."""
    vocabulary = vocabulary or Vocabulary()
    language = languages().by_name[source.language]
    try:
        names, pieces = vocabulary.of(text) if len(text) <= MAX_PARSED else (set(), "")
        facts = extractor(language).facts(text, names)
    except Exception as error:  # one file never stops the pass, whatever is wrong with it
        return ParseResult(key=source.key, problem=str(error) or type(error).__name__)
    return ParseResult(
        key=source.key,
        facts=zlib.compress(pack_facts(facts), _LEVEL),
        rows=rows_of(language, source.name, facts),
        names=packed_keys(names),
        problem=problem_of(facts),
        pieces=pieces if len(text) <= MAX_FED else split_camel_case(text[:MAX_FED]),
        named=with_parts(definition.name for definition in facts.definitions),
    )


def rows_of(language: Language, file: str, facts: Facts) -> tuple[DefinitionRow, ...]:
    """The rows of a file's definitions; `file` is the path's bytes as Latin-1."""
    family = language.family or language.name
    return tuple(
        DefinitionRow(
            uid=uid_of(family, file, definition),
            name=definition.name,
            kind=definition.kind,
            path=definition.path,
            signature=definition.signature,
            ordinal=definition.ordinal,
            line=definition.line,
        )
        for definition in facts.definitions
    )


def problem_of(facts: Facts) -> str:
    """Why a file's facts are incomplete, or an empty string."""
    broken = f"{SYNTAX_ERROR} at line {facts.errors}" if facts.errors else ""
    clipped = f"{LEFT_OUT}: there are more than {MAX_DEFINITIONS}" if facts.clipped else ""
    return "; ".join(why for why in (broken, clipped) if why)


def check_source(source: Source, text: bytes) -> ParseResult:
    """Count a file's nodes and errors, and test whether it has content."""
    try:
        nodes, errors, has_content = extractor(languages().by_name[source.language]).check(text, limit=_MAX_CHECKED)
    except Exception as error:  # a file that cannot even be checked has failed its check
        return ParseResult(key=source.key, problem=str(error), nodes=1, errors=1)
    return ParseResult(key=source.key, nodes=nodes, errors=errors, has_content=has_content)


def parse_batch(batch: Batch, vocabulary: Vocabulary) -> list[ParseResult]:
    """Parse a batch; empty if its content was replaced or truncated."""
    results: list[ParseResult] = []
    with ExitStack() as opened:
        content: BinaryIO | None = None
        for source in batch.sources:
            text = source.text
            if text is None:
                try:
                    content = content or opened.enter_context(Path(batch.content).open("rb"))
                except OSError:
                    return []
                # Not mapped: reading a map of a file truncated meanwhile kills the process, and the file is blamed.
                text = os.pread(content.fileno(), source.length, source.offset)
            if len(text) != source.length:
                return []
            results.append(check_source(source, text) if batch.check else parse_source(source, text, vocabulary))
    return results


def send(stream: BinaryIO, message: bytes) -> None:
    """Write one message."""
    stream.write(_HEAD.pack(len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """Read one message, or None at the end."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    (length,) = _HEAD.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def main(arguments: Sequence[str] = ()) -> None:
    """Answer until the input closes."""
    os.nice(5)
    # Facts are made and sent away: the collector finds hardly anything, and looking would be a sixth of the work.
    gc.disable()
    decoder, encoder = msgspec.msgpack.Decoder(Batch), msgspec.msgpack.Encoder()
    vocabulary = Vocabulary()
    while (message := receive(sys.stdin.buffer)) is not None:
        send(sys.stdout.buffer, encoder.encode(parse_batch(decoder.decode(message), vocabulary)))
        gc.collect(1)


if __name__ == "__main__":
    main()
