"""The recorded session and the sample repository, as data."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.surfaces.cli.demo.recording import load_recording
from codeplane.surfaces.cli.demo.sample_repository import create_repository
from tests.harness import Server, git
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-21")


def test_every_tool_is_one_that_the_server_has(codeplane_server: Server) -> None:
    listed = codeplane_server.call("operation.list")["result"]
    assert isinstance(listed, dict)
    operations = listed["operations"]
    assert isinstance(operations, list)
    tools = {str(one["name"]).replace(".", "_") for one in operations if isinstance(one, dict)}
    assert {step.tool for step in load_recording().steps} <= tools


def test_conditions_name_steps_before_and_expressions_compile() -> None:
    known: set[str] = set()
    for step in load_recording().steps:
        assert not step.only or (step.only[0] in known and step.only[1] in ("done", "refused", "rejected"))
        known.add(step.name)
        re.compile(step.says)
        re.compile(step.show)


def test_the_sample_is_a_repository_whose_tests_pass(tmp_path: Path) -> None:
    root = tmp_path / "sample"
    create_repository(root)
    assert git(root, "status", "--porcelain") == ""
    names = git(root, "ls-files").splitlines()
    assert 8 <= len([name for name in names if name.endswith(".py")]) <= 12
    assert ".gitignore" in names and "pyproject.toml" in names
    assert not [name for name in names if name.endswith(".txt")]
    done = subprocess.run([sys.executable, "-m", "unittest"], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_nobodys_git_settings_play_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    hooks = "[core]\n\thooksPath = /nowhere\n\tautocrlf = true\n"
    (home / ".gitconfig").write_text(f"[commit]\n\tgpgsign = true\n[user]\n\tname = Somebody\n{hooks}")
    monkeypatch.setenv("HOME", str(home))
    create_repository(tmp_path / "sample")
    assert git(tmp_path / "sample", "log", "--format=%an") == "CodePlane demo\n"
