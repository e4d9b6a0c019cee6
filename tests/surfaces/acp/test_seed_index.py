"""The progress of the index in the dialect 0.2.1, for those who subscribed to it."""

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import AcpClient, AcpError, acp_client
from tests.surfaces.acp.test_seed_dialect import opened, shown

pytestmark = requirement("ACP-15")


def completed(client: AcpClient) -> int:
    return [update["status"] for update in shown(client, "tool_call_update")].count("completed")


class TestBackgroundIndexingSubscriptionTests:
    async def test_nothing_is_told_without_a_subscription(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as quiet, acp_client(plain_server) as told:
            await opened(quiet)
            await told.call("index.subscribe", {"session_id": await opened(told)})
            await told.until(lambda: shown(told, "agent_message_chunk"))
            await rebuilt(plain_server, told)
            # Whatever was to come would have come before this answer.
            await quiet.call("index.status")
            assert quiet.updates == []

    async def test_a_rebuild_is_one_call_with_progress_that_completes(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            subscribed = await client.call("index.subscribe", {"session_id": session})
            await client.until(lambda: shown(client, "agent_message_chunk"))
            await rebuilt(plain_server, client)
            (call,) = shown(client, "tool_call")
            assert (call["name"], call["call_id"]) == ("index.rebuild", subscribed["call_id"])
            updates = shown(client, "tool_call_update")
            assert [one["status"] for one in updates] == ["started"] * (len(updates) - 1) + ["completed"]
            assert len(updates) > 1 and {one["call_id"] for one in updates} == {call["call_id"]}
            assert updates[-1]["_meta"]["progress"] == 1.0 and updates[-1]["output"]["files_indexed"] >= 2
            shares = [one["_meta"]["progress"] for one in updates if one["_meta"]["progress"] is not None]
            assert shares == sorted(shares)

    async def test_who_subscribes_late_gets_the_state(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            epoch = (await client.call("index.status"))["epoch"]
            await client.call("index.subscribe", {"session_id": session, "workspace_id": plain_server.repo.name})
            (state,) = await client.until(lambda: shown(client, "agent_message_chunk"))
            assert f"epoch {epoch}, " in state["content"]["text"] and state["_meta"]["index"]["epoch"] == epoch

    async def test_who_asks_to_follow_is_told_about_every_rebuild(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            subscribed = await client.call("index.subscribe", {"session_id": session, "follow": True})
            await client.until(lambda: shown(client, "agent_message_chunk"))
            for count in (1, 2):
                await rebuilt(plain_server, client, count)
            first, second = (call["call_id"] for call in shown(client, "tool_call")[:2])
            assert first == subscribed["call_id"] != second
            for call_id in (first, second):
                own = [one["status"] for one in shown(client, "tool_call_update") if one["call_id"] == call_id]
                assert own == ["started"] * (len(own) - 1) + ["completed"] and len(own) > 1

    async def test_without_following_a_second_rebuild_is_not_told(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            await client.call("index.subscribe", {"session_id": await opened(client)})
            await client.until(lambda: shown(client, "agent_message_chunk"))
            await rebuilt(plain_server, client)
            count = len(client.updates)
            plain_server.call("index.rebuild")
            await client.call("index.status")
            assert len(client.updates) == count

    async def test_the_envelope_of_an_extension_is_unwrapped(self, plain_server: Server) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            envelope = {"session_id": session, "namespace": "index", "name": "subscribe"}
            payload = {"workspace_id": plain_server.repo.name}
            assert (await client.call("index.subscribe", {**envelope, "payload": payload}))["subscribed"] is True
            for wrong in ({**envelope, "name": "status"}, {**envelope, "namespace": "features"}):
                with pytest.raises(AcpError) as refused:
                    await client.call("index.subscribe", {**wrong, "payload": payload})
                assert refused.value.name == "INVALID_ARGUMENT"

    @pytest.mark.parametrize("wrong", [{"session_id": "thr_none"}, {"workspace_id": "elsewhere"}])
    async def test_wrong_subscriptions_are_refused(self, plain_server: Server, wrong: dict[str, str]) -> None:
        async with acp_client(plain_server) as client:
            session = await opened(client)
            with pytest.raises(AcpError):
                await client.call("index.subscribe", {"session_id": session, **wrong})
            assert client.updates == []


async def rebuilt(server: Server, client: AcpClient, count: int = 1) -> None:
    """Rebuild the index until the client has heard of so many: the first may begin before it is followed."""
    while len(shown(client, "tool_call")) < count:
        server.call("index.rebuild")
        await client.call("index.status")
    await client.until(lambda: completed(client) >= count)
