"""Packages of JavaScript that nothing outside can use."""

import json
from collections.abc import Callable, Container

from codeplane.code.languages.javascript.package_entries import MADE

_ENTRIES = ("exports", "module", "browser", "types", "typings", "bin")
_ENDINGS = ("", ".js", ".ts", ".mjs", ".cjs", ".tsx", "/index.js", "/index.ts")


def is_private(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a file belongs to a package that is never published and lists no files to be used by."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        manifest = f"{folder}/package.json" if folder else "package.json"
        if manifest not in files:
            continue
        try:
            package = json.loads(read(manifest) or b"")
        except ValueError:
            return False
        if not isinstance(package, dict):
            return False
        return package.get("private") is True and not _has_entry(package, folder, files)
    return False


def _has_entry(package: dict[str, object], folder: str, files: Container[str]) -> bool:
    """Whether a manifest names files to be used by; a `main` that is neither here nor built is none."""
    if any(package.get(key) for key in _ENTRIES):
        return True
    main = package.get("main")
    if not isinstance(main, str):
        return False
    place = main.removeprefix("./")
    inside = f"{folder}/{place}" if folder else place
    stem = inside.removesuffix(".js")
    return place.partition("/")[0] in MADE or any(
        f"{each}{end}" in files for each in (inside, stem) for end in _ENDINGS
    )
