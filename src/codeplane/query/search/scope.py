"""The scope of a query: paths, languages, tests or not."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from codeplane.code.languages.registry import languages
from codeplane.index.files.ignore import as_text, compile_patterns, is_pattern
from codeplane.index.files.paths import canonical
from codeplane.index.path_kinds import is_test
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.language_names import known_language

Tests = Literal["include", "exclude", "only"]
Keep = Callable[[str], bool]


def scope(paths: Sequence[str], named: Sequence[str], tests: Tests, root: Path) -> Keep | None:
    """The filter of files in scope, or None for all."""
    filters: list[Keep] = []
    if paths:
        filters.append(PathFilter(paths, root))
    if named:
        filters.append(_language_filter(named))
    if tests != "include":
        filters.append(is_test if tests == "only" else lambda path: not is_test(path))
    if not filters:
        return None
    return filters[0] if len(filters) == 1 else lambda path: all(keep(path) for keep in filters)


def _language_filter(named: Sequence[str]) -> Keep:
    tables = languages()
    wanted = {known_language(name_part) for name in named for name_part in name.split(",")}

    def keep(path: str) -> bool:
        language = tables.of(path)
        return language is not None and (language.name in wanted or language.family in wanted)

    return keep


class PathFilter:
    """A cached filter by git globs; a folder's name matches everything below it."""

    def __init__(self, globs: Sequence[str], root: Path) -> None:
        for glob in globs:
            if not is_pattern(_anchor_glob(glob, root)):
                raise InvalidArgument(f"{glob!r} is not a path or glob", hint="write for example src or src/**/*.py")
        self._spec = compile_patterns([_anchor_glob(glob, root) for glob in globs])
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        is_match = self._known.get(path)
        if is_match is None:
            is_match = self._known[path] = self._spec.match_file(as_text(path))
        return is_match


def _anchor_glob(glob: str, root: Path) -> str:
    """Anchor a glob: a plain name or one with folders at the root, `*.py` anywhere."""
    plain = as_text(canonical(glob, root=root))
    return f"/{plain}" if "/" in plain or not any(char in plain for char in "*?[") else plain
