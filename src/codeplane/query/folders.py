"""The folders of a snapshot: what is in them, directly and below."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from codeplane.index.snapshot import Known


@dataclass(slots=True)
class Folder:
    """A folder with its entries; counts include everything below."""

    path: str
    folders: dict[str, "Folder"] = field(default_factory=dict)
    files: list[Known] = field(default_factory=list)
    file_count: int = 0
    size_bytes: int = 0

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def at(self, path: str) -> "Folder | None":
        """The folder below this one with that path, counted from here; itself for the empty path."""
        found: Folder | None = self
        for part in filter(None, path.split("/")):
            found = found.folders.get(part) if found else None
        return found

    def below(self, depth: int) -> Iterator["tuple[int, Folder | Known]"]:
        """Folders, then files, of each level in the order of names, with how deep they are; 1 is what is right here."""
        yield from self._below(1, depth)

    def _below(self, level: int, depth: int) -> Iterator["tuple[int, Folder | Known]"]:
        for name in sorted(self.folders):
            yield level, self.folders[name]
            if level < depth:
                yield from self.folders[name]._below(level + 1, depth)
        for known in self.files:
            yield level, known


def folders_of(files: Mapping[str, Known], keep: Iterable[str] | None = None) -> Folder:
    """The tree of a snapshot's files, which come in the order of their paths."""
    root = Folder("")
    seen: dict[str, Folder] = {"": root}
    for path in files if keep is None else keep:
        known = files[path]
        folder = path.rpartition("/")[0]
        found = seen.get(folder) or _grown(seen, folder)
        found.files.append(known)
    for path in sorted(seen, key=lambda one: -one.count("/") if one else 1):
        one = seen[path]
        one.file_count += len(one.files)
        one.size_bytes += sum(known.stamp.size for known in one.files)
        if path:
            above = seen[path.rpartition("/")[0]]
            above.file_count += one.file_count
            above.size_bytes += one.size_bytes
    return root


def _grown(seen: dict[str, Folder], path: str) -> Folder:
    above, _, name = path.rpartition("/")
    parent = seen.get(above) or _grown(seen, above)
    found = seen[path] = parent.folders[name] = Folder(path)
    return found
