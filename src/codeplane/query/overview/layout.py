"""The layout of a repository: folders, languages, tests."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from codeplane.code.languages.registry import languages
from codeplane.index.contexts.discovery import discover
from codeplane.index.files.paths import path_text
from codeplane.index.path_kinds import is_test
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.query.folders import Folder

_MAX_NODES = 200
_MAX_IN_FOLDER = 30
_BESIDE_PATH = 12
_MAX_TEST_FILES = 100
_MAX_TEST_FOLDERS = 50
_MAX_CONTEXTS = 50
_SHOWN_FOLDERS, _SHOWN_INSIDE, _SHOWN_FILES = 20, 8, 12


class DirectoryNode(Result):
    """A folder or file of the tree."""

    name: str
    path: str
    is_dir: bool
    children: tuple["DirectoryNode", ...] | None = None
    file_count: int | None = None
    line_count: int | None = None
    left_out: int | None = None

    def line(self) -> str:
        """The node as one line."""
        return f"{self.path}/ {self.file_count:,}" if self.is_dir else self.path


class Structure(Result):
    """The folders; `left_out` counts what is within the depth asked for and not in the tree."""

    root: str
    tree: tuple[DirectoryNode, ...]
    file_count: int
    contexts: tuple[str, ...]
    left_out: int = 0

    def lines(self) -> list[str]:
        """The top folders with their largest subfolders, and the files beside them."""
        folders = sorted(
            (node for node in self.tree if node.is_dir), key=lambda node: (-(node.file_count or 0), node.name)
        )
        lines = [plural(self.file_count, "file")]
        if len(self.contexts) > 1:
            lines[0] += f"; projects at {_list_words(self.contexts, 8)}"
        for node in folders[:_SHOWN_FOLDERS]:
            inside = sorted(
                (each for each in node.children or () if each.is_dir), key=lambda each: -(each.file_count or 0)
            )
            named = [f"{each.name} {each.file_count:,}" for each in inside]
            inner = f": {', '.join(named[:_SHOWN_INSIDE])}" if named else ""
            inner += ", …" if named and (len(named) > _SHOWN_INSIDE or node.left_out) else ""
            lines.append(f"  {node.name}/ {node.file_count:,}{inner}")
        if len(folders) > _SHOWN_FOLDERS:
            lines.append(f"  and {plural(len(folders) - _SHOWN_FOLDERS, 'more folder')}")
        if files := [node.name for node in self.tree if not node.is_dir]:
            lines.append(f"  {_list_words(files, _SHOWN_FILES)}")
        return lines


class LanguageShare(Result):
    """How many of the code files are in a family of languages; `of` names those of it, where it is more than one."""

    language: str
    file_count: int
    percentage: float
    of: dict[str, int] = Field(default_factory=dict)

    def text(self) -> str:
        inner = ", ".join(f"{name} {count:,}" for name, count in self.of.items())
        return f"{self.language} {self.file_count:,} ({self.percentage:g} %{': ' if inner else ''}{inner})"


class TestLayout(Result):
    """Where the tests are."""

    # Not one of pytest's own, whatever it is called.
    __test__ = False

    test_files: tuple[str, ...]
    test_count: int
    folders: dict[str, int]

    def line(self) -> str:
        """The test folders as one line."""
        if not self.test_count:
            return "tests: none found by name"
        folders = [f"{name} {count:,}" for name, count in self.folders.items()]
        return f"tests: {plural(self.test_count, 'file')}: {_list_words(folders, 8)}"


def structure(snapshot: Snapshot, root: Folder, name: str, depth: int) -> Structure:
    """The tree to a depth, level by level, so that only the deepest entries are cut."""
    taken, left_out = _choose_entries(root, depth)
    return Structure(
        root=name,
        tree=_nodes(snapshot, taken, root.path),
        file_count=root.file_count,
        contexts=_contexts(snapshot),
        left_out=left_out,
    )


def rest_of_tree(
    snapshot: Snapshot, root: Folder, *, depth: int, first: int, room: int
) -> tuple[list[DirectoryNode], int]:
    """From the number `first` on, what is within the depth and not in the tree: as many entries as there is room for
    their paths, in the order of folders; and how many come after them.
    """
    taken, _ = _choose_entries(root, depth)
    there = {entry.path for some in taken.values() for entry in some}
    rest = [entry for _, entry in root.below(depth) if entry.path not in there][first:]
    page: list[Folder | IndexedFile] = []
    for entry in rest[:_MAX_NODES]:
        room -= len(entry.path) + _BESIDE_PATH
        if room < 0 and page:
            break
        page.append(entry)
    return list(_nodes(snapshot, {"": page}, "")), len(rest) - len(page)


def _choose_entries(root: Folder, depth: int) -> tuple[dict[str, list[Folder | IndexedFile]], int]:
    """The entries shown of each folder, and how many are not."""
    taken: dict[str, list[Folder | IndexedFile]] = {}
    level, room, left_out = [root], _MAX_NODES, 0
    for _ in range(depth):
        below: list[Folder] = []
        for folder in level:
            taken[folder.path] = _entries(folder, min(room, _MAX_IN_FOLDER if folder.path else room))
            left_out += len(folder.folders) + len(folder.files) - len(taken[folder.path])
            room -= len(taken[folder.path])
            below += [each for each in taken[folder.path] if isinstance(each, Folder)]
        level = below
    return taken, left_out


def language_shares(snapshot: Snapshot) -> tuple[LanguageShare, ...]:
    """The languages of the code files, most files first."""
    tables = languages()
    counts, named = Counter[str](), dict[str, Counter[str]]()
    for path in snapshot.files:
        if (language := tables.of(path)) is not None:
            family = language.family or language.name
            counts[family] += 1
            named.setdefault(family, Counter())[language.name] += 1
    total = sum(counts.values())
    return tuple(
        LanguageShare(
            language=name,
            file_count=count,
            percentage=round(100 * count / total, 1),
            of=dict(named[name].most_common()) if list(named[name]) != [name] else {},
        )
        for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def layout_of_tests(snapshot: Snapshot) -> TestLayout:
    """The test files, and the folders with most of them."""
    tables = languages()
    tests = [path for path in snapshot.files if is_test(path) and tables.of(path) is not None]
    tops = Counter(_test_folder(path) for path in tests)
    return TestLayout(
        test_files=tuple(map(path_text, tests[:_MAX_TEST_FILES])),
        test_count=len(tests),
        folders=dict(sorted(tops.items(), key=lambda pair: (-pair[1], pair[0]))[:_MAX_TEST_FOLDERS]),
    )


def _nodes(snapshot: Snapshot, taken: dict[str, list[Folder | IndexedFile]], path: str) -> tuple[DirectoryNode, ...]:
    return tuple(
        DirectoryNode(
            name=path_text(entry.name),
            path=path_text(entry.path),
            is_dir=True,
            children=_nodes(snapshot, taken, entry.path) if entry.path in taken else None,
            file_count=entry.file_count,
            left_out=(len(entry.folders) + len(entry.files) - len(taken.get(entry.path, ()))) or None,
        )
        if isinstance(entry, Folder)
        else DirectoryNode(
            name=path_text(entry.path.rpartition("/")[2]),
            path=path_text(entry.path),
            is_dir=False,
            line_count=_lines(snapshot, entry),
        )
        for entry in taken[path]
    )


def _entries(folder: Folder, room: int) -> list[Folder | IndexedFile]:
    """The entries that fit, the largest folders first, in order of names."""
    largest = sorted(folder.folders.values(), key=lambda child: (-child.file_count, child.path))[:room]
    return [*sorted(largest, key=lambda entry: entry.path), *folder.files[: room - len(largest)]]


def _lines(snapshot: Snapshot, known: IndexedFile) -> int | None:
    if known.skipped is not None:
        return None
    text = snapshot.text(known)
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


def _contexts(snapshot: Snapshot) -> tuple[str, ...]:
    """The roots of projects, by their manifests."""

    def read(path: str) -> bytes | None:
        known = snapshot.files.get(path)
        return snapshot.text(known) if known is not None and known.skipped is None else None

    roots = {each.root for each in discover(snapshot.files, read) if each.status != "detached" and each.tier}
    roots -= {root for root in roots if is_test(f"{root}/x")}
    return tuple(
        path_text(root) or "." for root in sorted(roots, key=lambda root: (root.count("/"), root))[:_MAX_CONTEXTS]
    )


def _test_folder(path: str) -> str:
    """The outermost folder named like tests, or the file's own."""
    folders = path.split("/")[:-1]
    for length in range(1, len(folders) + 1):
        place = "/".join(folders[:length])
        if is_test(f"{place}/x"):
            return f"{path_text(place)}/"
    return f"{path_text('/'.join(folders))}/" if folders else "./"


def _list_words(words: Sequence[str], most: int) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")
