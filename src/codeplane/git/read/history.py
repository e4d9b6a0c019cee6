"""The `git.log` operation: commits, newest first."""

import asyncio
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import Field, field_validator

from codeplane.git.read.commit_info import FORMAT, Commit, commits_in
from codeplane.git.read.opened import git_dir_of
from codeplane.git.read.pages import Continued, Pages
from codeplane.git.read.reading import Reading
from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination

_AGO = re.compile(r"(\d{1,5})[ .](second|minute|hour|day|week|month|year)s?(?:[ .]ago)?")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


class LogRequest(Continued):
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


class HistoryOperations:
    """Answers `git.log`."""

    def __init__(self, *, reading: Reading, cursors: Cursors, clock: Clock) -> None:
        self._reading = reading
        self._pages = Pages(cursors)
        self._clock = clock

    @operation("git.log", risk=Risk.READ)
    async def log(self, call: Call, request: LogRequest) -> LogResult:
        """Commits newest first, one line each; filter by ref or range a..b, paths, author, grep, since, until."""
        paths = self._reading.pathspecs(request.paths)
        limits = [*self._limits(request)]
        # A further page starts from the commits the first one started from, whatever has been committed since.
        held = self._pages.state(call, request)
        first = self._pages.opened(call, request)["first"] if held is not None else 0
        revisions = held.split() if held is not None else await self._revisions(request.ref)
        if not revisions:
            return LogResult(commits=(), pagination=Pagination())
        follow = await self._follows(paths, revisions[0])
        # To skip is to not look, and git follows a file only through commits it looks at.
        begun = 0 if follow else first
        found = await self._reading.run(
            "log",
            *FORMAT,
            f"--skip={begun}",
            f"--max-count={first - begun + request.limit + 1}",
            *limits,
            *(("--follow",) if follow else ()),
            *revisions,
            "--",
            *paths,
        )
        commits = commits_in(found.records())[first - begun :]
        if not commits:
            await self._reading.refuse_unknown(paths, *[one for one in revisions if not one.startswith("^")])
        more = {"first": first + request.limit} if len(commits) > request.limit else None
        return LogResult(
            commits=tuple(commits[: request.limit]),
            shallow=await asyncio.to_thread(_is_shallow, self._reading.root),
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
        """A moment as the caller means it: git's own reading of dates takes any nonsense for now."""
        if found := _AGO.fullmatch(text.strip().casefold()):
            count, unit = int(found[1]), found[2]
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
        """The commits to start from, and with ^ those to leave out; none before the first commit."""
        if ref in ("", "HEAD", "@"):
            head = await self._reading.head()
            return [head] if head else []
        if ".." not in ref:
            return [await self._reading.commit(ref)]
        if "..." in ref:
            raise InvalidArgument(f"{ref!r} names two sides", hint="ask for a..b and for b..a")
        left, _, right = ref.partition("..")
        without, start = await asyncio.gather(
            self._reading.commit(left or "HEAD"), self._reading.commit(right or "HEAD")
        )
        return [start, f"^{without}"]

    async def _follows(self, paths: list[str], start: str) -> bool:
        """Whether one file is asked for: git follows a file through renames, and a folder not."""
        if len(paths) != 1 or paths[0] == ".":
            return False
        found = await self._reading.run("ls-tree", "-z", "-d", start, "--", paths[0], max_bytes=1)
        here = self._reading.root / paths[0]
        return not found.out and (here.is_symlink() or not here.is_dir())


def _is_shallow(root: Path) -> bool:
    """Whether older commits are missing; git notes where history was cut in what all work trees share."""
    git_dir = git_dir_of(root)
    try:
        shared = git_dir / os.fsdecode((git_dir / "commondir").read_bytes().rstrip(b"\n"))
    except FileNotFoundError:
        shared = git_dir
    try:
        return (shared / "shallow").stat().st_size > 0
    except FileNotFoundError:
        return False
