"""The outcome of a target, from the cases of a report and the way its process ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from codeplane.kernel.plural import plural
from codeplane.testing.case import BAD, Case, CaseStatus
from codeplane.testing.command import Filters
from codeplane.testing.output_errors import USAGE, is_interrupted, last_error
from codeplane.testing.process import ProcessExit
from codeplane.testing.start_failure import NotStarted
from codeplane.testing.target import Target, TargetSelection

NO_REPORT = "it wrote no report"
_NO_TESTS = 5
_UNEXPLAINED = "test failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A target's status, its cases, and where its output is.

    `missing`: requested names that it does not have. `unmatched`: a pattern or tag left out all of its tests.
    `reused_from`: the run that the outcome was taken from, instead of running again.
    """

    wanted: TargetSelection
    status: CaseStatus
    cases: tuple[Case, ...]
    seconds: float
    output: str = ""
    shared: int = 1
    note: str = ""
    ran: bool = True
    missing: tuple[str, ...] = ()
    unmatched: bool = False
    reused_from: str = ""
    not_started: NotStarted | None = None

    @property
    def target_id(self) -> str:
        """The target's."""
        return self.wanted.target_id

    @property
    def bad(self) -> tuple[Case, ...]:
        """The cases that failed."""
        return tuple(case for case in self.cases if case.is_bad)


def assign_cases(
    cases: Sequence[Case], wanted: Sequence[TargetSelection], root: Path
) -> tuple[dict[str, list[Case]], list[Case]]:
    """Return the cases of each target, and those that belong to none."""
    found: dict[str, list[Case]] = {selection.target_id: [] for selection in wanted}
    unassigned: list[Case] = []
    for case in cases:
        owner = _owner(case, wanted, root)
        if owner is None:
            unassigned.append(_shorten_paths(case, root))
        else:
            found[owner.target_id].append(_shorten_paths(_with_inheriting_class(case, owner.target), root))
    runner = wanted[0].target.runner
    if unassigned and runner is not None and runner.whole and not any(found.values()):
        return {target_id: list(unassigned) for target_id in found}, []
    return found, unassigned


def is_accounted(
    cases: Sequence[Case], ended: ProcessExit, wanted: TargetSelection, filters: Filters, tail: str
) -> bool:
    """Whether a target without cases in a sound report has nothing to run, rather than that the run ended early."""
    if ended.code == 0 or (ended.code == _NO_TESTS and wanted.target.runner_name == "pytest"):
        return True
    is_explained = any(case.is_bad for case in cases) and not is_interrupted(tail)
    return filters.chooses and not filters.fail_fast and is_explained


def is_unexplained(cases: Sequence[Case]) -> bool:
    """Whether the report says only that the target failed, so that its output says more."""
    return len(cases) == 1 and cases[0].is_target_failure and cases[0].message == _UNEXPLAINED


def outcome_of(
    wanted: TargetSelection,
    cases: Sequence[Case],
    ended: ProcessExit,
    *,
    problem: str,
    tail: str,
    filtered: bool = False,
) -> Outcome:
    """Return the outcome of a target whose process is over; `problem` says what is wrong with its report."""
    all_cases = [_explain(case, tail) for case in cases]
    trouble = _process_error(wanted.target, all_cases, ended, problem, tail)
    if trouble is not None:
        all_cases.append(trouble)
    statuses = {case.status for case in all_cases}
    status: CaseStatus = "passed"
    note, unmatched = "", False
    if "error" in statuses:
        status = "error"
    elif "failed" in statuses:
        status = "failed"
    elif not all_cases and wanted.target.runner is not None:
        status, note, unmatched = "skipped", "nothing selected" if filtered else "no tests", filtered
    elif statuses == {"skipped"}:
        status = "skipped"
    seconds = sum(case.duration_ms for case in all_cases) / 1000
    return Outcome(
        wanted=wanted,
        status=status,
        cases=tuple(all_cases),
        seconds=seconds or ended.seconds,
        note=note,
        unmatched=unmatched,
    )


def not_run(wanted: TargetSelection, why: str) -> Outcome:
    """Return the outcome of a target that was not started, or not finished, when the run ended."""
    count = wanted.target.test_count
    about = f" (about {plural(count, 'test')})" if count and not wanted.names else ""
    return Outcome(wanted=wanted, status="skipped", cases=(), seconds=0.0, note=f"not run: {why}{about}", ran=False)


def not_started(wanted: TargetSelection, why: NotStarted, *, output: str = "", shared: int = 1) -> Outcome:
    """Return the outcome of a target whose runner is missing or did not start."""
    return Outcome(
        wanted=wanted,
        status="error",
        cases=(),
        seconds=0.0,
        output=output,
        shared=shared,
        note="runner did not start",
        ran=False,
        not_started=why,
    )


def not_found(wanted: TargetSelection, names: Sequence[str]) -> Outcome:
    """Return the outcome of a target that has none of the requested tests."""
    return Outcome(
        wanted=wanted, status="skipped", cases=(), seconds=0.0, note="not found", ran=False, missing=tuple(names)
    )


def _process_error(target: Target, cases: Sequence[Case], ended: ProcessExit, problem: str, tail: str) -> Case | None:
    """Return a case for what the report does not say: the process timed out, was killed, or failed with no report."""
    name = target.target_id.rpartition("/")[2]
    if ended.timed_out:
        how = "printed nothing for too long" if ended.silent else f"took longer than {ended.seconds:.0f} s"
        message = f"it {how} and was ended with everything it had started"
        return Case(name=name, status="error", kind="Timeout", message=message, stack=tail, is_target_failure=True)
    if ended.signal_name:
        killed = ended.signal_name
        return Case(
            name=name, status="error", kind=killed, message=f"killed by {killed}", stack=tail, is_target_failure=True
        )
    error = last_error(tail)
    if problem:
        kind, message = error if error is not None and problem == NO_REPORT and ended.code else ("NoReport", problem)
        return Case(name=name, status="error", kind=kind, message=message, stack=tail, is_target_failure=True)
    is_bad = any(case.status in BAD for case in cases)
    if ended.code == 0 or is_bad or (not cases and ended.code == _NO_TESTS and target.runner_name == "pytest"):
        return None
    if error is not None and error[0] == USAGE and target.runner is not None:
        return Case(name=name, status="error", kind=USAGE, message=error[1], is_target_failure=True)
    last = next((line for line in reversed(tail.splitlines()) if line.strip()), "")
    reason = f"{error[0]}: {error[1]}" if error is not None and target.runner is not None else last.strip()
    return Case(
        name=name,
        status="failed" if target.runner is None else "error",
        kind="ExitStatus",
        message=f"exit status {ended.code}: {reason}" if reason else f"exit status {ended.code}",
        stack=tail,
        is_target_failure=True,
    )


def _explain(case: Case, tail: str) -> Case:
    """Add what was printed to a failure that the report does not explain."""
    error = last_error(tail) if is_unexplained([case]) else None
    if error is None:
        return case
    # Node's own frames and the counts of the run follow.
    return replace(case, kind=error[0], message=error[1], stack=re.split(r"\n\s+at |\nNode\.js v", tail)[0])


def _owner(case: Case, wanted: Sequence[TargetSelection], root: Path) -> TargetSelection | None:
    if len(wanted) == 1:
        return wanted[0]
    # An inherited test belongs to the file of its class, though the report names the file it is written in.
    if (inheriting := next((selection for selection in wanted if _inherits(case, selection.target)), None)) is not None:
        return inheriting
    file = case.file.removeprefix("file://")
    if file:
        path = file.removeprefix(f"{root}/").removeprefix("./")
        for selection in wanted:
            below = f"{selection.target.root}/{path}" if selection.target.root else path
            if path == selection.target.path or below == selection.target.path or below in selection.target.covers:
                return selection
    best: tuple[int, TargetSelection] | None = None
    for selection in wanted:
        for name in _names(selection.target):
            if case.owner == name or case.owner.startswith((f"{name}.", f"{name}$")) or case.owner.endswith(f"/{name}"):
                best = max(best or (0, selection), (len(name), selection), key=lambda pair: pair[0])
    if best is None and wanted[0].target.runner is not None and wanted[0].target.runner.unit == "package":
        # The package at the root has no name.
        return next(
            (selection for selection in wanted if not selection.target.path_in_root and "/" in case.owner), None
        )
    return best[1] if best is not None else None


def _inherits(case: Case, target: Target) -> bool:
    """Whether a class of a Python target inherits this test from another file."""
    written = case.file.removesuffix(".py").replace("/", ".").lstrip(".")
    return (
        case.file.endswith(".py")
        and not case.is_target_failure
        and any(case.owner.startswith(f"{name}.") and not f".{written}".endswith(f".{name}") for name in _names(target))
    )


def _with_inheriting_class(case: Case, target: Target) -> Case:
    """Return the case under the name that runs it: with the class that inherits it."""
    if not _inherits(case, target):
        return case
    (module,) = _names(target)
    within = case.owner.removeprefix(f"{module}.").split(".")
    name = "::".join([*within, case.name.rpartition("::")[2]])
    return case if case.name.startswith("::".join(within)) else replace(case, name=name)


def _names(target: Target) -> tuple[str, ...]:
    unit = target.runner.unit if target.runner is not None else "file"
    if unit == "class":
        return (target.target_id,)
    if unit == "package":
        return (target.path_in_root,) if target.path_in_root else ()
    return (target.path_in_root.removesuffix(".py").replace("/", "."),) if target.path.endswith(".py") else ()


def _shorten_paths(case: Case, root: Path) -> Case:
    """Make paths relative to the repository's root."""
    here = f"{root}/"
    if here not in case.message and here not in case.stack:
        return case
    return replace(
        case,
        message=case.message.replace(f"file://{here}", "").replace(here, ""),
        stack=case.stack.replace(f"file://{here}", "").replace(here, ""),
    )
