"""All settings that hold for a work tree, and the files they come from, those that are included too."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = "file:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds, and where that is said, or would be said if the file were there."""

    settings: Mapping[str, str]
    files: tuple[Path, ...]


def settings_of(root: Path, ask: Callable[..., str]) -> Settings:
    """The settings of the work tree `root`; `ask` gives what a git command prints there."""
    said = ask("config", "--list", "--show-origin", "--includes", "--null").split("\0")
    settings: dict[str, str] = {}
    files: dict[Path, None] = {}
    for origin, entry in zip(said[::2], said[1::2], strict=False):
        key, _, value = entry.partition("\n")
        # The last one of a key is the one that holds.
        settings[key] = value
        if not origin.startswith(_FILE):
            continue
        file = root / origin.removeprefix(_FILE)
        files[file] = None
        if key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
            files[Path(os.path.normpath(file.parent / Path(value).expanduser()))] = None
    return Settings(settings=settings, files=tuple(files))
