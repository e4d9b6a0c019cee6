"""Results of the operations on what jobs changed."""

from collections.abc import Sequence

from codeplane.kernel.job_tree import FileChange
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

_NAMED = 20


class FileChangeView(Result):
    """One file that a job changed: created, changed or deleted."""

    path: str
    change: str

    @classmethod
    def of(cls, file: FileChange) -> "FileChangeView":
        """The change as callers see it."""
        return cls(path=file.path, change=file.change)


def diff_text(head: str, diff: str, *, truncated: bool, conflicts: Sequence[str]) -> str:
    """The diff of a work tree below `head`, with what keeps it from being applied."""
    lines = [head, diff.rstrip("\n")]
    lines += ["[cut off: the rest of the diff is left out]"] if truncated else []
    if conflicts:
        lines.append(f"cannot be applied, since the checkout has changed: {', '.join(conflicts[:_NAMED])}")
    return "\n".join(lines)


def applied_text(mutation_id: str, files: Sequence[FileChangeView]) -> str:
    """The files that a mutation changed in the checkout; without a mutation there was nothing to change."""
    if not mutation_id:
        return "nothing to change: it is so already"
    named = [f"{file.change} {file.path}" for file in files[:_NAMED]]
    more = [f"and {len(files) - _NAMED} more"] if len(files) > _NAMED else []
    head = f"{plural(len(files), 'file')} ({mutation_id}; undo takes it back)"
    return "\n".join([head, *named, *more])


class JobDiff(Result):
    """What a job changed in its own work tree."""

    job_id: str
    base_commit: str
    files: tuple[FileChangeView, ...]
    diff: str
    truncated: bool
    conflicts: tuple[str, ...]

    def text(self) -> str:
        if not self.files:
            return f"{self.job_id} changed nothing"
        head = f"{plural(len(self.files), 'file')} changed since {self.base_commit[:9]}"
        return diff_text(head, self.diff, truncated=self.truncated, conflicts=self.conflicts)


class AppliedJob(Result):
    """The changes of a job, now in the checkout."""

    job_id: str
    mutation_id: str
    files: tuple[FileChangeView, ...]

    def text(self) -> str:
        return applied_text(self.mutation_id, self.files)


class DiscardedJob(Result):
    """A job whose work tree is gone."""

    job_id: str
    tree: str

    def text(self) -> str:
        return f"discarded what {self.job_id} changed"
