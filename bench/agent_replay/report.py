"""The figures of played tasks: ratios with intervals, by kind and language, and the worst cases."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.measure import table

_DRAWS = 1000
_WORST = 10
SIDES = ("shell", "codeplane")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a side took for a task, and how right the answer was."""

    calls: int
    size: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A task that both sides played."""

    key: str
    repo: str
    kind: str
    language: str
    shell: Cost
    codeplane: Cost

    def to_json(self) -> dict[str, object]:
        """The result as a line of a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Played":
        """A result from a line of a file."""
        return cls(**row | {side: Cost(**row[side]) for side in SIDES})


def report(played: Sequence[Played], tool_list: int) -> str:
    """All of it as text."""
    groups = [("all", list(played)), *_groups(played, lambda row: row.kind), *_groups(played, lambda row: row.language)]
    rows = [_row(name, group) for name, group in groups]
    headings = ["", "tasks", "calls", "95 %", "bytes", "95 %", "shell calls", "ours", "shell bytes", "ours"]
    text = table([*headings, "shell right", "ours"], rows)
    sessions = len({row.key.rpartition(" ")[0] for row in played})
    ours, shell = (sum(getattr(row, side).size for row in played) for side in ("codeplane", "shell"))
    text += f"\n\nwith the tool list ({tool_list:,} bytes) once for each of {sessions} commits: "
    text += f"{(ours + tool_list * sessions) / max(shell, 1):.2f} x of the bytes"
    text += "\n\nmost bytes above the shell's\n"
    worst = sorted(played, key=lambda row: row.shell.size - row.codeplane.size)[:_WORST]
    text += "\n".join(_line(row) for row in worst)
    text += "\n\nleast right against the shell\n"
    worse = sorted(played, key=lambda row: row.codeplane.score - row.shell.score)[:_WORST]
    return text + "\n".join(_line(row) for row in worse if row.codeplane.score < row.shell.score)


def _groups(played: Sequence[Played], key: Callable[[Played], str]) -> Iterator[tuple[str, list[Played]]]:
    for name in sorted({key(row) for row in played}):
        yield name, [row for row in played if key(row) == name]


def _line(row: Played) -> str:
    shell, ours = row.shell, row.codeplane
    return (
        f"  {row.key} ({row.language}): {ours.size} against {shell.size} bytes, "
        f"{ours.calls} against {shell.calls} calls, right {ours.score:.2f} against {shell.score:.2f}"
    )


def _row(name: str, group: Sequence[Played]) -> list[str]:
    cells = [name, str(len(group))]
    for figure in ("calls", "size"):
        ratio, low, high = interval(group, figure)
        cells += [f"{ratio:.2f} x", f"{low:.2f}-{high:.2f}"]
    for figure in ("calls", "size"):
        cells += [f"{sum(getattr(getattr(row, side), figure) for row in group):,}" for side in SIDES]
    return cells + [f"{sum(getattr(row, side).score for row in group) / len(group):.3f}" for side in SIDES]


def interval(group: Sequence[Played], figure: str) -> tuple[float, float, float]:
    """The ratio of sums, and the middle 95 % of it over tasks drawn again with replacement."""
    pairs = [(getattr(row.codeplane, figure), getattr(row.shell, figure)) for row in group]
    chance = random.Random(0)
    ratios = sorted(_ratio(chance.choices(pairs, k=len(pairs))) for _ in range(_DRAWS))
    return _ratio(pairs), ratios[int(_DRAWS * 0.025)], ratios[int(_DRAWS * 0.975)]


def _ratio(pairs: Sequence[tuple[int, int]]) -> float:
    return sum(ours for ours, _ in pairs) / max(sum(shell for _, shell in pairs), 1)
