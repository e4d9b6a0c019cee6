"""An agent that never had a token of its own is let go of by the name it gives itself."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import action_of, asking, call, decide, items, refused, result

pytestmark = requirement("TRUST-45")


async def test_what_was_remembered_for_it_is_forgotten(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        asked = action_of(await call(opened, "fixture.send"))
        await decide(opened, "approval.approve", action_id=asked, trust=True)
        (known,) = items(await decide(opened, "approval.trusted"))
        name = str(known["actor"]).partition(":")[2]
        gone = await decide(opened, "agent.revoke", agent=name)
        assert result(gone)["answers_forgotten"] == 1
        assert gone.result is not None and gone.result.text().endswith("; 1 remembered answer forgotten")
        assert items(await decide(opened, "approval.trusted")) == []
        action_of(await call(opened, "fixture.send"))
        assert result(await decide(opened, "agent.revoke", agent=name))["questions_rejected"] == 1
        assert refused(await decide(opened, "agent.revoke", agent=name)) == "NOT_FOUND", "nothing is left"
        assert refused(await decide(opened, "agent.revoke", agent="nobody")) == "NOT_FOUND"
