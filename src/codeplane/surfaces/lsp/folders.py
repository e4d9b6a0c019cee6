"""Between addresses of files and paths in workspaces."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from codeplane.kernel.json import is_text

# What the system takes, and operations do.
_LONGEST_PATH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The root of a workspace; the serving one has no name."""

    root: Path
    workspace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """A file: the workspace and the path in it."""

    workspace: str
    path: str


class Folders:
    """The workspaces that a client can ask about; the innermost one that holds a file counts."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        self._folders = sorted(folders, key=lambda folder: len(str(folder.root)), reverse=True)
        self._roots = {folder.workspace: folder.root for folder in folders}

    def place(self, uri: str) -> FilePlace | None:
        """Return the file at an address; None if it is in no workspace."""
        path = file_path(uri)
        if path is None:
            return None
        for folder in self._folders:
            for candidate in (path, Path(os.path.realpath(path.parent)) / path.name):
                if candidate.is_relative_to(folder.root):
                    inside = candidate.relative_to(folder.root).as_posix()
                    # Operations name files by texts alone; a name of other bytes is none.
                    return FilePlace(workspace=folder.workspace, path=inside) if is_text(inside) else None
        return None

    def uri(self, workspace: str, path: str) -> str:
        """Return the address of a file."""
        return f"file://{quote(str(self._roots[workspace] / path))}"

    def covers(self, uri: str) -> bool:
        """Whether a folder is one of the workspaces, or in one."""
        path = file_path(uri)
        if path is None:
            return False
        places = (path, Path(os.path.realpath(path)))
        return any(place.is_relative_to(folder.root) for folder in self._folders for place in places)


def file_path(uri: str) -> Path | None:
    """Return the path of an address of a file; None for others, such as `untitled:`."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path or len(path) > _LONGEST_PATH:
        return None
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # Half a character, which no file's name has.
        return None
    return Path(path)
