"""Adoption of archived facts for files with the same content."""

import os
import zlib

import msgspec

from codeplane.code.facts.validation import is_valid
from codeplane.code.languages.registry import languages
from codeplane.code.model import unpack_facts
from codeplane.index import definitions
from codeplane.index.archive import ArchivedFacts
from codeplane.index.name_postings import packed_keys
from codeplane.index.parse_plan import first_bytes
from codeplane.index.parse_worker import ParseResult, problem_of, rows_of
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.index.words import Vocabulary

_MAX_UNPACKED = 64 * 1024 * 1024


def adopt_facts(
    archived: ArchivedFacts, known: IndexedFile, snapshot: Snapshot, vocabulary: Vocabulary
) -> ParsedFile | None:
    """Turn archived facts into a parsed file; None if they cannot belong to this text.

    Only the facts are taken: all that finds them is made of them again.
    """
    language = languages().of(known.path, first_bytes(snapshot, known))
    try:
        facts = unpack_facts(_inflate(archived.facts))
    except (zlib.error, msgspec.MsgspecError, ValueError):
        return None
    if language is None or language.name != facts.language or not is_valid(facts, known.length):
        return None
    rows = rows_of(language, os.fsencode(known.path).decode("latin-1"), facts)
    if not definitions.are_plausible(rows):
        return None
    parsed = ParseResult(
        key=0,
        facts=archived.facts,
        rows=rows,
        names=packed_keys(vocabulary.of(snapshot.text(known))[0]),
        problem=problem_of(facts),
    )
    return ParsedFile(path=known.path, digest=known.digest, language=language.name, parsed=parsed)


def _inflate(packed: bytes) -> bytes:
    """Decompress facts, bounded in size."""
    stream = zlib.decompressobj()
    inflated = stream.decompress(packed, _MAX_UNPACKED)
    if not stream.eof or stream.unused_data:
        raise ValueError("it is cut off, or unpacks to more than it may")
    return inflated
