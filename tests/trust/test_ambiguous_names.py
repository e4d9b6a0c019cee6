"""A name that git's commands read in different ways leads none of them to a tree that was not checked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.git.safety.command import Git
from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane, run

OURS, PLAIN = ".codeplane/policy/mine.rego", "docs/plain.md"


@dataclass(frozen=True)
class Way:
    """An operation that writes what a name stands for."""

    operation: str
    arguments: Callable[[str], JsonObject]


WAYS = {
    "checkout": Way("git.checkout", lambda name: {"ref": name}),
    "new branch": Way("git.checkout", lambda name: {"ref": "new", "create": True, "start": name}),
    "files": Way("git.checkout", lambda name: {"ref": name, "paths": ["."]}),
    "work tree": Way("git.worktree_add", lambda name: {"path": "tree", "ref": name}),
    "work tree with a branch": Way("git.worktree_add", lambda name: {"path": "tree", "ref": name, "branch": "new"}),
    "merge": Way("git.merge", lambda name: {"ref": name}),
    "cherry-pick": Way("git.cherrypick", lambda name: {"commit": name}),
    "revert": Way("git.revert", lambda name: {"commit": name}),
    "reset": Way("git.reset", lambda name: {"ref": name, "mode": "hard"}),
    "rebase": Way("git.rebase_execute", lambda name: {"plan": {"upstream": name, "steps": []}}),
    "rebase onto": Way("git.rebase_execute", lambda name: {"plan": {"upstream": "main", "onto": name, "steps": []}}),
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", {"README.md": "# shop\n", ".gitignore": ".codeplane/\n"})


def _commit(repo: Path, path: str, *, parents: tuple[str, ...], without: str = "") -> str:
    """A commit that has the path beside what its first parent has, made without touching the work tree."""
    held = repo / ".git" / "planted"
    held.write_text("mine\n")
    blob = git(repo, "hash-object", "-w", str(held)).strip()
    git(repo, "read-tree", parents[0])
    if path:
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    if without:
        git(repo, "update-index", "--force-remove", without)
    tree = git(repo, "write-tree").strip()
    git(repo, "read-tree", "HEAD")
    above = [word for parent in parents for word in ("-p", parent)]
    return git(repo, "commit-tree", tree, *above, "-m", f"{path} {without}").strip()


def _branch(repo: Path, path: str, name: str = "feature") -> str:
    oid = _commit(repo, path, parents=("HEAD",))
    git(repo, "update-ref", f"refs/heads/{name}", oid)
    return oid


def _planted(repo: Path) -> list[str]:
    found = (path for path in repo.rglob("*") if path.is_file() and ".git" not in path.relative_to(repo).parts)
    return sorted(str(path.relative_to(repo)) for path in found if path.read_bytes() == b"mine\n")


def _called(repo: Path, *calls: tuple[str, JsonObject], by: Caller = AGENT) -> list[str]:
    """How each call ended; `ok` where it did what it says."""

    async def attempted() -> list[str]:
        ends = []
        async with plane(repo) as opened:
            for operation, arguments in calls:
                outcome = await opened.conveyor.call(operation, arguments, by)
                ends.append(outcome.error.name if outcome.error is not None else "ok")
        return ends

    return run(attempted())


@requirement("TRUST-03")
def test_a_tag_named_like_a_branch_hides_nothing(repo: Path) -> None:
    _branch(repo, OURS)
    tag: JsonObject = {"name": "feature", "ref": "HEAD"}
    ends = _called(repo, ("git.create_tag", tag), *_every("feature"), *_every("refs/heads/feature"))
    assert ends == ["ok", *["INVALID_ARGUMENT"] * len(WAYS), *["PATH_DENIED"] * len(WAYS)]
    assert _planted(repo) == [] and git(repo, "branch", "--list", "new") == ""
    assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/main"


def _every(name: str, *ways: str) -> list[tuple[str, JsonObject]]:
    return [(WAYS[way].operation, WAYS[way].arguments(name)) for way in ways or WAYS]


@requirement("TRUST-03")
@pytest.mark.parametrize("way", WAYS)
def test_the_twin_with_an_ordinary_file_passes(repo: Path, way: str) -> None:
    _branch(repo, PLAIN)
    git(repo, "tag", "feature", "main")
    (ended,) = _called(repo, (WAYS[way].operation, WAYS[way].arguments("refs/heads/feature")), by=OWNER)
    # There is nothing to take back.
    assert ended == ("GIT_REFUSED" if way == "revert" else "ok")
    assert (_planted(repo) != []) is (way != "revert")


def test_a_tag_and_a_branch_at_one_commit_are_no_doubt(repo: Path) -> None:
    oid = _branch(repo, PLAIN)
    git(repo, "tag", "feature", oid)
    assert _called(repo, ("git.checkout", {"ref": "feature"})) == ["ok"]
    assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/feature"


@requirement("TRUST-03")
@pytest.mark.parametrize("digits", [7, 40])
def test_a_branch_named_like_a_commit_hides_nothing(repo: Path, digits: int) -> None:
    """`checkout` takes the branch, `rev-parse` the commit of that id."""
    name = git(repo, "rev-parse", "HEAD").strip()[:digits]
    _branch(repo, OURS, name)
    git(repo, "tag", "start")
    ways = ("checkout", "files", "work tree", "new branch")
    ends = _called(repo, *_every(name, *ways), *_every("start", *ways))
    # Of the other name git is given the id, which is also the branch's name.
    assert ends == [*["INVALID_ARGUMENT"] * 4, *["ok"] * 4]
    assert _planted(repo) == []


@requirement("TRUST-03")
def test_other_spellings_are_refused_alike(repo: Path) -> None:
    _branch(repo, PLAIN)
    git(repo, "checkout", "--quiet", "feature")
    git(repo, "checkout", "--quiet", "main")
    git(repo, "update-ref", "--create-reflog", "refs/heads/feature", _commit(repo, OURS, parents=("HEAD",)))
    names = ("@{-1}", "heads/feature", "feature^0", "feature~0", "feature@{0}")
    calls = [call for name in ("-", *names) for call in _every(name, "checkout", "new branch", "work tree")]
    assert _called(repo, *calls) == [*["INVALID_ARGUMENT"] * 3, *["PATH_DENIED"] * 3 * len(names)]
    assert _planted(repo) == []


def test_the_branch_before_is_checked_out_as_a_branch(repo: Path) -> None:
    _branch(repo, PLAIN)
    git(repo, "checkout", "--quiet", "feature")
    git(repo, "checkout", "--quiet", "main")
    assert _called(repo, ("git.checkout", {"ref": "@{-1}"})) == ["ok"]
    assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/feature"


@requirement("TRUST-03")
@pytest.mark.parametrize(("path", "ends"), [(OURS, "PATH_DENIED"), (PLAIN, "ok")])
def test_a_branch_that_one_remote_has(repo: Path, path: str, ends: str) -> None:
    git(repo, "remote", "add", "origin", str(repo.parent / "far"))
    oid = _commit(repo, path, parents=("HEAD",))
    git(repo, "update-ref", "refs/remotes/origin/only", oid)
    # Git would take this branch for the start of the new one.
    git(repo, "update-ref", "refs/heads/refs/remotes/origin/only", _commit(repo, OURS, parents=("HEAD",)))
    assert _called(repo, ("git.checkout", {"ref": "only"})) == [ends]
    assert _planted(repo) == ([PLAIN] if ends == "ok" else [])
    if ends == "ok":
        assert git(repo, "rev-parse", "only").strip() == oid


def test_a_new_branch_tracks_the_remote_branch_it_begins_at(repo: Path) -> None:
    git(repo, "remote", "add", "origin", str(repo.parent / "far"))
    git(repo, "update-ref", "refs/remotes/origin/work", "HEAD")
    made: JsonObject = {"ref": "mine", "create": True, "start": "origin/work"}
    tree: JsonObject = {"path": "tree", "ref": "origin/work", "branch": "theirs"}
    assert _called(repo, ("git.checkout", made), ("git.worktree_add", tree)) == ["ok", "ok"]
    for branch in ("mine", "theirs"):
        assert git(repo, "rev-parse", "--abbrev-ref", f"{branch}@{{upstream}}").strip() == "origin/work"


@requirement("TRUST-03")
def test_a_name_no_branch_can_have_is_refused_before_files_are_written(repo: Path) -> None:
    _branch(repo, PLAIN)
    git(repo, "branch", "a/b")
    taken = ("a", "a/b", "a/b/c")
    given: list[JsonObject] = [{"ref": name, "create": True, "start": "feature"} for name in taken]
    ends = _called(repo, *(("git.checkout", arguments) for arguments in given))
    assert ends == ["GIT_REFUSED"] * 3 and _planted(repo) == []


@requirement("TRUST-03")
def test_what_git_ignores_is_not_asked_about_where_nobody_may_write(repo: Path) -> None:
    """The token lies in the way and is ignored: that is refused, and no question of what would be lost."""
    _branch(repo, ".codeplane/owner.token")
    ways = ("checkout", "new branch", "files", "merge", "cherry-pick", "reset", "rebase")
    ends = _called(repo, *_every("feature", *ways))
    assert ends == ["PATH_DENIED"] * len(ways)
    assert _planted(repo) == []


@requirement("TRUST-03")
def test_a_merge_looks_at_every_common_ancestor(repo: Path) -> None:
    """Where one of two has the file already, it still comes in against the other."""
    top = _commit(repo, OURS, parents=("HEAD",))
    kept, dropped = _commit(repo, "", parents=(top,)), _commit(repo, "", parents=(top,), without=OURS)
    git(repo, "update-ref", "refs/heads/feature", _commit(repo, "", parents=(kept, dropped)))
    git(repo, "update-ref", "refs/heads/main", _commit(repo, "other.txt", parents=(dropped, kept)))
    git(repo, "reset", "--quiet", "--hard")
    (repo / "other.txt").write_text("x\n")
    git(repo, "commit", "--quiet", "--all", "--message", "x")
    assert _called(repo, ("git.merge", {"ref": "feature"})) == ["PATH_DENIED"]
    assert _planted(repo) == []


@requirement("TRUST-03")
def test_a_branch_that_moves_after_the_check_is_not_followed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of another work tree may write refs at any time: git has to write the commit that was looked at."""
    plain = _branch(repo, PLAIN)
    evil = _commit(repo, OURS, parents=("HEAD",))
    plainly = Git.run

    async def moved(self: Git, *arguments: str, **options: object) -> object:
        if arguments[0] in ("checkout", "merge"):
            git(repo, "update-ref", "refs/heads/feature", evil)
        return await plainly(self, *arguments, **options)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(Git, "run", moved)
    assert _called(repo, ("git.merge", {"ref": "feature", "ff": "never"}))[0] == "ok"
    git(repo, "update-ref", "refs/heads/feature", plain)
    assert _called(repo, ("git.checkout", {"ref": "feature"})) == ["ok"]
    assert _planted(repo) == [PLAIN]


def test_a_branch_of_another_work_tree_stays_there(repo: Path) -> None:
    _branch(repo, PLAIN)
    git(repo, "worktree", "add", "--quiet", "tree", "feature")
    assert _called(repo, ("git.checkout", {"ref": "feature"})) == ["GIT_REFUSED"]
    assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
