"""All git operations that write, for one repository."""

from dataclasses import dataclass

from codeplane.git.safety.removed_files import LockHolder, no_lock_holder
from codeplane.git.write.branches import Branches
from codeplane.git.write.checkout import Checkout
from codeplane.git.write.commits import Commits
from codeplane.git.write.merges import Merges
from codeplane.git.write.picks import Picks
from codeplane.git.write.rebase import Rebase
from codeplane.git.write.remotes import RemoteWrites
from codeplane.git.write.reset import Reset
from codeplane.git.write.staging import Staging
from codeplane.git.write.stash import Stashes
from codeplane.git.write.submodules import SubmoduleWrites
from codeplane.git.write.tags import Tags
from codeplane.git.write.worktrees import WorktreeWrites
from codeplane.git.write.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class GitWrites:
    """The objects with operations for the catalogue; staging and commits are used by others too."""

    staging: Staging
    commits: Commits
    others: tuple[object, ...]

    @property
    def all(self) -> tuple[object, ...]:
        """All objects with operations."""
        return (self.staging, self.commits, *self.others)

    @classmethod
    def over(cls, writer: Writer, lock_holder: LockHolder = no_lock_holder) -> "GitWrites":
        """Build the operations of one repository; `lock_holder` returns the process that holds a lock."""
        return cls(
            staging=Staging(writer),
            commits=Commits(writer),
            others=(
                Branches(writer),
                Checkout(writer),
                Tags(writer),
                Merges(writer),
                Picks(writer),
                Reset(writer),
                Stashes(writer),
                RemoteWrites(writer),
                Rebase(writer),
                SubmoduleWrites(writer, lock_holder),
                WorktreeWrites(writer, lock_holder),
            ),
        )
