"""What every command has in common: help, exit codes, plain text, and a fast start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane import __version__
from tests.harness import CPL, Server, cpl
from tests.interaction.requirements import requirement

COMMANDS = ("init", "up", "status", "doctor", "call", "search", "diff", "log", "down", "mcp", "uninstall")
SLOW = {"pydantic", "pydantic_core", "mcp", "mcp_types", "starlette", "structlog", "sqlite3", "yaml", "tomlkit"}


def imported(*arguments: str) -> set[str]:
    """The modules that `cpl` imports with these arguments, beyond those that any Python here starts with."""
    return modules_of(CPL, *arguments) - modules_of("-c", "pass")


def modules_of(*arguments: str) -> set[str]:
    # Coverage measurement would start in the child, and import what we look for.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environ)
    assert done.returncode == 0
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@requirement("CLI-06")
def test_help_imports_nothing_slow() -> None:
    modules = imported("--help")
    assert "codeplane.surfaces.cli.commands" in modules
    assert not modules & {*SLOW, "rich", "asyncio", "uvicorn", "pygit2"}


@requirement("CLI-06")
def test_the_shim_imports_less_than_that() -> None:
    modules = imported("mcp", "--help")
    assert "codeplane.surfaces.cli.shim" in modules
    assert not modules & {*SLOW, "rich", "asyncio", "uvicorn", "pygit2", "typer", "click"}


def test_help_names_every_command() -> None:
    done = cpl("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    done = cpl(command, "-h" if command in ("up", "mcp") else "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--repo" in done.stdout


def test_without_a_command_there_is_help() -> None:
    done = cpl()
    assert "Usage: cpl" in done.stdout + done.stderr


def test_version() -> None:
    done = cpl("--version")
    assert (done.returncode, done.stdout) == (0, f"cpl {__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("--nonsense",),
        ("status", "extra"),
        ("log", "-n", "0"),
        ("log", "-n", "many"),
        ("up", "--port", "8080"),
        ("call", "status", "no-pair"),
        ("mcp", "--nonsense"),
        ("mcp", "--repo"),
        ("init", "--client", "nobody"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_two_and_on_stderr(repo: Path, arguments: tuple[str, ...]) -> None:
    done = cpl(*arguments, cwd=repo)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: " in done.stderr.lower()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("status",), ("call", "nonsense.operation"), ("nonsense",)])
def test_no_colour_whatever_the_terminal_promises(codeplane_server: Server, arguments: tuple[str, ...]) -> None:
    environ = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color", "NO_COLOR": "1"}
    done = cpl(*arguments, cwd=codeplane_server.repo, environ=environ)
    assert done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(codeplane_server: Server) -> None:
    script = f"{CPL} call operation.list --json | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=codeplane_server.repo, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_home_or_a_path(repo: Path) -> None:
    bare = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
    done = subprocess.run([CPL, "status"], cwd=repo, env=bare, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
