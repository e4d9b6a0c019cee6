"""Checks of installed programs: CodePlane, git, the sandbox and test runners."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from codeplane import __version__
from codeplane.disk.program_path import path_outside
from codeplane.kernel.errors import NotFound, StorageFailed
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

# Since then a merge can be tried without a work tree.
_GIT = (2, 38)
_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_ANSWER_SEC = 10.0


def version() -> Check:
    """Report the version of CodePlane and its location."""
    return ok("version", f"cpl {__version__} on Python {platform.python_version()}, {platform.platform()}")


def git(workspace: Workspace) -> Check:
    """Check for a git that is missing, broken, or too old to preview merges."""
    program = shutil.which("git", path=path_outside(os.environ.get("PATH", ""), workspace.root))
    if program is None:
        return fail("git", "not found", "apt-get install git")
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_ANSWER_SEC)
    except (OSError, subprocess.SubprocessError) as error:
        return fail("git", f"{program} cannot be run: {error}", "apt-get install --reinstall git")
    match = _NUMBERS.search(done.stdout)
    if done.returncode or match is None:
        message = (done.stderr or done.stdout).strip()[:200]
        return fail("git", f"{program} does not say its version: {message}", "apt-get install --reinstall git")
    if (int(match[1]), int(match[2])) < _GIT:
        message = f"{program} is {match[0]}, older than 2.38: git_merge_analysis names no conflicts"
        return warn("git", message, "upgrade git")
    return ok("git", f"{program} {match[0]}")


def sandbox(workspace: Workspace, config: "Config | None") -> Check:
    """Check for a sandbox that is missing or not allowed by the system, unless the settings turn it off."""
    from codeplane.adapters.bubblewrap import Bubblewrap
    from codeplane.adapters.secret_files import EMPTY, SecretFiles
    from codeplane.kernel.secret_paths import NOTHING_SHOWN

    cache = workspace.home / "tests" / "cache"
    secrets = SecretFiles(serving=workspace.root, rules=NOTHING_SHOWN, empty=workspace.home / EMPTY)
    box = Bubblewrap(home=Path.home(), hidden=(workspace.home,), cache=cache, environment=os.environ, secrets=secrets)
    if missing := box.unavailable_reason():
        message = f"{missing}: commands are refused and tests ask first"
        return warn("sandbox", message, "apt-get install bubblewrap, or allow user namespaces")
    if config is not None and "off" in (config.tests.sandbox, config.shell.sandbox):
        return ok("sandbox", "bubblewrap works, but your settings switch it off for tests or commands")
    return ok("sandbox", "bubblewrap works: tests run enclosed")


def runners(workspace: Workspace, config: "Config") -> Check:
    """Check the test runners and linters of each project."""
    from codeplane.adapters.git_cli import GitCli
    from codeplane.index.files.include import IncludeRules
    from codeplane.index.files.listing import list_files
    from codeplane.testing.doctor import missing_linters, runner_states, unknown_runners

    if unknown := unknown_runners(config.tests):
        return fail("tests", "; ".join(unknown), "fix tests.runners, or set a command under tests.custom")
    try:
        listing = list_files(workspace.root, GitCli, include=IncludeRules(config.index.include))
    except (NotFound, StorageFailed) as error:
        return warn("tests", f"not known: {error.message}", "see git and repository")
    states = runner_states(workspace.root, listing.paths, config.tests, os.environ)
    linters = missing_linters(workspace.root, config.tests, os.environ)
    missing = [state for state in states if state.problem]
    if missing or linters:
        fixes = [*(state.fix for state in missing), *(["install the linter, or fix tests.lint"] if linters else [])]
        found = [*missing, *linters, *(state for state in states if not state.problem)]
        return warn("tests", "; ".join(map(str, found)), "; ".join(dict.fromkeys(fixes)))
    return ok("tests", "; ".join(map(str, states)) or "no tests and no test runner's settings found")
