"""Finds the files that were resolved by hand since git stopped at conflicts."""

from codeplane.git.safety.loss import Loss
from codeplane.git.safety.loss_finder import LossFinder


def resolved_files(losses: LossFinder, *, all_work: bool = False) -> list[str]:
    """Return the files that changed since git stopped and that an abort would overwrite.

    Aborting a merge or pick spares unstaged files; with `all_work`, as for a rebase, it spares none.
    """
    if losses.head is None:
        return []
    git = losses.git
    # Git stores the tree it wrote, with conflict markers; without it any change may be work by hand.
    left = git.ask("rev-parse", "--verify", "--quiet", "AUTO_MERGE", check=False).line
    edited = losses.list_edited(against=left or "HEAD")
    if all_work or not edited:
        return edited
    staged = set(git.ask("diff", "--cached", "--name-only", "-z", "--no-ext-diff", "--no-renames", "HEAD", "--").fields)
    return [path for path in edited if path in staged]


def resolution_losses(losses: LossFinder, *, all_work: bool = False) -> list[Loss]:
    """Return the loss of the resolved files."""
    return losses.files(resolved_files(losses, all_work=all_work), "resolutions")
