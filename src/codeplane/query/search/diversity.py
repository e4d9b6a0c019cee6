"""Maximal marginal relevance: what repeats an earlier result comes after what does not."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Static vectors of one topic are near to each other anyway: what is less alike than this repeats nothing.
_ALIKE = 0.9


def diversify(scores: Sequence[float], vectors: NDArray[np.float32], weight: float) -> list[int]:
    """The order of results by score less `weight`, a share of the best, times the likeness to what comes before.

    A row of zeros is like nothing.
    """
    if not scores:
        return []
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(norms > 0, norms, 1)
    likeness = np.clip((rows @ rows.T - _ALIKE) / (1 - _ALIKE), 0, 1)
    left = np.array(scores, np.float64)
    loss = weight * float(left.max(initial=0.0))
    repeated = np.zeros(len(left))
    order: list[int] = []
    for _ in scores:
        best = int(np.argmax(left - loss * repeated))
        order.append(best)
        left[best] = -np.inf
        repeated = np.maximum(repeated, likeness[best])
    return order
