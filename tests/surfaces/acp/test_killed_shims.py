"""`cpl acp` that is killed, or whose editor is: turns go on, and nothing of it stays."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.harness import CPL
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, acp_client
from tests.surfaces.acp.scripted_agent import scripted_agent

pytestmark = requirement("ACP-09")

WORDS = " ".join(f"word{number}" for number in range(30))
# An editor that starts it, hands its pipes on and waits.
EDITOR = "import subprocess, sys; child = subprocess.Popen(sys.argv[1:]); print(child.pid, flush=True); child.wait()"


class Shim:
    """One `cpl acp` and what it says."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._next_id = 0

    @classmethod
    async def start(cls, *words: str, cwd: Path) -> "Shim":
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, cwd=cwd))

    async def line(self) -> Any:
        assert self.process.stdout is not None
        text = await self.process.stdout.readline()
        assert text, "it has ended"
        return json.loads(text)

    async def send(self, method: str, params: dict[str, Any]) -> int:
        assert self.process.stdin is not None
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()
        return self._next_id

    async def answer(self, request_id: int) -> Any:
        while True:
            message = await self.line()
            if "method" not in message and message.get("id") == request_id:
                return message["result"]

    async def open(self, repo: Path) -> str:
        await self.answer(await self.send("initialize", HELLO))
        return str(
            (await self.answer(await self.send("session/new", {"cwd": str(repo), "mcpServers": []})))["sessionId"]
        )


def asked(session: str) -> dict[str, Any]:
    """A prompt whose answer takes a while, under an id of its own."""
    text = {"type": "text", "text": f"slowly {WORDS}"}
    return {"sessionId": session, "prompt": [text], "_meta": {"codeplane": {"messageId": f"once-{session}"}}}


async def test_of_several_that_are_killed_the_turns_end_once_and_the_others_are_answered(tmp_path: Path) -> None:
    with scripted_agent(tmp_path) as (server, _):
        shims = [await Shim.start(CPL, "acp", cwd=server.repo) for _ in range(3)]
        sessions = [await shim.open(server.repo) for shim in shims]
        waiting = [
            await shim.send("session/prompt", asked(session)) for shim, session in zip(shims, sessions, strict=True)
        ]
        for shim in shims[:2]:
            while (await shim.line()).get("params", {}).get("update", {}).get("sessionUpdate") != "agent_message_chunk":
                pass
            shim.process.kill()
            await shim.process.wait()
        assert (await shims[2].answer(waiting[2]))["stopReason"] == "end_turn"
        for session in sessions[:2]:
            async with acp_client(server) as client:
                await client.call("initialize", HELLO)
                await client.call("session/load", {"sessionId": session, "cwd": str(server.repo), "mcpServers": []})
                # The same message: the turn that began before.
                assert (await client.call("session/prompt", asked(session)))["stopReason"] == "end_turn"
                assert client.text() == WORDS
        assert shims[2].process.stdin is not None
        shims[2].process.stdin.close()
        assert await shims[2].process.wait() == 0


async def test_it_ends_with_an_editor_that_is_killed(tmp_path: Path) -> None:
    with scripted_agent(tmp_path) as (server, _):
        editor = await Shim.start(sys.executable, "-c", EDITOR, CPL, "acp", cwd=server.repo)
        number = int(await editor.line())
        await editor.open(server.repo)
        gone = os.pidfd_open(number)
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(gone, ended.set)
        try:
            editor.process.send_signal(signal.SIGKILL)
            assert editor.process.stdin is not None
            # The other end of it is the editor's, and goes with that.
            editor.process.stdin.close()
            await ended.wait()
            await editor.process.wait()
        finally:
            asyncio.get_running_loop().remove_reader(gone)
            os.close(gone)
