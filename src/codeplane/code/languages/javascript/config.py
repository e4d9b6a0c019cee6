"""The files that rename JavaScript modules: tsconfig and package.json, as they are written."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codeplane.code.languages.modules import Read

_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r",(\s*[}\]])")
_MAX_EXTENDS = 8
_MAX_TARGETS = 50
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """`paths` and the folder they start from; `base` is the `baseUrl`, where any module may be looked for."""

    root: str
    paths: Mapping[str, tuple[str, ...]]
    base: str | None


class Configs:
    """Configuration files, each read once."""

    def __init__(self, files: set[str], read: Read) -> None:
        self._files = files
        self._read = read
        self._held: dict[str, dict[str, object] | None] = {}

    def at(self, path: str) -> dict[str, object] | None:
        """What a file says, or None when it cannot be read."""
        if path not in self._held:
            raw = self._read(path) if path in self._files else None
            self._held[path] = _json(raw) if raw is not None else None
        return self._held[path]

    def path_mapping(self, path: str) -> Mapped | None:
        """What a tsconfig renames, itself or by what it extends; each option counts where it is written last."""
        base: str | None = None
        paths: Mapping[str, tuple[str, ...]] | None = None
        home = ""
        for place, options in self._options(path, _MAX_EXTENDS):
            folder = place.rpartition("/")[0]
            written = options.get("baseUrl")
            if base is None and isinstance(written, str):
                base = join_path(folder, written)
            mapping = options.get("paths")
            if paths is None and isinstance(mapping, dict):
                home = folder
                paths = {
                    str(key): tuple(map(str, value))[:_MAX_TARGETS]
                    for key, value in mapping.items()
                    if isinstance(value, list)
                }
        if base is None and paths is None:
            return None
        return Mapped(root=base if base is not None else home, paths=paths or {}, base=base)

    def missing_bases(self, path: str) -> list[str]:
        """The files that a configuration extends by a relative path and that are not here."""
        return [base for base in self._extended(self.at(path) or {}) if self._base(path, base) is None]

    def _extended(self, config: Mapping[str, object]) -> list[str]:
        """What a configuration extends; one of a third-party package says nothing about the files here."""
        extends = config.get("extends")
        bases = extends if isinstance(extends, list) else [extends]
        return [base for base in bases if isinstance(base, str) and base.startswith(".")]

    def _base(self, path: str, base: str) -> str | None:
        target = join_path(path.rpartition("/")[0], base)
        candidates = (target, f"{target}.json", f"{target}/tsconfig.json") if target is not None else ()
        return next((str(candidate) for candidate in candidates if candidate in self._files), None)

    def _options(self, path: str, depth: int) -> Iterator[tuple[str, Mapping[str, object]]]:
        """The options of a configuration and of what it extends, those that count first."""
        config = self.at(path)
        if config is None or depth == 0:
            return
        options = config.get("compilerOptions")
        if isinstance(options, dict):
            yield path, options
        for base in reversed(self._extended(config)):
            if (found := self._base(path, base)) is not None:
                yield from self._options(found, depth - 1)


def dependencies(package: Mapping[str, object]) -> Iterator[str]:
    """The packages a package.json takes from elsewhere."""
    for key in _DEPENDENCIES:
        section = package.get(key)
        for name, version in section.items() if isinstance(section, dict) else ():
            if not str(version).startswith(("workspace:", "file:", "link:", "portal:")):
                yield str(name)


def targets(package: Mapping[str, object], rest: str) -> Iterator[str]:
    """The files a package says it gives under a path of it, sources before what is made of them."""
    published = package.get("publishConfig")
    for table in (package.get("exports"), published.get("exports") if isinstance(published, dict) else None):
        if isinstance(table, str) and not rest:
            yield table
        if isinstance(table, dict):
            whole = not any(str(key).startswith(".") for key in table)
            yield from _matching_targets({".": table} if whole else table, f"./{rest}" if rest else ".")
    if not rest:
        for key in ("source", "types", "typings", "module", "main"):
            if isinstance(package.get(key), str):
                yield str(package[key])


def imports(package: Mapping[str, object], source: str) -> Iterator[str]:
    """The files a package calls by a name of its own that begins with `#`."""
    table = package.get("imports")
    if isinstance(table, dict):
        yield from _matching_targets(table, source)


def _matching_targets(table: Mapping[str, object], wanted: str) -> Iterator[str]:
    """The targets of the entry that fits a path: that path, else the longest pattern."""
    if wanted in table:
        yield from leaves(table[wanted], "")
        return
    for pattern in sorted((str(key) for key in table if "*" in str(key)), key=len, reverse=True):
        start, _, end = pattern.partition("*")
        if wanted.startswith(start) and wanted.endswith(end) and len(wanted) >= len(start) + len(end):
            yield from leaves(table[pattern], wanted[len(start) : len(wanted) - len(end)])
            return


def leaves(value: object, middle: str) -> Iterator[str]:
    """The targets of an entry under all of its conditions, with what its star stands for."""
    if isinstance(value, str):
        yield value.replace("*", middle)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item, middle)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, middle)


def join_path(folder: str | None, path: str) -> str | None:
    """A path from a folder, or None when it leaves the repository."""
    found = posixpath.normpath(posixpath.join(folder or "", path))
    if found == ".":
        return ""
    return None if found.startswith(("..", "/")) else found


def _json(raw: bytes) -> dict[str, object] | None:
    """JSON with comments and trailing commas, as these files are written."""
    text = _COMMENTS.sub(lambda match: match[1] or "", raw.decode("utf-8-sig", "replace"))
    try:
        found = json.loads(_TRAILING.sub(r"\1", text))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
