"""The `index.export` and `index.import` operations."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from codeplane.index import archive
from codeplane.index.service import IndexService
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.call import Call
from codeplane.kernel.errors import ArchiveRefused, InvalidArgument, NotFound
from codeplane.kernel.operation import Budget, Result, Risk, operation
from codeplane.kernel.plural import ARE, plural
from codeplane.kernel.workspace_request import WorkspaceRequest

_ENDING = ".cplindex"
# Without a number of repetitions: those would be compiled one by one, into 10 MB.
_NAME = r"^[\w.-]*$"


def _checked_name(value: str) -> str:
    if value and not value.strip("."):
        raise ValueError("a name of dots alone is a folder's")
    return value


_FileName = Annotated[str, AfterValidator(_checked_name)]


class ExportRequest(WorkspaceRequest):
    """What the archive is called."""

    name: _FileName = Field("", max_length=100, pattern=_NAME, description="of the file below .codeplane/exports")


class ExportResult(Result):
    """The archive that was written."""

    path: str
    bytes: int
    files: int
    commit: str | None
    model: str | None

    def text(self) -> str:
        size = f"{self.bytes / 1e6:.1f} MB"
        vectors = f", vectors by {self.model}" if self.model else ", without vectors"
        files = plural(self.files, "file")
        return f"{self.path}: {size}, facts of {files} at {(self.commit or 'no commit')[:9]}{vectors}"


class ImportRequest(WorkspaceRequest):
    """Which archive."""

    name: _FileName = Field(min_length=1, max_length=100, pattern=_NAME, description="a file below .codeplane/exports")


class ImportResult(Result):
    """What could be taken over, and what is parsed here instead."""

    commit: str | None
    files: int
    matching: int
    vectors: int
    still_to_parse: int

    def text(self) -> str:
        text = f"{self.matching} of {plural(self.files, 'file')} taken over, made at {(self.commit or 'no commit')[:9]}"
        differing = plural(self.still_to_parse, "file", verbs=("differs here and is", "differ here and are"))
        rest = f"; {differing} parsed now" if self.still_to_parse else ""
        return f"{text}, vectors of {self.vectors} contents{rest}"


class ArchiveOperations:
    """Exports and imports archives of the index below `.codeplane/exports`."""

    def __init__(self, *, index: IndexService, folder: Path) -> None:
        self._index = index
        self._folder = folder

    @operation("index.export", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=3600)
    async def export(self, call: Call, request: ExportRequest) -> ExportResult:
        """Write what is dear to make (facts, vectors) into one file; import it where the same contents lie."""
        snapshot = await self._settled_snapshot()
        name = request.name or f"index-{(snapshot.commit or 'none')[:12]}{_ENDING}"
        return await asyncio.to_thread(self._export, snapshot, self._folder / name)

    @operation("index.import", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=3600)
    async def import_(self, call: Call, request: ImportRequest) -> ImportResult:
        """Take over facts and vectors from an archive for every file whose content is the same; the rest is parsed."""
        fresh = await self._index.wait_until_ready()
        snapshot = await fresh.snapshot(strict=False)
        source = self._folder / request.name
        if not source.is_file():
            raise NotFound(f"no archive {request.name}", hint="cpl index import FILE brings it in")
        return await asyncio.to_thread(self._import, snapshot, source)

    async def _settled_snapshot(self) -> Snapshot:
        fresh = await self._index.wait_until_ready()
        snapshot = await fresh.snapshot(strict=True)
        behind = await self._index.wait_for_facts(snapshot)
        if behind.files:
            raise InvalidArgument(
                f"{plural(behind.files, 'file', verbs=ARE)} not parsed yet",
                hint="call again when cpl status says so",
            )
        return snapshot

    def _export(self, snapshot: Snapshot, target: Path) -> ExportResult:
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            folder = Path(scratch)
            files = self._index.store.copy_to(folder / "facts.db")
            vectors = self._index.vectors
            model = vectors.copy_to(folder) if vectors is not None else None
            archive.write_archive(target, folder=folder, commit=snapshot.commit, files=files, model=model)
        return ExportResult(
            path=str(target), bytes=target.stat().st_size, files=files, commit=snapshot.commit, model=model
        )

    def _import(self, snapshot: Snapshot, source: Path) -> ImportResult:
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            folder = Path(scratch)
            room = shutil.disk_usage(folder).free
            if source.stat().st_size * 2 > room:
                raise ArchiveRefused(f"{source.name} needs more room than there is", hint="free some disk space")
            manifest = archive.unpack_archive(source, folder)
            matching, files = self._index.adopt(snapshot, archive.read_facts(folder))
            if files and not matching:
                raise ArchiveRefused(
                    "no file here has a content that the archive speaks of: it is of another repository"
                )
            vectors = self._index.vectors
            taken = 0
            if vectors is not None and manifest.model is not None:
                taken = vectors.take_from(folder, manifest.model, snapshot)
        return ImportResult(
            commit=manifest.commit,
            files=files,
            matching=matching,
            vectors=taken,
            still_to_parse=self._index.still_to_parse(snapshot),
        )
