"""The vectors of a workspace, filled in the background."""

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from codeplane.code.languages.registry import languages
from codeplane.code.model import Facts
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.errors import CodePlaneError
from codeplane.vectors.chunks import REVISION, Chunk, chunk
from codeplane.vectors.embedder import Embedder
from codeplane.vectors.store import Hit, VectorStore

_PROSE = (".txt", ".rst", ".adoc", ".org", ".tex")
_MAX_FILE = 1024 * 1024
_COMMIT_CHUNKS = 2000
_NICE = 10
_MANY = 100
_SMALL = 1000


class Neighbour(NamedTuple):
    """A chunk of a file near to a query."""

    path: str
    hit: Hit

    @property
    def score(self) -> float:
        """The cosine similarity."""
        return self.hit.score


class FactLookup(Protocol):
    """Looks up a file's facts; `keep` caches them."""

    def __call__(self, path: str, digest: str, *, keep: bool) -> Facts | None: ...


class VectorIndex:
    """The vectors of a workspace; the model is loaded on first use."""

    def __init__(
        self,
        folder: Path,
        *,
        embedder: Callable[[], Embedder],
        facts: FactLookup,
    ) -> None:
        self._folder = folder
        self._make = embedder
        self._facts = facts
        self._opening = threading.Lock()
        self._opened: tuple[Embedder, VectorStore] | None = None
        self._live: tuple[Mapping[str, IndexedFile], tuple[str, ...], dict[str, list[IndexedFile]]] | None = None
        self.failure: str | None = None
        self.waiting = 0

    @property
    def model(self) -> str | None:
        """The model's name, once loaded."""
        return self._opened[0].name if self._opened else None

    @property
    def remade(self) -> str | None:
        """Why the vectors were recreated, if they were."""
        return self._opened[1].remade if self._opened else None

    def fill(self, snapshot: Snapshot, *, stop: Callable[[], bool]) -> None:
        """Embed files without vectors; `stop` ends it early and keeps what is committed."""
        embedder, store = self._open()
        digests, files = self._of(snapshot)
        there = store.has(digests)
        wanted = [files[digest][0] for digest in digests if digest not in there]
        self.waiting = len(wanted)
        if len(wanted) > _MANY:
            # Much work runs at a lower priority than queries, where threads have priorities. A few files do not:
            # on a busy machine queries would wait for a thread that holds the interpreter's lock and is not scheduled.
            with contextlib.suppress(OSError, AttributeError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        added = 0
        for known in wanted:
            if stop():
                break
            text = snapshot.text(known)
            chunks = self._chunks(known, text)
            store.add(known.digest, chunks, embedder.embed([_chunk_text(text, chunk) for chunk in chunks]))
            self.waiting -= 1
            added += len(chunks)
            if added >= _COMMIT_CHUNKS:
                store.commit()
                added = 0
        store.commit()
        # Also where edits come so fast that no filling ends, but not while most of a new state is still to be made.
        if self.waiting <= len(digests) // 2 and store.rows > 2 * max(_SMALL, store.rows_of(digests)):
            store.compact(digests)

    def find_nearest(
        self, snapshot: Snapshot, text: str, *, keep: Callable[[str], bool] | None, limit: int
    ) -> list[Neighbour]:
        """Find the chunks nearest to a text, best first."""
        embedder, store = self._open()
        digests, files = self._of(snapshot)
        if keep is not None:
            files = {
                digest: kept for digest in digests if (kept := [file for file in files[digest] if keep(file.path)])
            }
            digests = tuple(files)
        (query,) = embedder.embed([text])
        hits = [hit for hit in store.search(query, digests, limit) if hit.score > 0]
        return [Neighbour(file.path, hit) for hit in hits for file in files[hit.digest]][:limit]

    def chunks_of(self, some: Sequence[Neighbour]) -> list[Chunk | None]:
        """The chunks of neighbours; None where vectors were dropped meanwhile."""
        return self._open()[1].chunks([near.hit for near in some])

    def vectors_of(self, some: Sequence[Neighbour]) -> NDArray[np.float32]:
        """The vectors of neighbours; zeros where they were dropped meanwhile."""
        return self._open()[1].vectors([near.hit for near in some])

    def count_missing(self, snapshot: Snapshot) -> int:
        """The number of files without vectors."""
        _, store = self._open()
        digests, _ = self._of(snapshot)
        return store.count_missing(digests)

    def waiting_for(self, snapshot: Snapshot) -> int:
        """The same, also before a filling has begun, and without loading the model."""
        opened = self._opened
        digests, _ = self._of(snapshot)
        return len(digests) if opened is None else opened[1].count_missing(digests)

    def copy_to(self, folder: Path) -> str | None:
        """Copy the vectors to a folder and return the model's name, or None if no model is loaded."""
        if self._opened is None:
            return None
        embedder, store = self._opened
        store.copy_to(folder)
        return embedder.name

    def take_from(self, folder: Path, model: str, snapshot: Snapshot) -> int:
        """Import vectors of the same model for contents in the snapshot, and return how many contents."""
        embedder, store = self._open()
        if model != embedder.name:
            return 0
        other = VectorStore(folder, model=f"{embedder.name} chunks{REVISION}", dimensions=embedder.dimensions)
        try:
            return store.take_from(other, self._of(snapshot)[0])
        finally:
            other.close()

    def close(self) -> None:
        """Close the store."""
        with self._opening:
            if self._opened is not None:
                self._opened[1].close()
                self._opened = None

    def _open(self) -> tuple[Embedder, VectorStore]:
        with self._opening:
            if self._opened is None:
                try:
                    embedder = self._make()
                except CodePlaneError as error:
                    self.failure = str(error)
                    raise
                model = f"{embedder.name} chunks{REVISION}"
                store = VectorStore(self._folder, model=model, dimensions=embedder.dimensions)
                self._opened = (embedder, store)
                self.failure = None
            return self._opened

    def _of(self, snapshot: Snapshot) -> tuple[tuple[str, ...], dict[str, list[IndexedFile]]]:
        """The digests worth a vector and the files with each; cached while the files are the same."""
        held = self._live
        if held is None or held[0] is not snapshot.files:
            files: dict[str, list[IndexedFile]] = {}
            for known in snapshot.texts:
                if 0 < known.length <= _MAX_FILE and _speaks(known.path):
                    files.setdefault(known.digest, []).append(known)
            held = self._live = (snapshot.files, tuple(files), files)
        return held[1], held[2]

    def _chunks(self, known: IndexedFile, text: bytes) -> list[Chunk]:
        facts = self._facts(known.path, known.digest, keep=False)
        bounds = [(definition.start, definition.end) for definition in facts.definitions] if facts else []
        return chunk(text, [(start, end) for start, end in bounds if 0 <= start <= end <= len(text)])


@lru_cache(maxsize=65_536)
def _speaks(path: str) -> bool:
    """Whether a file is code or prose rather than data."""
    language = languages().of(path)
    return (language is not None and language.kind not in ("data", "markup")) or path.lower().endswith(_PROSE)


def _chunk_text(text: bytes, chunk: Chunk) -> str:
    return text[chunk.start : chunk.end].decode("utf-8", "replace")
