"""Which folder a Go package is, and which files of the folder belong to it."""

import re
from collections.abc import Iterable

from codeplane.code.languages.modules import Modules, Read

_MODULE = re.compile(rb"(?m)^module[ \t]+\"?([^\s\"]+)")
_PACKAGE = re.compile(rb"(?m)^package[ \t]+(\w+)")
_TEST = "_test.go"


class GoPackages(Modules):
    """The packages of a repository: a package is named by its folder with a slash behind it."""

    def __init__(self, paths: Iterable[str], text: Read) -> None:
        self._text = text
        self._files: dict[str, list[str]] = {}
        self._modules: dict[str, str] = {}
        for path in sorted(paths):
            folder, _, name = path.rpartition("/")
            if name.endswith(".go"):
                self._files.setdefault(folder, []).append(path)
            elif name == "go.mod" and (named := _MODULE.search(text(path) or b"")) is not None:
                self._modules[named[1].decode("utf-8", "replace")] = folder

    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The package an import path names, where a module of this repository holds it."""
        # Of modules within modules the innermost holds it.
        for module in sorted(self._modules, key=len, reverse=True):
            if source == module or source.startswith(f"{module}/"):
                root, rest = self._modules[module], source[len(module) + 1 :]
                folder = "/".join(filter(None, (root, rest)))
                return (f"{folder}/",) if folder in self._files else ()
        return ()

    def outside(self, source: str) -> bool:
        """Whether an import path certainly names no package of this repository."""
        if "." not in source.partition("/")[0]:
            # Only the standard library has paths without a domain, unless a module here is called so.
            return not any(source == one or source.startswith(f"{one}/") for one in self._modules)
        return bool(self._modules) and not any(source == one or source.startswith(f"{one}/") for one in self._modules)

    def exporting(self, package: str, name: str) -> list[str]:
        """The files of a package in which others may reach a name; a name that begins small is the package's own."""
        if not name[:1].isupper():
            return []
        return [path for path in self._files.get(package.removesuffix("/"), ()) if not path.endswith(_TEST)]

    def beside(self, path: str) -> list[str]:
        """The files that share their outermost names with a file, itself included."""
        own = self._package(path)
        return [one for one in self._files.get(path.rpartition("/")[0], ()) if one == path or self._package(one) == own]

    def _package(self, path: str) -> bytes:
        named = _PACKAGE.search(self._text(path) or b"")
        return named[1] if named is not None else b""
