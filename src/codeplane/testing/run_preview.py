"""The preview of a test run: its commands, their folders, and the state of the code."""

from collections.abc import Sequence
from pathlib import Path
from shlex import join

from codeplane.index.files.paths import path_text
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.operation import Preview
from codeplane.testing.code_state import code_state
from codeplane.testing.command import Filters, custom_words, words
from codeplane.testing.program import Programs
from codeplane.testing.target import TargetSelection

_REPORT = Path("REPORT")
_REPORTER = "REPORTER"
_MAX_COMMANDS = 20
_MAX_COMMAND = 2000


def preview_run(
    wanted: Sequence[TargetSelection],
    snapshot: Snapshot,
    programs: Programs,
    filters: Filters,
    *,
    root: Path,
    where: str,
    offline: bool,
    rerun_failed: int,
) -> Preview:
    """Show a person what a run would start; `where` says whether in the sandbox. Blocks."""
    facts = [f"the repository's code runs {where}"]
    facts += _commands(wanted, programs, filters, root=root, offline=offline)
    facts += [f"what fails runs again, up to {rerun_failed} times"] if rerun_failed else []
    facts.append(f"Only while the repository's files are as they are now: {code_state(wanted, snapshot)}")
    count = f"{len(wanted)} test target{'s' * (len(wanted) != 1)}"
    return Preview(summary=f"run {count} {where}", body="\n".join(facts))


def _commands(
    wanted: Sequence[TargetSelection], programs: Programs, filters: Filters, *, root: Path, offline: bool
) -> list[str]:
    """Return the commands with their folders: one for all targets that can share a process, though it may be split."""
    groups: dict[object, list[TargetSelection]] = {}
    for selection in wanted:
        groups.setdefault(selection.process_key or selection, []).append(selection)
    commands = [
        f"in {path_text(str(root / group[0].target.root))}:\n  {_command(group, programs, filters, offline=offline)}"
        for group in list(groups.values())[:_MAX_COMMANDS]
    ]
    if len(groups) > _MAX_COMMANDS:
        commands.append(f"and {len(groups) - _MAX_COMMANDS} commands more")
    return commands


def _command(wanted: Sequence[TargetSelection], programs: Programs, filters: Filters, *, offline: bool) -> str:
    target = wanted[0].target
    if target.custom is not None:
        program = programs.command(target.custom.cmd[0], target.root)
        text = join(custom_words(target, program.words, _REPORT)) if program else f"{target.custom.cmd[0]} (not found)"
    elif target.runner is not None and (program := programs.at(target.runner, target.root)) is not None:
        command = words(target.runner, program.words, wanted, _REPORT, filters, offline=offline)
        # Our own reporter is passed as text, which would bury the command.
        reporter = target.runner.script_text() if target.runner.script else None
        text = join([_REPORTER if word == reporter else word for word in command])
    else:
        text = f"{target.runner_name} (not found)"
    text = path_text(text)
    return text if len(text) <= _MAX_COMMAND else f"{text[:_MAX_COMMAND]} … and {len(text) - _MAX_COMMAND} characters"
