"""Which file a Rust module is: `crate`, `self`, `super`, child modules, and the crates of a workspace."""

import tomllib
from collections.abc import Iterable

from codeplane.code.languages.modules import Modules, Read

_ROOTS = ("main.rs", "lib.rs")
_STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
# Types that need no import.
_PRELUDE = frozenset(
    [
        "Box",
        "Option",
        "Result",
        "String",
        "Vec",
        "bool",
        "char",
        "f32",
        "f64",
        "i128",
        "i16",
        "i32",
        "i64",
        "i8",
        "isize",
        "str",
        "u128",
        "u16",
        "u32",
        "u64",
        "u8",
        "usize",
    ]
)
# Every file of these folders is the root of a crate.
_PROGRAMS = frozenset({"tests", "examples", "benches", "bin"})
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


class RustModules(Modules):
    """The modules of a repository, by the paths of its files and by what its manifests name."""

    def __init__(self, paths: Iterable[str], text: Read) -> None:
        paths = tuple(paths)
        self._files = frozenset(path for path in paths if path.endswith(".rs"))
        self._crates: dict[str, str] = {}
        self._others: set[str] = set()
        for path in paths:
            if path.rpartition("/")[2] == "Cargo.toml":
                self._read(path, text(path) or b"")

    def _read(self, path: str, manifest: bytes) -> None:
        try:
            tables = tomllib.loads(manifest.decode("utf-8", "replace"))
        except tomllib.TOMLDecodeError:
            return
        folder = path.rpartition("/")[0]
        package = tables.get("package")
        if isinstance(package, dict) and isinstance(package.get("name"), str):
            self._crates[package["name"].replace("-", "_")] = "/".join(filter(None, (folder, "src/lib.rs")))
        held = [tables, tables.get("workspace"), *(tables.get("target") or {}).values()]
        for table in held:
            for kind in _DEPENDENCIES if isinstance(table, dict) else ():
                self._others |= {name.replace("-", "_") for name in table.get(kind) or ()}

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The files a path of modules may be; `super` may be that of a module inside the file."""
        parts = source.removeprefix("::").split("::")
        if parts[0] == "crate":
            return self._walked(self._roots(importer), parts[1:])
        if parts[0] == "self":
            return self._walked([importer], parts[1:])
        if parts[0] == "super":
            above, inside = [importer], [importer]
            while parts and parts[0] == "super":
                above = [parent for one in above for parent in self._parents(one)]
                # Of a module that is written in this file, `super` is the file.
                inside = [*inside, *above[:1]]
                parts = parts[1:]
            return self._walked([*above, *inside], parts)
        found = self._walked([importer], parts)
        crate = self._crates.get(parts[0])
        if not found and crate in self._files:
            assert crate is not None
            return self._walked([crate], parts[1:])
        return found

    def outside(self, source: str) -> bool:
        """Whether a path certainly begins with a crate that is not of this repository."""
        first = source.removeprefix("::").partition("::")[0]
        return first in _STANDARD or first in _PRELUDE or (first in self._others and first not in self._crates)

    def _walked(self, starts: Iterable[str], parts: list[str]) -> tuple[str, ...]:
        found = list(dict.fromkeys(starts))
        for part in parts:
            found = [child for one in found if (child := self._child(one, part)) is not None]
        return tuple(dict.fromkeys(found))

    def _child(self, path: str, name: str) -> str | None:
        below = self._below(path)
        for one in (f"{below}{name}.rs", f"{below}{name}/mod.rs"):
            if one in self._files:
                return one
        return None

    def _below(self, path: str) -> str:
        """The folder of a module's children, with a slash behind it."""
        folder, _, name = path.rpartition("/")
        if name in (*_ROOTS, "mod.rs", "build.rs") or folder.rpartition("/")[2] in _PROGRAMS:
            return f"{folder}/" if folder else ""
        return f"{path.removesuffix('.rs')}/"

    def _parents(self, path: str) -> list[str]:
        folder, _, name = path.rpartition("/")
        if name in _ROOTS:
            return []
        if name == "mod.rs":
            folder = folder.rpartition("/")[0]
        return self._owners(folder)

    def _owners(self, folder: str) -> list[str]:
        """The modules whose children lie in a folder."""
        before = f"{folder}/" if folder else ""
        named = [f"{before}{name}" for name in (*_ROOTS, "mod.rs")] + ([f"{folder}.rs"] if folder else [])
        return [one for one in named if one in self._files]

    def _roots(self, path: str) -> list[str]:
        """The roots of the crate a file is in: a program and a library may share their modules."""
        folder = path.rpartition("/")[0]
        if folder.rpartition("/")[2] in _PROGRAMS:
            return [path]
        while True:
            before = f"{folder}/" if folder else ""
            found = [one for name in _ROOTS if (one := f"{before}{name}") in self._files]
            if found or not folder:
                return found
            folder = folder.rpartition("/")[0]
