"""The linked work trees of a repository, verified in both directions."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Folders of system programs; a folder around one of them is not a work tree.
_PROGRAMS = (
    *("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/libexec", "/lib", "/etc"),
    *("/opt/homebrew/bin", "/opt/local/bin", "/snap/bin", "/nix/store", "/nix/var", "/gnu/store"),
    *("/run/current-system/sw/bin", "/home/linuxbrew/.linuxbrew/bin"),
)


def linked_work_trees(root: Path) -> Iterator[Path]:
    """Return the work trees that are linked to a root.

    A hook can write there: one outside of the root counts only when its own `.git` leads back to exactly that entry,
    and never one that holds the system's programs, the home or the Python that runs this.
    """
    for entry in _entries(root):
        place = _path_in_file(entry / "gitdir")
        if place is None or not place.parent.is_dir():
            continue
        tree = Path(os.path.realpath(place.parent))
        if Path(os.path.realpath(root)) in tree.parents or (_points_to(place, entry) and not _holds_programs(tree)):
            yield tree


def git_files_inside(root: Path) -> list[Path]:
    """Return the `.git` files of linked work trees inside the root."""
    real = Path(os.path.realpath(root))
    named = [(_path_in_file(entry / "gitdir"), entry) for entry in _entries(root)]
    inside = [(place, entry) for place, entry in named if place is not None and real in place.parents]
    # No other name of a file: what is hidden would be shown by it.
    return [place for place, entry in inside if Path(os.path.realpath(place)) == place and _points_to(place, entry)]


def _entries(root: Path) -> Iterator[Path]:
    return (named.parent for named in (root / ".git" / "worktrees").glob("*/gitdir"))


def _points_to(place: Path, entry: Path) -> bool:
    """Return whether a `.git` file names this entry and is not a symlink."""
    if place.name != ".git" or place.is_symlink() or not place.is_file():
        return False
    back = _path_in_file(place, "gitdir:")
    return back is not None and os.path.realpath(back) == os.path.realpath(entry)


def _path_in_file(file: Path, start: str = "") -> Path | None:
    """Return the path that a git file names after `start`."""
    try:
        content = file.read_bytes().strip()
    except OSError:
        return None
    if not content.startswith(os.fsencode(start)) or b"\0" in content:
        return None
    return Path(os.path.normpath(file.parent / os.fsdecode(content.removeprefix(os.fsencode(start)).strip())))


def _holds_programs(tree: Path) -> bool:
    """Return whether a folder contains programs of the system, the account or CodePlane."""
    programs = (*_PROGRAMS, str(Path.home()), sys.prefix, sys.base_prefix, str(Path(sys.executable).parent))
    places = {Path(os.path.realpath(folder)) for folder in programs}
    return any(tree == place or tree in place.parents for place in places)
