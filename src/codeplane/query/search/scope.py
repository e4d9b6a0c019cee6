"""Where a question looks: paths, languages, tests or not."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from codeplane.code.languages.registry import languages
from codeplane.index.files.ignore import as_text, compiled, is_pattern
from codeplane.index.files.paths import canonical
from codeplane.index.path_kinds import is_test
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.language_names import known_language

Tests = Literal["include", "exclude", "only"]
Keep = Callable[[str], bool]


def scope(paths: Sequence[str], named: Sequence[str], tests: Tests, root: Path) -> Keep | None:
    """What decides whether a file is looked at; None when all are."""
    found: list[Keep] = []
    if paths:
        found.append(PathFilter(paths, root))
    if named:
        found.append(_language_filter(named))
    if tests != "include":
        found.append(is_test if tests == "only" else lambda path: not is_test(path))
    if not found:
        return None
    return found[0] if len(found) == 1 else lambda path: all(keep(path) for keep in found)


def _language_filter(named: Sequence[str]) -> Keep:
    tables = languages()
    wanted = {known_language(one) for name in named for one in name.split(",")}

    def keep(path: str) -> bool:
        language = tables.of(path)
        return language is not None and (language.name in wanted or language.family in wanted)

    return keep


class PathFilter:
    """Globs with git's meaning; a folder's name is everything below it. Asked once a file, remembered."""

    def __init__(self, globs: Sequence[str], root: Path) -> None:
        for glob in globs:
            if not is_pattern(_anchored(glob, root)):
                raise InvalidArgument(f"{glob!r} is not a path or glob", hint="write for example src or src/**/*.py")
        self._spec = compiled([_anchored(glob, root) for glob in globs])
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._spec.match_file(as_text(path))
        return found


def _anchored(glob: str, root: Path) -> str:
    """A glob as git reads it: a plain name or one with folders counts from the root, `*.py` counts anywhere."""
    plain = as_text(canonical(glob, root=root))
    return f"/{plain}" if "/" in plain or not any(char in plain for char in "*?[") else plain
