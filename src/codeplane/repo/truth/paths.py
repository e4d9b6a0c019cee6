"""Paths as callers name them: POSIX, relative to the root, never outside it."""

import os
from pathlib import Path

from codeplane.kernel.errors import NotFound, PathDenied

_OURS = frozenset({".git", ".codeplane"})


def canonical(path: str) -> str:
    """The path with `/` between its parts and nothing superfluous; PathDenied when it leaves the repository."""
    if "\0" in path:
        raise PathDenied("a path cannot hold NUL")
    if path.startswith("/"):
        raise PathDenied(f"{path!r} is absolute", hint="name it relative to the repository's root")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise PathDenied(f"{path!r} is outside the repository")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if parts and parts[0].casefold() in _OURS:
        raise PathDenied(f"{path!r} belongs to git or to CodePlane")
    return "/".join(parts)


def inside(root: Path, path: str) -> Path:
    """The file a canonical path names, with no link on the way that leads outside the root."""
    target = root / path
    real = Path(os.path.realpath(target.parent)) / target.name
    if real != root and root not in real.parents:
        raise PathDenied(f"{path!r} leads outside the repository through a link")
    if any(part.casefold() in _OURS for part in real.relative_to(root).parts[:1]):
        raise PathDenied(f"{path!r} leads to what belongs to git or to CodePlane")
    if not os.path.lexists(real):
        raise NotFound(f"there is no file {path!r}")
    return real
