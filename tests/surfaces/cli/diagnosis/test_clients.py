"""Coding clients that start what is gone, or are sent where nobody is."""

import json
import os
import socket
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check, unused_port

pytestmark = requirement("CLI-22")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with one client."""
    folder = tmp_path / "home"
    (folder / ".cursor").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", os.defpath)
    return folder


def entry(home: Path, server: JsonObject) -> None:
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"codeplane": server}}))


def test_one_that_starts_what_is_gone(workspace: Workspace, home: Path) -> None:
    entry(home, {"command": "/nowhere/bin/cpl", "args": ["mcp"]})
    found = run_check(workspace, "clients")
    assert (found.verdict, found.fix) == ("warn", "cpl init")
    assert found.found == "cursor starts /nowhere/bin/cpl, which is not there"


def test_another_cpl_that_is_there(workspace: Workspace, home: Path) -> None:
    other = home / "bin" / "cpl"
    other.parent.mkdir()
    other.touch()
    entry(home, {"command": str(other), "args": ["mcp"]})
    found = run_check(workspace, "clients")
    assert (found.verdict, found.found) == ("ok", "registered: none; also here: cursor")


def test_one_that_is_sent_where_nobody_answers(workspace: Workspace, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        entry(home, {"url": f"http://127.0.0.1:{there.getsockname()[1]}/mcp"})
        assert run_check(workspace, "clients").verdict == "ok"
    with unused_port() as port:
        url = f"http://127.0.0.1:{port}/mcp"
        entry(home, {"url": url})
        found = run_check(workspace, "clients")
    assert (found.verdict, found.found) == ("warn", f"cursor is sent to {url}, where no server answers")
