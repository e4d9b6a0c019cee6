"""Agents act for the owner and are never the owner; whoever shows a wrong token is nobody."""

from __future__ import annotations

import re

import pytest
from mcp.shared.exceptions import MCPError

from tests.harness import Server, cpl
from tests.interaction.requirements import requirement

from .clients import ERAS, WAYS, Transport, connect_client, failure_of, text_of

each_way = pytest.mark.parametrize("way", WAYS, ids=str)


@each_way
async def test_a_client_is_an_agent_by_the_name_it_gives(way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way, name="somebody") as client:
        assert await text_of(client, "fixture_whoami") == "agent:somebody"


@requirement("TRUST-04")
@pytest.mark.parametrize("name", ("owner", "owner:owner", "system:unidentified", "cpl"))
async def test_no_name_makes_an_agent_the_owner(name: str, fixture_server: Server) -> None:
    async with connect_client(fixture_server, name=name) as client:
        assert await text_of(client, "fixture_whoami") == f"agent:{name}"
        assert (await failure_of(client, "fixture_destroy")).startswith("APPROVAL_PENDING: ")


@requirement("TRUST-01")
@each_way
async def test_what_destroys_leaves_or_is_a_shell_waits_for_a_person(way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way) as client:
        for tool in ("fixture_destroy", "fixture_send", "fixture_shell"):
            text = await failure_of(client, tool)
            assert text.startswith(f"APPROVAL_PENDING: {tool.replace('_', '.')} waits for a person's approval (act_")
            assert "hint: the person decides with: cpl approvals approve act_" in text
        assert await text_of(client, "fixture_write", name="x") == "wrote x as agent:tester"


async def test_who_approves_is_told_what_came_of_it(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        found = re.search(r"\((act_\w+)\)", await failure_of(client, "fixture_send"))
    assert found is not None
    approved = cpl("approvals", "approve", found[1][-10:], cwd=fixture_server.repo)
    assert approved.returncode == 0, approved.stderr
    assert approved.stdout.splitlines()[0].startswith(found[1]) and approved.stdout.splitlines()[-1] == "run: ok"
    again = cpl("approvals", "approve", found[1], cwd=fixture_server.repo)
    assert again.returncode == 1 and f"cpl approvals show {found[1]}" in again.stderr


async def test_an_approval_that_came_to_nothing_is_no_success(server: Server) -> None:
    edited = server.repo / "README.md"
    edited.write_text("edited\n")
    async with connect_client(server, toolset="all") as client:
        found = re.search(r"\((act_\w+)\)", await failure_of(client, "git_discard", paths=["README.md"]))
    assert found is not None
    edited.write_text("edited again\n")
    approved = cpl("approvals", "approve", found[1], cwd=server.repo)
    assert approved.returncode == 1
    assert "not run: it could not be run: EXPIRED" in approved.stdout
    assert edited.read_text() == "edited again\n"


@each_way
async def test_an_agent_cannot_make_the_log_forget(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        text = await failure_of(client, "ledger_retain")

    assert text.startswith("APPROVAL_PENDING: ledger.retain waits for a person's approval ")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("credential", ("Bearer wrong", "Bearer", "Basic b3duZXI6b3duZXI=", "wrong"))
async def test_a_wrong_credential_is_refused_and_not_ignored(credential: str, era: str, fixture_server: Server) -> None:
    headers = {"authorization": credential}
    with pytest.raises(ExceptionGroup) as caught:
        async with connect_client(fixture_server, way=Transport(transport="http", era=era), headers=headers) as client:
            await client.list_tools()

    assert caught.group_contains(MCPError, match="^UNAUTHORIZED: unknown token")


@pytest.mark.parametrize("era", ERAS)
async def test_the_owners_own_token_does_not_make_an_agent_the_owner(era: str, fixture_server: Server) -> None:
    headers = {"authorization": f"Bearer {fixture_server.token}"}
    async with connect_client(fixture_server, way=Transport(transport="http", era=era), headers=headers) as client:
        assert await text_of(client, "fixture_whoami") == "agent:tester"
        assert (await failure_of(client, "fixture_destroy")).startswith("APPROVAL_PENDING: ")
