"""Which files and lines differ from a commit."""

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.kernel.errors import NotGit, RefNotFound
from codeplane.testing.changes import Changes, Lines
from tests.interaction.requirements import requirement
from tests.testing.door import written

FILES = {
    "a.py": "one\ntwo\nthree\nfour\n",
    "b.py": "b\n",
    "dir/c.py": "c\n",
    "dir/d.py": "d\n",
    "old.py": "".join(f"{at}\n" for at in range(20)),
}


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def since(root: Path, ref: str = "", paths: list[str] | None = None) -> Mapping[str, Lines]:
    return asyncio.run(Changes(root).since(ref, paths))


@requirement("TST-10")
def test_lines_of_changed_files_and_whole_files_that_came_or_went(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    assert since(root) == {}
    (root / "a.py").write_text("one\nTWO\nTWO\nthree\nfour\n")
    (root / "new.py").write_text("untracked\n")
    (root / "b.py").unlink()
    (root / "dir/c.py").write_text("c\nmore\n")
    git(root, "add", "dir/c.py")
    (root / "staged.py").write_text("staged\n")
    git(root, "add", "staged.py")
    git(root, "mv", "old.py", "renamed.py")
    assert since(root) == {
        "a.py": ((2, 3),),
        "b.py": (),
        "dir/c.py": ((2, 2),),
        "new.py": (),
        "old.py": (),
        "renamed.py": (),
        "staged.py": (),
    }


@requirement("TST-10")
def test_of_named_paths_only_those_that_changed(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    (root / "a.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    (root / "dir/c.py").write_text("other\n")
    (root / "new.py").write_text("")
    assert since(root, paths=["a.py", "b.py", "new.py"]) == {"a.py": ((5, 5),), "new.py": ()}
    assert since(root, paths=[]) == {}


@requirement("TST-10")
def test_against_a_ref_with_what_was_committed_since(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    git(root, "tag", "start")
    (root / "a.py").write_text("one\ntwo\nthree\n4\n")
    git(root, "rm", "--quiet", "b.py")
    git(root, "commit", "--quiet", "-am", "second")
    (root / "dir/d.py").write_text("D\n")
    assert since(root) == {"dir/d.py": ((1, 1),)}
    assert since(root, "start") == {"a.py": ((4, 4),), "b.py": (), "dir/d.py": ((1, 1),)}
    assert since(root, "HEAD~1", ["a.py", "dir/c.py"]) == {"a.py": ((4, 4),)}
    # What was changed back is as it was.
    (root / "a.py").write_text(FILES["a.py"])
    assert "a.py" not in since(root, "start") and "a.py" in since(root)
    with pytest.raises(RefNotFound, match="nothing-like-this"):
        since(root, "nothing-like-this")


@requirement("TST-10")
def test_what_is_staged_alone_and_taken_back_in_the_work_tree_is_as_it_was(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    (root / "a.py").write_text("staged\n")
    git(root, "add", "a.py")
    (root / "a.py").write_text(FILES["a.py"])
    # Tests run what lies on disk.
    assert since(root) == {}


@requirement("TST-10")
def test_where_lines_were_only_taken_away_those_around_count(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    (root / "a.py").write_text("one\nfour\n")
    assert since(root) == {"a.py": ((1, 2),)}


def test_a_workspace_below_the_repository_sees_its_own_paths(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    (root / "dir/c.py").write_text("other\n")
    (root / "a.py").write_text("other\n")
    assert since(root / "dir") == {"c.py": ((1, 1),)}


def test_without_a_commit_everything_is_new_and_without_git_nothing_is_known(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("a\n")
    with pytest.raises(NotGit):
        since(root)
    git(root, "init", "--quiet")
    assert since(root) == {"a.py": ()}
    (root / ".gitignore").write_text("a.py\n")
    assert since(root) == {".gitignore": ()}
