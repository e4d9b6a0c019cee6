"""Proposals: nothing takes effect before the owner applies it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codeplane.kernel.errors import StorageFailed
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.proposals.table import ProposalTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import refused, result
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("PROPOSAL-01")

_SKILL = "---\nname: release\ndescription: Makes a release.\n---\nTag it.\n"


async def test_a_turn_proposes_a_skill_and_nothing_of_it_is_there(tmp_path: Path) -> None:
    proposed = tool("proposal_create", kind="skill", title="A release skill", name="release", content=_SKILL)
    async with conversing(tmp_path, ScriptedModel([proposed, finish()], text("Done.")), toolset="proposal") as thread:
        await thread.send("remember how we release")
        (event,) = await thread.events("thread.skill.proposed")
        assert event.payload["requires_owner_approval"] is True and event.payload["title"] == "A release skill"
        shown = result(await thread.ask("proposal.show", proposal_id=event.payload["proposal_id"]))
        assert shown["target"] == "skills/release/SKILL.md" and "+Tag it." in str(shown["diff"])
        assert result(await thread.ask("skill.list"))["skills"] == []
        # No operation writes below .codeplane, not even for the owner.
        refusal = await thread.ask("proposal.apply", proposal_id=event.payload["proposal_id"])
        assert refused(refusal) == "INVALID_ARGUMENT" and not list((tmp_path / ".codeplane").glob("skills/*"))
        notes = result(await thread.ask("notification.list"))
        assert "A release skill" in str(notes)
        log = thread.opened.log
        assert await log.readers.run(lambda connection: differences(connection, ProposalTable())) == []


async def test_a_proposed_call_is_made_once_and_as_who_applies_it(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        grant: JsonObject = {
            "kind": "scope",
            "title": "Let me search the web",
            "operation": "capability.grant",
            "arguments": {"agent": "agent", "capabilities": ["context_sharing"], "reason": "to look things up"},
        }
        made = await opened.conveyor.call("proposal.create", grant, AGENT)
        proposal_id = result(made)["proposal_id"]
        named: JsonObject = {"proposal_id": proposal_id}
        assert refused(await opened.conveyor.call("proposal.apply", named, AGENT)) == "POLICY_DENIED"
        applied = result(await opened.conveyor.call("proposal.apply", named, OWNER))
        assert applied["state"] == "APPLIED"
        assert refused(await opened.conveyor.call("proposal.apply", named, OWNER)) == "PROPOSAL_NOT_FOUND"


@pytest.mark.parametrize(
    "proposal",
    [
        {"kind": "skill", "name": "", "content": _SKILL},
        {"kind": "skill", "name": "other", "content": _SKILL},
        {"kind": "skill", "name": "release", "content": "no front matter"},
        {"kind": "policy", "name": "../config", "content": "package codeplane.policy"},
        {"kind": "policy", "name": "mine", "content": ""},
        {"kind": "runtime", "operation": "git.push", "arguments": {}},
        {"kind": "scope", "operation": "schedule.update", "arguments": {}},
        {"kind": "scope", "operation": "capability.grant", "arguments": {"no_such_field": 1}},
        {
            "kind": "skill",
            "name": "release",
            "content": _SKILL + "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfi\n",
        },
    ],
    ids=["no name", "other name", "no skill", "path", "empty", "push", "wrong kind", "arguments", "secret"],
)
async def test_what_could_not_be_applied_is_refused_at_once(tmp_path: Path, proposal: JsonObject) -> None:
    async with plane(tmp_path) as opened:
        outcome = await opened.conveyor.call("proposal.create", {"title": "t", **proposal}, AGENT)
        assert refused(outcome) == "INVALID_ARGUMENT"


async def test_agents_see_their_own_and_are_bounded(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        skill: JsonObject = {"kind": "skill", "title": "t", "name": "release", "content": _SKILL}
        owners = result(await opened.conveyor.call("proposal.create", skill, OWNER))
        hidden: JsonObject = {"proposal_id": owners["proposal_id"]}
        assert refused(await opened.conveyor.call("proposal.show", hidden, AGENT)) == "PROPOSAL_NOT_FOUND"
        assert result(await opened.conveyor.call("proposal.list", {}, AGENT))["results"] == []
        for _ in range(20):
            mine = result(await opened.conveyor.call("proposal.create", skill, AGENT))
        assert refused(await opened.conveyor.call("proposal.create", skill, AGENT)) == "OVERLOADED"
        rejected: JsonObject = {"proposal_id": mine["proposal_id"], "outcome": "rejected", "reason": "no"}
        assert refused(await opened.conveyor.call("proposal.close", rejected, AGENT)) == "POLICY_DENIED"
        assert result(await opened.conveyor.call("proposal.close", rejected, OWNER))["state"] == "REJECTED"
        result(await opened.conveyor.call("proposal.create", skill, AGENT))


def _schedule() -> JsonObject:
    wanted: JsonObject = {"name": "n", "goal": "look", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}
    return {"kind": "runtime", "title": "Look daily", "operation": "schedule.create", "arguments": wanted}


async def _count_schedules(opened: Plane) -> int:
    listed = result(await opened.conveyor.call("schedule.list", {}, OWNER))["results"]
    assert isinstance(listed, list)
    return len(listed)


async def test_a_proposed_call_is_made_once_by_two_at_once(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        made = result(await opened.conveyor.call("proposal.create", _schedule(), AGENT))
        named: JsonObject = {"proposal_id": made["proposal_id"]}
        outcomes = await asyncio.gather(*(opened.conveyor.call("proposal.apply", named, OWNER) for _ in range(3)))
        assert len([outcome for outcome in outcomes if outcome.error is None]) == 1
        assert await _count_schedules(opened) == 1


async def test_a_proposed_call_that_was_made_before_a_crash_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with plane(tmp_path) as opened:
        made = result(await opened.conveyor.call("proposal.create", _schedule(), AGENT))
        named: JsonObject = {"proposal_id": made["proposal_id"]}
        append = opened.log.append

        async def stop_before_record(drafts: Sequence[Draft], **options: Any) -> Any:
            if any(draft.type == "proposal.applied" for draft in drafts):
                raise StorageFailed("the disk is gone")
            return await append(drafts, **options)

        monkeypatch.setattr(opened.log, "append", stop_before_record)
        assert refused(await opened.conveyor.call("proposal.apply", named, OWNER)) == "STORAGE_FAILED"
        monkeypatch.undo()
        assert result(await opened.conveyor.call("proposal.apply", named, OWNER))["state"] == "APPLIED"
        assert await _count_schedules(opened) == 1


async def test_a_proposal_of_the_same_name_shows_no_file_of_the_owner_to_agents(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        mine = tmp_path / ".codeplane" / "policy" / "mine.rego"
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("package codeplane.policy\n# what the owner thinks of this agent\n")
        policy: JsonObject = {"kind": "policy", "title": "t", "name": "mine", "content": "package codeplane.policy\n"}
        made = result(await opened.conveyor.call("proposal.create", policy, AGENT))
        named: JsonObject = {"proposal_id": made["proposal_id"]}
        agents = result(await opened.conveyor.call("proposal.show", named, AGENT))
        assert "what the owner thinks" not in str(agents) and agents["content"] == policy["content"]
        owners = result(await opened.conveyor.call("proposal.show", named, OWNER))
        assert "-# what the owner thinks" in str(owners["diff"])
