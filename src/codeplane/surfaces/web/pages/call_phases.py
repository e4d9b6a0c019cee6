"""The calls of a task, grouped in phases and on a timeline."""

from collections.abc import Callable
from dataclasses import dataclass, field

from codeplane.kernel.failure import REFUSED, is_failure
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.json_fields import get_number, get_text

WAITS = "APPROVAL_PENDING"
_CANCELLED = frozenset({"CANCELLED"})
_TITLES = {
    "looked": "Looked around",
    "changed": "Changed things",
    "tested": "Ran tests",
    "ran": "Ran commands",
    "session": "Session",
}
_MILLION = 1_000_000


@dataclass(slots=True, kw_only=True)
class Phase:
    """Consecutive calls of one kind."""

    kind: str
    steps: list[JsonObject] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The title of the phase."""
        return _TITLES[self.kind]

    @property
    def took_us(self) -> float:
        """The total duration of its calls."""
        return sum(1000 * (get_number(step, "duration_ms") or 0) for step in self.steps)

    @property
    def tone(self) -> str:
        """The tone of its worst call."""
        tones = {call_tone(step) for step in self.steps}
        return next((tone for tone in ("bad", "waiting") if tone in tones), "good")

    @property
    def failures(self) -> int:
        """The number of its calls that failed or found failures."""
        return sum(call_tone(step) == "bad" for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineMark:
    """A call on the timeline; left and width in percent."""

    left: float
    width: float
    tone: str
    title: str
    href: str


def call_tone(step: JsonObject) -> str:
    """Return the tone of a call: good, bad, or waiting for a pending or refused one."""
    status = get_text(step, "status")
    if status in ("running", WAITS, *REFUSED):
        return "waiting"
    if status in _CANCELLED:
        return "dim"
    return "bad" if is_failure(status, get_text(step, "failure") or None) else "good"


def group_phases(steps: list[JsonObject], reads: Callable[[str], bool]) -> list[Phase]:
    """Group consecutive calls of one kind into phases."""
    phases: list[Phase] = []
    for step in steps:
        kind = _kind(get_text(step, "operation"), reads)
        if not phases or phases[-1].kind != kind:
            phases.append(Phase(kind=kind))
        phases[-1].steps.append({**step, "tone": call_tone(step)})
    return phases


def timeline_marks(steps: list[JsonObject]) -> list[TimelineMark]:
    """Return calls as marks on a timeline from the first to the last."""
    spans = [(get_number(step, "at_ns") or 0, (get_number(step, "duration_ms") or 0) * _MILLION) for step in steps]
    if not spans:
        return []
    first = min(start for start, _ in spans)
    total = max(start + length for start, length in spans) - first or 1
    return [
        TimelineMark(
            left=min(100 * (start - first) / total, 99.7),
            width=max(0.3, min(100 * length / total, 100)),
            tone=call_tone(step),
            title=_mark_title(step),
            href=f"/dashboard/calls/{get_text(step, 'call_id')}",
        )
        for step, (start, length) in zip(steps, spans, strict=True)
    ]


def _mark_title(step: JsonObject) -> str:
    outcome = get_text(step, "failure") or get_text(step, "status")
    return f"{get_text(step, 'at')[11:19]} {get_text(step, 'operation')}: {outcome}"


def _kind(operation: str, reads: Callable[[str], bool]) -> str:
    if operation.startswith("session."):
        return "session"
    if operation == "test.run":
        return "tested"
    if operation == "run_bash":
        return "ran"
    return "looked" if reads(operation) else "changed"
