"""Models in the format of Model2Vec, from a folder on this machine."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codeplane.kernel.errors import EmbedderFailed
from codeplane.vectors.fingerprint import fingerprint
from codeplane.vectors.static_vectors import StaticVectors
from codeplane.vectors.tensors import tensors

# Raised when the same text would get another vector than before.
_REVISION = 1


def model2vec(folder: Path) -> StaticVectors:
    """The model in `model.safetensors` and `tokenizer.json`; nothing is downloaded."""
    weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    arrays = tensors(weights)
    if "embeddings" not in arrays:
        raise EmbedderFailed(
            f"{folder.name} holds no Model2Vec model", hint="name a folder that StaticModel.save_pretrained wrote"
        )
    return StaticVectors(
        name=f"model2vec {folder.name} {fingerprint(weights, tokenizer)} r{_REVISION}",
        tokenizer_file=tokenizer,
        matrix=_matrix(folder, arrays),
    )


def _matrix(folder: Path, arrays: dict[str, NDArray[np.generic]]) -> NDArray[np.generic]:
    """A row for each token: newer models share rows between tokens and keep the weights apart."""
    matrix = arrays["embeddings"]
    mapping, weights = arrays.get("mapping"), arrays.get("weights")
    try:
        if mapping is not None:
            matrix = matrix[mapping.astype(np.intp)]
        if weights is not None:
            matrix = matrix.astype(np.float32) * weights.astype(np.float32)[:, None]
    except (IndexError, ValueError) as error:
        raise EmbedderFailed(
            f"the arrays of {folder.name} do not fit each other: {error}", hint="save the model again"
        ) from error
    return matrix
