"""An agent on the published Python library: it reads, asks for an edit, makes it through its client, and answers."""

import asyncio
from typing import Any, cast
from uuid import uuid4

import acp
from acp import schema


class SdkAgent:
    """Raises the price in every turn, where it may."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._client: acp.Client

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **more: Any) -> acp.InitializeResponse:
        info = schema.Implementation(name="python-sdk-agent", version="0.12.1")
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION, agent_info=info)

    async def new_session(self, cwd: str, **more: Any) -> acp.NewSessionResponse:
        session_id = uuid4().hex
        self._folders[session_id] = cwd
        return acp.NewSessionResponse(session_id=session_id)

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> acp.PromptResponse:
        client, path = self._client, f"{self._folders[session_id]}/shop.py"
        content = (await client.read_text_file(path=path, session_id=session_id)).content
        changed = content.replace("1", "2")
        diff = acp.tool_diff_content(path=path, new_text=changed, old_text=content)
        started = acp.start_edit_tool_call("edit-1", "Raise the price", path, content=diff)
        await client.session_update(session_id=session_id, update=started)
        options = [
            schema.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
            schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
        ]
        call = schema.ToolCallUpdate(tool_call_id="edit-1", title="Raise the price", kind="edit", content=[diff])
        answer = await client.request_permission(options=options, session_id=session_id, tool_call=call)
        is_allowed = getattr(answer.outcome, "option_id", None) == "allow"
        if is_allowed:
            await client.write_text_file(content=changed, path=path, session_id=session_id)
        ended = acp.update_tool_call("edit-1", status="completed" if is_allowed else "failed")
        await client.session_update(session_id=session_id, update=ended)
        text = "Raised." if is_allowed else "I leave it."
        await client.session_update(session_id=session_id, update=acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **more: Any) -> None:
        return


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast(acp.Agent, SdkAgent())))
