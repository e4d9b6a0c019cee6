"""The composition of a folder: its entries by size, with their languages."""

from collections import Counter
from collections.abc import Mapping

from pydantic import Field

from codeplane.code.languages.registry import languages
from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest

OTHER = "other"


class MakeUpRequest(WorkspaceRequest):
    """Which folder; the whole repository without."""

    folder: str = Field("", max_length=4096)
    limit: int = Field(40, ge=1, le=200, description="parts; the smaller ones are shown as one")
    lines: bool = Field(False, description="count the lines of each language, too")


class FolderPart(Result):
    """A folder or file in it."""

    path: str
    is_dir: bool
    files: int
    size_bytes: int
    languages: dict[str, int] = Field(description="bytes of each language, the most first")


class MakeUp(Result):
    """The parts of a folder by size, the largest first, and its languages."""

    folder: str
    files: int
    size_bytes: int
    languages: dict[str, int]
    lines: dict[str, int] | None = Field(None, description="lines of each language, the most first")
    parts: tuple[FolderPart, ...]
    left_out: int = Field(0, description="parts that are too small to be shown")
    epoch: int

    def text(self) -> str:
        lines = [
            f"{part.path}{'/' * part.is_dir} {plural(part.files, 'file')}, {part.size_bytes:,} B" for part in self.parts
        ]
        return "\n".join([f"{plural(self.files, 'file')}, {self.size_bytes:,} B", *lines])


def make_up(snapshot: Snapshot, folder: str, limit: int, *, with_lines: bool = False) -> MakeUp:
    """Measure the files below a folder."""
    prefix = f"{folder}/" if folder else ""
    tables, known_as = languages(), dict[str, str]()
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    shares: dict[str, Counter[str]] = {}
    folders: set[str] = set()
    lines: Counter[str] = Counter()
    for path, known in _below(snapshot.files, prefix):
        rest = path[len(prefix) :]
        name, slash, _ = rest.partition("/")
        called = path.rpartition("/")[2]
        if called not in known_as:
            language = tables.of(path)
            known_as[called] = language.name if language is not None else OTHER
        sizes[name] += known.stamp.size
        counts[name] += 1
        shares.setdefault(name, Counter())[known_as[called]] += known.stamp.size
        if with_lines and known_as[called] != OTHER and known.skipped is None:
            lines[known_as[called]] += _count_lines(snapshot.text(known))
        if slash:
            folders.add(name)
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:limit]
    total: Counter[str] = sum(shares.values(), Counter())
    return MakeUp(
        folder=path_text(folder),
        files=sum(counts.values()),
        size_bytes=sum(sizes.values()),
        languages=dict(total.most_common()),
        lines=dict(lines.most_common()) if with_lines else None,
        parts=tuple(
            FolderPart(
                path=path_text(prefix + name),
                is_dir=name in folders,
                files=counts[name],
                size_bytes=sizes[name],
                languages=dict(shares[name].most_common()),
            )
            for name in largest
        ),
        left_out=len(sizes) - len(largest),
        epoch=snapshot.epoch,
    )


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))


def _below(files: Mapping[str, IndexedFile], prefix: str) -> list[tuple[str, IndexedFile]]:
    return [(path, known) for path, known in files.items() if path.startswith(prefix)]
