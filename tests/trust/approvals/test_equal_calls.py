"""Equal outward calls that wait at the same time ask a person once."""

import asyncio
from dataclasses import replace
from pathlib import Path

from codeplane.kernel.envelope import Outcome
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps, events, plane
from tests.trust.approvals.agent_calls import (
    action_of,
    asking,
    call,
    decide,
    executed,
    heard,
    items,
    key_of,
    refused,
    result,
)

pytestmark = requirement("TRUST-62")

JOINED = "an equal call waits already"


def describe_outcome(outcome: Outcome) -> str:
    """What a caller reads beside the answer, and in it."""
    return " ".join([*outcome.meta.warnings, outcome.error.message if outcome.error else ""])


async def test_an_equal_call_joins_the_question_that_waits(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        first = await call(opened, "fixture.send", text="x")
        second = await call(opened, "fixture.send", text="x")
        elsewhere = await opened.conveyor.call("fixture.send", {"text": "x"}, replace(AGENT, connection_id="c2"))
        own_key = await call(opened, "fixture.send", text="x", idempotency_key="mine")
        assert JOINED not in describe_outcome(first)
        for outcome in (second, elsewhere, own_key):
            assert JOINED in describe_outcome(outcome)
            assert (action_of(outcome), key_of(outcome)) == (action_of(first), key_of(first))
        assert len(await events(opened, "action.created")) == 1
        await decide(opened, "approval.approve", action_id=action_of(first))
        await executed(opened, action_of(first))
        for key in (key_of(first), key_of(second)):
            again = await call(opened, "fixture.send", text="x", idempotency_key=key)
            assert again.meta.replayed and result(again)["answer"] == "x1"
        assert ops.ran == ["fixture.send"]
        # What is settled is joined by nobody.
        assert action_of(await call(opened, "fixture.send", text="x")) != action_of(first)


async def test_while_a_call_waits_an_equal_one_is_told_at_once_and_may_wait_for_the_same_answer(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, "approvals.wait_sec=600", operations=[ops]) as opened:
        first = asyncio.ensure_future(call(opened, "fixture.send", text="x"))
        action_id = str((await heard(opened, "action.created")).payload["action_id"])
        second = await call(opened, "fixture.send", text="x")
        assert action_of(second) == action_id and JOINED in describe_outcome(second)
        assert second.error is not None and second.error.hint.startswith("to wait for that answer, call again")
        waits = asyncio.ensure_future(call(opened, "fixture.send", text="x", idempotency_key=key_of(second)))
        await decide(opened, "approval.approve", action_id=action_id)
        assert result(await first) == result(await waits)
        assert ops.ran == ["fixture.send"]


async def test_of_equal_calls_at_the_same_moment_one_asks_and_one_runs(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with asking(tmp_path, operations=[ops]) as opened:
        outcomes = await asyncio.gather(*(call(opened, "fixture.send", text="x") for _ in range(8)))
        (action,) = items(await decide(opened, "approval.list"))
        assert {action_of(one) for one in outcomes} == {action["action_id"]}
        assert sum(JOINED in describe_outcome(one) for one in outcomes) == 7


async def test_what_is_remembered_meanwhile_answers_an_equal_call(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        waits = await call(opened, "fixture.send", text="x")
        other = await call(opened, "fixture.send", text="y")
        await decide(opened, "approval.approve", action_id=action_of(other), trust=True)
        ran = await call(opened, "fixture.send", text="x")
        assert ran.error is None and JOINED not in describe_outcome(ran)
        assert action_of(await call(opened, "fixture.send", text="x", idempotency_key=key_of(waits)))


async def test_what_differs_or_may_be_wanted_twice_asks_by_itself(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        first = action_of(await call(opened, "fixture.send", text="x"))
        other = await opened.conveyor.call("fixture.send", {"text": "x"}, replace(AGENT, client="other"))
        found = {first, action_of(other), action_of(await call(opened, "fixture.send", text="y"))}
        for name in ("fixture.shell", "fixture.shell", "fixture.destroy", "fixture.destroy"):
            found.add(action_of(await call(opened, name, text="x")))
        assert len(found) == 7
        rejected = await decide(opened, "approval.reject", action_id=first)
        assert rejected.error is None
        assert refused(await call(opened, "fixture.send", text="x")) == "APPROVAL_PENDING"
