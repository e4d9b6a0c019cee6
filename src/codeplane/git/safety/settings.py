"""The git settings that apply to a work tree, and the files they come from, included ones too."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = "file:"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingEntry:
    """A setting in one file; an included file has the scope of the file that includes it."""

    scope: str
    file: Path | None
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings that apply, and the files that set them or would if they existed."""

    settings: Mapping[str, str]
    files: tuple[Path, ...]
    entries: tuple[SettingEntry, ...]


def settings_of(root: Path, ask: Callable[..., str]) -> Settings:
    """Read the settings of the work tree `root`; `ask` runs a git command there and returns its output."""
    fields = ask("config", "--list", "--show-scope", "--show-origin", "--includes", "--null").split("\0")
    entries: list[SettingEntry] = []
    files: dict[Path, None] = {}
    for scope, origin, entry in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        key, _, value = entry.partition("\n")
        file = root / origin.removeprefix(_FILE) if origin.startswith(_FILE) else None
        entries.append(SettingEntry(scope=scope, file=file, key=key, value=value))
        if file is None:
            continue
        files[file] = None
        if key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
            files[Path(os.path.normpath(file.parent / Path(value).expanduser()))] = None
    # The last entry of a key wins.
    return Settings(settings={entry.key: entry.value for entry in entries}, files=tuple(files), entries=tuple(entries))
