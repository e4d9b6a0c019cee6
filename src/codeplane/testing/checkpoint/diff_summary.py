"""The summary of what changed between two commits, with renamed files shown as such."""

from typing import Literal

from pydantic import Field

from codeplane.git.safety.command import Git
from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

Status = Literal["added", "modified", "deleted", "renamed"]
_STATUS: dict[str, Status] = {"A": "added", "D": "deleted", "R": "renamed"}
_SHOWN = 20
_MAX_FILES = 200


class ChangedFile(Result):
    """A file that differs from the last checkpoint."""

    path: str
    status: Status
    insertions: int
    deletions: int
    old_path: str | None = None

    def text(self) -> str:
        where = f"{self.old_path} → {self.path}" if self.old_path is not None else self.path
        return f"{self.status[0].upper()} {where} +{self.insertions} -{self.deletions}"


class Since(Result):
    """Everything between the last checkpoint and this one; from the commit before when there was none."""

    commit: str | None
    commits: int
    files_changed: int
    insertions: int
    deletions: int
    files: tuple[ChangedFile, ...] = Field((), description="at most 200; files_changed counts all")

    def text(self) -> str:
        head = f"{plural(self.files_changed, 'file')} +{self.insertions} -{self.deletions}"
        if self.commits > 1:
            head = f"since the last checkpoint {(self.commit or 'none')[:9]}: {plural(self.commits, 'commit')}, {head}"
        lines = [head, *(file.text() for file in self.files[:_SHOWN])]
        return "\n".join([*lines, f"and {self.files_changed - _SHOWN} more"] if self.files_changed > _SHOWN else lines)


async def summarise_diff(git: Git, base: str | None, start: str, commit: str, *, commits: int) -> Since:
    """Summarise how a commit differs from the tree or commit `start`; `base` is the checkpoint to name."""
    options = ("-r", "-z", "--raw", "--numstat", "--find-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv")
    done = await git.run("diff-tree", *options, start, commit, "--")
    files = _files([field.decode("utf-8", "surrogateescape") for field in done.out.split(b"\0")])
    return Since(
        commit=base,
        commits=commits,
        files_changed=len(files),
        insertions=sum(file.insertions for file in files),
        deletions=sum(file.deletions for file in files),
        files=tuple(files[:_MAX_FILES]),
    )


def _files(fields: list[str]) -> list[ChangedFile]:
    """Parse the fields of `git diff-tree --raw --numstat -z`: a status and counts for each path."""
    statuses: dict[str, tuple[Status, str | None]] = {}
    counts: dict[str, tuple[int, int]] = {}
    items = iter(fields)
    for item in items:
        if item.startswith(":"):
            letter = item.rpartition(" ")[2][:1]
            old = next(items)
            path = next(items) if letter == "R" else old
            statuses[path] = (_STATUS.get(letter, "modified"), old if letter == "R" else None)
        elif item:
            added, removed, path = item.split("\t", 2)
            if not path:
                # A renamed file has both names in the fields after this one.
                next(items)
                path = next(items)
            counts[path] = (int(added) if added.isdigit() else 0, int(removed) if removed.isdigit() else 0)
    return [
        ChangedFile(
            path=path_text(path),
            status=status,
            insertions=counts.get(path, (0, 0))[0],
            deletions=counts.get(path, (0, 0))[1],
            old_path=path_text(before) if before is not None else None,
        )
        for path, (status, before) in sorted(statuses.items())
    ]
