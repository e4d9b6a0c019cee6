"""The folder tree of a snapshot."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from codeplane.index.snapshot import IndexedFile


@dataclass(slots=True)
class Folder:
    """A folder with its entries; counts include everything below."""

    path: str
    folders: dict[str, "Folder"] = field(default_factory=dict)
    files: list[IndexedFile] = field(default_factory=list)
    file_count: int = 0
    size_bytes: int = 0

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def at(self, path: str) -> "Folder | None":
        """The folder at a relative path, or None; itself for an empty path."""
        folder: Folder | None = self
        for part in filter(None, path.split("/")):
            folder = folder.folders.get(part) if folder else None
        return folder

    def below(self, depth: int) -> Iterator["tuple[int, Folder | IndexedFile]"]:
        """Yield folders, then files, of each level by name, with their depth from 1."""
        yield from self._below(1, depth)

    def _below(self, level: int, depth: int) -> Iterator["tuple[int, Folder | IndexedFile]"]:
        for name in sorted(self.folders):
            yield level, self.folders[name]
            if level < depth:
                yield from self.folders[name]._below(level + 1, depth)
        for known in self.files:
            yield level, known


def folders_of(files: Mapping[str, IndexedFile], keep: Iterable[str] | None = None) -> Folder:
    """Build the tree of a snapshot's files, which are ordered by path."""
    root = Folder("")
    seen: dict[str, Folder] = {"": root}
    for path in files if keep is None else keep:
        known = files[path]
        folder = path.rpartition("/")[0]
        parent = seen.get(folder) or _add_folder(seen, folder)
        parent.files.append(known)
    for path in sorted(seen, key=lambda folder_path: -folder_path.count("/") if folder_path else 1):
        folder_path = seen[path]
        folder_path.file_count += len(folder_path.files)
        folder_path.size_bytes += sum(known.stamp.size for known in folder_path.files)
        if path:
            above = seen[path.rpartition("/")[0]]
            above.file_count += folder_path.file_count
            above.size_bytes += folder_path.size_bytes
    return root


def _add_folder(seen: dict[str, Folder], path: str) -> Folder:
    above, _, name = path.rpartition("/")
    parent = seen.get(above) or _add_folder(seen, above)
    folder = seen[path] = parent.folders[name] = Folder(path)
    return folder
