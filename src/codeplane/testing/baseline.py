"""Which failures are older than a change: results of tests at the commit before it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from codeplane.testing.case import BAD
from codeplane.testing.fingerprint import fingerprint
from codeplane.testing.outcome import Outcome

_MAX_TREES = 20
_MAX_TESTS = 100_000

Place = Literal["work tree", "copy"]


class RecordedTest(msgspec.Struct, frozen=True):
    """How a test went at a commit, and how it failed; equal failures have equal fingerprints."""

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
    """What is recorded of one commit's tree."""

    commit: str = msgspec.field(name="commit")
    targets: dict[str, RecordedTarget] = msgspec.field(name="targets")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A test that fails now, by its target and name, and how."""

    test: str
    target_id: str
    kind: str
    fingerprint: str

    @property
    def is_whole(self) -> bool:
        """Whether it is no test, but a target that could not be loaded or built."""
        return self.test == self.target_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Failures by whether they were there before; `unknown` says of each why that is not known."""

    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Failures compared with a commit; `made` when its tests had to run for it, `why` when they could not all."""

    commit: str
    verdict: Verdict
    run_ids: tuple[str, ...] = ()
    recorded_at: str = ""
    made: bool = False
    why: str = ""


class Baselines:
    """Recorded results by the tree of the commit they are of: nobody can record results of changed files as its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, tree: str) -> Baseline | None:
        """What is recorded of a tree."""
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
        for one in outcomes:
            if not one.ran or one.unmatched or one.wanted.names or not one.cases:
                continue
            known = targets.get(one.target_id)
            tests = dict(known.tests) if known is not None and known.place == place else {}
            for case in one.cases[:_MAX_TESTS]:
                name = one.target_id if case.is_whole else f"{one.target_id}::{case.name}"
                how = (case.kind, fingerprint(one.target_id, case)) if case.is_bad else ()
                tests[name] = RecordedTest(case.status, *how)
            for name, earlier in (known.tests if known is not None else {}).items():
                if earlier.status == "passed":
                    tests[name] = earlier
            targets[one.target_id] = RecordedTarget(run_id=one.reused_from or run_id, at=at, place=place, tests=tests)
        found = Baseline(commit=commit, targets=targets)
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{tree}.json"
        temporary = file.with_suffix(".new")
        temporary.write_bytes(msgspec.json.encode(found))
        temporary.replace(file)
        self._trim()
        return found

    def _trim(self) -> None:
        found = sorted(self._folder.glob("*.json"), key=lambda one: one.stat().st_mtime_ns, reverse=True)
        for old in found[_MAX_TREES:]:
            old.unlink(missing_ok=True)


def compare(baseline: Baseline, failures: Sequence[Failed], *, existed: Mapping[str, bool]) -> Verdict:
    """Tell old failures from new ones; `existed` says of each target whether the commit has its files.

    A test without a result in the baseline is new. In a copy of the work tree tests can fail because something is
    missing there, so that a failure of another kind proves nothing. Neither does a target that could not be loaded for
    another reason: nothing is known of its tests.
    """
    old: list[str] = []
    new: list[str] = []
    unknown: dict[str, str] = {}
    for one in failures:
        recorded = baseline.targets.get(one.target_id)
        if recorded is None:
            if existed.get(one.target_id, True):
                unknown[one.test] = "it has no result there"
            else:
                new.append(one.test)
            continue
        before = recorded.tests.get(one.test)
        if before is None or before.status not in BAD:
            new.append(one.test)
        elif (recorded.place == "copy" and before.kind != one.kind) or (
            one.is_whole and before.fingerprint != one.fingerprint
        ):
            unknown[one.test] = f"it failed there in another way ({before.kind or before.status})"
        else:
            old.append(one.test)
    return Verdict(old=tuple(old), new=tuple(new), unknown=unknown)
