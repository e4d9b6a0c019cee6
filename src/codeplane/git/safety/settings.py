"""All settings that hold for a work tree, and the files they come from, those that are included too."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = "file:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A setting as one file gives it; a file that is included has the scope of the one that includes it."""

    scope: str
    file: Path | None
    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds, and where that is said, or would be said if the file were there."""

    settings: Mapping[str, str]
    files: tuple[Path, ...]
    entries: tuple[Entry, ...]


def settings_of(root: Path, ask: Callable[..., str]) -> Settings:
    """The settings of the work tree `root`; `ask` gives what a git command prints there."""
    said = ask("config", "--list", "--show-scope", "--show-origin", "--includes", "--null").split("\0")
    entries: list[Entry] = []
    files: dict[Path, None] = {}
    for scope, origin, entry in zip(said[::3], said[1::3], said[2::3], strict=False):
        key, _, value = entry.partition("\n")
        file = root / origin.removeprefix(_FILE) if origin.startswith(_FILE) else None
        entries.append(Entry(scope=scope, file=file, key=key, value=value))
        if file is None:
            continue
        files[file] = None
        if key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
            files[Path(os.path.normpath(file.parent / Path(value).expanduser()))] = None
    # The last one of a key is the one that holds.
    return Settings(settings={one.key: one.value for one in entries}, files=tuple(files), entries=tuple(entries))
