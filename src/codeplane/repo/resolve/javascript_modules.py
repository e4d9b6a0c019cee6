"""Which file a JavaScript or TypeScript module is: relative paths, folders, tsconfig paths, workspace packages."""

import json
import posixpath
import re
from collections.abc import Callable, Iterable

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro", ".json")
_WRITTEN_AS = {".js": (".ts", ".tsx", ".js", ".jsx"), ".mjs": (".mts", ".mjs"), ".cjs": (".cts", ".cjs")}
_WRITTEN_AS |= {".jsx": (".tsx", ".jsx")}
_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r",(\s*[}\]])")
_MAX_EXTENDS = 8

Read = Callable[[str], bytes | None]


class JavaScriptModules:
    """The modules of a repository, by its paths and the few files that rename them."""

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._files = set(paths)
        self._read = read
        self._configs: dict[str, dict[str, object] | None] = {}
        self._mapped: dict[str, tuple[str, dict[str, list[str]]] | None] = {}
        self._packages: dict[str, str] | None = None

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The file a module is, or none when it is not of this repository."""
        folder = importer.rpartition("/")[0]
        if source.startswith(("./", "../")) or source in (".", ".."):
            found = self._file(_joined(folder, source))
            return (found,) if found else ()
        return self._by_paths(source, folder) or self._by_package(source)

    def _file(self, path: str | None) -> str | None:
        """A path as written, with an ending, or as a folder."""
        if path is None:
            return None
        stem, ending = posixpath.splitext(path)
        for written in _WRITTEN_AS.get(ending, ()):
            if stem + written in self._files:
                return stem + written
        if path in self._files:
            return path
        for ending in _ENDINGS:
            if path + ending in self._files:
                return path + ending
        for ending in _ENDINGS:
            index = f"{path}/index{ending}" if path else f"index{ending}"
            if index in self._files:
                return index
        return None

    def _by_paths(self, source: str, folder: str) -> tuple[str, ...]:
        """By the `paths` and `baseUrl` of the nearest tsconfig."""
        mapped = self._mapping(folder)
        if mapped is None:
            return ()
        base, paths = mapped
        for pattern, targets in sorted(paths.items(), key=lambda item: -len(item[0].partition("*")[0])):
            start, star, end = pattern.partition("*")
            if star and source.startswith(start) and source.endswith(end) and len(source) >= len(start) + len(end):
                middle = source[len(start) : len(source) - len(end)]
            elif source == pattern:
                middle = ""
            else:
                continue
            for target in targets:
                found = self._file(_joined(base, target.replace("*", middle)))
                if found:
                    return (found,)
        found = self._file(_joined(base, source)) if paths.get("") is not None else None
        return (found,) if found else ()

    def _mapping(self, folder: str) -> tuple[str, dict[str, list[str]]] | None:
        at = folder
        while True:
            if at in self._mapped:
                return self._mapped[at]
            for name in ("tsconfig.json", "tsconfig.base.json", "jsconfig.json"):
                path = f"{at}/{name}" if at else name
                found = self._options(path, _MAX_EXTENDS) if path in self._files else None
                if found is not None:
                    self._mapped[folder] = found
                    return found
            if not at:
                self._mapped[folder] = None
                return None
            at = at.rpartition("/")[0]

    def _options(self, path: str, depth: int) -> tuple[str, dict[str, list[str]]] | None:
        """`baseUrl` and `paths` of a configuration or of what it extends; the key "" stands for baseUrl itself."""
        config = self._config(path)
        if config is None or depth == 0:
            return None
        folder = path.rpartition("/")[0]
        options = config.get("compilerOptions")
        if isinstance(options, dict):
            base, paths = options.get("baseUrl"), options.get("paths")
            if isinstance(base, str) or isinstance(paths, dict):
                root = _joined(folder, base) if isinstance(base, str) else folder
                found = {
                    str(key): [str(one) for one in value]
                    for key, value in (paths if isinstance(paths, dict) else {}).items()
                    if isinstance(value, list)
                }
                if isinstance(base, str):
                    found.setdefault("", [])
                return (root or "", found)
        extends = config.get("extends")
        for one in extends if isinstance(extends, list) else [extends]:
            if isinstance(one, str) and one.startswith("."):
                target = _joined(folder, one)
                for candidate in (target, f"{target}.json", f"{target}/tsconfig.json"):
                    if candidate in self._files:
                        found_there = self._options(str(candidate), depth - 1)
                        if found_there is not None:
                            return found_there
        return None

    def _config(self, path: str) -> dict[str, object] | None:
        if path not in self._configs:
            raw = self._read(path)
            self._configs[path] = _json(raw) if raw is not None else None
        return self._configs[path]

    def _by_package(self, source: str) -> tuple[str, ...]:
        """By the name of a package that lies in this repository."""
        if self._packages is None:
            self._packages = {}
            for path in sorted(self._files):
                if path.rpartition("/")[2] == "package.json" and "node_modules" not in path:
                    config = self._config(path)
                    if config and isinstance(config.get("name"), str):
                        self._packages.setdefault(str(config["name"]), path.rpartition("/")[0])
        parts = source.split("/")
        head = "/".join(parts[:2]) if source.startswith("@") else parts[0]
        folder = self._packages.get(head)
        if folder is None:
            return ()
        rest = source[len(head) :].strip("/")
        for inner in ("src", "lib", "source", ""):
            found = self._file(_joined(_joined(folder, inner) or "", rest or "index"))
            if found:
                return (found,)
        return ()


def _joined(folder: str | None, path: str) -> str | None:
    """A path from a folder, or None when it leaves the repository."""
    joined = posixpath.normpath(posixpath.join(folder or "", path))
    if joined == ".":
        return ""
    return None if joined.startswith(("..", "/")) else joined


def _json(raw: bytes) -> dict[str, object] | None:
    """JSON with comments and trailing commas, as these files are written."""
    text = _COMMENTS.sub(lambda match: match[1] or "", raw.decode("utf-8-sig", "replace"))
    try:
        found = json.loads(_TRAILING.sub(r"\1", text))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
