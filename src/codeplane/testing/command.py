"""The command lines that run targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.testing.case_names import name_pattern
from codeplane.testing.runner import Runner
from codeplane.testing.target import Target, TargetSelection


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which tests of the targets to run: by name, by tag, until the first failure."""

    pattern: str = ""
    tags: tuple[str, ...] = ()
    fail_fast: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all tests run."""
        return not self.pattern and not self.tags and not self.fail_fast

    @property
    def chooses(self) -> bool:
        """Whether tests are left out by their names or tags."""
        return bool(self.pattern or self.tags)

    def pattern_for(self, wanted: Sequence[TargetSelection]) -> str:
        """Return the pattern for a process: the requested one, or the test names where the runner takes them as one."""
        runner = wanted[0].target.runner
        names = sorted({name for selection in wanted for name in selection.names})
        if (
            self.pattern
            or runner is None
            or runner.node_ids
            or not names
            or not all(selection.names for selection in wanted)
        ):
            return self.pattern
        return name_pattern(runner, names)

    def list_unsupported(self, runner: Runner) -> list[str]:
        """Return the filters that a runner does not support."""
        missing = ["pattern"] if self.pattern and not runner.pattern else []
        return missing + (["tags"] if self.tags and not runner.tags else [])


def words(
    runner: Runner,
    program: Sequence[str],
    wanted: Sequence[TargetSelection],
    report: Path,
    filters: Filters,
    *,
    offline: bool,
) -> list[str]:
    """Build the command of one process for targets of one runner and root."""
    options = _fill(runner.report_args, {"report": str(report)})
    options += _filters(runner, wanted, filters)
    options += runner.offline if offline else ()
    targets = [word for selection in wanted for word in _target(runner, selection)]
    joined = ",".join(word for selection in wanted for word in selection.target.words)
    command: list[str] = []
    for word in runner.command:
        if word == "{program}":
            command += program
        elif word == "{targets}":
            command += targets
        elif word == "{options}":
            command += options
        elif word == "{script}":
            command.append(runner.script_text())
        else:
            command.append(word.replace("{report}", str(report)).replace("{joined}", joined))
    return command if "{options}" in runner.command else [*command, *options]


def custom_words(target: Target, program: Sequence[str], report: Path) -> list[str]:
    """Build the command of a custom runner, with the options that make a known runner write its report."""
    assert target.custom is not None
    values = {"path": target.path, "report": str(report)}
    command = [*program, *_fill(target.custom.cmd[1:], values)]
    if target.runner is not None and not any("{report}" in word for word in target.custom.cmd):
        command += _fill(target.runner.report_args, values)
    return command


def _target(runner: Runner, wanted: TargetSelection) -> tuple[str, ...]:
    target = wanted.target
    # A file's name may look like an option.
    files = (target.path, target.path_in_root)
    words = tuple(f"./{word}" if word.startswith("-") and word in files else word for word in target.words)
    if not wanted.names or not runner.node_ids:
        return words
    return tuple(f"{word}::{name}" for word in words for name in wanted.names)


def _filters(runner: Runner, wanted: Sequence[TargetSelection], filters: Filters) -> list[str]:
    found: list[str] = []
    pattern = filters.pattern_for(wanted)
    if pattern:
        found += _fill(runner.pattern, {"pattern": pattern})
    if filters.tags:
        found += _fill(runner.tags, {"tags": runner.tags_join.join(filters.tags)})
    if filters.fail_fast:
        found += runner.fail_fast
    return found


def _fill(template: Sequence[str], values: dict[str, str]) -> list[str]:
    filled = []
    for word in template:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", value)
        filled.append(word)
    return filled
