"""The `git.worktrees` operation."""

import os

from codeplane.git.read.reader import GitReader
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.workspace_request import WorkspaceRequest


class WorktreesRequest(WorkspaceRequest):
    """Every work tree."""


class WorktreeInfo(Result):
    """A work tree of the repository; a reason is empty when none was given."""

    path: str
    head: str | None
    branch: str | None
    detached: bool = False
    bare: bool = False
    is_main: bool = False
    current: bool = False
    locked: bool = False
    lock_reason: str | None = None
    prunable: bool = False
    prune_reason: str | None = None

    def text(self) -> str:
        at = "bare" if self.bare else f"{self.branch or 'detached'} {(self.head or 'no commit')[:9]}"
        marks = [
            "main" if self.is_main else "",
            f"locked{f': {self.lock_reason}' if self.lock_reason else ''}" if self.locked else "",
            f"prunable{f': {self.prune_reason}' if self.prune_reason else ''}" if self.prunable else "",
        ]
        notes = "; ".join(mark for mark in marks if mark)
        return f"{'*' if self.current else ' '} {self.path} {at}" + (f" ({notes})" if notes else "")


class WorktreesResult(Result):
    """The work trees, the main one first."""

    worktrees: tuple[WorktreeInfo, ...]

    def text(self) -> str:
        return "\n".join(worktree.text() for worktree in self.worktrees)


class WorktreeReadOperations:
    """Answer `git.worktrees`."""

    def __init__(self, *, reader: GitReader) -> None:
        self._reader = reader

    @operation("git.worktrees", risk=Risk.READ)
    async def worktrees(self, call: Call, request: WorktreesRequest) -> WorktreesResult:
        """Work trees of this repository: path, branch, head, locked and prunable with the reason."""
        output = await self._reader.run("worktree", "list", "--porcelain", "-z")
        trees: list[dict[str, str]] = [{}]
        for field in output.out.split(b"\0"):
            if not field:
                trees.append({})
                continue
            name, _, value = os.fsdecode(field).partition(" ")
            trees[-1][name] = value
        known = [facts for facts in trees if "worktree" in facts]
        root = str(self._reader.root)
        return WorktreesResult(
            worktrees=tuple(_worktree(facts, root=root, is_main=at == 0) for at, facts in enumerate(known))
        )


def _worktree(facts: dict[str, str], *, root: str, is_main: bool) -> WorktreeInfo:
    head, branch = facts.get("HEAD"), facts.get("branch")
    return WorktreeInfo(
        path=path_text(facts["worktree"]),
        head=head if head and head.strip("0") else None,
        branch=path_text(branch.removeprefix("refs/heads/")) if branch else None,
        detached="detached" in facts,
        bare="bare" in facts,
        is_main=is_main,
        current=facts["worktree"] == root,
        locked="locked" in facts,
        lock_reason=path_text(facts["locked"]) if facts.get("locked") else None,
        prunable="prunable" in facts,
        prune_reason=path_text(facts["prunable"]) if facts.get("prunable") else None,
    )
