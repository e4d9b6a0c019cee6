"""Gemini CLI connects to CodePlane, over HTTP and over stdio."""

from __future__ import annotations

from pathlib import Path

from tests.interaction.requirements import requirement

from .node import environment, run
from .running_server import NOWHERE, RunningServer


@requirement("MCP-02")
def test_it_connects(codeplane_server: RunningServer, tmp_path: Path) -> None:
    # In a folder that is not trusted Gemini lists every server as disabled.
    env = environment(tmp_path, GEMINI_CLI_TRUST_WORKSPACE="true")
    program, *arguments = codeplane_server.stdio
    for name, transport, place, *more in (
        ("over-http", "http", codeplane_server.mcp_url),
        ("over-stdio", "stdio", program, "--", *arguments),
        ("nowhere", "http", NOWHERE),
    ):
        how = ("--scope", "user", "--transport", transport, name, place, *more)
        added = run("gemini", "mcp", "add", *how, env=env, cwd=tmp_path)
        assert added.returncode == 0, added.stderr

    listed = run("gemini", "mcp", "list", env=env, cwd=tmp_path)

    assert listed.returncode == 0, listed.stderr
    # Gemini lists servers where other programs complain.
    states = {line.split(":")[0]: line.rsplit(" - ", 1)[-1] for line in listed.stderr.splitlines() if " - " in line}
    assert states == {"✓ over-http": "Connected", "✓ over-stdio": "Connected", "✗ nowhere": "Disconnected"}
