"""What became of an action, told apart: a person's no, time that ran out, and a run that came to nothing."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.trust.approvals.agent_calls import action_of, asking, call, decide, executed, items, refused, result, shown

pytestmark = requirement("TRUST-10")


async def test_a_run_that_was_denied_on_its_way_failed_and_is_audited_as_that(tmp_path: Path) -> None:
    async with asking(tmp_path, "trust.mode=always") as opened:
        action_id = action_of(await call(opened, "fixture.plan", paths=[".git/config"]))
        await decide(opened, "approval.approve", action_id=action_id)
        done = await executed(opened, action_id)
        assert (done["status"], done["state"], done["outcome"]) == ("EXECUTED", "FAILED", "PATH_DENIED")
        await opened.log.flush()
        reported = result(await decide(opened, "audit.list", event_type="action.executed"))["results"]
        assert isinstance(reported, list) and [one["outcome"] for one in reported if isinstance(one, dict)] == [
            "PATH_DENIED"
        ]


async def test_what_expired_is_neither_listed_nor_audited_as_rejected(tmp_path: Path) -> None:
    clock = ManualClock()
    async with asking(tmp_path, clock=clock) as opened:
        first = await call(opened, "fixture.send", text="late")
        other = await call(opened, "fixture.send", text="no")
        await decide(opened, "approval.reject", action_id=action_of(other), reason="expired")
        clock.advance(100_000)
        await opened.trust.approvals.sweep()
        late, no = await shown(opened, action_of(first)), await shown(opened, action_of(other))
        assert (late["status"], late["state"]) == ("REJECTED", "EXPIRED"), "as the wire has it, and as people read"
        assert (no["status"], no["state"]) == ("REJECTED", "REJECTED"), "a person may write that word, too"
        for status, wanted in (("EXPIRED", [first]), ("NOT_RUN", []), ("REJECTED", [other, first])):
            listed = items(await decide(opened, "approval.list", status=status))
            assert [one["action_id"] for one in listed] == [action_of(one) for one in wanted], status
        reported = result(await decide(opened, "audit.list", event_type="action.rejected"))["results"]
        assert isinstance(reported, list)
        assert [one["outcome"] for one in reported if isinstance(one, dict)] == ["expired", "rejected"]
        again = await call(opened, "fixture.send", text="no", idempotency_key=str(other.meta.idempotency_key))
        assert refused(again) == "REJECTED"


async def test_a_reminder_says_of_what_and_what_expired_is_told_as_that(tmp_path: Path) -> None:
    clock = ManualClock()
    async with asking(tmp_path, clock=clock) as opened:
        first = await call(opened, "fixture.send", text="late")
        clock.advance(55 * 60)
        await opened.trust.approvals.sweep()
        reported = _notes(result(await decide(opened, "notification.list")))
        assert [(one["type"], one["resource_id"]) for one in reported] == [
            ("APPROVAL_EXPIRING_SOON", action_of(first)),
            ("PENDING_APPROVAL_CREATED", action_of(first)),
        ]
        assert reported[0]["summary"] == reported[1]["summary"] != ""
        read = result(await decide(opened, "notification.read", ids=[reported[0]["notification_id"]]))
        assert (read["read"], read["unread"]) == (1, 1)
        clock.advance(10 * 60)
        await opened.trust.approvals.sweep()
        reported = _notes(result(await decide(opened, "notification.list")))
        assert [one["settled"] for one in reported] == ["expired", "expired"]
        assert _notes(result(await decide(opened, "notification.list", unread=True))) == []
        assert _notes(result(await decide(opened, "notification.list", open=True))) == []


def _notes(answer: JsonObject) -> list[JsonObject]:
    found = answer["results"]
    assert isinstance(found, list)
    return [one for one in found if isinstance(one, dict)]
