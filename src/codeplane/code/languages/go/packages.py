"""Which folder a Go package is, and which files of the folder belong to it."""

import posixpath
import re
from collections.abc import Iterable

from codeplane.code.languages.modules import Modules, Read

_MODULE = re.compile(rb"(?m)^module[ \t]+\"?([^\s\"]+)")
_PACKAGE = re.compile(rb"(?m)^package[ \t]+(\w+)")
_REPLACE = re.compile(rb"(?m)^\s*(?:replace[ \t]+)?([^\s()]+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.{1,2}(?:/\S*)?)")
_USE = re.compile(rb"(?m)^\s*(?:use[ \t]+)?\"?(\.{1,2}(?:/[^\s\")]*)?)\"?[ \t\r]*(?://.*)?$")
_REQUIRED = re.compile(rb"(?m)^\s*(?:require[ \t]+)?([^\s()]+)[ \t]+v\d")
# As many parts as the names of most modules have.
_OF_MODULE = 3
_TEST = "_test.go"
_GENERIC = frozenset({"cmp", "iter", "maps", "slices", "sync", "sync/atomic", "unique", "weak"})


class GoPackages(Modules):
    """The packages of a repository: a package is named by its folder with a slash behind it."""

    def __init__(self, paths: Iterable[str], text: Read) -> None:
        self._text = text
        self._files: dict[str, list[str]] = {}
        self._roots: dict[str, str] = {}
        self._replaced: dict[str, dict[str, str]] = {}
        self._required: dict[str, tuple[str, ...]] = {}
        self._used: list[frozenset[str]] = []
        self._names: dict[str, bytes] = {}
        self._folders: dict[tuple[str, str | None], list[tuple[str, bool]]] = {}
        for path in sorted(paths):
            folder, _, name = path.rpartition("/")
            if name.endswith(".go"):
                self._files.setdefault(folder, []).append(path)
            elif name == "go.mod":
                self._read_module(folder, text(path) or b"")
            elif name == "go.work":
                folders = _USE.findall(text(path) or b"")
                self._used.append(frozenset(_join(folder, relative) for relative in folders))

    def _read_module(self, folder: str, text: bytes) -> None:
        named = _MODULE.search(text)
        if named is None:
            return
        self._roots[folder] = named[1].decode("utf-8", "replace")
        replaced = {old.decode("utf-8", "replace"): _join(folder, new) for old, new in _REPLACE.findall(text)}
        self._replaced[folder] = replaced
        self._required[folder] = tuple(
            requirement.decode("utf-8", "replace") for requirement in _REQUIRED.findall(text)
        )

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The package an import path names, where a module of this repository holds it."""
        own = self._root(importer)
        vendored = "/".join(filter(None, (own, "vendor", source)))
        if vendored in self._files:
            return (f"{vendored}/",)
        return tuple(f"{folder}/" for folder, _ in self._candidate_folders(source, own))

    def outside_package(self, source: str, importer: str) -> str:
        """The required module that an import path begins with, else its host and two names; empty for Go's own."""
        host = source.partition("/")[0]
        if "." not in host:
            return ""
        required = self._required.get(self._root(importer) or "", ())
        holding = [module for module in required if source == module or source.startswith(f"{module}/")]
        return max(holding, key=len) if holding else "/".join(source.split("/")[:_OF_MODULE])

    def is_guess(self, source: str, importer: str) -> bool:
        """Whether an import is of another module that may be a published version of the one that is here."""
        own = self._root(importer)
        found = self._candidate_folders(source, own)
        return len(found) > 1 or any(not certain for _, certain in found)

    def _candidate_folders(self, source: str, own: str | None) -> list[tuple[str, bool]]:
        """Return the folders that an import path may mean, and whether the importer certainly gets that one."""
        key = (source, own)
        if key not in self._folders:
            self._folders[key] = self._find_folders(source, own)
        return self._folders[key]

    def _find_folders(self, source: str, own: str | None) -> list[tuple[str, bool]]:
        modules: list[tuple[str, str, bool]] = []
        for root, module in self._roots.items():
            joined = root == own or any({root, own} <= used for used in self._used)
            modules.append((module, root, joined))
        replaced = self._replaced.get(own, {}) if own is not None else {}
        modules += [(old, root, True) for old, root in replaced.items()]
        holding = [module for module in modules if source == module[0] or source.startswith(f"{module[0]}/")]
        longest = max((len(module) for module, _, _ in holding), default=0)
        # Of modules within modules the innermost holds it.
        nearest = [module for module in holding if len(module[0]) == longest]
        nearest = [module for module in nearest if module[2]] or nearest
        found: dict[str, bool] = {}
        for module, root, joined in nearest:
            folder = "/".join(filter(None, (root, source[len(module) + 1 :])))
            if folder in self._files:
                found[folder] = joined
        return list(found.items())

    def _root(self, path: str) -> str | None:
        """Return the folder of the module that a file belongs to."""
        folder = path.rpartition("/")[0]
        while folder not in self._roots:
            if not folder:
                return None
            folder = folder.rpartition("/")[0]
        return folder

    def outside(self, source: str) -> bool:
        """Whether an import path certainly names no package of this repository."""
        modules = [*self._roots.values(), *(old for replaced in self._replaced.values() for old in replaced)]
        if any(source == module or source.startswith(f"{module}/") for module in modules):
            return False
        # Only the standard library has paths without a domain, unless a module here is called so.
        return bool(modules) or "." not in source.partition("/")[0]

    def may_give_ours(self, source: str, importer: str, *, foreign: bool) -> bool:
        """Whether a call into a package from outside may give a value of a type of this repository.

        Its functions may be generic, unless all arguments are of `foreign` types. A package of the same owner may
        import this one, unless the module itself requires it.
        """
        if "." not in source.partition("/")[0]:
            return source in _GENERIC and not foreign
        if not foreign:
            return True
        required = self._required.get(self._root(importer) or "", ())
        ours = set(self._roots.values())
        if any(source == module or source.startswith(f"{module}/") for module in required) and not ours.intersection(
            required
        ):
            return False
        return "/".join(source.split("/")[:2]) in {"/".join(module.split("/")[:2]) for module in ours}

    def files_exporting(self, package: str, name: str) -> list[str]:
        """The files of a package in which others may reach a name; a name that begins small is the package's own.

        What tests of the package itself define is reached by its outer tests alone.
        """
        if not name[:1].isupper():
            return []
        own = self.name(package)
        return [path for path in self._files.get(package.removesuffix("/"), ()) if self._package(path) == own.encode()]

    def may_reach(self, path: str, defining: str, name: str) -> bool:
        """Whether a file may use a name, or a member of that name, that another one defines."""
        if path == defining or path in self.beside(defining):
            return True
        if not name[:1].isupper():
            return False
        # Tests of a package, of another name, import what its own tests define.
        beside = path.rpartition("/")[0] == defining.rpartition("/")[0]
        return beside or not (defining.endswith(_TEST) or self._package(defining) == b"main")

    def files_of(self, package: str) -> list[str]:
        """The files that an import of a package brings: all but tests."""
        return [path for path in self._files.get(package.removesuffix("/"), ()) if not path.endswith(_TEST)]

    def name(self, package: str) -> str:
        """The name that the files of a package declare; a program that makes code may stand beside them."""
        listed = self._files.get(package.removesuffix("/"), ())
        names = [self._package(path) for path in listed if not path.endswith(_TEST)]
        names = names or [self._package(path).removesuffix(b"_test") for path in listed]
        others = [name for name in names if name != b"main"]
        return (others or names or [b""])[0].decode("utf-8", "replace")

    def beside(self, path: str) -> list[str]:
        """The files that share their outermost names with a file, itself included."""
        own = self._package(path)
        return [
            file for file in self._files.get(path.rpartition("/")[0], ()) if file == path or self._package(file) == own
        ]

    def _package(self, path: str) -> bytes:
        found = self._names.get(path)
        if found is None:
            named = _PACKAGE.search(self._text(path) or b"")
            found = self._names[path] = named[1] if named is not None else b""
        return found


def _join(folder: str, relative: bytes) -> str:
    joined = posixpath.normpath(posixpath.join(folder, relative.decode("utf-8", "replace")))
    return "" if joined == "." else joined
