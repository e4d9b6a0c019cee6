"""Vectors on disk, one byte per dimension and a scale per row, and their scores."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# Fits the second-level cache as float32, and is too little work for the linear algebra library to start threads.
_BLOCK = 1024


def row_type(dimensions: int) -> np.dtype[np.void]:
    """The type of a row: a scale, and the vector in units of it."""
    return np.dtype([("scale", "<f4"), ("vector", "i1", (dimensions,))])


def quantise(matrix: NDArray[np.float32]) -> NDArray[np.void]:
    """Quantise rows to eight bits per dimension, each with its own scale."""
    scales = np.abs(matrix).max(axis=1, initial=0) / np.float32(127)
    rows = np.zeros(len(matrix), row_type(matrix.shape[1]))
    rows["scale"] = scales
    scales[scales == 0] = 1
    rows["vector"] = np.rint(matrix / scales[:, None])
    return rows


def map_rows(path: Path, dimensions: int, rows: int) -> NDArray[np.void]:
    """Memory-map the first rows of a file."""
    kind = row_type(dimensions)
    # As a plain array: slices of a memmap are objects that cost more to make.
    return np.asarray(np.memmap(path, kind, mode="r", shape=(rows,))) if rows else np.empty(0, kind)


class Scorer:
    """Computes dot products of a query with many rows, block by block in one buffer."""

    def __init__(self, dimensions: int) -> None:
        self._buffer = np.empty((_BLOCK, dimensions), np.float32)

    def score(
        self, rows: NDArray[np.void], wanted: NDArray[np.intp], query: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Score the wanted rows, in order."""
        scores = np.empty(len(rows), np.float32)
        vectors, scales = rows["vector"], rows["scale"]
        for low, high in _blocks(wanted, len(rows)):
            block = self._buffer[: high - low]
            np.copyto(block, vectors[low:high])
            np.dot(block, query, out=scores[low:high])
            scores[low:high] *= scales[low:high]
        return scores[wanted]


def _blocks(wanted: NDArray[np.intp], rows: int) -> Iterator[tuple[int, int]]:
    """The blocks with a wanted row."""
    held = np.zeros(rows // _BLOCK + 1, np.bool_)
    held[wanted // _BLOCK] = True
    for block in np.flatnonzero(held).tolist():
        yield block * _BLOCK, min((block + 1) * _BLOCK, rows)


def contenders(scores: NDArray[np.float32], limit: int, margin: float) -> NDArray[np.intp]:
    """Indexes of scores that may be among the highest, given an error of half the margin."""
    if limit >= len(scores):
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= least - np.float32(margin))


def rescore(rows: NDArray[np.void], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Exact scores, independent of a row's place in a block."""
    scores = np.empty(len(rows))
    for low in range(0, len(rows), _BLOCK):
        block = rows[low : low + _BLOCK]
        products = np.multiply(block["vector"], query, dtype=np.float64)
        scores[low : low + _BLOCK] = products.sum(axis=1) * block["scale"]
    return scores
