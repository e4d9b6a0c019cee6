"""The `git.diff` operation: what differs between two commits, the index and the work tree."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from codeplane.git.read.diff_page import DiffFile, Stats, diff_page, diff_stats
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.pages import PagedRequest, Pages
from codeplane.git.read.patch import DIFF_OPTIONS, FilePatch, parse_patch
from codeplane.git.read.reader import GitReader
from codeplane.git.read.status import status
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import GitRefused, InvalidArgument
from codeplane.kernel.ids import digest
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination

# How much of a patch is read; for more, the caller names paths.
MAX_PATCH = 8 * 1024 * 1024
_NAMED = 10


class DiffRequest(PagedRequest):
    """Which sides, and which paths."""

    base: str | None = Field(None, max_length=1000, description="commit or a..b; default: the index")
    target: str | None = Field(None, max_length=1000, description="commit; default: working tree")
    staged: bool = Field(False, description="index against HEAD or base")
    paths: tuple[str, ...] = Field((), max_length=1000)
    stat_only: bool = False
    context: int = Field(3, ge=0, le=1000, description="lines around a change")


class DiffResult(Result):
    """A page of differences; `stats` counts all of it."""

    files: tuple[DiffFile, ...]
    stats: Stats
    stat_only: bool = False
    staged_not_shown: int = 0
    untracked: tuple[str, ...] = ()
    untracked_count: int = 0
    pagination: Pagination

    def text(self) -> str:
        lines = [file.stat() if self.stat_only else file.text() for file in self.files]
        head = self.stats.text() if self.stats.files_changed else "no differences"
        if self.staged_not_shown:
            head += f"; staged and not shown here: {self.staged_not_shown} (staged=true)"
        if self.untracked_count:
            more = ", …" if self.untracked_count > len(self.untracked) else ""
            head += f"; untracked: {self.untracked_count} ({', '.join(self.untracked)}{more})"
        return "\n".join([head, *lines]) + self.pagination.line()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """What git compares; `trees` are the commits, `asked` the names that the caller gave."""

    arguments: tuple[str, ...]
    trees: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    of_index: bool = False
    of_files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The files that differ; `state` is a digest that later pages must match."""

    files: list[FilePatch]
    state: str
    errors: str = ""


class DiffOperations:
    """Answer `git.diff`."""

    def __init__(self, *, reader: GitReader, cursors: Cursors) -> None:
        self._reader = reader
        self._pages = Pages(cursors)

    @operation("git.diff", risk=Risk.READ, toolset="core")
    async def diff(self, call: Call, request: DiffRequest) -> DiffResult:
        """Unified diff of the working tree (unstaged changes; staged=true: index against HEAD; base=HEAD: both), or of
        two commits; renames detected, paged."""
        sides = await _sides(self._reader, request)
        paths = self._reader.pathspecs(request.paths)
        differences, now = await asyncio.gather(
            self._find(sides, paths, request),
            status(self._reader, paths) if sides.of_files else _do_nothing(),
        )
        if not differences.files and not (now and now.records):
            await self._reader.refuse_unknown(paths, *sides.trees)
        at = self._pages.position(call, request, state=differences.state) if request.cursor else None
        page = await asyncio.to_thread(
            diff_page, differences.files, HiddenPaths(self._reader.root, self._reader.secrets), at=at
        )
        untracked = [record.path for record in now.records if record.is_untracked] if now else []
        return DiffResult(
            files=page.files,
            stats=diff_stats(differences.files),
            stat_only=request.stat_only,
            staged_not_shown=now.staged if now and sides.of_index else 0,
            untracked=tuple(path_text(path) for path in untracked[:_NAMED]),
            untracked_count=len(untracked),
            pagination=self._pages.pagination(call, request, page.next, state=differences.state),
        )

    async def _find(self, sides: _Sides, paths: Sequence[str], request: DiffRequest) -> Differences:
        command = ("diff", *sides.arguments)
        try:
            differences = await find_differences(
                self._reader, command, paths, context=request.context, stat_only=request.stat_only
            )
        except GitRefused:
            await asyncio.gather(*map(self._reader.commit, sides.asked))
            raise
        if "ambiguous" in differences.errors:
            await asyncio.gather(*map(self._reader.commit, sides.asked))
        return differences


async def find_differences(
    reader: GitReader, command: Sequence[str], paths: Sequence[str], *, context: int, stat_only: bool
) -> Differences:
    """Run a git command that prints differences and parse the files, with hunks unless `stat_only`."""
    form = [*DIFF_OPTIONS, *(() if stat_only else ("--patch", f"-U{context}"))]
    output = await reader.run(command[0], *form, *command[1:], "--", *paths, max_bytes=MAX_PATCH)
    files = await asyncio.to_thread(parse_patch, output.out, cut=output.cut)
    return Differences(files=files, state=digest(output.out), errors=output.errors)


async def _do_nothing() -> None:
    return None


async def _sides(reader: GitReader, request: DiffRequest) -> _Sides:
    base, target = request.base, request.target
    if base and not target and ".." in base:
        symmetric = "..." in base
        left, _, right = base.partition("..." if symmetric else "..")
        return await _between(reader, left or "HEAD", right or "HEAD", *(("--merge-base",) if symmetric else ()))
    if request.staged:
        if target:
            raise InvalidArgument("staged compares the index; it takes no target", hint="leave out staged or target")
        against = (await reader.name(base),) if base else ()
        return _Sides(arguments=("--cached", *against), trees=against, asked=(base,) if base else ())
    if target:
        return await _between(reader, base or "HEAD", target)
    if base:
        tree = await reader.name(base)
        return _Sides(arguments=(tree,), trees=(tree,), asked=(base,), of_files=True)
    # A path in conflict is compared with our side, so that the conflict markers show.
    return _Sides(arguments=("--ours",), of_files=True, of_index=True)


async def _between(reader: GitReader, left: str, right: str, *options: str) -> _Sides:
    trees = await asyncio.gather(reader.name(left), reader.name(right))
    return _Sides(arguments=(*options, *trees), trees=tuple(trees), asked=(left, right))
