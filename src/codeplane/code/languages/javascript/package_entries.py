"""By which files a JavaScript package is used: what `exports` of its package.json lists, and nothing else."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from codeplane.code.languages.javascript.config import leaves

_NO_CODE = (".json", ".css", ".scss", ".less", ".wasm", ".node", ".md")
_CODE = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
MADE = ("dist", "distribution", "build", "lib", "out", "esm", "cjs", "es")
_SOURCES = ("src", "source")
# A pattern that gives away every file that is installed, beside the files that are meant to be used.
_EVERYTHING = ("./*", "*")
SourceOf = Callable[[str, str], str | None]


def package_entries(
    package: Mapping[str, object], folder: str, files: Iterable[str], source_of: SourceOf
) -> Mapping[str, tuple[str, ...]] | None:
    """The source files by the paths that users import; None if `exports` is missing or names what cannot be found."""
    table = package.get("exports")
    if not isinstance(table, dict) or not any(str(key).startswith(".") for key in table):
        table = {".": table}
    if len(table) > 1:
        table = {key: value for key, value in table.items() if key not in _EVERYTHING or value not in _EVERYTHING}
    entries: dict[str, tuple[str, ...]] = {}
    for key, value in table.items():
        targets = [target for target in leaves(value, "*") if not target.endswith(_NO_CODE)]
        if not targets:
            continue
        if "*" in str(key):
            found = _match_pattern(str(key), targets, folder, files)
        else:
            sources = {source for target in targets if (source := source_of(folder, target)) is not None}
            found = {str(key): tuple(sorted(sources))} if sources else {}
        if not found:
            return None
        entries |= found
    return entries or None


def stem_of(path: str) -> str:
    """A path without the ending of a script or a declaration."""
    ending = next((ending for ending in (*_DECLARATIONS, *_CODE) if path.endswith(ending)), "")
    return path.removesuffix(ending)


def source_places(path: str) -> Iterator[str]:
    """A path of what is made, and where its source may be: `dist/cjs/a` and `src/cjs/a`, `src/a`."""
    yield path
    parts = path.split("/")
    while parts and parts[0] in MADE:
        parts = parts[1:]
        for folder in _SOURCES:
            yield "/".join([folder, *parts])


def _match_pattern(key: str, targets: Iterable[str], folder: str, files: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The files that a pattern lists, by what its star stands for."""
    found: dict[str, list[str]] = {}
    inside = f"{folder}/" if folder else ""
    scripts = sorted(path for path in files if path.startswith(inside) and path.endswith(_CODE))
    for target in targets:
        start, _, end = target.removeprefix("./").partition("*")
        ending = stem_of(f"*{end}")[1:]
        for place in source_places(start):
            for path in scripts:
                stem = stem_of(path)
                if path.startswith(inside + place) and stem.endswith(ending):
                    middle = stem[len(inside + place) : len(stem) - len(ending)]
                    found.setdefault(key.replace("*", middle), []).append(path)
    return {name: tuple(dict.fromkeys(sources)) for name, sources in found.items()}
