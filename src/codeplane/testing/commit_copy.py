"""Copies of a commit's files, with the dependencies of the work tree, for tests to run in."""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2
from pygit2.enums import FileMode, FileStatus

from codeplane.disk.git_folders import git_folders
from codeplane.disk.plain_file import copy_below
from codeplane.kernel.errors import NotGit, TooLarge
from codeplane.testing.target import Target

_MAX_BYTES = 2 * 1024**3
_MAX_FILES = 200_000
_MAX_COPIED_BYTES = 256 * 1024**2
_MAX_COPIED_FILES = 20_000
_NEVER = frozenset({".git", ".codeplane", "__pycache__"})
_UNCHANGED = (FileStatus.CURRENT, FileStatus.IGNORED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCopy:
    """The copied files, and the folders of the real work tree to mount there: `shared` writable, `read` read-only."""

    folder: Path
    shared: tuple[Path, ...]
    read: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The commit that is checked out, and its tree at the root."""

    commit: str
    tree: str
    is_clean: bool


def read_head(root: Path) -> Head | None:
    """Return the commit checked out at a root, and whether the work tree is clean; None before the first commit."""
    repository, start = _open_repository(root)
    if repository.head_is_unborn:
        return None
    commit = repository.head.peel(pygit2.Commit)
    tree = _subtree(commit.tree, start)
    if tree is None:
        return None
    changed = repository.status(untracked_files="normal")
    return Head(commit=str(commit.id), tree=str(tree.id), is_clean=not any(map(_counts, changed)))


def copy_tree(root: Path, tree: str, folder: Path) -> CommitCopy:
    """Copy a tree of the repository into a folder; unchanged files are copied from the work tree.

    TooLarge when it is not worth copying. Blocks.
    """
    repository, start = _open_repository(root)
    found = repository[tree].peel(pygit2.Tree)
    status = repository.status(untracked_files="normal", ignored=True)
    changed = {path for path, flags in status.items() if flags not in _UNCHANGED}
    room = _Room(bytes=_MAX_BYTES, files=_MAX_FILES)
    links: dict[Path, str] = {}
    for path, entry in _files(found):
        source, target = root / path, folder / path
        if not {"..", ".", "", ".git"}.isdisjoint(path.split("/")):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(entry, pygit2.Blob):
            # A submodule.
            _copy_folder(root, source, target, room)
        elif entry.filemode == FileMode.LINK:
            links[target] = os.fsdecode(entry.data)
        elif f"{start}{path}" not in changed and source.is_file() and not source.is_symlink():
            room.take(source.stat().st_size)
            copy_below(root, path, target)
        else:
            room.take(entry.size)
            target.write_bytes(entry.data)
            target.chmod(0o755 if entry.filemode == FileMode.BLOB_EXECUTABLE else 0o644)
    own = {path[len(start) :]: flags for path, flags in status.items() if path.startswith(start)}
    shared, read = _provide_ignored(root, folder, own)
    # Links come last, so that nothing is written through them.
    for target, leads_to in links.items():
        if not target.exists() and not target.is_symlink():
            target.symlink_to(leads_to)
    return CommitCopy(folder=folder, shared=shared, read=read)


def targets_in_tree(root: Path, tree: str, targets: Sequence[Target]) -> set[str]:
    """Return the ids of the targets of which a tree has a file."""
    repository, _ = _open_repository(root)
    found = repository[tree].peel(pygit2.Tree)
    return {target.target_id for target in targets if any(path in found for path in target.files)}


def changed_targets(root: Path, targets: Sequence[Target]) -> set[str]:
    """Return the ids of the targets with a file that differs from the commit that is checked out."""
    repository, start = _open_repository(root)
    changed = repository.status(untracked_files="all")
    return {target.target_id for target in targets if any(f"{start}{path}" in changed for path in target.files)}


@dataclass(slots=True, kw_only=True)
class _Room:
    """How much may still be copied."""

    bytes: int
    files: int

    def take(self, size: int) -> None:
        self.bytes -= size
        self.files -= 1
        if self.bytes < 0 or self.files < 0:
            raise TooLarge("the repository is too large to be copied", hint="run the tests in a clean work tree")


def _provide_ignored(root: Path, folder: Path, found: Mapping[str, int]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Provide what git ignores: installed packages are shared, small files copied, large folders read-only.

    Caches and build output are left out: builds compare times, and would mix up the two trees.
    """
    shared: list[Path] = []
    read: list[Path] = []
    room = _Room(bytes=_MAX_COPIED_BYTES, files=_MAX_COPIED_FILES)
    gits = git_folders(root)
    for path, flags in sorted(found.items()):
        if gits.cover(path):
            continue
        source, target = root / path, folder / path.rstrip("/")
        is_folder = source.is_dir() and not source.is_symlink()
        if is_folder and is_packages(source):
            shared.append(root / path.rstrip("/"))
        elif flags != FileStatus.IGNORED or source.name in _NEVER or (is_folder and _is_cache(source)):
            continue
        elif source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(root, source, target, room)
        elif is_folder:
            try:
                _copy_folder(root, source, target, room)
            except TooLarge:
                shutil.rmtree(target, ignore_errors=True)
                read.append(root / path.rstrip("/"))
    return tuple(shared), tuple(read)


def is_packages(folder: Path) -> bool:
    """Whether a folder holds installed packages."""
    return folder.name in ("node_modules", "vendor") or (folder / "pyvenv.cfg").exists()


def _is_cache(folder: Path) -> bool:
    return (folder / "CACHEDIR.TAG").exists() or folder.name in ("target", "htmlcov", ".tox", ".nox", ".gradle")


def _copy_folder(root: Path, source: Path, target: Path, room: _Room) -> None:
    for here, folders, files in os.walk(source):
        below = target / Path(here).relative_to(source)
        below.mkdir(parents=True, exist_ok=True)
        links = [name for name in folders if Path(here, name).is_symlink()]
        folders[:] = [name for name in folders if name not in _NEVER and name not in links]
        for name in (*files, *links):
            if name not in _NEVER:
                _copy_file(root, Path(here, name), below / name, room)


def _copy_file(root: Path, source: Path, target: Path, room: _Room) -> None:
    found = source.lstat()
    if stat.S_ISLNK(found.st_mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(found.st_mode):
        room.take(found.st_size)
        copy_below(root, source.relative_to(root).as_posix(), target)


def _files(tree: pygit2.Tree, below: str = "") -> Iterator[tuple[str, pygit2.Object]]:
    for entry in tree:
        path = f"{below}{os.fsdecode(entry.raw_name or b'')}"
        if isinstance(entry, pygit2.Tree):
            yield from _files(entry, f"{path}/")
        else:
            yield path, entry


def _open_repository(root: Path) -> tuple[pygit2.Repository, str]:
    """Open the repository; return it with the path of the root in it."""
    try:
        repository = pygit2.Repository(str(root))
    except (pygit2.GitError, KeyError) as error:
        raise NotGit("there is no git repository") from error
    if repository.is_bare or repository.workdir is None:
        raise NotGit("a bare repository has no work tree")
    prefix = root.resolve().relative_to(Path(repository.workdir).resolve()).as_posix()
    return repository, "" if prefix == "." else f"{prefix}/"


def _subtree(tree: pygit2.Tree, start: str) -> pygit2.Tree | None:
    if not start:
        return tree
    try:
        found = tree[start.rstrip("/")]
    except KeyError:
        return None
    return found if isinstance(found, pygit2.Tree) else None


def _counts(path: str) -> bool:
    return not path.startswith(".codeplane/")
