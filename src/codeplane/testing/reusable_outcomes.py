"""Outcomes of targets that need not run again, because neither the code nor its environment has changed."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from codeplane.testing.case import Case, CaseStatus
from codeplane.testing.outcome import Outcome
from codeplane.testing.target import TargetSelection

_NS = 1_000_000_000


class _StoredOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A target's outcome, and the run it came from."""

    run_id: str = msgspec.field(name="run_id")
    at_ns: int = msgspec.field(name="at_ns")
    runner: str = msgspec.field(name="runner")
    status: CaseStatus = msgspec.field(name="status")
    cases: tuple[Case, ...] = msgspec.field(name="cases")
    seconds: float = msgspec.field(name="seconds")
    output: str = msgspec.field(name="output")
    shared: int = msgspec.field(name="shared")
    note: str = msgspec.field(name="note")


class _File(msgspec.Struct, frozen=True, kw_only=True):
    state: str = msgspec.field(name="state")
    targets: dict[str, _StoredOutcome] = msgspec.field(name="targets")


class ReusableOutcomes:
    """The outcomes at the newest state of code and environment; one file, replaced as a whole."""

    def __init__(self, file: Path, *, seconds: float) -> None:
        """`seconds`: how long an outcome is valid."""
        self._file = file
        self._seconds = seconds
        self._held: _File | None = None

    @property
    def state(self) -> str:
        """The state of the stored outcomes."""
        return self._read().state

    def find(
        self, state: str, wanted: Iterable[TargetSelection], *, kept: Iterable[str], now_ns: int
    ) -> dict[str, Outcome]:
        """Return the outcomes of whole targets at this state, by target; only of runs that are still stored."""
        stored = self._read()
        if stored.state != state:
            return {}
        runs = set(kept)
        found: dict[str, Outcome] = {}
        for selection in wanted:
            entry = stored.targets.get(selection.target_id)
            if (
                entry is None
                or selection.names
                or entry.runner != selection.target.runner_name
                or entry.run_id not in runs
            ):
                continue
            if 0 <= now_ns - entry.at_ns < self._seconds * _NS:
                found[selection.target_id] = _outcome(entry, selection)
        return found

    def note(self, state: str, outcomes: Iterable[Outcome], *, run_id: str, now_ns: int) -> None:
        """Store the outcomes of a run at this state, in place of those of another state.

        Targets that did not run as a whole, or had an error of any kind (also a timeout), will run again.
        """
        stored = self._read()
        targets = dict(stored.targets) if stored.state == state else {}
        for outcome in outcomes:
            if outcome.reused_from or not outcome.ran or outcome.unmatched or outcome.wanted.names:
                continue
            if outcome.missing or outcome.status == "error" or any(case.status == "error" for case in outcome.cases):
                targets.pop(outcome.target_id, None)
                continue
            targets[outcome.target_id] = _StoredOutcome(
                run_id=run_id,
                at_ns=now_ns,
                runner=outcome.wanted.target.runner_name,
                status=outcome.status,
                cases=outcome.cases,
                seconds=outcome.seconds,
                output=outcome.output,
                shared=outcome.shared,
                note=outcome.note,
            )
        self._held = _File(state=state, targets=targets)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(".new")
        try:
            temporary.write_bytes(msgspec.json.encode(self._held))
        except UnicodeEncodeError:
            # A name that is not text: the outcomes live only in this process.
            return
        temporary.replace(self._file)

    def _read(self) -> _File:
        if self._held is None:
            try:
                self._held = msgspec.json.decode(self._file.read_bytes(), type=_File)
            except (OSError, msgspec.MsgspecError):
                # Derived data: what cannot be read runs again.
                self._held = _File(state="", targets={})
        return self._held


def _outcome(entry: _StoredOutcome, wanted: TargetSelection) -> Outcome:
    return Outcome(
        wanted=wanted,
        status=entry.status,
        cases=entry.cases,
        seconds=entry.seconds,
        # Relative to the folder of the run that reuses it.
        output=f"../{entry.run_id}/{entry.output}" if entry.output else "",
        shared=entry.shared,
        note=entry.note,
        reused_from=entry.run_id,
    )
