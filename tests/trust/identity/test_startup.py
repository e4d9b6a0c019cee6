"""How many agents an agent may start, each a session of its token; and what goes with an agent that is let go."""

from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonValue
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, FixtureOps, ManualClock, plane

pytestmark = requirement("TRUST-45")

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


async def test_a_token_starts_as_many_as_it_says(tmp_path: Path) -> None:
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


async def test_a_grant_allows_more_while_it_lasts(tmp_path: Path) -> None:
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


async def test_a_bound_of_a_grant_bounds_a_token_that_names_none(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        agent = await token(opened, "crew")
        await owner(opened, "capability.grant", agent="crew", capabilities=["spawn_agents"], max_agents=1)
        assert [await started(opened, agent) for _ in range(2)] == ["open", DENIED]


async def asks(opened: Plane, caller: Caller) -> str:
    """The question that the caller leaves open."""
    done = await opened.conveyor.call("fixture.send", {}, caller)
    assert done.error is not None and done.error.name == "APPROVAL_PENDING", done.error
    return str(done.error.details["action_id"])


async def test_with_an_agent_goes_all_it_holds(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        able = ["read_files", "execute_tools", "write_files", "execute_shell"]
        agent, other = (
            await token(opened, "crew", capabilities=able),
            await token(opened, "other", capabilities=able),
        )
        for name in ("crew", "other"):
            await owner(opened, "capability.grant", agent=name, capabilities=["spawn_agents"])
        trusted = await asks(opened, agent)
        await owner(opened, "approval.approve", action_id=trusted, trust=True)
        question = str((await opened.conveyor.call("fixture.destroy", {}, agent)).error.details["action_id"])  # type: ignore[union-attr]  # asked
        kept = await asks(opened, other)
        gone = await owner(opened, "agent.revoke", agent="crew")
        assert (gone["grants_ended"], gone["questions_rejected"]) == (1, 1)
        left = await owner(opened, "capability.list")
        assert [one["agent_id"] for one in left["results"]] == ["agent:agent_other"]  # type: ignore[union-attr, index, call-overload]  # as it is answered
        ended = await owner(opened, "approval.show", action_id=question)
        assert (ended["status"], ended["decided_by"], ended["reason"]) == (
            "REJECTED", "system", "agent_crew was revoked",
        )  # fmt: skip
        assert (await owner(opened, "approval.show", action_id=kept))["status"] == "PENDING"
        # Whoever is given that name next does not inherit what was trusted.
        assert (await owner(opened, "approval.trusted"))["items"] == []
        await asks(opened, await token(opened, "crew", capabilities=able))


async def test_grants_end_with_an_agent_whose_tokens_are_long_over(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await owner(opened, "capability.grant", agent="crew", capabilities=["write_files"])
        gone = await owner(opened, "agent.revoke", agent="crew")
        assert (gone["token_ids"], gone["grants_ended"]) == ([], 1)
        again = await opened.conveyor.call("agent.revoke", {"agent": "crew"}, OWNER)
        assert again.error is not None and again.error.name == "NOT_FOUND"


async def test_the_last_token_takes_the_questions_along_and_leaves_the_grants(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        able = ["read_files", "execute_tools", "write_files"]
        agents = [await token(opened, "crew", capabilities=able) for _ in range(2)]
        await owner(opened, "capability.grant", agent="crew", capabilities=["spawn_agents"])
        question = await asks(opened, agents[0])
        listed = (await owner(opened, "agent.list"))["items"]
        ids = [str(one["token_id"]) for one in listed]  # type: ignore[union-attr, index, call-overload]  # as it is answered
        assert (await owner(opened, "agent.revoke", agent=f"tok_{ids[0][-8:]}"))["token_ids"] == [ids[0]]
        assert (await owner(opened, "approval.show", action_id=question))["status"] == "PENDING"
        gone = await owner(opened, "agent.revoke", agent=ids[1])
        assert (gone["grants_ended"], gone["questions_rejected"]) == (0, 1)


async def test_with_a_device_go_the_questions_of_those_who_act_for_it(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        code = (await owner(opened, "pairing.create"))["code"]
        phone = await owner(opened, "pairing.bind", code=code, device_name="phone")
        agent = Caller(surface="mcp", client="claude", token=str(phone["token"]))
        question = await asks(opened, agent)
        gone = await owner(opened, "device.revoke", device_id=str(phone["device_id"])[-6:])
        assert (gone["device_id"], gone["questions_rejected"]) == (phone["device_id"], 1)
        assert (await owner(opened, "approval.show", action_id=question))["decided_by"] == "system"


async def test_an_agent_without_a_token_is_not_sent_to_the_owners(tmp_path: Path) -> None:
    async with plane(tmp_path, "server.require_token=true") as opened:
        for shown in (None, "wrong"):
            done = await opened.conveyor.call("status", {}, Caller(surface="mcp", client="claude", token=shown))
            assert done.error is not None and done.error.name == "UNAUTHORIZED"
            assert "cpl agents token" in done.error.hint and "owner" not in done.error.hint


async def test_what_a_person_granted_is_theirs_in_the_audit_and_bounds_are_told(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        agent = await token(opened, "crew", capabilities=["read_files", "write_files"], allowed_paths=["src/**"])
        asked = await opened.conveyor.call("capability.request", {"capabilities": ["execute_tools"]}, agent)
        assert asked.error is not None
        action = str(asked.error.details["action_id"])
        await owner(opened, "approval.approve", action_id=action)
        async for item in opened.log.follow(EventQuery(types=("capability.granted",))):
            if isinstance(item, Event):
                break
        found = (await owner(opened, "audit.list", event_type="capability.granted"))["results"]
        assert isinstance(found, list)
        assert [(entry["actor"], entry["action_id"]) for entry in found] == [("owner:owner", action)]
        held = await opened.conveyor.call("capability.list", {}, agent)
        assert held.result is not None
        assert "read_files, write_files allowed_paths=['src/**']" in held.result.text()
        (grant,) = opened.trust.grants.grants_of("agent_crew")
        assert (await owner(opened, "capability.revoke", grant_id=grant.grant_id[-6:]))["status"] == "REVOKED"
