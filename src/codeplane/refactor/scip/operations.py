"""The `scip.*` operations: import an index, show what it is still valid for, drop it."""

import asyncio
import stat
from pathlib import Path

from pydantic import Field

from codeplane.index.files.ignore import IgnoreRules
from codeplane.index.files.paths import canonical, inside, path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import NotFound, ScipRefused
from codeplane.kernel.operation import Budget, Result, Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.query.knowledge import Knowledge
from codeplane.query.search.scope import scope
from codeplane.refactor.scip.index import Index, read_index
from codeplane.refactor.scip.store import ScipStore
from codeplane.refactor.scip.validation import accept_documents

_MAX_BYTES = 512 * 1024 * 1024
_NAMED = 10


class ScipImportRequest(WorkspaceRequest):
    """An index that an indexer wrote, and how that indexer ended."""

    path: str = Field("index.scip", max_length=4096, description="the file, inside the repository")
    exit_code: int = Field(0, description="of the indexer; an index of one that failed is refused")
    folder: str | None = Field(None, max_length=4096, description="what paths in it count from, where it does not say")
    paths: tuple[str, ...] = Field((), description="what it was made of, if not of everything", max_length=100)


class ScipStatusRequest(WorkspaceRequest):
    """Nothing to say."""


class ScipDropRequest(WorkspaceRequest):
    """Which index, by the path it was imported from; all without one."""

    path: str | None = Field(None, max_length=4096)


class ScipImport(Result):
    """An index that was taken in."""

    path: str
    tool: str
    documents: int
    occurrences: int

    def text(self) -> str:
        return f"{self.path} by {self.tool}: {self.documents} documents, {self.occurrences} occurrences taken in"


class ScipIndexStatus(Result):
    """An imported index, and how much of it holds."""

    path: str
    tool: str
    documents: int
    holding: int
    changed: tuple[str, ...]

    def line(self) -> str:
        """The index in one line."""
        changed = f"; changed since: {', '.join(self.changed)}" if self.changed else ""
        more = self.documents - self.holding - len(self.changed)
        return f"{self.path} by {self.tool}: holds for {self.holding} of {plural(self.documents, 'file')}{changed}" + (
            f" and {more} more" if more > 0 else ""
        )


class ScipStatus(Result):
    """All imported indexes."""

    indexes: tuple[ScipIndexStatus, ...]

    def text(self) -> str:
        return "\n".join(index.line() for index in self.indexes) or "no SCIP index was imported"


class ScipDrop(Result):
    """How many indexes were forgotten."""

    dropped: int

    def text(self) -> str:
        return f"{self.dropped} indexes forgotten"


class ScipOperations:
    """Imported indexes of one root; they change only how certain a plan is."""

    def __init__(
        self,
        *,
        root: Path,
        knowledge: Knowledge,
        store: ScipStore,
        clock: Clock,
        secrets: SecretRules = NOTHING_SHOWN,
    ) -> None:
        self._root = root
        self._secrets = secrets
        self._knowledge = knowledge
        self._store = store
        self._clock = clock

    @operation("scip.import", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=600)
    async def import_(self, call: Call, request: ScipImportRequest) -> ScipImport:
        """Take an index.scip (scip-python, scip-typescript, …) as authority for its files while they stay as they are.

        Refused when its indexer failed, files of its languages are missing, or a file is not what it saw.
        """
        if request.exit_code:
            raise ScipRefused(
                f"the indexer ended with {request.exit_code}: its index is not whole",
                hint="run it again until it succeeds, then import with exit_code: 0",
            )
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=True)
        return await asyncio.to_thread(self._import, snapshot, request)

    @operation("scip.status", risk=Risk.READ)
    async def status(self, call: Call, request: ScipStatusRequest) -> ScipStatus:
        """The imported SCIP indexes, and for how many files each still holds."""
        fresh = await self._knowledge.fresh()
        snapshot = await fresh.snapshot(strict=True)
        return await asyncio.to_thread(self._status, snapshot)

    @operation("scip.drop", risk=Risk.WRITE, capability="execute_tools")
    async def drop(self, call: Call, request: ScipDropRequest) -> ScipDrop:
        """Forget an imported SCIP index, or all of them."""
        name = canonical(request.path, root=self._root) if request.path is not None else None
        dropped = await asyncio.to_thread(self._store.drop, name)
        if name is not None and not dropped:
            raise NotFound(f"no index was imported from {path_text(name)}", hint="scip.status lists them")
        return ScipDrop(dropped=dropped)

    def _import(self, snapshot: Snapshot, request: ScipImportRequest) -> ScipImport:
        name = canonical(request.path, root=self._root)
        file = inside(self._root, name)
        rules = IgnoreRules.of(self._root, self._secrets)
        for path in (name, file.relative_to(self._root).as_posix()):
            if (denied := rules.refusal(path, display=path_text(name))) is not None:
                raise denied
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise NotFound(f"{path_text(name)} is no plain file", hint="name the file an indexer wrote")
        if found.st_size > _MAX_BYTES:
            raise ScipRefused(f"{path_text(name)} has {found.st_size} bytes", hint=f"at most {_MAX_BYTES} are read")
        index = read_index(file.read_bytes())
        documents = accept_documents(
            index,
            snapshot,
            prefix=self._prefix(index, request.folder),
            written_ns=found.st_mtime_ns,
            keep=scope(request.paths, (), "include", self._root),
        )
        self._store.put(name, tool=index.tool, version=index.version, at_ns=self._clock.now_ns(), documents=documents)
        return ScipImport(
            path=path_text(name),
            tool=f"{index.tool} {index.version}".strip() or "an unnamed indexer",
            documents=len(documents),
            occurrences=sum(len(document.spoken) for document in documents),
        )

    def _prefix(self, index: Index, folder: str | None) -> str:
        """Return the folder that paths are relative to: the caller's, else the index's, else the root."""
        if folder is not None:
            return canonical(folder, root=self._root)
        root = Path(index.root) if index.root else self._root
        return root.relative_to(self._root).as_posix() if self._root in root.parents else ""

    def _status(self, snapshot: Snapshot) -> ScipStatus:
        found = []
        for imported in self._store.imports():
            changed = [
                path
                for path, digest in imported.documents
                if (known := snapshot.files.get(path)) is None or known.digest != digest
            ]
            found.append(
                ScipIndexStatus(
                    path=path_text(imported.name),
                    tool=f"{imported.tool} {imported.version}".strip() or "an unnamed indexer",
                    documents=len(imported.documents),
                    holding=len(imported.documents) - len(changed),
                    changed=tuple(map(path_text, changed[:_NAMED])),
                )
            )
        return ScipStatus(indexes=tuple(found))
