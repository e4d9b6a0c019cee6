"""Specifiers of JavaScript modules: a relative path, or a name of a tsconfig or package, with or without extension."""

import posixpath
from collections.abc import Iterator
from typing import Literal

from codeplane.code.languages.javascript.config import Mapped, join_path
from codeplane.refactor.move.relocation import Relocation

Form = Literal["whole", "swapped", "bare", "folder"]
_FORMS: tuple[Form, ...] = ("bare", "folder", "whole", "swapped")
_SWAPPED = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs", ".jsx": ".jsx", ".js": ".js"}
_DECLARED = (".d.ts", ".d.mts", ".d.cts")


def is_relative(source: str) -> bool:
    """Whether a source is a path relative to its file."""
    return source.startswith(("./", "../")) or source in (".", "..")


def rewrite_specifier(relocation: Relocation, source: str, importer: str, module: str) -> str | None:
    """Return the source of a module after the move, written as before; None if there is none."""
    new_importer, new_module = relocation.path(importer), relocation.path(module)
    folder, new_folder = posixpath.dirname(importer), posixpath.dirname(new_importer)
    if is_relative(source):
        form = _form(join_path(folder, source), module)
        found = _relative_paths(new_folder, new_module, form)
    else:
        form = _form_by_ending(source, module)
        found = _aliased_names(relocation, source, new_importer, module, new_module, form)
    for specifier in found:
        if relocation.javascript.find(specifier, new_importer) == (new_module,):
            return (
                f"{specifier}/"
                if source.endswith("/") and form == "folder" and not specifier.endswith("/")
                else specifier
            )
    return None


def make_specifier(relocation: Relocation, importer: str, module: str, like: str) -> str | None:
    """Return a relative source from one file to another, with or without extension like the source `find_similar`."""
    form: Form = "bare"
    ending = posixpath.splitext(like)[1]
    if is_relative(like) and ending:
        form = "swapped" if ending in _SWAPPED.values() else "whole"
    for specifier in _relative_paths(posixpath.dirname(importer), module, form):
        if relocation.javascript.find(specifier, importer) == (module,):
            return specifier
    return None


def _relative_paths(folder: str, module: str, form: Form) -> Iterator[str]:
    for tail in _tails(module, form):
        path = posixpath.relpath(tail or ".", folder or ".")
        yield path if path.startswith(".") else f"./{path}"


def _aliased_names(
    relocation: Relocation, source: str, importer: str, module: str, new_module: str, form: Form
) -> Iterator[str]:
    """Yield names by tsconfig or package, then relative paths if no name of the tsconfig fits any more."""
    folder = posixpath.dirname(importer)
    mapped = relocation.javascript.path_mapping(folder)
    if mapped is not None:
        yield from _mapped_names(mapped, source, new_module, form)
    yield from _by_package(source, module, new_module, form)
    if mapped is not None and any(_matches(pattern, source) for pattern in mapped.paths if pattern != "*"):
        yield from _relative_paths(folder, new_module, form)


def _mapped_names(mapped: Mapped, source: str, module: str, form: Form) -> Iterator[str]:
    """Yield names by the patterns of a tsconfig, the present one first, then by its base."""
    patterns = sorted(mapped.paths.items(), key=lambda item: (not _matches(item[0], source), -len(item[0])))
    for tail in _tails(module, form):
        for pattern, targets in patterns:
            for target in targets:
                start, star, end = target.partition("*")
                begin = join_path(mapped.root, start) if start else mapped.root
                if not star or begin is None:
                    continue
                begin = f"{begin}/" if begin and (not start or start.endswith("/")) else begin
                if tail.startswith(begin) and tail.endswith(end):
                    yield pattern.replace("*", tail[len(begin) : len(tail) - len(end)])
        if mapped.base is not None and (not mapped.base or tail.startswith(f"{mapped.base}/")):
            yield tail[len(mapped.base) + 1 if mapped.base else 0 :]


def _by_package(source: str, module: str, new_module: str, form: Form) -> Iterator[str]:
    """Yield names by a package, with the rest changed like the path."""
    for old in _tails(module, form):
        for new in _tails(new_module, form):
            steps, new_steps = old.split("/"), new.split("/")
            source_parts = source.split("/")
            same = 0
            while same < min(len(steps), len(source_parts)) and steps[-same - 1] == source_parts[-same - 1]:
                same += 1
            home = steps[: len(steps) - same]
            if same and new_steps[: len(home)] == home:
                yield "/".join([*source_parts[: len(source_parts) - same], *new_steps[len(home) :]])


def _matches(pattern: str, source: str) -> bool:
    start, star, end = pattern.partition("*")
    return source.startswith(start) and source.endswith(end) if star else source == pattern


def _tails(module: str, form: Form) -> Iterator[str]:
    """Yield the ways to write the path of a module, the given form first."""
    stem, ending = _split_extension(module)
    is_index = stem.rpartition("/")[2] == "index"
    ways: dict[Form, str] = {"whole": module, "bare": stem, "swapped": stem + _SWAPPED.get(ending, ending)}
    if is_index:
        ways["folder"] = posixpath.dirname(module)
    order = (form, *(way for way in _FORMS if way != form))
    if is_index and form == "bare":
        order = ("folder", *(way for way in order if way != "folder"))
    yield from (ways[way] for way in order if way in ways)


def _form(path: str | None, module: str) -> Form:
    stem, _ = _split_extension(module)
    if path == module:
        return "whole"
    if path == posixpath.dirname(module) and stem.rpartition("/")[2] == "index":
        return "folder"
    return "bare" if path == stem else "swapped"


def _form_by_ending(source: str, module: str) -> Form:
    stem, ending = _split_extension(module)
    name = source.rpartition("/")[2]
    if name == module.rpartition("/")[2]:
        return "whole"
    if name == stem.rpartition("/")[2]:
        return "bare"
    if ending and name == stem.rpartition("/")[2] + _SWAPPED.get(ending, ending):
        return "swapped"
    return "folder"


def _split_extension(module: str) -> tuple[str, str]:
    for ending in _DECLARED:
        if module.endswith(ending):
            return module.removesuffix(ending), ending
    return posixpath.splitext(module)
