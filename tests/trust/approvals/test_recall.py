"""A no holds under its key: whatever the call would do by now, and whatever the rules say of that."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, ManualClock, events, plane
from tests.trust.approvals.agent_calls import action_of, asking, call, decide, executed, key_of, refused, shown

pytestmark = requirement("TRUST-10")


async def test_a_rejected_key_stays_rejected_when_nothing_would_be_lost_any_more(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.txt": "1\n", "b.txt": "1\n"})
    (root / "a.txt").write_text("mine\n")
    async with plane(root) as opened:
        first = await call(opened, "git.discard", paths=["a.txt"])
        await decide(opened, "approval.reject", action_id=action_of(first), reason="not on a Friday")
        for there in ("1\n", "other\n"):
            (root / "a.txt").write_text(there)
            again = await call(opened, "git.discard", paths=["a.txt"], idempotency_key=key_of(first))
            assert again.error is not None and again.error.name == "REJECTED"
            assert "owner:owner: not on a Friday" in again.error.message
            assert (root / "a.txt").read_text() == there
        (root / "a.txt").write_text("1\n")
        other = await call(opened, "git.discard", paths=["b.txt"], idempotency_key=key_of(first))
        assert refused(other) == "IDEMPOTENCY_CONFLICT"
        assert (await call(opened, "git.discard", paths=["a.txt"])).error is None, "a call of its own"


async def test_a_rejected_key_stays_rejected_when_what_it_is_about_is_gone(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    git(root, "branch", "gone")
    git(root, "worktree", "add", "--quiet", str(tmp_path / "beside"), "gone")
    git(tmp_path / "beside", "commit", "--quiet", "--allow-empty", "--message", "only here")
    git(root, "worktree", "remove", "--force", str(tmp_path / "beside"))
    async with plane(root) as opened:
        asked: JsonObject = {"name": "gone", "force": True}
        first = await call(opened, "git.delete_branch", **asked)
        await decide(opened, "approval.reject", action_id=action_of(first), reason="keep it")
        assert (await decide(opened, "git.delete_branch", **asked)).error is None
        again = await call(opened, "git.delete_branch", **asked, idempotency_key=key_of(first))
        assert again.error is not None and again.error.name == "REJECTED", again.error
        assert "keep it" in again.error.message


@pytest.mark.parametrize("late", ["swept", "not swept"])
async def test_an_expired_key_stays_expired_when_nobody_would_be_asked_any_more(tmp_path: Path, late: str) -> None:
    ops, clock = FixtureOps(), ManualClock()
    async with asking(tmp_path, operations=[ops], clock=clock) as opened:
        first = await call(opened, "fixture.send", text="x")
        clock.advance(100 * 24 * 3600)
        if late == "swept":
            await opened.trust.approvals.sweep()
    async with asking(tmp_path, "trust.mode=automatic", operations=[ops], clock=clock) as opened:
        again = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert refused(again) == "EXPIRED"
        assert (await call(opened, "fixture.send", text="x")).error is None
        assert ops.ran == ["fixture.send"]


async def test_an_open_question_is_not_run_behind_the_back_of_who_decides(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send", text="x")
    async with asking(tmp_path, "trust.mode=automatic", operations=[ops]) as opened:
        again = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert action_of(again) == action_of(first)
        assert len(await events(opened, "action.created")) == 1
        await decide(opened, "approval.approve", action_id=action_of(first))
        assert (await executed(opened, action_of(first)))["outcome"] == "ok"
        done = await call(opened, "fixture.send", text="x", idempotency_key=key_of(first))
        assert done.meta.replayed and ops.ran == ["fixture.send"]


async def test_another_callers_no_is_not_ones_own(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        first = await call(opened, "fixture.push", text="force", idempotency_key="k")
        await decide(opened, "approval.reject", action_id=action_of(first))
        assert (await shown(opened, action_of(first)))["status"] == "REJECTED"
        assert (await decide(opened, "fixture.push", text="force", idempotency_key="k")).error is None
