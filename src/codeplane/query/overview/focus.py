"""The focus of a map: weights of files and names in the graph."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codeplane.index.fulltext import parts, path_names
from codeplane.query.overview.graph import Graph
from codeplane.query.search.question import Question, parse_question, variants
from codeplane.query.search.spelling import other_spelling

_MAX_WORD_NAMES = 60
_MAX_WORD_FILES = 30
_MAX_FILES = 200
_MAX_COMMON = 500
_MENTION, _NAME, _WORD = 3.0, 3.0, 1.0
_NAMED = 10.0
_TEST = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """Weights of files and names, by row of the graph."""

    files: Mapping[int, float] = field(default_factory=dict)
    names: Mapping[int, float] = field(default_factory=dict)
    about_tests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The names and paths of a graph, by word."""

    names: Mapping[str, Sequence[int]]
    paths: Mapping[str, Sequence[int]]
    places: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, graph: Graph) -> "Words":
        """Index the words of a graph; only a focused query needs it."""
        names: dict[str, list[int]] = {}
        for row, name in enumerate(graph.names):
            for word in set(parts(name)):
                names.setdefault(word, []).append(row)
        paths: dict[str, list[int]] = {}
        called: dict[str, list[int]] = {}
        for row, path in enumerate(graph.paths):
            for word in set(parts(path.rpartition(".")[0])):
                paths.setdefault(word, []).append(row)
            for place in path_names(path):
                called.setdefault(place, []).append(row)
        return cls(names=names, paths=paths, places=called)


def find_focus(graph: Graph, words: Words, texts: Sequence[str]) -> Focus:
    """The files and names that texts mention."""
    files: dict[int, float] = {}
    names: dict[int, float] = {}
    about_tests = False
    for text in texts:
        plain = text.strip().removeprefix("./").rstrip("/")
        if plain in graph.row_of:
            files[graph.row_of[plain]] = _MENTION
            about_tests |= bool(graph.is_test[graph.row_of[plain]])
            continue
        below = [row for path, row in graph.row_of.items() if path.startswith(f"{plain}/")] if plain else []
        if below:
            files |= {row: _MENTION / len(below) for row in below[:_MAX_FILES]}
            about_tests |= all(graph.is_test[row] for row in below)
            continue
        question = parse_question(text)
        about_tests |= question.about_tests
        _by_mention(graph, words, question, files)
        lone = plain.rpartition(".")[2] if plain.replace(".", "").isidentifier() else ""
        _by_name(graph, {*question.names, *([lone] if lone else [])}, files, names)
        _by_word(graph, words, question, files, names)
    if not about_tests:
        files = {row: weight * (_TEST if graph.is_test[row] else 1.0) for row, weight in files.items()}
    return Focus(files=files, names=names, about_tests=about_tests)


def _by_mention(graph: Graph, words: Words, question: Question, files: dict[int, float]) -> None:
    for ways in question.mentions:
        for way in ways:
            rows = words.places.get(way, ())
            if rows and len(rows) <= _MAX_FILES:
                for row in rows:
                    files[row] = files.get(row, 0.0) + _MENTION / len(rows)
                break


def _by_name(graph: Graph, asked: set[str], files: dict[int, float], names: dict[int, float]) -> None:
    for name in sorted(asked):
        row = graph.name_row.get(name)
        if row is None:
            continue
        names[row] = _NAMED
        defined = graph.files_of(row)
        for file in defined[:_MAX_FILES]:
            files[file] = files.get(file, 0.0) + _NAME / len(defined)


def _by_word(graph: Graph, words: Words, question: Question, files: dict[int, float], names: dict[int, float]) -> None:
    weights: dict[str, float] = {}
    for word in {*question.title, *question.prose, *question.code}:
        weights[word] = 1.0
        spelled = {word, other_spelling(word) or word}
        for form in spelled.union(*map(variants, spelled)):
            weights.setdefault(form, 0.6)
    scores: dict[int, float] = {}
    paths: dict[int, float] = {}
    for word, weight in sorted(weights.items()):
        for held, into, total in ((words.names, scores, len(graph.names)), (words.paths, paths, len(graph.paths))):
            rows = held.get(word, ())
            # A word that is everywhere tells nothing, and costs the most.
            if rows and len(rows) <= max(_MAX_COMMON, total // 20):
                telling = weight * math.log(1 + total / len(rows)) ** 2
                for row in rows:
                    into[row] = into.get(row, 0.0) + telling
    best = sorted(scores, key=lambda row: (-scores[row] / len(parts(graph.names[row])) ** 0.5, row))[:_MAX_WORD_NAMES]
    for place, row in enumerate(best):
        names[row] = max(names.get(row, 1.0), 1.0 + 4.0 / (1 + place / 10))
        defined = graph.files_of(row)
        for file in defined[:_MAX_FILES]:
            files[file] = files.get(file, 0.0) + _WORD / (1 + place) / len(defined)
    for place, row in enumerate(sorted(paths, key=lambda row: (-paths[row], row))[:_MAX_WORD_FILES]):
        files[row] = files.get(row, 0.0) + _WORD / (1 + place)
