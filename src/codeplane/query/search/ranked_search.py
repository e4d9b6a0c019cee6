"""Ranked search of files, by words or by words and meaning."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from codeplane.index.fulltext import FullText
from codeplane.index.path_kinds import is_test
from codeplane.index.snapshot import Snapshot
from codeplane.index.vector_index import VectorIndex
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.search.best_line import LineFinder
from codeplane.query.search.file_kinds import kind_of
from codeplane.query.search.matches import MatchList, Place
from codeplane.query.search.question import named_paths, parse_question, stem
from codeplane.query.search.ranking import rank_by, weigh
from codeplane.query.search.scope import Keep, Tests
from codeplane.query.search.semantic_search import search_semantic

MAX_RANKED = 100
# What scores less than this share of the best is left out: it shares a common word with the question, no more. The
# first few may be weaker, since the best one may be so by a word that only it has.
_WEAK, _WEAK_FIRST, _FIRST = 0.35, 0.2, 5
# What the nearest file in meaning adds, next to the best by words; it fades over so many files.
_BY_MEANING, _NEAREST = 0.3, 20
_TESTS: dict[Tests, bool | None] = {"include": None, "exclude": False, "only": True}


def search_ranked(snapshot: Snapshot, text: FullText, query: str, *, keep: Keep | None, tests: Tests) -> MatchList:
    """Files for a question, best first, each with its best line; weak ones are only counted."""
    places = _by_words(snapshot, text, query, keep, tests)
    strong = _strong(places)
    return MatchList(
        places=strong, total=len(strong), exact=len(strong) < MAX_RANKED, weaker=_weaker(len(places), len(strong))
    )


def search_hybrid(
    snapshot: Snapshot, text: FullText, vectors: VectorIndex | None, query: str, *, keep: Keep | None, tests: Tests
) -> MatchList:
    """Files by words and meaning: vectors re-order and extend the ranking by words."""
    by_path = {place.path: place for place in _by_words(snapshot, text, query, keep, tests)}
    scores = {path: place.score for path, place in by_path.items()}
    near, partial = _near(snapshot, vectors, query, keep)
    for position, place in enumerate(near.places[:_NEAREST]):
        by_path.setdefault(place.path, place)
        scores[place.path] = scores.get(place.path, 0.0) + _BY_MEANING * (1 - position / _NEAREST)
    best = max(scores.values(), default=1.0)
    order = sorted(by_path, key=lambda path: (-scores[path], path))[:MAX_RANKED]
    places = [replace(by_path[path], score=scores[path] / best) for path in order]
    strong = _strong(places)
    return MatchList(
        places=strong,
        total=len(strong),
        exact=False,
        model=near.model,
        partial=partial,
        weaker=_weaker(len(places), len(strong)),
    )


def _strong(places: Sequence[Place]) -> list[Place]:
    return [place for position, place in enumerate(places) if place.score >= _least(position, place.path)]


def _least(position: int, path: str) -> float:
    return _WEAK_FIRST if position < _FIRST and kind_of(path) == "source" else _WEAK


def _weaker(ranked: int, strong: int) -> str | None:
    """A note on the files left out."""
    if ranked == strong:
        return None
    return f"{counted(ranked - strong, 'weaker file', '+' if ranked >= MAX_RANKED else '')} left out"


def _by_words(snapshot: Snapshot, text: FullText, query: str, keep: Keep | None, tests: Tests) -> list[Place]:
    def there(path: str) -> bool:
        known = snapshot.files.get(path)
        return known is not None and known.skipped is None and (keep is None or keep(path))

    evidence = weigh(text, parse_question(query))
    lines = LineFinder(_stems(evidence.words))
    files = rank_by(text, evidence, limit=MAX_RANKED, keep=there, tests=_TESTS[tests])
    best = max((file.score for file in files), default=1.0) or 1.0
    scores = {file.path: file.score / best for file in files}
    # What a question names in full comes first, whatever its words are.
    named = sorted(_named(query, there, evidence.about_tests), key=lambda path: -scores.get(path, 0.0))
    scores = {**dict.fromkeys(named, 1.0), **{path: score for path, score in scores.items() if path not in named}}
    return [
        Place(path=path, offset=0, score=score, match_type="fuzzy", located=lines.passage)
        for path, score in scores.items()
    ][:MAX_RANKED]


def _named(query: str, there: Keep, about_tests: bool) -> list[str]:
    """The files that a question names by their whole paths; tests only if it asks about tests."""
    return [path for path in sorted(named_paths(query)) if there(path) and (about_tests or not is_test(path))]


def _stems(words: Mapping[str, float]) -> dict[str, float]:
    """The stems of a question's words, so that a line with `color` matches `colors`."""
    weights: dict[str, float] = {}
    for word, count in words.items():
        weights[stem(word)] = max(weights.get(stem(word), 0.0), count)
    return weights


def _near(
    snapshot: Snapshot, vectors: VectorIndex | None, query: str, keep: Keep | None
) -> tuple[MatchList, str | None]:
    """The nearest chunk of each file, and a note if there is no model."""
    if vectors is None:
        return MatchList(places=(), total=0), "by words alone: embeddings are switched off"
    try:
        near = search_semantic(snapshot, vectors, query, keep=keep)
    except CodePlaneError as error:
        return MatchList(places=(), total=0), f"by words alone: {error}"
    first: dict[str, Place] = {}
    for place in near.places:
        first.setdefault(place.path, place)
    return MatchList(places=tuple(first.values()), total=len(first), model=near.model), near.partial
