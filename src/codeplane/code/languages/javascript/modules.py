"""Which file a JavaScript or TypeScript module is: relative paths, folders, tsconfig paths, workspace packages."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from codeplane.code.languages.javascript.config import Configs, Mapped, dependencies, imports, join_path, targets
from codeplane.code.languages.javascript.package_entries import MADE, package_entries, source_places, stem_of
from codeplane.code.languages.modules import Modules, Read

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro", ".json")
_WRITTEN_AS = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".mjs": (".mts", ".mjs", ".ts", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".ts", ".d.cts"),
    ".jsx": (".tsx", ".jsx"),
}
_SOURCES = ("src", "source", "lib", "")
# fmt: off
_BUILT_IN = frozenset({
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram", "dns",
    "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os", "path", "perf_hooks",
    "process", "punycode", "querystring", "readline", "repl", "stream", "string_decoder", "sys", "timers", "tls",
    "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib",
})
# fmt: on


class JavaScriptModules(Modules):
    """The modules of a repository, by its paths and the few files that rename them."""

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._files = set(paths)
        self._configs = Configs(self._files, read)
        self._renaming: dict[str, list[str]] = {}
        self._mapped: dict[str, Mapped | None] = {}
        self._packages: dict[str, str | None] = {}
        self._taken: set[str] = set()
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}
        self._entries: dict[str, Mapping[str, tuple[str, ...]] | None] = {}
        self._missing: Mapping[str, Sequence[str]] | None = None
        for path in sorted(self._files):
            folder, _, name = path.rpartition("/")
            if not name.endswith(".json") or "node_modules/" in path:
                continue
            if name.startswith("tsconfig") or name == "jsconfig.json":
                self._renaming.setdefault(folder, []).append(path)
            elif name == "package.json":
                self._note(folder, self._configs.at(path) or {})
        for folder, configs in self._renaming.items():
            prefix = f"{folder}/" if folder else ""
            first = [f"{prefix}{name}" for name in ("tsconfig.json", "tsconfig.base.json", "jsconfig.json")]
            self._renaming[folder] = sorted(
                configs, key=lambda config: first.index(config) if config in first else len(first)
            )

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The file a module is, or none when it is not of this repository."""
        folder = importer.rpartition("/")[0]
        key = (source, folder)
        if key not in self._found:
            self._found[key] = self._find(source, folder)
        return self._found[key]

    def outside_package(self, source: str, importer: str) -> str:
        """The package that a specifier begins with; empty for modules of the runtime."""
        if source.startswith("node:") or _head(source) in _BUILT_IN:
            return ""
        return "/".join(source.split("/")[: 2 if source.startswith("@") else 1])

    def outside(self, source: str) -> bool:
        """Whether a module that was not found is certainly not of this repository: the runtime's, or a dependency."""
        if source.startswith((".", "/", "#")):
            return False
        head = _head(source)
        return source.startswith("node:") or head in _BUILT_IN or head in self._taken

    def path_mapping(self, folder: str) -> Mapped | None:
        """What the nearest tsconfig renames for the files of a folder."""
        return self._find_mapping(folder)

    def missing_configs(self) -> Mapping[str, Sequence[str]]:
        """Each tsconfig that extends a file which is not here, with that."""
        if self._missing is None:
            configs = [path for paths in self._renaming.values() for path in paths]
            found = {path: self._configs.missing_bases(path) for path in sorted(configs)}
            self._missing = {path: bases for path, bases in found.items() if bases}
        return self._missing

    def entry_files(self, path: str) -> Mapping[str, tuple[str, ...]] | None:
        """What the `exports` of the nearest package lists."""
        folder = path.rpartition("/")[0]
        if folder not in self._entries:
            package = self._configs.at(f"{folder}/package.json" if folder else "package.json") or {}
            if package.get("name") or package.get("exports"):
                self._entries[folder] = package_entries(package, folder, self._files, self._source_of)
            else:
                self._entries[folder] = self.entry_files(folder) if folder else None
        return self._entries[folder]

    def _note(self, folder: str, package: dict[str, object]) -> None:
        self._taken.update(dependencies(package))
        name = package.get("name")
        if isinstance(name, str) and name:
            # Of two packages with one name neither is meant.
            self._packages[name] = None if name in self._packages else folder

    def _find(self, source: str, folder: str) -> tuple[str, ...]:
        if source.startswith(("./", "../")) or source in (".", ".."):
            found = self._file(join_path(folder, source))
            return (found,) if found else ()
        if source.startswith("#"):
            found = self._by_own_name(source, folder)
            if found:
                return (found,)
        found = self._by_paths(source, folder) or self._by_package(source)
        return (found,) if found else ()

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

    def _by_paths(self, source: str, folder: str) -> str | None:
        """By the `paths` and `baseUrl` of the nearest tsconfig."""
        mapped = self._find_mapping(folder)
        if mapped is None:
            return None
        for pattern, written in sorted(mapped.paths.items(), key=lambda item: -len(item[0].partition("*")[0])):
            start, star, end = pattern.partition("*")
            if star and source.startswith(start) and source.endswith(end) and len(source) >= len(start) + len(end):
                middle = source[len(start) : len(source) - len(end)]
            elif source == pattern:
                middle = ""
            else:
                continue
            for target in written:
                found = self._file(join_path(mapped.root, target.replace("*", middle)))
                if found:
                    return found
        return self._file(join_path(mapped.base, source)) if mapped.base is not None else None

    def _find_mapping(self, folder: str) -> Mapped | None:
        if folder not in self._mapped:
            found = None
            for path in self._renaming.get(folder, ()):
                found = found or self._configs.path_mapping(path)
            if found is None and folder:
                found = self._find_mapping(folder.rpartition("/")[0])
            self._mapped[folder] = found
        return self._mapped[folder]

    def _by_package(self, source: str) -> str | None:
        """By the name of a package that lies in this repository."""
        head = _head(source)
        folder = self._packages.get(head)
        if folder is None:
            return None
        rest = source[len(head) :].strip("/")
        package = self._configs.at(f"{folder}/package.json" if folder else "package.json") or {}
        for target in targets(package, rest):
            found = self._source_of(folder, target)
            if found:
                return found
        for inner in _SOURCES:
            found = self._file(join_path(join_path(folder, inner), rest or "index"))
            if found:
                return found
        return None

    def _source_of(self, folder: str, target: str) -> str | None:
        """A file that a package gives, or the source it is made of."""
        path = join_path(folder, target)
        if path is None or path.endswith(".json"):
            return None
        if path in self._files:
            return self._file(path)
        inner = path[len(folder) :].strip("/")
        for place in source_places(inner) if inner.split("/")[0] in MADE else ():
            found = self._file(join_path(folder, place)) or self._file(join_path(folder, stem_of(place)))
            if found:
                return found
        return None

    def _by_own_name(self, source: str, folder: str) -> str | None:
        while True:
            package = self._configs.at(f"{folder}/package.json" if folder else "package.json")
            if package is not None:
                found = (self._file(join_path(folder, target)) for target in imports(package, source))
                return next((file for file in found if file), None)
            if not folder:
                return None
            folder = folder.rpartition("/")[0]


def _head(source: str) -> str:
    """The package of a module."""
    parts = source.split("/")
    return "/".join(parts[:2]) if source.startswith("@") else parts[0]


def module_manifests(paths: Iterable[str]) -> list[str]:
    """The files that may give modules other names."""
    return [path for path in paths if path.endswith(".json") and _is_manifest(path.rpartition("/")[2])]


def _is_manifest(name: str) -> bool:
    return name == "package.json" or name.startswith(("tsconfig", "jsconfig"))
