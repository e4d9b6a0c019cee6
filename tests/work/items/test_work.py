"""Work items: calls made one after the other in the background, each once, whatever happens in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import LedgerCorrupt, SequenceConflict, TooLarge
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import differences
from codeplane.wiring.app import Plane
from codeplane.work.items.table import LEASED, WorkTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, ManualClock, events, plane
from tests.trust.approvals.agent_calls import refused, result

pytestmark = requirement("WORK-02")

WRITE: JsonObject = {"operation": "fixture.write"}
SEND: JsonObject = {"operation": "fixture.send", "arguments": {"text": "x"}}
OTHER = replace(AGENT, client="other", connection_id="c2")


@asynccontextmanager
async def working(
    root: Path, *settings: str, ops: FixtureOps | None = None, clock: Clock | None = None
) -> AsyncIterator[Plane]:
    """A plane whose engine runs, as a server's does."""
    async with plane(root, *settings, operations=[ops or FixtureOps()], clock=clock) as opened:
        opened.work.start_engine(opened.conveyor)
        yield opened


async def ask(opened: Plane, name: str, /, *, caller: Caller = OWNER, **arguments: JsonValue) -> Outcome:
    return await opened.conveyor.call(name, arguments, caller)


async def started(opened: Plane, *steps: JsonObject, **arguments: JsonValue) -> str:
    wanted: JsonObject = {"steps": [*steps], **arguments}
    return str(result(await opened.conveyor.call("work.start", wanted, OWNER))["work_id"])


async def shown(opened: Plane, work_id: str) -> JsonObject:
    return result(await ask(opened, "work.show", work_id=work_id))


async def reached(opened: Plane, work_id: str, *states: str) -> JsonObject:
    """The item once it is in one of the states."""
    async for _ in opened.log.watch(streams={f"work/{work_id}": 0}, heartbeat_sec=60):
        item = await shown(opened, work_id)
        if item["state"] in states:
            return item
    raise AssertionError("the log ended")


async def test_calls_are_made_in_their_order_and_recorded_step_by_step(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        work_id = await started(opened, WRITE, {"operation": "status"}, WRITE, title="three calls")
        item = await reached(opened, work_id, "COMPLETED")
        assert (item["steps_done"], item["steps_total"], item["attempt"]) == (3, 3, 1)
        assert ops.ran == ["fixture.write", "fixture.write"]
        kinds = [event.type for event in await events(opened, stream=f"work/{work_id}")]
        assert kinds == ["work.created", "work.leased", *["work.stepped"] * 3, "work.completed"]
        calls = [event for event in await events(opened, work_id=work_id) if event.type == "call.finished"]
        assert {event.actor for event in calls} == {f"job:{work_id}"}
        origins = [event.payload["origin"] for event in calls]
        assert [origin["step"] for origin in origins if isinstance(origin, dict)] == [0, 1, 2]
        text = (await ask(opened, "work.show", work_id=work_id)).result
        assert text is not None and "COMPLETED, 3 of 3 steps three calls" in text.text()
        assert await opened.log.readers.run(lambda connection: differences(connection, WorkTable())) == []


async def test_a_step_that_fails_ends_it_and_says_which(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        failing: JsonObject = {"operation": "fixture.fail", "arguments": {"text": "NOT_FOUND"}}
        item = await reached(opened, await started(opened, WRITE, failing, WRITE), "FAILED")
        assert item["steps_done"] == 1 and ops.ran == ["fixture.write", "fixture.fail"]
        assert (item["error"], item["message"]) == ("NOT_FOUND", "step 2: it was asked for")


async def test_bad_steps_are_refused_before_anything_runs(tmp_path: Path) -> None:
    ops = FixtureOps()
    bad_steps: list[tuple[JsonObject, str]] = [
        ({"operation": "fixture.wriet"}, "step 2"),
        ({"operation": "write_files", "arguments": {"edits": 3}}, "step 2"),
        ({"operation": "approval.approve", "arguments": {"action_id": "act_1234"}}, "is for people"),
        ({"operation": "ledger.watch"}, "is a stream"),
        ({"operation": "work.cancel", "arguments": {"work_id": "wrk_1234"}}, "not for work itself"),
    ]
    async with working(tmp_path, ops=ops) as opened:
        for bad, why in bad_steps:
            refusal = await ask(opened, "work.start", steps=[WRITE, bad])
            assert refused(refusal) == "INVALID_ARGUMENT"
            assert refusal.error is not None and why in refusal.error.message
        assert refused(await ask(opened, "work.start", steps=[])) == "INVALID_ARGUMENT"
        assert ops.ran == [] and await events(opened, "work.created") == []


async def test_an_agent_needs_the_right_to_start_work_and_sees_its_own(tmp_path: Path) -> None:
    async with working(tmp_path) as opened:
        assert refused(await ask(opened, "work.start", caller=AGENT, steps=[WRITE])) == "CAPABILITY_DENIED"
        granted: JsonObject = {"agent": "agent", "without_token": True, "capabilities": ["spawn_agents"]}
        assert (await opened.conveyor.call("capability.grant", granted, OWNER)).error is None
        of_agent = str(result(await ask(opened, "work.start", caller=AGENT, steps=[WRITE]))["work_id"])
        item = await reached(opened, of_agent, "COMPLETED", "FAILED")
        assert (item["state"], item["on_behalf_of"]) == ("COMPLETED", "agent:agent")
        of_owner = await started(opened, WRITE)

        async def listed(caller: Caller) -> set[str]:
            rows = result(await ask(opened, "work.list", caller=caller))["results"]
            assert isinstance(rows, list)
            return {str(row["work_id"]) for row in rows if isinstance(row, dict)}

        assert await listed(AGENT) == {of_agent} and await listed(OTHER) == set()
        assert await listed(OWNER) == {of_agent, of_owner}
        assert refused(await ask(opened, "work.show", caller=OTHER, work_id=of_agent)) == "WORK_NOT_FOUND"
        assert refused(await ask(opened, "work.cancel", caller=AGENT, work_id=of_owner)) == "WORK_NOT_FOUND"
        assert refused(await ask(opened, "work.resume", caller=AGENT, work_id=of_agent)) == "POLICY_DENIED"


async def test_it_waits_for_a_person_and_goes_on_once_they_agree(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        work_id = await started(opened, WRITE, SEND, WRITE)
        item = await reached(opened, work_id, "WAITING")
        assert (item["waits_for"], item["steps_done"], ops.ran) == ("approval", 1, ["fixture.write"])
        await ask(opened, "approval.approve", action_id=str(item["action_id"]))
        item = await reached(opened, work_id, "COMPLETED", "FAILED")
        assert item["state"] == "COMPLETED" and ops.ran == ["fixture.write", "fixture.send", "fixture.write"]


async def test_a_no_ends_it(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        work_id = await started(opened, SEND, WRITE)
        item = await reached(opened, work_id, "WAITING")
        await ask(opened, "approval.reject", action_id=str(item["action_id"]), reason="not today")
        assert (await reached(opened, work_id, "FAILED"))["error"] == "REJECTED" and ops.ran == []


async def test_it_goes_on_after_a_restart_where_it_was(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        waiting = await started(opened, WRITE, SEND, WRITE)
        action_id = str((await reached(opened, waiting, "WAITING"))["action_id"])
    # An embedded run records, and runs nothing.
    async with plane(tmp_path, operations=[ops]) as opened:
        queued = await started(opened, WRITE)
        await opened.work._sweep_work()
        assert (await shown(opened, queued))["state"] == "QUEUED"
    async with working(tmp_path, ops=ops) as opened:
        await reached(opened, queued, "COMPLETED")
        assert (await shown(opened, waiting))["state"] == "WAITING"
        await ask(opened, "approval.approve", action_id=action_id)
        await reached(opened, waiting, "COMPLETED")
        assert ops.ran.count("fixture.send") == 1 and ops.ran.count("fixture.write") == 3


async def test_limits_pause_it_over_restarts_and_a_person_raises_them(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        work_id = await started(opened, WRITE, WRITE, WRITE, max_steps=2)
        item = await reached(opened, work_id, "WAITING")
        assert (item["waits_for"], item["steps_done"]) == ("budget", 2)
    async with working(tmp_path, ops=ops) as opened:
        await opened.work.engine.sweep()
        assert (await shown(opened, work_id))["state"] == "WAITING"
        await ask(opened, "work.resume", work_id=work_id, max_steps=10)
        await reached(opened, work_id, "COMPLETED")
        assert len(ops.ran) == 3
        assert refused(await ask(opened, "work.resume", work_id=work_id)) == "WORK_ENDED"


async def test_it_is_cancelled_while_it_waits_and_while_it_runs(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, ops=ops) as opened:
        waiting = await started(opened, SEND, WRITE)
        action_id = str((await reached(opened, waiting, "WAITING"))["action_id"])
        cancelled = result(await ask(opened, "work.cancel", work_id=waiting, reason="changed my mind"))
        assert cancelled["state"] == "CANCELLED"
        assert result(await ask(opened, "approval.show", action_id=action_id))["status"] == "REJECTED"
        assert refused(await ask(opened, "work.cancel", work_id=waiting)) == "WORK_ENDED"
        running = await started(opened, {"operation": "fixture.slow"}, WRITE)
        await ops.started.wait()
        assert result(await ask(opened, "work.cancel", work_id=running))["state"] == "CANCELLED"
        assert ops.cancelled.is_set() and opened.work.engine.running == 0 and "fixture.write" not in ops.ran


async def test_it_ends_within_a_sweep_of_the_revocation_of_whom_it_acts_for(tmp_path: Path) -> None:
    async with working(tmp_path) as opened:
        held: list[JsonValue] = ["read_files", "write_files", "execute_tools", "spawn_agents"]
        issued = result(await ask(opened, "agent.token", agent="short", capabilities=held))
        caller = Caller(surface="connect", client="short", token=str(issued["token"]))
        work_id = str(result(await ask(opened, "work.start", caller=caller, steps=[SEND]))["work_id"])
        await reached(opened, work_id, "WAITING")
        await ask(opened, "agent.revoke", agent="short")
        await opened.work.engine.sweep()
        assert "was revoked" in str((await reached(opened, work_id, "CANCELLED"))["message"])


async def test_only_one_of_two_engines_gets_an_item(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, operations=[FixtureOps()], clock=clock) as opened:
        work_id = await started(opened, WRITE)
        engine, store = opened.work.engine, opened.work.engine.store
        item = await store.get(work_id)
        lease: JsonObject = {"holder": "other/engine_1", "until_ns": clock.now_ns() + 10**9, "attempt": 1}
        await store.move(item, LEASED, dict(lease))
        with pytest.raises(SequenceConflict):
            await store.move(item, LEASED, {**lease, "holder": "third/engine_1"})
        # While the lease lasts, it is its holder's; when it has run out, another one may take it.
        assert not await engine._is_due(await store.get(work_id))
        clock.advance(2)
        assert await engine._is_due(await store.get(work_id))


@requirement("WORK-03")
async def test_what_is_kept_whole_is_sealed_bounded_and_bound_to_its_item(tmp_path: Path) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    async with plane(tmp_path, "work.payload_bytes=4096", operations=[FixtureOps()]) as opened:
        arguments: JsonObject = {"edits": [{"path": "a.txt", "content": f"token = {secret!r}\n"}]}
        work_id = await started(opened, {"operation": "write_files", "arguments": arguments})
        await opened.log.flush()
        item = await opened.work.engine.store.get(work_id)
        payloads = opened.work._payloads
        whole = await payloads.get(work_id, item.payload_hash)
        assert whole is not None and secret in whole.decode()
        rows = await opened.log.select("SELECT data FROM payloads")
        assert len(rows) == 1 and secret.encode() not in bytes(str(rows[0][0]), "latin-1", "replace")
        assert secret not in str([event.payload for event in await events(opened)])
        assert secret not in str(await shown(opened, work_id))
        with pytest.raises(TooLarge):
            await payloads.put(work_id, b"x" * 4096)
        position = opened.log.position
        with pytest.raises(TooLarge):
            await opened.log.append(
                [Draft(stream="s", type="t", payload={})], sealed=[payloads.seal(work_id, b"x" * 4096)]
            )
        assert opened.log.position == position
        sealed = payloads.seal(work_id, b"with its event")
        await opened.log.append([Draft(stream="s", type="t", payload={"hash": sealed.hash})], sealed=[sealed])
        assert await payloads.get(work_id, sealed.hash) == b"with its event"
        await payloads.delete(work_id, sealed.hash)
        large: JsonObject = {"edits": [{"path": "a.txt", "content": "x" * 5000}]}
        too_large = await ask(opened, "work.start", steps=[{"operation": "write_files", "arguments": large}])
        assert refused(too_large) == "TOO_LARGE"
        await opened.log.command(
            lambda writing: writing.connection.execute("UPDATE payloads SET work_id = 'wrk_other'").rowcount
        )
        with pytest.raises(LedgerCorrupt):
            await payloads.get("wrk_other", item.payload_hash)
        assert await payloads.get(work_id, item.payload_hash) is None
        assert await payloads.delete_orphans() == 1


@requirement("WORK-03")
async def test_a_resumed_write_writes_what_was_meant_and_not_what_was_shown(tmp_path: Path) -> None:
    content = "password = 'hunter2-in-a-file'\n"
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        arguments: JsonObject = {"edits": [{"path": "a.txt", "content": content}]}
        work_id = await started(opened, {"operation": "write_files", "arguments": arguments})
    async with working(tmp_path) as opened:
        await reached(opened, work_id, "COMPLETED")
    assert (tmp_path / "a.txt").read_text() == content


async def test_pages_list_every_item_once_though_the_clock_stands_still(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()], clock=ManualClock()) as opened:
        work_ids = [await started(opened, WRITE) for _ in range(5)]
        listed: list[str] = []
        cursor: JsonObject = {}
        while True:
            page = result(await opened.conveyor.call("work.list", {"limit": 2, **cursor}, OWNER))
            rows, pagination = page["results"], page["pagination"]
            assert isinstance(rows, list) and isinstance(pagination, dict)
            listed += [str(row["work_id"]) for row in rows if isinstance(row, dict)]
            if pagination["next_cursor"] is None:
                break
            cursor = {"cursor": pagination["next_cursor"]}
        assert listed == work_ids[::-1]


async def test_too_much_work_is_refused(tmp_path: Path) -> None:
    async with plane(tmp_path, "work.max_queued=2", operations=[FixtureOps()]) as opened:
        await started(opened, WRITE)
        await started(opened, WRITE)
        assert refused(await ask(opened, "work.start", steps=[WRITE])) == "OVERLOADED"


async def test_many_at_once_all_end_and_none_twice(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(tmp_path, "work.max_running=5", ops=ops) as opened:
        work_ids = await asyncio.gather(*(started(opened, WRITE, WRITE) for _ in range(30)))
        for work_id in work_ids:
            await reached(opened, work_id, "COMPLETED")
        assert len(ops.ran) == 60
        assert await opened.log.readers.run(lambda connection: differences(connection, WorkTable())) == []


async def test_work_started_by_work_is_its_child_and_ends_with_it(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with working(
        tmp_path, 'trust.agent_capabilities=["read_files", "write_files", "spawn_agents"]', ops=ops
    ) as opened:
        inner: JsonObject = {"operation": "work.start", "arguments": {"steps": [{"operation": "fixture.slow"}]}}
        parent = await started(opened, inner, {"operation": "fixture.slow_read"})
        await ops.started.wait()
        children = (await shown(opened, parent))["children"]
        assert isinstance(children, list)
        (child,) = children
        assert (await shown(opened, str(child)))["on_behalf_of"] == "owner:owner"
        await ask(opened, "work.cancel", work_id=parent)
        assert (await shown(opened, str(child)))["state"] == "CANCELLED"
