"""What turns text into vectors, whichever model does it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# What a model reads of one text; chunks are shorter, and a longer query says nothing more.
MAX_CHARACTERS = 8192


class Embedder(Protocol):
    """A model: the same text gives the same vector, whatever else is asked along with it."""

    @property
    def name(self) -> str:
        """The model and its version; vectors of two names are never compared."""

    @property
    def dimensions(self) -> int:
        """How long each vector is."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length one for each text, or of zeros where the model knows nothing of it."""


def bounded(text: str) -> str:
    """What a model reads of a text: its beginning, without halves of characters that no encoding carries."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()


def normalised(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows brought to length one; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    lengths[lengths == 0] = 1
    scaled: NDArray[np.float32] = matrix / lengths[:, None]
    return scaled
