"""Semantic search: chunks near in meaning, by their vectors."""

from collections.abc import Sequence
from functools import partial

from codeplane.index.snapshot import Snapshot
from codeplane.index.vector_index import Neighbour, VectorIndex
from codeplane.kernel.plural import plural
from codeplane.query.search.diversity import diversify
from codeplane.query.search.matches import MatchList, Place
from codeplane.query.search.scope import Keep
from codeplane.vectors.chunks import Chunk

MAX_NEAR = 200
_PER_FILE = 3
_AT_ONCE = 20
# Among so many, a copy of an earlier chunk loses this share of the best score.
_DIVERSE, _REPEATED = 60, 0.1


def search_semantic(snapshot: Snapshot, vectors: VectorIndex, query: str, *, keep: Keep | None) -> MatchList:
    """The chunks nearest to a question, best first, a few per file, copies of one another after others."""
    counts: dict[str, int] = {}
    chosen: list[Neighbour] = []
    for near in vectors.find_nearest(snapshot, query, keep=keep, limit=MAX_NEAR):
        if counts.get(near.path, 0) < _PER_FILE:
            counts[near.path] = counts.get(near.path, 0) + 1
            chosen.append(near)
    first = chosen[:_DIVERSE]
    order = diversify([near.score for near in first], vectors.vectors_of(first), _REPEATED)
    chosen = [*(first[at] for at in order), *chosen[_DIVERSE:]]
    places = chunk_places(vectors, chosen)
    return MatchList(
        places=places, total=len(places), exact=False, model=vectors.model, partial=missing_note(snapshot, vectors)
    )


def chunk_places(vectors: VectorIndex, chosen: Sequence[Neighbour]) -> list[Place]:
    """The places of chunks, looked up for those that are shown."""
    chunks = _Chunks(vectors, chosen)
    return [
        Place(
            path=near.path,
            offset=0,
            score=near.score,
            match_type="semantic",
            located=partial(chunks.first_word, position),
        )
        for position, near in enumerate(chosen)
    ]


def missing_note(snapshot: Snapshot, vectors: VectorIndex) -> str | None:
    """A note on files without vectors."""
    missing = vectors.count_missing(snapshot)
    return f"PARTIAL: {plural(missing, 'file', verbs=('has', 'have'))} no vectors yet" if missing else None


class _Chunks:
    """Looks up where chunks lie in their files, some at a time, for those shown."""

    def __init__(self, vectors: VectorIndex, some: Sequence[Neighbour]) -> None:
        self._vectors = vectors
        self._some = some
        self._found: dict[int, Chunk | None] = {}

    def first_word(self, position: int, text: bytes) -> int:
        """The first non-blank offset of a chunk."""
        if position not in self._found:
            asked = self._vectors.chunks_of(self._some[position : position + _AT_ONCE])
            self._found.update(enumerate(asked, position))
        chunk = self._found[position]
        if chunk is None:
            return 0
        chunk_text = text[chunk.start : chunk.end]
        return chunk.start + len(chunk_text) - len(chunk_text.lstrip())
