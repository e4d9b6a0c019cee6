"""Who may read what of the log: an agent what it did and began, people and whom they grant it everything."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Result
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, plane
from tests.trust.approvals.agent_calls import action_of, refused, result

pytestmark = requirement("LOG-50")

OTHER = replace(AGENT, client="other", connection_id="c2")


async def ask(opened: Plane, caller: Caller, name: str, /, **arguments: JsonValue) -> Outcome:
    return await opened.conveyor.call(name, arguments, caller)


async def seen(opened: Plane, caller: Caller, **wanted: JsonValue) -> list[JsonObject]:
    await opened.log.flush()
    found = result(await ask(opened, caller, "ledger.events", limit=1000, **wanted))["results"]
    assert isinstance(found, list)
    return [event for event in found if isinstance(event, dict)]


async def busy(opened: Plane) -> str:
    """Two agents and the owner do something; returns an action that the first agent proposed."""
    for caller in (AGENT, OTHER, OWNER):
        assert (await ask(opened, caller, "fixture.write")).error is None
    return action_of(await ask(opened, AGENT, "fixture.send", text="x"))


def actors(events: list[JsonObject]) -> set[str]:
    return {str(event["actor"]) for event in events}


async def test_an_agent_reads_what_it_did_and_began(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        action_id = await busy(opened)
        await ask(opened, OWNER, "approval.reject", action_id=action_id, reason="no")
        own = await seen(opened, AGENT)
        assert "agent:agent" in actors(own) and "agent:other" not in actors(own)
        # The owner's answer is in a stream that the agent began; what else the owner does is not.
        assert [event["type"] for event in own if event["actor"] == "owner:owner"] == ["action.rejected"]
        assert {event["type"] for event in own} >= {"task.opened", "call.finished", "action.created"}
        assert await seen(opened, AGENT, stream=f"action/{action_id}")
        assert await seen(opened, OTHER, stream=f"action/{action_id}") == []
        assert actors(await seen(opened, OTHER)) == {"agent:other"}
        everything = await seen(opened, OWNER)
        assert actors(everything) >= {"agent:agent", "agent:other", "owner:owner"}
        text = (await ask(opened, AGENT, "ledger.events")).result
        assert text is not None and "only events of agent:agent" in text.text()


async def test_a_grant_or_a_token_shows_it_everything(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await busy(opened)
        granted = await ask(
            opened, OWNER, "capability.grant", agent="other", without_token=True, capabilities=["context_sharing"]
        )
        assert granted.error is None, granted.error
        assert actors(await seen(opened, OTHER)) >= {"agent:agent", "agent:other", "owner:owner"}
        assert "owner:owner" not in actors(await seen(opened, AGENT, types=["call.finished"]))
        for capabilities, expected in ((["read_files"], False), (["read_files", "context_sharing"], True)):
            issued = result(await ask(opened, OWNER, "agent.token", agent="reader", capabilities=[*capabilities]))
            caller = Caller(surface="connect", client="reader", token=str(issued["token"]))
            assert ("owner:owner" in actors(await seen(opened, caller))) is expected


async def test_asking_for_it_goes_to_a_person(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await busy(opened)
        asked = await ask(opened, OTHER, "capability.request", capabilities=["context_sharing"], duration_sec=60)
        assert refused(asked) == "APPROVAL_PENDING"
        assert actors(await seen(opened, OTHER)) == {"agent:other"}
        # What only agents' settings give needs nobody.
        low = await ask(opened, OTHER, "capability.request", capabilities=["read_files"], duration_sec=60)
        assert low.error is None


async def first_item(opened: Plane, caller: Caller, name: str, /, **arguments: JsonValue) -> Result | Outcome:
    items = cast(AsyncGenerator[Result | Outcome, None], opened.conveyor.stream(name, arguments, caller))
    async with aclosing(items):
        return await anext(items)


async def test_streams_of_others_are_not_followed(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        action_id = await busy(opened)
        streams: JsonObject = {f"action/{action_id}": 0}
        for hidden in (streams, {"audit": 0}, {**streams, "policy": 0}, {"nothing": 0}):
            denied = await first_item(opened, OTHER, "ledger.follow", streams=cast(JsonValue, hidden))
            assert isinstance(denied, Outcome) and refused(denied) == "CAPABILITY_DENIED"
        for caller in (AGENT, OWNER):
            item = await first_item(opened, caller, "ledger.follow", streams=streams)
            assert not isinstance(item, Outcome)
            event = item.model_dump()["event"]
            assert event["type"] == "action.created"


async def test_a_watch_shows_an_agent_its_own(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await busy(opened)
        await opened.log.flush()
        items = opened.conveyor.stream("ledger.watch", {"after": 0, "heartbeat_sec": 0.1}, OTHER)
        async with aclosing(cast(AsyncGenerator[Result | Outcome, None], items)) as watched:
            shown: set[str] = set()
            async for item in watched:
                assert not isinstance(item, Outcome)
                wire = item.model_dump()
                if wire["event"] is None:
                    break
                shown.add(wire["event"]["actor"])
        assert shown == {"agent:other"}


@pytest.mark.parametrize("name", ["call.list", "audit.list", "trace.list"])
async def test_lists_show_an_agent_its_own(tmp_path: Path, name: str) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await busy(opened)
        await opened.log.flush()

        async def listed(caller: Caller, **arguments: JsonValue) -> set[str]:
            found = result(await ask(opened, caller, name, **arguments))
            rows = found.get("results") or found.get("traces")
            assert isinstance(rows, list)
            return {str(row["actor"]) for row in rows if isinstance(row, dict)}

        assert await listed(OTHER) == {"agent:other"}
        # Asking for somebody else's shows no more.
        assert await listed(OTHER, actor="agent:agent") == {"agent:other"}
        assert await listed(OWNER) >= {"agent:agent", "agent:other", "owner:owner"}


async def test_a_trace_of_others_is_not_shown(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        call_id = (await ask(opened, AGENT, "fixture.write")).meta.call_id
        assert refused(await ask(opened, OTHER, "trace.show", call_id=call_id)) == "NOT_FOUND"
        for caller in (AGENT, OWNER):
            assert (await ask(opened, caller, "trace.show", call_id=call_id)).error is None


async def test_an_export_of_an_agent_holds_its_own(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await busy(opened)
        await opened.log.flush()
        counts = {}
        for caller in (OTHER, OWNER):
            exported = result(await ask(opened, caller, "ledger.export"))
            text = "".join(file.read_text() for file in Path(str(exported["folder"])).glob("*.ndjson"))
            counts[caller.client] = text.count('"agent:agent"')
        assert counts["other"] == 0 < counts["test"]
