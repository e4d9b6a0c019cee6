"""Outcomes of targets that need not run again, because neither the code nor its environment changed since."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from codeplane.testing.case import Case, CaseStatus
from codeplane.testing.outcome import Outcome
from codeplane.testing.target import Wanted

_NS = 1_000_000_000


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    """One target's outcome, and the run that found it."""

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
    targets: dict[str, _Held] = msgspec.field(name="targets")


class ReusableOutcomes:
    """The outcomes at the newest state of code and environment; one file, replaced whole."""

    def __init__(self, file: Path, *, seconds: float) -> None:
        """`seconds`: how long an outcome counts."""
        self._file = file
        self._seconds = seconds
        self._held: _File | None = None

    @property
    def state(self) -> str:
        """The state that outcomes are kept of."""
        return self._read().state

    def find(self, state: str, wanted: Iterable[Wanted], *, kept: Iterable[str], now_ns: int) -> dict[str, Outcome]:
        """The outcomes of whole targets at this state, by target; only of runs that are still kept."""
        held = self._read()
        if held.state != state:
            return {}
        runs = set(kept)
        found: dict[str, Outcome] = {}
        for one in wanted:
            entry = held.targets.get(one.target_id)
            if entry is None or one.names or entry.runner != one.target.runner_name or entry.run_id not in runs:
                continue
            if 0 <= now_ns - entry.at_ns < self._seconds * _NS:
                found[one.target_id] = _outcome(entry, one)
        return found

    def note(self, state: str, outcomes: Iterable[Outcome], *, run_id: str, now_ns: int) -> None:
        """Keep what a run found at this state; whatever was kept of another state goes.

        Targets that did not run whole, or had an error of any kind (also a timeout), are to be run again.
        """
        held = self._read()
        targets = dict(held.targets) if held.state == state else {}
        for one in outcomes:
            if one.reused_from or not one.ran or one.unmatched or one.wanted.names:
                continue
            if one.missing or one.status == "error" or any(case.status == "error" for case in one.cases):
                targets.pop(one.target_id, None)
                continue
            targets[one.target_id] = _Held(
                run_id=run_id,
                at_ns=now_ns,
                runner=one.wanted.target.runner_name,
                status=one.status,
                cases=one.cases,
                seconds=one.seconds,
                output=one.output,
                shared=one.shared,
                note=one.note,
            )
        self._held = _File(state=state, targets=targets)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(".new")
        try:
            temporary.write_bytes(msgspec.json.encode(self._held))
        except UnicodeEncodeError:
            # A name that is no text: kept for as long as this process lives.
            return
        temporary.replace(self._file)

    def _read(self) -> _File:
        if self._held is None:
            try:
                self._held = msgspec.json.decode(self._file.read_bytes(), type=_File)
            except (OSError, msgspec.MsgspecError):
                # Derived: what cannot be read is run again.
                self._held = _File(state="", targets={})
        return self._held


def _outcome(entry: _Held, wanted: Wanted) -> Outcome:
    return Outcome(
        wanted=wanted,
        status=entry.status,
        cases=entry.cases,
        seconds=entry.seconds,
        # Beside the folder of the run that asks.
        output=f"../{entry.run_id}/{entry.output}" if entry.output else "",
        shared=entry.shared,
        note=entry.note,
        reused_from=entry.run_id,
    )
