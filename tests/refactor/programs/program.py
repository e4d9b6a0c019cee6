"""A program in a few files, and what it does when it is run: from memory, in this process."""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

_LIMIT = 200


@dataclass(frozen=True, kw_only=True)
class Program:
    """Files, the folders that modules are found in, and the modules that are run one after the other."""

    files: Mapping[str, str]
    roots: tuple[str, ...]
    runs: tuple[str, ...]

    def outcome(self) -> str:
        """All that it prints, and how each of its runs ends."""
        return outcome(self.files, self.roots, self.runs)

    def loads(self) -> bool:
        """Whether each of its modules can be loaded, also those that nothing of it loads."""
        paths = [path.removesuffix(".py").removesuffix("/__init__") for path in self.files if path.endswith(".py")]
        dotted = [one.removeprefix(f"{self.roots[0]}/").replace("/", ".") for one in paths]
        return " ended by " not in outcome(self.files, self.roots, dotted)


class _Texts(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules in texts as Python does in folders."""

    def __init__(self, files: Mapping[str, str], roots: Sequence[str]) -> None:
        self._files = files
        self._roots = roots

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module of a name; a folder without `__init__.py` is a package as well."""
        last = fullname.rpartition(".")[2]
        folders: list[str] = []
        for root in self._roots if path is None else path:
            place = f"{root}/{last}" if root else last
            for found, package in ((f"{place}/__init__.py", True), (f"{place}.py", False)):
                if found in self._files:
                    spec = importlib.util.spec_from_loader(fullname, self, origin=found, is_package=package)
                    assert spec is not None
                    if package:
                        spec.submodule_search_locations = [place]
                    return spec
            if any(one.startswith(f"{place}/") and one.endswith(".py") for one in self._files):
                folders.append(place)
        if not folders:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = folders
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's text."""
        spec = module.__spec__
        assert spec is not None
        assert spec.origin is not None
        exec(compile(self._files[spec.origin], spec.origin, "exec"), module.__dict__)


def outcome(files: Mapping[str, str], roots: Sequence[str], runs: Sequence[str]) -> str:
    """What a program prints; an exception that ends a run is told by its type."""
    printed = io.StringIO()
    with _alone(_Texts(files, roots)), contextlib.redirect_stdout(printed):
        for name in runs:
            try:
                importlib.import_module(name)
            except Exception as error:
                print(f"{name} ended by {type(error).__name__}")
    return printed.getvalue()


@contextlib.contextmanager
def _alone(finder: _Texts) -> Iterator[None]:
    """A while in which nothing but a program's own modules is new."""
    before, limit = dict(sys.modules), sys.getrecursionlimit()
    tops = {one.split("/")[0].removesuffix(".py") for root in finder._roots for one in _below(finder._files, root)}
    hidden = {name: sys.modules.pop(name) for name in before if name.partition(".")[0] in tops}
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [module for module in sys.modules if module.partition(".")[0] in tops]:
            del sys.modules[name]
        sys.modules.update(hidden)
        sys.setrecursionlimit(limit)


def _below(files: Mapping[str, str], root: str) -> Iterator[str]:
    for path in files:
        if not root:
            yield path
        elif path.startswith(f"{root}/"):
            yield path[len(root) + 1 :]
