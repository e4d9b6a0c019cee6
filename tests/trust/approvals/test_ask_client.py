"""`approval.ask_client`: a waiting action is shown in a client that the owner allowed, and in no other."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Answer, Caller
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps
from tests.trust.approvals.agent_calls import action_of, asking, call, decide, refused, result
from tests.trust.approvals.test_approvals import answering

pytestmark = requirement("TRUST-61")


class Person:
    """Somebody at a client who always says the same."""

    def __init__(self, answer: Answer | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, question: str) -> Answer | None:
        self.asked.append(question)
        return self.answer


async def _ask(opened: Plane, action_id: str, by: Caller) -> JsonObject:
    return result(await opened.conveyor.call("approval.ask_client", {"action_id": action_id}, by))


@pytest.mark.parametrize(
    ("answer", "status"), [(Answer.APPROVE, "APPROVED"), (Answer.REJECT, "REJECTED"), (None, "PENDING")]
)
async def test_the_answer_of_an_allowed_client_decides(tmp_path: Path, answer: Answer | None, status: str) -> None:
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        person = Person(answer)
        client = await answering(opened, person)
        action_id = action_of(await call(opened, "fixture.send", text="x"))
        asked = await _ask(opened, action_id, client)
        assert asked["asked"] is True and len(person.asked) == 1
        shown = result(await decide(opened, "approval.show", action_id=action_id))
        assert shown["status"] in ((status, "EXECUTED") if answer is Answer.APPROVE else (status,))
        assert shown["decided_by"] == (None if answer is None else "client:editor")


@pytest.mark.parametrize("operation", ["fixture.shell", "fixture.destroy"])
async def test_shell_commands_and_what_destroys_are_not_shown_there(tmp_path: Path, operation: str) -> None:
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        person = Person(Answer.APPROVE)
        client = await answering(opened, person)
        action_id = action_of(await call(opened, operation, text="x"))
        assert (await _ask(opened, action_id, client))["asked"] is False and person.asked == []
        assert result(await decide(opened, "approval.show", action_id=action_id))["status"] == "PENDING"


@pytest.mark.parametrize("secret", [None, "", "cpl_client_wrong"])
async def test_a_client_without_the_owners_secret_is_not_asked(tmp_path: Path, secret: str | None) -> None:
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        person = Person(Answer.APPROVE)
        client = replace(await answering(opened, person), client_secret=secret)
        action_id = action_of(await call(opened, "fixture.send", text="x"))
        assert (await _ask(opened, action_id, client))["asked"] is False and person.asked == []


async def test_an_answer_after_the_client_was_revoked_does_not_count(tmp_path: Path) -> None:
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:

        async def ask(question: str) -> Answer:
            result(await decide(opened, "client.revoke", name="editor"))
            return Answer.APPROVE

        client = await answering(opened, ask)
        action_id = action_of(await call(opened, "fixture.send", text="x"))
        await _ask(opened, action_id, client)
        assert result(await decide(opened, "approval.show", action_id=action_id))["status"] == "PENDING"


async def test_an_answer_that_comes_too_late_changes_nothing(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        shown, release = asyncio.Event(), asyncio.Event()

        async def ask(question: str) -> Answer:
            shown.set()
            await release.wait()
            return Answer.APPROVE

        client = await answering(opened, ask)
        action_id = action_of(await call(opened, "fixture.send", text="x"))
        late = asyncio.ensure_future(_ask(opened, action_id, client))
        await shown.wait()
        result(await decide(opened, "approval.reject", action_id=action_id))
        release.set()
        assert (await late)["status"] == "REJECTED" and ops.ran == []
        assert (await _ask(opened, action_id, client))["asked"] is False


async def test_an_action_of_somebody_else_is_not_there(tmp_path: Path) -> None:
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        person = Person(Answer.APPROVE)
        other = replace(await answering(opened, person), client="somebody-else", connection_id="c2")
        action_id = action_of(await call(opened, "fixture.send", text="x"))
        outcome = await opened.conveyor.call("approval.ask_client", {"action_id": action_id}, other)
        assert refused(outcome) == "APPROVAL_NOT_FOUND" and person.asked == []
        assert AGENT.client != other.client


async def test_to_see_the_actions_of_others_is_not_to_answer_for_them(tmp_path: Path) -> None:
    async with asking(tmp_path, operations=[FixtureOps()]) as opened:
        person = Person(Answer.APPROVE)
        other = replace(await answering(opened, person), client="somebody-else", connection_id="c2")
        granted: JsonObject = {"agent": "somebody-else", "without_token": True, "capabilities": ["context_sharing"]}
        result(await opened.conveyor.call("capability.grant", granted, OWNER))
        action_id = action_of(await call(opened, "fixture.send", text="x"))
        assert result(await opened.conveyor.call("approval.show", {"action_id": action_id}, other))
        outcome = await opened.conveyor.call("approval.ask_client", {"action_id": action_id}, other)
        assert refused(outcome) == "APPROVAL_NOT_FOUND" and person.asked == []
        assert result(await decide(opened, "approval.show", action_id=action_id))["status"] == "PENDING"
