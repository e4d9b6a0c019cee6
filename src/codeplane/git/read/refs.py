"""The `git.branches` and `git.tags` operations."""

import asyncio
import re
from collections.abc import Sequence

from pydantic import Field

from codeplane.git.read.commit_info import moment
from codeplane.git.read.pages import Page, PagedRequest, Pages
from codeplane.git.read.reader import GitReader
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.ids import digest
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination

_AHEAD, _BEHIND = re.compile(r"ahead (\d+)"), re.compile(r"behind (\d+)")
_BRANCH = (
    "%(refname)",
    "%(objectname)",
    "%(objectname:short)",
    "%(upstream)",
    "%(upstream:track,nobracket)",
    "%(committerdate:raw)",
    "%(worktreepath)",
    "%(contents:subject)",
)
_TAG = (
    "%(refname)",
    "%(objectname)",
    "%(objecttype)",
    "%(*objectname)",
    "%(creatordate:raw)",
    "%(taggername)",
    "%(contents:subject)",
)


class RefsRequest(PagedRequest):
    """Which page."""

    limit: int = Field(100, ge=1, le=1000)


class BranchesRequest(RefsRequest):
    """Which branches."""

    remote: bool = Field(False, description="remote-tracking branches instead of local ones")


class Branch(Result):
    """A branch, its last commit, and how far it is from its upstream."""

    name: str
    oid: str
    short_oid: str
    message: str
    time: str
    current: bool = False
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    upstream_gone: bool = False
    worktree: str | None = None

    def text(self) -> str:
        apart = " gone" if self.upstream_gone else f" +{self.ahead} -{self.behind}"
        tracking = f" [{self.upstream}{apart}]" if self.upstream else ""
        return f"{'*' if self.current else ' '} {self.name} {self.short_oid} {self.time[:10]}{tracking} {self.message}"


class BranchesResult(Result):
    """A page of branches, the last committed to first; `current` is None while HEAD is detached."""

    branches: tuple[Branch, ...]
    current: str | None
    head_commit: str | None
    total: int
    pagination: Pagination

    def text(self) -> str:
        lines = [branch.text() for branch in self.branches] or ["no branches"]
        if self.head_commit is None:
            lines.insert(0, f"* {self.current} (no commits yet)")
        elif self.current is None:
            lines.insert(0, f"* detached at {self.head_commit[:9]}")
        return "\n".join(lines) + self.pagination.line()


class Tag(Result):
    """A tag and what it is on; an annotated one has a tagger and a message."""

    name: str
    target: str
    annotated: bool
    time: str
    tagger: str | None = None
    message: str

    def text(self) -> str:
        return f"{self.name} {self.target[:9]} {self.time[:10]} {self.message}".rstrip()


class TagsResult(Result):
    """A page of tags, newest first."""

    tags: tuple[Tag, ...]
    total: int
    pagination: Pagination

    def text(self) -> str:
        return ("\n".join(tag.text() for tag in self.tags) or "no tags") + self.pagination.line()


class RefOperations:
    """Answer `git.branches` and `git.tags`."""

    def __init__(self, *, reader: GitReader, cursors: Cursors) -> None:
        self._reader = reader
        self._pages = Pages(cursors)

    @operation("git.branches", risk=Risk.READ)
    async def branches(self, call: Call, request: BranchesRequest) -> BranchesResult:
        """Local branches with last commit, upstream and ahead/behind, last committed to first; remote=true lists
        remote-tracking ones."""
        below = "refs/remotes" if request.remote else "refs/heads"
        page, out, head = await asyncio.gather(
            self._page(call, request, below, "-committerdate"),
            self._reader.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1)),
            self._reader.head(),
        )
        details = await self._details(call, page.items, _BRANCH)
        current = out.out.decode("utf-8", "backslashreplace").strip() or None
        return BranchesResult(
            branches=tuple(_branch(details[name], current) for name in page.items if name in details),
            current=path_text(current.removeprefix("refs/heads/")) if current else None,
            head_commit=head,
            total=page.pagination.total_estimate or 0,
            pagination=page.pagination,
        )

    @operation("git.tags", risk=Risk.READ)
    async def tags(self, call: Call, request: RefsRequest) -> TagsResult:
        """Tags with the commit they are on, date and message, newest first."""
        page = await self._page(call, request, "refs/tags", "-creatordate")
        details = await self._details(call, page.items, _TAG)
        return TagsResult(
            tags=tuple(_tag(details[name]) for name in page.items if name in details),
            total=page.pagination.total_estimate or 0,
            pagination=page.pagination,
        )

    async def _page(self, call: Call, request: RefsRequest, below: str, order: str) -> Page[str]:
        """List the names on a page; ahead and behind are counted for these alone."""
        output = await self._reader.run("for-each-ref", f"--sort={order}", "--format=%(symref)%00%(refname)", below)
        lines = [line.split("\0") for line in _text(output.out).splitlines()]
        # A symbolic ref such as origin/HEAD is no branch of its own.
        names = [name for symbolic, name in lines if not symbolic]
        state = digest("\n".join(names).encode("utf-8", "surrogateescape"))
        return self._pages.page(call, request, names, limit=request.limit, state=state)

    async def _details(self, call: Call, names: Sequence[str], fields: Sequence[str]) -> dict[str, list[str]]:
        if not names:
            return {}
        output = await self._reader.run("for-each-ref", f"--format={'%00'.join(fields)}", *names)
        for line in output.errors.splitlines():
            if "broken" in line:
                call.warn(line.removeprefix("warning: "))
        return {line.split("\0")[0]: line.split("\0") for line in _text(output.out).split("\n") if line}


def _text(out: bytes) -> str:
    return out.decode("utf-8", "surrogateescape")


def _escape(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _branch(fields: Sequence[str], current: str | None) -> Branch:
    name, oid, short, upstream, track, when, place, subject = fields
    gone = track == "gone"
    ahead, behind = _AHEAD.search(track), _BEHIND.search(track)
    tracked = bool(upstream) and not gone
    return Branch(
        name=path_text(name.removeprefix("refs/heads/").removeprefix("refs/remotes/")),
        oid=oid,
        short_oid=short,
        message=_escape(subject),
        time=moment(when),
        current=_escape(name) == current,
        upstream=path_text(upstream.removeprefix("refs/remotes/").removeprefix("refs/heads/")) if upstream else None,
        ahead=(int(ahead[1]) if ahead else 0) if tracked else None,
        behind=(int(behind[1]) if behind else 0) if tracked else None,
        upstream_gone=gone,
        worktree=path_text(place) if place else None,
    )


def _tag(fields: Sequence[str]) -> Tag:
    name, oid, kind, target, when, tagger, subject = fields
    return Tag(
        name=path_text(name.removeprefix("refs/tags/")),
        target=target or oid,
        annotated=kind == "tag",
        time=moment(when),
        tagger=_escape(tagger) or None,
        message=_escape(subject),
    )
