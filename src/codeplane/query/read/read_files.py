"""The `read_files` operation: bounded text from the disk as it is now."""

import difflib
import re
import stat
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from codeplane.code.languages.registry import languages
from codeplane.disk.git_folders import GitFolders, git_folders
from codeplane.disk.short_work import ShortWork
from codeplane.git.read.file_status import GitStatus
from codeplane.index.files.encoding import decode
from codeplane.index.files.file import TOO_LARGE, FileRead, read, text_digest
from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.paths import canonical, inside, path_text
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import RepoState
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules
from codeplane.kernel.trace import span
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.knowledge import Knowledge
from codeplane.query.read.long_definition import openings, shown_end
from codeplane.query.read.symbol_lines import is_name, named_lines

MAX_BYTES = 64 * 1024
MAX_LINES = 2000
_SHEBANG = 200
# Also with a column behind, as lines are printed, and as web pages of code link to lines: `path#L10-L40`.
_WITH_RANGE = re.compile(
    r"^(?P<path>.+?)(?::|#L)(?P<start>\d{1,9})(?::\d{1,9}:?)?(?:(?P<open>-)L?)?(?P<end>(?<=[-L])\d{1,9})?$"
)


class Range(Request):
    """Some lines of a file, from 1, both ends included."""

    path: str
    start_line: int = Field(1, ge=1)
    end_line: int | None = Field(None, ge=1)

    @property
    def whole(self) -> bool:
        """Whether it is all of the file."""
        return self.start_line == 1 and self.end_line is None


class _Definition(Range):
    """The lines of a definition; of a long one without those of the bodies and long comments inside."""

    left_out: tuple[tuple[int, int], ...] = ()


class ReadRequest(WorkspaceRequest):
    """Which files, and which lines of them."""

    paths: tuple[str, ...] = Field(
        (), max_length=50, description="path, path:10-40 for lines 10 to 40, symbol:Class.method, or an id"
    )
    ranges: tuple[Range, ...] = Field((), max_length=50)
    include_metadata: bool = False
    # Accepted and not listed: path:10-40 says the same in fewer bytes of a tool list.
    start_line: SkipJsonSchema[int | None] = Field(None, ge=1, description="with one path: its first line")
    end_line: SkipJsonSchema[int | None] = Field(None, ge=1, description="with one path: its last line")
    limit: SkipJsonSchema[int | None] = Field(None, ge=1, description="with one path: how many lines from start_line")


class FileMetadata(Result):
    """What the disk and git say of a file."""

    size_bytes: int
    modified_at: str
    hash: str
    language: str | None = None
    git_status: GitStatus | None = None


class FileText(Result):
    """Lines of a file, or why there are none."""

    path: str
    content: str
    start: int
    end: int
    line_count: int
    encoding: str = "utf-8"
    is_link: bool = Field(False, description="a symbolic link, not followed: the content is where it leads")
    truncated: bool = False
    left_out: int = Field(
        0, description="lines of bodies and comments inside a long definition, replaced by their numbers"
    )
    rest: tuple[str, ...] = Field((), description="lines that open what was not shown of a long definition")
    next_range: str | None = None
    cut_line: int | None = None
    error: str | None = None
    metadata: FileMetadata | None = None

    def text(self) -> str:
        if self.error is not None:
            return f"== {self.path}: {self.error}"
        whole = self.start == 1 and self.end == self.line_count
        head = (
            f"== {self.path} ({plural(self.line_count, 'line')})"
            if whole
            else (f"== {self.path}:{self.start}-{self.end} of {self.line_count}")
        )
        if self.left_out:
            head += f", {plural(self.left_out, 'line')} left out"
        if self.is_link:
            head = f"== {self.path}: a symbolic link to"
        if self.encoding != "utf-8":
            head += f" {self.encoding}"
        if self.metadata is not None:
            head += f" {self.metadata.size_bytes} bytes of {self.metadata.modified_at[:19]}Z hash {self.metadata.hash}"
            head += "".join(f" {detail}" for detail in (self.metadata.language, self.metadata.git_status) if detail)
        tail = f"\n== truncated; next: {self.next_range}" if self.next_range else ""
        if self.rest:
            tail = "\n".join((f"{tail}, with", *self.rest))
        if self.cut_line is not None:
            tail = f"\n== line {self.cut_line} is cut at {MAX_BYTES} bytes{tail}"
        return f"{head}\n{self.content}{tail}"


class ReadResult(Result):
    """The files in the order they were asked for."""

    files: tuple[FileText, ...]
    commit: str | None = None

    def text(self) -> str:
        return "\n".join(file.text().rstrip("\n") for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unread:
    """A name without lines, and the error."""

    path: str
    error: CodePlaneError


class ReadOperations:
    """Reads files of the workspace."""

    def __init__(
        self,
        *,
        root: Path,
        repo: RepoState,
        max_file_bytes: int,
        knowledge: Knowledge | None = None,
        secrets: SecretRules = NOTHING_SHOWN,
        git: Callable[[Sequence[str]], Awaitable[Mapping[str, GitStatus]]] | None = None,
    ) -> None:
        self._root = root
        self._secrets = secrets
        self._knowledge = knowledge
        self._repo = repo
        self._git = git
        self._max_file_bytes = max_file_bytes
        self._short = ShortWork(root)

    @operation("read_files", risk=Risk.READ, toolset="core")
    async def read_files(self, call: Call, request: ReadRequest) -> ReadResult:
        """Read files, line ranges (path:10-40) or definitions (symbol:Class.method, symbol:path:name, or an id),
        several at once; up to 64 KB or 2,000 lines (less of long definitions), then the next range."""
        named = await self._definition_ranges(request.paths)
        asked = [item for text in request.paths for item in (named[text] if text in named else [_parse(text)])]
        gits = git_folders(self._root)
        wanted = self._with_ranges(_with_lines(asked, request), request.ranges, gits)
        if not wanted:
            raise InvalidArgument("no file is named", hint='send paths, such as ["README.md", "src/app.py:10-40"]')
        with span("files.read", files=len(wanted)):
            is_short = self._short.is_small(self._key(item.path, gits) for item in wanted)
            reading = partial(self._read_all, call, wanted, gits, request.include_metadata)
            result = await self._short.run_if(is_short, reading)
        return await self._with_git_status(result) if request.include_metadata else result

    def _with_ranges(
        self, asked: "list[Range | _Unread]", ranges: tuple[Range, ...], gits: GitFolders
    ) -> "list[Range | _Unread]":
        """Replace whole files by their ranges; ranges of other files come last."""
        of: dict[str, list[Range]] = {}
        for line_range in ranges:
            of.setdefault(self._key(line_range.path, gits), []).append(line_range)
        wanted: list[Range | _Unread] = []
        used: set[str] = set()
        for item in asked:
            key = self._key(item.path, gits) if isinstance(item, Range) and item.whole else ""
            if key not in of:
                wanted.append(item)
            elif key not in used:
                used.add(key)
                wanted += of[key]
        return wanted + [line_range for key, some in of.items() if key not in used for line_range in some]

    def _key(self, path: str, gits: GitFolders) -> str:
        """A path in canonical form, or as sent if it is invalid."""
        try:
            return canonical(path, root=self._root, gits=gits)
        except CodePlaneError:
            return path

    async def _with_git_status(self, result: ReadResult) -> ReadResult:
        paths = [file.path for file in result.files if file.metadata is not None]
        if self._git is None or not paths:
            return result
        statuses = await self._git(paths)
        return result.model_copy(
            update={
                "files": tuple(
                    file
                    if file.metadata is None
                    else file.model_copy(
                        update={"metadata": file.metadata.model_copy(update={"git_status": statuses.get(file.path)})}
                    )
                    for file in result.files
                )
            }
        )

    async def _definition_ranges(self, paths: tuple[str, ...]) -> "dict[str, list[Range | _Unread]]":
        """The ranges of entries that name definitions; existing files take precedence."""
        names = [text for text in paths if is_name(text) and not self._is_file(text)]
        if not names or self._knowledge is None:
            return {}
        lines_of = await named_lines(self._knowledge, names)
        return {
            name: [
                _Definition(path=each.path, start_line=each.start, end_line=each.end, left_out=each.left_out)
                for each in lines
            ]
            if isinstance(lines, list)
            else [_Unread(path=name, error=lines)]
            for name, lines in lines_of.items()
        }

    def _is_file(self, text: str) -> bool:
        try:
            return (self._root / text).is_file()
        except OSError:
            return False

    def _read_all(self, call: Call, wanted: "list[Range | _Unread]", gits: GitFolders, metadata: bool) -> ReadResult:
        files: list[FileText] = []
        bytes_left, lines_left = MAX_BYTES, MAX_LINES
        for item in wanted:
            try:
                if isinstance(item, _Unread):
                    raise item.error
                file = self._read_file(call, item, gits, bytes_left, lines_left, metadata)
            except CodePlaneError as error:
                if len(wanted) == 1:
                    raise
                file = _failed_file(item.path, f"{error.name}: {error.message}")
            bytes_left -= len(file.content.encode("utf-8", "surrogateescape"))
            lines_left -= file.end - file.start + 1
            files.append(file)
        return ReadResult(files=tuple(files), commit=self._repo.head())

    def _read_file(
        self, call: Call, item: Range, gits: GitFolders, bytes_left: int, lines_left: int, metadata: bool
    ) -> FileText:
        path = canonical(item.path, root=self._root, gits=gits)
        file = self._resolve_existing(path, gits)
        rules = IgnoreRules.of(self._root, self._secrets)
        # Under both names: a link must not make readable what the rules keep out.
        for name in (path, file.relative_to(self._root).as_posix()):
            if (denied := rules.refusal(name, display=path_text(path))) is not None:
                raise denied
        if bytes_left <= 0 or lines_left <= 0:
            return _failed_file(path_text(path), "not read: the answer is full; ask for it alone")
        content_read = read(str(file), max_bytes=self._max_file_bytes)
        if content_read.skipped == TOO_LARGE and content_read.stamp is not None:
            size = f"{content_read.stamp.size / 1_000_000:.0f} MB"
            raise NotFound(f"{path} is too large to be shown here ({size})", hint="search finds lines of smaller files")
        if content_read.skipped is not None:
            hint = f"list_dir path={path} lists it" if file.is_dir() else "name a text file"
            raise NotFound(f"{path} is not text that can be read: {content_read.skipped}", hint=hint)
        text, encoding = decode(content_read.content)
        # Where search ends a line, and nowhere else: a form feed is no end of line.
        lines = re.split(r"(?<=\n)", text)
        if lines and lines[-1] == "":
            lines.pop()
        if item.start_line > max(len(lines), 1):
            raise InvalidArgument(f"{path} has {plural(len(lines), 'line')}", hint=f"ask for lines 1 to {len(lines)}")
        start = item.start_line
        end = min(item.end_line or len(lines), len(lines))
        shown = shown_end(start, end, item.left_out) if isinstance(item, _Definition) else end
        content, last, cut = _fit_lines(lines, start, shown, bytes_left, lines_left)
        truncated = last < end or cut
        content = _shown_part(call, text, len("".join(lines[: start - 1])), content)
        left_out = 0
        if isinstance(item, _Definition):
            content, left_out = _without(content, item.left_out, start, last)
        return FileText(
            path=path_text(path),
            content=content,
            start=start,
            end=last,
            line_count=len(lines),
            encoding=encoding,
            is_link=content_read.stamp is not None and stat.S_ISLNK(content_read.stamp.mode),
            truncated=truncated or left_out > 0,
            left_out=left_out,
            rest=openings(lines, last + 1, end) if last == shown < end else (),
            next_range=f"{path_text(path)}:{last + 1}-{end}" if last < end else None,
            cut_line=last if cut else None,
            metadata=_metadata(path, content_read) if metadata else None,
        )

    def _resolve_existing(self, path: str, gits: GitFolders) -> Path:
        try:
            return inside(self._root, path, gits=gits)
        except NotFound as error:
            folder = (self._root / path).parent
            names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
            near = difflib.get_close_matches(Path(path).name, names, n=3)
            if near:
                error.hint = f"did you mean {' or '.join(path_text(str(Path(path).with_name(name))) for name in near)}?"
            else:
                error.hint = "find it with search, or look at the folder's name"
            raise


def _fit_lines(lines: list[str], start: int, end: int, bytes_left: int, lines_left: int) -> tuple[str, int, bool]:
    """The lines that fit, the number of the last, and whether it was cut."""
    taken: list[str] = []
    cut = False
    for line in lines[start - 1 : min(end, start - 1 + max(lines_left, 0))]:
        size = len(line.encode("utf-8", "surrogateescape"))
        if size > bytes_left:
            # A line longer than everything that may be read is cut, or it could never be read at all.
            if not taken and bytes_left == MAX_BYTES:
                taken.append(line.encode("utf-8", "surrogateescape")[:bytes_left].decode("utf-8", "ignore"))
                cut = True
            break
        bytes_left -= size
        taken.append(line)
    return "".join(taken), start - 1 + len(taken), cut


def _without(content: str, stretches: Sequence[tuple[int, int]], start: int, last: int) -> tuple[str, int]:
    """The lines without those of some stretches, and how many these are."""
    lines = re.split(r"(?<=\n)", content)
    if len(lines) - (lines[-1] == "") != last - start + 1:
        # A redacted secret has other lines, and numbers would not fit.
        return content, 0
    count = 0
    for first, end in stretches:
        if start <= first and end <= last:
            row = lines[first - start]
            lines[first - start] = f"{row[: len(row) - len(row.lstrip())]}… {first}-{end}\n"
            lines[first - start + 1 : end - start + 1] = [""] * (end - first)
            count += end - first + 1
    return "".join(lines), count


def _shown_part(call: Call, text: str, begin: int, content: str) -> str:
    """The content from `begin`, with secrets that reach beyond it redacted."""
    if len(content) == len(text):
        return content
    whole = text.encode("utf-8", "surrogatepass")
    first = len(text[:begin].encode("utf-8", "surrogatepass"))
    size = len(content.encode("utf-8", "surrogatepass"))
    return call.part(whole, first, first + size).decode("utf-8", "surrogatepass")


def _parse(text: str) -> Range:
    match = _WITH_RANGE.match(text)
    if match is None:
        return Range(path=text)
    start = int(match["start"])
    end = int(match["end"]) if match["end"] else None if match["open"] else start
    if start < 1 or (end is not None and end < start):
        raise InvalidArgument(f"{text!r} is not a range of lines", hint="write path:10-40, from line 1")
    return Range(path=match["path"], start_line=start, end_line=end)


def _with_lines(asked: "list[Range | _Unread]", request: ReadRequest) -> "list[Range | _Unread]":
    """Apply start_line with end_line or limit, which go with one whole file."""
    first, last, limit = request.start_line, request.end_line, request.limit
    if first is None and last is None and limit is None:
        return asked
    example = "send paths with their lines, such as src/app.py:10-40"
    if len(asked) != 1 or request.ranges or not isinstance(asked[0], Range) or not asked[0].whole:
        raise InvalidArgument("start_line, end_line and limit go with one path without lines of its own", hint=example)
    if limit is not None:
        if last is not None:
            raise InvalidArgument("end_line and limit both tell where to stop", hint=example)
        last = (first or 1) + limit - 1
    if last is not None and last < (first or 1):
        raise InvalidArgument(f"end_line {last} is before start_line {first or 1}", hint=example)
    return [Range(path=asked[0].path, start_line=first or 1, end_line=last)]


def _failed_file(path: str, why: str) -> FileText:
    return FileText(path=path, content="", start=1, end=0, line_count=0, error=why)


def _metadata(path: str, file: FileRead) -> FileMetadata:
    assert file.stamp is not None
    language = languages().of(path, file.content[:_SHEBANG])
    return FileMetadata(
        size_bytes=file.stamp.size,
        modified_at=rfc3339(file.stamp.mtime_ns),
        hash=text_digest(file.digest),
        language=language.name if language is not None else None,
    )
