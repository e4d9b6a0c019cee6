"""The same behind a server: over every way of MCP, across kill -9, with what the owner is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import anyio.to_thread
import pytest

from tests.harness import Server, cpl, git, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.mcp.clients import WAYS, connect_client, failure_of, text_of
from tests.trust.untrusted.engine import engine

pytestmark = requirement("TRUST-60")
PUSH = {"remote": "origin", "ref": "main"}


@pytest.fixture
def search() -> Iterator[str]:
    """The setting that names a running search engine."""
    with engine() as setting:
        yield setting


def pushable(folder: Path) -> Path:
    """A repository with a remote that lacks its last commit."""
    root = make_repo(folder / "shop")
    git(folder, "clone", "--quiet", "--bare", str(root), str(folder / "origin.git"))
    git(root, "remote", "add", "origin", str(folder / "origin.git"))
    git(root, "fetch", "--quiet", "origin")
    commit(root)
    return root


def commit(root: Path) -> None:
    """Make something to push."""
    git(root, "commit", "--quiet", "--allow-empty", "--message", "more")


def approved(server: Server, text: str, *more: str) -> None:
    """Have the owner approve what an answer says waits."""
    action = text.partition("(act_")[2].partition(")")[0]
    output = cpl("approvals", "approve", f"act_{action}", *more, "--repo", str(server.repo))
    assert output.returncode == 0, output
    until(lambda: server.call("approval.show", action_id=f"act_{action}")["result"]["status"] == "EXECUTED")  # type: ignore[index,call-overload]  # it succeeds


async def test_a_trusted_push_is_asked_about_after_a_search_also_after_a_kill(tmp_path: Path, search: str) -> None:
    root = await anyio.to_thread.run_sync(pushable, tmp_path)
    server = start(root, overrides=[search])
    try:
        async with connect_client(server, toolset="all", name="coder") as client:
            asked = await failure_of(client, "git_push", **PUSH)
            # An equal call joins it: there is one question.
            again = await failure_of(client, "git_push", **PUSH)
            assert "warning: an equal call waits already as act_" in again
            (line,) = cpl("approvals", "--repo", str(root)).stdout.splitlines()
            assert " PENDING push by agent:coder: Push refs/heads/main to origin" in line and "EXFILTRATION" not in line
            shown = cpl("approvals", "show", line.split()[0], "--repo", str(root)).stdout
            assert "\n1 commit to send, as far as is known" in shown
            approved(server, asked, "--trust")
            commit(root)
            await text_of(client, "git_push", **PUSH)
            commit(root)
            asked = await failure_of(client, "web_search", query="how to push")
            approved(server, asked)
            sent = git(tmp_path / "origin.git", "rev-parse", "main")
            assert (await failure_of(client, "git_push", **PUSH)).startswith("APPROVAL_PENDING: ")
        server.kill()
        server = start(root, overrides=[search])
        for number, way in enumerate(WAYS):
            for name in ("coder", f"other {number}"):
                async with connect_client(server, way=way, toolset="all", name=name) as client:
                    assert (await failure_of(client, "git_push", **PUSH)).startswith("APPROVAL_PENDING: "), way
        assert git(tmp_path / "origin.git", "rev-parse", "main") == sent
        shown = cpl("approvals", "--repo", str(root)).stdout
        assert "all agents without a token (agents-without-token) since " in shown and "how to push" in shown
        assert "cpl approvals clear" in shown
        assert "read by agents-without-token since " in cpl("status", "--repo", str(root)).stdout
        (mark,) = json.loads(cpl("approvals", "untrusted", "--json", "--repo", str(root)).stdout)["result"]["items"]
        assert (mark["agent"], mark["what"]) == ("agents-without-token", "how to push")
        assert cpl("approvals", "clear", "--repo", str(root)).stdout == "cleared: agents-without-token\n"
        assert "untrusted" not in cpl("status", "--repo", str(root)).stdout
        async with connect_client(server, toolset="all", name="coder") as client:
            await text_of(client, "git_push", **PUSH)
        assert git(tmp_path / "origin.git", "rev-parse", "main") != sent
    finally:
        server.kill()
