"""The globs in which workspace files name member folders."""

import re
from itertools import pairwise

_EXTENDED = re.compile(r"[!@+*?]\(")
MAX_LENGTH = 1000
SPECIAL = frozenset("*?[{")


class NotAGlob(ValueError):
    """A pattern that is not a valid glob."""


class FolderGlob:
    """One pattern: `*` stays in its segment, `**` spans any number of them, `{a,b}` is either."""

    def __init__(self, pattern: str, *, is_literal: bool = False) -> None:
        if not is_literal and _EXTENDED.search(pattern):
            raise NotAGlob(f"{pattern!r} uses an extended glob")
        self.literal = tidy(pattern)
        self.is_literal = is_literal or SPECIAL.isdisjoint(self.literal)
        self._matches = None if self.is_literal else _compile(self.literal)

    @classmethod
    def for_folder(cls, folder: str) -> "FolderGlob":
        """A glob that matches exactly one folder name."""
        return cls(folder, is_literal=True)

    def matches(self, folder: str) -> bool:
        """Whether a folder matches; a name with brackets also matches literally."""
        return folder == self.literal or (self._matches is not None and self._matches(folder))


class _Regex:
    """A compiled glob; the engine is linear, since patterns come from the repository."""

    def __init__(self, source: str) -> None:
        import re2  # type: ignore[import-untyped]  # the package ships no types

        options = re2.Options()
        options.log_errors = False
        options.dot_nl = True
        try:
            self._regex = re2.compile(source, options)
        except re2.error as error:
            raise NotAGlob(f"a pattern cannot be read: {error}") from None

    def __call__(self, folder: str) -> bool:
        return self._regex.fullmatch(folder.encode("utf-8", "replace").decode()) is not None


def tidy(path: str) -> str:
    """Normalise a relative path: no `./`, empty segments or trailing slash; `..` only where it cannot be resolved."""
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _compile(pattern: str) -> _Regex:
    if len(pattern) > MAX_LENGTH:
        raise NotAGlob("a pattern is too long")
    # A segment `**` may stand for nothing, so its slash goes with it.
    source = ""
    segments = [name for name, following in pairwise((*pattern.split("/"), "")) if (name, following) != ("**", "**")]
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        if segment == "**":
            if last:
                source = (source[:-1] + "(?:/.*)?") if source else ".*"
            else:
                source += "(?:[^/]+/)*"
        else:
            source += _segment(segment) + ("" if last else "/")
    return _Regex(source)


def _segment(segment: str) -> str:
    out, at, depth = "", 0, 0
    while at < len(segment):
        char = segment[at]
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := segment.find("]", at + 2)) > 0:
            inside = segment[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out += f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]"
            at = end
        elif char == "{" and "}" in segment[at:]:
            out, depth = out + "(?:", depth + 1
        elif char == "}" and depth:
            out, depth = out + ")", depth - 1
        elif char == "," and depth:
            out += "|"
        else:
            out += re.escape(char)
        at += 1
    if depth:
        raise NotAGlob(f"{segment!r} opens a brace and does not close it")
    return out
