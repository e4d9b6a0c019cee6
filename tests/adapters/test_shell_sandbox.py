"""bubblewrap around shell commands, beyond what tests get."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.adapters.secret_files import SecretFiles
from codeplane.adapters.shell_processes import ShellProcesses
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.interaction.requirements import requirement

pytestmark = [
    requirement("TRUST-32"),
    pytest.mark.skipif(
        shutil.which("bwrap") is None, reason="NOT TESTED: the shell's sandbox, since bubblewrap is not installed"
    ),
]
SYSTEM = {"bin", "sbin", "usr", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix", "gnu", "snap", "var"}
SYSTEM |= {"dev", "proc", "sys", "run", "tmp", "home", "root", "Users"}


def _sandbox(tmp_path: Path, path: str = "/usr/bin:/bin") -> ShellSandbox:
    root = tmp_path.resolve() / "repo"
    (root / ".codeplane").mkdir(parents=True, exist_ok=True)
    home = tmp_path.resolve() / "home"
    home.mkdir(exist_ok=True)
    found = ShellSandbox(
        root=root,
        own=root / ".codeplane",
        cache=tmp_path / "cache",
        home=home,
        environment={"PATH": path},
        secrets=SecretFiles(serving=root, rules=NOTHING_SHOWN, empty=tmp_path / "empty"),
    )
    assert found.unavailable_reason() == ""
    return found


def _run(sandbox: ShellSandbox, root: Path, script: str) -> str:
    command = sandbox.command(["/bin/sh", "-c", script], cwd=root, network=False)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout


def test_other_folders_at_the_top_are_empty(tmp_path: Path) -> None:
    others = [one for one in Path("/").iterdir() if one.is_dir() and one.name not in SYSTEM]
    script = "; ".join(f"ls -A {one}" for one in others)
    assert _run(_sandbox(tmp_path), tmp_path.resolve() / "repo", f"{script}; echo end") == "end\n"


def test_what_is_on_the_path_is_there_and_the_workspace_stays_writable(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "repo"
    (root / "bin").mkdir(parents=True)
    sandbox = _sandbox(tmp_path, f"{root}/bin:{root}:/:/usr/bin:/bin")
    assert _run(sandbox, root, "touch bin/made && ls bin; ls -A .codeplane") == "made\n"


def test_memory_that_looks_like_files_is_bounded(tmp_path: Path) -> None:
    command = _sandbox(tmp_path).command(["true"], cwd=tmp_path, network=False)
    places = [at for at, word in enumerate(command) if word == "--tmpfs"]
    assert places
    assert all(command[at - 2] == "--size" for at in places)
    assert "--disable-userns" in command


def test_processes_are_counted_and_ended_with_the_command() -> None:
    processes = ShellProcesses(variable="SHELL_TEST_MARK")
    script = "sleep 600 & sleep 600 & echo ready; wait"
    environment = {"PATH": os.environ["PATH"], "SHELL_TEST_MARK": "m1"}
    with subprocess.Popen(
        ["/bin/sh", "-c", script], env=environment, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        census = processes.census(process.pid, most=100)
        assert census.processes == 3
        assert census.resident_bytes > 0
        assert processes.census(process.pid, most=1).processes == 2
        processes.terminate(process.pid, enclosed=False)
        assert process.wait(timeout=60) == -15
        processes.end(0, "m1")
    assert processes.census(process.pid, most=100).resident_bytes == 0


def test_a_command_ends_when_whoever_started_it_is_killed(tmp_path: Path) -> None:
    sandbox = _sandbox(tmp_path)
    command = sandbox.command(["/bin/sh", "-c", "echo ready; sleep 600"], cwd=tmp_path, network=False)
    starter = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True).wait()"
    with subprocess.Popen([sys.executable, "-c", starter, *command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        # The pipe is closed only when the last process that holds it is gone.
        assert process.stdout.read() == b""
