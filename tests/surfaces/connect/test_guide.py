"""The commands of the guide, run as they stand there."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.clients.node import NODE
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.npm_clients import HERE, ROOT, require_npm_clients
from tests.testing.node import installed

pytestmark = requirement("RPC-01")

GUIDE = (ROOT / "docs" / "guides" / "connect.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
PYTHON, THREADS, ASYNC = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def test_there_are_commands() -> None:
    assert len(COMMANDS) == 4


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_answers(connect_server: Server, command: str) -> None:
    if command.startswith("buf"):
        require_npm_clients()
    path = os.pathsep.join((str(NODE.parent), os.environ.get("PATH", os.defpath)))
    if command.startswith("buf"):
        path = os.pathsep.join((str(installed(HERE) / ".bin"), path))
    environment = {
        **os.environ,
        "PATH": path,
        "URL": connect_server.url,
        "GRPC": f"http://127.0.0.1:{connect_server.facts['grpc_port']}",
        "TOKEN": connect_server.token,
    }
    done = subprocess.run(["sh", "-ec", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("{") and '"code"' not in done.stdout, done


def test_the_python_runs(
    connect_server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Watching goes on for ever; the guide's loop is followed up to the first line it would print.
    text = PYTHON.replace("41234", str(connect_server.port)).replace('stream="action/*", ', "") + "        break\n"
    monkeypatch.chdir(connect_server.repo)
    exec(compile(text, str(Path("connect.md")), "exec"), {})
    assert "session_id" in capsys.readouterr().out


@requirement("RPC-21")
@pytest.mark.parametrize("block", [THREADS, ASYNC], ids=["sync", "async"])
def test_the_python_of_conversations_runs(
    connect_server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    monkeypatch.chdir(connect_server.repo)
    exec(compile(block.replace("41234", str(connect_server.port)), "connect.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "turn.completed" in printed and "No model is configured" in printed
