"""The evidence for each file that it is to be read next, and how much each kind of it counts."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.words import parts
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.file_kinds import Kind, kind_of
from codeplane.query.search.question import parse_question
from codeplane.query.search.ranking import rank_by, weigh
from codeplane.query.task_context.task_input import Lines, TaskInput

Want = Literal["any", "tests", "cause"]
Sign = Literal["words", "together", "changed", "named", "calls", "alike", "near", "mentioned"]

_POOL = 200
_PER_SIGN = 100
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_MAX_NAMES = 80
_MAX_CALLED = 150
# A name that so many files have, or so many define, says nothing about any of them.
_COMMON = 400
_MANY_DEFINE = 12
_AFFIXES = frozenset({"test", "tests", "spec"})
_WHOLE_FOLDER = frozenset({"init", "index", "mod", "lib", "main", "util", "utils", "testing"})
_LONG = 400
# Of texts that nothing here answers two in three have less than this in their best file, of others one in twenty.
_LEAST_FIT = 0.37
_FURTHER = 0.8
# A change has more words that tell something than a report.
_MAX_WORDS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each sign and each kind of file adds, and what a file without any has."""

    signs: Mapping[Sign, float]
    kinds: Mapping[Kind, float]
    base: float


# Fitted to 356 changes of ten repositories, drawn from commits, and rounded; `bench.retrieval` measures them.
WEIGHTS: Mapping[Want, Weights] = {
    "tests": Weights(
        signs={"words": 3.3, "together": 2.2, "named": 1.3, "alike": 1.3, "near": 0.4, "mentioned": 2.2},
        kinds={"tests": 2.7, "source": -2.0, "declarations": -2.0, "prose": -0.6},
        base=-7.0,
    ),
    "any": Weights(
        signs={
            "words": 3.5, "together": 2.1, "changed": 1.2, "named": 1.0, "calls": 0.5, "alike": 1.1, "near": 0.6,
            "mentioned": 1.1,
        },
        kinds={"source": -0.6, "declarations": -0.6, "tests": 0.4, "settings": 0.4, "prose": -0.2},
        base=-6.0,
    ),
    "cause": Weights(
        signs={
            "words": 2.7, "together": 3.0, "named": 0.5, "calls": 0.8, "alike": 0.8, "near": 0.8, "mentioned": 3.0,
        },
        kinds={"source": 1.8, "declarations": 1.8, "tests": -2.3},
        base=-7.0,
    ),
}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A file with its signs, each from 0 to 1."""

    path: str
    signs: dict[Sign, float] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    """Names that tie it to what the caller has, rarest first."""

    def score(self, want: Want) -> float:
        """How likely it is to be needed, from 0 to 1, comparable from one question to the next."""
        weights = WEIGHTS[want]
        total = weights.base + weights.kinds.get(kind_of(self.path), 0.0)
        total += sum(weights.signs.get(sign, 0.0) * value for sign, value in self.signs.items())
        return 1 / (1 + math.exp(-total))


class Evidence:
    """Collects the signs of files."""

    def __init__(
        self, world: World, store: FactStore, text: FullText, task: TaskInput, keep: Callable[[str], bool]
    ) -> None:
        self._world, self._store, self._text = world, store, text
        self._task = task
        self._keep = keep
        self._files = max(1, len(world.snapshot.files))
        self.candidates: dict[str, Candidate] = {}
        self.words: Mapping[str, float] = {}
        # The share of the words that the best file has, and whether that is an answer by them alone.
        self.fit = 0.0
        self.words_answer = False

    def collect(self, together: Mapping[str, float]) -> list[Candidate]:
        """Every file with a sign; `together` are the files that changed with those given."""
        task = self._task
        known = task.known
        self._add("words", self._by_words())
        self._add("together", together)
        self._add_names("changed", self._changed_names())
        self._add_names("named", [name for name in _names(task.prose) if not name.islower() or "_" in name])
        self._add("calls", self._called_files(known))
        self._add("alike", self._similar_files(known))
        # The place where it failed says more than those that led there.
        self._add("mentioned", {path: _FURTHER**at for at, path in enumerate(task.failed)})
        near = [path.rpartition("/")[0].split("/") for path in known]
        for candidate in self.candidates.values():
            folders = candidate.path.rpartition("/")[0].split("/")
            candidate.signs["near"] = max((_nearness(own, folders) for own in near), default=0.0)
        return list(self.candidates.values())

    def _add(self, sign: Sign, scores: Mapping[str, float]) -> None:
        """Note a sign for the files that have most of it, as a share of the most."""
        kept = {path: score for path, score in scores.items() if self._keep(path) and path not in self._task.given}
        best = max(kept.values(), default=0.0)
        if best <= 0:
            return
        for path in sorted(kept, key=lambda path: (-kept[path], path))[:_PER_SIGN]:
            candidate = self.candidates.setdefault(path, Candidate(path=path))
            candidate.signs[sign] = kept[path] / best

    def _by_words(self) -> dict[str, float]:
        task = self._task
        changed = f"\n```\n{task.changed_text}\n```" if task.changed_text.strip() else ""
        try:
            evidence = weigh(self._text, parse_question(task.prose + changed), max_words=_MAX_WORDS)
        except InvalidArgument:
            # Nothing but signs and numbers.
            return {}
        self.words = evidence.words
        ranked = rank_by(self._text, evidence, limit=_POOL, keep=self._keep, tests=True)
        if ranked:
            self.fit = min(evidence.fit(ranked[0].score), 1.0)
            self.words_answer = evidence.is_answered_by(ranked[0].score, _LEAST_FIT)
        return {file.path: file.score for file in ranked}

    def _changed_names(self) -> list[str]:
        """Names of the definitions around changed lines, then those on them."""
        around: dict[str, None] = {}
        for path, lines in self._task.given.items():
            facts = self._world.facts(path)
            for definition in facts.definitions if facts is not None else ():
                inside = any(first <= definition.end_line and last >= definition.line for first, last in lines)
                if inside and len(definition.name) > 2 and definition.end_line - definition.line < _LONG:
                    around[definition.name] = None
        return list(dict.fromkeys([*around, *_names(self._task.changed_text)]))

    def _add_names(self, sign: Sign, names: Sequence[str]) -> None:
        """Add the files that have some names, the rarer the more."""
        scores: defaultdict[str, float] = defaultdict(float)
        ties: dict[str, list[tuple[float, str]]] = {}
        for name in names[:_MAX_NAMES]:
            files = [path for path, _ in self._store.files_with(name)]
            if not files or len(files) > _COMMON:
                continue
            rarity = math.log(self._files / len(files))
            for path in files:
                scores[path] += rarity
                ties.setdefault(path, []).append((-rarity, name))
        self._add(sign, scores)
        for path, candidate in self.candidates.items():
            candidate.names = list(dict.fromkeys([*candidate.names, *(name for _, name in sorted(ties.get(path, ())))]))

    def _called_files(self, known: Mapping[str, Lines]) -> dict[str, float]:
        """The files that define what the given lines use, or the tests of a failure."""
        counts: Counter[str] = Counter()
        for path, lines in known.items():
            text = self._world.text(path).decode("utf-8", "replace").split("\n")
            for first, last in lines or self._failed_lines(path):
                counts.update(_NAME.findall("\n".join(text[first - 1 : last])))
        scores: defaultdict[str, float] = defaultdict(float)
        for name, _ in counts.most_common(_MAX_CALLED):
            symbols = self._store.find_symbols(name, limit=_MANY_DEFINE)
            if len(symbols) < _MANY_DEFINE:
                for symbol in symbols:
                    scores[symbol.file] += 1 / len(symbols)
        return dict(scores)

    def _failed_lines(self, path: str) -> Lines:
        facts = self._world.facts(path)
        wanted = set(self._task.failed_names)
        return tuple((each.line, each.end_line) for each in facts.definitions if each.name in wanted) if facts else ()

    def _similar_files(self, known: Iterable[str]) -> dict[str, float]:
        """The files whose names share words with those given: tests of a module, its twin for another system."""
        own = [_stem_words(path) for path in known]
        scores: dict[str, float] = {}
        for path in self._world.snapshot.files if own else ():
            words = _stem_words(path)
            best = max((len(words & stem) / len(words | stem) for stem in own if stem and words), default=0.0)
            if best:
                scores[path] = best
        return scores


def _names(text: str) -> list[str]:
    """Identifiers of a text, the most frequent first."""
    return [name for name, _ in Counter(_NAME.findall(text)).most_common()]


def _stem_words(path: str) -> frozenset[str]:
    """The words of a file's name, or of its folder's where the file stands for the folder."""
    folder, _, name = path.rpartition("/")
    words = frozenset(word.rstrip("s") for word in parts(name.partition(".")[0]) if word not in _AFFIXES)
    if words <= _WHOLE_FOLDER:
        return frozenset(word.rstrip("s") for word in parts(folder.rpartition("/")[2]))
    return words


def _nearness(own: Sequence[str], other: Sequence[str]) -> float:
    """How much of two folders is the same: steps from the root, and names that both have, as in src/x and tests/x."""
    same = 0
    for left, right in zip(own, other, strict=False):
        if left != right:
            break
        same += 1
    return (same + 0.5 * len(set(own) & set(other))) / max(1.0, 1.5 * max(len(own), len(other)))
