"""Files by what a question says, and by that and its meaning together."""

from msgspec.structs import replace

from codeplane.kernel.errors import CodePlaneError
from codeplane.repo.index.fulltext import FullText
from codeplane.repo.index.snapshot import Snapshot
from codeplane.repo.search.found import Found, Place
from codeplane.repo.search.question import parsed
from codeplane.repo.search.ranking import LineFinder, rank_by, weigh
from codeplane.repo.search.scope import Keep, Tests
from codeplane.repo.search.semantic import semantic
from codeplane.repo.vectors.filler import Filler

MAX_RANKED = 100
# The usual constant of reciprocal rank fusion: how slowly later ranks fade.
_FADE = 60
_BY_WORDS, _BY_MEANING = 1.0, 0.6
_TESTS: dict[Tests, bool | None] = {"include": None, "exclude": False, "only": True}


def ranked(snapshot: Snapshot, text: FullText, query: str, *, keep: Keep | None, tests: Tests) -> Found:
    """The files a question is about, best first, each with its most telling line."""
    places = _by_words(snapshot, text, query, keep, tests)
    return Found(places=places, total=len(places), exact=len(places) < MAX_RANKED)


def hybrid(
    snapshot: Snapshot, text: FullText, vectors: Filler | None, query: str, *, keep: Keep | None, tests: Tests
) -> Found:
    """Words and meaning together: the two rankings are fused by rank, one place a file."""
    by_words = {place.path: place for place in _by_words(snapshot, text, query, keep, tests)}
    scores = {path: _BY_WORDS / (_FADE + position) for position, path in enumerate(by_words)}
    near, partial = _near(snapshot, vectors, query, keep)
    for position, place in enumerate(near.places):
        if place.path not in by_words:
            by_words[place.path] = place
        scores[place.path] = scores.get(place.path, 0.0) + _BY_MEANING / (_FADE + position)
    best = max(scores.values(), default=1.0)
    order = sorted(by_words, key=lambda path: (-scores[path], path))[:MAX_RANKED]
    places = [replace(by_words[path], score=scores[path] / best) for path in order]
    return Found(places=places, total=len(places), exact=False, model=near.model, partial=partial)


def _by_words(snapshot: Snapshot, text: FullText, query: str, keep: Keep | None, tests: Tests) -> list[Place]:
    def there(path: str) -> bool:
        known = snapshot.files.get(path)
        return known is not None and known.skipped is None and (keep is None or keep(path))

    def located(raw: bytes) -> int:
        return next(iter(lines.best(raw)), 0)

    evidence = weigh(text, parsed(query))
    lines = LineFinder(evidence.words)
    files = rank_by(text, evidence, limit=MAX_RANKED, keep=there, tests=_TESTS[tests])
    best = max((one.score for one in files), default=1.0) or 1.0
    return [
        Place(path=one.path, offset=0, score=one.score / best, match_type="fuzzy", located=located) for one in files
    ]


def _near(snapshot: Snapshot, vectors: Filler | None, query: str, keep: Keep | None) -> tuple[Found, str | None]:
    """The nearest chunks, one a file; without a model the words alone decide, and that is said."""
    if vectors is None:
        return Found(places=(), total=0), "by words alone: embeddings are switched off"
    try:
        near = semantic(snapshot, vectors, query, keep=keep)
    except CodePlaneError as error:
        return Found(places=(), total=0), f"by words alone: {error}"
    first: dict[str, Place] = {}
    for place in near.places:
        first.setdefault(place.path, place)
    return Found(places=tuple(first.values()), total=len(first), model=near.model), near.partial
