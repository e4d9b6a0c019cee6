"""Ranked search: the files a question is most likely about, without any model."""

import math
import re
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from codeplane.repo.index.fulltext import Field, FullText, Term, parts, places
from codeplane.repo.search.question import Question, parsed, variants
from codeplane.repo.search.scope import is_test
from codeplane.repo.search.sweep import Find, finding

# A long report has more words than are needed to find its files.
_MAX_WORDS = 150
_MAX_NAMES = 100
_MAX_REASONS = 4
_POOL = 200
_ASIDE = re.compile(
    r"(?:^|/)(?:vendor|vendored|_vendor|third_party|node_modules|dist|generated|locale|locales|fixtures)/"
    r"|\.min\.\w+$|_pb2(?:_grpc)?\.py$|\.(?:lock|map|svg|po|pot|csv|json)$"
)
_PROSE = re.compile(
    r"(?:^|/)(?:docs?|examples?)/|\.(?:md|rst|txt|html?)$|(?:^|/)(?:CHANGE\w*|AUTHORS|NEWS|HISTORY)[^/]*$"
)
# A line that opens a definition says more than one that uses it.
_OPENING = re.compile(
    rb"\s*(?:async |export |public |static |pub )*(?:def|class|function|func|fn|interface|struct|type)\b"
)
_OPENS = 1.5
_MAX_LINE_WORDS = 24
# So many lines of a file are weighed, those with the rarest words first: a word that is on hundreds tells little.
_MAX_LINES = 60
_ROUNDED = 1 + 1e-9
_MAX_LINE_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each kind of evidence counts, next to a word of the text found once in a file."""

    title: float = 1.5
    code: float = 0.7
    most_often: float = 1.5
    in_names: float = 0.2
    in_path: float = 1.2
    covered_title: float = 0.5
    variant: float = 0.3
    defined: float = 1.5
    mentioned: float = 2.0
    tests: float = 0.5
    prose: float = 0.5
    aside: float = 0.4


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A file, and how well it fits."""

    path: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A question weighed against an index: what to look for, and what would be said of it."""

    terms: tuple[Term, ...]
    words: Mapping[str, float]
    defined: tuple[str, ...]
    mentioned: tuple[str, ...]
    about_tests: bool


def rank(
    full_text: FullText,
    question: str,
    *,
    limit: int,
    keep: Callable[[str], bool] | None = None,
    language: str | None = None,
    tests: bool | None = None,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """The files a question is about, best first; `tests` True counts them as source, False leaves them out."""
    evidence = weigh(full_text, parsed(question), weights)
    return rank_by(full_text, evidence, limit=limit, keep=keep, language=language, tests=tests, weights=weights)


def rank_by(
    full_text: FullText,
    evidence: Evidence,
    *,
    limit: int,
    keep: Callable[[str], bool] | None = None,
    language: str | None = None,
    tests: bool | None = None,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """The same for a question already weighed."""
    with_tests = evidence.about_tests if tests is None else tests
    # What a file's score is worth: tests, prose and what others wrote say much and decide little.
    standing = {
        "aside": weights.aside,
        "tests": 1.0 if with_tests else weights.tests,
        "prose": weights.prose,
        "source": 1.0,
    }
    pool = max(_POOL, 4 * limit)
    while True:
        hits = full_text.found(evidence.terms, limit=pool, language=language)
        found = sorted([(-score * standing[_kind(path)], path) for score, path in hits])
        # Best first, so that those who come too late to be shown need not be looked at.
        kept = (one for one in found if (keep is None or keep(one[1])) and not (tests is False and is_test(one[1])))
        chosen = list(islice(kept, limit))
        if len(chosen) >= limit or len(hits) < pool:
            break
        pool *= 8
    return [Ranked(path=path, score=-score) for score, path in chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A line that shows why a file is there."""

    number: int
    text: str
    offset: int


def best_lines(text: bytes, words: Mapping[str, float], *, limit: int = 1) -> list[Telling]:
    """The lines of a file that hold most of the words, by what those count, in the order of the file."""
    return [_telling(text, start) for start in sorted(LineFinder(words).best(text, limit=limit))]


class LineFinder:
    """Finds the lines of files that hold most of some words; what the words need is made once for all files."""

    def __init__(self, words: Mapping[str, float]) -> None:
        wanted = sorted(words, key=lambda word: (-words[word], word))[:_MAX_LINE_WORDS]
        counts = [(word.encode(), words[word]) for word in wanted]
        self._words = [_Word.of(counts[first:]) for first in range(len(counts))]
        self._counts = dict(counts)
        # A word inside of another does not count beside it, for which they are looked for together: that takes longer.
        nested = any(one in other for one in self._counts for other in self._counts if one is not other)
        longest = sorted(self._counts, key=len, reverse=True)
        self._words_of = re.compile(b"|".join(map(re.escape, longest))).findall if nested else None

    def best(self, text: bytes, *, limit: int = 1) -> list[int]:
        """Where the best lines begin, the best first."""
        lowered = text.lower()
        seek = finding(lowered)
        best: list[tuple[float, int]] = []
        seen: set[int] = set()
        for word in self._words:
            if len(seen) >= _MAX_LINES or (len(best) >= limit and best[-1][0] < -word.left * _OPENS):
                # No line without the words so far can be better: those that are left do not count enough, and need
                # not be looked for.
                break
            self._weigh(text, lowered, seek, word, seen, best, limit)
        return [start for _, start in best]

    def _weigh(
        self,
        text: bytes,
        lowered: bytes,
        seek: Find,
        word: "_Word",
        seen: set[int],
        best: list[tuple[float, int]],
        limit: int,
    ) -> None:
        """Put the lines that hold a word and were not seen yet where they belong among the best."""
        find, rfind, plain = lowered.find, lowered.rfind, self._words_of is None
        spelled, count, later = word.spelled, word.count, word.later
        least = -best[-1][0] if len(best) >= limit else 0.0
        # A line of this word needs others beside it to be one of the best: the one that counts most has to be there
        # where all that are left do not make up for it.
        needed = self._needed(word, least) if plain else b""
        at = seek(spelled)
        while at >= 0 and len(seen) < _MAX_LINES:
            start, end = rfind(b"\n", 0, at) + 1, find(b"\n", at)
            end = len(lowered) if end < 0 else end
            if start not in seen:
                seen.add(start)
                if needed and find(needed, start, end) < 0:
                    at = seek(spelled, end)
                    continue
                line = lowered[start:end]
                # Written out, as is all of this: it runs for hundreds of lines a question.
                score = count
                if plain:
                    for other, more in later:
                        if other in line:
                            score += more
                else:
                    score = self._together(line)
                # Whether a line opens a definition is looked at where that could make it one of the best.
                if score * _OPENS >= least:
                    score = score * _OPENS if _OPENING.match(text, start) else score
                    if score > least or len(best) < limit or start < best[-1][1]:
                        insort(best, (-score, start))
                        del best[limit:]
                        least = -best[-1][0] if len(best) >= limit else 0.0
                        needed = self._needed(word, least) if plain else b""
            at = seek(spelled, end)

    @staticmethod
    def _needed(word: "_Word", least: float) -> bytes:
        """The word that a line with this one has to hold to be as good as the best, if there is such a one."""
        if not word.later:
            return b""
        spelled, count = word.later[0]
        return spelled if (word.left - count) * _OPENS < least else b""

    def _together(self, line: bytes) -> float:
        """What the words of a line count, where some are inside of others."""
        held = set(self._words_of(line)) if self._words_of is not None else ()
        # In one order, so that sums do not differ in their last bits.
        return sum([self._counts[word] for word in sorted(held)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of lines: what it counts, those that come after it, and what it counts together with all of them.

    A line that holds an earlier word was seen when that was looked for.
    """

    spelled: bytes
    count: float
    later: tuple[tuple[bytes, float], ...]
    left: float

    @classmethod
    def of(cls, counts: Sequence[tuple[bytes, float]]) -> "_Word":
        (spelled, count), *later = counts
        # With more than sums differ by in their last bits.
        left = sum(one for _, one in counts) * _ROUNDED
        return cls(spelled=spelled, count=count, later=tuple(later), left=left)


def _telling(text: bytes, start: int) -> Telling:
    end = text.find(b"\n", start)
    line = text[start : end if end >= 0 else len(text)].decode("utf-8", "replace").strip()
    shown = line if len(line) <= _MAX_LINE_LENGTH else line[:_MAX_LINE_LENGTH] + "…"
    return Telling(number=text.count(b"\n", 0, start) + 1, text=shown, offset=start)


def weigh(full_text: FullText, question: Question, weights: Weights = WEIGHTS) -> Evidence:
    """What a question's words, names and mentions count in this index."""
    total = full_text.count
    often = {
        word: min((question.prose.get(word, 0) + weights.code * question.code.get(word, 0)) ** 0.5, weights.most_often)
        + (weights.title if word in question.title else 0.0)
        for word in {*question.title, *question.prose, *question.code}
    }
    rarity = _rarity(full_text.frequencies("content", often), total)
    # A word that no text has may still be in a path or a name, as the last of them.
    ordered = sorted(often, key=lambda word: (-often[word] * rarity.get(word, 0.0), word))[:_MAX_WORDS]
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
    )


def _rarity(frequencies: Mapping[str, int], total: int) -> dict[str, float]:
    """BM25's weight of a word by the number of files that have it; words that none has are left out."""
    there = {word: files for word, files in frequencies.items() if files}
    return {word: math.log(1 + max(0.5, total - files + 0.5) / (files + 0.5)) for word, files in there.items()}


def _forms(title: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in sorted(title):
        for form in sorted(variants(word)):
            found.setdefault(form, []).append(word)
    return found


def _most_exact(full_text: FullText, question: Question) -> dict[str, int]:
    found: dict[str, int] = {}
    for ways in question.mentions:
        there = full_text.frequencies("path_words", ways)
        found.update(next(([(way, there[way])] for way in ways if there[way]), []))
    return found


@lru_cache(maxsize=16_384)
def _kind(path: str) -> str:
    if _ASIDE.search(path):
        return "aside"
    if is_test(path):
        return "tests"
    return "prose" if _PROSE.search(path) else "source"


def reasons(full_text: FullText, question: str, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What speaks for each of some files."""
    evidence = weigh(full_text, parsed(question))
    defines: dict[str, list[str]] = {path: [] for path in paths}
    # The rarest names only: what half of the files define is no reason.
    for name in evidence.defined[: 2 * _MAX_REASONS]:
        for hit in full_text.search([Term(field="names", word=name, flat=True)], limit=20):
            if hit.path in defines:
                defines[hit.path].append(name)
    return {path: tuple(_said(path, defines[path], evidence)) for path in paths}


def _said(path: str, defines: Sequence[str], evidence: Evidence) -> Iterator[str]:
    if set(evidence.mentioned) & set(places(path)):
        yield "mentioned"
    if defines:
        yield f"defines {', '.join(defines[:_MAX_REASONS])}"
    words = sorted({word for word in parts(path) if word in evidence.words}, key=lambda word: -evidence.words[word])
    if words:
        yield f"path has {', '.join(words[:_MAX_REASONS])}"
