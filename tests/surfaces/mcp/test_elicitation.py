"""The person at an MCP client is asked there where the owner switched that on for it, in both eras of the protocol."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from tests.harness import Server, cpl
from tests.interaction.requirements import requirement

from .clients import HANDSHAKE, LEGACY, WAYS, Transport, connect_client, failure_of, text_of

pytestmark = requirement("TRUST-12", "TRUST-61")

NAME = "asking-client"
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
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


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def allowed(settings: Path, fixture_server: Server) -> Iterator[str]:
    """The name of a client whose person may answer."""
    output = cpl("clients", "allow", NAME, "--repo", str(fixture_server.repo))
    assert output.returncode == 0, output
    yield NAME
    cpl("clients", "revoke", NAME, "--repo", str(fixture_server.repo))


@each_way
async def test_approved_in_the_client_it_runs(way: Transport, fixture_server: Server, allowed: str) -> None:
    person = Person("accept", "approve")
    async with connect_client(fixture_server, way=way, person=person, registered=allowed) as client:
        assert await text_of(client, "fixture_send") == "sent"
    assert len(person.asked) == 1
    shown = person.asked[0]
    assert isinstance(shown, types.ElicitRequestFormParams)
    assert shown.message.startswith("Send")
    last = cpl("approvals", "--all", "-n", "1", "--repo", str(fixture_server.repo)).stdout
    assert f"by client:{NAME}" in last


@each_way
async def test_without_the_owners_switch_no_client_is_asked_nor_believed(
    way: Transport, fixture_server: Server
) -> None:
    for registered in (None, NAME):
        person = Person("accept", "approve")
        async with connect_client(fixture_server, way=way, person=person, registered=registered) as client:
            assert (await failure_of(client, "fixture_send")).startswith("APPROVAL_PENDING: ")
        assert person.asked == []


@each_way
@pytest.mark.parametrize("tool", ["fixture_destroy", "fixture_shell"])
async def test_shell_and_what_destroys_are_never_asked_about_there(
    way: Transport, tool: str, fixture_server: Server, allowed: str
) -> None:
    person = Person("accept", "approve")
    async with connect_client(fixture_server, way=way, person=person, registered=allowed) as client:
        assert (await failure_of(client, tool)).startswith("APPROVAL_PENDING: ")
    assert person.asked == []


@each_way
@pytest.mark.parametrize("person", [Person("decline"), Person("accept", "reject")], ids=["decline", "reject"])
async def test_rejected_in_the_client_it_does_not_run(
    way: Transport, person: Person, fixture_server: Server, allowed: str
) -> None:
    async with connect_client(fixture_server, way=way, person=person, registered=allowed) as client:
        assert (await failure_of(client, "fixture_send")).startswith("REJECTED: fixture.send was rejected by ")


@each_way
@pytest.mark.parametrize(
    "person", [Person("cancel"), Person("accept", "yes, whatever"), Person("accept")], ids=["cancel", "odd", "empty"]
)
async def test_anything_but_a_clear_yes_leaves_it_waiting(
    way: Transport, person: Person, fixture_server: Server, allowed: str
) -> None:
    async with connect_client(fixture_server, way=way, person=person, registered=allowed) as client:
        assert (await failure_of(client, "fixture_send")).startswith("APPROVAL_PENDING: ")


@each_way
async def test_an_answer_that_comes_after_the_client_was_revoked_does_not_count(
    way: Transport, fixture_server: Server, allowed: str
) -> None:
    async def revoked_meanwhile(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        output = await anyio.to_thread.run_sync(
            lambda: cpl("clients", "revoke", NAME, "--repo", str(fixture_server.repo))
        )
        assert output.returncode == 0, output
        return types.ElicitResult(action="accept", content={"decision": "approve"})

    async with connect_client(fixture_server, way=way, person=revoked_meanwhile, registered=allowed) as client:
        assert (await failure_of(client, "fixture_send")).startswith("APPROVAL_PENDING: ")
        person = Person("accept", "approve")
    async with connect_client(fixture_server, way=way, person=person, registered=allowed) as client:
        assert (await failure_of(client, "fixture_send")).startswith("APPROVAL_PENDING: ")
    assert person.asked == []


async def test_an_answer_in_the_name_of_another_session_does_not_count(fixture_server: Server, allowed: str) -> None:
    async def answered_by_another(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        [session] = sessions
        answer = {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"decision": "approve"}}}
        headers = {**JSON, "mcp-session-id": session, "mcp-protocol-version": HANDSHAKE}
        async with httpx2.AsyncClient(trust_env=False) as http:
            for shown in ({}, {"x-codeplane-client": "cpl_client_" + "a" * 43}):
                for body in (answer, [answer]):
                    response = await http.post(fixture_server.mcp_url, json=body, headers={**headers, **shown})
                    assert response.status_code == 404 and "Session not found" in response.text
            assert (await http.delete(fixture_server.mcp_url, headers=headers)).status_code == 404
        return types.ElicitResult(action="accept", content={"decision": "reject"})

    sessions: list[str] = []

    async def note_session(response: httpx2.Response) -> None:
        if (named := response.headers.get("mcp-session-id")) is not None and named not in sessions:
            sessions.append(named)

    secret = ClientSecret.of(fixture_server.workspace, allowed).read()
    async with (
        httpx2.AsyncClient(trust_env=False, headers={HEADER: secret}, event_hooks={"response": [note_session]}) as http,
        Client(
            streamable_http_client(fixture_server.mcp_url, http_client=http),
            mode=LEGACY,
            client_info=types.Implementation(name="tester", version="1"),
            cache=None,
            elicitation_callback=answered_by_another,
        ) as client,
    ):
        assert (await failure_of(client, "fixture_send")).startswith("REJECTED: ")


@pytest.mark.parametrize("shown", ["cpl_client_" + "a" * 43, "", "hash"])
async def test_another_secret_is_none(shown: str, fixture_server: Server, allowed: str) -> None:
    if shown == "hash":
        # What the log has is not what is shown.
        rows = fixture_server.call("ledger.events", types=["client.allowed"])["result"]["results"]  # type: ignore[index,call-overload]  # it succeeds
        shown = str(rows[-1]["payload"]["secret_hash"])  # type: ignore[index,call-overload]  # an object
    person = Person("accept", "approve")
    async with connect_client(fixture_server, person=person, headers={"X-CodePlane-Client": shown}) as client:
        assert (await failure_of(client, "fixture_send")).startswith("APPROVAL_PENDING: ")
    assert person.asked == []


async def test_the_secret_is_the_users_alone_and_only_its_hash_is_kept(
    settings: Path, fixture_server: Server, allowed: str
) -> None:
    file = ClientSecret.of(fixture_server.workspace, NAME).file
    secret = file.read_text().strip()
    assert settings in file.parents and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for path in fixture_server.repo.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    printed = cpl("clients", "allow", NAME, "--header", "--repo", str(fixture_server.repo)).stdout
    assert printed == f"X-CodePlane-Client: {file.read_text().strip()}\n" and secret not in printed
    listed = cpl("clients", "--repo", str(fixture_server.repo)).stdout
    assert listed.startswith(f"{NAME}: ") and "cpl_client_" not in listed
    assert cpl("clients", "revoke", NAME, "--repo", str(fixture_server.repo)).returncode == 0
    assert not file.exists()
    assert cpl("clients", "revoke", NAME, "--repo", str(fixture_server.repo)).returncode == 1


async def test_a_folder_inside_the_repository_holds_no_secret(
    fixture_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    link = tmp_path / "linked"
    link.symlink_to(fixture_server.repo)
    for inside in (fixture_server.repo / "config", link / "config"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(inside))
        output = cpl("clients", "allow", NAME, "--repo", str(fixture_server.repo))
        assert output.returncode == 2 and "inside the repository" in output.stderr
        assert [path for path in inside.rglob("*") if path.is_file()] == []


async def test_nobody_gives_itself_more_rights_in_its_client(fixture_server: Server, allowed: str) -> None:
    person = Person("accept", "approve")
    async with connect_client(fixture_server, person=person, registered=allowed) as client:
        text = await failure_of(client, "capability_request", capabilities=["spawn_agents"])
    assert text.startswith("APPROVAL_PENDING: ")
    assert person.asked == []


async def test_what_the_client_brings_back_cannot_be_made_up(fixture_server: Server, allowed: str) -> None:
    way = Transport(transport="http", era="2026-07-28")
    async with connect_client(fixture_server, way=way, person=Person("cancel"), registered=allowed) as client:
        with pytest.raises(Exception, match="requestState"):
            await client.session.send_request(
                types.CallToolRequest(
                    params=types.CallToolRequestParams(
                        name="fixture_send",
                        arguments={},
                        request_state='{"idempotency_key":"k"}',
                        input_responses={
                            "approval": types.ElicitResult(action="accept", content={"decision": "approve"})
                        },
                    )
                ),
                types.CallToolResult,
            )
