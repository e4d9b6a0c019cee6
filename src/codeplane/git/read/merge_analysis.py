"""The `git.merge_analysis` operation: the outcome of a merge, without merging."""

import asyncio
import os
import tempfile
from typing import Literal

from pydantic import Field

from codeplane.git.read.conflict import Conflict, conflict
from codeplane.git.read.reader import GitReader
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest

Analysis = Literal["up_to_date", "fastforward", "normal", "unrelated", "unborn"]


class MergeAnalysisRequest(WorkspaceRequest):
    """What would be merged into what."""

    ref: str = Field(max_length=1000, description="branch or commit to merge")
    into: str = Field("HEAD", max_length=1000)


class MergeAnalysisResult(Result):
    """How a merge would end; `conflicts` is None when it could not be tried."""

    analysis: Analysis
    commit: str
    into: str | None
    merge_base: str | None = None
    ahead: int = 0
    behind: int = 0
    conflicts: tuple[Conflict, ...] | None = ()

    def text(self) -> str:
        head = self.analysis.replace("_", " ")
        if self.analysis in ("normal", "unrelated", "fastforward"):
            head += f": {plural(self.behind, 'commit')} to merge, {self.ahead} of our own"
        if self.merge_base:
            head += f", base {self.merge_base[:9]}"
        if self.conflicts is None:
            return f"{head}; conflicts not known: this git cannot try a merge"
        if self.analysis in ("normal", "unrelated"):
            head += f"; {plural(len(self.conflicts), 'conflict') if self.conflicts else 'no conflicts'}"
        return "\n".join([head, *(conflict.text() for conflict in self.conflicts)])


class MergeAnalysisOperations:
    """Answer `git.merge_analysis`."""

    def __init__(self, *, reader: GitReader) -> None:
        self._reader = reader

    @operation("git.merge_analysis", risk=Risk.READ)
    async def merge_analysis(self, call: Call, request: MergeAnalysisRequest) -> MergeAnalysisResult:
        """What merging ref would come to: up to date, fast-forward or a merge, and which files would conflict; nothing
        is changed."""
        reader = self._reader
        theirs = await reader.commit(request.ref)
        if request.into == "HEAD" and await reader.head() is None:
            return MergeAnalysisResult(analysis="unborn", commit=theirs, into=None)
        ours = await reader.commit(request.into)
        base, counted = await asyncio.gather(
            reader.run("merge-base", ours, theirs, codes=(0, 1)),
            reader.run("rev-list", "--left-right", "--count", f"{ours}...{theirs}"),
        )
        bases = base.out.decode().split()
        ahead, behind = (int(count) for count in counted.out.split())
        analysis: Analysis = "normal" if bases else "unrelated"
        if behind == 0:
            analysis = "up_to_date"
        elif ahead == 0:
            analysis = "fastforward"
        return MergeAnalysisResult(
            analysis=analysis,
            commit=theirs,
            into=ours,
            merge_base=bases[0] if bases else None,
            ahead=ahead,
            behind=behind,
            conflicts=await self._try_merge(ours, theirs) if analysis in ("normal", "unrelated") else (),
        )

    async def _try_merge(self, ours: str, theirs: str) -> tuple[Conflict, ...] | None:
        """Merge into a temporary object folder and return the conflicts; None when git is too old."""
        objects = (await self._reader.run("rev-parse", "--git-path", "objects")).out
        object_folder = self._reader.root / os.fsdecode(objects.removesuffix(b"\n"))
        with tempfile.TemporaryDirectory(prefix="codeplane-merge-") as folder:
            try:
                output = await self._reader.run(
                    "merge-tree",
                    "--write-tree",
                    "--allow-unrelated-histories",
                    "--no-messages",
                    "-z",
                    ours,
                    theirs,
                    codes=(0, 1),
                    env={
                        "GIT_OBJECT_DIRECTORY": folder,
                        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quote(str(object_folder)),
                    },
                )
            except GitRefused as error:
                # Before version 2.38 git had another command of this name.
                if "usage" in error.message or "unknown option" in error.message:
                    return None
                raise
        by_path: dict[str, dict[int, str]] = {}
        for entry in output.records()[1:]:
            facts, _, name = entry.partition(b"\t")
            if name:
                _, oid, stage = facts.decode().split(" ")
                by_path.setdefault(os.fsdecode(name), {})[int(stage)] = oid
        return tuple(conflict(path, by_path[path]) for path in sorted(by_path))


def _quote(path: str) -> str:
    """Quote a folder for a list of folders when it contains the separator."""
    if ":" not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
