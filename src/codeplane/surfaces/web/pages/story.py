"""The calls of a task as people tell them: in phases, each with its calls, and on a line of time."""

from collections.abc import Callable
from dataclasses import dataclass, field

from codeplane.kernel.failure import REFUSED, is_failure
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.reading import number, text

WAITS = "APPROVAL_PENDING"
_LEFT = frozenset({"CANCELLED"})
_WORDS = {
    "looked": "Looked around",
    "changed": "Changed things",
    "tested": "Ran tests",
    "ran": "Ran commands",
    "session": "Session",
}
_MILLION = 1_000_000


@dataclass(slots=True, kw_only=True)
class Phase:
    """Calls of one kind, one after the other."""

    kind: str
    steps: list[JsonObject] = field(default_factory=list)

    @property
    def said(self) -> str:
        """What was done, in words."""
        return _WORDS[self.kind]

    @property
    def took_us(self) -> float:
        """How long its calls took together."""
        return sum(1000 * (number(one, "duration_ms") or 0) for one in self.steps)

    @property
    def tone(self) -> str:
        """The worst of its calls."""
        tones = {tone_of(one) for one in self.steps}
        return next((one for one in ("bad", "waiting") if one in tones), "good")

    @property
    def failures(self) -> int:
        """How many of its calls failed, or found what failed."""
        return sum(tone_of(one) == "bad" for one in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One call on the line of time; left and width in percent."""

    left: float
    width: float
    tone: str
    title: str
    href: str


def tone_of(step: JsonObject) -> str:
    """How a call ended: well, badly, or not at all, since it waits or was refused."""
    status = text(step, "status")
    if status in ("running", WAITS, *REFUSED):
        return "waiting"
    if status in _LEFT:
        return "dim"
    return "bad" if is_failure(status, text(step, "failure") or None) else "good"


def phases_of(steps: list[JsonObject], reads: Callable[[str], bool]) -> list[Phase]:
    """Calls in their order; those of one kind that follow each other are one phase."""
    phases: list[Phase] = []
    for step in steps:
        kind = _kind(text(step, "operation"), reads)
        if not phases or phases[-1].kind != kind:
            phases.append(Phase(kind=kind))
        phases[-1].steps.append({**step, "tone": tone_of(step)})
    return phases


def marks_of(steps: list[JsonObject]) -> list[Mark]:
    """Calls as marks between the first and the last of them."""
    spans = [(number(one, "at_ns") or 0, (number(one, "duration_ms") or 0) * _MILLION, one) for one in steps]
    if not spans:
        return []
    first = min(begun for begun, _, _ in spans)
    whole = max(begun + spent for begun, spent, _ in spans) - first or 1
    return [
        Mark(
            left=min(100 * (begun - first) / whole, 99.7),
            width=max(0.3, min(100 * spent / whole, 100)),
            tone=tone_of(one),
            title=f"{text(one, 'at')[11:19]} {text(one, 'operation')}: {text(one, 'failure') or text(one, 'status')}",
            href=f"/dashboard/calls/{text(one, 'call_id')}",
        )
        for begun, spent, one in spans
    ]


def _kind(operation: str, reads: Callable[[str], bool]) -> str:
    if operation.startswith("session."):
        return "session"
    if operation == "test.run":
        return "tested"
    if operation == "run_bash":
        return "ran"
    return "looked" if reads(operation) else "changed"
