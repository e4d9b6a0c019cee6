"""The ranking of files for a question, without a model."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from codeplane.index.fulltext import Field, FullText, Term, parts, path_names
from codeplane.index.path_kinds import is_test
from codeplane.query.search.file_kinds import Kind, files_under_test, kind_of, kinds_asked_for, names_asked_for
from codeplane.query.search.past_changes import PastChanges
from codeplane.query.search.question import Question, parse_question, variants
from codeplane.query.search.spelling import other_spelling

# A long report has more words than are needed to find its files.
MAX_WORDS = 50
_MAX_NAMES = 100
_MAX_REASONS = 4
_POOL = 200
# Scores are sums of 32-bit numbers in an order that depends on segments: what differs by less is equal.
_EQUAL = 1e-5
# How many times its rarity a word can count that a file repeats, by BM25 with k1 = 1.2.
_SATURATED = 2.2
# So many of a question's words, those that tell most, are what a file is held against: a long report has hundreds.
_TELLING = 10
# Of 209 issues of their own repositories, small and large, three have less than this in their best file.
LEAST_FIT, _FEW_WORDS = 0.3, 5
# History counts from more than so many telling words on, and in full from so many: what a short question shares with
# a message is chance.
_SHORT, _REPORT = 5, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weight of each kind of evidence, relative to one word in the text."""

    title: float = 1.5
    code: float = 0.7
    most_often: float = 1.5
    in_names: float = 0.2
    in_path: float = 1.2
    covered_title: float = 1.0
    covered_names: float = 0.5
    variant: float = 0.3
    variant_in_names: float = 0.6
    letters: float = 0.3
    defined: float = 1.5
    mentioned: float = 4.5
    tested: float = 0.15
    folder: float = 0.2
    history: float = 0.4
    tests: float = 0.5
    declarations: float = 0.5
    prose: float = 0.5
    settings: float = 0.5
    data: float = 0.2


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A file with its score, and what of it is by words."""

    path: str
    score: float
    by_words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A question weighed against an index: its search terms, and why they count."""

    terms: tuple[Term, ...]
    words: Mapping[str, float]
    defined: tuple[str, ...]
    mentioned: tuple[str, ...]
    about_tests: bool
    kinds: frozenset[Kind]
    names: frozenset[str]
    title: frozenset[str]
    """Words of the title and their other forms."""
    ideal: float
    """What a file with the most telling words of the question would score, those that no file has included."""
    telling: int
    """How many words the question has that tell something."""

    def fit(self, score: float) -> float:
        """The share of the question that a file with this score answers, comparable between questions.

        Names and paths can bring it above 1.
        """
        return score / self.ideal if self.ideal else 0.0

    def is_answered_by(self, score: float, least: float = LEAST_FIT) -> bool:
        """Whether a file with this score answers the question; of a few words that cannot be denied.

        Nor can it where a file that is here is mentioned with its folder.
        """
        is_mentioned = any("/" in place for place in self.mentioned)
        return self.telling < _FEW_WORDS or is_mentioned or self.fit(score) >= least


def rank(
    full_text: FullText,
    question: str,
    *,
    limit: int,
    keep: Callable[[str], bool] | None = None,
    language: str | None = None,
    tests: bool | None = None,
    changes: PastChanges | None = None,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Rank files for a question; `tests` True counts tests as source, False leaves them out."""
    evidence = weigh(full_text, parse_question(question), weights)
    return rank_by(
        full_text, evidence, limit=limit, keep=keep, language=language, tests=tests, changes=changes, weights=weights
    )


def rank_by(
    full_text: FullText,
    evidence: Evidence,
    *,
    limit: int,
    keep: Callable[[str], bool] | None = None,
    language: str | None = None,
    tests: bool | None = None,
    changes: PastChanges | None = None,
    weights: Weights = WEIGHTS,
    pool: int = 0,
) -> list[Ranked]:
    """Rank files by evidence; `pool` is how many are weighed at first, four for each that is wanted by default."""
    with_tests = evidence.about_tests if tests is None else tests
    # What a file's score is worth: tests, prose and what others wrote say much and decide little.
    standing: dict[Kind, float] = {
        "data": weights.data,
        "tests": 1.0 if with_tests else weights.tests,
        "declarations": weights.declarations,
        "prose": weights.prose,
        "settings": weights.settings,
        "source": 1.0,
    }
    standing |= dict.fromkeys(evidence.kinds, 1.0)
    history: Mapping[str, float] = {}
    if changes is not None and evidence.telling > _SHORT:
        history = changes.files_like(evidence.words, evidence.title)
    pool = pool or max(_POOL, 4 * limit)
    while True:
        hits = full_text.score_paths(evidence.terms, limit=pool, language=language)
        is_all = len(hits) < pool
        if not is_all:
            # Which of those that are equal to the last one come in depends on segments, too.
            last = min(score for score, _ in hits) * (1 + _EQUAL)
            hits = [(score, path) for score, path in hits if score > last]
        if not with_tests:
            hits = _support_files(full_text, hits, evidence, weights)
        if evidence.names:
            candidates = sorted([(-score * _kind_factor(path, standing, evidence.names), path) for score, path in hits])
        else:
            candidates = sorted([(-score * standing[kind_of(path)], path) for score, path in hits])
        by_words = {path: -score for score, path in candidates} if history else {}
        if raised := _raise_by_history(by_words, history, evidence, standing, weights):
            candidates = sorted([(score - raised.get(path, 0.0), path) for score, path in candidates])
        # Best first, so that files which cannot be shown any more are skipped.
        kept = (
            candidate
            for candidate in _order_equals(candidates)
            if (keep is None or keep(candidate[1])) and not (tests is False and is_test(candidate[1]))
        )
        chosen = list(islice(kept, limit))
        if len(chosen) >= limit or is_all:
            break
        pool *= 8
    return [Ranked(path=path, score=-score, by_words=by_words.get(path, -score)) for score, path in chosen]


def _raise_by_history(
    scores: Mapping[str, float],
    history: Mapping[str, float],
    evidence: Evidence,
    standing: Mapping[Kind, float],
    weights: Weights,
) -> dict[str, float]:
    """What files gain that changed in commits like the question: at most a share of the best score."""
    values = {
        path: value * _kind_factor(path, standing, evidence.names) for path, value in history.items() if path in scores
    }
    most = max(values.values(), default=0.0)
    if not most:
        return {}
    share = weights.history * min(1.0, (evidence.telling - _SHORT) / (_REPORT - _SHORT))
    gain = share * max(scores.values()) / most
    return {path: gain * value for path, value in values.items()}


def _order_equals(candidates: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Files by score, those with equal scores by path."""
    run: list[tuple[float, str]] = []
    for candidate in candidates:
        if run and candidate[0] > run[-1][0] * (1 - _EQUAL):
            yield from sorted(run, key=lambda equal: equal[1])
            run = []
        run.append(candidate)
    yield from sorted(run, key=lambda equal: equal[1])


def _kind_factor(path: str, standing: Mapping[Kind, float], names: frozenset[str]) -> float:
    """The factor of a file's score, where the question names files other than source."""
    return standing[kind_of(path)] if names.isdisjoint(parts(path)) else 1.0


def _support_files(
    full_text: FullText, hits: Sequence[tuple[float, str]], evidence: Evidence, weights: Weights
) -> list[tuple[float, str]]:
    """Raise the scores of files whose tests match, and of files beside a good match in a folder the title names."""
    scores = {path: score for score, path in hits}
    kinds = [(path, kind_of(path)) for path in scores]
    source = [path for path, kind in kinds if kind == "source"]
    tests = [path for path, kind in kinds if kind == "tests"]

    def exists(path: str) -> bool:
        return path in scores or full_text.has(path)

    more: dict[str, float] = {}
    for test, file in files_under_test(tests, source, exists=exists).items():
        more[file] = max(more.get(file, 0.0), weights.tested * scores[test])
    for path, added in more.items():
        scores[path] = scores.get(path, 0.0) + added
    best: dict[str, float] = {}
    for path in source:
        folder = path.rpartition("/")[0]
        if not evidence.title.isdisjoint(parts(folder.rpartition("/")[2])):
            best[folder] = max(best.get(folder, 0.0), scores[path])
    for path in source if best else ():
        leads = best.get(path.rpartition("/")[0], 0.0) - scores[path]
        if leads > 0:
            scores[path] += weights.folder * leads
    return [(score, path) for path, score in scores.items()]


def weigh(
    full_text: FullText, question: Question, weights: Weights = WEIGHTS, *, max_words: int = MAX_WORDS
) -> Evidence:
    """Weigh a question's most telling words, its names and its mentions by this index."""
    total = full_text.count
    question = _as_spelled_here(full_text, question)
    often = {
        word: min((question.prose.get(word, 0) + weights.code * question.code.get(word, 0)) ** 0.5, weights.most_often)
        + (weights.title if word in question.title else 0.0)
        for word in question.words()
    }
    rarity = _rarity(full_text.frequencies("content", often), total)
    split = _split_by_mistake(question, rarity)
    for word in split:
        often[word] *= weights.letters
        rarity[word] *= weights.letters
    # A word that no text has is the rarest of all: a question full of them is about something else.
    unseen = math.log(1 + (total + 0.5) / 0.5)
    telling = [word for word in often if word in rarity or (len(word) > 1 and not word.isdigit())]
    # A word that no text has may still be in a path or a name, as the last of them.
    ordered = sorted(often, key=lambda word: (-often[word] * rarity.get(word, 0.0), word))[:max_words]
    words = {word: often[word] for word in ordered}
    forms = {
        form: max(weights.variant * words[word] for word in origins)
        for form, origins in _forms(question.title & words.keys()).items()
        if form not in often
    }
    terms: list[Term] = []
    known = {**words, **forms}
    fields: dict[Field, float] = {"content": 1.0, "names": weights.in_names, "path_words": weights.in_path}
    for field, weight in fields.items():
        there = full_text.frequencies(field, known)
        terms += [Term(field=field, word=word, weight=weight * known[word]) for word in known if there[word]]
    terms += [
        Term(field="content", word=word, weight=weights.covered_title * rarity[word], flat=True)
        for word in sorted(question.title & rarity.keys())
    ]
    in_names = {**dict.fromkeys(question.title, 1.0), **dict.fromkeys(forms, weights.variant_in_names)}
    in_names |= dict.fromkeys(split & in_names.keys(), weights.letters)
    terms += [
        Term(field="names", word=word, weight=weights.covered_names * in_names[word] * rare, flat=True)
        for word, rare in sorted(_rarity(full_text.frequencies("names", in_names), total).items())
    ]
    names = sorted(question.names, key=lambda name: (not question.names[name], name))[:_MAX_NAMES]
    defined = _rarity(full_text.frequencies("names", names), total)
    terms += [
        Term(field="names", word=name, weight=weights.defined * rare * (2 if question.names[name] else 1), flat=True)
        for name, rare in defined.items()
    ]
    mentioned = _rarity(_most_exact(full_text, question), total)
    terms += [
        Term(field="path_words", word=place, weight=weights.mentioned * rare, flat=True)
        for place, rare in mentioned.items()
    ]
    return Evidence(
        terms=tuple(terms),
        words={word: words[word] * rarity[word] for word in words if word in rarity},
        defined=tuple(sorted(defined, key=lambda name: (-defined[name], name))),
        mentioned=tuple(sorted(mentioned)),
        about_tests=question.about_tests,
        kinds=kinds_asked_for(question.title),
        names=names_asked_for(question.title),
        title=question.title | forms.keys(),
        ideal=_SATURATED
        * sum(sorted((often[word] * rarity.get(word, unseen) for word in telling), reverse=True)[:_TELLING]),
        telling=len(telling),
    )


def _as_spelled_here(full_text: FullText, question: Question) -> Question:
    """The question with British or American words as most files of this index spell them."""
    spellings = {word: other for word in question.words() if (other := other_spelling(word)) is not None}
    families = {word: {word, *variants(word)} for word in {*spellings, *spellings.values()}}
    files = full_text.frequencies("content", set().union(*families.values())) if families else {}
    most = {word: max(files.get(form, 0) for form in family) for word, family in families.items()}
    return question.respelled({word: other for word, other in spellings.items() if most[other] > most[word]})


def _split_by_mistake(question: Question, rarity: Mapping[str, float]) -> set[str]:
    """Parts of words such as ETag that are one word in this index."""
    return {
        piece
        for whole, pieces in question.humped.items()
        if whole in rarity and any(len(piece) == 1 for piece in pieces)
        for piece in pieces
        if piece in rarity and piece not in question.loose
    }


def _rarity(frequencies: Mapping[str, int], total: int) -> dict[str, float]:
    """BM25's inverse document frequency of each word that occurs."""
    there = {word: files for word, files in frequencies.items() if files}
    return {word: math.log(1 + max(0.5, total - files + 0.5) / (files + 0.5)) for word, files in there.items()}


def _forms(title: frozenset[str]) -> dict[str, list[str]]:
    origins: dict[str, list[str]] = {}
    for word in sorted(title):
        for form in sorted(variants(word)):
            origins.setdefault(form, []).append(word)
    return origins


def _most_exact(full_text: FullText, question: Question) -> dict[str, int]:
    frequencies: dict[str, int] = {}
    for ways in question.mentions:
        there = full_text.frequencies("path_words", ways)
        frequencies.update(next(([(way, there[way])] for way in ways if there[way]), []))
    return frequencies


def reasons(full_text: FullText, question: str, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The reasons for each file."""
    evidence = weigh(full_text, parse_question(question))
    defines: dict[str, list[str]] = {path: [] for path in paths}
    # The rarest names only: what half of the files define is no reason.
    for name in evidence.defined[: 2 * _MAX_REASONS]:
        for hit in full_text.search([Term(field="names", word=name, flat=True)], limit=20):
            if hit.path in defines:
                defines[hit.path].append(name)
    return {path: tuple(_reasons(path, defines[path], evidence)) for path in paths}


def _reasons(path: str, defines: Sequence[str], evidence: Evidence) -> Iterator[str]:
    if set(evidence.mentioned) & set(path_names(path)):
        yield "mentioned"
    if defines:
        yield f"defines {', '.join(defines[:_MAX_REASONS])}"
    words = sorted({word for word in parts(path) if word in evidence.words}, key=lambda word: -evidence.words[word])
    if words:
        yield f"path has {', '.join(words[:_MAX_REASONS])}"
