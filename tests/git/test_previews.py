"""What a person is shown of git calls: exactly what would happen, the same while nothing changes, and else not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.git.write.branches import Branches, DeleteBranchRequest
from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import AmendRequest, Commits
from codeplane.git.write.remotes import FetchRequest, PullRequest, PushRequest, RemoteWrites
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, Staging
from codeplane.git.write.stash import StashDropRequest, Stashes
from codeplane.git.write.submodules import SubmoduleAddRequest, SubmoduleUpdateRequest, SubmoduleWrites
from codeplane.git.write.worktrees import WorktreeAddRequest, WorktreeRemoveRequest, WorktreeWrites
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.operation import Preview, Risk
from tests.git.desk import Desk, call, run, simple
from tests.git.random_repository import RandomRepository
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import action_of, asking, decide, key_of, shown
from tests.trust.approvals.agent_calls import call as call_agent

pytestmark = requirement("TRUST-36")

QUIET = ("embeddings.model=none", "index.watch=false")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = simple(tmp_path)
    made.made.git("clone", "--quiet", "--bare", str(made.made.root), str(tmp_path / "far.git"))
    made.made.git("remote", "add", "origin", str(tmp_path / "far.git"))
    made.made.git("fetch", "--quiet", "origin")
    made.made.git("branch", "--quiet", "--set-upstream-to=origin/main")
    return made


def oid(desk: Desk, name: str) -> str:
    return desk.made.git("rev-parse", name).decode().strip()


def same(shows: Callable[[], Preview]) -> Preview:
    """What is shown, which is the same when it is asked for again."""
    first = shows()
    assert shows() == first
    return first


@requirement("TRUST-62")
def test_push_names_the_commits_and_both_ends_and_another_commit_is_another_push(desk: Desk, tmp_path: Path) -> None:
    remotes = RemoteWrites(desk.writer)

    def shows() -> Preview:
        return run(remotes.preview_push(PushRequest()))

    before = oid(desk, "HEAD")
    desk.made.commit("of the agent")
    first = same(shows)
    assert first.summary == f"Push refs/heads/main to origin ({tmp_path / 'far.git'})"
    for output in (
        f"refs/heads/main at {oid(desk, 'HEAD')}",
        f"last seen at {before}",
        "not forced",
        "1 commit to send",
    ):
        assert output in first.body
    assert f"{oid(desk, 'HEAD')[:12]} of the agent" in first.body
    desk.made.commit("made after asking")
    second = same(shows)
    assert second != first and "2 commits to send" in second.body and "made after asking" in second.body
    # What is known of the remote is a part of it, too.
    desk.made.git("update-ref", "refs/remotes/origin/main", "HEAD~1")
    assert shows() not in (first, second)


@requirement("TRUST-62")
def test_push_tells_force_tags_deletes_and_where_settings_send_it(desk: Desk) -> None:
    remotes, made = RemoteWrites(desk.writer), desk.made

    def body(**given: object) -> str:
        return same(lambda: run(remotes.preview_push(PushRequest.model_validate(given)))).body

    assert "FORCED" in body(force=True) and "FORCED" not in body()
    made.git("tag", "v1")
    tagged = body(tags=True)
    assert "all tags are sent, 1 of them" in tagged and f"{oid(desk, 'v1')} refs/tags/v1" in tagged
    made.git("tag", "--force", "v1", "HEAD~1")
    assert body(tags=True) != tagged
    assert "DELETES main there" in body(ref="main", delete=True)
    assert "recovery" not in body(force=True), "nothing here keeps what the remote loses"


@requirement("TRUST-62")
def test_settings_that_send_a_push_elsewhere_or_force_it_are_told_as_git_follows_them(
    desk: Desk, tmp_path: Path
) -> None:
    remotes, made, far = RemoteWrites(desk.writer), desk.made, RandomRepository(root=(tmp_path / "far.git").resolve())

    def body() -> str:
        return same(lambda: run(remotes.preview_push(PushRequest()))).body

    def sent() -> str:
        run(remotes.push(call(), PushRequest()))
        return far.git("for-each-ref", "--format=%(refname)", f"--points-at={oid(desk, 'HEAD')}").decode()

    made.commit("one")
    made.git("config", "push.default", "upstream")
    made.git("config", "branch.main.merge", "refs/heads/elsewhere")
    assert "becomes refs/heads/elsewhere, last seen at not known here" in body()
    assert sent().split() == ["refs/heads/elsewhere"]
    made.commit("two")
    made.git("config", "remote.origin.push", "refs/heads/*:refs/heads/mine/*")
    assert "becomes refs/heads/mine/main" in body() and "not forced" in body()
    assert sent().split() == ["refs/heads/mine/main"]
    made.git("config", "push.followTags", "true")
    made.git("tag", "--annotate", "--message=x", "v2")
    assert "refs/tags/v2" in body()
    assert far.git("tag") == b"" and sent() and far.git("tag") == b"v2\n"
    assert remotes.assess_push(PushRequest()).risk is Risk.EXFILTRATION
    made.git("config", "remote.origin.push", "+refs/heads/*:refs/heads/mine/*")
    made.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "another two")
    assert "FORCED by remote.origin.push" in body()
    assert remotes.assess_push(PushRequest()).risk is Risk.DESTRUCTIVE
    assert sent().split() == ["refs/heads/mine/main"], "git does force it"


def test_push_names_every_address_without_what_is_secret(desk: Desk) -> None:
    remotes = RemoteWrites(desk.writer)
    desk.made.git("remote", "set-url", "--push", "origin", "https://me:secret@one.invalid/x.git")
    desk.made.git("remote", "set-url", "--push", "--add", "origin", "https://token@two.invalid/x.git")
    preview = run(remotes.preview_push(PushRequest()))
    assert "one.invalid/x.git" in preview.body and "two.invalid/x.git" in preview.body
    assert "secret" not in f"{preview}" and "token" not in f"{preview}"
    assert len(remotes.assess_push(PushRequest()).remotes) == 2


@requirement("TRUST-62")
def test_a_long_push_is_bounded_and_says_so(desk: Desk) -> None:
    for number in range(33):
        desk.made.git("commit", "--quiet", "--allow-empty", "-m", f"number {number}")
    body = run(RemoteWrites(desk.writer).preview_push(PushRequest())).body
    assert "33 commits to send" in body and "and 3 more" in body and "number 0" not in body


def test_fetch_and_pull_name_from_where_what_and_into_which_commit(desk: Desk, tmp_path: Path) -> None:
    remotes = RemoteWrites(desk.writer)
    fetch = same(lambda: run(remotes.preview_fetch(FetchRequest(prune=True, tags=True))))
    assert f"from origin: {tmp_path / 'far.git'}" in fetch.body
    assert "+refs/heads/*:refs/remotes/origin/*" in fetch.body and "all tags" in fetch.body
    assert "refs/remotes/origin/main" in fetch.body, "what may be forgotten"
    assert run(remotes.preview_fetch(FetchRequest())) != fetch

    def pull() -> Preview:
        return run(remotes.preview_pull(PullRequest(mode="rebase")))

    first = same(pull)
    assert f"into main at {oid(desk, 'HEAD')}, by rebase" in first.body
    desk.made.commit("own")
    assert "1 commit of here to do again" in pull().body and pull() != first


def test_reset_is_bound_to_both_commits_the_index_and_what_files_hold(desk: Desk) -> None:
    reset = Reset(desk.writer)

    def shows(mode: str = "hard") -> Preview:
        return run(reset.preview_reset(ResetRequest.model_validate({"ref": "HEAD~1", "mode": mode})))

    first = same(shows)
    assert f"main at {oid(desk, 'HEAD')} → {oid(desk, 'HEAD~1')}" in first.body
    desk.made.write("a.txt", "work")
    second = same(shows)
    desk.made.write("a.txt", "krow")
    third = same(shows)
    assert len({first.body, second.body, third.body}) == 3, "the same file with other work in it is another loss"
    soft, mixed = shows("soft"), shows("mixed")
    desk.made.git("add", "a.txt")
    assert shows("soft") == soft and shows("mixed") != mixed
    desk.made.git("commit", "--quiet", "--allow-empty", "-m", "more")
    assert shows("soft") != soft


def test_discard_shows_the_changes_and_is_bound_to_all_of_them(desk: Desk) -> None:
    staging = Staging(desk.writer)

    def shows() -> Preview:
        return run(staging.preview_discard(DiscardRequest(paths=(".",), untracked=True)))

    desk.made.write("a.txt", "work of an hour\n")
    first = same(shows)
    assert "+work of an hour" in first.body
    for number in range(12):
        desk.made.write(f"new{number:02}", "x")
    second = same(shows)
    assert "12 files" in second.body and "new11" not in second.body
    desk.made.write("new11", "y")
    assert shows() != second, "also what is not named any more"


def test_a_stash_a_branch_and_the_last_commit_are_named_by_their_ids(desk: Desk) -> None:
    made = desk.made
    stashing, branches, commits = Stashes(desk.writer), Branches(desk.writer), Commits(desk.writer)
    made.write("a.txt", "one")
    made.git("stash", "push", "--quiet")
    stash = same(lambda: run(stashing.preview_drop(StashDropRequest())))
    assert oid(desk, "stash@{0}") in stash.body
    made.write("a.txt", "one")
    made.git("stash", "push", "--quiet", "-m", "another")
    assert run(stashing.preview_drop(StashDropRequest())) != stash, "number 0 is another one now"
    made.git("branch", "topic")
    branch = same(lambda: run(branches.preview_delete(DeleteBranchRequest(name="topic"))))
    made.git("branch", "--force", "topic", "HEAD~1")
    assert run(branches.preview_delete(DeleteBranchRequest(name="topic"))) != branch
    amend = same(lambda: run(commits.preview_amend(AmendRequest(message="better"))))
    assert oid(desk, "HEAD") in amend.body and "message: better" in amend.body
    made.write("a.txt", "staged\n")
    made.git("add", "a.txt")
    assert "+staged" in run(commits.preview_amend(AmendRequest(message="better"))).body
    by_path = run(commits.preview_amend(AmendRequest(paths=("a.txt",))))
    made.write("a.txt", "staged, and more\n")
    assert run(commits.preview_amend(AmendRequest(paths=("a.txt",)))) != by_path


def test_files_restored_from_a_commit_are_shown(desk: Desk) -> None:
    checkout = Checkout(desk.writer)
    request = CheckoutRequest(ref="HEAD", paths=("a.txt",))
    desk.made.write("a.txt", "work\n")
    first = same(lambda: run(checkout.preview_checkout(request)))
    assert "-work" in first.body and oid(desk, "HEAD") in first.body
    switch = same(lambda: run(checkout.preview_checkout(CheckoutRequest(ref="HEAD~1"))))
    assert f"{oid(desk, 'HEAD')} → HEAD~1 at {oid(desk, 'HEAD~1')}" in switch.body


def test_a_work_tree_and_submodules_are_named_by_folder_address_and_commit(desk: Desk) -> None:
    trees, modules = WorktreeWrites(desk.writer), SubmoduleWrites(desk.writer)
    made = same(lambda: run(trees.preview_add(WorktreeAddRequest(path="aside", branch="side"))))
    assert made.summary == f"Make the work tree {desk.made.root / 'aside'}"
    assert oid(desk, "HEAD") in made.body and "new branch side" in made.body
    run(trees.add(call(), WorktreeAddRequest(path="trees/one", branch="one")))
    request = WorktreeRemoveRequest(name="one", force=True)
    first = same(lambda: run(trees.preview_remove(request)))
    assert str(desk.made.root / "trees/one") in first.body and f"one at {oid(desk, 'HEAD')}" in first.body
    desk.made.write("trees/one/a.txt", "work")
    second = same(lambda: run(trees.preview_remove(request)))
    desk.made.write("trees/one/a.txt", "krow")
    assert len({first, second, run(trees.preview_remove(request))}) == 3

    added = run(modules.preview_add(SubmoduleAddRequest(url="https://far.invalid/lib.git", path="lib", branch="v1")))
    assert "https://far.invalid/lib.git" in added.body and "branch: v1" in added.body and "folder lib" in added.body
    with pytest.raises(InvalidArgument):
        run(modules.preview_add(SubmoduleAddRequest(url="https://me:pw@far.invalid/lib.git", path="lib")))
    desk.made.write(".gitmodules", '[submodule "lib"]\n\tpath = lib\n\turl = https://far.invalid/lib.git\n')
    desk.made.git("update-index", "--add", "--cacheinfo", f"160000,{oid(desk, 'HEAD')},lib")

    def update() -> Preview:
        return run(modules.preview_update(SubmoduleUpdateRequest()))

    recorded = same(update)
    assert f"lib at {oid(desk, 'HEAD')}" in recorded.body and "https://far.invalid/lib.git" in recorded.body
    desk.made.git("update-index", "--cacheinfo", f"160000,{oid(desk, 'HEAD~1')},lib")
    assert update() != recorded


async def test_a_commit_made_after_asking_is_not_pushed(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    git(tmp_path, "clone", "--quiet", "--bare", str(root), "far.git")
    git(root, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(root, "fetch", "--quiet", "origin")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "shown")

    def far() -> str:
        return git(tmp_path / "far.git", "log", "-1", "--format=%s", "main").strip()

    async with asking(root, *QUIET) as opened:
        asked = await call_agent(opened, "git.push", remote="origin")
        assert "shown" in str((await shown(opened, action_of(asked)))["preview"])
        git(root, "commit", "--quiet", "--allow-empty", "-m", "slipped in")
        assert (await decide(opened, "approval.approve", action_id=action_of(asked))).error is None
        late = await call_agent(opened, "git.push", remote="origin", idempotency_key=key_of(asked))
        assert late.error is not None and far() == "first"
        again = await call_agent(opened, "git.push", remote="origin")
        assert "slipped in" in str((await shown(opened, action_of(again)))["preview"])
        assert (await decide(opened, "approval.approve", action_id=action_of(again))).error is None
        done = await call_agent(opened, "git.push", remote="origin", idempotency_key=key_of(again))
        assert done.error is None and far() == "slipped in"
