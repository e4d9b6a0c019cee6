"""Ranked search of files, by words and past changes or by meaning, too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, pstdev

import numpy as np

from codeplane.index.files.paths import path_text
from codeplane.index.fulltext import FullText
from codeplane.index.path_kinds import is_test
from codeplane.index.snapshot import Snapshot
from codeplane.index.vector_index import Neighbour, VectorIndex
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.plural import plural
from codeplane.query.search.best_line import LineFinder
from codeplane.query.search.diversity import diversify
from codeplane.query.search.file_kinds import kind_of
from codeplane.query.search.matches import MatchList, Place
from codeplane.query.search.past_changes import PastChanges
from codeplane.query.search.question import named_paths, parse_question, stem
from codeplane.query.search.ranking import rank_by, weigh
from codeplane.query.search.scope import Keep, Tests
from codeplane.query.search.semantic_search import MAX_NEAR, chunk_places, missing_note

MAX_RANKED = 200
# Files that are weighed at first: who comes first depends a little on how many lend each other weight.
_POOL = 400
# What scores less than this share of the best is left out: it shares a common word with the question, no more. The
# first few may be weaker, since the best one may be so by a word that only it has.
_WEAK, _WEAK_FIRST, _FIRST = 0.35, 0.2, 5
_NEAREST = 3
# Meaning moves a file by at most this share of the best for each standard deviation of nearness, among the first.
_BY_MEANING, _MOST_DEVIATIONS, _RERANKED = 0.06, 3.0, 30
# A copy of an earlier file loses this share of the best score.
_REPEATED = 0.1
# Where words find fewer files than this, the nearest in meaning follow them.
_ENOUGH = 5
_TESTS: dict[Tests, bool | None] = {"include": None, "exclude": False, "only": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundFiles:
    """Files by words and history, best first; the share of the question that each has by words alone."""

    places: Sequence[Place]
    by_words: Mapping[str, float]
    is_answer: bool


def search_ranked(
    snapshot: Snapshot, text: FullText, changes: PastChanges, query: str, *, keep: Keep | None, tests: Tests
) -> MatchList:
    """Files for a question, best first, each with its best line; weak ones are only counted."""
    return _match_list(_find_files(snapshot, text, changes, query, keep, tests))


def search_hybrid(
    snapshot: Snapshot,
    text: FullText,
    changes: PastChanges,
    vectors: VectorIndex | None,
    query: str,
    *,
    keep: Keep | None,
    tests: Tests,
) -> MatchList:
    """Files by words; meaning re-orders the first by nearness to the title, and follows where words find few."""
    files = _find_files(snapshot, text, changes, query, keep, tests)
    title = query.strip().partition("\n")[0]
    near, partial = _nearest_chunks(snapshot, vectors, title or query, keep)
    if vectors is not None and near:
        places = [*_rerank(files.places[:_RERANKED], near, vectors), *files.places[_RERANKED:]]
        files = replace(files, places=places)
    found = _match_list(files)
    if vectors is not None and len(found.places) < _ENOUGH:
        listed = {place.path for place in found.places}
        further = [chunk for path, chunk in near.items() if path not in listed][: _ENOUGH - len(listed)]
        more = chunk_places(vectors, further)
        found = replace(found, places=[*found.places, *more], total=len(listed) + len(more), weaker=None, nothing=None)
    return replace(found, exact=False, model=vectors.model if vectors is not None else None, partial=partial)


def _rerank(places: Sequence[Place], near: Mapping[str, Neighbour], vectors: VectorIndex) -> list[Place]:
    """Files moved by the nearness of their nearest chunk, copies of one another after others."""
    known = [near[place.path].score for place in places if place.path in near]
    spread = pstdev(known) if known else 0.0
    if not spread:
        return list(places)
    middle, best = mean(known), places[0].score

    def score(place: Place) -> float:
        deviations = (near[place.path].score - middle) / spread if place.path in near else -1.0
        return place.score + best * _BY_MEANING * max(-1.0, min(_MOST_DEVIATIONS, deviations))

    moved = sorted(places, key=lambda place: (-score(place), place.path))
    chunks = [near[place.path] for place in moved if place.path in near]
    rows = dict(zip((chunk.path for chunk in chunks), vectors.vectors_of(chunks), strict=True))
    nothing = np.zeros_like(next(iter(rows.values())))
    matrix = np.stack([rows.get(place.path, nothing) for place in moved])
    return [moved[at] for at in diversify([score(place) for place in moved], matrix, _REPEATED)]


def _match_list(files: _FoundFiles) -> MatchList:
    """The places that answer; none of them where even the best has too little of the question."""
    places = files.places
    best = max((place.score for place in places), default=0.0)
    if places and not files.is_answer:
        nearest = ", ".join(f"{path_text(place.path)} {place.score:.2f}" for place in places[:_NEAREST])
        return MatchList(places=(), total=0, nothing=f"nearest: {nearest} (1 is all of its telling words)")
    most_words = max(files.by_words.values(), default=0.0)
    # Enough of the best score, or of the most words: what is raised by history pushes none of those out.
    strong = [
        place
        for position, place in enumerate(places)
        if (least := _least_score(position, place.path)) * best <= place.score
        or least * most_words <= files.by_words.get(place.path, 0.0)
    ]
    return MatchList(
        places=strong, total=len(strong), exact=len(strong) < MAX_RANKED, weaker=_weaker(len(places), len(strong))
    )


def _least_score(position: int, path: str) -> float:
    return _WEAK_FIRST if position < _FIRST and kind_of(path) == "source" else _WEAK


def _weaker(ranked: int, strong: int) -> str | None:
    """A note on the files left out."""
    if ranked == strong:
        return None
    return f"{plural(ranked - strong, 'weaker file', '+' if ranked >= MAX_RANKED else '')} left out"


def _find_files(
    snapshot: Snapshot, text: FullText, changes: PastChanges, query: str, keep: Keep | None, tests: Tests
) -> _FoundFiles:
    """Files by words and history, best first, and whether their words make them an answer."""

    def there(path: str) -> bool:
        known = snapshot.files.get(path)
        return known is not None and known.skipped is None and (keep is None or keep(path))

    evidence = weigh(text, parse_question(query))
    lines = LineFinder(_stems(evidence.words))
    files = rank_by(text, evidence, limit=MAX_RANKED, keep=there, tests=_TESTS[tests], changes=changes, pool=_POOL)
    scores = {file.path: evidence.fit(file.score) for file in files}
    # What a question names in full comes first, whatever its words are.
    named = sorted(_named_files(query, there, evidence.about_tests), key=lambda path: -scores.get(path, 0.0))
    first = max([1.0, *scores.values()])
    scores = {**dict.fromkeys(named, first), **{path: score for path, score in scores.items() if path not in named}}
    places = [
        Place(path=path, offset=0, score=score, match_type="fuzzy", located=lines.passage)
        for path, score in scores.items()
    ][:MAX_RANKED]
    # Who narrows a question down knows where its answer is.
    is_narrow = keep is not None or tests != "include"
    most_words = max((file.by_words for file in files), default=0.0)
    return _FoundFiles(
        places=places,
        by_words={file.path: evidence.fit(file.by_words) for file in files},
        is_answer=is_narrow or bool(named) or bool(files and evidence.is_answered_by(most_words)),
    )


def _named_files(query: str, there: Keep, about_tests: bool) -> list[str]:
    """The files that a question names by their whole paths; tests only if it asks about tests."""
    return [path for path in sorted(named_paths(query)) if there(path) and (about_tests or not is_test(path))]


def _stems(words: Mapping[str, float]) -> dict[str, float]:
    """The stems of a question's words, so that a line with `color` matches `colors`."""
    weights: dict[str, float] = {}
    for word, count in words.items():
        weights[stem(word)] = max(weights.get(stem(word), 0.0), count)
    return weights


def _nearest_chunks(
    snapshot: Snapshot, vectors: VectorIndex | None, query: str, keep: Keep | None
) -> tuple[dict[str, Neighbour], str | None]:
    """The nearest chunk of each file, and a note if there is no model or vectors are missing."""
    if vectors is None:
        return {}, "by words alone: embeddings are switched off"
    first: dict[str, Neighbour] = {}
    try:
        for near in vectors.find_nearest(snapshot, query, keep=keep, limit=MAX_NEAR):
            first.setdefault(near.path, near)
        return first, missing_note(snapshot, vectors)
    except CodePlaneError as error:
        return {}, f"by words alone: {error}"
