"""The paths that no operation writes, whoever calls it: outside the workspace, and what is git's or CodePlane's own."""

from pathlib import PurePosixPath
from typing import Protocol

from codeplane.kernel.errors import PathDenied
from codeplane.kernel.reserved_folders import is_reserved

_MAX_SHOWN = 200


class Places(Protocol):
    """What lies behind paths of the workspace."""

    def located(self, path: str) -> str: ...

    def is_gits(self, path: str) -> bool: ...


def check_guarded(path: str) -> None:
    """PathDenied for a path that nobody writes."""
    shown = repr(path[:_MAX_SHOWN])
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if path.startswith(("/", "\\")) or path[1:2] == ":" or "\0" in path or any(map(_climbs, parts)):
        raise PathDenied(f"{shown} is not a path inside the repository")
    if is_reserved(path):
        raise PathDenied(f"{shown} belongs to git or to CodePlane, which no operation writes")


def check_led(path: str, places: Places) -> None:
    """The same of a path as it is written, and of where links on the way to it lead; nor is it in git's real folder."""
    check_guarded(path)
    try:
        there = places.located(path)
        check_guarded(there)
        if any(map(places.is_gits, {path, there})):
            raise PathDenied(f"{path[:_MAX_SHOWN]!r} lies where git keeps this repository, which no operation writes")
    except OSError as error:
        raise PathDenied(f"where {path[:_MAX_SHOWN]!r} leads cannot be found out: {error.strerror}") from error


def _climbs(part: str) -> bool:
    """`..`, also with the dots and spaces after it that some systems drop."""
    return part.startswith("..") and not part.strip(". ")
