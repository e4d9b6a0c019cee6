"""Keys of model providers: from the environment, or from a sealed file in the owner's own settings folder."""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from codeplane.adapters.file_replacement import storage_error
from codeplane.kernel.config import ModelsConfig
from codeplane.kernel.errors import ConfigInvalid, LedgerCorrupt

_SEALED = "model-keys.sealed"
_SEAL = "model-keys.key"
_LABEL = "keys of model providers"
_SEAL_BYTES = 32
_MAX_BYTES = 256 * 1024


class ProviderKeys:
    """Keys by provider in a file that only the owner's account reads; a copy of it alone opens nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> dict[str, str]:
        """The keys by the providers' names; ConfigInvalid when the file cannot be opened."""
        sealed = self._bytes(_SEALED)
        if sealed is None:
            return {}
        from codeplane.adapters.sealed_bytes import SealedBytes

        try:
            keys = json.loads(SealedBytes(self._seal()).open(sealed, _LABEL))
        except (LedgerCorrupt, ValueError) as error:
            path = self._folder / _SEALED
            raise ConfigInvalid(
                f"{path} cannot be opened: it or {_SEAL} beside it was changed",
                hint=f"rm {path}, then enter the keys again: cpl models key NAME",
            ) from error
        return {str(name): str(key) for name, key in keys.items()}

    def store(self, name: str, key: str) -> None:
        """Keep the key of a provider, in place of an earlier one."""
        self._write(self.read() | {name: key})

    def remove(self, name: str) -> bool:
        """Forget the key of a provider; False when there was none."""
        keys = self.read()
        if keys.pop(name, None) is None:
            return False
        self._write(keys)
        return True

    def _write(self, keys: Mapping[str, str]) -> None:
        # Late: few have such a file, and everybody reads settings.
        from codeplane.adapters.sealed_bytes import SealedBytes

        sealed = SealedBytes(self._seal()).seal(json.dumps(keys).encode(), _LABEL)
        _write_private(self._folder / _SEALED, sealed)

    def _seal(self) -> bytes:
        content = self._bytes(_SEAL)
        if content is None:
            seal = secrets.token_bytes(_SEAL_BYTES)
            _write_private(self._folder / _SEAL, seal.hex().encode())
            return seal
        seal = bytes.fromhex(content.decode("ascii").strip())
        if len(seal) != _SEAL_BYTES:
            raise ValueError("the seal is too short")
        return seal

    def _bytes(self, name: str) -> bytes | None:
        path = self._folder / name
        try:
            with path.open("rb") as file:
                return file.read(_MAX_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigInvalid(f"{path} cannot be read: {error.strerror}") from error


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


def _write_private(path: Path, data: bytes) -> None:
    """Replace a file that only this account may read."""
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise storage_error(error, path) from error
