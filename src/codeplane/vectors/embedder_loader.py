"""The loader of the embedding model that the settings name."""

from pathlib import Path

from codeplane.kernel.config import EmbeddingsConfig
from codeplane.kernel.errors import ConfigInvalid
from codeplane.vectors.embedder import Embedder


def load_embedder(config: EmbeddingsConfig, *, key: str | None) -> Embedder:
    """Load the configured model, importing only what it needs; `key` authenticates an endpoint."""
    if config.model == "wordllama":
        from codeplane.vectors.static_vectors import load_wordllama

        return load_wordllama()
    if config.model == "endpoint":
        from codeplane.vectors.endpoint import EndpointEmbedder, EndpointSettings

        if not (config.base_url and config.endpoint_model and config.dimensions):
            raise ConfigInvalid(
                "embeddings.model is endpoint, but base_url, endpoint_model or dimensions is not set",
                hint="set all three under embeddings in .codeplane/config.yaml",
            )
        return EndpointEmbedder(
            EndpointSettings(
                base_url=config.base_url, model=config.endpoint_model, dimensions=config.dimensions, key=key
            )
        )
    if not config.folder:
        raise ConfigInvalid(
            f"embeddings.model is {config.model}, but no folder is set", hint="set embeddings.folder to its files"
        )
    if config.model == "model2vec":
        from codeplane.vectors.static_vectors import load_model2vec

        return load_model2vec(Path(config.folder))
    from codeplane.vectors.onnx import OnnxEmbedder

    return OnnxEmbedder(Path(config.folder))
