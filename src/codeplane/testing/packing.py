"""Which worker runs what: the dearest first, each to whoever has the least to do."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeplane.testing.target import Wanted

MAX_BATCH = 40
MAX_BATCH_SEC = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Targets that one process runs."""

    wanted: tuple[Wanted, ...]


def packed(wanted: Sequence[Wanted], workers: int, cost: Callable[[Wanted], float]) -> list[list[Batch]]:
    """The batches of each worker; no worker has more than one target's cost above another, as far as builds allow."""
    pieces: dict[object, list[Wanted]] = {}
    for at, one in enumerate(wanted):
        runner = one.target.runner
        whole = runner is not None and runner.exclusive and one.target.custom is None
        pieces.setdefault((one.target.runner_name, one.target.root) if whole else at, []).append(one)
    weighed = [(sum(map(cost, piece)), at, piece) for at, piece in enumerate(pieces.values())]
    loads = [(0.0, worker) for worker in range(max(1, min(workers, len(weighed))))]
    given: list[list[Wanted]] = [[] for _ in loads]
    for weight, _, piece in sorted(weighed, key=lambda one: (-one[0], one[1])):
        load, worker = heapq.heappop(loads)
        given[worker] += piece
        heapq.heappush(loads, (load + weight, worker))
    return [_batches(one, cost) for one in given if one]


def _batches(wanted: Sequence[Wanted], cost: Callable[[Wanted], float]) -> list[Batch]:
    open_now: dict[tuple[str, str], list[Wanted]] = {}
    found: list[list[Wanted]] = []
    for one in wanted:
        key = one.together
        batch = open_now.get(key) if key is not None else None
        if batch is None or len(batch) >= MAX_BATCH or sum(map(cost, batch)) + cost(one) > MAX_BATCH_SEC:
            batch = []
            found.append(batch)
            if key is not None:
                open_now[key] = batch
        batch.append(one)
    return [Batch(wanted=tuple(batch)) for batch in found]
