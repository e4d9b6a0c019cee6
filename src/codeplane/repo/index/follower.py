"""Bringing what is derived from the text into step with it: facts, full text, later vectors."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codeplane.repo.facts.language import languages
from codeplane.repo.index.facts import FactStore, FileParsed
from codeplane.repo.index.parsers import Parsers
from codeplane.repo.index.snapshot import Known, Snapshot
from codeplane.repo.index.worker import Source

_COMMIT_BYTES = 12 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a pass has come."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    sec: float

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.sec if self.sec > 0 else 0.0

    @property
    def eta_sec(self) -> float | None:
        """How much longer, at this rate."""
        return (self.bytes_total - self.bytes) / self.rate if self.rate else None


class Follower:
    """Follows the published snapshots; its methods block and run off the event loop."""

    def __init__(self, *, facts: FactStore, parsers: Parsers, told: Callable[[Progress], None]) -> None:
        self.facts = facts
        self._parsers = parsers
        self._told = told
        self._lock = threading.Lock()
        self._digests: dict[str, str] | None = None
        self.progress: Progress | None = None

    def pending(self, snapshot: Snapshot) -> list[Known]:
        """The files of a snapshot whose facts are still to come."""
        digests = self._known()
        tables = languages()
        return [
            known
            for known in snapshot.texts
            if digests.get(known.path) != known.digest and tables.of(known.path, _start(snapshot, known)) is not None
        ]

    def follow(self, snapshot: Snapshot, *, newer: Callable[[], bool]) -> bool:
        """Parse what changed and forget what went; stops early, with False, when there is a newer snapshot."""
        with self._lock:
            digests = self._known()
            gone = [path for path in digests if path not in snapshot.files or snapshot.files[path].skipped is not None]
            pending = self.pending(snapshot)
            if gone:
                self.facts.put((), removed=gone, epoch=snapshot.epoch)
                for path in gone:
                    del digests[path]
            started, done, size = time.monotonic(), 0, 0
            total = sum(known.length for known in pending)
            for files in self._parsed(snapshot, pending):
                self.facts.put(files, epoch=snapshot.epoch)
                digests |= {one.path: one.digest for one in files}
                done += len(files)
                size += sum(snapshot.files[one.path].length for one in files)
                self.progress = Progress(
                    files=done,
                    files_total=len(pending),
                    bytes=size,
                    bytes_total=total,
                    sec=time.monotonic() - started,
                )
                self._told(self.progress)
                if newer():
                    return False
            self.progress = None
            return not newer()

    def close(self) -> None:
        """End the workers and close the store."""
        self._parsers.close()
        with self._lock:
            self.facts.close()

    def _parsed(self, snapshot: Snapshot, pending: Sequence[Known]) -> Iterator[list[FileParsed]]:
        """The pending files with their facts, in groups worth a transaction."""
        tables = languages()
        chosen = {key: tables.of(known.path, _start(snapshot, known)) for key, known in enumerate(pending)}
        sources = [
            Source(
                key=key,
                name=os.fsencode(pending[key].path).decode("latin-1"),
                language=language.name,
                offset=pending[key].offset,
                length=pending[key].length,
            )
            for key, language in chosen.items()
            if language is not None
        ]
        group: list[FileParsed] = []
        size = 0
        for batch in self._parsers.parse(snapshot.content_file, sources):
            for parsed in batch:
                language, known = chosen[parsed.key], pending[parsed.key]
                assert language is not None
                group.append(
                    FileParsed(
                        path=known.path,
                        digest=known.digest,
                        language=language.name,
                        parsed=parsed,
                    )
                )
                size += known.length
            if size >= _COMMIT_BYTES:
                yield group
                group, size = [], 0
        if group:
            yield group

    def _known(self) -> dict[str, str]:
        if self._digests is None:
            self._digests = self.facts.digests()
        return self._digests


def _start(snapshot: Snapshot, known: Known) -> bytes:
    return bytes(snapshot.content[known.offset : known.offset + min(known.length, 80)])
