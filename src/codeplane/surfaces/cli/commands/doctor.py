"""`cpl doctor`: what is wrong here, and how to fix it."""

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from codeplane import __version__
from codeplane.kernel.errors import CodePlaneError, LedgerCorrupt
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.diagnosis import Check, diagnosed
from codeplane.surfaces.cli.discovery import ServerFacts, find_server
from codeplane.surfaces.cli.output import EXIT_FAILED, JsonOption, RepoOption, failing_clearly, workspace_of
from codeplane.surfaces.cli.surroundings import holder, surroundings

_LOW_DISK_BYTES = 500 * 1024 * 1024
_LOG_LINES = 500


@failing_clearly
def doctor(
    repo: RepoOption = None,
    logs: Annotated[bool, typer.Option("--logs", help="Also the recent log, for a bug report.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Copy what can be read of a damaged ledger into a new one.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the installation, the settings, the server and the ledger; exit code 1 when something is broken."""
    workspace = workspace_of(repo)
    salvaged = _salvage(workspace) if salvage else None
    checks = list(_checks(workspace))
    lines = _log_lines(workspace) if logs else None
    if as_json:
        print(dumps(_report(checks, salvaged, lines)))
    else:
        if salvaged is not None:
            print(salvaged)
        for check in checks:
            print(f"{check.verdict:<4}  {check.name:<10}  {check.found}{f'  → {check.fix}' if check.fix else ''}")
        if lines is not None:
            print("\n".join([f"\nlog {workspace.log}", *(lines or ["(empty)"])]))
    if any(check.verdict == "fail" for check in checks):
        raise typer.Exit(EXIT_FAILED)


def _report(checks: list[Check], salvaged: str | None, lines: list[str] | None) -> JsonObject:
    found: list[JsonValue] = [
        {"name": check.name, "verdict": check.verdict, "found": check.found, "fix": check.fix} for check in checks
    ]
    report: JsonObject = {"checks": found}
    if salvaged is not None:
        report["salvage"] = salvaged
    if lines is not None:
        report["log"] = lines
    return report


def _log_lines(workspace: Workspace) -> list[str]:
    from codeplane.observe.log_tail import tail

    return tail(workspace.log, _LOG_LINES)


def _salvage(workspace: Workspace) -> str:
    from codeplane.adapters.file_lock import FileLock
    from codeplane.ledger.salvage import examine, salvage

    if not workspace.ledger.exists():
        return "nothing to salvage: there is no ledger"
    lock = FileLock(workspace.lock)
    lock.acquire()
    try:
        return f"nothing to salvage: the ledger is {examine(workspace.ledger)}"
    except LedgerCorrupt:
        return salvage(workspace.ledger)
    finally:
        lock.release()


def _checks(workspace: Workspace) -> Iterator[Check]:
    python = f"cpl {__version__} on Python {platform.python_version()}, {platform.platform()}"
    yield Check(name="version", verdict="ok", found=python)
    git = shutil.which("git")
    yield Check(name="git", verdict="ok" if git else "fail", found=git or "not found", fix="" if git else "install git")
    yield _repository(workspace)
    yield _settings(workspace)
    yield _runners(workspace)
    yield _sandbox(workspace)
    yield _home(workspace)
    facts = find_server(workspace)
    yield _server(workspace, facts)
    yield _ledger(workspace, facts)
    yield from _further(workspace, facts)
    yield from surroundings(workspace, facts)


def _further(workspace: Workspace, facts: ServerFacts | None) -> Iterator[Check]:
    """What depends on the settings; while those cannot be read, that is what is to be mended first."""
    from codeplane.adapters.yaml_config import configuration

    try:
        config = configuration(workspace, (), os.environ).config
    except CodePlaneError:
        return
    checks = diagnosed(workspace, config, facts)
    while True:
        try:
            yield next(checks)
        except StopIteration:
            return
        except CodePlaneError as error:
            yield Check(name="checks", verdict="fail", found=error.message, fix=error.hint)
            return


def _repository(workspace: Workspace) -> Check:
    from codeplane.adapters.pygit2_repo import GitRepo

    head = GitRepo(workspace.root).head()
    if head is None:
        return Check(name="repository", verdict="warn", found=f"{workspace.root} has no commit", fix="git commit")
    return Check(name="repository", verdict="ok", found=f"{workspace.root} at {head[:12]}")


def _settings(workspace: Workspace) -> Check:
    from codeplane.adapters.yaml_config import configuration

    try:
        loaded = configuration(workspace, (), os.environ)
    except CodePlaneError as error:
        return Check(name="settings", verdict="fail", found=error.message, fix=error.hint)
    return Check(name="settings", verdict="ok", found=", ".join(loaded.sources) or "defaults")


def _runners(workspace: Workspace) -> Check:
    from codeplane.adapters.yaml_config import configuration
    from codeplane.repo.testing.doctor import missing_runners

    try:
        config = configuration(workspace, (), os.environ).config.tests
    except CodePlaneError:
        return Check(name="tests", verdict="warn", found="not known while the settings are broken", fix="see settings")
    if missing := missing_runners(workspace.root, config, os.environ):
        return Check(
            name="tests", verdict="warn", found="; ".join(missing), fix="install them, or set tests.runners to others"
        )
    return Check(name="tests", verdict="ok", found="the runners that are asked for are there")


def _sandbox(workspace: Workspace) -> Check:
    from codeplane.adapters.bubblewrap import Bubblewrap

    cache = workspace.home / "tests" / "cache"
    box = Bubblewrap(home=Path.home(), hidden=(workspace.home,), cache=cache, environment=os.environ)
    if missing := box.missing():
        return Check(name="sandbox", verdict="warn", found=missing, fix="apt-get install bubblewrap, for test_run")
    return Check(name="sandbox", verdict="ok", found="bubblewrap works: tests run enclosed")


def _home(workspace: Workspace) -> Check:
    home = workspace.home
    if not home.exists():
        return Check(name="home", verdict="warn", found=f"{home} is not there", fix="cpl init")
    if not home.is_dir():
        return Check(name="home", verdict="fail", found=f"{home} is not a folder", fix=f"mv {home} {home}.old")
    if not os.access(home, os.W_OK | os.X_OK):
        return Check(name="home", verdict="fail", found=f"{home} is read-only", fix=f"chmod u+rwx {home}")
    free = shutil.disk_usage(home).free
    if free < _LOW_DISK_BYTES:
        return Check(name="home", verdict="warn", found=f"{free // 2**20} MB left on its disk", fix="free some space")
    return Check(name="home", verdict="ok", found=f"{home}, {free // 2**30} GB free")


def _server(workspace: Workspace, facts: ServerFacts | None) -> Check:
    if facts is None:
        return holder(workspace) or Check(name="server", verdict="warn", found="not running", fix="cpl up")
    if facts.version != __version__:
        return Check(
            name="server",
            verdict="warn",
            found=f"runs {facts.version}, this is {__version__}",
            fix="cpl down && cpl up",
        )
    if said := _changed(workspace, facts):
        return Check(name="server", verdict="warn", found=f"{facts.url}: settings {said}", fix="cpl down && cpl up")
    return Check(name="server", verdict="ok", found=f"{facts.url}, pid {facts.pid}")


def _changed(workspace: Workspace, facts: ServerFacts) -> str:
    """Which settings the server does not go by yet."""
    from codeplane.observe.status import settings_said

    try:
        found = Client(workspace, facts).call("status", {"include": ["config"]}).get("result")
    except CodePlaneError:
        # What keeps us from asking has a check of its own.
        return ""
    return settings_said(found.get("config")).partition("; then:")[0] if isinstance(found, dict) else ""


def _ledger(workspace: Workspace, facts: ServerFacts | None) -> Check:
    try:
        if facts is not None:
            return _served_ledger(Client(workspace, facts).call("ledger.verify", {}, text=True))
        if not workspace.ledger.exists():
            return Check(name="ledger", verdict="ok", found="none yet")
        from codeplane.ledger.salvage import examine

        return Check(name="ledger", verdict="ok", found=examine(workspace.ledger))
    except CodePlaneError as error:
        return Check(name="ledger", verdict="fail", found=error.message, fix=error.hint)


def _served_ledger(envelope: JsonObject) -> Check:
    error, result = envelope.get("error"), envelope.get("result")
    if isinstance(error, dict):
        return Check(name="ledger", verdict="fail", found=str(error["message"]), fix=str(error["hint"]))
    sound = isinstance(result, dict) and bool(result["ok"])
    fix = "" if sound else "cpl call ledger.rebuild"
    return Check(name="ledger", verdict="ok" if sound else "fail", found=str(envelope["text"]), fix=fix)
