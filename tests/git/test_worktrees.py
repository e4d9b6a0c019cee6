"""Further work trees made, found, locked and removed."""

import shutil
from pathlib import Path

import pytest

from codeplane.git.write.staging import StageRequest, Staging
from codeplane.git.write.worktrees import (
    WorktreeAddRequest,
    WorktreeLockRequest,
    WorktreeOpenRequest,
    WorktreePruneRequest,
    WorktreeRemoveRequest,
    WorktreeUnlockRequest,
    WorktreeWrites,
)
from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import GitRefused, InvalidArgument, NotFound, PathDenied, RefNotFound
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk
from codeplane.wiring.app import Plane
from tests.git.desk import Desk, call, run, simple
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


@requirement("GIT-14")
def test_made_found_locked_and_removed(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="trees/one", branch="one", ref="HEAD~1")))
    found = run(writes.open(call(), WorktreeOpenRequest(name="one")))
    assert (found.path, found.branch) == (str(desk.made.root / "trees" / "one"), "one")
    assert (Path(found.path) / "a.txt").read_text().startswith("line 2")
    run(writes.lock(call(), WorktreeLockRequest(name="trees/one", reason="in use")))
    with pytest.raises(GitRefused, match="in use"):
        run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    run(writes.unlock(call(), WorktreeUnlockRequest(name="one")))
    run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    assert not Path(found.path).exists()


@requirement("GIT-14")
def test_changes_in_a_work_tree_are_not_lost_unasked(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    (desk.made.root / "one" / "new").write_text("work\n")
    assert writes.assess_remove(WorktreeRemoveRequest(name="one")).risk is Risk.WRITE
    assert writes.assess_remove(WorktreeRemoveRequest(name="one", force=True)).risk is Risk.DESTRUCTIVE
    with pytest.raises(GitRefused):
        run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    run(writes.remove(call(), WorktreeRemoveRequest(name="one", force=True)))
    kept = desk.made.git("for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().strip()
    assert desk.made.git("show", f"{kept}:new") == b"work\n"


@requirement("GIT-14")
def test_what_is_gone_is_forgotten(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    shutil.rmtree(desk.made.root / "one")
    assert "one" in run(writes.prune(call(), WorktreePruneRequest())).worktree
    with pytest.raises(NotFound):
        run(writes.open(call(), WorktreeOpenRequest(name="one")))


@requirement("GIT-14")
def test_places_and_names_that_are_none_are_refused(desk: Desk, tmp_path: Path) -> None:
    writes = WorktreeWrites(desk.writer)
    (desk.made.root / "link").symlink_to(tmp_path)
    for path in (".git/x", ".codeplane/x", ".", "link/out"):
        with pytest.raises(PathDenied):
            run(writes.add(call(), WorktreeAddRequest(path=path)))
    with pytest.raises(RefNotFound):
        run(writes.add(call(), WorktreeAddRequest(path="x", ref="absent")))
    with pytest.raises(InvalidArgument):
        run(writes.add(call(), WorktreeAddRequest(path="x", ref="-x")))
    with pytest.raises(InvalidArgument, match="main work tree"):
        run(writes.remove(call(), WorktreeRemoveRequest(name=str(desk.made.root), force=True)))
    desk.made.git("worktree", "add", "--quiet", "-b", "far", str(tmp_path / "far"))
    assert writes.assess_remove(WorktreeRemoveRequest(name="far")).risk is Risk.DESTRUCTIVE


@requirement("GIT-14")
def test_a_work_tree_that_git_refuses_leaves_no_branch(desk: Desk) -> None:
    desk.made.write("taken/file.txt", "here first")
    with pytest.raises(GitRefused):
        run(WorktreeWrites(desk.writer).add(call(), WorktreeAddRequest(path="taken", branch="side")))
    assert b"side" not in desk.made.git("branch", "--list")


def excluded(desk: Desk) -> bytes:
    file = desk.made.root / ".git" / "info" / "exclude"
    return file.read_bytes() if file.exists() else b""


@requirement("GIT-14")
@pytest.mark.parametrize("name", ["trees/one", "odd [*]? \\ name", "#one", "!one", " spaced "])
def test_a_work_tree_inside_is_not_committed(desk: Desk, name: str) -> None:
    (desk.made.root / ".git" / "info").mkdir(exist_ok=True)
    (desk.made.root / ".git" / "info" / "exclude").write_bytes(b"# mine\n*.log")
    writes = WorktreeWrites(desk.writer)
    done = run(writes.add(call(), WorktreeAddRequest(path=name, branch="one")))
    assert done.delta.clean and ".git/info/exclude" in done.text()
    desk.made.write("new", "x\n")
    staged = run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert [one.path for one in staged.delta.files] == ["new"]
    assert b"160000" not in desk.made.git("ls-files", "--stage")
    run(writes.remove(call(), WorktreeRemoveRequest(name=name)))
    assert excluded(desk) == b"# mine\n*.log\n"


def test_what_git_ignores_anyway_is_not_excluded_again(desk: Desk) -> None:
    desk.made.write(".gitignore", "trees/\n")
    writes = WorktreeWrites(desk.writer)
    done = run(writes.add(call(), WorktreeAddRequest(path="trees/one", branch="one")))
    assert done.excluded is None and excluded(desk) == b""


@requirement("GIT-14")
def test_a_work_tree_that_is_made_again_is_excluded_again(desk: Desk) -> None:
    done = run(WorktreeWrites(desk.writer).add(call(), WorktreeAddRequest(path="trees/one", branch="one")))
    desk.undo(done.delta.mutation_id)
    assert b"/trees/one/" not in excluded(desk)
    desk.redo(done.delta.mutation_id)
    assert b"/trees/one/" in excluded(desk) and desk.made.git("status", "--porcelain") == b""


@requirement("GIT-14")
def test_a_work_tree_that_is_refused_is_not_excluded(desk: Desk) -> None:
    desk.made.write("taken/file", "x\n")
    with pytest.raises(GitRefused):
        run(WorktreeWrites(desk.writer).add(call(), WorktreeAddRequest(path="taken", branch="side")))
    assert excluded(desk) == b"" and b"?? taken/" in desk.made.git("status", "--porcelain")


def test_a_work_tree_that_is_gone_is_excluded_no_longer(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    for name in ("one", "two"):
        run(writes.add(call(), WorktreeAddRequest(path=name, branch=name)))
    shutil.rmtree(desk.made.root / "one")
    run(writes.prune(call(), WorktreePruneRequest()))
    assert b"/one/" not in excluded(desk) and b"/two/" in excluded(desk)


BESIDE: JsonObject = {"path": "../next", "branch": "next"}


async def _ended(opened: Plane, operation: str, arguments: JsonObject, caller: Caller) -> str:
    outcome = await opened.conveyor.call(operation, arguments, caller)
    return outcome.error.name if outcome.error is not None else outcome.result.text() if outcome.result else ""


@requirement("GIT-14")
async def test_the_owner_has_one_beside_the_repository_and_agents_where_they_are_let(tmp_path: Path) -> None:
    repo, roots = make_repo(tmp_path / "shop", {"a.txt": "a\n"}), tmp_path / "trees"
    roots.mkdir()
    (repo / "out").symlink_to(tmp_path)
    async with plane(repo, 'git.worktree_roots=["../trees"]') as opened:
        for path in (
            "../next",
            str(tmp_path / "next"),
            "out/next",
            "../trees/.hidden/x",
            "../trees",
            "../trees/../x",
        ):
            assert await _ended(opened, "git.worktree_add", {"path": path}, AGENT) == "PATH_DENIED", path
        for path in ("../.git/x", "../.codeplane/x", "..", "/", "../shop/.git/x", "out/next"):
            assert await _ended(opened, "git.worktree_add", {"path": path}, OWNER) == "PATH_DENIED", path
        assert await _ended(opened, "git.worktree_add", {"path": "../none/x"}, OWNER) == "NOT_FOUND"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["shop", "trees"]
        made = await _ended(opened, "git.worktree_add", BESIDE, OWNER)
        assert str(tmp_path / "next") in made and "undo: mut_" in made
        assert (tmp_path / "next" / "a.txt").read_text() == "a\n"
        assert "next" not in (repo / ".git" / "info" / "exclude").read_text()
        listed = await _ended(opened, "git.worktrees", {}, AGENT)
        assert f"{tmp_path / 'next'} next" in listed
        assert "next at " in await _ended(opened, "git.worktree_open", {"name": "../next"}, AGENT)
        # What an agent may not make it may not remove unasked either; the owner may.
        assert await _ended(opened, "git.worktree_remove", {"name": "../next"}, AGENT) == "APPROVAL_PENDING"
        assert str(tmp_path / "next") in await _ended(opened, "git.worktree_remove", {"name": "next"}, OWNER)
        assert not (tmp_path / "next").exists()
        # Where the owner's setting says so, agents have theirs.
        let = await _ended(opened, "git.worktree_add", {"path": "../trees/t", "branch": "t"}, AGENT)
        assert str(roots / "t") in let and (roots / "t" / "a.txt").exists()


@requirement("GIT-14")
async def test_refusals_say_why_and_what_to_send_instead(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "a\n"})
    (tmp_path / "trees").mkdir()
    (repo / "out").symlink_to(tmp_path)
    git(repo, "branch", "topic")
    async with plane(repo, 'git.worktree_roots=["../trees"]') as opened:

        async def refused(**arguments: str) -> tuple[str, str]:
            error = (await opened.conveyor.call("git.worktree_add", {**arguments}, AGENT)).error
            assert error is not None
            return error.message, error.hint

        output, hint = await refused(path="../trees/.topic")
        assert "'.topic' in '../trees/.topic' is hidden" in output and "does not begin with a dot" in hint
        output, hint = await refused(path="../next")
        assert "outside the repository" in output and "or below ../trees" in hint
        assert "is the repository itself" in (await refused(path="."))[0]
        assert "through a link" in (await refused(path="out/next"))[0]
        output, hint = await refused(path="trees/topic", branch="topic")
        assert output == "there is a branch 'topic' already"
        assert hint.startswith('to check it out there, send ref="topic" and no branch')


async def test_the_answer_says_nothing_about_another_work_tree(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "a\n"})
    (repo / "a.txt").write_text("changed\n")
    async with plane(repo) as opened:
        made = await _ended(opened, "git.worktree_add", {"path": "tree", "branch": "next"}, OWNER)
        gone = await _ended(opened, "git.worktree_remove", {"name": "tree"}, OWNER)
        assert made.splitlines()[0] == gone.splitlines()[0] == str(repo.resolve() / "tree")
        assert "next new at " in made and "undo: mut_" in made
        assert "not clean" not in made + gone and "main at " not in made + gone


@requirement("GIT-14")
async def test_a_work_tree_is_named_by_path_or_by_name(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "a\n"})
    git(repo, "branch", "topic")
    async with plane(repo) as opened:
        folder = str(repo.resolve() / "trees" / "topic")
        assert folder in await _ended(opened, "git.worktree_add", {"name": "trees/topic", "ref": "topic"}, OWNER)
        assert "topic at " in await _ended(opened, "git.worktree_open", {"path": "trees/topic"}, AGENT)
        both: JsonObject = {"path": "trees/topic", "name": "topic"}
        assert await _ended(opened, "git.worktree_open", both, AGENT) == "INVALID_ARGUMENT"
        assert folder in await _ended(opened, "git.worktree_remove", {"path": folder}, OWNER)


@requirement("GIT-14")
async def test_what_codeplane_owns_is_not_checked_out_beside_the_repository(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "a\n", "lib/.codeplane/config.yaml": "trust: {}\n"})
    async with plane(repo) as opened:
        assert await _ended(opened, "git.worktree_add", BESIDE, OWNER) == "PATH_DENIED"
        assert not (tmp_path / "next").exists()
        git(repo, "rm", "--quiet", "-r", "--cached", "lib")
        git(repo, "commit", "--quiet", "--message", "without")
        assert "undo: mut_" in await _ended(opened, "git.worktree_add", BESIDE, OWNER)


@requirement("GIT-14")
@pytest.mark.parametrize(
    "arguments", [BESIDE, {"path": "inner", "branch": "next"}, {"path": "../next", "ref": "HEAD~1"}]
)
async def test_adding_is_undone_and_done_again(tmp_path: Path, arguments: dict[str, str]) -> None:
    repo = make_repo(tmp_path / "shop", {"a.txt": "a\n"})
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "second")
    folder = repo / arguments["path"]
    async with plane(repo) as opened:
        before = (git(repo, "for-each-ref", "refs/heads"), (repo / ".git" / "info" / "exclude").read_text())
        assert "undo: mut_" in await _ended(opened, "git.worktree_add", {**arguments}, OWNER)
        (folder / "work.txt").write_text("mine\n")
        # Nobody's work is taken away.
        assert await _ended(opened, "undo", {}, OWNER) == "CANNOT_UNDO"
        assert (folder / "work.txt").exists()
        (folder / "work.txt").unlink()
        assert f"work tree {folder.resolve()} removed" in await _ended(opened, "undo", {}, OWNER)
        assert not folder.exists() and git(repo, "worktree", "list").count("\n") == 1
        assert (git(repo, "for-each-ref", "refs/heads"), (repo / ".git" / "info" / "exclude").read_text()) == before
        assert f"work tree {folder.resolve()} added" in await _ended(opened, "redo", {}, OWNER)
        assert (folder / "a.txt").read_text() == "a\n"
