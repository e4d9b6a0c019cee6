"""Vectors as they lie on disk, a byte for each dimension and a scale for each row, and their scores."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# Fits the second-level cache as float32, and is too little work for the linear algebra library to start threads.
_BLOCK = 1024


def row_type(dimensions: int) -> np.dtype[np.void]:
    """One row: the scale and the vector in units of it."""
    return np.dtype([("scale", "<f4"), ("vector", "i1", (dimensions,))])


def quantised(matrix: NDArray[np.float32]) -> NDArray[np.void]:
    """Rows of eight bits a dimension, each with a scale of its own so that all eight are used."""
    scales = np.abs(matrix).max(axis=1, initial=0) / np.float32(127)
    rows = np.zeros(len(matrix), row_type(matrix.shape[1]))
    rows["scale"] = scales
    scales[scales == 0] = 1
    rows["vector"] = np.rint(matrix / scales[:, None])
    return rows


def mapped(path: Path, dimensions: int, rows: int) -> NDArray[np.void]:
    """The first rows of a file, read by the system as they are needed."""
    kind = row_type(dimensions)
    # As a plain array: slices of a memmap are objects that cost more to make.
    return np.asarray(np.memmap(path, kind, mode="r", shape=(rows,))) if rows else np.empty(0, kind)


class Scorer:
    """Dot products of a query with many rows, block by block through one small buffer."""

    def __init__(self, dimensions: int) -> None:
        self._buffer = np.empty((_BLOCK, dimensions), np.float32)

    def score(
        self, rows: NDArray[np.void], wanted: NDArray[np.intp], query: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The score of each wanted row, in their order."""
        scores = np.empty(len(rows), np.float32)
        vectors, scales = rows["vector"], rows["scale"]
        for low, high in _blocks(wanted, len(rows)):
            block = self._buffer[: high - low]
            np.copyto(block, vectors[low:high])
            np.dot(block, query, out=scores[low:high])
            scores[low:high] *= scales[low:high]
        return scores[wanted]


def _blocks(wanted: NDArray[np.intp], rows: int) -> Iterator[tuple[int, int]]:
    """The blocks that hold a wanted row."""
    held = np.zeros(rows // _BLOCK + 1, np.bool_)
    held[wanted // _BLOCK] = True
    for block in np.flatnonzero(held).tolist():
        yield block * _BLOCK, min((block + 1) * _BLOCK, rows)


def contenders(scores: NDArray[np.float32], limit: int, margin: float) -> NDArray[np.intp]:
    """Where scores are that may be among the highest, if each of them is off by less than half of the margin."""
    if limit >= len(scores):
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= least - np.float32(margin))


def rescored(rows: NDArray[np.void], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Scores that depend on a row alone; the fast ones differ in their last bits by where in a block the row is."""
    scores = np.empty(len(rows))
    for low in range(0, len(rows), _BLOCK):
        block = rows[low : low + _BLOCK]
        products = np.multiply(block["vector"], query, dtype=np.float64)
        scores[low : low + _BLOCK] = products.sum(axis=1) * block["scale"]
    return scores
