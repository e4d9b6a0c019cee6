"""The `git.blame` operation: which commit last touched which lines."""

import os
import re
from collections.abc import Sequence

from pydantic import Field

from codeplane.git.read.commit_info import Author, moment
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.git.read.pages import PagedRequest, Pages
from codeplane.git.read.reader import GitReader
from codeplane.index.files.paths import canonical, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import GitRefused, InvalidArgument, NotFound, RefNotFound
from codeplane.kernel.ids import digest
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural

_SHORT = 9
_NO_COMMIT = "invalid object name"
_TOO_FEW = re.compile(r"has only (\d+) lines?")


class BlameRequest(PagedRequest):
    """Which file, and which of its lines."""

    path: str = Field(max_length=4096)
    line_range: tuple[int, ...] = Field((), max_length=2, description="first and last line, as in [10, 40]")
    ref: str | None = Field(None, max_length=1000, description="as of this commit; default: the file as it is now")
    limit: int = Field(100, ge=1, le=1000, description="groups of lines on a page")


class BlameHunk(Result):
    """Lines in a row that come from one commit; without one while they are not committed."""

    start_line: int
    end_line: int
    oid: str | None
    short_oid: str | None
    author: Author | None
    message: str
    old_path: str | None = None
    boundary: bool = False

    def text(self) -> str:
        lines = f"{self.start_line}-{self.end_line}" if self.end_line > self.start_line else str(self.start_line)
        if self.author is None:
            return f"{lines} not committed"
        old = f" [{self.old_path}]" if self.old_path else ""
        edge = "^" if self.boundary else ""
        return f"{lines} {edge}{self.short_oid} {self.author.day} {self.author.name}: {self.message}{old}"


class BlameResult(Result):
    """A page of a file's lines, grouped by the commits they come from."""

    path: str
    hunks: tuple[BlameHunk, ...]
    pagination: Pagination

    def text(self) -> str:
        return "\n".join(hunk.text() for hunk in self.hunks) + self.pagination.line() if self.hunks else "no lines"


class BlameOperations:
    """Answer `git.blame` with git itself: libgit2's blame is many times slower and follows fewer moves."""

    def __init__(self, *, reader: GitReader, cursors: Cursors) -> None:
        self._reader = reader
        self._pages = Pages(cursors)

    @operation("git.blame", risk=Risk.READ)
    async def blame(self, call: Call, request: BlameRequest) -> BlameResult:
        """Who last changed which lines of a file, grouped by commit; line_range narrows it, paged."""
        path = canonical(request.path, root=self._reader.root)
        HiddenPaths(self._reader.root, self._reader.secrets).refuse(path)
        lines = _range_option(request.line_range)
        at = [await self._reader.commit(request.ref)] if request.ref else []
        try:
            form = ("--porcelain", "--encoding=UTF-8", "--no-textconv")
            output = await self._reader.run("blame", *form, *lines, *at, "--", path)
        except GitRefused as error:
            raise await self._explain(error, request, path) from error
        hunks = _parse_hunks(output.out, path)
        # Not of the whole output: uncommitted lines carry the current time.
        printed = "\n".join(hunk.model_dump_json() for hunk in hunks).encode()
        state = digest(printed + b"\n".join(line for line in output.out.split(b"\n") if line.startswith(b"\t")))
        page = self._pages.page(call, request, hunks, limit=request.limit, state=state)
        return BlameResult(path=path_text(path), hunks=tuple(page.items), pagination=page.pagination)

    async def _explain(self, error: GitRefused, request: BlameRequest, path: str) -> Exception:
        """Return the error that tells the caller what is wrong with the request."""
        if _NO_COMMIT in error.message:
            # Git's message has a line of the file, which may be any file of this machine.
            return GitRefused(
                "the file that blame.ignoreRevsFile names has a line that is no commit",
                hint="see git config --show-origin blame.ignoreRevsFile",
            )
        if match := _TOO_FEW.search(error.message):
            lines = plural(int(match[1]), "line")
            return InvalidArgument(f"{path_text(path)} has {lines}", hint="send a line_range within them")
        if await self._reader.head() is None:
            return RefNotFound("the repository has no commits yet", hint="commit first")
        if "no such path" in error.message or "cannot stat path" in error.message:
            where = f"in {request.ref}" if request.ref else "in the last commit"
            return NotFound(
                f"there is no file {path_text(path)!r} {where}", hint="git_log with paths tells where it was"
            )
        return error


def _range_option(lines: Sequence[int]) -> list[str]:
    if not lines:
        return []
    first, last = lines[0], lines[-1]
    if first < 1 or last < first:
        raise InvalidArgument(f"{list(lines)} is no range of lines", hint="lines count from 1; send [first, last]")
    return [f"-L{first},{last}"]


def _parse_hunks(out: bytes, path: str) -> list[BlameHunk]:
    """Parse git's porcelain output, which states a commit's details before the first line from it."""
    facts: dict[str, dict[str, str]] = {}
    hunks: list[BlameHunk] = []
    oid, number, count = "", 0, 0
    for raw in out.split(b"\n"):
        if raw.startswith(b"\t"):
            if count:
                hunks.append(_hunk(oid, number, count, facts[oid], path))
            oid = ""
        elif not raw:
            continue
        elif not oid:
            words = raw.decode().split(" ")
            # The other lines of a group have no count.
            oid, number, count = words[0], int(words[2]), int(words[3]) if len(words) > 3 else 0
            facts.setdefault(oid, {})
        else:
            name, _, value = raw.partition(b" ")
            known = facts[oid]
            key = name.decode("utf-8", "backslashreplace")
            known[key] = os.fsdecode(value) if key == "filename" else value.decode("utf-8", "backslashreplace")
    return hunks


def _hunk(oid: str, number: int, count: int, facts: dict[str, str], path: str) -> BlameHunk:
    committed = oid.strip("0") != ""
    old = _unquote(facts.get("filename", path))
    author = Author(
        name=facts.get("author", ""),
        email=facts.get("author-mail", "").strip("<>"),
        time=moment(f"{facts.get('author-time', '')} {facts.get('author-tz', '')}"),
    )
    return BlameHunk(
        start_line=number,
        end_line=number + count - 1,
        oid=oid if committed else None,
        short_oid=oid[:_SHORT] if committed else None,
        author=author if committed else None,
        message=facts.get("summary", "") if committed else "",
        old_path=path_text(old) if committed and old != path else None,
        boundary="boundary" in facts,
    )


_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "r": "\r", "v": "\v"}


def _unquote(name: str) -> str:
    """Return a plain file name; git quotes names with quotes or control characters."""
    if not (name.startswith('"') and name.endswith('"') and len(name) > 1):
        return name
    return re.sub(
        r"\\([0-7]{3}|.)",
        lambda match: chr(int(match[1], 8)) if match[1].isdigit() else _ESCAPES.get(match[1], match[1]),
        name[1:-1],
    )
