"""The guides' own examples of tokens and grants let an agent do what the guides say, and no more."""

import asyncio
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonValue
from codeplane.surfaces.cli.commands.agents import agents
from codeplane.surfaces.cli.commands.grants import grants
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import plane

pytestmark = requirement("TRUST-22")

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
NARROW = ("agents", "token", "deploy", "--can", "read_files")


def example(guide: str, begin: str) -> list[str]:
    """The words of a command that a guide shows, without where its output goes."""
    found = re.search(rf"^\$ cpl ({re.escape(begin)}.*)$", (GUIDES / guide).read_text(), re.MULTILINE)
    assert found is not None
    words = shlex.split(found[1], comments=True)
    return words[1 : words.index(">")] if ">" in words else words[1:]


async def outcomes(repo: Path, token: str, *calls: tuple[str, dict[str, JsonValue]]) -> list[str]:
    """What becomes of calls with the token: ok, or the error's name."""
    async with plane(repo, "approvals.wait_sec=0") as opened:
        caller = Caller(surface="mcp", client="agent", token=token)
        done = [await opened.conveyor.call(name, arguments, caller) for name, arguments in calls]
        return [one.error.name if one.error else "ok" for one in done]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_repo(tmp_path / "repo", {"src/a.py": "x = 1\n"})
    git(made, "remote", "add", "origin", str(make_repo(tmp_path / "origin")))
    monkeypatch.chdir(made)
    return made


async def test_the_token_of_the_guide_searches_reads_and_uses_git(repo: Path) -> None:
    token = (await asyncio.to_thread(CliRunner().invoke, agents, example("devices.md", "agents token"))).stdout.strip()
    assert await outcomes(
        repo,
        token,
        ("search", {"query": "x"}),
        ("read_files", {"paths": ["src/a.py"]}),
        ("git.status", {}),
        ("git.fetch", {"remote": "origin"}),
        ("write_files", {"edits": [{"path": "src/a.py", "content": "y = 2\n"}]}),
    ) == ["ok", "ok", "ok", "APPROVAL_PENDING", "CAPABILITY_DENIED"]


async def test_the_grant_of_the_guide_writes_where_it_says(repo: Path) -> None:
    token = (await asyncio.to_thread(CliRunner().invoke, agents, list(NARROW[1:]))).stdout.strip()
    granted = await asyncio.to_thread(CliRunner().invoke, grants, example("audit.md", "grants grant"))
    assert granted.exit_code == 0, granted.output
    assert await outcomes(
        repo,
        token,
        ("write_files", {"edits": [{"path": "src/b.py", "content": "y = 2\n"}]}),
        ("write_files", {"edits": [{"path": "other.py", "content": "y = 2\n"}]}),
    ) == ["ok", "PATH_DENIED"]
