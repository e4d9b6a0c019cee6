"""Paths from callers: POSIX, relative to the root, never outside it."""

import os
import re
from pathlib import Path

from codeplane.disk.git_folders import GitFolders, git_folders
from codeplane.disk.links import is_free_of_links
from codeplane.kernel.errors import NotFound, PathDenied
from codeplane.kernel.invisible_text import is_invisible
from codeplane.kernel.reserved_folders import is_reserved

_MAX_PATH = 4096
_WRITTEN = re.compile(rb"\\x(0[1-9a-f]|1[0-9a-f]|7f|[89a-f][0-9a-f])")


def canonical(path: str, *, root: Path, gits: GitFolders | None = None) -> str:
    """Normalise a path relative to the root; PathDenied if it leaves the repository.

    `gits` are the root's git folders, where several paths are judged by what was just found.
    """
    if "\0" in path:
        raise PathDenied("a path cannot hold NUL")
    if "\\x" in path and not os.path.lexists(root / path):
        path = _unescape(path)
    # Agents often name files by their absolute path; inside the repository that is plain.
    path = path.removeprefix(f"{root}/") if path != str(root) else ""
    if len(path) > _MAX_PATH:
        raise NotFound(f"a path of {len(path)} characters is longer than any file's", hint="name a file that is there")
    if path.startswith("/"):
        raise PathDenied(f"{path!r} is outside the repository", hint="name it relative to the repository's root")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise PathDenied(f"{path!r} is outside the repository")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    plain = "/".join(parts)
    if is_ours(plain, root=root, gits=gits):
        raise PathDenied(f"{path!r} belongs to git or to CodePlane")
    return plain


def inside(root: Path, path: str, *, gits: GitFolders | None = None) -> Path:
    """The file at a canonical path; PathDenied if a link leads outside the root."""
    target = root / path
    if is_free_of_links(str(root), path) and not is_ours(path, root=root, gits=gits):
        return target
    real = Path(os.path.realpath(target.parent)) / target.name
    if real != root and root not in real.parents:
        raise PathDenied(f"{path!r} leads outside the repository through a link")
    if is_ours(real.relative_to(root).as_posix(), root=root, gits=gits):
        raise PathDenied(f"{path!r} leads to what belongs to git or to CodePlane")
    if not os.path.lexists(real):
        raise NotFound(f"there is no file {path!r}")
    return real


def is_ours(path: str, *, root: Path, gits: GitFolders | None = None) -> bool:
    """Whether a path leads into git's or CodePlane's own folders, under any name that a disk takes for theirs."""
    if is_reserved(path):
        return True
    return (git_folders(root) if gits is None else gits).cover(path)


def _unescape(path: str) -> str:
    """Reverse the escapes that `path_text` writes."""
    raw = _WRITTEN.sub(lambda match: bytes([int(match[1], 16)]), os.fsencode(path))
    return os.fsdecode(raw)


def escape_bytes(path: str) -> str:
    """A path as text, with non-UTF-8 bytes escaped."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def path_text(path: str) -> str:
    """A path as text for answers, with control and invisible characters escaped too."""
    if path.isascii() and path.isprintable():
        return path
    return "".join(_escape_char(char) if char < " " or is_invisible(char) else char for char in escape_bytes(path))


def _escape_char(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode())
