"""A model that plays the turns it is given (aimock), and Claude Code run with it."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from .node import RUN_SECONDS, command, environment, run
from .running_server import RunningServer

SERVER: Final = "codeplane"
QUIET: Final = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}


@dataclass(frozen=True, kw_only=True)
class ScriptedModel:
    """A model server that answers by script and keeps the requests it received."""

    url: str

    def tool_results(self) -> list[str]:
        """What came back to the model from the tools it called, as the last request told it."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"{self.url}/__aimock/journal", timeout=RUN_SECONDS) as answer:
            *_, last = json.load(answer)
        return [message["content"] for message in last["body"]["messages"] if message["role"] == "tool"]


@contextmanager
def scripted_model(
    home: Path, turns: Sequence[dict[str, Any]], *, more: Mapping[str, str] = MappingProxyType({})
) -> Iterator[ScriptedModel]:
    """Serve the turns until the end of the block; `more` is added to the environment."""
    script = home / "turns.json"
    script.write_text(json.dumps({"fixtures": turns}))
    with subprocess.Popen(
        [*command("aimock"), "--port", "0", "--fixtures", str(script), "--strict"],
        cwd=home,
        env=environment(home, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        limit = threading.Timer(RUN_SECONDS, process.kill)
        limit.start()
        try:
            assert process.stdout is not None
            output = []
            for line in process.stdout:
                output.append(line)
                if "listening on " in line:
                    limit.cancel()
                    yield ScriptedModel(url=line.rsplit(" ", 1)[-1].strip())
                    return
            raise AssertionError(f"aimock did not start: {''.join(output)}")
        finally:
            limit.cancel()
            process.kill()


def tool(name: str) -> str:
    """A tool of ours as Claude Code calls it."""
    return f"mcp__{SERVER}__{name}"


def claude(
    model: ScriptedModel, served: RunningServer, home: Path, prompt: str, *, transport: str, tools: Sequence[str]
) -> str:
    """What Claude Code answers to a prompt, with our tools alone."""
    program, *arguments = served.stdio
    how = {
        "http": {"type": "http", "url": served.mcp_url},
        "stdio": {"type": "stdio", "command": program, "args": arguments},
    }
    answered = run(
        "claude",
        "--print",
        prompt,
        "--output-format=json",
        "--strict-mcp-config",
        f"--mcp-config={json.dumps({'mcpServers': {SERVER: how[transport]}})}",
        f"--allowedTools={','.join(map(tool, tools))}",
        # aimock keeps requests up to 64 KiB; Claude Code's own tools and prompt alone are more.
        "--tools=",
        "--system-prompt=Answer from the tools.",
        env=environment(
            home,
            ANTHROPIC_BASE_URL=model.url,
            ANTHROPIC_API_KEY="none-is-needed",
            # aimock rejects a tool result that no thinking precedes once thinking is on.
            MAX_THINKING_TOKENS="0",
            **QUIET,
        ),
        cwd=home,
    )
    assert answered.returncode == 0, answered.stdout + answered.stderr
    output: str = json.loads(answered.stdout)["result"]
    return output
