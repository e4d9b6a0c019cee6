"""Several clients that show questions at the same time: whose answers count, and which of several."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Answer, AskPerson
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, plane
from tests.trust.approvals.agent_calls import decide, items, refused
from tests.trust.approvals.test_approvals import answering
from tests.trust.untrusted.engine import search_engine

pytestmark = requirement("TRUST-61")


async def test_of_two_clients_of_one_name_only_the_registered_one_is_asked(tmp_path: Path) -> None:
    """The other one is there at the same time, shows forms too, and answers whatever it is not asked."""
    asked: list[str] = []

    def client(name: str) -> AskPerson:
        async def ask(question: str) -> Answer:
            asked.append(name)
            return Answer.APPROVE

        return ask

    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        registered = await answering(opened, client("registered"))
        other = replace(registered, client_secret=None, ask=client("other"), connection_id="other")
        guessing = replace(other, client_secret="a-guess", ask=client("guessing"), connection_id="guessing")
        outcomes = await asyncio.gather(
            *(
                opened.conveyor.call("fixture.send", {"text": str(number)}, by)
                for number, by in enumerate((other, guessing))
            )
        )
        assert [refused(outcome) for outcome in outcomes] == ["APPROVAL_PENDING"] * 2
        assert (await opened.conveyor.call("fixture.send", {"text": "mine"}, registered)).error is None
        assert asked == ["registered"] and ops.ran == ["fixture.send"]


@pytest.mark.parametrize("is_owner_first", [True, False])
async def test_of_a_client_and_the_owner_who_answer_at_once_one_decides(tmp_path: Path, is_owner_first: bool) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def ask(question: str) -> Answer:
        asked.set()
        await answer.wait()
        return Answer.APPROVE

    ops = FixtureOps()
    async with plane(tmp_path, "approvals.wait_sec=600", operations=[ops]) as opened:
        calling = asyncio.ensure_future(opened.conveyor.call("fixture.send", {}, await answering(opened, ask)))
        await asked.wait()
        (action,) = items(await decide(opened, "approval.list"))
        reject = decide(opened, "approval.reject", action_id=str(action["action_id"]))
        if is_owner_first:
            rejecting = asyncio.ensure_future(reject)
            answer.set()
        else:
            answer.set()
            rejecting = asyncio.ensure_future(reject)
        outcome, rejected = await asyncio.gather(calling, rejecting)
        (settled,) = items(await decide(opened, "approval.list"))
    is_rejected = rejected.error is None
    assert settled["decided_by"] == ("owner" if is_rejected else "client:editor")
    assert (refused(outcome) if outcome.error else None) == ("REJECTED" if is_rejected else None)
    assert ops.ran == ([] if is_rejected else ["fixture.send"])


@requirement("TRUST-60")
async def test_a_client_does_not_answer_for_content_that_came_while_it_was_asked(tmp_path: Path) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def ask(question: str) -> Answer:
        asked.set()
        await answer.wait()
        return Answer.APPROVE

    ops = FixtureOps()
    with search_engine() as engine:
        settings = (engine.setting, 'trust.allow=["web.search"]', "approvals.wait_sec=600")
        async with plane(tmp_path, *settings, operations=[ops]) as opened:
            by = await answering(opened, ask)
            calling = asyncio.ensure_future(opened.conveyor.call("fixture.send", {}, by))
            await asked.wait()
            assert (await opened.conveyor.call("web.search", {"query": "how"}, by)).error is None
            answer.set()
            assert refused(await calling) == "EXPIRED"
            assert ops.ran == []
