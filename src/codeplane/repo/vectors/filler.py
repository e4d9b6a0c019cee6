"""Giving every file its vectors, behind everything else: the newest text first asks, the rest fills in."""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeplane.kernel.errors import CodePlaneError
from codeplane.repo.facts.language import languages
from codeplane.repo.facts.model import Facts
from codeplane.repo.index.snapshot import Known, Snapshot
from codeplane.repo.vectors.chunks import REVISION, Chunk, chunk
from codeplane.repo.vectors.embedder import Embedder
from codeplane.repo.vectors.store import VectorStore

_PROSE = (".txt", ".rst", ".adoc", ".org", ".tex")
_DATA = frozenset({"json", "yaml", "toml", "css", "html"})
_MAX_FILE = 1024 * 1024
_COMMIT_CHUNKS = 2000
_NICE = 10
_SMALL = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A chunk of a file, and how near to the question it is."""

    path: str
    chunk: Chunk
    score: float


class FactsOf(Protocol):
    """Where the facts of a file are asked for; `keep` is for who will ask again."""

    def __call__(self, path: str, digest: str, *, keep: bool) -> Facts | None: ...


class Filler:
    """The vectors of a workspace; the model is loaded when first needed."""

    def __init__(
        self,
        folder: Path,
        *,
        embedder: Callable[[], Embedder],
        facts: FactsOf,
    ) -> None:
        self._folder = folder
        self._make = embedder
        self._facts = facts
        self._opening = threading.Lock()
        self._opened: tuple[Embedder, VectorStore] | None = None
        self._live: tuple[Snapshot, tuple[str, ...], dict[str, list[Known]]] | None = None
        self.failure: str | None = None
        self.waiting = 0

    @property
    def model(self) -> str | None:
        """The model that speaks, once it is loaded."""
        return self._opened[0].name if self._opened else None

    @property
    def remade(self) -> str | None:
        """Why vectors that were there are made again, if they are."""
        return self._opened[1].remade if self._opened else None

    def fill(self, snapshot: Snapshot, *, stop: Callable[[], bool]) -> None:
        """Embed what has no vectors yet; leaves early, with what it has committed, when told to stop."""
        embedder, store = self._open()
        # This thread works behind those that answer; where threads have no priorities, it works beside them.
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        _, digests, files = self._of(snapshot)
        wanted = [files[digest][0] for digest in digests if digest not in store.has((digest,))]
        self.waiting = len(wanted)
        added = 0
        for known in wanted:
            if stop():
                break
            text = snapshot.text(known)
            chunks = self._chunks(known, text)
            store.add(known.digest, chunks, embedder.embed([_worded(text, one) for one in chunks]))
            self.waiting -= 1
            added += len(chunks)
            if added >= _COMMIT_CHUNKS:
                store.commit()
                added = 0
        store.commit()
        if not self.waiting and store.rows > 2 * max(_SMALL, store.rows_of(digests)):
            store.compact(digests)

    def near(self, snapshot: Snapshot, text: str, *, keep: Callable[[str], bool] | None, limit: int) -> list[Near]:
        """The chunks nearest to a text, best first."""
        embedder, store = self._open()
        _, digests, files = self._of(snapshot)
        if keep is not None:
            files = {digest: kept for digest in digests if (kept := [one for one in files[digest] if keep(one.path)])}
            digests = tuple(files)
        (query,) = embedder.embed([text])
        hits = [hit for hit in store.search(query, digests, limit) if hit.score > 0]
        return [
            Near(path=one.path, chunk=here, score=hit.score)
            for hit, here in zip(hits, store.chunks(hits), strict=True)
            if here is not None
            for one in files[hit.digest]
        ][:limit]

    def missing(self, snapshot: Snapshot) -> int:
        """How many files still have no vectors."""
        _, store = self._open()
        _, digests, _ = self._of(snapshot)
        return store.lacking(digests)

    def copy_to(self, folder: Path) -> str | None:
        """Write a copy of the vectors and name the model; nothing while no model was needed yet."""
        if self._opened is None:
            return None
        embedder, store = self._opened
        store.copy_to(folder)
        return embedder.name

    def take_from(self, folder: Path, model: str, snapshot: Snapshot) -> int:
        """Take over vectors that the same model made of contents that are here; how many contents that were."""
        embedder, store = self._open()
        if model != embedder.name:
            return 0
        other = VectorStore(folder, model=f"{embedder.name} chunks{REVISION}", dimensions=embedder.dimensions)
        try:
            return store.take_from(other, self._of(snapshot)[1])
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

    def _of(self, snapshot: Snapshot) -> tuple[Snapshot, tuple[str, ...], dict[str, list[Known]]]:
        """The contents worth a vector, each once, and the files that have it."""
        held = self._live
        if held is not None and held[0] is snapshot:
            return held
        files: dict[str, list[Known]] = {}
        for known in snapshot.texts:
            if _speaks(known):
                files.setdefault(known.digest, []).append(known)
        self._live = (snapshot, tuple(files), files)
        return self._live

    def _chunks(self, known: Known, text: bytes) -> list[Chunk]:
        facts = self._facts(known.path, known.digest, keep=False)
        bounds = [(one.start, one.end) for one in facts.definitions] if facts else []
        return chunk(text, [(start, end) for start, end in bounds if 0 <= start <= end <= len(text)])


def _speaks(known: Known) -> bool:
    """Whether a file's words mean something: code and prose do, data and catalogues of texts do not."""
    if known.length > _MAX_FILE or not known.length:
        return False
    language = languages().of(known.path)
    return (language is not None and language.name not in _DATA) or known.path.lower().endswith(_PROSE)


def _worded(text: bytes, one: Chunk) -> str:
    return text[one.start : one.end].decode("utf-8", "replace")
