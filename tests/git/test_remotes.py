"""Fetch, push and pull against a bare repository of this machine."""

from pathlib import Path

import pytest

from codeplane.git.write.remotes import FetchRequest, PullRequest, PushRequest, RemoteWrites
from codeplane.kernel.errors import CannotUndo, GitRefused, InvalidArgument, RefNotFound, RemoteFailed
from codeplane.kernel.operation import Risk
from tests.git.desk import Desk, call, copied, repository_state, run, simple
from tests.git.random_repository import RandomRepository
from tests.interaction.requirements import requirement


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = simple(tmp_path)
    made.made.git("clone", "--quiet", "--bare", str(made.made.root), str(tmp_path / "far.git"))
    made.made.git("remote", "add", "origin", str(tmp_path / "far.git"))
    made.made.git("fetch", "--quiet", "origin")
    made.made.git("branch", "--quiet", "--set-upstream-to=origin/main")
    return made


@pytest.fixture
def far(tmp_path: Path, desk: Desk) -> RandomRepository:
    return RandomRepository(root=(tmp_path / "far.git").resolve())


def moved_on(desk: Desk, tmp_path: Path, name: str = "c.txt") -> str:
    """Somebody else pushes a commit."""
    desk.made.git("clone", "--quiet", str(tmp_path / "far.git"), str(tmp_path / "else"))
    other = RandomRepository(root=tmp_path / "else", at=20)
    other.write(name, "of somebody else\n")
    commit = other.commit("of somebody else")
    other.git("push", "--quiet", "origin", "HEAD")
    return commit


@requirement("GIT-13")
def test_fetch_moves_what_is_known_of_the_remote_alone(desk: Desk, tmp_path: Path) -> None:
    commit = moved_on(desk, tmp_path)
    plain = copied(desk.made, tmp_path / "plain")
    done = run(RemoteWrites(desk.writer).fetch(call(), FetchRequest()))
    plain.git("fetch", "--quiet", "origin")
    assert repository_state(desk.made) == repository_state(plain)
    assert [(one.ref, one.after) for one in done.delta.refs] == [("refs/remotes/origin/main", commit)]
    assert done.delta.mutation_id is None, "a fetch cannot be undone"


@requirement("GIT-13")
@pytest.mark.parametrize("mode", ["ff-only", "merge", "rebase"])
@pytest.mark.parametrize("diverged", [False, True])
def test_pull_leaves_what_git_leaves_and_its_local_part_can_be_undone(
    desk: Desk, tmp_path: Path, mode: str, diverged: bool
) -> None:
    commit = moved_on(desk, tmp_path)
    if diverged:
        desk.made.write("own", "x\n")
        desk.made.commit("own")
    plain = copied(desk.made, tmp_path / "plain")
    before = repository_state(desk.made)
    option = {"ff-only": "--ff-only", "merge": "--no-rebase", "rebase": "--rebase"}[mode]
    plain.git("pull", "--quiet", "--no-edit", option, check=False)
    request = PullRequest.model_validate({"mode": mode})
    if diverged and mode == "ff-only":
        with pytest.raises(GitRefused):
            run(RemoteWrites(desk.writer).pull(call(), request))
        assert repository_state(desk.made) == repository_state(plain)
        return
    done = run(RemoteWrites(desk.writer).pull(call(), request))
    assert repository_state(desk.made) == repository_state(plain)
    assert done.success and done.fastforward is not diverged
    desk.undo(done.delta.mutation_id)
    after = repository_state(desk.made)
    assert (after.head, after.index, after.files) == (before.head, before.index, before.files)
    assert desk.made.git("rev-parse", "refs/remotes/origin/main").decode().strip() == commit


@requirement("GIT-13")
def test_pull_of_conflicts_tells_them(desk: Desk, tmp_path: Path) -> None:
    moved_on(desk, tmp_path, "a.txt")
    desk.made.write("a.txt", "own\n")
    desk.made.commit("own")
    before = repository_state(desk.made)
    done = run(RemoteWrites(desk.writer).pull(call(), PullRequest(mode="merge")))
    assert not done.success and [one.path for one in done.conflicts] == ["a.txt"]
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made).files == before.files
    with pytest.raises(CannotUndo):
        desk.undo(done.delta.mutation_id)


@requirement("GIT-13")
def test_push_of_a_branch_a_tag_and_away_again(desk: Desk, far: RandomRepository) -> None:
    remotes = RemoteWrites(desk.writer)
    commit = desk.made.commit("more")
    done = run(remotes.push(call(), PushRequest()))
    assert far.git("rev-parse", "main").decode().strip() == commit
    assert done.pushed[0].ref == "refs/heads/main" and done.delta.mutation_id is None
    desk.made.git("branch", "topic/n\u00e4w")
    run(remotes.push(call(), PushRequest(ref="topic/n\u00e4w", set_upstream=True)))
    assert desk.made.git("config", "branch.topic/n\u00e4w.remote") == b"origin\n"
    desk.made.git("tag", "v1")
    run(remotes.push(call(), PushRequest(ref="v1")))
    assert far.git("tag") == b"v1\n"
    run(remotes.push(call(), PushRequest(ref="v1", delete=True)))
    assert far.git("tag") == b""


@requirement("GIT-13")
def test_force_replaces_only_what_was_seen(desk: Desk, far: RandomRepository, tmp_path: Path) -> None:
    remotes = RemoteWrites(desk.writer)
    desk.made.git("commit", "--quiet", "--amend", "-m", "another")
    with pytest.raises(GitRefused, match=r"refs/heads/main: \[rejected\]"):
        run(remotes.push(call(), PushRequest()))
    theirs = moved_on(desk, tmp_path)
    with pytest.raises(GitRefused, match="stale info"):
        run(remotes.push(call(), PushRequest(force=True)))
    assert far.git("rev-parse", "main").decode().strip() == theirs
    run(remotes.fetch(call(), FetchRequest()))
    assessed = remotes.assess_push(PushRequest(force=True))
    assert assessed.risk is Risk.DESTRUCTIVE and "of somebody else" in " ".join(assessed.effects)
    assert "of somebody else" in run(remotes.preview_push(PushRequest(force=True))).body
    run(remotes.push(call(), PushRequest(force=True)))
    assert far.git("log", "-1", "--format=%s", "main") == b"another\n"


def test_what_goes_out_is_judged_by_where_it_goes(desk: Desk, tmp_path: Path) -> None:
    remotes = RemoteWrites(desk.writer)
    for assessed in (remotes.assess_fetch(FetchRequest()), remotes.assess_pull(PullRequest())):
        assert assessed.risk is Risk.EXFILTRATION
        assert assessed.remotes == (str(tmp_path / "far.git"),)
    assert remotes.assess_push(PushRequest()).risk is Risk.EXFILTRATION
    assert remotes.assess_push(PushRequest(ref="main", delete=True)).risk is Risk.DESTRUCTIVE


def test_only_remotes_that_are_configured_are_talked_to(desk: Desk) -> None:
    remotes = RemoteWrites(desk.writer)
    for name in ("orign", "https://user:secret@example.com/x.git", "/etc", "ext::sh -c x"):
        with pytest.raises((RefNotFound, InvalidArgument)) as caught:
            run(remotes.fetch(call(), FetchRequest(remote=name)))
        assert "secret" not in f"{caught.value.message}{caught.value.hint}"
    with pytest.raises(InvalidArgument):
        run(remotes.fetch(call(), FetchRequest(remote="--upload-pack=x")))
    for ref in ("main:other", "+main", "-x", "*", ":main"):
        with pytest.raises(InvalidArgument):
            run(remotes.push(call(), PushRequest(ref=ref)))
    with pytest.raises(RefNotFound):
        run(remotes.push(call(), PushRequest(ref="absent")))
    with pytest.raises(InvalidArgument):
        run(remotes.push(call(), PushRequest(delete=True)))


def test_a_remote_that_fails_is_told_without_its_secrets(desk: Desk, tmp_path: Path) -> None:
    remotes = RemoteWrites(desk.writer)
    desk.made.git("remote", "set-url", "origin", "https://user:hunter2@127.0.0.1:1/x.git")
    assessed = remotes.assess_fetch(FetchRequest())
    with pytest.raises(RemoteFailed) as caught:
        run(remotes.fetch(call(), FetchRequest()))
    assert "hunter2" not in f"{assessed}{caught.value.to_wire()}"
    desk.made.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
    with pytest.raises(RemoteFailed):
        run(remotes.push(call(), PushRequest()))


def test_a_branch_without_upstream_says_so(desk: Desk) -> None:
    desk.made.git("checkout", "--quiet", "-b", "lonely")
    with pytest.raises(GitRefused, match="no upstream"):
        run(RemoteWrites(desk.writer).pull(call(), PullRequest()))
    done = run(RemoteWrites(desk.writer).pull(call(), PullRequest(ref="main")))
    assert done.success
