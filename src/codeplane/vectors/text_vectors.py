"""Vectors of whole texts for rooms beside the index: descriptions of operations, resources, assistants."""

import asyncio
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from codeplane.kernel.errors import TooLarge
from codeplane.kernel.nearest import NearText, text_key
from codeplane.vectors.chunks import Chunk
from codeplane.vectors.embedder import Embedder
from codeplane.vectors.store import VectorStore

MAX_TEXTS = 100_000
_BATCH = 256
_WHOLE = Chunk(start=0, end=1, start_line=1, end_line=1)


class SharedEmbedder:
    """The one model of a process: loaded when somebody first needs it, and used by all."""

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load
        self._loading = threading.Lock()
        self._loaded: Embedder | None = None

    def __call__(self) -> Embedder:
        """Return the model; raises what its loading raised, and tries again the next time."""
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


class TextVectors:
    """Keeps a vector for each text in a folder of its own; derived, so it is made again when it does not fit."""

    def __init__(self, folder: Path, *, embedder: Callable[[], Embedder], max_texts: int = MAX_TEXTS) -> None:
        self._folder = folder
        self._embedder = embedder
        self._max_texts = max_texts
        self._opened: tuple[Embedder, VectorStore] | None = None
        # One thread at a time adds, commits and compacts.
        self._writing = threading.Lock()

    async def add(self, texts: Collection[str]) -> None:
        """Make vectors of the texts that have none; TooLarge when there would be too many."""
        await asyncio.to_thread(self._add, texts)

    async def nearest(self, text: str, keys: Sequence[str], limit: int) -> list[NearText]:
        """Return those of the keys whose texts are nearest, best first."""
        return await asyncio.to_thread(self._nearest, text, keys, limit)

    async def keep(self, keys: Collection[str]) -> None:
        """Drop the vectors of all other keys."""
        await asyncio.to_thread(self._keep, keys)

    def close(self) -> None:
        """Close the store."""
        with self._writing:
            if self._opened is not None:
                self._opened[1].close()
                self._opened = None

    def _add(self, texts: Collection[str]) -> None:
        with self._writing:
            embedder, store = self._open()
            by_key = {text_key(text): text for text in texts}
            wanted = [key for key in by_key if key not in store.has(by_key)]
            if store.rows + len(wanted) > self._max_texts:
                raise TooLarge(f"more than {self._max_texts} texts", details={"max": self._max_texts})
            for begin in range(0, len(wanted), _BATCH):
                batch = wanted[begin : begin + _BATCH]
                matrix = embedder.embed([by_key[key] for key in batch])
                for row, key in enumerate(batch):
                    store.add(key, [_WHOLE], matrix[row : row + 1])
            store.commit()

    def _nearest(self, text: str, keys: Sequence[str], limit: int) -> list[NearText]:
        with self._writing:
            embedder, store = self._open()
        (query,) = embedder.embed([text])
        return [NearText(key=hit.digest, score=hit.score) for hit in store.search(query, tuple(keys), limit)]

    def _keep(self, keys: Collection[str]) -> None:
        with self._writing:
            self._open()[1].compact(keys)

    def _open(self) -> tuple[Embedder, VectorStore]:
        if self._opened is None:
            embedder = self._embedder()
            store = VectorStore(self._folder, model=f"{embedder.name} texts1", dimensions=embedder.dimensions)
            self._opened = (embedder, store)
        return self._opened
