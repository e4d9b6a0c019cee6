"""What was done by hand since git stopped at conflicts."""

from codeplane.repo.git.losses import Losses, lost_files


def resolved_work(losses: Losses) -> list[str]:
    """The files that are no longer as git left them when it stopped, told as a loss."""
    if losses.head is None:
        return []
    git = losses.git
    # Git keeps the tree it wrote, conflict markers and all; without it any change may be somebody's work.
    left = git.ask("rev-parse", "--verify", "--quiet", "AUTO_MERGE", check=False).line
    return lost_files(losses.edited(against=left or "HEAD"), "resolutions")
