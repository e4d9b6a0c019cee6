"""The derived index: facts and full text, updated to each published snapshot."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain

import msgspec

from codeplane.code.languages.registry import languages
from codeplane.index.adoption import adopt_facts
from codeplane.index.archive import ArchivedFacts
from codeplane.index.content import ContentFile
from codeplane.index.early_parsing import EarlyParsing
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import Document, FullText
from codeplane.index.parse_plan import ParsePlan, first_bytes
from codeplane.index.parse_worker import MAX_FED, ParseResult
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.index.text_feed import ChangedFiles, PendingCommit, TextFeed, has_text, is_worn
from codeplane.index.update_progress import Progress
from codeplane.index.words import Vocabulary

_MAX_DATA_FED = 32 * 1024
_PROSE = (".txt", ".rst", ".adoc", ".org", ".tex")
_MANY = 200


class DerivedIndex:
    """Facts and full text of the published snapshots; its methods block and run off the event loop."""

    def __init__(
        self, *, facts: FactStore, text: FullText, parsers: ParserPool, on_progress: Callable[[Progress], None]
    ) -> None:
        self.facts = facts
        self.text = text
        self.parsers = parsers
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._digests: dict[str, str] | None = None
        self._fed: dict[str, str] | None = None
        # What the full text was given and has not committed.
        self._uncommitted: PendingCommit | None = None
        # The snapshot that everything speaks of, once all of it was followed.
        self._at: Snapshot | None = None
        # What passes that were overtaken since have looked at: some of it was taken in, some not.
        self._overtaken: frozenset[str] = frozenset()
        self._early = EarlyParsing(parsers)
        # Somebody brings facts: a pass that makes the same ones leaves off, and goes on with what is missing then.
        self.adopting = threading.Event()
        self.progress: Progress | None = None

    def files_without_facts(self, snapshot: Snapshot) -> list[IndexedFile]:
        """The files of a snapshot without facts."""
        return self._files_without_facts(snapshot, snapshot.texts)

    def warm(self) -> None:
        """Start a worker ahead of a first update; more are started as files come."""
        with self._lock:
            if not self._known_digests():
                self.parsers.warm(single=True)

    def saw(self, content: ContentFile, known: IndexedFile) -> None:
        """Note that a file was read; before the first update it may be parsed at once."""
        # Looked at without the lock: a pass that goes on elsewhere has them by then, or makes them again.
        if self._digests == {}:
            self._early.saw(content, known)

    @property
    def is_text_behind(self) -> bool:
        """Whether the full text has uncommitted documents."""
        return self._uncommitted is not None

    def commit_text(self) -> None:
        """Commit the pending documents of the full text."""
        with self._lock, self._forget_on_failure():
            self._commit(self._at)

    def update(
        self,
        snapshot: Snapshot,
        *,
        newer: Callable[[], bool],
        parsed: Callable[[], None] = lambda: None,
        commits: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Parse changed files and drop removed ones; return False if stopped by a newer snapshot.

        `parsed` is called once the facts are all there: callers that need no more do not wait for the full text, which
        takes longer to commit than all before it. Unless it `commits`, that is left to `commit_text`.
        """
        with self._lock, self._forget_on_failure():
            digests = self._known_digests()
            # Since a whole pass only what is new can be behind: to look at every file takes longer than an edit.
            touched = ChangedFiles.of(snapshot, self._at, self._overtaken)
            self._overtaken = touched.paths or frozenset()
            gone = [path for path in touched.among(digests) if not has_text(snapshot, path)]
            if gone:
                self.facts.put((), removed=gone, epoch=snapshot.epoch)
                for path in gone:
                    del digests[path]
            early, early_paths = self._early.take(snapshot)
            pending = ParsePlan.of(snapshot, self._files_without_facts(snapshot, touched.texts), early)
            ready = self._early_results(pending, first=len(early))
            further = [source for source in pending.sources[len(early) :] if source.key not in ready]
            with closing(self.parsers.begin(snapshot.content_file, further, after=early_paths)) as parsing:
                feeding = TextFeed.of(snapshot, self._fed, self.facts, self.text, touched)
                # The workers parse by now; what needs no parsing is fed meanwhile.
                waiting = {known.path for known in pending.files}
                unparsed = [known for known in feeding.wanted.values() if known.path not in waiting]
                self.text.add((self._document(snapshot, known) for known in unparsed), fresh=feeding.anew)
                with self.facts.bulk_load(len(pending.files)):
                    asked = partial(self._is_asked, newer)
                    batches = chain([list(ready.values())] if ready else [], parsing)
                    done = self._take(snapshot, pending, batches, feeding, asked) and not newer()
            if done:
                parsed()
                self._fed_all(snapshot, feeding)
                if self._uncommitted is None:
                    self.text.mark_epoch(snapshot.epoch)
                elif feeding.anew or commits():
                    self._commit(snapshot)
                self._at, self._overtaken = snapshot, frozenset()
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
    def _forget_on_failure(self) -> Iterator[None]:
        """On failure, fall back to what the full text has committed."""
        try:
            yield
        except BaseException:
            with suppress(ValueError):
                self._forget()
            raise

    def _forget(self) -> None:
        self._fed, self._at, self._uncommitted = None, None, None
        self.text.release()

    def _early_results(self, pending: "ParsePlan", *, first: int) -> dict[int, ParseResult]:
        """Results that edits had parsed already, by key."""
        results: dict[int, ParseResult] = {}
        for key in range(first, len(pending.files)):
            known = pending.files[key]
            if (parsed := self.parsers.take(known.path, known.digest, pending.languages[key].name)) is not None:
                results[key] = msgspec.structs.replace(parsed, key=key)
        return results

    def _is_asked(self, newer: Callable[[], bool]) -> bool:
        """Whether an update should stop."""
        return newer() or self.adopting.is_set()

    def _files_without_facts(self, snapshot: Snapshot, texts: Iterable[IndexedFile]) -> list[IndexedFile]:
        digests = self._known_digests()
        tables = languages()
        return [
            known
            for known in texts
            if digests.get(known.path) != known.digest
            and tables.of(known.path, first_bytes(snapshot, known)) is not None
        ]

    def _take(
        self,
        snapshot: Snapshot,
        pending: "ParsePlan",
        parsing: Iterable[list[ParseResult]],
        feeding: "TextFeed",
        asked: Callable[[], bool],
    ) -> bool:
        """Store facts as they arrive until asked to stop, and feed their files to the full text."""
        started, done, size = time.monotonic(), 0, 0
        total = sum(known.length for known in pending.files)
        for files in pending.group(self._fed_at_once(snapshot, pending, parsing, feeding)):
            self.facts.put(files, epoch=snapshot.epoch)
            self._known_digests().update({file.path: file.digest for file in files})
            done += len(files)
            size += sum(snapshot.files[file.path].length for file in files)
            self.progress = Progress(
                files=done,
                files_total=len(pending.files),
                bytes=size,
                bytes_total=total,
                sec=time.monotonic() - started,
                throttled=self.parsers.throttled,
            )
            self._on_progress(self.progress)
            if asked():
                return False
        # What got no answer, because its content was replaced or its worker killed, is asked for again.
        return done == len(pending.files)

    def _fed_at_once(
        self, snapshot: Snapshot, pending: "ParsePlan", parsing: Iterable[list[ParseResult]], feeding: "TextFeed"
    ) -> Iterator[list[ParseResult]]:
        """Yield the workers' batches after feeding them to the full text, which works on meanwhile."""
        for batch in parsing:
            parsed = [(pending.files[result.key], result) for result in batch]
            documents = (
                self._document(snapshot, known, result) for known, result in parsed if known.path in feeding.wanted
            )
            self.text.add(documents, fresh=feeding.anew)
            yield batch

    def _fed_all(self, snapshot: Snapshot, feeding: "TextFeed") -> None:
        """Note that the full text was given all of a snapshot."""
        added = {known.path: known.digest for known in feeding.wanted.values()}
        for path in feeding.gone:
            feeding.fed.pop(path, None)
        feeding.fed.update(added)
        self._fed = feeding.fed
        before = self._uncommitted if not feeding.anew else None
        if before is None and (added or feeding.gone):
            before = self._uncommitted = PendingCommit(anew=feeding.anew)
        if before is not None:
            before.add(snapshot.epoch, added, feeding.gone)

    def _commit(self, snapshot: Snapshot | None) -> None:
        """Commit the full text, then record what it contains; if they disagree, everything is fed again.

        Where much of the snapshot was replaced, all of it is fed again, so that nothing that is gone counts in scores.
        """
        given = self._uncommitted
        if given is None:
            return
        is_anew = snapshot is not None and snapshot.epoch == given.epoch and is_worn(self.text, len(snapshot.files))
        if snapshot is not None and is_anew:
            self.text.clear()
            self.text.add((self._document(snapshot, known) for known in snapshot.texts), fresh=True)
        self.text.commit(given.epoch)
        self.facts.feed(given.added, given.gone, epoch=given.epoch, anew=given.anew)
        self._uncommitted = None
        if is_anew or len(given.added) > _MANY:
            self.text.release()
        self.text.mark_epoch(given.epoch)

    def _document(self, snapshot: Snapshot, known: IndexedFile, parsed: ParseResult | None = None) -> Document:
        language = languages().of(known.path)
        most = MAX_FED if language is not None or known.path.lower().endswith(_PROSE) else _MAX_DATA_FED
        text = snapshot.text(known, most=most)
        if language is None:
            return Document(path=known.path, text=text, pieces="")
        if parsed is None:
            return Document(path=known.path, text=text, language=language.name, names=self.facts.names_in(known.path))
        return Document(path=known.path, text=text, language=language.name, pieces=parsed.pieces, named=parsed.named)

    def remake(self, why: str) -> None:
        """Delete the damaged facts and start over."""
        with self._lock:
            self.facts.remake(why)
            self._digests, self._fed, self._at, self._uncommitted = None, {}, None, None

    def request_full_feed(self) -> None:
        """Feed the full text from scratch at the next update."""
        with self._lock:
            self._fed, self._at = {}, None

    def adopt(self, snapshot: Snapshot, packed: Iterator[ArchivedFacts]) -> tuple[int, int]:
        """Adopt archived facts of files with equal content; return how many matched, and of how many."""
        self.adopting.set()
        with self._lock:
            self.adopting.clear()
            digests = self._known_digests()
            taken: list[ParsedFile] = []
            vocabulary = Vocabulary()
            seen = matching = 0
            for archived in packed:
                seen += 1
                path = os.fsdecode(archived.path)
                known = snapshot.files.get(path)
                if known is None or known.skipped is not None or known.digest != archived.digest:
                    continue
                matching += 1
                adopted = (
                    adopt_facts(archived, known, snapshot, vocabulary) if digests.get(path) != archived.digest else None
                )
                taken += [adopted] if adopted is not None else []
            if taken:
                self.facts.put(taken, epoch=snapshot.epoch)
                digests |= {archived.path: archived.digest for archived in taken}
            return matching, seen

    def close(self) -> None:
        """Stop the workers and close the stores."""
        self.parsers.close()
        with self._lock:
            self._early.close()
            # What cannot be committed is fed again at the next start.
            with suppress(ValueError, sqlite3.Error):
                self._commit(None)
            self.text.close()
            self.facts.close()

    def _known_digests(self) -> dict[str, str]:
        if self._digests is None:
            self._digests = self.facts.digests()
        return self._digests
