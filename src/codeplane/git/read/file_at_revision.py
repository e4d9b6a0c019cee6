"""Files and folders in a commit or in the index."""

import os
from dataclasses import dataclass

from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.reader import GitReader
from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.errors import NotFound
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

MAX_BYTES = 16 * 1024
_MAX_FILE = 16 * 1024 * 1024
_MAX_ENTRIES = 1000
_MAX_LINE = 4000


class FileAtRevision(Result):
    """Lines of a file as it was."""

    path: str
    oid: str
    mode: str
    binary: bool
    size_bytes: int
    content: str = ""
    start: int = 0
    end: int = 0
    line_count: int = 0
    note: str | None = None

    def text(self) -> str:
        if self.note is not None and not self.content:
            return f"== {self.path}: {self.note}"
        whole = self.end - self.start + 1 == self.line_count
        count = f"({plural(self.line_count, 'line')})"
        lines = count if whole else f":{self.start}-{self.end} of {self.line_count}"
        return f"== {self.path} {lines}" + (f" {self.note}" if self.note else "") + f"\n{self.content}"


class FolderAtRevision(Result):
    """What a folder held; folders in it end in `/`."""

    path: str
    oid: str
    entries: tuple[str, ...]
    total: int

    def text(self) -> str:
        return "\n".join([f"== {self.path or '.'}/ ({plural(self.total, 'entry')})", *self.entries])


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionEntry:
    """A file or folder at a revision, before it is cut into pages."""

    path: str
    oid: str
    mode: str
    content: bytes = b""
    cut: bool = False
    entries: tuple[str, ...] | None = None

    def page(self, first: int) -> tuple[FileAtRevision | FolderAtRevision, int | None]:
        """Return the page that starts at a line or entry, and where the next page starts."""
        name = path_text(self.path)
        if self.entries is not None:
            entries = self.entries[first : first + _MAX_ENTRIES]
            after = first + len(entries)
            folder = FolderAtRevision(path=name, oid=self.oid, entries=entries, total=len(self.entries))
            return folder, after if after < len(self.entries) else None
        size = len(self.content)
        if self.mode == "160000":
            return self._without(name, f"a submodule, at {self.oid}"), None
        if b"\0" in self.content:
            return self._without(name, f"binary, {size} bytes"), None
        lines = self.content.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        chosen: list[bytes] = []
        left = MAX_BYTES
        for line in lines[first:]:
            left -= min(len(line), _MAX_LINE) + 1
            if left < 0 and chosen:
                break
            chosen.append(line)
        after = first + len(chosen)
        return (
            FileAtRevision(
                path=name,
                oid=self.oid,
                mode=self.mode,
                binary=False,
                size_bytes=size,
                content="\n".join(_text(line) for line in chosen),
                start=first + 1 if chosen else 0,
                end=after,
                line_count=len(lines),
                note=self._note(chosen),
            ),
            after if after < len(lines) else None,
        )

    def _note(self, chosen: list[bytes]) -> str | None:
        notes = []
        if self.mode == "120000":
            notes.append("(a link)")
        if self.cut:
            notes.append(f"[only the first {_MAX_FILE} bytes]")
        if any(len(line) > _MAX_LINE for line in chosen):
            notes.append(f"[lines are cut at {_MAX_LINE} bytes]")
        return " ".join(notes) or None

    def _without(self, name: str, note: str) -> FileAtRevision:
        size = len(self.content)
        return FileAtRevision(path=name, oid=self.oid, mode=self.mode, binary=size > 0, size_bytes=size, note=note)


def split_revision(name: str) -> tuple[str, str | None]:
    """Split `revision:path`; a colon in braces or at the start of a search belongs to the revision."""
    if name.startswith(":/"):
        return name, None
    if name[:1] == ":" and name[1:2] in "0123" and name[2:3] == ":":
        return name[:2], name[3:]
    depth = 0
    for at, sign in enumerate(name):
        depth += (sign == "{") - (sign == "}")
        if sign == ":" and depth <= 0:
            return name[:at], name[at + 1 :]
    return name, None


async def read_at_revision(reader: GitReader, revision: str, path: str) -> RevisionEntry:
    """Read a path in a commit or, with a revision of `` or `:2`, in the index."""
    path = canonical(path, root=reader.root)
    HiddenPaths(reader.root, reader.secrets).refuse(path)
    if revision == "" or revision.startswith(":"):
        return await _in_index(reader, revision[1:] or "0", path)
    commit = await reader.commit(revision)
    if not path:
        return await _folder(reader, path, f"{commit}^{{tree}}", "040000")
    records = (await reader.run("ls-tree", "-z", commit, "--", path)).records()
    if not records:
        raise NotFound(
            f"there is no {path_text(path)!r} in {commit[:9]}", hint=f"git_show with ref {revision}: lists its root"
        )
    mode, kind, oid = records[0].partition(b"\t")[0].decode().split(" ")
    if kind == "tree":
        return await _folder(reader, path, oid, mode)
    return await _file(reader, path, oid, mode)


async def _in_index(reader: GitReader, stage: str, path: str) -> RevisionEntry:
    for entry in (await reader.run("ls-files", "-z", "--stage", "--", path)).records():
        facts, _, name = entry.partition(b"\t")
        mode, oid, at = facts.decode().split(" ")
        if os.fsdecode(name) == path and at == stage:
            return await _file(reader, path, oid, mode)
    where = "in the index" if stage == "0" else f"at stage {stage} of the index: it is in no such conflict"
    raise NotFound(f"{path_text(path)!r} is not {where}", hint="see git_status")


async def _file(reader: GitReader, path: str, oid: str, mode: str) -> RevisionEntry:
    if mode == "160000":
        return RevisionEntry(path=path, oid=oid, mode=mode)
    output = await reader.run("cat-file", "blob", oid, max_bytes=_MAX_FILE)
    return RevisionEntry(path=path, oid=oid, mode=mode, content=output.out, cut=output.cut)


async def _folder(reader: GitReader, path: str, tree: str, mode: str) -> RevisionEntry:
    entries = []
    for entry in (await reader.run("ls-tree", "-z", tree)).records():
        facts, _, name = entry.partition(b"\t")
        entries.append(path_text(os.fsdecode(name)) + ("/" if b" tree " in facts else ""))
    return RevisionEntry(path=path, oid=tree.removesuffix("^{tree}"), mode=mode, entries=tuple(entries))


def _text(line: bytes) -> str:
    more = f"… {len(line) - _MAX_LINE} bytes more" if len(line) > _MAX_LINE else ""
    return line[:_MAX_LINE].decode("utf-8", "backslashreplace") + more
