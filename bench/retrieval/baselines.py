"""Baselines on the same files: BM25 over whole files, and a repository map ranked from what a question names."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from bench.retrieval.cases import Case
from codeplane.index.fulltext import Document, FullText, Term, parts
from codeplane.index.path_kinds import is_test

_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_DEFINITION = re.compile(
    r"^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|static|final|abstract|async|unsafe)\s+)*"
    r"(?:def|class|func(?:\s*\([^)]*\))?|fn|function|const|let|var|interface|type|struct|enum|trait|record)\s+(\w+)",
    re.MULTILINE,
)
_STEPS, _DAMPING = 20, 0.85
# A name that so many files define or use links everything with everything.
_COMMON_DEFINITIONS, _COMMON_USES = 5, 200
_MOST_NAMES = 80


class Bm25:
    """Words of the question against words of whole files."""

    def __init__(self, folder: Path, texts: Mapping[str, str]) -> None:
        self._text = FullText(folder)
        self._text.add(Document(path=path, text=text.encode(), names=()) for path, text in texts.items())
        self._text.commit(1)
        self._text.release()

    def scores(self, question: str, limit: int) -> dict[str, float]:
        """The best files with their scores."""
        counted: Counter[str] = Counter()
        for word in re.findall(r"[^\W_]+", question):
            pieces = parts(word)
            counted.update(pieces if len(pieces) == 1 else (word.lower(), *pieces))
        terms = [Term(field="content", word=word, weight=float(count)) for word, count in counted.most_common(500)]
        return {hit.path: hit.score for hit in self._text.search(terms, limit=limit)}

    def close(self) -> None:
        """Free the index."""
        self._text.close()


class RepoMap:
    """Files linked by names that one defines and another uses, ranked by walks that start at what a question names.

    As aider's repository map does, with the question's words and the given files as the start.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        defines: dict[str, set[str]] = defaultdict(set)
        used: dict[str, Counter[str]] = {}
        for path, text in texts.items():
            for name in _DEFINITION.findall(text):
                defines[name].add(path)
            used[path] = Counter(_NAME.findall(text))
        users: dict[str, set[str]] = defaultdict(set)
        for path, names in used.items():
            for name in names:
                if name in defines:
                    users[name].add(path)
        self._links: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for name, definers in defines.items():
            if len(definers) > _COMMON_DEFINITIONS or len(users[name]) > _COMMON_USES or len(name) < 4:
                continue
            rarity = 1 / (len(definers) * math.sqrt(1 + len(users[name])))
            for definer in definers:
                for user in users[name] - {definer}:
                    weight = rarity * math.sqrt(used[user][name])
                    self._links[user][definer] += weight
                    self._links[definer][user] += 0.5 * weight
        self._paths = list(texts)

    def rank(self, case: Case, words: Mapping[str, float]) -> list[str]:
        """Files for a case, best first; `words` are the scores of BM25."""
        best = max(words.values(), default=1.0)
        start = {path: (score / best) ** 2 for path, score in words.items()}
        known = [path.partition(":")[0] for path in case.given]
        for path in known:
            start[path] = start.get(path, 0.0) + 3.0
        for path in self._paths:
            name = path.rpartition("/")[2]
            if len(name) > 6 and name in case.text:
                start[path] = start.get(path, 0.0) + 1.0
        total = sum(start.values()) or 1.0
        rank = {path: score / total for path, score in start.items()}
        for _ in range(_STEPS):
            spread: dict[str, float] = defaultdict(float)
            for path, score in rank.items():
                links = self._links.get(path)
                if not links:
                    continue
                out = sum(links.values())
                for other, weight in links.items():
                    spread[other] += score * weight / out
            rank = {
                path: (1 - _DAMPING) * start.get(path, 0.0) / total + _DAMPING * spread.get(path, 0.0)
                for path in {*start, *spread}
            }
        most = max(rank.values(), default=1.0)
        stems = [path.rpartition("/")[2].partition(".")[0].lower() for path in known]

        def value(path: str) -> float:
            is_wanted = case.kind == "change to tests" and is_test(path)
            named = any(stem in path.rpartition("/")[2].lower() for stem in stems if len(stem) > 3)
            return rank[path] / most + words.get(path, 0.0) / best + 0.5 * is_wanted + 0.5 * (is_wanted and named)

        return sorted((path for path in rank if path not in known), key=lambda path: (-value(path), path))
