"""What is asked of git, and what a folder without it answers."""

import os
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "change",
    [
        ("commit", "--quiet", "--allow-empty", "--message", "second"),
        ("checkout", "--quiet", "--detach", "HEAD~1"),
        ("checkout", "--quiet", "older"),
        ("symbolic-ref", "HEAD", "refs/heads/older"),
        ("update-ref", "refs/heads/main", "HEAD~1"),
        ("reset", "--quiet", "--soft", "HEAD~1"),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_head_is_read_again_once_git_has_changed_it(repo: Path, change: tuple[str, ...], is_packed: bool) -> None:
    git(repo, "branch", "--move", "main")
    git(repo, "branch", "older")
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "newer")
    if is_packed:
        git(repo, "pack-refs", "--all")
    found = GitRepo(repo, settled_ns=0)
    before = found.head()
    assert found.head() == before == git(repo, "rev-parse", "HEAD").strip()
    git(repo, *change)
    assert before != found.head() == git(repo, "rev-parse", "HEAD").strip()


def test_a_branch_that_leads_to_another_one_is_followed(repo: Path) -> None:
    git(repo, "branch", "--move", "main")
    git(repo, "symbolic-ref", "refs/heads/also", "refs/heads/main")
    git(repo, "symbolic-ref", "HEAD", "refs/heads/also")
    found = GitRepo(repo, settled_ns=0)
    before = found.head()
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "second")
    assert before != found.head() == git(repo, "rev-parse", "HEAD").strip()


def test_what_was_written_just_now_is_read_again_whatever_its_times(repo: Path) -> None:
    older = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "second")
    found, branch = GitRepo(repo), repo / ".git" / git(repo, "symbolic-ref", "HEAD").strip()
    assert found.head() == git(repo, "rev-parse", "HEAD").strip() != older
    times = branch.stat()
    branch.write_text(f"{older}\n")
    os.utime(branch, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert found.head() == older


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
