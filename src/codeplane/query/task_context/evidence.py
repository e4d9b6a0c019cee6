"""The evidence for each file that it is to be read next, and how much each kind of it counts."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from codeplane.code.languages.registry import PROJECT_FAMILIES, languages
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.fulltext import FullText
from codeplane.index.words import parts
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.file_kinds import Kind, kind_of
from codeplane.query.search.past_changes import NO_CHANGES, PastChanges
from codeplane.query.search.question import parse_question
from codeplane.query.search.ranking import rank_by, weigh
from codeplane.query.task_context.task_input import Lines, TaskInput

Want = Literal["any", "tests", "cause"]
Sign = Literal[
    "words",
    "together",
    "history",
    "changed",
    "named",
    "calls",
    "alike",
    "tested",
    "near",
    "beside",
    "manifest",
    "mentioned",
]

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
_MANIFESTS = {language: family.packages for family in PROJECT_FAMILIES for language in family.languages}
# A change has more words that tell something than a report.
_MAX_WORDS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each sign and each kind of file adds, and what a file without any has."""

    signs: Mapping[Sign, float]
    kinds: Mapping[Kind, float]
    base: float


# Fitted to changes drawn from commits of repositories that no case is of, and rounded; `bench.retrieval` measures them.
# What imports a file, uses its names or has lines or keys in common with a change added nothing to these.
WEIGHTS: Mapping[Want, Weights] = {
    "tests": Weights(
        signs={"words": 3.6, "together": 2.8, "history": 2.6, "named": 1.1, "alike": 1.7, "mentioned": 2.2},
        kinds={"tests": 3.0, "source": -3.0, "declarations": -3.0, "prose": -1.6},
        base=-9.0,
    ),
    "any": Weights(
        signs={
            "words": 4.2, "together": 1.8, "history": 1.6, "changed": 0.8, "named": 0.8, "alike": 0.5, "tested": 1.2,
            "near": -0.5, "beside": 0.9, "manifest": 1.8, "mentioned": 1.1,
        },
        kinds={"source": -0.8, "declarations": -0.4, "settings": 1.0, "data": 0.3, "prose": -0.2},
        base=-6.7,
    ),
    "cause": Weights(
        signs={
            "words": 2.7, "together": 3.0, "named": 0.5, "calls": 0.8, "alike": 0.8, "near": 0.8, "mentioned": 3.0,
        },
        kinds={"source": 1.8, "declarations": 1.8, "tests": -2.3},
        base=-7.0,
    ),
}  # fmt: skip
# Of a task alone, without a file that it is about.
TASK_WEIGHTS = Weights(
    signs={"words": 4.3, "history": 2.7, "named": 0.8, "mentioned": 1.1},
    kinds={"tests": -0.3, "prose": -0.5, "declarations": -0.4, "settings": 0.8, "data": 0.4},
    base=-6.0,
)


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A file with its signs, each from 0 to 1."""

    path: str
    signs: dict[Sign, float] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    """Names that tie it to what the caller has, rarest first."""

    def score(self, weights: Weights) -> float:
        """How likely it is to be needed, from 0 to 1, comparable from one question to the next."""
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
        self._title: frozenset[str] = frozenset()
        # The share of the words that the best file has, and whether that is an answer by them alone.
        self.fit = 0.0
        self.words_answer = False

    def weights(self, want: Want) -> Weights:
        """What signs count for what is wanted."""
        return TASK_WEIGHTS if want == "any" and not self._task.known else WEIGHTS[want]

    def collect(self, together: Mapping[str, float], changes: PastChanges = NO_CHANGES) -> list[Candidate]:
        """Every file with a sign; `together` are the files that changed with those given, `changes` the history."""
        task = self._task
        known = task.known
        self._add("words", self._by_words())
        self._add("together", together)
        self._add("history", changes.files_like(self.words, self._title))
        self._add_names("changed", self._changed_names())
        self._add_names("named", [name for name in _names(task.prose) if not name.islower() or "_" in name])
        self._add("calls", self._called_files(known))
        self._add("alike", self._similar_files(known))
        # The place where it failed says more than those that led there.
        self._add("mentioned", {path: _FURTHER**at for at, path in enumerate(task.failed)})
        self._add("manifest", dict.fromkeys(self._manifests(known), 1.0))
        folders_of_known = {path.rpartition("/")[0] for path in known}
        near = [folder.split("/") for folder in folders_of_known]
        for path, candidate in self.candidates.items():
            folder = path.rpartition("/")[0]
            candidate.signs["near"] = max((_nearness(own, folder.split("/")) for own in near), default=0.0)
            if folder in folders_of_known:
                candidate.signs["beside"] = 1.0
            if "alike" in candidate.signs and kind_of(path) == "tests":
                candidate.signs["tested"] = candidate.signs["alike"]
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
        self.words, self._title = evidence.words, evidence.title
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

    def _manifests(self, known: Iterable[str]) -> set[str]:
        """The files that say what the packages of some files are made of, such as Cargo.toml."""
        files = self._world.snapshot.files
        found: set[str] = set()
        for path in known:
            language = languages().of(path)
            names = _MANIFESTS.get(language.name, ()) if language is not None else ()
            found.update(
                f"{folder}{name}" for folder in _folders_up(path) for name in names if f"{folder}{name}" in files
            )
        return found

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


def _folders_up(path: str) -> Iterator[str]:
    """The folders that a file is in, each with a slash, the innermost first; the root is empty."""
    while path:
        path = path.rpartition("/")[0]
        yield f"{path}/" if path else ""


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
