"""The protocol's SDK for Node and acpx as clients, over stdio and over a WebSocket."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CPL, Server
from tests.interaction.requirements import requirement
from tests.surfaces.acp.npm_clients import acpx, run_script
from tests.surfaces.acp.scripted_agent import CLIENT, scripted_agent

pytestmark = requirement("ACP-08")

CONFORMANCE = Path(__file__).with_name("conformance.mjs")
DRAFT = Path(__file__).with_name("draft.mjs")
CASES = 20


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str, Path]]:
    folder = tmp_path_factory.mktemp("agent")
    with scripted_agent(folder) as (server, secret):
        yield server, secret, folder


@pytest.mark.parametrize("transport", ["stdio", "ws"])
def test_the_cases_of_acpx_with_the_sdk(agent: tuple[Server, str, Path], transport: str, tmp_path: Path) -> None:
    server, secret, folder = agent
    (server.repo / "greeting.py").write_text("def greet(name):\n    return name\n")
    if transport == "stdio":
        target = json.dumps([CPL, "acp", "--client", CLIENT])
    else:
        target = f"ws://{server.host}:{server.port}/acp"
    headers = json.dumps({"Authorization": f"Bearer {server.token}", "X-CodePlane-Client": secret})
    environ = {"XDG_CONFIG_HOME": str(folder / "config")}
    done = run_script(
        CONFORMANCE, transport, target, str(server.repo), headers, folder=tmp_path / "js", environ=environ
    )
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert len(ends) == CASES
    assert {name: end for name, end in ends.items() if end != "passed"} == {}


def test_acpx_drives_it_from_the_command_line(agent: tuple[Server, str, Path], tmp_path: Path) -> None:
    server, _, _ = agent
    done = acpx(
        *("--agent", f"{CPL} acp", "--format", "json", "exec", "echo hello from acpx"), cwd=server.repo, home=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "from acpx" in "".join(
        str(json.loads(line).get("params", {}).get("update", {}).get("content", {}).get("text", ""))
        for line in done.stdout.splitlines()
        if '"agent_message_chunk"' in line
    )


@requirement("ACP-11")
@pytest.mark.parametrize("transport", ["stdio", "ws"])
def test_the_draft_of_version_2_with_the_sdk(agent: tuple[Server, str, Path], transport: str, tmp_path: Path) -> None:
    server, secret, folder = agent
    (server.repo / "greeting.py").write_text("def greet(name):\n    return name\n")
    if transport == "stdio":
        target = json.dumps([CPL, "acp", "--v2", "--client", CLIENT])
    else:
        target = f"ws://{server.host}:{server.port}/acp?v2=true"
    headers = json.dumps({"Authorization": f"Bearer {server.token}", "X-CodePlane-Client": secret})
    environ = {"XDG_CONFIG_HOME": str(folder / "config")}
    done = run_script(DRAFT, transport, target, str(server.repo), headers, folder=tmp_path / "js", environ=environ)
    assert (done.returncode, done.stdout) == (0, "done"), done.stderr
