"""Keys of model providers: from the environment, or from a sealed file in the owner's own settings folder."""

from collections.abc import Mapping
from pathlib import Path

from codeplane.adapters.sealed_file import SealedFile
from codeplane.kernel.config import ModelsConfig


class ProviderKeys(SealedFile):
    """Keys by provider."""

    def __init__(self, folder: Path) -> None:
        hint = "enter the keys again: cpl models key NAME"
        super().__init__(folder, name="model-keys", label="keys of model providers", hint=hint)


def load_provider_keys(models: ModelsConfig, environ: Mapping[str, str], folder: Path | None) -> dict[str, str]:
    """The keys of the configured providers that have one; a variable that is set counts before the file."""
    if not models.providers:
        return {}
    stored = ProviderKeys(folder).read() if folder is not None else {}
    keys = {
        provider.name: environ.get(provider.api_key_env, "").strip() or stored.get(provider.name, "")
        for provider in models.providers
    }
    return {name: key for name, key in keys.items() if key}
