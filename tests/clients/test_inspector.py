"""The MCP Inspector's command line reads and calls what CodePlane serves, in both protocol eras."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.harness import git
from tests.interaction.requirements import requirement

from .node import environment, run
from .running_server import ASKED, RunningServer

ERAS: Final = ("legacy", "modern")
TOOL_FAILED: Final = 5


def inspect(home: Path, era: str, method: str, *more: str, target: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    options = ("--cli", "--format", "json", "--protocol-era", era, "--method", method, *more, "--", *target)
    return run("inspector", *options, env=environment(home), cwd=home)


@pytest.fixture(params=("http", "stdio"))
def target(request: pytest.FixtureRequest, codeplane_server: RunningServer) -> tuple[str, ...]:
    return (codeplane_server.mcp_url,) if request.param == "http" else tuple(codeplane_server.stdio)


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_listed_with_schemas_that_every_client_takes(
    era: str, target: tuple[str, ...], tmp_path: Path
) -> None:
    outcome = inspect(tmp_path, era, "tools/list", "--strict", target=target)

    assert outcome.returncode == 0, outcome.stderr
    assert ASKED in [tool["name"] for tool in json.loads(outcome.stdout)["result"]["tools"]]


@requirement("MCP-02")
@pytest.mark.parametrize("era", ERAS)
def test_a_tool_is_called(era: str, target: tuple[str, ...], codeplane_server: RunningServer, tmp_path: Path) -> None:
    outcome = inspect(tmp_path, era, "tools/call", "--tool-name", ASKED, target=target)

    assert outcome.returncode == 0, outcome.stderr
    [content] = json.loads(outcome.stdout)["result"]["content"]
    assert git(codeplane_server.repo, "rev-parse", "--short=7", "HEAD").strip() in content["text"]


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_listed(era: str, target: tuple[str, ...], tmp_path: Path) -> None:
    outcome = inspect(tmp_path, era, "resources/list", target=target)

    assert outcome.returncode == 0, outcome.stderr
    resources = json.loads(outcome.stdout)["result"]["resources"]
    assert resources
    assert all(resource["uri"] and resource["name"] for resource in resources)


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_that_is_not_served_is_refused(era: str, target: tuple[str, ...], tmp_path: Path) -> None:
    outcome = inspect(tmp_path, era, "tools/call", "--tool-name", "no_such_tool", target=target)

    assert outcome.returncode == TOOL_FAILED
    assert json.loads(outcome.stderr)["error"]["code"] == "tool_not_found"
