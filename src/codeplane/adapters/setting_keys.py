"""The dotted keys of the settings, and the nearest one to a misspelt key."""

import difflib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal, get_args, get_origin

from codeplane.kernel.config import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The type and default of one key."""

    takes_text: bool
    takes_many: bool
    item_keys: tuple[str, ...] = ()


class SettingKeys:
    """Every key of the settings model, such as `server.port`."""

    def __init__(self, model: type[Section]) -> None:
        settings = dict(_spread(model, ""))
        self.settings: Mapping[str, Setting] = MappingProxyType(
            {key: setting for key, setting in settings.items() if setting is not None}
        )
        self.sections = frozenset(key for key, setting in settings.items() if setting is None)

    def section_keys(self, key: str) -> tuple[str, ...]:
        """Return the keys of a key's section."""
        section = key.rpartition(".")[0]
        return tuple(other for other in (*self.settings, *self.sections) if other.rpartition(".")[0] == section)

    def find_nearest(self, key: str) -> str | None:
        """Return the nearest key: of the same section first, then of any."""
        name, beside = key.rpartition(".")[2], self.section_keys(key)
        elsewhere = (other for other in self.settings if other.count(".") == key.count(".") and other not in beside)
        for candidates, wanted in (
            ({other.rpartition(".")[2]: other for other in beside}, name),
            ({other: other for other in elsewhere}, key),
            # The first of two with the same name.
            ({other.rpartition(".")[2]: other for other in reversed(tuple(self.settings))}, name),
        ):
            near = difflib.get_close_matches(wanted, candidates, n=1)
            if near:
                return candidates[near[0]]
        return None


@cache
def keys_of(model: type[Section]) -> SettingKeys:
    """Return the cached keys of a model."""
    return SettingKeys(model)


def _spread(model: type[Section], prefix: str) -> Iterator[tuple[str, Setting | None]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if inspect.isclass(kind) and issubclass(kind, Section):
            yield f"{prefix}{name}", None
            yield from _spread(kind, f"{prefix}{name}.")
        elif get_origin(kind) is tuple:
            item = get_args(kind)[0]
            keys = tuple(item.model_fields) if inspect.isclass(item) and issubclass(item, Section) else ()
            yield f"{prefix}{name}", Setting(takes_text=item is str, takes_many=True, item_keys=keys)
        else:
            text = kind is str or get_origin(kind) is Literal
            yield f"{prefix}{name}", Setting(takes_text=text, takes_many=False)
