"""Undo and redo of an added work tree, while nothing in it has changed."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.git.safety.command import Git
from codeplane.git.write.worktree_places import exclude_worktree, forget_excluded, worktree_paths
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject

# In the details of a mutation that added one.
WORKTREE = "worktree"
_STATUS = ("status", "--porcelain", "--ignored", "--untracked-files=all")
# Git locks a work tree with this reason while it creates it.
_LOCK, _CREATING = "locked", "initializing"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedWorktree:
    """The path of an added work tree, and the branch or commit that was checked out there."""

    path: Path
    head: str
    branch: str | None

    @classmethod
    def of(cls, record: MutationRecord) -> "AddedWorktree | None":
        """Return the work tree that a mutation added, if any."""
        raw = record.details.get(WORKTREE)
        if not isinstance(raw, dict):
            return None
        branch = raw.get("branch")
        return cls(path=Path(str(raw["path"])), head=str(raw["head"]), branch=str(branch) if branch else None)

    @staticmethod
    async def describe(git: Git, path: Path) -> JsonObject:
        """Describe a work tree for the mutation record."""
        inner = git.at(path)
        head = await inner.run("rev-parse", "--verify", "HEAD")
        branch = await inner.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)
        return {"path": str(path), "head": head.line, "branch": branch.line or None}

    async def describe_changes(self, git: Git, *, there: bool) -> str:
        """Describe how it has changed since; empty when it has not."""
        name = path_text(str(self.path))
        if not there:
            return f"something is at {name}" if self.path.exists() else ""
        if self.path not in await asyncio.to_thread(worktree_paths, git):
            return f"the work tree {name} is gone"
        try:
            now = await self.describe(git, self.path)
            changed = (await git.at(self.path).run(*_STATUS)).line
        except CodePlaneError as error:
            return f"the work tree {name}: {error.message}"
        if now != {"path": str(self.path), "head": self.head, "branch": self.branch}:
            return f"another commit or branch is checked out in {name}"
        return f"there are changes in {name}" if changed else ""

    def exists(self, git: Git) -> bool:
        """Whether git knows it, or something is at its place."""
        return self.path in worktree_paths(git) or self.path.exists()

    async def remove(self, git: Git) -> None:
        """Remove it."""
        await git.run("worktree", "remove", "--", str(self.path))
        await asyncio.to_thread(forget_excluded, git)

    async def add(self, git: Git) -> None:
        """Add it again."""
        if git.root in self.path.parents:
            await exclude_worktree(git, str(self.path.relative_to(git.root)))
        await git.run("worktree", "add", "--quiet", "--", str(self.path), self.branch or self.head)


async def is_complete(git: Git, path: Path) -> bool:
    """Whether git has created a work tree completely."""
    if path not in await asyncio.to_thread(worktree_paths, git):
        return False
    try:
        return (git.at(path).folder / _LOCK).read_text().strip() != _CREATING
    except FileNotFoundError:
        return True
    except (CodePlaneError, OSError):
        return False
