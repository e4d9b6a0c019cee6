"""The first files of a first build: they are parsed while the others are still being read."""

import os
import threading
from collections.abc import Iterable, Sequence

from codeplane.code.languages.language import Language
from codeplane.code.languages.registry import languages
from codeplane.index.content import ContentFile
from codeplane.index.parse_worker import Source
from codeplane.index.parser_pool import Parsers, Parsing
from codeplane.index.snapshot import Known, Snapshot

# Handed over in such groups, and no more in all: what was parsed waits for somebody to take it.
_GROUP_BYTES = 1024 * 1024
_MOST_BYTES = 2 * 1024 * 1024
# As much as one process has parsed by the time that others have started.
_FEW_BYTES = 64 * 1024


class Early:
    """Parses what it sees being read, up to a limit; whoever follows the snapshot goes on with it."""

    def __init__(self, parsers: Parsers) -> None:
        self._parsers = parsers
        # Files are read in one thread and followed in another.
        self._lock = threading.RLock()
        self._content: ContentFile | None = None
        self._begun: list[Known] = []
        self._group: list[Known] = []
        self._size = self._grouped = 0
        self._parsing: Parsing | None = None
        self._all_started = False

    def saw(self, content: ContentFile, known: Known) -> None:
        """A file was read into the content, whose facts nobody has."""
        with self._lock:
            self._take(content, known)

    def _take(self, content: ContentFile, known: Known) -> None:
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
            spoken = [languages().of(one.path) for one in self._group]
            sources = sources_of(self._group, spoken, first=len(self._begun))
            self._parsing = self._parsers.begin(content.path, sources, after=self._parsing, more=True)
            self._begun += self._group
            self._size += self._grouped
            self._group, self._grouped = [], 0

    def taken(self, snapshot: Snapshot) -> tuple[Sequence[Known], Parsing | None]:
        """The files whose parsing has begun, by their keys, if they are those of the snapshot; once."""
        with self._lock:
            return self._given(snapshot)

    def _given(self, snapshot: Snapshot) -> tuple[Sequence[Known], Parsing | None]:
        content, begun, parsing = self._content, self._begun, self._parsing
        same = content is not None and content.path == snapshot.content_file
        if not same or any(snapshot.files.get(known.path) is not known for known in begun):
            self.close()
            return (), None
        self._forget()
        return begun, parsing

    def close(self) -> None:
        """Give up what was begun."""
        with self._lock:
            if self._parsing is not None:
                self._parsing.close()
            self._forget()

    def _forget(self) -> None:
        self._content, self._parsing = None, None
        self._begun, self._group = [], []
        self._size = self._grouped = 0


def sources_of(files: Iterable[Known], spoken: Iterable[Language | None], *, first: int = 0) -> list[Source]:
    """Files with a language as workers are asked for them, by their number."""
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
