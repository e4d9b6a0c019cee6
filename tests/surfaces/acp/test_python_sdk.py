"""The protocol's SDK for Python as a client, over stdio and over a WebSocket."""

from pathlib import Path
from typing import Any

import pytest
from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, spawn_agent_process, text_block
from acp.interfaces import Client
from acp.schema import AgentMessageChunk, Implementation
from acp.ws.client import create_websocket_stream

from tests.harness import CPL, Server
from tests.interaction.requirements import requirement

pytestmark = requirement("ACP-08")


class Editor:
    """Keeps what it is shown."""

    def __init__(self) -> None:
        self.text = ""

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        if isinstance(update, AgentMessageChunk):
            self.text += getattr(update.content, "text", "")

    async def request_permission(self, **params: Any) -> Any:
        raise AssertionError("it is not allowed to answer")

    def on_connect(self, conn: Any) -> None:
        pass


async def _converse(agent: Any, editor: Editor, repo: Path) -> None:
    hello = await agent.initialize(
        protocol_version=PROTOCOL_VERSION, client_info=Implementation(name="python-sdk", version="1")
    )
    assert hello.protocol_version == 1 and hello.agent_capabilities.load_session
    session = await agent.new_session(cwd=str(repo), mcp_servers=[])
    answer = await agent.prompt(prompt=[text_block("greet")], session_id=session.session_id)
    assert answer.stop_reason == "end_turn" and "greeting.py" in editor.text
    said, editor.text = editor.text, ""
    await agent.load_session(cwd=str(repo), session_id=session.session_id, mcp_servers=[])
    assert editor.text == said
    await agent.set_session_mode(session_id=session.session_id, mode_id="always")
    listed = await agent.list_sessions()
    assert session.session_id in {one.session_id for one in listed.sessions}
    with pytest.raises(RequestError) as refused:
        await agent.set_session_mode(session_id=session.session_id, mode_id="automatic")
    assert "POLICY_DENIED" in str(refused.value)


async def test_over_stdio(plain_server: Server) -> None:
    editor = Editor()
    client: Client = editor  # type: ignore[assignment]  # it has what is called
    async with spawn_agent_process(client, CPL, "acp", cwd=plain_server.repo) as (agent, _):
        await _converse(agent, editor, plain_server.repo)


async def test_over_a_websocket(plain_server: Server) -> None:
    editor = Editor()
    url = f"ws://{plain_server.host}:{plain_server.port}/acp"
    stream = await create_websocket_stream(url, headers={"Authorization": f"Bearer {plain_server.token}"})
    client: Client = editor  # type: ignore[assignment]  # it has what is called
    agent = connect_to_agent(client, stream)
    try:
        await _converse(agent, editor, plain_server.repo)
    finally:
        await agent.close()
