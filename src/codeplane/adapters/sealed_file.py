"""Secrets by name in a sealed file of the owner's own settings folder; a copy of that file alone opens nothing."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from codeplane.adapters.file_replacement import write_private
from codeplane.kernel.errors import ConfigInvalid, LedgerCorrupt

_SEAL_BYTES = 32
_MAX_BYTES = 1024 * 1024


class SealedFile:
    """Texts by name in `NAME.sealed`, which only the owner's account reads; the key is `NAME.key` beside it."""

    def __init__(self, folder: Path, *, name: str, label: str, hint: str) -> None:
        """`hint` says how what is in it is entered again."""
        self._folder = folder
        self._sealed = f"{name}.sealed"
        self._key = f"{name}.key"
        self._label = label
        self._hint = hint

    def read(self) -> dict[str, str]:
        """The texts by their names; ConfigInvalid when the file cannot be opened."""
        sealed = self._bytes(self._sealed)
        if sealed is None:
            return {}
        from codeplane.adapters.sealed_bytes import SealedBytes

        try:
            values = json.loads(SealedBytes(self._seal()).open(sealed, self._label))
        except (LedgerCorrupt, ValueError) as error:
            path = self._folder / self._sealed
            raise ConfigInvalid(
                f"{path} cannot be opened: it or {self._key} beside it was changed",
                hint=f"rm {path}, then {self._hint}",
            ) from error
        return {str(name): str(value) for name, value in values.items()}

    def store(self, name: str, value: str) -> None:
        """Keep a text, in place of an earlier one of that name."""
        self._write(self.read() | {name: value})

    def remove(self, name: str) -> bool:
        """Forget a text; False when there was none."""
        values = self.read()
        if values.pop(name, None) is None:
            return False
        self._write(values)
        return True

    def _write(self, values: Mapping[str, str]) -> None:
        # Late: few have such a file, and everybody reads settings.
        from codeplane.adapters.sealed_bytes import SealedBytes

        sealed = SealedBytes(self._seal()).seal(json.dumps(values).encode(), self._label)
        write_private(self._folder / self._sealed, sealed)

    def _seal(self) -> bytes:
        content = self._bytes(self._key)
        if content is None:
            seal = secrets.token_bytes(_SEAL_BYTES)
            write_private(self._folder / self._key, seal.hex().encode())
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
