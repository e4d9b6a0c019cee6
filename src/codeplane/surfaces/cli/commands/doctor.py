"""`cpl doctor`: find problems, and how to fix them."""

from typing import Annotated

import typer

from codeplane.kernel.errors import LedgerCorrupt
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check
from codeplane.surfaces.cli.output import EXIT_FAILED, JsonOption, RepoOption, report_errors, resolve_workspace

_LOG_LINES = 500


@report_errors
def doctor(
    repo: RepoOption = None,
    logs: Annotated[bool, typer.Option("--logs", help="Also the recent log, for a bug report.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Copy what can be read of a damaged ledger into a new one.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check everything that can be wrong here; changes nothing.

    Exit code 0: nothing is broken, though there may be warnings; 1: something is; 2: the command line is wrong.
    """
    # All of what it looks at would be imported by every command otherwise.
    from codeplane.surfaces.cli.diagnosis.checklist import run_checks

    workspace = resolve_workspace(repo)
    salvaged = _salvage(workspace) if salvage else None
    checks = list(run_checks(workspace))
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
    rows: list[JsonValue] = [
        {"name": check.name, "verdict": check.verdict, "found": check.found, "fix": check.fix} for check in checks
    ]
    report: JsonObject = {"checks": rows}
    if salvaged is not None:
        report["salvage"] = salvaged
    if lines is not None:
        report["log"] = lines
    return report


def _log_lines(workspace: Workspace) -> list[str]:
    from codeplane.adapters.secret_files import EMPTY, SecretFiles
    from codeplane.kernel.redaction import Redactor
    from codeplane.kernel.secret_paths import NOTHING_SHOWN
    from codeplane.observe.log_tail import tail

    # For a bug report: others will read it.
    files = SecretFiles(serving=workspace.root, rules=NOTHING_SHOWN, empty=workspace.home / EMPTY)
    files.walk()
    redactor = Redactor(matcher=files.matcher)
    return [redactor.text(line, assignments=False) for line in tail(workspace.log, _LOG_LINES)]


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
