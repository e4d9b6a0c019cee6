"""A process that parses: asked over its standard input, answering on its standard output, ending with its parent."""

import gc
import os
import struct
import sys
import zlib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from codeplane.code.facts.assembly import MAX_DEFINITIONS
from codeplane.code.facts.extract import MAX_PARSED, extractor
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts, packed
from codeplane.index.name_postings import packed_keys
from codeplane.index.words import Vocabulary, prepared, with_parts

_HEAD = struct.Struct("<I")
_MAX_CHECKED = 50_000
# Of zlib's: a 25th less than the first, for a 200th of a worker's time; those above take longer than they save.
_LEVEL = 4
# Of a larger file the beginning is ranked; exact search looks at all of it.
MAX_FED = 1024 * 1024
SYNTAX_ERROR, LEFT_OUT = "syntax error", "definitions left out"


class Source(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A file to parse, by its place in the content; the key is the asker's, the name is the path's bytes as Latin-1."""

    key: int
    name: str
    language: str
    offset: int
    length: int


class Batch(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """Files of one content file; `check` asks only whether they parse."""

    content: str
    sources: tuple[Source, ...]
    check: bool = False


class Row(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What is looked up of a definition without unpacking its file."""

    uid: bytes
    name: str
    kind: str
    path: str
    signature: str
    ordinal: int
    line: int


class Identified(Protocol):
    """What the identity of a definition is made of, beside its family and its file."""

    @property
    def kind(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def ordinal(self) -> int: ...


class Parsed(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A file's facts, packed, and what finds them; with a problem there may be none.

    `pieces` and `named` are what full text is fed beside the text; pieces are None where they are still to be made.
    """

    key: int
    facts: bytes = b""
    rows: tuple[Row, ...] = ()
    names: bytes = b""
    problem: str = ""
    pieces: str | None = None
    named: str = ""
    nodes: int = 0
    errors: int = 0
    has_content: bool = False


def uid_of(family: str, file: str, one: Identified) -> bytes:
    """The identity of a definition (002 §7.4); its unit is the family and its lexical path begins with its file."""
    return sha256(f"{family}:{one.kind}:{file}:{one.path}:{one.signature}:{one.ordinal}".encode()).digest()[:8]


def parse(source: Source, text: bytes, vocabulary: Vocabulary | None = None) -> Parsed:
    """One file's facts; what cannot be parsed says why."""
    vocabulary = vocabulary or Vocabulary()
    language = languages().by_name[source.language]
    try:
        names, pieces = vocabulary.of(text) if len(text) <= MAX_PARSED else (set(), "")
        facts = extractor(language).facts(text, names)
    except Exception as error:  # one file never stops the pass, whatever is wrong with it
        return Parsed(key=source.key, problem=str(error) or type(error).__name__)
    return Parsed(
        key=source.key,
        facts=zlib.compress(packed(facts), _LEVEL),
        rows=rows_of(language, source.name, facts),
        names=packed_keys(names),
        problem=problem_of(facts),
        pieces=pieces if len(text) <= MAX_FED else prepared(text[:MAX_FED]),
        named=with_parts(one.name for one in facts.definitions),
    )


def rows_of(language: Language, file: str, facts: Facts) -> tuple[Row, ...]:
    """What is looked up of a file's definitions; its name is the path's bytes as Latin-1."""
    family = language.family or language.name
    return tuple(
        Row(
            uid=uid_of(family, file, one),
            name=one.name,
            kind=one.kind,
            path=one.path,
            signature=one.signature,
            ordinal=one.ordinal,
            line=one.line,
        )
        for one in facts.definitions
    )


def problem_of(facts: Facts) -> str:
    """Why a file's facts are not all there are, if so."""
    broken = f"{SYNTAX_ERROR} at line {facts.errors}" if facts.errors else ""
    clipped = f"{LEFT_OUT}: there are more than {MAX_DEFINITIONS}" if facts.clipped else ""
    return "; ".join(why for why in (broken, clipped) if why)


def checked(source: Source, text: bytes) -> Parsed:
    """Whether a file parses: its nodes, those that are errors, and whether anything is in it."""
    try:
        nodes, errors, has_content = extractor(languages().by_name[source.language]).check(text, limit=_MAX_CHECKED)
    except Exception as error:  # a file that cannot even be checked has failed its check
        return Parsed(key=source.key, problem=str(error), nodes=1, errors=1)
    return Parsed(key=source.key, nodes=nodes, errors=errors, has_content=has_content)


def parse_all(batch: Batch, vocabulary: Vocabulary) -> list[Parsed]:
    """The facts of a batch's files; none when their content was replaced or cut off, and they are asked for again."""
    try:
        file = Path(batch.content).open("rb")  # noqa: SIM115
    except OSError:
        return []
    with file:
        found: list[Parsed] = []
        for one in batch.sources:
            # Not mapped: whoever reads a map of what was cut off meanwhile is killed, and the file is blamed for it.
            text = os.pread(file.fileno(), one.length, one.offset)
            if len(text) != one.length:
                return []
            found.append(checked(one, text) if batch.check else parse(one, text, vocabulary))
        return found


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
    """Answer until the other end closes."""
    os.nice(5)
    # Facts are made and sent away: the collector finds hardly anything, and looking would be a sixth of the work.
    gc.disable()
    decoder, encoder = msgspec.msgpack.Decoder(Batch), msgspec.msgpack.Encoder()
    vocabulary = Vocabulary()
    while (message := receive(sys.stdin.buffer)) is not None:
        send(sys.stdout.buffer, encoder.encode(parse_all(decoder.decode(message), vocabulary)))
        gc.collect(1)


if __name__ == "__main__":
    main()
