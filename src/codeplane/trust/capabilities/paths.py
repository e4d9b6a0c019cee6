"""Which paths a grant reaches: globs below the repository's root, proof against every way to write a path twice."""

import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from codeplane.disk.links import is_free_of_links

T = TypeVar("T")

# Where a path leads once links are followed, relative to the root again; None when it leaves the repository.
RealPath = Callable[[str], str | None]

MAX_PATTERN = 500
MAX_PATTERNS = 100
_MAX_PATH = 4096
_ANY = "**"
# The root, as grants of the wire format write it.
_ROOT = "workspace"
# What some disks leave out when they compare names.
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


class PathTrick(ValueError):
    """A path or pattern that no grant reaches, however it is meant."""


class PathScope:
    """The patterns of one grant; `None` is everywhere, no patterns at all are nowhere."""

    def __init__(self, patterns: Sequence[str] | None, *, ignore_case: bool = False) -> None:
        self._ignore_case = ignore_case
        self._patterns: tuple[_Pattern, ...] | None = None
        if patterns is not None:
            parsed = tuple(_understood(patterns[:MAX_PATTERNS], ignore_case=ignore_case))
            self._patterns = None if any(one.is_everything for one in parsed) else parsed

    @property
    def is_everywhere(self) -> bool:
        """Whether nothing is out of reach."""
        return self._patterns is None

    def covers(self, path: str, real: RealPath | None = None) -> bool:
        """Whether the path lies within, as it is written and where it really leads; in doubt it does not."""
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
        return any(one.matches(written, plain) for one in self._patterns or ())


class _Pattern:
    """One glob: `*` and `?` stay in their segment, `**` spans any number of them."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        segments = _segments(pattern)
        self.is_everything = segments == (_ANY,)
        self._written = tuple(map(str.casefold, segments)) if ignore_case else segments
        self._plain = tuple(one if one == _ANY else _plain(one) for one in segments)

    def matches(self, written: tuple[str, ...], plain: tuple[str, ...]) -> bool:
        """Both readings have to fit: a name that a disk may take for another one is not covered by half."""
        return _spans(self._written, written) and _spans(self._plain, plain)


def check_pattern(pattern: str) -> None:
    """Raise PathTrick, saying why, for a pattern that could never be meant."""
    _segments(pattern)


@lru_cache(maxsize=512)
def scope_of(patterns: tuple[str, ...] | None, *, ignore_case: bool = False) -> PathScope:
    """The scope of these patterns, made once."""
    return PathScope(patterns, ignore_case=ignore_case)


def real_below(root: Path) -> RealPath:
    """Follows the links that lie on the disk below a root."""
    base = os.path.realpath(root)
    prefix = base.rstrip(os.sep) + os.sep

    def real(path: str) -> str | None:
        if is_free_of_links(base, path):
            return path
        found = os.path.realpath(prefix + path)
        return found[len(prefix) :].replace(os.sep, "/") if found.startswith(prefix) else None

    return real


def _understood(patterns: Sequence[str], *, ignore_case: bool) -> Iterator[_Pattern]:
    """A pattern in a token that cannot be read reaches nothing; the others still hold."""
    for pattern in patterns:
        try:
            yield _Pattern(pattern, ignore_case=ignore_case)
        except PathTrick:
            continue


def _segments(pattern: str) -> tuple[str, ...]:
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise PathTrick(f"a path pattern has 1 to {MAX_PATTERN} characters")
    if any(sign in pattern for sign in "[]{}"):
        raise PathTrick(f"{pattern!r}: only *, ** and ? stand for something else")
    relative = pattern
    if pattern == f"/{_ROOT}" or pattern.startswith(f"/{_ROOT}/"):
        relative = pattern.removeprefix(f"/{_ROOT}").lstrip("/")
        # What the wire format's own example means by it is the whole repository.
        if relative in ("", "*"):
            return (_ANY,)
    parts = _parts(relative)
    named = parts[-1] if parts else _ANY
    if not parts or relative.endswith("/") or ("*" not in named and "?" not in named):
        parts = (*parts, _ANY)
    folded = [part for at, part in enumerate(parts) if part != _ANY or at == 0 or parts[at - 1] != _ANY]
    return tuple(folded)


def _parts(path: str) -> tuple[str, ...]:
    """The segments of a relative path, in one Unicode form; PathTrick for whatever is not plainly that."""
    if len(path) > _MAX_PATH:
        raise PathTrick("the path is too long")
    if "\0" in path or "\\" in path:
        raise PathTrick(f"{path[:200]!r} holds a backslash or NUL")
    if path.startswith("/") or path[1:2] == ":":
        raise PathTrick(f"{path[:200]!r} is not relative to the repository's root")
    parts = tuple(part for part in unicodedata.normalize("NFC", path).split("/") if part not in ("", "."))
    for part in parts:
        if part.startswith("..") and not part.strip(". "):
            raise PathTrick(f"{path[:200]!r} climbs out of a folder")
    return parts


def _readings(path: str, *, ignore_case: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The path as it is written, and as the least particular disk would read it."""
    written = _parts(path)
    plain = tuple(map(_plain, written))
    if not written or "" in plain:
        raise PathTrick(f"{path[:200]!r} names nothing on some disks")
    return (tuple(map(str.casefold, written)) if ignore_case else written), plain


def _plain(part: str) -> str:
    """Without case, invisible signs, streams, and the dots and spaces at the end."""
    bare = part.translate(_INVISIBLE).partition(":")[0].rstrip(". ")
    return unicodedata.normalize("NFC", bare.casefold())


def _spans(pattern: Sequence[str], names: Sequence[str]) -> bool:
    return _wild(pattern, names, star=_ANY, same=_fits)


def _fits(pattern: str, name: str) -> bool:
    return pattern == name or _wild(pattern, name, star="*", same=lambda sign, letter: sign in (letter, "?"))


def _wild(pattern: Sequence[T], given: Sequence[T], *, star: T, same: Callable[[T, T], bool]) -> bool:
    """Whether a pattern with stars fits; going back to the last star alone is enough, so no pattern explodes."""
    at = here = 0
    resume, tried = -1, 0
    while here < len(given):
        if at < len(pattern) and pattern[at] == star:
            resume, tried, at = at, here, at + 1
        elif at < len(pattern) and same(pattern[at], given[here]):
            at, here = at + 1, here + 1
        elif resume >= 0:
            tried += 1
            at, here = resume + 1, tried
        else:
            return False
    return all(one == star for one in pattern[at:])
