"""What a person at the command line is told of what agents asked for over MCP."""

from __future__ import annotations

import re

import pytest

from tests.harness import Server, cpl
from tests.trust.shell.shells import needs_bubblewrap

from .clients import connected, failure_of, text_of

pytestmark = pytest.mark.anyio


async def asked(server: Server, tool: str, **arguments: object) -> str:
    """The action that an agent's call becomes."""
    async with connected(server, toolset="all") as client:
        found = re.search(r"\((act_\w+)\)", await failure_of(client, tool, **arguments))
    assert found is not None
    return found[1]


@needs_bubblewrap
async def test_a_trusted_command_runs_again_for_another_reason_and_is_named(server: Server) -> None:
    action = await asked(server, "run_bash", command="echo one", justification="to see")
    approved = cpl("approvals", "approve", action, "--trust", cwd=server.repo)
    assert approved.returncode == 0, approved.stderr
    async with connected(server, toolset="all") as client:
        assert "one" in await text_of(client, "run_bash", command="echo one", justification="to see it again")
        assert (await failure_of(client, "run_bash", command="echo two")).startswith("APPROVAL_PENDING")
    trusted = cpl("approvals", "trusted", cwd=server.repo)
    assert "run_bash, this very call and no other: $ echo one; folder .; timeout 10 s" in trusted.stdout
