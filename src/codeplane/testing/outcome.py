"""How a target went, from the cases of a report and the way its process ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from codeplane.testing.case import BAD, Case, CaseStatus
from codeplane.testing.command import Filters
from codeplane.testing.complaint import USAGE, is_cut_short, reason
from codeplane.testing.process import Ended
from codeplane.testing.start_failure import NotStarted
from codeplane.testing.target import Target, Wanted

NO_REPORT = "it wrote no report"
_NO_TESTS = 5
_UNSAID = "test failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A target's status, its cases, and where its output is.

    `missing` are names that were asked for and that it does not have; `unmatched` says that a pattern or tag left out
    all of its tests. `reused_from` is the run that it was taken from, instead of running again.
    """

    wanted: Wanted
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
        return tuple(one for one in self.cases if one.is_bad)


def sorted_out(cases: Sequence[Case], wanted: Sequence[Wanted], root: Path) -> tuple[dict[str, list[Case]], list[Case]]:
    """The cases of each target, and those that are nobody's."""
    found: dict[str, list[Case]] = {one.target_id: [] for one in wanted}
    nobodys: list[Case] = []
    for case in cases:
        owner = _owner(case, wanted, root)
        if owner is None:
            nobodys.append(_shortened(case, root))
        else:
            found[owner.target_id].append(_shortened(_inherited(case, owner.target), root))
    runner = wanted[0].target.runner
    if nobodys and runner is not None and runner.whole and not any(found.values()):
        return {target_id: list(nobodys) for target_id in found}, []
    return found, nobodys


def is_accounted(cases: Sequence[Case], ended: Ended, wanted: Wanted, filters: Filters, tail: str) -> bool:
    """Whether a target that a sound report says nothing of has nothing to run, rather than that the end came first."""
    if ended.code == 0 or (ended.code == _NO_TESTS and wanted.target.runner_name == "pytest"):
        return True
    is_explained = any(one.is_bad for one in cases) and not is_cut_short(tail)
    return filters.chooses and not filters.fail_fast and is_explained


def is_unexplained(cases: Sequence[Case]) -> bool:
    """Whether all that is told of a target is that it failed; what it printed says more."""
    return len(cases) == 1 and cases[0].is_whole and cases[0].message == _UNSAID


def outcome(
    wanted: Wanted, cases: Sequence[Case], ended: Ended, *, problem: str, tail: str, filtered: bool = False
) -> Outcome:
    """How one target went whose process is over; `problem` says what is wrong with its report."""
    kept = [_explained(one, tail) for one in cases]
    trouble = _trouble(wanted.target, kept, ended, problem, tail)
    if trouble is not None:
        kept.append(trouble)
    statuses = {one.status for one in kept}
    status: CaseStatus = "passed"
    note, unmatched = "", False
    if "error" in statuses:
        status = "error"
    elif "failed" in statuses:
        status = "failed"
    elif not kept and wanted.target.runner is not None:
        status, note, unmatched = "skipped", "nothing selected" if filtered else "no tests", filtered
    elif statuses == {"skipped"}:
        status = "skipped"
    seconds = sum(one.duration_ms for one in kept) / 1000
    return Outcome(
        wanted=wanted,
        status=status,
        cases=tuple(kept),
        seconds=seconds or ended.seconds,
        note=note,
        unmatched=unmatched,
    )


def not_run(wanted: Wanted, why: str) -> Outcome:
    """A target that was not begun, or not finished, when the run ended."""
    count = wanted.target.test_count
    about = f" (about {count} {'test' if count == 1 else 'tests'})" if count and not wanted.names else ""
    return Outcome(wanted=wanted, status="skipped", cases=(), seconds=0.0, note=f"not run: {why}{about}", ran=False)


def not_started(wanted: Wanted, why: NotStarted, *, output: str = "", shared: int = 1) -> Outcome:
    """A target whose runner is missing, or did not start."""
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


def not_found(wanted: Wanted, names: Sequence[str]) -> Outcome:
    """A target that has none of the tests that were asked for."""
    return Outcome(
        wanted=wanted, status="skipped", cases=(), seconds=0.0, note="not found", ran=False, missing=tuple(names)
    )


def _trouble(target: Target, cases: Sequence[Case], ended: Ended, problem: str, tail: str) -> Case | None:
    """What the report does not say: that the process was stopped, killed, or ended badly with nothing to show."""
    name = target.target_id.rpartition("/")[2]
    if ended.timed_out:
        how = "said nothing for too long" if ended.silent else f"took longer than {ended.seconds:.0f} s"
        message = f"it {how} and was ended with everything it had started"
        return Case(name=name, status="error", kind="Timeout", message=message, stack=tail, is_whole=True)
    if ended.signal_name:
        killed = ended.signal_name
        return Case(name=name, status="error", kind=killed, message=f"killed by {killed}", stack=tail, is_whole=True)
    said = reason(tail)
    if problem:
        kind, message = said if said is not None and problem == NO_REPORT and ended.code else ("NoReport", problem)
        return Case(name=name, status="error", kind=kind, message=message, stack=tail, is_whole=True)
    is_bad = any(one.status in BAD for one in cases)
    if ended.code == 0 or is_bad or (not cases and ended.code == _NO_TESTS and target.runner_name == "pytest"):
        return None
    if said is not None and said[0] == USAGE and target.runner is not None:
        return Case(name=name, status="error", kind=USAGE, message=said[1], is_whole=True)
    last = next((line for line in reversed(tail.splitlines()) if line.strip()), "")
    told = f"{said[0]}: {said[1]}" if said is not None and target.runner is not None else last.strip()
    return Case(
        name=name,
        status="failed" if target.runner is None else "error",
        kind="ExitStatus",
        message=f"exit status {ended.code}: {told}" if told else f"exit status {ended.code}",
        stack=tail,
        is_whole=True,
    )


def _explained(case: Case, tail: str) -> Case:
    """A failure of which the report has only that it happened, with what was printed."""
    said = reason(tail) if is_unexplained([case]) else None
    if said is None:
        return case
    # What comes after are Node's own frames, and the run's counts.
    return replace(case, kind=said[0], message=said[1], stack=re.split(r"\n\s+at |\nNode\.js v", tail)[0])


def _owner(case: Case, wanted: Sequence[Wanted], root: Path) -> Wanted | None:
    if len(wanted) == 1:
        return wanted[0]
    # A test that a class inherits is of the class's file, though the report names the one it is written in.
    if (inheriting := next((one for one in wanted if _inherits(case, one.target)), None)) is not None:
        return inheriting
    file = case.file.removeprefix("file://")
    if file:
        path = file.removeprefix(f"{root}/").removeprefix("./")
        for one in wanted:
            below = f"{one.target.root}/{path}" if one.target.root else path
            if path == one.target.path or below == one.target.path or below in one.target.covers:
                return one
    best: tuple[int, Wanted] | None = None
    for one in wanted:
        for name in _names(one.target):
            if case.owner == name or case.owner.startswith((f"{name}.", f"{name}$")) or case.owner.endswith(f"/{name}"):
                best = max(best or (0, one), (len(name), one), key=lambda pair: pair[0])
    if best is None and wanted[0].target.runner is not None and wanted[0].target.runner.unit == "package":
        # The package of the root has no name of its own.
        return next((one for one in wanted if not one.target.inner and "/" in case.owner), None)
    return best[1] if best is not None else None


def _inherits(case: Case, target: Target) -> bool:
    """Whether a class of a Python target has this test from elsewhere."""
    written = case.file.removesuffix(".py").replace("/", ".").lstrip(".")
    return (
        case.file.endswith(".py")
        and not case.is_whole
        and any(case.owner.startswith(f"{name}.") and not f".{written}".endswith(f".{name}") for name in _names(target))
    )


def _inherited(case: Case, target: Target) -> Case:
    """The case by the name that runs it: with the class that inherits it."""
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
        return (target.inner,) if target.inner else ()
    return (target.inner.removesuffix(".py").replace("/", "."),) if target.path.endswith(".py") else ()


def _shortened(case: Case, root: Path) -> Case:
    """Paths as the repository writes them."""
    here = f"{root}/"
    if here not in case.message and here not in case.stack:
        return case
    return replace(
        case,
        message=case.message.replace(f"file://{here}", "").replace(here, ""),
        stack=case.stack.replace(f"file://{here}", "").replace(here, ""),
    )
