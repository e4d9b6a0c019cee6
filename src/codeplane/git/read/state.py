"""The operation that git is in the middle of: a merge, a rebase, or none."""

from pathlib import Path
from typing import Literal

import pygit2

from codeplane.git.read.repository import read_plain_file

State = Literal["none", "merge", "revert", "cherrypick", "rebase", "bisect"]

# The first that exists decides: a stopped rebase leaves CHERRY_PICK_HEAD as well.
_SIGNS: tuple[tuple[str, State], ...] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("REVERT_HEAD", "revert"),
    ("CHERRY_PICK_HEAD", "cherrypick"),
)
_SEQUENCED: dict[str, State] = {"pick": "cherrypick", "p": "cherrypick", "revert": "revert"}


def state_of(repository: pygit2.Repository) -> State:
    """Return the operation that an open repository is in the middle of."""
    return state_in(Path(repository.path))


def state_in(git_dir: Path) -> State:
    """Return the operation that the work tree of a git folder is in the middle of."""
    for sign, state in _SIGNS:
        if (git_dir / sign).exists():
            return state
    # Between two commits of a series, only the todo list tells.
    sequenced = _SEQUENCED.get(_first(git_dir / "sequencer" / "todo").partition(" ")[0])
    if sequenced is not None:
        return sequenced
    return "bisect" if (git_dir / "BISECT_LOG").exists() else "none"


def progress_in(git_dir: Path) -> str | None:
    """Describe the progress of a rebase or `git am`, as in `topic onto 1a2b3c4d5, step 2 of 5`."""
    for folder, at, of in (("rebase-merge", "msgnum", "end"), ("rebase-apply", "next", "last")):
        place = git_dir / folder
        if not place.is_dir():
            continue
        name, onto = _first(place / "head-name").removeprefix("refs/heads/"), _first(place / "onto")
        what = f"{name} onto {onto[:9]}" if name and onto else "git am" if (place / "applying").exists() else ""
        step, steps = _first(place / at), _first(place / of)
        return ", ".join(part for part in (what, f"step {step} of {steps}" if step and steps else "") if part) or None
    return None


def _first(file: Path) -> str:
    try:
        line = read_plain_file(file)[:4096].partition(b"\n")[0]
        return line.decode("utf-8", "backslashreplace").rstrip("\r\n")
    except OSError:
        return ""
