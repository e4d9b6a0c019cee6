"""What is near in meaning: chunks by their vectors."""

from collections.abc import Sequence
from functools import partial

from codeplane.index.snapshot import Snapshot
from codeplane.index.vector_index import Filler, Near
from codeplane.kernel.counted import counted
from codeplane.query.search.matches import Found, Place
from codeplane.query.search.scope import Keep
from codeplane.vectors.chunks import Chunk

MAX_NEAR = 200
_PER_FILE = 3
_AT_ONCE = 20


def semantic(snapshot: Snapshot, vectors: Filler, query: str, *, keep: Keep | None) -> Found:
    """The chunks nearest to the question, best first, a few of each file."""
    counts: dict[str, int] = {}
    chosen: list[Near] = []
    for near in vectors.near(snapshot, query, keep=keep, limit=MAX_NEAR):
        if counts.get(near.path, 0) < _PER_FILE:
            counts[near.path] = counts.get(near.path, 0) + 1
            chosen.append(near)
    chunks = _Chunks(vectors, chosen)
    places = [
        Place(
            path=near.path,
            offset=0,
            score=near.score,
            match_type="semantic",
            located=partial(chunks.first_word, position),
        )
        for position, near in enumerate(chosen)
    ]
    missing = vectors.missing(snapshot)
    said = f"PARTIAL: {counted(missing, 'file', verbs=('has', 'have'))} no vectors yet" if missing else None
    return Found(places=places, total=len(places), exact=False, model=vectors.model, partial=said)


class _Chunks:
    """Where the chunks of an answer are in their files: found out for those that are shown, some at a time."""

    def __init__(self, vectors: Filler, some: Sequence[Near]) -> None:
        self._vectors = vectors
        self._some = some
        self._found: dict[int, Chunk | None] = {}

    def first_word(self, position: int, text: bytes) -> int:
        """The first line of a chunk that says something."""
        if position not in self._found:
            asked = self._vectors.chunks_of(self._some[position : position + _AT_ONCE])
            self._found.update(enumerate(asked, position))
        chunk = self._found[position]
        if chunk is None:
            return 0
        said = text[chunk.start : chunk.end]
        return chunk.start + len(said) - len(said.lstrip())
