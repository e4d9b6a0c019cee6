"""A branch that has a file where work may lie."""

import shutil

from tests.git.desk import Desk


def make_branches(desk: Desk, comes: str, *, ignored: bool) -> None:
    """Beside main, which stays checked out and is kept elsewhere, `other` has one more file; `nd` may be ignored."""
    made = desk.made
    made.git("branch", "kept")
    made.git("checkout", "--quiet", "-b", "other")
    first = made.root / comes.partition("/")[0]
    first.unlink(missing_ok=True)
    made.write(comes, "theirs")
    made.commit("other")
    made.git("checkout", "--quiet", "main")
    if first.is_dir():
        shutil.rmtree(first)
    exclude = made.root / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("/nd\n" if ignored else "")
