"""An approved push sends the objects that were shown, whatever moved since; through the door, against a bare copy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.call import Call
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonValue
from codeplane.kernel.ports import Question
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, plane, run
from tests.kernel.ports import Asking, exchange
from tests.trust.approvals.agent_calls import action_of, call, decide, executed, items, shown, soon

pytestmark = requirement("TRUST-43")

QUIET = ("embeddings.model=none", "index.watch=false")
Moves = Callable[[], object]


class Late:
    """A person who agrees, while something moves in the last moment."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves

    async def recall(self, call: Call, arguments_hash: str) -> bool:
        return False

    async def find_equal_action(self, question: Question) -> tuple[str, str] | None:
        return None

    async def approve(self, question: Question) -> str:
        return "act_1"

    async def confirm(self, action_id: str, question: Question) -> None:
        self.moves()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_repo(tmp_path / "repo", {"a.txt": "1\n"})
    git(tmp_path, "clone", "--quiet", "--bare", str(made), str(tmp_path / "far.git"))
    git(made, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(made, "fetch", "--quiet", "origin")
    commit(made, "shown")
    return made


def commit(root: Path, output: str) -> str:
    git(root, "commit", "--quiet", "--allow-empty", "-m", output)
    return git(root, "rev-parse", "HEAD").strip()


def far(root: Path, ref: str = "refs/heads/main") -> str:
    return git(root.parent / "far.git", "for-each-ref", "--format=%(objectname)", ref).strip()


def pushed(root: Path, moves: Moves = lambda: None, **arguments: JsonValue) -> Outcome:
    """How a push ends that an agent asked for, when something moves after the last look at it."""

    async def body() -> Outcome:
        async with plane(root, *QUIET) as opened:
            return await exchange(opened, authority=Asking(), approver=Late(moves)).call("git.push", arguments, AGENT)

    return run(body())


def test_the_commit_that_was_shown_is_pushed_and_not_the_one_that_came_after(root: Path) -> None:
    tip = git(root, "rev-parse", "HEAD").strip()
    assert pushed(root, lambda: commit(root, "after")).error is None
    assert far(root) == tip
    assert git(root, "rev-parse", "origin/main").strip() == tip
    assert pushed(root).error is None
    assert far(root) == git(root, "rev-parse", "HEAD").strip() != tip


async def test_a_commit_made_while_the_question_waits_is_not_pushed(root: Path) -> None:
    before = far(root)
    async with plane(root, *QUIET) as opened:
        action = action_of(await call(opened, "git.push"))
        tip = git(root, "rev-parse", "HEAD").strip()
        assert f"refs/heads/main at {tip}" in str((await shown(opened, action))["preview"])
        commit(root, "after")
        await decide(opened, "approval.approve", action_id=action)
        assert "has changed" in str((await soon(opened, action, "REJECTED"))["reason"])
        assert far(root) == before
        again = action_of(await call(opened, "git.push"))
        await decide(opened, "approval.approve", action_id=again)
        await executed(opened, again)
        assert far(root) == git(root, "rev-parse", "HEAD").strip()


def test_a_forced_push_replaces_only_what_was_shown_to_be_there(root: Path) -> None:
    tip = git(root, "rev-parse", "HEAD").strip()
    git(root.parent, "clone", "--quiet", str(root.parent / "far.git"), "else")
    theirs = root.parent / "else"

    def others() -> None:
        git(theirs, "pull", "--quiet", "--rebase")
        commit(theirs, "of somebody else")
        git(theirs, "push", "--quiet", "origin", "HEAD")
        # With this, a lease on what is known here by now would let it pass.
        git(root, "fetch", "--quiet", "origin")

    git(theirs, "config", "user.name", "x")
    git(theirs, "config", "user.email", "x@example.com")
    refused = pushed(root, others, force=True)
    assert refused.error is not None and refused.error.name == "GIT_REFUSED" and "stale info" in refused.error.message
    assert far(root) == git(theirs, "rev-parse", "HEAD").strip()
    assert pushed(root, force=True).error is None
    assert far(root) == tip


def test_tags_are_those_that_were_shown(root: Path) -> None:
    git(root, "tag", "v1")
    refused = pushed(root, lambda: git(root, "tag", "v2"), tags=True)
    assert refused.error is not None and "the tags are not those that were shown" in refused.error.message
    assert far(root, "refs/tags/") == ""
    assert pushed(root, lambda: git(root, "branch", "other"), tags=True).error is None
    assert len(far(root, "refs/tags/").split()) == 2
    # Without them, a new tag is nobody's business.
    assert pushed(root, lambda: git(root, "tag", "v3")).error is None
    assert len(far(root, "refs/tags/").split()) == 2


def test_tags_that_go_along_by_a_setting_are_those_that_were_shown(root: Path) -> None:
    git(root, "config", "push.followTags", "true")
    refused = pushed(root, lambda: git(root, "tag", "-a", "-m", "x", "v1"))
    assert refused.error is not None and "the tags are not those that were shown" in refused.error.message
    assert far(root, "refs/tags/") == ""
    assert pushed(root).error is None
    assert len(far(root, "refs/tags/").split()) == 1


def test_upstream_settings_and_names_are_as_after_a_push_by_name(root: Path) -> None:
    git(root, "switch", "--quiet", "--create", "topic")
    tip = commit(root, "topic")
    git(root, "config", "branch.autoSetupRebase", "always")
    assert pushed(root, set_upstream=True).error is None
    assert far(root, "refs/heads/topic") == tip
    assert git(root, "rev-parse", "--abbrev-ref", "topic@{upstream}").strip() == "origin/topic"
    assert git(root, "config", "branch.topic.rebase").strip() == "true"
    git(root, "config", "remote.origin.push", "refs/heads/topic:refs/heads/elsewhere")
    assert pushed(root).error is None
    assert far(root, "refs/heads/elsewhere") == tip
    git(root, "tag", "-a", "-m", "x", "v1")
    assert pushed(root, ref="v1").error is None
    assert far(root, "refs/tags/v1") == git(root, "rev-parse", "v1").strip()


def test_a_branch_is_removed_as_it_was_asked_for(root: Path) -> None:
    git(root, "push", "--quiet", "origin", "HEAD:refs/heads/old")
    assert pushed(root, ref="old", delete=True).error is None
    assert far(root, "refs/heads/old") == ""


async def test_trust_in_a_forced_push_is_of_that_branch_and_remote_whatever_its_commits(root: Path) -> None:
    def amended() -> None:
        git(root, "commit", "--quiet", "--amend", "--allow-empty", "-m", f"amended after {far(root)}")

    async with plane(root, *QUIET) as opened:
        await call(opened, "git.push")
        git(root, "push", "--quiet", "origin", "main", "main:refs/heads/other")
        git(root, "branch", "--quiet", "other")
        amended()
        action = action_of(await call(opened, "git.push", force=True))
        seen = await shown(opened, action)
        assert "would be LOST there: " in str(seen["preview"])
        assert "force-pushes refs/heads/main to origin" in str(seen["covers"])
        await decide(opened, "approval.approve", action_id=action, trust=True)
        await executed(opened, action)
        for _ in range(2):
            amended()
            assert (await call(opened, "git.push", force=True)).error is None
            assert far(root) == git(root, "rev-parse", "HEAD").strip()
        (known,) = items(await decide(opened, "approval.trusted"))
        assert known["covers"] == seen["covers"]
        for other in (
            {"force": True, "ref": "other"},
            {"delete": True, "ref": "main"},
            {"force": True, "tags": True},
        ):
            assert action_of(await call(opened, "git.push", **other))
        git(root, "remote", "set-url", "origin", str(root.parent / "elsewhere.git"))
        assert action_of(await call(opened, "git.push", force=True))


async def test_trust_in_a_push_is_of_its_branch(root: Path) -> None:
    async with plane(root, *QUIET) as opened:
        action = action_of(await call(opened, "git.push"))
        await decide(opened, "approval.approve", action_id=action, trust=True)
        await executed(opened, action)
        commit(root, "the next")
        assert (await call(opened, "git.push")).error is None
        git(root, "branch", "--quiet", "other")
        assert action_of(await call(opened, "git.push", ref="other"))
