"""The `context.` operations: discovery and listing of contexts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import Field

from codeplane.code.languages.registry import languages
from codeplane.index.contexts.contexts import Contexts
from codeplane.index.contexts.contexts_file import NAME, ContextsFile
from codeplane.index.contexts.family import families_of
from codeplane.index.contexts.probe import ParseCheck
from codeplane.index.files.file import Stamp, stamp_of
from codeplane.index.files.paths import canonical, path_text
from codeplane.index.freshness import SnapshotSource
from codeplane.index.parse_worker import Source
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError, NotFound
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest

_SHOWN = 200
_DISCOVERY_SEC = 2.0


class ContextInfo(Result):
    """A context: a family's files below a root."""

    id: str
    family: str | None
    root: str
    tier: int
    status: str
    reason: str = ""
    files: int = 0

    def line(self) -> str:
        """The context in one line."""
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.id}  {self.status}  {plural(self.files, 'file')}  root={self.root or '.'}{why}"


class ListRequest(WorkspaceRequest):
    """Which contexts."""

    family: str | None = Field(None, description="only this language family")
    all: bool = Field(False, description="detached, failed and empty ones too")


class ListResult(Result):
    """The contexts, in the order of family and root."""

    contexts: tuple[ContextInfo, ...]
    total: int
    problem: str | None = None

    def text(self) -> str:
        lines = [context.line() for context in self.contexts]
        if len(lines) < self.total:
            lines.append(f"[{len(lines)} of {self.total}; narrow with family]")
        if self.problem:
            lines.append(f"contexts.yaml was not heeded: {self.problem}")
        return "\n".join(lines) or "[no contexts]"


class OfRequest(WorkspaceRequest):
    """Whose context."""

    path: str


class OfResult(Result):
    """The contexts that own a file, one a family; `home` is the one its facts belong to."""

    path: str
    home: str
    owners: dict[str, str]

    def text(self) -> str:
        return f"{self.path}: {self.home}"


class ContextOperations:
    """Runs discovery when a relevant file changed, and answers from the last result."""

    def __init__(
        self,
        *,
        home: Path,
        root: Path,
        fresh: Callable[[], Awaitable[SnapshotSource]],
        parsers: ParserPool,
        is_indexed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._root = root
        self._is_indexed = is_indexed
        self._file = home / NAME
        self._fresh = fresh
        self._parsers = parsers
        self._discovering = asyncio.Lock()
        self._last: tuple[Snapshot, Stamp | None, Contexts] | None = None

    async def now(self) -> tuple[Snapshot, Contexts]:
        """The contexts of the newest snapshot."""
        snapshot = await (await self._fresh()).snapshot(strict=False)
        async with self._discovering:
            return snapshot, await asyncio.to_thread(self._of, snapshot)

    async def state(self, call: Call) -> JsonObject:
        """The contexts in the form of `status`; discovery is tried briefly if it has not run yet."""
        if self._last is None and self._is_indexed():
            with suppress(TimeoutError, CodePlaneError):
                async with asyncio.timeout(_DISCOVERY_SEC):
                    await self.now()
        if self._last is None:
            return {"discovered": False}
        contexts = self._last[2]
        valid = contexts.valid()
        active: list[JsonValue] = [context.id for context in valid[:_SHOWN]]
        state: JsonObject = {"discovered": True, "active": active, "valid": len(valid), "all": len(contexts.all)}
        return state | ({"problem": str(contexts.problem)} if contexts.problem else {})

    @operation("context.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> ListResult:
        """The projects of this repository by language family: their roots, and whether their files parse."""
        snapshot, contexts = await self.now()
        counts: dict[str, int] = {}
        for home in contexts.router.assign(snapshot.files).values():
            counts[home] = counts.get(home, 0) + 1
        chosen = [
            ContextInfo(
                id=context.id,
                family=context.family,
                root=path_text(context.root),
                tier=context.tier,
                status=context.status,
                reason=context.reason,
                files=counts.get(context.id, 0),
            )
            for context in contexts.all
            if (request.all or context.status == "valid") and request.family in (None, context.family)
        ]
        problem = str(contexts.problem) if contexts.problem else None
        return ListResult(contexts=tuple(chosen[:_SHOWN]), total=len(chosen), problem=problem)

    @operation("context.of", risk=Risk.READ)
    async def of(self, call: Call, request: OfRequest) -> OfResult:
        """Which context a file belongs to."""
        path = canonical(request.path, root=self._root)
        snapshot, contexts = await self.now()
        if path not in snapshot.files:
            raise NotFound(f"no file {path_text(path)} in the index", hint="search or list_dir shows what there is")
        owners = {
            family: owner.id
            for family in families_of(path)
            if (owner := contexts.router.context_of(path, family)) is not None
        }
        return OfResult(path=path_text(path), home=contexts.router.home_of(path).id, owners=owners)

    def _of(self, snapshot: Snapshot) -> Contexts:
        written = stamp_of(str(self._file))
        last = self._last
        if last is not None and last[1] == written and not last[2].may_change(_changed_files(last[0], snapshot)):
            self._last = (snapshot, written, last[2])
            return last[2]
        contexts = Contexts.discover(
            snapshot.files,
            lambda path: _text(snapshot, path),
            lambda path, content: self._check(snapshot, path),
            ContextsFile(self._file),
        )
        self._last = (snapshot, stamp_of(str(self._file)), contexts)
        return contexts

    def _check(self, snapshot: Snapshot, path: str) -> ParseCheck | None:
        known = snapshot.files[path]
        language = languages().of(path)
        if language is None:
            return None
        source = Source(key=0, name="", language=language.name, offset=known.offset, length=known.length)
        for batch in self._parsers.parse(snapshot.content_file, [source], check=True):
            for result in batch:
                return ParseCheck(nodes=result.nodes, errors=result.errors, has_content=result.has_content)
        return ParseCheck(nodes=0, errors=0, has_content=False)


def _changed_files(before: Snapshot, after: Snapshot) -> Iterable[str]:
    """Files added, edited or removed between two snapshots."""
    if before.files is after.files:
        return ()
    gone = before.files.keys() - after.files.keys()
    return [
        *gone,
        *(
            path
            for path, known in after.files.items()
            if (old := before.files.get(path)) is None or old.digest != known.digest
        ),
    ]


def _text(snapshot: Snapshot, path: str) -> bytes | None:
    known = snapshot.files.get(path)
    return snapshot.text(known) if known is not None and known.skipped is None else None
