"""The files an update parses, as sources for the workers and groups for the store."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.index.early_parsing import sources_of
from codeplane.index.parse_worker import ParseResult, Source
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.snapshot import IndexedFile, Snapshot

_COMMIT_BYTES = 4 * 1024 * 1024
_COMMIT_SEC = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsePlan:
    """Files to parse, with the sources sent to workers."""

    files: Sequence[IndexedFile]
    languages: Sequence[Language]
    sources: Sequence[Source]

    @classmethod
    def of(cls, snapshot: Snapshot, files: Sequence[IndexedFile], early: Sequence[IndexedFile]) -> "ParsePlan":
        """`early` are the files whose parsing has started; they come first."""
        tables, first = languages(), {known.path for known in early}
        ordered = [*early, *(known for known in files if known.path not in first)]
        spoken = [tables.of(known.path, first_bytes(snapshot, known)) for known in ordered]
        assert None not in spoken
        return cls(
            files=ordered,
            languages=[language for language in spoken if language is not None],
            sources=sources_of(ordered, spoken),
        )

    def group(self, parsing: Iterable[list[ParseResult]]) -> Iterator[list[ParsedFile]]:
        """Group parsed files into transactions."""
        group: list[ParsedFile] = []
        size, since = 0, time.monotonic()
        for batch in parsing:
            for parsed in batch:
                known = self.files[parsed.key]
                group.append(
                    ParsedFile(
                        path=known.path,
                        digest=known.digest,
                        language=self.languages[parsed.key].name,
                        parsed=parsed,
                    )
                )
                size += known.length
            if size >= _COMMIT_BYTES or time.monotonic() - since > _COMMIT_SEC:
                yield group
                group, size, since = [], 0, time.monotonic()
        if group:
            yield group


def first_bytes(snapshot: Snapshot, known: IndexedFile) -> bytes:
    return snapshot.text(known, most=80)
