"""What git shows of a commit is that commit, whatever a hook left in git's folder to have another shown."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane

RULE = ".codeplane/policy/mine.rego"


def _commit(repo: Path, message: str, files: dict[str, str], parent: str = "HEAD") -> str:
    """Make a commit on top of another one, without the work tree."""
    environment = {**os.environ, "GIT_INDEX_FILE": str(repo / ".git" / "other-index")}

    def run(*arguments: str, given: str = "") -> str:
        words = ["git", *arguments]
        done = subprocess.run(words, cwd=repo, env=environment, input=given, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    run("read-tree", parent)
    for path, text in files.items():
        blob = run("hash-object", "-w", "--stdin", given=text)
        run("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    return run("commit-tree", run("write-tree"), "-p", parent, "-m", message)


def _replace(repo: Path, base: str, stolen: str, shown: str) -> None:
    git(repo, "update-ref", "refs/heads/main", stolen)
    git(repo, "replace", stolen, shown)


def _graft(repo: Path, base: str, stolen: str, shown: str) -> None:
    last = _commit(repo, "typo", {"b.txt": "b\n"}, stolen)
    git(repo, "update-ref", "refs/heads/main", last)
    (repo / ".git" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "info" / "grafts").write_text(f"{last} {base}\n")


@requirement("TRUST-36")
@pytest.mark.parametrize("hide", [_replace, _graft])
async def test_a_push_shows_the_commits_that_it_sends(
    tmp_path: Path, hide: Callable[[Path, str, str, str], None]
) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n", ".gitignore": ".codeplane/\n"})
    git(tmp_path, "init", "--quiet", "--bare", "far.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(repo, "push", "--quiet", "--set-upstream", "origin", "main")
    base = git(repo, "rev-parse", "HEAD").strip()
    hide(repo, base, _commit(repo, "all of the data", {"data.txt": "x\n"}), _commit(repo, "typo", {"b.txt": "b\n"}))
    async with plane(repo) as opened:
        outcome = await opened.conveyor.call("git.push", {}, AGENT)
        assert outcome.error is not None and outcome.error.name == "APPROVAL_PENDING"
        action = outcome.error.details["action_id"]
        shown = await opened.conveyor.call("approval.show", {"action_id": action}, OWNER)
    assert "all of the data" in shown.to_json(with_text=True)


def _forge_graph(repo: Path, commit: str, shown: str) -> None:
    """Have git's table of commits name the files of another commit, as a hook could write it."""
    git(repo, "commit-graph", "write", "--reachable")
    tree, other = (bytes.fromhex(git(repo, "show", "-s", "--format=%T", name).strip()) for name in (commit, shown))
    graph = repo / ".git" / "objects" / "info" / "commit-graph"
    table = graph.read_bytes()
    assert table.count(tree) == 1
    graph.chmod(0o644)
    graph.write_bytes(table.replace(tree, other))


WRITES: dict[str, tuple[str, JsonObject]] = {
    "cherry-pick": ("git.cherrypick", {"commit": "other"}),
    "merge": ("git.merge", {"ref": "other", "ff": "never"}),
    "checkout": ("git.checkout", {"ref": "other"}),
    "work tree": ("git.worktree_add", {"path": "tree", "ref": "other"}),
}


@requirement("TRUST-03")
@pytest.mark.parametrize("name", WRITES)
async def test_a_forged_table_of_commits_brings_no_rules(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n", ".gitignore": ".codeplane/\n"})
    plain = _commit(repo, "plain", {"b.txt": "b\n"})
    evil = _commit(repo, "with a rule", {"b.txt": "b\n", RULE: "package codeplane\n"})
    git(repo, "reset", "--quiet", "--hard", _commit(repo, "else", {"c.txt": "c\n"}))
    git(repo, "branch", "other", plain)
    _forge_graph(repo, plain, evil)
    operation, arguments = WRITES[name]
    async with plane(repo) as opened:
        outcome = await opened.conveyor.call(operation, arguments, AGENT)
    assert not list(repo.rglob("*.rego")), outcome
    assert outcome.error is None and (list(repo.glob("b.txt")) or list(repo.glob("tree/b.txt")))
