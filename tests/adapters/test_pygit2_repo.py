"""What is asked of git, and what a folder without it answers."""

from pathlib import Path

from codeplane.adapters.pygit2_repo import GitRepo
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("GIT-22")


def test_head_is_read_anew_each_time(repo: Path) -> None:
    found = GitRepo(repo)
    assert found.head() == git(repo, "rev-parse", "HEAD").strip()
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "second")
    assert found.head() == git(repo, "rev-parse", "HEAD").strip()
    git(repo, "checkout", "--quiet", "--detach", "HEAD~1")
    assert found.head() == git(repo, "rev-parse", "HEAD").strip()


def test_a_worktree_has_a_head_of_its_own(repo: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "--quiet", "-b", "other", str(tree))
    git(tree, "commit", "--quiet", "--allow-empty", "--message", "there")
    assert GitRepo(tree).head() == git(tree, "rev-parse", "HEAD").strip() != GitRepo(repo).head()


def test_no_commit_no_git_and_no_repository_any_more(tmp_path: Path) -> None:
    assert GitRepo(tmp_path).head() is None
    git(tmp_path, "init", "--quiet")
    found = GitRepo(tmp_path)
    assert found.head() is None
    make_repo(tmp_path)
    assert found.head() is not None


def test_a_folder_inside_a_repository_is_not_taken_for_it(repo: Path) -> None:
    inside = repo / "inside"
    inside.mkdir()
    assert GitRepo(inside).head() is None
