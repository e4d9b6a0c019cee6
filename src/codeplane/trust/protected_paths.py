"""Paths that no operation writes: those outside the workspace, and the folders of git and CodePlane."""

from pathlib import PurePosixPath
from typing import Protocol

from codeplane.kernel.errors import PathDenied
from codeplane.kernel.reserved_folders import is_reserved

_MAX_SHOWN = 200


class PathResolver(Protocol):
    """Resolves paths of the workspace."""

    def resolve_links(self, path: str) -> str: ...

    def is_in_git_folder(self, path: str) -> bool: ...


def refuse_protected(path: str) -> None:
    """Raise PathDenied for a protected path."""
    shown = repr(path[:_MAX_SHOWN])
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if path.startswith(("/", "\\")) or path[1:2] == ":" or "\0" in path or any(map(_climbs, parts)):
        raise PathDenied(f"{shown} is not a path inside the repository")
    if is_reserved(path):
        raise PathDenied(f"{shown} belongs to git or to CodePlane, which no operation writes")


def refuse_protected_target(path: str, resolver: PathResolver) -> None:
    """Raise PathDenied when the path, or where its links lead, is protected or inside git's folder."""
    refuse_protected(path)
    try:
        target = resolver.resolve_links(path)
        refuse_protected(target)
        if any(map(resolver.is_in_git_folder, {path, target})):
            raise PathDenied(f"{path[:_MAX_SHOWN]!r} lies where git keeps this repository, which no operation writes")
    except OSError as error:
        raise PathDenied(f"{path[:_MAX_SHOWN]!r} cannot be resolved: {error.strerror}") from error


def _climbs(part: str) -> bool:
    """Whether a path segment is `..`, also with the trailing dots and spaces that some systems drop."""
    return part.startswith("..") and not part.strip(". ")
