"""The person at an MCP client is asked there, in both eras of the protocol."""

from __future__ import annotations

import mcp_types as types
import pytest

from tests.harness import Server

from .clients import WAYS, Way, connected, failure_of, text_of

pytestmark = pytest.mark.anyio

each_way = pytest.mark.parametrize("way", WAYS, ids=str)


class Person:
    """Somebody at the client who always says the same."""

    def __init__(self, action: str, decision: str | None = None) -> None:
        self.action, self.decision = action, decision
        self.asked: list[types.ElicitRequestParams] = []

    async def __call__(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params)
        content = {"decision": self.decision} if self.decision is not None else None
        return types.ElicitResult(action=self.action, content=content)


@each_way
async def test_approved_in_the_client_it_runs(way: Way, fixture_server: Server) -> None:
    person = Person("accept", "approve")
    async with connected(fixture_server, way=way, person=person) as client:
        assert await text_of(client, "fixture_destroy") == "destroyed"
    assert len(person.asked) == 1
    shown = person.asked[0]
    assert isinstance(shown, types.ElicitRequestFormParams)
    assert shown.message.startswith("Destroy")


@each_way
@pytest.mark.parametrize("person", [Person("decline"), Person("accept", "reject")], ids=["decline", "reject"])
async def test_rejected_in_the_client_it_does_not_run(way: Way, person: Person, fixture_server: Server) -> None:
    async with connected(fixture_server, way=way, person=person) as client:
        assert (await failure_of(client, "fixture_destroy")).startswith("REJECTED: fixture.destroy was rejected by ")


@each_way
@pytest.mark.parametrize(
    "person", [Person("cancel"), Person("accept", "yes, whatever"), Person("accept")], ids=["cancel", "odd", "empty"]
)
async def test_anything_but_a_clear_yes_leaves_it_waiting(way: Way, person: Person, fixture_server: Server) -> None:
    async with connected(fixture_server, way=way, person=person) as client:
        assert (await failure_of(client, "fixture_destroy")).startswith("APPROVAL_PENDING: ")


async def test_what_is_too_long_to_be_shown_is_left_to_others(fixture_server: Server) -> None:
    person = Person("accept", "approve")
    async with connected(fixture_server, person=person) as client:
        text = await failure_of(client, "run_bash", command="#" * 20_000)
    assert text.startswith("APPROVAL_PENDING: ")
    assert person.asked == []


async def test_nobody_gives_itself_more_rights_in_its_client(fixture_server: Server) -> None:
    person = Person("accept", "approve")
    async with connected(fixture_server, person=person) as client:
        text = await failure_of(client, "capability_request", capabilities=["spawn_agents"])
    assert text.startswith("APPROVAL_PENDING: ")
    assert person.asked == []


async def test_what_the_client_brings_back_cannot_be_made_up(fixture_server: Server) -> None:
    way = Way(transport="http", era="2026-07-28")
    async with connected(fixture_server, way=way, person=Person("cancel")) as client:
        with pytest.raises(Exception, match="requestState"):
            await client.session.send_request(
                types.CallToolRequest(
                    params=types.CallToolRequestParams(
                        name="fixture_destroy",
                        arguments={},
                        request_state='{"idempotency_key":"k"}',
                        input_responses={
                            "approval": types.ElicitResult(action="accept", content={"decision": "approve"})
                        },
                    )
                ),
                types.CallToolResult,
            )
