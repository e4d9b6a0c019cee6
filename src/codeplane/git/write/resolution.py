"""What was done by hand since git stopped at conflicts."""

from codeplane.git.safety.loss import Loss
from codeplane.git.safety.loss_finder import LossFinder


def resolved_files(losses: LossFinder, *, all_work: bool = False) -> list[str]:
    """The files that are no longer as git left them when it stopped, of those that giving up would write anew.

    A merge or pick that is given up leaves alone what is not staged; with `all_work`, as of a rebase, nothing is.
    """
    if losses.head is None:
        return []
    git = losses.git
    # Git keeps the tree it wrote, conflict markers and all; without it any change may be somebody's work.
    left = git.ask("rev-parse", "--verify", "--quiet", "AUTO_MERGE", check=False).line
    edited = losses.edited(against=left or "HEAD")
    if all_work or not edited:
        return edited
    staged = set(git.ask("diff", "--cached", "--name-only", "-z", "--no-ext-diff", "--no-renames", "HEAD", "--").fields)
    return [path for path in edited if path in staged]


def resolution_losses(losses: LossFinder, *, all_work: bool = False) -> list[Loss]:
    """The same, told as a loss."""
    return losses.files(resolved_files(losses, all_work=all_work), "resolutions")
