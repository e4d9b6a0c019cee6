"""Parsing of the first files of a first build while the others are still being read."""

import os
import threading
from collections.abc import Iterable, Sequence

from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.index.content import ContentFile
from codeplane.index.parse_job import ParseJob
from codeplane.index.parse_worker import Source
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import IndexedFile, Snapshot

# Handed over in such groups, and no more in all: what was parsed waits for somebody to take it.
_GROUP_BYTES = 1024 * 1024
_MOST_BYTES = 2 * 1024 * 1024
# As much as one process has parsed by the time that others have started.
_FEW_BYTES = 64 * 1024


class EarlyParsing:
    """Parses files as they are read, up to a limit; the first update of the derived index takes over the job."""

    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers
        # Files are read in one thread and followed in another.
        self._lock = threading.RLock()
        self._content: ContentFile | None = None
        self._started: list[IndexedFile] = []
        self._group: list[IndexedFile] = []
        self._size = self._grouped = 0
        self._parsing: ParseJob | None = None
        self._all_started = False

    def saw(self, content: ContentFile, known: IndexedFile) -> None:
        """Note that a file without facts was read into the content."""
        with self._lock:
            self._take(content, known)

    def _take(self, content: ContentFile, known: IndexedFile) -> None:
        if content is not self._content:
            self.close()
            self._content = content
        if self._size >= _MOST_BYTES or known.skipped is not None or languages().of(known.path) is None:
            return
        self._group.append(known)
        self._grouped += known.length
        if not self._all_started and self._grouped >= _FEW_BYTES:
            self._all_started = True
            self._parsers.warm()
        if self._grouped >= _GROUP_BYTES:
            content.flush()
            spoken = [languages().of(file.path) for file in self._group]
            sources = sources_of(self._group, spoken, first=len(self._started))
            self._parsing = self._parsers.begin(content.path, sources, after=self._parsing, more=True)
            self._started += self._group
            self._size += self._grouped
            self._group, self._grouped = [], 0

    def take(self, snapshot: Snapshot) -> tuple[Sequence[IndexedFile], ParseJob | None]:
        """Hand over the files being parsed and their job, if they belong to the snapshot."""
        with self._lock:
            return self._take_job(snapshot)

    def _take_job(self, snapshot: Snapshot) -> tuple[Sequence[IndexedFile], ParseJob | None]:
        content, started, parsing = self._content, self._started, self._parsing
        same = content is not None and content.path == snapshot.content_file
        if not same or any(snapshot.files.get(known.path) is not known for known in started):
            self.close()
            return (), None
        self._forget()
        return started, parsing

    def close(self) -> None:
        """Cancel the job."""
        with self._lock:
            if self._parsing is not None:
                self._parsing.close()
            self._forget()

    def _forget(self) -> None:
        self._content, self._parsing = None, None
        self._started, self._group = [], []
        self._size = self._grouped = 0


def sources_of(files: Iterable[IndexedFile], spoken: Iterable[Language | None], *, first: int = 0) -> list[Source]:
    """The parse sources of files with a language; keys are their positions."""
    return [
        Source(
            key=key,
            name=os.fsencode(known.path).decode("latin-1"),
            language=language.name,
            offset=known.offset,
            length=known.length,
        )
        for key, (known, language) in enumerate(zip(files, spoken, strict=True), start=first)
        if language is not None
    ]
