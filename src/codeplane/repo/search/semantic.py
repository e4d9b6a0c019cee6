"""What is near in meaning: chunks by their vectors."""

from functools import partial

from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.search.found import Found, Place
from codeplane.repo.search.scope import Keep
from codeplane.repo.vectors.filler import Filler

MAX_NEAR = 200
_PER_FILE = 3


def semantic(snapshot: Snapshot, vectors: Filler, query: str, *, keep: Keep | None) -> Found:
    """The chunks nearest to the question, best first, a few of each file."""
    places: list[Place] = []
    counts: dict[str, int] = {}
    for near in vectors.near(snapshot, query, keep=keep, limit=MAX_NEAR):
        if counts.get(near.path, 0) < _PER_FILE:
            counts[near.path] = counts.get(near.path, 0) + 1
            located = partial(_first_word, start=near.chunk.start, end=near.chunk.end)
            places.append(Place(path=near.path, offset=0, score=near.score, match_type="semantic", located=located))
    missing = vectors.missing(snapshot)
    said = f"PARTIAL: {missing} files have no vectors yet" if missing else None
    return Found(places=places, total=len(places), exact=False, model=vectors.model, partial=said)


def _first_word(text: bytes, *, start: int, end: int) -> int:
    """The first line of a chunk that says something."""
    chunk = text[start:end]
    return start + len(chunk) - len(chunk.lstrip())
