"""The file of settings that `cpl models` writes, beside the owner's own: `models.yaml`."""

from pathlib import Path

from codeplane.adapters.file_replacement import replace_file, storage_error
from codeplane.adapters.yaml_document import Document, Origin
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject

NAME = "models.yaml"
_HEAD = "# Written by `cpl models`; what ~/.config/codeplane/config.yaml says of `models` counts before it.\n"


class ModelSettings:
    """Adds and removes providers in the file, and leaves everything else in it alone."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def add(self, provider: JsonObject, *, is_default: bool, is_external: bool) -> None:
        """Put a provider into the file, in place of one with its name."""
        models = self._read()
        others = [entry for entry in _providers(models) if entry.get("name") != provider["name"]]
        models["providers"] = [*others, provider]
        named = provider.get("models")
        if is_default and isinstance(named, list) and named:
            models["default"] = f"{provider['name']}/{named[0]}"
        if is_external:
            models["external"] = True
        self._write(models)

    def remove(self, name: str) -> bool:
        """Take a provider out of the file; False when it is not there."""
        models = self._read()
        left = [entry for entry in _providers(models) if entry.get("name") != name]
        if len(left) == len(_providers(models)):
            return False
        models["providers"] = left
        if str(models.get("default", "")).startswith(f"{name}/"):
            del models["default"]
        self._write(models)
        return True

    def _read(self) -> JsonObject:
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigInvalid(f"{self._path} cannot be read: {error}") from error
        value = Document.parse(text, Origin(name=str(self._path), is_file=True)).value
        models = value.get("models") if isinstance(value, dict) else None
        return dict(models) if isinstance(models, dict) else {}

    def _write(self, models: JsonObject) -> None:
        import yaml

        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, self._path) from error
        replace_file(self._path, _HEAD + yaml.safe_dump({"models": models}, sort_keys=False, allow_unicode=True))


def _providers(models: JsonObject) -> list[JsonObject]:
    entries = models.get("providers")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
