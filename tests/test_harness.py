"""What tests are given is what people have."""

from pathlib import Path

from tests.harness import git, make_repo
from tests.interaction.requirements import requirement

FILES = {
    "README.md": "# example\n",
    "src/a.py": "def a() -> None: ...\n",
    ".gitignore": "*.log\n",
    "b.log": "left out\n",
}


@requirement("DOCS-06")
def test_a_repository_is_as_git_makes_it(tmp_path: Path) -> None:
    ours, theirs = make_repo(tmp_path / "ours", FILES), tmp_path / "theirs"
    for name, text in FILES.items():
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / name).write_text(text)
    git(theirs, "init", "--quiet", "--initial-branch=main")
    git(theirs, "add", "--all")
    git(theirs, "commit", "--quiet", "--message", "first")
    for arguments in (
        ("status", "--porcelain=v2", "--branch", "--ignored"),
        ("log", "--format=%T %an <%ae> %cn <%ce> %B"),
        ("reflog", "--format=%gs"),
        ("ls-files", "--stage"),
        ("symbolic-ref", "HEAD"),
        ("config", "--local", "--list"),
        ("fsck", "--strict"),
    ):
        shown = [
            sorted(line for line in git(repo, *arguments).splitlines() if not line.startswith("# branch.oid"))
            for repo in (ours, theirs)
        ]
        assert shown[0] == shown[1], arguments
