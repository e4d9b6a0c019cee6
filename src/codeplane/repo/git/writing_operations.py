"""Every writing git operation of one repository."""

from dataclasses import dataclass

from codeplane.repo.git.branches import Branches
from codeplane.repo.git.checkout import Checkout
from codeplane.repo.git.commits import Commits
from codeplane.repo.git.merges import Merges
from codeplane.repo.git.picks import Picks
from codeplane.repo.git.rebase import Rebase
from codeplane.repo.git.remotes_writes import RemoteWrites
from codeplane.repo.git.removed_files import LockHolder, nobody
from codeplane.repo.git.reset import Reset
from codeplane.repo.git.staging import Staging
from codeplane.repo.git.stash import Stashing
from codeplane.repo.git.submodules_writes import SubmoduleWrites
from codeplane.repo.git.tags import Tags
from codeplane.repo.git.worktrees_writes import WorktreeWrites
from codeplane.repo.git.writing import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class GitWrites:
    """Whatever has operations, for the catalogue, and those that others build on."""

    staging: Staging
    commits: Commits
    others: tuple[object, ...]

    @property
    def all(self) -> tuple[object, ...]:
        """All of them."""
        return (self.staging, self.commits, *self.others)

    @classmethod
    def over(cls, writer: Writer, lock_holder: LockHolder = nobody) -> "GitWrites":
        """Those of one repository; `lock_holder` gives the process that holds a lock."""
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
                Stashing(writer),
                RemoteWrites(writer),
                Rebase(writer),
                SubmoduleWrites(writer, lock_holder),
                WorktreeWrites(writer, lock_holder),
            ),
        )
