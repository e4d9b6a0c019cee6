"""Git, the sandbox and test runners that are missing, old, or not allowed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codeplane.kernel.workspace import Workspace
from tests.harness import CPL
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check

pytestmark = requirement("CLI-20")


def program(folder: Path, name: str, script: str) -> Path:
    """A program of that name, alone in a folder."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return folder


def test_no_git(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = run_check(workspace, "git")
    assert (found.verdict, found.found, found.fix) == ("fail", "not found", "apt-get install git")


@pytest.mark.parametrize(
    ("script", "verdict", "output"),
    [
        ("echo git version 2.30.2", "warn", "is 2.30, older than 2.38"),
        ("echo git version 2.38.0", "ok", "2.38"),
        ("echo git version 3.0.1.windows.1", "ok", "3.0"),
        ("echo broken >&2; exit 1", "fail", "does not say its version: broken"),
    ],
)
def test_a_git_that_is_old_or_broken(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, verdict: str, output: str
) -> None:
    folder = program(tmp_path / "bin", "git", script)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    found = run_check(workspace, "git")
    assert found.verdict == verdict and output in found.found


@requirement("TRUST-48")
@pytest.mark.parametrize("name", ["git", "recovery"])
def test_a_git_in_the_work_tree_is_not_run(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """An activated environment lies there, and tests can write it."""
    folder = program(workspace.root / "bin", "git", f"touch '{tmp_path}/ran'; echo git version 9.9")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert run_check(workspace, name).verdict == "ok"
    assert not (tmp_path / "ran").exists()


def test_no_bubblewrap(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(folder))
    found = run_check(workspace, "sandbox")
    assert found.verdict == "warn" and "not installed" in found.found
    assert found.fix.startswith("apt-get install bubblewrap")


def test_a_system_that_allows_no_sandbox(workspace: Workspace) -> None:
    forbidden = "echo 0 > /proc/sys/user/max_mnt_namespaces && exec "
    command = ["unshare", "-Ur", "sh", "-c", f"{forbidden} {CPL} doctor --repo {workspace.root}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        pytest.skip(f"no namespace of one's own can be had here, so nothing is proved: {done.stderr.strip()}")
    (line,) = [line for line in done.stdout.splitlines() if line[6:].startswith("sandbox")]
    assert line.startswith("warn") and "bubblewrap does not work here" in line and "allow user namespaces" in line


def test_runners_that_are_missing_are_named(workspace: Workspace) -> None:
    web = workspace.root / "web"
    web.mkdir()
    (web / "package.json").write_text('{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "^3"}}')
    (web / "cart.test.ts").write_text("import { test } from 'vitest'\n")
    found = run_check(workspace, "tests")
    assert (found.verdict, found.fix) == ("warn", "cd web && npm install")
    assert found.found.startswith("Test runner 'vitest' not found in PATH (for web)")
    (web / "node_modules").mkdir()
    program(web / "node_modules/.bin", "vitest", "")
    (workspace.root / ".gitignore").write_text("node_modules/\n")
    found = run_check(workspace, "tests")
    assert found.verdict == "ok" and "vitest for web: web/node_modules/.bin/vitest" in found.found


def test_a_runner_that_nobody_knows(workspace: Workspace) -> None:
    workspace.config.write_text("tests: {runners: {python: pytset}}\n")
    found = run_check(workspace, "tests")
    assert found.verdict == "fail" and "tests.runners names 'pytset' for python" in found.found
    assert "did you mean pytest?" in found.found


def test_a_linter_that_is_not_there(workspace: Workspace) -> None:
    workspace.config.write_text("tests: {lint: [[git, diff, --check], [ruffx, check]]}\n")
    found = run_check(workspace, "tests")
    assert (found.verdict, found.found) == ("warn", "tests.lint names 'ruffx', which is not found")
    assert found.fix == "install the linter, or fix tests.lint"
