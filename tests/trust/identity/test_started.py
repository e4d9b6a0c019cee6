"""How many agents an agent may start: each is a session of its token, counted when it is opened."""

from pathlib import Path

from codeplane.app import Plane
from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonValue
from tests.kernel.plane import OWNER, ManualClock, plane, run

DENIED = "CAPABILITY_DENIED"


async def token(opened: Plane, agent: str, **more: JsonValue) -> Caller:
    done = await opened.conveyor.call("agent.token", {"agent": agent, **more}, OWNER)
    assert done.result is not None, done.error
    return Caller(surface="connect", client=agent, token=done.result.model_dump()["token"])


async def started(opened: Plane, agent: Caller) -> str:
    """Whether the agent is given a session, or why not."""
    done = await opened.conveyor.call("agent.session", {}, agent)
    return done.error.name if done.error is not None else "open"


async def owner(opened: Plane, operation: str, **arguments: JsonValue) -> dict[str, JsonValue]:
    done = await opened.conveyor.call(operation, arguments, OWNER)
    assert done.result is not None, done.error
    return done.result.model_dump(mode="json")


def test_a_token_starts_as_many_as_it_says(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with plane(tmp_path, clock=clock) as opened:
            none, two = await token(opened, "none", max_agents=0), await token(opened, "two", max_agents=2)
            free = await token(opened, "free")
            assert await started(opened, none) == DENIED
            assert [await started(opened, two) for _ in range(3)] == ["open", "open", DENIED]
            assert [await started(opened, free) for _ in range(3)] == ["open"] * 3
            # A second token of the same agent is no second allowance.
            assert await started(opened, await token(opened, "two", max_agents=2)) == DENIED
            clock.advance(3601)
            assert await started(opened, two) == "open", "those before have ended"

    run(scenario())


def test_a_grant_allows_more_while_it_lasts(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with plane(tmp_path) as opened:
            agent = await token(opened, "crew", max_agents=1)
            assert [await started(opened, agent) for _ in range(2)] == ["open", DENIED]
            given = await owner(opened, "capability.grant", agent="crew", capabilities=["spawn_agents"], max_agents=2)
            assert [await started(opened, agent) for _ in range(2)] == ["open", DENIED]
            # Another's grant, and one of another capability, allow nothing here.
            await owner(opened, "capability.grant", agent="other", capabilities=["spawn_agents"], max_agents=9)
            await owner(opened, "capability.grant", agent="crew", capabilities=["read_files"], max_agents=9)
            assert await started(opened, agent) == DENIED
            await owner(opened, "capability.grant", agent="crew", capabilities=["spawn_agents"])
            assert await started(opened, agent) == "open"
            await owner(opened, "capability.revoke", grant_id=given["grant_id"])

    run(scenario())


def test_a_bound_of_a_grant_bounds_a_token_that_names_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with plane(tmp_path) as opened:
            agent = await token(opened, "crew")
            await owner(opened, "capability.grant", agent="crew", capabilities=["spawn_agents"], max_agents=1)
            assert [await started(opened, agent) for _ in range(2)] == ["open", DENIED]

    run(scenario())
