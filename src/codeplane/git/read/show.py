"""The `git.show` operation: a commit with its changes, a tag, or a file as it was."""

import asyncio
import re

from pydantic import Field

from codeplane.git.read.commit_info import FORMAT, Commit, commits_in, moment
from codeplane.git.read.diff import find_differences
from codeplane.git.read.diff_page import DiffFile, Stats, diff_page, diff_stats
from codeplane.git.read.file_at_revision import FileAtRevision, FolderAtRevision, read_at_revision, split_revision
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.pages import PagedRequest, Pages
from codeplane.git.read.reader import GitReader
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination

_MAX_MESSAGE = 32_000
# Such names, relative to HEAD, always mean a commit.
_NO_TAG = re.compile(r"(HEAD|@)([~^]\d*)*")


class ShowRequest(PagedRequest):
    """What to show."""

    ref: str = Field(
        "HEAD", max_length=4096, description="commit, tag, ref:path (a file as it was), :2:path in a conflict"
    )
    paths: tuple[str, ...] = Field((), max_length=1000, description="changes of these alone")
    stat_only: bool = False
    context: int = Field(3, ge=0, le=1000)


class TagInfo(Result):
    """What an annotated tag says."""

    name: str
    tagger: str
    time: str
    message: str


class ShowResult(Result):
    """A commit with what it changed against its first parent, or what was at a path."""

    commit: Commit | None = None
    tag: TagInfo | None = None
    files: tuple[DiffFile, ...] = ()
    stats: Stats | None = None
    stat_only: bool = False
    file: FileAtRevision | None = None
    folder: FolderAtRevision | None = None
    pagination: Pagination

    def text(self) -> str:
        lines: list[str] = []
        if self.tag is not None:
            lines += [f"tag {self.tag.name} {self.tag.time[:10]} {self.tag.tagger}", self.tag.message, ""]
        if self.commit is not None:
            author = self.commit.author
            lines += [f"commit {self.commit.oid}", f"{author.name} <{author.email}> {author.time}"]
            if len(self.commit.parents) > 1:
                others = " ".join(parent[:9] for parent in self.commit.parents)
                lines.append(f"merge of {others}; changes against the first")
            lines += ["", self.commit.message, ""]
        if self.stats is not None:
            lines.append(self.stats.text())
        lines += [file.stat() if self.stat_only else file.text() for file in self.files]
        lines += [entry.text() for entry in (self.file, self.folder) if entry is not None]
        return "\n".join(lines) + self.pagination.line()


async def _do_nothing() -> None:
    return None


class ShowOperations:
    """Answer `git.show`."""

    def __init__(self, *, reader: GitReader, cursors: Cursors) -> None:
        self._reader = reader
        self._pages = Pages(cursors)

    @operation("git.show", risk=Risk.READ)
    async def show(self, call: Call, request: ShowRequest) -> ShowResult:
        """A commit or tag with message and diff, or with ref:path a file or folder as it was there."""
        revision, path = split_revision(request.ref)
        if path is not None:
            return await self._show_path(call, request, revision, path)
        oid = await self._reader.commit(revision)
        paths = self._reader.pathspecs(request.paths)
        tag, printed, differences = await asyncio.gather(
            _do_nothing() if oid.startswith(revision) or _NO_TAG.fullmatch(revision) else self._tag(revision),
            self._reader.run("log", *FORMAT, "--max-count=1", oid, "--"),
            find_differences(
                self._reader,
                ("show", "--format=", "--diff-merges=first-parent", oid),
                paths,
                context=request.context,
                stat_only=request.stat_only,
            ),
        )
        if not differences.files:
            await self._reader.refuse_unknown(paths, oid)
        at = self._pages.position(call, request, state=differences.state) if request.cursor else None
        page = await asyncio.to_thread(
            diff_page, differences.files, HiddenPaths(self._reader.root, self._reader.secrets), at=at
        )
        return ShowResult(
            commit=commits_in(printed.records(), max_message=_MAX_MESSAGE)[0],
            tag=tag,
            files=page.files,
            stats=diff_stats(differences.files),
            stat_only=request.stat_only,
            pagination=self._pages.pagination(call, request, page.next, state=differences.state),
        )

    async def _show_path(self, call: Call, request: ShowRequest, revision: str, path: str) -> ShowResult:
        entry = await read_at_revision(self._reader, revision, path)
        at = self._pages.position(call, request, state=entry.oid)["first"] if request.cursor else 0
        page, following = entry.page(at)
        more = {"first": following} if following is not None else None
        return ShowResult(
            file=page if isinstance(page, FileAtRevision) else None,
            folder=page if isinstance(page, FolderAtRevision) else None,
            pagination=self._pages.pagination(call, request, more, state=entry.oid),
        )

    async def _tag(self, revision: str) -> TagInfo | None:
        """Read the message of an annotated tag; None for any other name."""
        kind = await self._reader.run("cat-file", "-t", revision, codes=(0, 1, 128))
        if kind.out.strip() != b"tag":
            return None
        printed = await self._reader.run("cat-file", "tag", revision, max_bytes=4 * _MAX_MESSAGE)
        heads, _, message = printed.out.decode("utf-8", "backslashreplace").partition("\n\n")
        fields = dict(line.split(" ", 1) for line in heads.splitlines() if " " in line)
        who, _, when = fields.get("tagger", "").rpartition("> ")
        return TagInfo(
            name=fields.get("tag", revision),
            tagger=f"{who}>" if who else "",
            time=moment(when) if who else "",
            message=message.rstrip("\n")[:_MAX_MESSAGE],
        )
