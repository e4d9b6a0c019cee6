"""Bringing what is derived from the text into step with it: facts, full text, later vectors."""

import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import msgspec

from codeplane.code.facts.sound import fits
from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.code.model import unpacked
from codeplane.index import definitions
from codeplane.index.archive import Packed
from codeplane.index.content import ContentFile
from codeplane.index.early_parsing import Early, sources_of
from codeplane.index.fact_store import FactStore, FileParsed
from codeplane.index.fulltext import Document, FullText
from codeplane.index.name_postings import packed_keys
from codeplane.index.parse_worker import MAX_FED, Parsed, Source, problem_of, rows_of
from codeplane.index.parser_pool import Parsers
from codeplane.index.snapshot import Known, Snapshot
from codeplane.index.words import Vocabulary

_COMMIT_BYTES = 4 * 1024 * 1024
_COMMIT_SEC = 3.0
_MAX_UNPACKED = 64 * 1024 * 1024
_MAX_DATA_FED = 32 * 1024
_PROSE = (".txt", ".rst", ".adoc", ".org", ".tex")
_MANY = 200
_DELETED_SHARE = 4
_DELETED_LEAST = 2000
_WORN_LEAST = 20
_SMALL = 3000
# What a file costs whatever its size, as bytes that would take as long; measured on 3,249 files of 30 MB.
_FILE_BYTES = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a pass has come."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    sec: float
    throttled: bool = False

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.sec if self.sec > 0 else 0.0

    @property
    def share(self) -> float:
        """How much of the work is done: the largest files come first, and each costs something beside its bytes."""
        total = self.bytes_total + self.files_total * _FILE_BYTES
        return (self.bytes + self.files * _FILE_BYTES) / total if total else 1.0

    @property
    def eta_sec(self) -> float | None:
        """How much longer, at the pace so far."""
        return self.sec * (1 - self.share) / self.share if self.share else None


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
        # What the full text was given and has not committed.
        self._uncommitted: _Uncommitted | None = None
        # The files of the snapshot that everything speaks of, once all of it was followed.
        self._at: Mapping[str, Known] | None = None
        # What passes that were overtaken since have looked at: some of it was taken in, some not.
        self._overtaken: frozenset[str] = frozenset()
        self._early = Early(parsers)
        # Somebody brings facts: a pass that makes the same ones leaves off, and goes on with what is missing then.
        self.adopting = threading.Event()
        self.progress: Progress | None = None

    def pending(self, snapshot: Snapshot) -> list[Known]:
        """The files of a snapshot whose facts are still to come."""
        return self._pending(snapshot, snapshot.texts)

    def warm(self) -> None:
        """Prepare for a first pass, if none was made yet; for more than a few files, more is prepared as they come."""
        with self._lock:
            if not self._known():
                self.parsers.warm(one=True)

    def saw(self, content: ContentFile, known: Known) -> None:
        """A file was read for a snapshot to come; where no facts are there yet, it may be parsed at once."""
        # Looked at without the lock: a pass that goes on elsewhere has them by then, or makes them again.
        if self._digests == {}:
            self._early.saw(content, known)

    @property
    def is_text_behind(self) -> bool:
        """Whether the full text has something to commit."""
        return self._uncommitted is not None

    def commit_text(self) -> None:
        """Commit what the full text was given and has not committed."""
        with self._lock, self._forgetting():
            self._commit()

    def follow(
        self,
        snapshot: Snapshot,
        *,
        newer: Callable[[], bool],
        parsed: Callable[[], None] = lambda: None,
        commits: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Parse what changed and forget what went; stops early, with False, when there is a newer snapshot.

        `parsed` is called once the facts are all there: those who need no more need not wait for the full text, which
        takes longer to commit than all before it. Unless it `commits`, that is left to `commit_text`.
        """
        with self._lock, self._forgetting():
            digests = self._known()
            # Since a whole pass only what is new can be behind: to look at every file takes longer than an edit.
            touched = _Touched.of(snapshot, self._at, self._overtaken)
            self._overtaken = touched.paths or frozenset()
            gone = [path for path in touched.among(digests) if not _has_text(snapshot, path)]
            if gone:
                self.facts.put((), removed=gone, epoch=snapshot.epoch)
                for path in gone:
                    del digests[path]
            early, begun = self._early.taken(snapshot)
            pending = _Pending.of(snapshot, self._pending(snapshot, touched.texts), early)
            ready = self._ready(pending, first=len(early))
            further = [source for source in pending.sources[len(early) :] if source.key not in ready]
            with closing(self.parsers.begin(snapshot.content_file, further, after=begun)) as parsing:
                feeding = _Feeding.of(snapshot, self._fed, self.facts, self.text, touched)
                # The workers parse by now; what needs no parsing is fed meanwhile.
                waiting = {known.path for known in pending.files}
                unparsed = [known for known in feeding.wanted.values() if known.path not in waiting]
                self.text.add((self._document(snapshot, known) for known in unparsed), fresh=feeding.anew)
                with self.facts.filling(len(pending.files)):
                    asked = partial(self._is_asked, newer)
                    batches = chain([list(ready.values())] if ready else [], parsing)
                    done = self._take(snapshot, pending, batches, feeding, asked) and not newer()
            if done:
                parsed()
                self._fed_all(snapshot, feeding)
                if self._uncommitted is None:
                    self.text.reached(snapshot.epoch)
                elif feeding.anew or commits():
                    self._commit()
                self._at, self._overtaken = snapshot.files, frozenset()
            elif feeding.anew:
                # What was added since the last commit is given up; the next pass begins from it.
                self._forget()
            else:
                # Some of it is added: whatever becomes of these files, the next pass replaces or removes them.
                feeding.fed.update(dict.fromkeys([*feeding.wanted, *feeding.gone], ""))
                self._fed = feeding.fed
            self.progress = None
            return done

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """When something fails, begin again from what the full text has committed."""
        try:
            yield
        except BaseException:
            with suppress(ValueError):
                self._forget()
            raise

    def _forget(self) -> None:
        self._fed, self._at, self._uncommitted = None, None, None
        self.text.release()

    def _ready(self, pending: "_Pending", *, first: int) -> dict[int, Parsed]:
        """What edits had parsed already, by its key."""
        found: dict[int, Parsed] = {}
        for key in range(first, len(pending.files)):
            known = pending.files[key]
            if (parsed := self.parsers.take(known.path, known.digest, pending.languages[key].name)) is not None:
                found[key] = msgspec.structs.replace(parsed, key=key)
        return found

    def _is_asked(self, newer: Callable[[], bool]) -> bool:
        """Whether a pass is to leave off."""
        return newer() or self.adopting.is_set()

    def _pending(self, snapshot: Snapshot, texts: Iterable[Known]) -> list[Known]:
        digests = self._known()
        tables = languages()
        return [
            known
            for known in texts
            if digests.get(known.path) != known.digest and tables.of(known.path, _start(snapshot, known)) is not None
        ]

    def _take(
        self,
        snapshot: Snapshot,
        pending: "_Pending",
        parsing: Iterable[list[Parsed]],
        feeding: "_Feeding",
        asked: Callable[[], bool],
    ) -> bool:
        """Write facts as they come until asked to leave off, and feed the files they are of."""
        started, done, size = time.monotonic(), 0, 0
        total = sum(known.length for known in pending.files)
        for files in pending.grouped(self._fed_at_once(snapshot, pending, parsing, feeding)):
            self.facts.put(files, epoch=snapshot.epoch)
            self._known().update({one.path: one.digest for one in files})
            done += len(files)
            size += sum(snapshot.files[one.path].length for one in files)
            self.progress = Progress(
                files=done,
                files_total=len(pending.files),
                bytes=size,
                bytes_total=total,
                sec=time.monotonic() - started,
                throttled=self.parsers.throttled,
            )
            self._told(self.progress)
            if asked():
                return False
        # What got no answer, because its content was replaced or its worker killed, is asked for again.
        return done == len(pending.files)

    def _fed_at_once(
        self, snapshot: Snapshot, pending: "_Pending", parsing: Iterable[list[Parsed]], feeding: "_Feeding"
    ) -> Iterator[list[Parsed]]:
        """What the workers found, batch by batch, after the full text was fed it: that works on while we wait."""
        for batch in parsing:
            found = [(pending.files[one.key], one) for one in batch]
            documents = (self._document(snapshot, known, one) for known, one in found if known.path in feeding.wanted)
            self.text.add(documents, fresh=feeding.anew)
            yield batch

    def _fed_all(self, snapshot: Snapshot, feeding: "_Feeding") -> None:
        """The full text was given all of a snapshot."""
        added = {known.path: known.digest for known in feeding.wanted.values()}
        for path in feeding.gone:
            feeding.fed.pop(path, None)
        feeding.fed.update(added)
        self._fed = feeding.fed
        before = self._uncommitted if not feeding.anew else None
        if before is None and (added or feeding.gone):
            before = self._uncommitted = _Uncommitted(anew=feeding.anew)
        if before is not None:
            before.add(snapshot.epoch, added, feeding.gone)

    def _commit(self) -> None:
        """The full text commits first, and what it was fed is noted after: a disagreement feeds everything anew."""
        given = self._uncommitted
        if given is None:
            return
        self.text.commit(given.epoch)
        self.facts.feed(given.added, given.gone, epoch=given.epoch, anew=given.anew)
        self._uncommitted = None
        if len(given.added) > _MANY:
            self.text.release()
        if self.text.deleted > max(_DELETED_LEAST, len(self._fed or ()) // _DELETED_SHARE):
            self.text.compact()
        self.text.reached(given.epoch)

    def _document(self, snapshot: Snapshot, known: Known, parsed: Parsed | None = None) -> Document:
        language = languages().of(known.path)
        most = MAX_FED if language is not None or known.path.lower().endswith(_PROSE) else _MAX_DATA_FED
        text = snapshot.text(known, most=most)
        if language is None:
            return Document(path=known.path, text=text, pieces="")
        if parsed is None:
            return Document(path=known.path, text=text, language=language.name, names=self.facts.names_in(known.path))
        return Document(path=known.path, text=text, language=language.name, pieces=parsed.pieces, named=parsed.named)

    def remake(self, why: str) -> None:
        """Throw the facts away and begin anew: they are derived, and these are damaged."""
        with self._lock:
            self.facts.remake(why)
            self._digests, self._fed, self._at, self._uncommitted = None, {}, None, None

    def feed_anew(self) -> None:
        """Have the full text fed from the beginning at the next pass."""
        with self._lock:
            self._fed, self._at = {}, None

    def adopt(self, snapshot: Snapshot, packed: Iterator[Packed]) -> tuple[int, int]:
        """Take over the facts of files that have the very content an archive speaks of: how many, and of how many."""
        self.adopting.set()
        with self._lock:
            self.adopting.clear()
            digests = self._known()
            taken: list[FileParsed] = []
            vocabulary = Vocabulary()
            seen = matching = 0
            for one in packed:
                seen += 1
                path = os.fsdecode(one.path)
                known = snapshot.files.get(path)
                if known is None or known.skipped is not None or known.digest != one.digest:
                    continue
                matching += 1
                found = _adopted(one, known, snapshot, vocabulary) if digests.get(path) != one.digest else None
                taken += [found] if found is not None else []
            if taken:
                self.facts.put(taken, epoch=snapshot.epoch)
                digests |= {one.path: one.digest for one in taken}
            return matching, seen

    def close(self) -> None:
        """End the workers and close the store."""
        self.parsers.close()
        with self._lock:
            self._early.close()
            # What cannot be committed is fed again at the next start.
            with suppress(ValueError, sqlite3.Error):
                self._commit()
            self.text.close()
            self.facts.close()

    def _known(self) -> dict[str, str]:
        if self._digests is None:
            self._digests = self.facts.digests()
        return self._digests


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """Files to parse, as the workers are asked for them."""

    files: Sequence[Known]
    languages: Sequence[Language]
    sources: Sequence[Source]

    @classmethod
    def of(cls, snapshot: Snapshot, files: Sequence[Known], early: Sequence[Known]) -> "_Pending":
        """`early` are those of the files that come first."""
        tables, first = languages(), {known.path for known in early}
        ordered = [*early, *(known for known in files if known.path not in first)]
        spoken = [tables.of(known.path, _start(snapshot, known)) for known in ordered]
        assert None not in spoken
        return cls(
            files=ordered,
            languages=[language for language in spoken if language is not None],
            sources=sources_of(ordered, spoken),
        )

    def grouped(self, parsing: Iterable[list[Parsed]]) -> Iterator[list[FileParsed]]:
        """The files with their facts, in groups worth a transaction."""
        group: list[FileParsed] = []
        size, since = 0, time.monotonic()
        for batch in parsing:
            for parsed in batch:
                known = self.files[parsed.key]
                group.append(
                    FileParsed(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Touched:
    """What may differ from what was followed last: the texts to look at, and the paths of all else, None for all."""

    texts: Sequence[Known]
    paths: frozenset[str] | None

    @classmethod
    def of(cls, snapshot: Snapshot, before: Mapping[str, Known] | None, also: Collection[str]) -> "_Touched":
        if before is None:
            return cls(texts=snapshot.texts, paths=None)
        files = snapshot.files
        changed = {path: known for path, known in files.items() if before.get(path) is not known}
        changed |= {path: files[path] for path in also if path in files}
        paths = frozenset(before.keys() - files.keys()).union(changed, also)
        return cls(texts=[known for known in changed.values() if known.skipped is None], paths=paths)

    def among(self, paths: Collection[str]) -> Iterable[str]:
        """Those of some paths that may be others now."""
        return paths if self.paths is None else [path for path in self.paths if path in paths]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Feeding:
    """What the full text holds, what it is still to be fed, and what it is to forget."""

    fed: dict[str, str]
    wanted: dict[str, Known]
    gone: frozenset[str]
    anew: bool

    @classmethod
    def of(
        cls, snapshot: Snapshot, fed: dict[str, str] | None, facts: FactStore, text: FullText, touched: _Touched
    ) -> "_Feeding":
        known = facts.fed(text.epoch) if fed is None else fed
        # Removed files count in how rare a word is until they are merged away; a small repository is fed anew instead.
        worn = text.deleted > max(_WORN_LEAST, len(known) // _DELETED_SHARE) and len(known) < _SMALL
        known = {} if worn else known
        anew = not known
        gone = frozenset(path for path in touched.among(known) if not _has_text(snapshot, path))
        if anew:
            text.clear()
        text.remove(gone)
        texts = snapshot.texts if anew else touched.texts
        wanted = {one.path: one for one in texts if known.get(one.path) != one.digest}
        return cls(fed=known, wanted=wanted, gone=gone, anew=anew)


@dataclass(slots=True, kw_only=True)
class _Uncommitted:
    """Files that the full text was given or was to forget since its last commit, by the newest epoch."""

    anew: bool
    epoch: int = 0
    added: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def add(self, epoch: int, added: Mapping[str, str], gone: Iterable[str]) -> None:
        """Take on what an epoch changed."""
        self.epoch = epoch
        for path in gone:
            self.added.pop(path, None)
            self.gone.add(path)
        self.added.update(added)
        self.gone.difference_update(added)


def _has_text(snapshot: Snapshot, path: str) -> bool:
    known = snapshot.files.get(path)
    return known is not None and known.skipped is None


def _adopted(one: Packed, known: Known, snapshot: Snapshot, vocabulary: Vocabulary) -> FileParsed | None:
    """What an archive says of a file, as if it had been parsed here; None where that cannot be of this text.

    Only the facts are taken: all that finds them is made of them again.
    """
    language = languages().of(known.path, _start(snapshot, known))
    try:
        facts = unpacked(_inflated(one.facts))
    except (zlib.error, msgspec.MsgspecError, ValueError):
        return None
    if language is None or language.name != facts.language or not fits(facts, known.length):
        return None
    rows = rows_of(language, os.fsencode(known.path).decode("latin-1"), facts)
    if not definitions.may_be_kept(rows):
        return None
    parsed = Parsed(
        key=0,
        facts=one.facts,
        rows=rows,
        names=packed_keys(vocabulary.of(snapshot.text(known))[0]),
        problem=problem_of(facts),
    )
    return FileParsed(path=known.path, digest=known.digest, language=language.name, parsed=parsed)


def _inflated(packed: bytes) -> bytes:
    """What was packed, if it is no more than a file can have said."""
    stream = zlib.decompressobj()
    found = stream.decompress(packed, _MAX_UNPACKED)
    if not stream.eof or stream.unused_data:
        raise ValueError("it is cut off, or unpacks to more than it may")
    return found


def _start(snapshot: Snapshot, known: Known) -> bytes:
    return snapshot.text(known, most=80)
