"""The default model: WordLlama's vectors, read from the files its wheel brings along."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from codeplane.kernel.errors import EmbedderFailed
from codeplane.vectors.static_vectors import StaticVectors
from codeplane.vectors.tensors import tensors

_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
# Raised when the same text would get another vector than before.
_REVISION = 1


def wordllama() -> StaticVectors:
    """The model, without importing the package: that takes long, sets up logging, and may ask the network."""
    try:
        spec, release = find_spec("wordllama"), version("wordllama")
    except PackageNotFoundError:
        spec, release = None, ""
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderFailed("WordLlama is not installed", hint="pip install wordllama, then: cpl down && cpl up")
    folder = Path(next(iter(spec.submodule_search_locations)))
    weights = tensors(folder / _WEIGHTS).get("embedding.weight")
    if weights is None:
        raise EmbedderFailed(f"WordLlama {release} has no vectors where they were", hint="pip install 'wordllama<0.5'")
    matrix = weights[:, :256]
    return StaticVectors(
        name=f"wordllama-{matrix.shape[1]} {release} r{_REVISION}", tokenizer_file=folder / _TOKENIZER, matrix=matrix
    )
