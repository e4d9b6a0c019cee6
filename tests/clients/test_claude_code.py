"""Claude Code connects to CodePlane, and a model that it runs gets CodePlane's answers.

The model is aimock: it plays the turns it is given and keeps the requests it received.
"""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from .node import RUN_SECONDS, command, environment, run
from .served import NOWHERE, STATUS, Served

SERVER: Final = "codeplane"
TOOL: Final = f"mcp__{SERVER}__{STATUS}"
PROMPT: Final = "What is the state of this repository?"
ANSWER: Final = "The repository was looked at."
TURNS: Final = (
    {
        "match": {"userMessage": PROMPT, "hasToolResult": False},
        "response": {"toolCalls": [{"name": TOOL, "arguments": "{}"}]},
    },
    {"match": {"hasToolResult": True}, "response": {"content": ANSWER}},
)
QUIET: Final = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}


@dataclass(frozen=True, kw_only=True)
class ScriptedModel:
    """A model server that answers by script."""

    url: str

    def tool_results(self) -> list[str]:
        """What came back to the model from the tools it called, as the last request told it."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(f"{self.url}/__aimock/journal", timeout=RUN_SECONDS) as answer:
            *_, last = json.load(answer)
        return [message["content"] for message in last["body"]["messages"] if message["role"] == "tool"]


@contextmanager
def scripted_model(home: Path) -> Iterator[ScriptedModel]:
    script = home / "turns.json"
    script.write_text(json.dumps({"fixtures": TURNS}))
    with subprocess.Popen(
        [*command("aimock"), "--port", "0", "--fixtures", str(script), "--strict"],
        cwd=home,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        limit = threading.Timer(RUN_SECONDS, process.kill)
        limit.start()
        try:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if "listening on " in line:
                    limit.cancel()
                    yield ScriptedModel(url=line.rsplit(" ", 1)[-1].strip())
                    return
            raise AssertionError(f"aimock did not start: {''.join(said)}")
        finally:
            limit.cancel()
            process.kill()


def mcp_config(served: Served, transport: str) -> str:
    program, *arguments = served.stdio
    how = {
        "http": {"type": "http", "url": served.mcp_url},
        "stdio": {"type": "stdio", "command": program, "args": arguments},
    }
    return json.dumps({"mcpServers": {SERVER: how[transport]}})


def test_it_connects(codeplane_server: Served, tmp_path: Path) -> None:
    env = environment(tmp_path, **QUIET)
    for name, transport, *place in (
        ("over-http", "http", codeplane_server.mcp_url),
        ("over-stdio", "stdio", "--", *codeplane_server.stdio),
        ("nowhere", "http", NOWHERE),
    ):
        how = ("--scope", "user", "--transport", transport, name, *place)
        added = run("claude", "mcp", "add", *how, env=env, cwd=tmp_path)
        assert added.returncode == 0, added.stderr

    listed = run("claude", "mcp", "list", env=env, cwd=tmp_path)

    assert listed.returncode == 0, listed.stderr
    states = {line.split(":")[0]: line.split(" - ", 1)[-1][:1] for line in listed.stdout.splitlines() if " - " in line}
    assert states == {"over-http": "✔", "over-stdio": "✔", "nowhere": "✘"}, listed.stdout


@pytest.mark.parametrize("transport", ("http", "stdio"))
def test_its_model_gets_what_the_tool_said(transport: str, codeplane_server: Served, tmp_path: Path) -> None:
    with scripted_model(tmp_path) as model:
        env = environment(
            tmp_path,
            ANTHROPIC_BASE_URL=model.url,
            ANTHROPIC_API_KEY="none-is-needed",
            # aimock rejects a tool result that no thinking precedes once thinking is on.
            MAX_THINKING_TOKENS="0",
            **QUIET,
        )
        answered = run(
            "claude",
            "--print",
            PROMPT,
            "--output-format=json",
            "--strict-mcp-config",
            f"--mcp-config={mcp_config(codeplane_server, transport)}",
            f"--allowedTools={TOOL}",
            # aimock keeps requests up to 64 KiB; Claude Code's own tools and prompt alone are more.
            "--tools=",
            "--system-prompt=Answer from the tools.",
            env=env,
            cwd=tmp_path,
        )

        assert answered.returncode == 0, answered.stdout + answered.stderr
        assert json.loads(answered.stdout)["result"] == ANSWER
        [told] = model.tool_results()
        assert str(codeplane_server.repo) in told
