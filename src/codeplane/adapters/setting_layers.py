"""Settings merged from several sources, later ones over earlier ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import ValidationError

from codeplane.adapters.setting_keys import keys_of
from codeplane.adapters.setting_problem import (
    REMOVED,
    SettingProblem,
    config_invalid,
    describe_problem,
    format_value,
    unknown_key_problem,
)
from codeplane.adapters.yaml_document import Document, KeyPath, Origin
from codeplane.kernel.config import Config
from codeplane.kernel.json import JsonObject, JsonValue, dumps


@dataclass(frozen=True, slots=True, kw_only=True)
class _LayerValue:
    """A value of one key, and its position in its document."""

    value: JsonValue
    document: Document
    path: KeyPath


class SettingLayers:
    """Collects settings and problems; yields a Config, or all problems at once."""

    def __init__(self) -> None:
        self._keys = keys_of(Config)
        self._given: dict[str, _LayerValue] = {}
        self._problems: list[SettingProblem] = []

    def add_document(self, document: Document, *, refused: Sequence[str] = ()) -> None:
        """Take everything a file says; `refused` sections and settings are not taken from it."""
        value = document.value
        for name in refused:
            path = tuple(name.split("."))
            if _holds(value, path):
                place = document.origin.at(document.line(path))
                text = "is not taken from a file in the repository: move it to ~/.config/codeplane/config.yaml"
                self._problems.append(SettingProblem(place=place, key=name, text=text))
                value = _without(value, path)
        self._section(document, value, "", ())

    def add(self, origin: Origin, key: str, text: str) -> None:
        """Take one key with its value as text, as of a variable or an option."""
        if key not in self._keys.settings and key not in self._keys.sections:
            self._report_unknown(origin.name, origin, key)
            return
        document = Document.parse(text, origin)
        if key in self._keys.sections:
            self._section(document, document.value, f"{key}.", ())
            return
        value = document.value
        if self._keys.settings[key].takes_text and not isinstance(value, str | list | dict):
            # Where text is expected, `on` or `8080` is text, not a boolean or a number.
            value = text.strip()
        self._setting(document, value, key, ())

    def origins(self) -> dict[str, str]:
        """Return the origin of each key's value."""
        return {
            key: self._given[key].document.origin.name if key in self._given else "default"
            for key in self._keys.settings
        }

    def config(self) -> Config:
        """Return the settings, or raise ConfigInvalid."""
        tree: JsonObject = {}
        for key, given in self._given.items():
            *sections, name = key.split(".")
            branch = tree
            for section in sections:
                branch = cast(JsonObject, branch.setdefault(section, {}))
            branch[name] = given.value
        try:
            config = Config.model_validate_json(dumps(tree), strict=True)
        except ValidationError as error:
            self._judge(error)
            raise config_invalid(self._problems) from None
        if self._problems:
            raise config_invalid(self._problems)
        return config

    def _section(self, document: Document, value: JsonValue, prefix: str, path: KeyPath) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            place = document.origin.at(document.line(path))
            message = f"must be a section of `key: value` lines, not {format_value(value)}"
            self._problems.append(SettingProblem(place=place, key=prefix.rstrip("."), text=message))
            return
        for name, item in value.items():
            key, here = f"{prefix}{name}", (*path, name)
            if key in self._keys.sections:
                self._section(document, item, f"{key}.", here)
            elif key in self._keys.settings:
                self._setting(document, item, key, here)
            else:
                self._report_unknown(document.origin.at(document.line(here)), document.origin, key)

    def _setting(self, document: Document, value: JsonValue, key: str, path: KeyPath) -> None:
        if self._keys.settings[key].takes_many and value is not None and not isinstance(value, list):
            value = [value]
        self._given[key] = _LayerValue(value=value, document=document, path=path)

    def _report_unknown(self, place: str, origin: Origin, key: str) -> None:
        near, known = self._keys.find_nearest(key), self._keys.section_keys(key)
        section, _, _ = key.rpartition(".")
        if origin.is_file and section:
            near = near and near.removeprefix(f"{section}.")
            known = tuple(other.removeprefix(f"{section}.") for other in known)
        text = REMOVED.get(key) or unknown_key_problem(
            near and origin.spell(near), [origin.spell(other) for other in known]
        )
        self._problems.append(SettingProblem(place=place, key=key, text=text))

    def _judge(self, error: ValidationError) -> None:
        for item in error.errors(include_url=False):
            depth = next(
                n for n in range(len(item["loc"]), 0, -1) if ".".join(map(str, item["loc"][:n])) in self._given
            )
            key = ".".join(map(str, item["loc"][:depth]))
            given, within = self._given[key], item["loc"][depth:]
            place = given.document.origin.at(given.document.line((*given.path, *within)))
            text = describe_problem(item, self._keys.settings[key].item_keys)
            self._problems.append(SettingProblem(place=place, key=".".join(map(str, item["loc"])), text=text))


def _holds(value: JsonValue, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True


def _without(value: JsonValue, path: Sequence[str]) -> JsonValue:
    """The value without what is at a path in it."""
    if not isinstance(value, dict):
        return value
    name, *rest = path
    if not rest:
        return {key: item for key, item in value.items() if key != name}
    return {key: _without(item, rest) if key == name else item for key, item in value.items()}
