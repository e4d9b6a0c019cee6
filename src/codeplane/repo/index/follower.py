"""Bringing what is derived from the text into step with it: facts, full text, later vectors."""

import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from codeplane.repo.facts.language import languages
from codeplane.repo.facts.model import unpacked
from codeplane.repo.index.archive import Packed
from codeplane.repo.index.facts import FactStore, FileParsed
from codeplane.repo.index.fulltext import Document, FullText
from codeplane.repo.index.parsers import Parsers
from codeplane.repo.index.snapshot import Known, Snapshot
from codeplane.repo.index.worker import Parsed, Row, Source

_COMMIT_BYTES = 12 * 1024 * 1024
# Of a larger file the beginning is ranked; exact search looks at all of it.
_MAX_FED = 1024 * 1024
_MANY = 200
_DELETED_SHARE = 4
_DELETED_LEAST = 2000


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

    def __init__(self, *, facts: FactStore, text: FullText, parsers: Parsers, told: Callable[[Progress], None]) -> None:
        self.facts = facts
        self.text = text
        self.parsers = parsers
        self._told = told
        self._lock = threading.Lock()
        self._digests: dict[str, str] | None = None
        self._fed: dict[str, str] | None = None
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
            if not self._follow_facts(snapshot, newer):
                return False
            return self._feed(snapshot, newer)

    def _follow_facts(self, snapshot: Snapshot, newer: Callable[[], bool]) -> bool:
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

    def _feed(self, snapshot: Snapshot, newer: Callable[[], bool]) -> bool:
        """Bring the full text into step; it commits first, and what it was fed is noted after."""
        anew = self._fed is None and not self.facts.fed(self.text.epoch)
        if self._fed is None:
            self._fed = self.facts.fed(self.text.epoch)
        gone = [path for path in self._fed if path not in snapshot.files or snapshot.files[path].skipped is not None]
        wanted = [known for known in snapshot.texts if self._fed.get(known.path) != known.digest]
        if not gone and not wanted:
            return not newer()
        if anew:
            self.text.clear()
        self.text.remove(gone)
        for known in wanted:
            if newer() and not anew:
                # What was added since the last commit is given up; the next pass begins from it.
                self.text.release()
                return False
            self.text.add([self._document(snapshot, known)])
        self.text.commit(snapshot.epoch)
        added = {known.path: known.digest for known in wanted}
        self.facts.feed(added, gone, epoch=snapshot.epoch, anew=anew)
        for path in gone:
            del self._fed[path]
        self._fed |= added
        if len(wanted) > _MANY:
            self.text.release()
        if self.text.deleted > max(_DELETED_LEAST, len(self._fed) // _DELETED_SHARE):
            self.text.compact()
        return not newer()

    def _document(self, snapshot: Snapshot, known: Known) -> Document:
        language = languages().of(known.path)
        names = self.facts.names_in(known.path) if language is not None else []
        return Document(
            path=known.path,
            text=bytes(snapshot.content[known.offset : known.offset + min(known.length, _MAX_FED)]),
            names=names,
            language=language.name if language is not None else "",
        )

    def adopt(self, snapshot: Snapshot, packed: Iterator[Packed]) -> tuple[int, int]:
        """Take over the facts of files that have the very content an archive speaks of: how many, and of how many."""
        with self._lock:
            digests = self._known()
            taken: list[FileParsed] = []
            seen = matching = 0
            for one in packed:
                seen += 1
                path = os.fsdecode(one.path)
                known = snapshot.files.get(path)
                if known is None or known.skipped is not None or known.digest != one.digest:
                    continue
                matching += 1
                if digests.get(path) != one.digest and _is_sound(one):
                    taken.append(_parsed(path, one))
            if taken:
                self.facts.put(taken, epoch=snapshot.epoch)
                digests |= {one.path: one.digest for one in taken}
            return matching, seen

    def close(self) -> None:
        """End the workers and close the store."""
        self.parsers.close()
        with self._lock:
            self.text.close()
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
        for batch in self.parsers.parse(snapshot.content_file, sources):
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


def _is_sound(one: Packed) -> bool:
    """Whether what an archive says of a file can be unpacked."""
    try:
        if one.facts:
            unpacked(zlib.decompress(one.facts))
        zlib.decompress(one.names).decode()
    except (zlib.error, msgspec.MsgspecError, ValueError):
        return False
    return languages().by_name.get(one.language) is not None


def _parsed(path: str, one: Packed) -> FileParsed:
    rows = tuple(
        Row(uid=bytes(uid), name=name, kind=kind, path=lexical, signature=signature, line=line)
        for uid, name, kind, lexical, signature, line in one.definitions
    )
    names = tuple(filter(None, zlib.decompress(one.names).decode().split("\n")))
    parsed = Parsed(key=0, facts=one.facts, rows=rows, names=names, problem=one.problem)
    return FileParsed(path=path, digest=one.digest, language=one.language, parsed=parsed)


def _start(snapshot: Snapshot, known: Known) -> bytes:
    return bytes(snapshot.content[known.offset : known.offset + min(known.length, 80)])
