"""The paths that no operation writes, whoever calls it: outside the workspace, and what is git's or CodePlane's own."""

from collections.abc import Callable
from pathlib import PurePosixPath

from codeplane.kernel.errors import PathDenied
from codeplane.kernel.own_folders import is_own

_MAX_SHOWN = 200


def check_guarded(path: str) -> None:
    """PathDenied for a path that nobody writes."""
    shown = repr(path[:_MAX_SHOWN])
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if path.startswith(("/", "\\")) or path[1:2] == ":" or "\0" in path or any(map(_climbs, parts)):
        raise PathDenied(f"{shown} is not a path inside the repository")
    if is_own(path):
        raise PathDenied(f"{shown} belongs to git or to CodePlane, which no operation writes")


def check_led(path: str, located: Callable[[str], str]) -> None:
    """The same of a path as it is written, and of where links on the way to it lead."""
    check_guarded(path)
    try:
        check_guarded(located(path))
    except OSError as error:
        raise PathDenied(f"where {path[:_MAX_SHOWN]!r} leads cannot be found out: {error.strerror}") from error


def _climbs(part: str) -> bool:
    """`..`, also with the dots and spaces after it that some systems drop."""
    return part.startswith("..") and not part.strip(". ")
