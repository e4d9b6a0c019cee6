"""Results that help to decide: evidence, small questions, and where contexts disagree."""

from codeplane.kernel.operation import Result
from codeplane.refactor.draft import CapsuleType


class Location(Result):
    file: str
    line: int


class WitnessFact(Result):
    """A line of evidence."""

    fact_type: str
    location: Location
    content: str
    provenance: str
    confidence: float


class Check(Result):
    """What would settle the question, and how it is found out."""

    question: str
    fact_needed: str
    how_to_verify: str


class Bounds(Result):
    """What the evidence was looked for in."""

    files_scanned: tuple[str, ...]
    contexts_queried: tuple[str, ...]
    time_budget_ms: int
    truncated: bool


class Witness(Result):
    """Structured evidence for a decision."""

    bounds: Bounds
    facts: tuple[WitnessFact, ...] = ()
    invariants_failed: tuple[str, ...] = ()
    disambiguation_checklist: tuple[Check, ...] = ()


class CapsuleInfo(Result):
    """A small question that reading the places answers."""

    type: CapsuleType
    question: str
    stop_rule: str
    places: tuple[Location, ...] = ()


class ContextHunk(Result):
    context: str
    content: str


class ConflictInfo(Result):
    """One place that contexts disagree about."""

    path: str
    line: int
    contexts: tuple[str, ...]
    hunks: tuple[ContextHunk, ...]


class Divergence(Result):
    """Where contexts disagree, and what can be done."""

    conflicting_hunks: tuple[ConflictInfo, ...]
    resolution_options: tuple[str, ...]
