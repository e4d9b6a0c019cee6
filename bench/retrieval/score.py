"""Scores of a ranked list of files: recall, reciprocal rank, what fits into a budget of tokens, and intervals."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[^A-Za-z0-9_\s]")
# As the benchmark packs them: so much of each file, in the order of rank, until the budget is full.
MOST_OF_FILE = 8_000
_BUDGET_TOKENS = 8_000
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The scores of one method on one case; `answered` is False where it said that nothing fits."""

    case_id: str
    kind: str
    repo: str
    half: str
    is_natural: bool
    method: str
    answered: bool
    fit: float = 0.0
    recall_5: float = 0.0
    recall_20: float = 0.0
    reciprocal_rank: float = 0.0
    in_budget: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The score as a line of a file."""
        return asdict(self)


def recall(right: frozenset[str], ranked: Sequence[str], top: int) -> float:
    """The share of right files among the first."""
    return len(right & set(ranked[:top])) / len(right)


def reciprocal_rank(right: frozenset[str], ranked: Sequence[str]) -> float:
    """One over the place of the first right file among twenty."""
    return next((1 / place for place, path in enumerate(ranked[:20], 1) if path in right), 0.0)


def in_budget(right: frozenset[str], ranked: Sequence[str], text_of: Callable[[str], str | None]) -> float:
    """The share of right files of which something fits into the budget, packing files in the order of rank."""
    used, found = 0, set()
    for path in ranked[:20]:
        text = text_of(path)
        if text is None:
            continue
        header, content = len(_TOKEN.findall(f"### {path}")), len(_TOKEN.findall(text[:MOST_OF_FILE]))
        if path in right and min(content, _BUDGET_TOKENS - used - header) > 0:
            found.add(path)
        used += header + content + 1
        if used >= _BUDGET_TOKENS:
            break
    return len(found) / len(right)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean with its 95 % bootstrap interval."""
    if not values:
        return 0.0, 0.0, 0.0
    drawn = random.Random(1)
    means = sorted(sum(drawn.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return sum(values) / len(values), means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
