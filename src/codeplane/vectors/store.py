"""The store of vectors: rows in a mapped file, and a table of the contents they belong to."""

import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from codeplane.kernel.errors import InvalidArgument
from codeplane.vectors.chunks import Chunk
from codeplane.vectors.rows import Scorer, contenders, map_rows, quantise, rescore, row_type
from codeplane.vectors.spans import pack_spans, unpack_span, unpack_spans
from codeplane.vectors.table import Entry, VectorTable, checksum

# More than a float32 sum over thousands of dimensions is off, for vectors of length one.
_MARGIN = 1e-4


class Hit(NamedTuple):
    """A chunk of a content with its cosine similarity."""

    digest: str
    chunk: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """One state of the store, replaced as a whole at each commit."""

    generation: int
    entries: Mapping[str, Entry]
    rows: NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The rows of the digests in a search."""

    view: _View
    asked: Sequence[str]
    digests: Sequence[str]
    begins: NDArray[np.intp]
    rows: NDArray[np.intp]


class VectorStore:
    """The vectors of one model, by the digest of their content.

    Vectors are a function of content and model, so nothing here depends on paths or epochs: the caller names the live
    digests. One thread adds, commits and compacts while any number search. Derived, so it is remade when it does
    not fit, and `remade` says why.
    """

    def __init__(self, folder: Path, *, model: str, dimensions: int) -> None:
        """Open or recreate the folder; `model` names everything the vectors depend on beside the content."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._model, self._dimensions = folder, model, dimensions
        self._kind = row_type(dimensions)
        self._scorers: list[Scorer] = []
        self._last: _Chosen | None = None
        self._lacking: tuple[_View, tuple[str, ...], int] | None = None
        self._writing = threading.Lock()
        self._table = VectorTable(folder / "vectors.db", model=model, dimensions=dimensions)
        self.remade: str | None = self._table.remade
        try:
            generation, rows = self._table.state()
            entries = self._table.entries()
            self._file = self._open(generation, rows)
        except (sqlite3.DatabaseError, ValueError) as error:
            self._table.remake(str(error))
            self.remade = self._table.remade
            (generation, rows), entries = self._table.state(), {}
            self._path(generation).unlink(missing_ok=True)
            self._file = self._open(generation, rows)
        self._pending: dict[str, tuple[Entry, bytes]] = {}
        self._written = rows
        self._number = max((entry.number for entry in entries.values()), default=0)
        self._view = self._sound(_View(generation=generation, entries=entries, rows=self._map_rows(generation, rows)))
        self._forget_others(generation)

    @property
    def rows(self) -> int:
        """The number of committed vectors, including dead content."""
        return len(self._view.rows)

    def rows_of(self, digests: Iterable[str]) -> int:
        """The number of committed vectors of these contents."""
        entries = self._view.entries
        return sum(entries[digest].rows for digest in digests if digest in entries)

    def has(self, digests: Iterable[str]) -> set[str]:
        """The digests with vectors, committed or pending."""
        entries, pending = self._view.entries, self._pending
        return {digest for digest in digests if digest in entries or digest in pending}

    def count_missing(self, digests: tuple[str, ...]) -> int:
        """The number of digests without vectors, cached for the same tuple."""
        view, pending = self._view, self._pending
        held = self._lacking
        if held is not None and held[0] is view and held[1] is digests and not pending:
            return held[2]
        count = len(digests) - len(self.has(digests))
        if not pending:
            self._lacking = (view, digests, count)
        return count

    def add(self, digest: str, spans: Sequence[Chunk], matrix: NDArray[np.float32]) -> None:
        """Add a content's vectors; visible after `commit`."""
        if matrix.shape != (len(spans), self._dimensions):
            raise InvalidArgument(
                f"{len(spans)} chunks and a matrix of {matrix.shape}, in a store of {self._dimensions} dimensions",
                hint="embed the chunks with the model the store was opened for",
            )
        if not np.isfinite(matrix).all():
            raise InvalidArgument("a vector with a number that is not finite")
        with self._writing:
            if digest in self._view.entries or digest in self._pending:
                return
            rows, chunks = quantise(matrix).tobytes(), pack_spans(spans)
            try:
                self._file.write(rows)
            except OSError:
                self._roll_back()
                raise
            self._number += 1
            entry = Entry(number=self._number, first=self._written, rows=len(spans), sum=checksum(chunks, rows))
            self._pending[digest] = (entry, chunks)
            self._written += len(spans)

    def commit(self) -> None:
        """Flush added rows to the disk and publish them."""
        with self._writing:
            if not self._pending:
                return
            try:
                self._file.flush()
                os.fsync(self._file.fileno())
                self._table.add(self._pending, rows=self._written)
            except BaseException:
                self._roll_back()
                raise
            view = self._view
            added = {digest: entry for digest, (entry, _) in self._pending.items()}
            self._view = _View(
                generation=view.generation,
                entries={**view.entries, **added},
                rows=self._map_rows(view.generation, self._written),
            )
            self._pending = {}

    def search(self, query: NDArray[np.float32], digests: Sequence[str], limit: int) -> list[Hit]:
        """Find the chunks nearest to a query among the digests, exactly; ties by digest and chunk order.

        Ask with the same tuple of digests again and again, and choosing their rows is done once.
        """
        if query.shape != (self._dimensions,) or not np.isfinite(query).all():
            raise InvalidArgument(
                f"a query of {query.shape} in a store of {self._dimensions} dimensions",
                hint="embed the query with the model the store was opened for",
            )
        view = self._view
        chosen = self._choose_rows(view, digests)
        if limit < 1 or not chosen.digests:
            return []
        try:
            scorer = self._scorers.pop()
        except IndexError:
            scorer = Scorer(self._dimensions)
        try:
            # A float64 query would make float64 of everything it meets.
            query = query.astype(np.float32, copy=False)
            scores = scorer.score(view.rows, chosen.rows, query)
        finally:
            self._scorers.append(scorer)
        near = contenders(scores, limit, _MARGIN * float(np.linalg.norm(query)))
        exact = rescore(view.rows[chosen.rows[near]], query)
        order = np.argsort(-exact, kind="stable")[:limit]
        nearest = near[order]
        files = np.searchsorted(chosen.begins, nearest, side="right") - 1
        return [
            Hit(chosen.digests[file], chunk, score)
            for file, chunk, score in zip(
                files.tolist(), (nearest - chosen.begins[files]).tolist(), exact[order].tolist(), strict=True
            )
        ]

    def _choose_rows(self, view: _View, digests: Sequence[str]) -> _Chosen:
        """The rows of the digests, cached for the last tuple."""
        last = self._last
        if last is not None and last.view is view and last.asked is digests:
            return last
        entries = [(digest, view.entries.get(digest)) for digest in dict.fromkeys(digests)]
        live = [(digest, entry) for digest, entry in entries if entry is not None and entry.rows]
        firsts = np.array([entry.first for _, entry in live], np.intp)
        counts = np.array([entry.rows for _, entry in live], np.intp)
        begins = np.cumsum(counts) - counts
        rows = np.arange(int(counts.sum()), dtype=np.intp) + np.repeat(firsts - begins, counts)
        chosen = _Chosen(view=view, asked=digests, digests=[digest for digest, _ in live], begins=begins, rows=rows)
        if isinstance(digests, tuple):
            self._last = chosen
        return chosen

    def spans(self, digest: str) -> list[Chunk]:
        """The chunks of a content, in order; none if it is unknown."""
        raw = self._spans({digest}).get(digest)
        return [] if raw is None else unpack_spans(raw)

    def chunks(self, hits: Sequence[Hit]) -> list[Chunk | None]:
        """The chunk of each hit; None if its content is gone."""
        spans = self._spans({hit.digest for hit in hits})
        return [unpack_span(spans.get(hit.digest, b""), hit.chunk) for hit in hits]

    def vectors(self, hits: Sequence[Hit]) -> NDArray[np.float32]:
        """The vector of each hit; zeros if its content is gone."""
        view = self._view
        found = np.zeros((len(hits), self._dimensions), np.float32)
        for at, hit in enumerate(hits):
            entry = view.entries.get(hit.digest)
            if entry is not None and hit.chunk < entry.rows:
                row = view.rows[entry.first + hit.chunk]
                found[at] = row["vector"].astype(np.float32) * row["scale"]
        return found

    def _spans(self, digests: Iterable[str]) -> dict[str, bytes]:
        """The packed chunks of the known contents."""
        entries = self._view.entries
        numbers = {entries[digest].number: digest for digest in digests if digest in entries}
        return {numbers[number]: raw for number, raw in self._table.spans_of(numbers).items()}

    def take_from(self, other: "VectorStore", digests: Iterable[str]) -> int:
        """Copy the vectors of some contents from a store of the same model; return how many contents."""
        taken = 0
        for digest in digests:
            entry = other._view.entries.get(digest)
            if entry is not None and digest not in self._view.entries:
                rows = other._view.rows[entry.first : entry.first + entry.rows]
                matrix = rows["vector"].astype(np.float32) * rows["scale"][:, None]
                self.add(digest, other.spans(digest), matrix)
                taken += 1
        self.commit()
        return taken

    def copy_to(self, folder: Path) -> None:
        """Copy everything committed to another folder, which opens as a store."""
        with self._writing:
            view = self._view
            self._table.copy_to(folder / "vectors.db", generation=1)
            (folder / "000001.bin").write_bytes(view.rows.tobytes())

    def compact(self, live: Collection[str]) -> int:
        """Rewrite the store with only the live contents, and return the number of dropped rows."""
        self.commit()
        with self._writing:
            view = self._view
            kept = set(live) & view.entries.keys()
            if len(kept) == len(view.entries):
                return 0
            generation, path = view.generation + 1, self._path(view.generation + 1)
            entries: dict[str, Entry] = {}
            rows = 0
            with path.open("wb") as file:
                for digest, entry in view.entries.items():
                    if digest in kept:
                        file.write(view.rows[entry.first : entry.first + entry.rows].tobytes())
                        entries[digest] = entry._replace(first=rows)
                        rows += entry.rows
                file.flush()
                os.fsync(file.fileno())
            self._table.replace(entries.values(), generation=generation, rows=rows)
            self._file.close()
            self._file = self._open(generation, rows)
            self._written = rows
            self._view = _View(generation=generation, entries=entries, rows=self._map_rows(generation, rows))
            self._forget_others(generation)
            return len(view.rows) - rows

    def close(self) -> None:
        """Close the files; uncommitted vectors are lost."""
        self._file.close()
        self._table.close()

    def _sound(self, view: _View) -> _View:
        """Drop damaged entries, so that they are made again."""
        raw = view.rows.view(np.uint8).data
        damaged = self._table.find_damaged(view.entries, raw, self._kind.itemsize)
        if not damaged:
            return view
        self._table.drop(view.entries[digest].number for digest in damaged)
        self.remade = f"the vectors of {len(damaged)} contents were damaged"
        gone = set(damaged)
        kept = {digest: entry for digest, entry in view.entries.items() if digest not in gone}
        return replace(view, entries=kept)

    def _open(self, generation: int, rows: int) -> BinaryIO:
        path = self._path(generation)
        length = rows * self._kind.itemsize
        if rows and (not path.exists() or path.stat().st_size < length):
            raise ValueError(f"{path.name} is shorter than its table says")
        file = path.open("r+b" if path.exists() else "w+b")
        file.truncate(length)
        file.seek(length)
        return file

    def _roll_back(self) -> None:
        """Drop everything added since the last commit."""
        rows = len(self._view.rows)
        self._pending, self._written = {}, rows
        try:
            self._file.close()
        except OSError:
            pass  # its buffer could not be written, which is why we are here
        self._file = self._open(self._view.generation, rows)

    def _map_rows(self, generation: int, rows: int) -> NDArray[np.void]:
        return map_rows(self._path(generation), self._dimensions, rows)

    def _path(self, generation: int) -> Path:
        return self._folder / f"{generation:06}.bin"

    def _forget_others(self, generation: int) -> None:
        for path in self._folder.glob("*.bin"):
            if path != self._path(generation):
                try:
                    path.unlink()
                except OSError:
                    pass  # still mapped, on a system that minds; the next start tries again
