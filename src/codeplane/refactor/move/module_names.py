"""Names of Python modules in imports, before and after a move."""

import posixpath
import sys
from collections.abc import Iterator

from codeplane.code.resolve.world import World
from codeplane.refactor.move.relocation import Relocation

_ROOTS = ("", "src", "lib")


def modules_of(world: World, source: str, importer: str) -> tuple[str, ...]:
    """Return the modules that a source may mean, without those that Python would not find under that name."""
    places = world.python().find(source, importer)
    if source.startswith("."):
        return places
    own = source.partition(".")[0] in sys.stdlib_module_names
    return tuple(
        place
        for place in places
        if f"{root_of(source, place)}/__init__.py" not in world.snapshot.files
        and not (own and not is_near(root_of(source, place), importer))
    )


def is_near(root: str, importer: str) -> bool:
    """Whether imports of a file are searched in a folder."""
    return root in _ROOTS or importer.startswith(f"{root}/")


def module_parts(path: str) -> list[str]:
    """Return the folders and the name of a module, without extension and `__init__`."""
    stem = path.removesuffix(".pyi").removesuffix(".py")
    stem = stem.removesuffix("/__init__") if stem != "__init__" else ""
    return stem.split("/") if stem else []


def root_of(source: str, module: str) -> str:
    """Return the folder that a dotted name of a module starts from."""
    steps = module_parts(module)
    return "/".join(steps[: len(steps) - source.count(".") - 1])


def absolute_name(relocation: Relocation, module: str, importer: str, root: str | None) -> str | None:
    """Return the absolute name of a module after the move, from the same folder as before if possible."""
    steps = module_parts(module)
    for folder in _roots(relocation, module, importer, root):
        inner = folder.split("/") if folder else []
        if steps[: len(inner)] != inner or len(steps) == len(inner):
            continue
        rest = steps[len(inner) :]
        name = ".".join(rest)
        if all(part.isidentifier() for part in rest) and relocation.python.find(name, importer) == (module,):
            return name
    return None


def relative_name(relocation: Relocation, module: str, importer: str) -> str | None:
    """Return the relative name of a module after the move, if both are in one package."""
    folder = importer.rpartition("/")[0].split("/") if "/" in importer else []
    steps = module_parts(module)
    same = 0
    while same < min(len(folder), len(steps)) and folder[same] == steps[same]:
        same += 1
    if not same or same < _package_depth(relocation, folder):
        return None
    name = "." * (len(folder) - same + 1) + ".".join(steps[same:])
    if not all(part.isidentifier() for part in steps[same:]):
        return None
    return name if relocation.python.find(name, importer) == (module,) else None


def parent_package(relocation: Relocation, module: str) -> str | None:
    """Return the package of a module after the move: its `__init__`, its folder, or None at the top."""
    steps = module_parts(module)
    return relocation.python.below("/".join(steps[:-2]), steps[-2:-1]) if len(steps) > 1 else None


def _package_depth(relocation: Relocation, folder: list[str]) -> int:
    """Return the depth of the outermost package around a folder; a folder without `__init__` starts its own."""
    depth = len(folder)
    while depth > 0 and _is_package(relocation, "/".join(folder[:depth])):
        depth -= 1
    if depth < len(folder):
        return depth + 1
    return 2 if folder[:1] in (["src"], ["lib"]) else 1


def _is_package(relocation: Relocation, folder: str) -> bool:
    return f"{folder}/__init__.py" in relocation.files or f"{folder}/__init__.pyi" in relocation.files


def _roots(relocation: Relocation, module: str, importer: str, root: str | None) -> Iterator[str]:
    if root is not None:
        yield root
        yield relocation.path(root)
    folder = posixpath.dirname(module)
    if module.rpartition("/")[2].startswith("__init__."):
        folder = posixpath.dirname(folder)
    while folder and _is_package(relocation, folder):
        folder = posixpath.dirname(folder)
    if not is_near(folder, importer) or relocation.is_package(folder):
        # Elsewhere, a folder without `__init__` is a package of its own, not a search path.
        yield from (prefix for prefix in ("src", "lib", "") if not prefix or folder.startswith(f"{prefix}/"))
    yield folder
    yield from _ROOTS
