"""Explorations in the dialect 0.2.1: the plan, the operations and the summary as updates of a session."""

from itertools import pairwise
from typing import Any

import pytest
import xxhash

from codeplane.kernel.json import canonical
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import AcpClient, AcpError, acp_client
from tests.surfaces.acp.test_seed_dialect import _keys, opened, shown

pytestmark = requirement("ACP-14")

START = "orchestrate.explore.start"


async def explored(client: AcpClient, session: str, **params: Any) -> dict[str, Any]:
    """Start an exploration and wait for its end."""
    started: dict[str, Any] = await client.call(START, {"session_id": session, **params})
    await client.until(lambda: ended(client, started["call_id"]))
    return started


def ended(client: AcpClient, call_id: str) -> dict[str, Any] | None:
    updates = [update for update in shown(client, "tool_call_update") if update["call_id"] == call_id]
    return next((update for update in updates if update["status"] != "started"), None)


class TestPlanToACPPlanMappingTests:
    async def test_each_snapshot_is_a_plan_that_names_its_ids(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            started = await explored(client, session, goals=["greetings"])
            plans = shown(client, "plan")
            metas = [plan["_meta"] for plan in plans]
            assert {meta["plan_id"] for meta in metas} == {started["plan_id"]}
            assert [meta["snapshot_id"] for meta in metas] == list(range(1, len(plans) + 1))
            assert [meta["prev_snapshot_id"] for meta in metas] == [None, *range(1, len(plans))]
            for earlier, later in pairwise(metas):
                assert later["next_ops"][: len(earlier["next_ops"])] == earlier["next_ops"]
            for plan, meta in zip(plans, metas, strict=True):
                assert len(plan["entries"]) == len(meta["next_ops"]) and meta["goals"] == ["greetings"]
                assert {entry["status"] for entry in plan["entries"]} <= {"pending", "in_progress", "completed"}
            assert {entry["status"] for entry in plans[0]["entries"]} == {"pending"}

    async def test_each_operation_is_a_call_that_ends_with_a_typed_output(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            started = await explored(client, session)
            planned = {op["op_id"] for op in shown(client, "plan")[-1]["_meta"]["next_ops"]}
            calls = {call["call_id"]: call["name"] for call in shown(client, "tool_call")}
            assert calls.pop(started["call_id"]) == START
            assert calls.keys() == planned and {"content.get_span", "git.status", "search.grep"} <= {*calls.values()}
            for call_id in [*calls, started["call_id"]]:
                last = ended(client, call_id)
                assert last is not None and last["status"] == "completed"
                assert last["_meta"]["checksum"] == xxhash.xxh32_intdigest(canonical(last["output"]))
            summary = ended(client, started["call_id"])
            assert summary is not None and summary["_meta"]["type"] == "ExploreSummary"
            assert summary["output"]["languages"] == {"python": 3, "markdown": 1}
            assert {key for message in client.heard for key in _keys(message) if key != key.lower()} == {
                "sessionUpdate"
            }

    async def test_the_envelopes_are_chained_without_gaps(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            started = await explored(client, await opened(client))
            metas = [update["_meta"] for update in client.updates if "event_id" in update.get("_meta", {})]
            chain = {meta["event_id"]: meta["prev_event_id"] for meta in metas}
            assert list(chain.values()) == [None, *list(chain)[:-1]]
            assert {meta["explore_id"] for meta in metas} == {started["explore_id"]}
            assert metas[0].keys() >= {"parent_id", "ts", "kind", "cursor"}

    async def test_another_connection_goes_on_after_a_cursor(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            started = await explored(client, session)
            metas = [update["_meta"] for update in client.updates if "event_id" in update.get("_meta", {})]
        async with acp_client(plain_server) as client:
            session = await opened(client)
            half = metas[len(metas) // 2]["cursor"]
            asked = {"session_id": session, "explore_id": started["explore_id"], "after": half}
            watched = await client.call("orchestrate.explore.watch", asked)
            await client.until(lambda: ended(client, watched["call_id"]))
            rest = [update["_meta"] for update in client.updates if "event_id" in update.get("_meta", {})]
            assert [meta["event_id"] for meta in rest] == [meta["event_id"] for meta in metas if meta["cursor"] > half]


async def test_status_concurrency_and_abort(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await opened(client)
        started = await client.call(START, {"session_id": session})
        aborted = await client.call("orchestrate.explore.abort", {"session_id": session, "reason": "enough"})
        assert aborted["explore_id"] == started["explore_id"]
        last = await client.until(lambda: ended(client, started["call_id"]))
        if aborted["state"] == "stopped":
            assert (last["status"], last["error"]) == ("error", "ERR_OP_CANCELED: enough")
        found = await client.call("orchestrate.explore.status", {"session_id": session})
        assert (found["explore_id"], found["state"]) == (started["explore_id"], aborted["state"])
        with pytest.raises(AcpError) as over:
            await client.call(
                "orchestrate.explore.setConcurrency", {"session_id": session, "max_in_flight_ops": 2, "op_caps": {}}
            )
        assert over.value.data["error"] == "WORK_ENDED"


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        (START, {"session_id": "thr_none"}),
        (START, {"goals": ["one"] * 21}),
        ("orchestrate.explore.status", {}),
        ("orchestrate.explore.abort", {"explore_id": "00000000-none"}),
        ("orchestrate.explore.setConcurrency", {"explore_id": "00000000-none", "maxInFlightOps": 0}),
    ],
)
async def test_wrong_requests_are_refused(plain_server: Server, method: str, wrong: dict[str, object]) -> None:
    async with acp_client(plain_server) as client:
        session = await opened(client)
        with pytest.raises(AcpError) as refused:
            await client.call(method, {"session_id": session, **wrong})
        assert refused.value.data["code"].startswith("ERR_") and client.updates == []


async def test_a_clone_without_leave_ends_as_an_error(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await opened(client)
        asked = {"session_id": session, "remote_url": "https://example.com/shop.git", "policy": {"network": False}}
        with pytest.raises(AcpError):
            await client.call(START, asked)
        (call,) = shown(client, "tool_call")
        last = ended(client, call["call_id"])
        assert last is not None and last["status"] == "error" and last["error"].startswith("ERR_")
