"""Batches of targets for workers: the most expensive targets first, each to the worker with the least to do."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeplane.testing.target import TargetSelection

MAX_BATCH = 40
MAX_BATCH_SEC = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Targets that one process runs."""

    wanted: tuple[TargetSelection, ...]


def assign_batches(
    wanted: Sequence[TargetSelection], workers: int, cost: Callable[[TargetSelection], float]
) -> list[list[Batch]]:
    """Return the batches of each worker, with loads that differ by at most one target's cost as far as builds allow."""
    pieces: dict[object, list[TargetSelection]] = {}
    for at, selection in enumerate(wanted):
        runner = selection.target.runner
        whole = runner is not None and runner.exclusive and selection.target.custom is None
        pieces.setdefault((selection.target.runner_name, selection.target.root) if whole else at, []).append(selection)
    weighed = [(sum(map(cost, piece)), at, piece) for at, piece in enumerate(pieces.values())]
    loads = [(0.0, worker) for worker in range(max(1, min(workers, len(weighed))))]
    given: list[list[TargetSelection]] = [[] for _ in loads]
    for weight, _, piece in sorted(weighed, key=lambda weight: (-weight[0], weight[1])):
        load, worker = heapq.heappop(loads)
        given[worker] += piece
        heapq.heappush(loads, (load + weight, worker))
    return [_batches(selections, cost) for selections in given if selections]


def _batches(wanted: Sequence[TargetSelection], cost: Callable[[TargetSelection], float]) -> list[Batch]:
    open_now: dict[tuple[str, str], list[TargetSelection]] = {}
    found: list[list[TargetSelection]] = []
    for selection in wanted:
        key = selection.process_key
        batch = open_now.get(key) if key is not None else None
        if batch is None or len(batch) >= MAX_BATCH or sum(map(cost, batch)) + cost(selection) > MAX_BATCH_SEC:
            batch = []
            found.append(batch)
            if key is not None:
                open_now[key] = batch
        batch.append(selection)
    return [Batch(wanted=tuple(batch)) for batch in found]
