"""Which file a Rust module is: `crate`, `self`, `super`, child modules, and the crates of a workspace."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from posixpath import normpath

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
_PATH = re.compile(rb'#\[path\s*=\s*"([^"]+)"\][^;{}]*\bmod\s+(\w+)\s*;')
# Crates that come with Rust, and the beginnings of paths that stay inside.
_OWN = frozenset({"std", "core", "alloc", "proc_macro", "test", "crate", "self", "super", "Self"})
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


class RustModules(Modules):
    """The modules of a repository, by the paths of its files and by what its manifests name."""

    def __init__(self, paths: Iterable[str], text: Read) -> None:
        paths = tuple(paths)
        self._files = frozenset(path for path in paths if path.endswith(".rs"))
        self._text = text
        self._by_path: dict[str, list[str]] | None = None
        self._crates: dict[str, str] = {}
        self._others: set[str] = set()
        self._programs: set[str] = set()
        self._libraries: dict[str, str] = {}
        """The root that the library of a package has, if there is one, by the package's folder with a slash behind."""
        self._is_of_2015: dict[str, bool] = {}
        """Whether a package is in the edition of 2015, which is the one without a word, by its folder."""
        self._macro_crates: set[str] = set()
        self._shares_files: dict[str, bool] = {}
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
            library = tables.get("lib")
            library = library if isinstance(library, dict) else {}
            name, root = library.get("name", package["name"]), library.get("path", "src/lib.rs")
            library_root = normpath("/".join(filter(None, (folder, str(root)))))
            self._crates[str(name).replace("-", "_")] = library_root
            home = f"{folder}/" if folder else ""
            self._libraries[home] = library_root
            self._is_of_2015[home] = package.get("edition", "2015") == "2015"
            if library.get("proc-macro", library.get("proc_macro")) is True:
                self._macro_crates.add(library_root)
            self._programs |= {normpath(f"{folder}/{program}".lstrip("/")) for program in _programs(tables)}
            self._programs |= {*self._crates.values()}
        held = [tables, tables.get("workspace"), *(tables.get("target") or {}).values()]
        for table in held:
            for kind in _DEPENDENCIES if isinstance(table, dict) else ():
                self._others |= {name.replace("-", "_") for name in table.get(kind) or ()}

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The files a path of modules may be; `super` may be that of a module inside the file."""
        parts = source.removeprefix("::").split("::")
        if parts[0] == "crate":
            return self._walk_modules(self._roots(importer), parts[1:])
        if parts[0] == "self":
            return self._walk_modules([importer], parts[1:])
        if parts[0] == "super":
            above, inside = [importer], [importer]
            while parts and parts[0] == "super":
                above = [parent for file in above for parent in self._parents(file)]
                # Of a module that is written in this file, `super` is the file.
                inside = [*inside, *above[:1]]
                parts = parts[1:]
            return self._walk_modules([*above, *inside], parts)
        found = self._walk_modules([importer], parts)
        if not found and self._begins_at_root(importer) and parts[0] not in {*_OWN, *self._crates, *self._others}:
            found = self._walk_modules(self._roots(importer), parts)
        crate = self._crates.get(parts[0])
        if not found and crate in self._files:
            assert crate is not None
            return self._walk_modules([crate], parts[1:])
        return found

    def outside_package(self, source: str, importer: str) -> str:
        """The crate that a path begins with; empty for those of Rust, and for paths within this crate."""
        crate = source.removeprefix("::").partition("::")[0]
        # `use Unit::*` names a type of this file.
        is_type = crate[:1].isupper() and crate not in self._others
        return "" if crate in _OWN or crate in self._crates or is_type else crate

    def has(self, path: str) -> bool:
        """Whether a Rust file is here."""
        return path in self._files

    def library_of(self, path: str) -> str | None:
        """The root of the library of the package that a file is in, if it has one."""
        home = max((folder for folder in self._libraries if path.startswith(folder)), key=len, default=None)
        root = self._libraries[home] if home is not None else None
        return root if root in self._files else None

    def library_name(self, root: str) -> str:
        """The name of the library that has a file as its root."""
        return next((name for name, path in self._crates.items() if path == root), root)

    def macro_crates(self) -> frozenset[str]:
        """The roots of the libraries that export procedural macros and nothing else."""
        return frozenset(self._macro_crates)

    def child_files(self, path: str, above: Sequence[str], name: str, *, is_root: bool) -> list[str]:
        """The files that `mod name;` may mean in a file, inside the inline modules `above`."""
        folder = path.rpartition("/")[0]
        below = (f"{folder}/" if folder else "") if is_root else self._below(path)
        below += "".join(f"{part}/" for part in above)
        return [file for file in (f"{below}{name}.rs", f"{below}{name}/mod.rs") if file in self._files]

    def crate(self, name: str) -> str | None:
        """The root of a library of this repository, by its name."""
        root = self._crates.get(name)
        return root if root in self._files else None

    def name_of(self, path: str) -> str:
        """The name of the module that a file is."""
        folder, _, name = path.rpartition("/")
        return folder.rpartition("/")[2] if name == "mod.rs" else name.removesuffix(".rs")

    def parents(self, path: str) -> Sequence[str]:
        """The files that may declare a file as their module; none for the root of a crate."""
        return [] if path in self._programs else [parent for parent in self._parents(path) if parent != path]

    def declared_file(self, path: str, at: int, above: Sequence[str], name: str) -> Sequence[str]:
        """The file of `mod name;` at a place in a file, inside the inline modules `above`."""
        text = self._text(path) or b""
        start = max(text.rfind(mark, 0, at) for mark in (b";", b"}", b"{")) + 1
        named = _PATH.search(text, start, at + len(name) + 50)
        if named is not None and not above:
            folder = path.rpartition("/")[0]
            found = normpath(f"{folder}/{named[1].decode('utf-8', 'replace')}".lstrip("/"))
            return [found] if found in self._files else []
        below = "".join(f"{part}/" for part in above)
        places = (f"{self._below(path)}{below}{name}.rs", f"{self._below(path)}{below}{name}/mod.rs")
        return [place for place in places if place in self._files]

    def declared_by_path(self, path: str) -> Sequence[str]:
        """The files that declare a file as their module by `#[path = "…"]`."""
        if self._by_path is None:
            self._by_path = {}
            for file in sorted(self._files):
                text = self._text(file) or b""
                for named in _PATH.finditer(text) if b"#[path" in text else ():
                    found = normpath(f"{file.rpartition('/')[0]}/{named[1].decode('utf-8', 'replace')}".lstrip("/"))
                    self._by_path.setdefault(found, []).append(file)
        return self._by_path.get(path, ())

    def may_reach(self, path: str, defining: str) -> bool:
        """Whether a file may use what another one defines: what a package without a library has is its own."""
        home = max((folder for folder in self._libraries if defining.startswith(folder)), key=len, default=None)
        if home is None or self._libraries[home] in self._files:
            return True
        source = f"{home}src/"
        if not defining.startswith(source) or path.startswith(source):
            return True
        if home not in self._shares_files:
            others = [file for file in self._files if file.startswith(home) and not file.startswith(source)]
            texts = (self._text(file) or b"" for file in others)
            self._shares_files[home] = any(b"#[path" in text or b"include!" in text for text in texts)
        return self._shares_files[home]

    def reach(self, path: str) -> str:
        """The folder of the modules below a file, which see what is private in it."""
        return self._below(path)

    def outside(self, source: str) -> bool:
        """Whether a path certainly begins with a crate that is not of this repository."""
        first = source.removeprefix("::").partition("::")[0]
        return first in _STANDARD or first in _PRELUDE or (first in self._others and first not in self._crates)

    def _walk_modules(self, starts: Iterable[str], parts: list[str]) -> tuple[str, ...]:
        found = list(dict.fromkeys(starts))
        for part in parts:
            found = [child for file in found if (child := self._child(file, part)) is not None]
        return tuple(dict.fromkeys(found))

    def _child(self, path: str, name: str) -> str | None:
        below = self._below(path)
        for file in (f"{below}{name}.rs", f"{below}{name}/mod.rs"):
            if file in self._files:
                return file
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
        return [file for file in named if file in self._files]

    def _begins_at_root(self, path: str) -> bool:
        """Whether paths in a file begin at the root of its crate, as in the edition of 2015."""
        home = max((folder for folder in self._is_of_2015 if path.startswith(folder)), key=len, default=None)
        return home is not None and self._is_of_2015[home]

    def _roots(self, path: str) -> list[str]:
        """The roots of the crate a file is in: a program and a library may share their modules."""
        folder = path.rpartition("/")[0]
        if folder.rpartition("/")[2] in _PROGRAMS:
            return [path]
        while True:
            before = f"{folder}/" if folder else ""
            found = [file for name in _ROOTS if (file := f"{before}{name}") in self._files]
            if found or not folder:
                return found
            folder = folder.rpartition("/")[0]


def _programs(tables: dict[str, object]) -> list[str]:
    """The paths of programs, tests and examples that a manifest names."""
    found = ["src/main.rs"]
    for kind in ("bin", "test", "example", "bench"):
        listed = tables.get(kind)
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("path"), str):
                found.append(entry["path"])
    return found
