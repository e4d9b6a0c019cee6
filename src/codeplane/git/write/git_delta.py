"""The delta of a git mutation, which every one returns."""

from typing import Literal

from pydantic import Field

from codeplane.edit.delta import FileDelta
from codeplane.git.read.conflict import Conflict
from codeplane.git.read.state import State
from codeplane.index.files.paths import path_text
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

MAX_FILES = 200
MAX_REFS = 100
_SHOWN_FILES = 20
_SHOWN_NAMES = 10
_SIGNS = {"created": "A", "updated": "M", "deleted": "D", "moved": "R"}


class MovedRef(Result):
    """A ref that came, went or moved."""

    ref: str
    before: str | None = None
    after: str | None = None

    def text(self) -> str:
        name = path_text(self.ref.removeprefix("refs/").removeprefix("heads/"))
        if self.before is None or self.after is None:
            return f"{name} {'gone, was ' if self.after is None else 'new at '}{(self.after or self.before or '')[:9]}"
        return f"{name} {self.before[:9]}..{self.after[:9]}"


class GitDelta(Result):
    """The whole effect of one git mutation: nobody should have to look afterwards."""

    head_before: str | None
    head: str | None
    branch: str | None
    refs: tuple[MovedRef, ...] = Field((), description="at most 100; refs_moved counts all")
    refs_moved: int = 0
    compared: Literal["worktree", "commits", "index", "none"] = Field("none", description="what `files` are about")
    files_changed: int = 0
    insertions: int = 0
    deletions: int = 0
    files: tuple[FileDelta, ...] = Field((), description="at most 200; files_changed counts all")
    conflicts: tuple[Conflict, ...] = ()
    repo_state: State = "none"
    clean: bool | None = Field(True, description="null: not known")
    affected_symbols: tuple[str, ...] = ()
    affected_tests: tuple[str, ...] = ()
    repo_fingerprint: str = ""
    mutation_id: str | None = Field(None, description="give it to undo")
    recovery: str | None = Field(None, description="the ref that keeps what was lost")
    note: str = Field("", description="how far undo goes back, where that is not plain")

    def text(self) -> str:
        state = f"{self._where()}{'; work tree not clean' if self.clean is False else ''}"
        return "\n".join([state, *self.effects()])

    def effects(self) -> list[str]:
        """Return what was done, line by line, without the branch and state of this work tree."""
        lines = [moved.text() for moved in self.refs if moved.ref != f"refs/heads/{self.branch}"][:_SHOWN_NAMES]
        if self.files_changed:
            lines.append(
                f"{plural(self.files_changed, 'file')} in {self.compared} +{self.insertions} -{self.deletions}"
            )
            lines += [_file_line(file) for file in self.files[:_SHOWN_FILES]]
            if self.files_changed > _SHOWN_FILES:
                lines.append(f"  and {self.files_changed - _SHOWN_FILES} more")
        if self.repo_state != "none":
            lines.append(f"state: {self.repo_state}")
        lines += [f"conflict {conflict.text()}" for conflict in self.conflicts]
        lines += [f"symbols: {', '.join(self.affected_symbols)}"] if self.affected_symbols else []
        lines += [f"tests: {', '.join(self.affected_tests)}"] if self.affected_tests else []
        lines += [f"lost work is kept in {self.recovery}"] if self.recovery else []
        lines += [f"undo: {self.mutation_id}"] if self.mutation_id else []
        lines += [self.note] if self.note else []
        return lines

    def _where(self) -> str:
        head = self.head[:9] if self.head else "no commits"
        place = f"{path_text(self.branch)} at {head}" if self.branch is not None else f"detached at {head}"
        moved = self.head != self.head_before and self.head_before is not None
        return f"{place} (was {(self.head_before or '')[:9]})" if moved else place


class Changed(Result):
    """A git mutation, with nothing more to say than what it did."""

    delta: GitDelta

    def text(self) -> str:
        return self.delta.text()


class Stoppable(Changed):
    """A git mutation that conflicts can stop on its way."""

    def unmet(self) -> str | None:
        return f"stopped by conflicts in {plural(len(self.delta.conflicts), 'file')}" if self.delta.conflicts else None


def _file_line(file: FileDelta) -> str:
    stats = file.diff_stats
    return f"{_SIGNS[file.action]} {file.path} +{stats.insertions} -{stats.deletions}"
