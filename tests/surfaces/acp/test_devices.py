"""A device's token on `/acp` makes no person of a client, gives no right to sessions, and ends when revoked."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpError, acp_client, prompt_params
from tests.surfaces.acp.conftest import FILES
from tests.surfaces.acp.test_permissions import ALLOW, asked, replying
from tests.surfaces.acp.test_turns import EDIT, waiting_action
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import answer, openai_text, openai_tool, scripted_provider

pytestmark = requirement("ACP-03")


def paired(server: Server) -> tuple[str, str]:
    """The token and the id of a new device."""
    code: Any = server.call("pairing.create")["result"]
    bound: Any = server.call("pairing.bind", code=code["code"], device_name="phone")["result"]
    return str(bound["token"]), str(bound["device_id"])


def opening(server: Server) -> dict[str, Any]:
    return {"cwd": str(server.repo), "mcpServers": []}


async def test_it_opens_no_session_without_the_right_to(plain_server: Server) -> None:
    token, _ = paired(plain_server)
    async with acp_client(plain_server, token=token) as client:
        await client.call("initialize", HELLO)
        with pytest.raises(AcpError) as refused:
            await client.call("session/new", opening(plain_server))
        assert refused.value.name == "CAPABILITY_DENIED"


async def test_it_is_an_agent_whose_answers_do_not_count_and_ends_when_it_is_revoked(tmp_path: Path) -> None:
    script = answer(openai_tool("c", "write_files", EDIT)), answer(openai_text("Done."))
    with scripted_provider(*script) as provider:
        server = start(
            make_repo(tmp_path / "repo", FILES),
            overrides=[
                "trust.mode=always",
                "trust.allow=[thread.create, turn.send]",
                providers(openai("local", provider.url)),
                *QUICK,
            ],
        )
        try:
            token, device = paired(server)
            agent = f"{device}/tester"
            right = {"capabilities": ["spawn_agents"], "duration_sec": 600, "without_token": True}
            granted = server.call("capability.grant", agent=agent, **right)
            assert "error" not in granted, granted
            async with acp_client(server, token=token) as client:
                client.on_request = replying(ALLOW)
                await client.call("initialize", HELLO)
                session = str((await client.call("session/new", opening(server)))["sessionId"])
                await client.start("session/prompt", prompt_params(session, "greet them"))
                action = await waiting_action(client)
                assert asked(client) == []
                shown: Any = server.call("approval.show", action_id=action)["result"]
                assert shown["status"] == "PENDING"
                assert "error" not in server.call("device.revoke", device_id=device)
                with pytest.raises(AcpError) as refused:
                    await client.call("session/list", {})
                assert refused.value.name in ("UNAUTHORIZED", "TOKEN_EXPIRED")
                assert "f'hello" not in (server.repo / "greeting.py").read_text()
        finally:
            server.stop()
