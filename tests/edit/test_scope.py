"""What git ignores is told by git's rules and index of this moment."""

import subprocess
from pathlib import Path

from codeplane.edit.scope import Scope
from tests.harness import make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("EDT-06")


def test_rules_and_the_index_that_change_between_two_questions_count(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.log": "x\n", ".gitignore": "*.tmp\n"})
    scope = Scope(root)
    asked = ["a.log", "b.log", "b.tmp"]
    assert scope.find_ignored(asked) == {"b.tmp"}
    (root / ".gitignore").write_text("*.log\n*.other\n")
    assert scope.find_ignored(asked) == {"b.log"}
    subprocess.run(["git", "rm", "-q", "--cached", "a.log"], cwd=root, check=True)
    assert scope.find_ignored(asked) == {"a.log", "b.log"}
    subprocess.run(["git", "add", "-f", "a.log"], cwd=root, check=True)
    assert scope.find_ignored(asked) == {"b.log"}


def test_a_folder_without_git_ignores_nothing_until_it_has_one(tmp_path: Path) -> None:
    scope = Scope(tmp_path)
    assert scope.find_ignored(["a.log"]) == set()
    make_repo(tmp_path / "repo", {".gitignore": "*.log\n"})
    (tmp_path / "repo/.git").rename(tmp_path / ".git")
    (tmp_path / ".gitignore").write_text("*.log\n")
    assert scope.find_ignored(["a.log"]) == {"a.log"}
