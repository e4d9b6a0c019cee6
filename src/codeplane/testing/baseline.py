"""Baselines: results of tests at a commit, which tell old failures from new ones."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from codeplane.testing.case import BAD
from codeplane.testing.fingerprint import fingerprint
from codeplane.testing.outcome import Outcome

_MAX_TREES = 20
_MAX_TESTS = 100_000

# Running the baseline again does not settle this one.
UNLOADED = "its tests changed, and it fails as a whole here as there, so none of them is known"

Place = Literal["work tree", "copy"]


class RecordedTest(msgspec.Struct, frozen=True):
    """The result of a test at a commit; equal failures have equal fingerprints."""

    status: str = msgspec.field(name="status")
    kind: str = msgspec.field(default="", name="kind")
    fingerprint: str = msgspec.field(default="", name="fingerprint")


class RecordedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A target's tests at a commit, by name; `place` says whether they ran in the work tree or in a copy of it."""

    run_id: str = msgspec.field(name="run_id")
    at: str = msgspec.field(name="at")
    place: Place = msgspec.field(name="place")
    tests: dict[str, RecordedTest] = msgspec.field(name="tests")


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded results of one commit's tree."""

    commit: str = msgspec.field(name="commit")
    targets: dict[str, RecordedTarget] = msgspec.field(name="targets")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCase:
    """A test that fails now, by its target and name, and how."""

    test: str
    target_id: str
    kind: str
    fingerprint: str

    @property
    def is_target_failure(self) -> bool:
        """Whether this is no single test, but a target that could not be loaded or built."""
        return self.test == self.target_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Failures by whether they existed before; `unknown` maps each undecided one to the reason."""

    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Failures compared with a commit: `made` if its tests had to run for that, `why` if not all of them could."""

    commit: str
    verdict: Verdict
    run_ids: tuple[str, ...] = ()
    recorded_at: str = ""
    made: bool = False
    why: str = ""


class Baselines:
    """Recorded results by the tree of their commit, so that results of changed files cannot pass for a commit's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, tree: str) -> Baseline | None:
        """Return the recorded results of a tree."""
        try:
            return msgspec.json.decode((self._folder / f"{tree}.json").read_bytes(), type=Baseline)
        except (OSError, msgspec.MsgspecError):
            return None

    def note(
        self, tree: str, commit: str, outcomes: Iterable[Outcome], *, run_id: str, at: str, place: Place
    ) -> Baseline:
        """Record results; a test that ever passed at this tree stays passed, so that no later run can excuse it."""
        before = self.get(tree)
        targets = dict(before.targets) if before is not None else {}
        for outcome in outcomes:
            if not outcome.ran or outcome.unmatched or outcome.wanted.names or not outcome.cases:
                continue
            target_id = outcome.target_id
            known = targets.get(target_id)
            tests = dict(known.tests) if known is not None and known.place == place else {}
            for case in outcome.cases[:_MAX_TESTS]:
                name = target_id if case.is_target_failure else f"{target_id}::{case.name}"
                failure = (case.kind, fingerprint(target_id, case)) if case.is_bad else ()
                tests[name] = RecordedTest(case.status, *failure)
            passed = {name: test for name, test in (known.tests if known else {}).items() if test.status == "passed"}
            if passed.keys() - {f"{target_id}::{case.name}" for case in outcome.cases}:
                # It has run as a whole here: that it no longer loads is no failure of this tree.
                tests.pop(target_id, None)
            tests |= passed
            targets[target_id] = RecordedTarget(run_id=outcome.reused_from or run_id, at=at, place=place, tests=tests)
        baseline = Baseline(commit=commit, targets=targets)
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{tree}.json"
        temporary = file.with_suffix(".new")
        temporary.write_bytes(msgspec.json.encode(baseline))
        temporary.replace(file)
        self._trim()
        return baseline

    def _trim(self) -> None:
        newest_first = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for old in newest_first[_MAX_TREES:]:
            old.unlink(missing_ok=True)


def compare(
    baseline: Baseline, failures: Sequence[FailedCase], *, existed: Mapping[str, bool], changed: Collection[str]
) -> Verdict:
    """Tell old failures from new ones; `existed` says for each target whether the commit has its files.

    `changed` are the targets whose files differ from the commit's: while such a target cannot be loaded, a test that
    was added to it has no result, neither there nor now.

    A test without a result in the baseline is new. In a copy of the work tree, tests can fail because something is
    missing there, so a failure of another kind proves nothing. Neither does a target that could not be loaded for
    another reason: nothing is known about its tests.
    """
    old: list[str] = []
    new: list[str] = []
    unknown: dict[str, str] = {}
    for failure in failures:
        recorded = baseline.targets.get(failure.target_id)
        if recorded is None:
            if existed.get(failure.target_id, True):
                unknown[failure.test] = "it has no result there"
            else:
                new.append(failure.test)
            continue
        before = recorded.tests.get(failure.test)
        if before is None or before.status not in BAD:
            new.append(failure.test)
        elif (recorded.place == "copy" and before.kind != failure.kind) or (
            failure.is_target_failure and before.fingerprint != failure.fingerprint
        ):
            unknown[failure.test] = f"it failed there in another way ({before.kind or before.status})"
        elif failure.is_target_failure and failure.target_id in changed:
            unknown[failure.test] = UNLOADED
        else:
            old.append(failure.test)
    return Verdict(old=tuple(old), new=tuple(new), unknown=unknown)
