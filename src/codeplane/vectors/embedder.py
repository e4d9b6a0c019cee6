"""The embedder protocol, and helpers of its implementations."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# What a model reads of one text; chunks are shorter, and a longer query says nothing more.
MAX_CHARACTERS = 8192


class Embedder(Protocol):
    """A model; the same text always gives the same vector, whatever else is in the batch."""

    @property
    def name(self) -> str:
        """The model and its version; vectors of different names are never compared."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as rows of length one, or of zeros for unknown text."""


def clip_text(text: str) -> str:
    """Clip a text to what a model reads, without lone surrogates."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()


def normalise(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length one; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    lengths[lengths == 0] = 1
    scaled: NDArray[np.float32] = matrix / lengths[:, None]
    return scaled
