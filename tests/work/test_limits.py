"""More budget than a person or the settings gave: an agent asks for it, and takes less as it likes."""

from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, FixtureOps, plane
from tests.trust.approvals.agent_calls import action_of, asking, call, decide, executed, refused, result, shown, soon

pytestmark = requirement("TRUST-44")

MODES = ["trust", "automatic", "always"]


async def limits(opened: Plane) -> JsonObject:
    task = result(await call(opened, "session.info"))["task"]
    assert isinstance(task, dict) and isinstance(task["limits"], dict)
    return task["limits"]


@pytest.mark.parametrize("mode", MODES)
async def test_an_agent_that_wants_more_waits_for_a_person_in_every_mode(tmp_path: Path, mode: str) -> None:
    settings = (f"trust.mode={mode}", "limits.max_mutations=1", 'trust.allow=["session.configure"]')
    async with asking(tmp_path, *settings, operations=[FixtureOps()]) as opened:
        before = await limits(opened)
        pending = await call(opened, "session.configure", limits_delta={"add_mutations": 5, "add_test_runs": -1})
        action = await shown(opened, action_of(pending))
        assert "mutations 1 → 6" in str(action["deterministic_summary"])
        assert "before: 1 mutations, 200 test runs" in str(action["preview"])
        assert await limits(opened) == before, "nothing before a person says so"
        await decide(opened, "approval.approve", action_id=action["action_id"])
        await executed(opened, str(action["action_id"]))
        assert (await limits(opened))["max_mutations"] == 6
        again = await call(opened, "session.configure", limits_delta={"add_mutations": 1})
        await decide(opened, "approval.reject", action_id=action_of(again), reason="enough")
        await soon(opened, action_of(again), "REJECTED")
        assert (await limits(opened))["max_mutations"] == 6


async def test_an_agent_takes_less_without_asking_and_never_below_nothing(tmp_path: Path) -> None:
    async with asking(tmp_path, "limits.max_mutations=5") as opened:
        assert result(await call(opened, "session.configure", limits_delta={"add_mutations": -2}))
        assert (await limits(opened))["max_mutations"] == 3
        assert result(await call(opened, "session.configure", limits_delta={"add_mutations": -100}))
        assert (await limits(opened))["max_mutations"] == 0
        assert refused(await call(opened, "fixture.write")) == "TASK_BUDGET_EXCEEDED"
        # And what it gave up is no longer its own to take.
        assert refused(await call(opened, "session.configure", limits_delta={"add_mutations": 1})) == (
            "APPROVAL_PENDING"
        )


async def test_a_new_session_has_what_the_settings_give_and_more_is_asked_for(tmp_path: Path) -> None:
    async with asking(tmp_path, "limits.max_mutations=5") as opened:
        more = await call(opened, "session.create", limits={"max_mutations": 6})
        assert "6 mutations" in str((await shown(opened, action_of(more)))["preview"])
        assert result(await call(opened, "session.create", limits={"max_mutations": 5, "max_test_runs": 1}))
        assert result(await call(opened, "session.create"))


async def test_a_person_gives_what_they_like(tmp_path: Path) -> None:
    async with plane(tmp_path, "trust.mode=always", operations=[FixtureOps()]) as opened:
        code = result(await decide(opened, "pairing.create"))["code"]
        guest = Caller(surface="connect", client="phone")
        bound = await opened.conveyor.call("pairing.bind", {"code": code, "device_name": "phone"}, guest)
        assert bound.result is not None
        device = Caller(surface="connect", client="phone", token=bound.result.model_dump()["token"])
        for person in (OWNER, device):
            for name, given in (
                ("session.create", {"limits": {"max_mutations": 5000}}),
                ("session.configure", {"limits_delta": {"add_mutations": 5}}),
            ):
                arguments: JsonObject = {**given}
                done = await opened.conveyor.call(name, arguments, person)
                assert done.error is None, (person.surface, name, done.error)


async def test_an_agent_is_not_given_more_in_a_session_of_a_persons(tmp_path: Path) -> None:
    async with asking(tmp_path) as opened:
        made = result(await decide(opened, "session.create"))["session_id"]
        given: JsonObject = {"add_mutations": 1}
        assert refused(await call(opened, "session.configure", session_id=made, limits_delta=given)) == (
            "POLICY_DENIED"
        )
        assert result(await decide(opened, "approval.list"))["items"] == [], "nobody is asked about it"
