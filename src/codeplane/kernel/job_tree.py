"""The work tree of a job, or of a thread that an outside agent runs, in which it changes files."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from codeplane.kernel.call import Call, Operation

FileChangeKind = Literal["created", "changed", "deleted"]
# The operation that a job's call runs: that of its own work tree, where there is one; raises when it may not run.
JobOperation = Callable[[str, Operation], Awaitable[Operation]]


async def same_operation(job_id: str, operation: Operation) -> Operation:
    """The operation itself: there are no work trees of jobs."""
    return operation


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file that a job changed."""

    path: str
    change: FileChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDiff:
    """The changes of a job; `conflicts` are files that the checkout has changed since it started."""

    files: tuple[FileChange, ...]
    diff: str
    truncated: bool
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedTree:
    """The changes applied to the checkout; no mutation if it had them already."""

    files: tuple[FileChange, ...]
    mutation_id: str


class JobTrees(Protocol):
    """The work trees of jobs."""

    async def create(self, job_id: str, revision: str = "HEAD") -> str:
        """Check a commit out for a job, in the place of what an earlier try left; returns the commit."""
        ...

    def tree(self, job_id: str) -> Path:
        """The folder of its files."""
        ...

    def home(self, job_id: str) -> Path:
        """The folder of whatever else belongs to a work tree."""
        ...

    async def newest_commit(self) -> str:
        """The commit that a work tree would be made of now; NotGit when there is none."""
        ...

    async def has_uncommitted(self) -> bool:
        """Whether the checkout differs from its newest commit."""
        ...

    async def move_base(self, job_id: str, base: str) -> str:
        """Take what is in a work tree now as what further changes are counted from; returns the commit of that."""
        ...

    def list_threads(self) -> list[str]:
        """The threads that have a folder here."""
        ...

    def exists(self, job_id: str) -> bool:
        """Whether there is a work tree of that job."""
        ...

    async def diff(self, job_id: str, base: str) -> TreeDiff:
        """Return what the job changed since `base`."""
        ...

    async def apply(self, call: Call, job_id: str, base: str) -> AppliedTree:
        """Make the same changes in the checkout, all of them as one mutation, or none."""
        ...

    async def close(self, job_id: str) -> None:
        """End what runs for a work tree, such as its index."""
        ...

    async def remove(self, job_id: str) -> None:
        """Remove the work tree with all that belongs to it; nothing when there is none."""
        ...

    def list_jobs(self) -> list[str]:
        """The jobs that have a folder here, with a whole work tree or with what is left of one."""
        ...

    def list_open(self) -> list[str]:
        """The jobs for whose work trees something runs."""
        ...
