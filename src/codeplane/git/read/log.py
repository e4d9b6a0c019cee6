"""The `git.log` operation: commits, newest first."""

import asyncio
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import Field, field_validator

from codeplane.git.read.commit_info import FORMAT, Commit, commits_in
from codeplane.git.read.pages import PagedRequest, Pages
from codeplane.git.read.reader import GitReader
from codeplane.git.read.repository import git_dir_of
from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination

_AGO = re.compile(r"(\d{1,5})[ .](second|minute|hour|day|week|month|year)s?(?:[ .]ago)?")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


class LogRequest(PagedRequest):
    """Which commits."""

    ref: str = Field("HEAD", max_length=1000, description="where to start; a..b: those in b that are not in a")
    limit: int = Field(50, ge=1, le=500)
    since: str | None = Field(None, max_length=100, description="ISO date (UTC), or as in `2 weeks ago`")
    until: str | None = Field(None, max_length=100)
    paths: tuple[str, ...] = Field((), max_length=1000, description="one file alone is followed through renames")
    author: str | None = Field(None, max_length=200, description="part of the name or email")
    grep: str | None = Field(None, max_length=200, description="text in the message")

    @field_validator("author", "grep")
    @classmethod
    def _without_nul(cls, value: str | None) -> str | None:
        if value is not None and "\0" in value:
            raise ValueError("NUL cannot be part of it")
        return value


class LogResult(Result):
    """A page of commits."""

    commits: tuple[Commit, ...]
    shallow: bool = False
    pagination: Pagination

    def text(self) -> str:
        lines = [commit.text() for commit in self.commits] or ["no commits"]
        if self.shallow and not self.pagination.next_cursor:
            lines.append("[a shallow clone: older commits are not here]")
        return "\n".join(lines) + self.pagination.line()


class LogOperations:
    """Answer `git.log`."""

    def __init__(self, *, reader: GitReader, cursors: Cursors, clock: Clock) -> None:
        self._reader = reader
        self._pages = Pages(cursors)
        self._clock = clock

    @operation("git.log", risk=Risk.READ)
    async def log(self, call: Call, request: LogRequest) -> LogResult:
        """Commits newest first, one line each; filter by ref or range a..b, paths, author, grep, since, until."""
        paths = self._reader.pathspecs(request.paths)
        limits = [*self._limits(request)]
        # Later pages start from the same commits as the first, whatever has been committed since.
        state = self._pages.state(call, request)
        first = self._pages.position(call, request)["first"] if state is not None else 0
        revisions = state.split() if state is not None else await self._revisions(request.ref)
        if not revisions:
            return LogResult(commits=(), pagination=Pagination())
        follow = await self._follows(paths, revisions[0])
        # Git follows a file only through commits that it reads, not through those it skips.
        skip = 0 if follow else first
        output = await self._reader.run(
            "log",
            *FORMAT,
            f"--skip={skip}",
            f"--max-count={first - skip + request.limit + 1}",
            *limits,
            *(("--follow",) if follow else ()),
            *revisions,
            "--",
            *paths,
        )
        commits = commits_in(output.records())[first - skip :]
        if not commits:
            await self._reader.refuse_unknown(paths, *[name for name in revisions if not name.startswith("^")])
        more = {"first": first + request.limit} if len(commits) > request.limit else None
        return LogResult(
            commits=tuple(commits[: request.limit]),
            shallow=await asyncio.to_thread(_is_shallow, self._reader.root),
            pagination=self._pages.pagination(call, request, more, state=" ".join(revisions)),
        )

    def _limits(self, request: LogRequest) -> list[str]:
        limits = []
        if request.since:
            limits.append(f"--since=@{self._seconds(request.since, end=False)} +0000")
        if request.until:
            limits.append(f"--until=@{self._seconds(request.until, end=True)} +0000")
        if request.author or request.grep:
            limits += ["--fixed-strings", "--regexp-ignore-case"]
        if request.author:
            limits.append(f"--author={request.author}")
        if request.grep:
            limits.append(f"--grep={request.grep}")
        return limits

    def _seconds(self, text: str, *, end: bool) -> int:
        """Parse a date into seconds; git itself would read any nonsense as now."""
        if match := _AGO.fullmatch(text.strip().casefold()):
            count, unit = int(match[1]), match[2]
            ago = timedelta(days=count * _DAYS.get(unit, 0), seconds=count * _SECONDS.get(unit, 0))
            return int(self._clock.now_ns() / SECOND_NS - ago.total_seconds())
        try:
            when = datetime.fromisoformat(text.strip())
        except ValueError as error:
            raise InvalidArgument(
                f"{text!r} is no date", hint="send 2025-01-31, 2025-01-31T12:00:00Z, or `2 weeks ago`"
            ) from error
        if end and len(text.strip()) <= len("2025-01-31"):
            when += timedelta(days=1, seconds=-1)
        return max(0, int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()))

    async def _revisions(self, ref: str) -> list[str]:
        """List the commits to start from, and with ^ those to exclude; empty before the first commit."""
        if ref in ("", "HEAD", "@"):
            head = await self._reader.head()
            return [head] if head else []
        if ".." not in ref:
            return [await self._reader.commit(ref)]
        if "..." in ref:
            raise InvalidArgument(f"{ref!r} names two sides", hint="ask for a..b and for b..a")
        left, _, right = ref.partition("..")
        without, start = await asyncio.gather(self._reader.commit(left or "HEAD"), self._reader.commit(right or "HEAD"))
        return [start, f"^{without}"]

    async def _follows(self, paths: list[str], start: str) -> bool:
        """Whether a single file is asked for, which git can follow through renames."""
        if len(paths) != 1 or paths[0] == ".":
            return False
        folders = await self._reader.run("ls-tree", "-z", "-d", start, "--", paths[0], max_bytes=1)
        path = self._reader.root / paths[0]
        return not folders.out and (path.is_symlink() or not path.is_dir())


def _is_shallow(root: Path) -> bool:
    """Whether older commits are missing; git records that in the folder that all work trees share."""
    git_dir = git_dir_of(root)
    try:
        shared = git_dir / os.fsdecode((git_dir / "commondir").read_bytes().rstrip(b"\n"))
    except FileNotFoundError:
        shared = git_dir
    try:
        return (shared / "shallow").stat().st_size > 0
    except FileNotFoundError:
        return False
