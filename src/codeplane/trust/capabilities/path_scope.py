"""Path patterns of a grant: globs below the repository's root that alternative spellings of a path cannot evade."""

import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from codeplane.disk.links import is_free_of_links

T = TypeVar("T")

# Follows the links of a path, relative to the root; None when it leaves the repository.
LinkResolver = Callable[[str], str | None]

MAX_PATTERN = 500
MAX_PATTERNS = 100
_MAX_PATH = 4096
_ANY = "**"
# The root, as the wire format writes it.
_ROOT = "workspace"
# Characters that some file systems ignore when they compare names.
_INVISIBLE = dict.fromkeys(
    [
        0xAD,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xFE00, 0xFE10),
    ]
)


class UnsafePath(ValueError):
    """A path or pattern that no grant covers, such as one with `..` or a backslash."""


class PathScope:
    """The patterns of one grant; None covers every path, an empty list none."""

    def __init__(self, patterns: Sequence[str] | None, *, ignore_case: bool = False) -> None:
        self._ignore_case = ignore_case
        self._patterns: tuple[_Pattern, ...] | None = None
        if patterns is not None:
            parsed = tuple(_parse_patterns(patterns[:MAX_PATTERNS], ignore_case=ignore_case))
            self._patterns = None if any(pattern.is_everything for pattern in parsed) else parsed

    @property
    def is_everywhere(self) -> bool:
        """Whether every path is covered."""
        return self._patterns is None

    def covers(self, path: str, real: LinkResolver | None = None) -> bool:
        """Whether the path is covered, both as written and where its links lead; False in doubt."""
        if self._patterns is None:
            return True
        try:
            if not self._holds(path):
                return False
            leads_to = real(path) if real is not None else path
            return leads_to is not None and (leads_to == path or self._holds(leads_to))
        except (ValueError, OSError, RecursionError):
            return False

    def _holds(self, path: str) -> bool:
        written, plain = _readings(path, ignore_case=self._ignore_case)
        return any(pattern.matches(written, plain) for pattern in self._patterns or ())


class _Pattern:
    """One glob: `*` and `?` stay in their segment, `**` spans any number of them."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        segments = _segments(pattern)
        self.is_everything = segments == (_ANY,)
        self._written = tuple(map(str.casefold, segments)) if ignore_case else segments
        self._plain = tuple(segment if segment == _ANY else _fold_part(segment) for segment in segments)

    def matches(self, written: tuple[str, ...], plain: tuple[str, ...]) -> bool:
        """Whether both readings match: a name that a disk may take for another has to match as either."""
        return _matches_path(self._written, written) and _matches_path(self._plain, plain)


def check_pattern(pattern: str) -> None:
    """Raise UnsafePath with the reason for a pattern that cannot be used."""
    _segments(pattern)


@lru_cache(maxsize=512)
def scope_of(patterns: tuple[str, ...] | None, *, ignore_case: bool = False) -> PathScope:
    """The scope of these patterns, cached."""
    return PathScope(patterns, ignore_case=ignore_case)


def link_resolver(root: Path) -> LinkResolver:
    """A resolver of the links below a root."""
    base = os.path.realpath(root)
    prefix = base.rstrip(os.sep) + os.sep

    def real(path: str) -> str | None:
        if is_free_of_links(base, path):
            return path
        target = os.path.realpath(prefix + path)
        return target[len(prefix) :].replace(os.sep, "/") if target.startswith(prefix) else None

    return real


def _parse_patterns(patterns: Sequence[str], *, ignore_case: bool) -> Iterator[_Pattern]:
    """Parse patterns; one in a token that cannot be used covers nothing, and the others still count."""
    for pattern in patterns:
        try:
            yield _Pattern(pattern, ignore_case=ignore_case)
        except UnsafePath:
            continue


def _segments(pattern: str) -> tuple[str, ...]:
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise UnsafePath(f"a path pattern has 1 to {MAX_PATTERN} characters")
    if any(sign in pattern for sign in "[]{}"):
        raise UnsafePath(f"{pattern!r}: only *, ** and ? stand for something else")
    relative = pattern
    if pattern == f"/{_ROOT}" or pattern.startswith(f"/{_ROOT}/"):
        relative = pattern.removeprefix(f"/{_ROOT}").lstrip("/")
        # In the wire format's own example it means the whole repository.
        if relative in ("", "*"):
            return (_ANY,)
    parts = _parts(relative)
    last = parts[-1] if parts else _ANY
    if not parts or relative.endswith("/") or ("*" not in last and "?" not in last):
        parts = (*parts, _ANY)
    folded = [part for at, part in enumerate(parts) if part != _ANY or at == 0 or parts[at - 1] != _ANY]
    return tuple(folded)


def _parts(path: str) -> tuple[str, ...]:
    """The segments of a relative path, normalised; UnsafePath for anything else."""
    if len(path) > _MAX_PATH:
        raise UnsafePath("the path is too long")
    if "\0" in path or "\\" in path:
        raise UnsafePath(f"{path[:200]!r} holds a backslash or NUL")
    if path.startswith("/") or path[1:2] == ":":
        raise UnsafePath(f"{path[:200]!r} is not relative to the repository's root")
    parts = tuple(part for part in unicodedata.normalize("NFC", path).split("/") if part not in ("", "."))
    for part in parts:
        if part.startswith("..") and not part.strip(". "):
            raise UnsafePath(f"{path[:200]!r} climbs out of a folder")
    return parts


def _readings(path: str, *, ignore_case: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The path as written, and as the most lenient file system would read it."""
    written = _parts(path)
    plain = tuple(map(_fold_part, written))
    if not written or "" in plain:
        raise UnsafePath(f"{path[:200]!r} names nothing on some disks")
    return (tuple(map(str.casefold, written)) if ignore_case else written), plain


def _fold_part(part: str) -> str:
    """A name without case, invisible characters, stream suffix, and trailing dots and spaces."""
    bare = part.translate(_INVISIBLE).partition(":")[0].rstrip(". ")
    return unicodedata.normalize("NFC", bare.casefold())


def _matches_path(pattern: Sequence[str], names: Sequence[str]) -> bool:
    return _matches_wildcards(pattern, names, star=_ANY, same=_matches_segment)


def _matches_segment(pattern: str, name: str) -> bool:
    return pattern == name or _matches_wildcards(
        pattern, name, star="*", same=lambda sign, letter: sign in (letter, "?")
    )


def _matches_wildcards(pattern: Sequence[T], tokens: Sequence[T], *, star: T, same: Callable[[T, T], bool]) -> bool:
    """Match a pattern with stars; backtracking only to the last star keeps it from exploding."""
    at = here = 0
    resume, tried = -1, 0
    while here < len(tokens):
        if at < len(pattern) and pattern[at] == star:
            resume, tried, at = at, here, at + 1
        elif at < len(pattern) and same(pattern[at], tokens[here]):
            at, here = at + 1, here + 1
        elif resume >= 0:
            tried += 1
            at, here = resume + 1, tried
        else:
            return False
    return all(token == star for token in pattern[at:])
