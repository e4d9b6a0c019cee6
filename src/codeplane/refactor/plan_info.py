"""Parts of a refactoring result: edits, risks, candidates and what was applied."""

from typing import Literal

from pydantic import Field

from codeplane.code.resolve.tier import TIERS, Tier
from codeplane.edit.delta import Delta
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import ARE, plural
from codeplane.refactor.doc_edits import DocEdits
from codeplane.refactor.draft import Role


class EditInfo(Result):
    """One edit of a plan; lines and columns count from 1, columns in characters."""

    id: int = Field(description="its number in the plan; `include` and `exclude` take it")
    path: str
    line: int
    column: int
    old: str
    new: str
    tier: Tier
    role: Role
    applies: bool = Field(description="whether it is made unless it is excluded")
    waits: bool = Field(False, description="it may be a use: nothing is applied until it is decided")
    semantic: bool = Field(True, description="facts know of it; words that text alone speaks of are in doc_edits")
    why: str = ""


class OpenPlace(Result):
    """A place that waits for a decision, with the text of its line."""

    id: int = Field(description="its number in the plan; `include` and `exclude` take it")
    path: str
    line: int
    tier: Tier
    content: str = Field(description="its line")
    why: str = ""


class RefactorPreview(Result):
    """A page of the edits, and how many there are in all."""

    files_affected: int
    edits: tuple[EditInfo, ...]
    total_edits: int
    applying: int = Field(description="how many are made unless they are excluded")
    contexts_used: tuple[str, ...] = ()
    affected_symbols: tuple[str, ...] = Field((), description="by the edits that are made unless they are excluded")
    affected_tests: tuple[str, ...] = ()
    not_known: tuple[str, ...] = Field((), description="syntax errors it would bring, and what could not be found out")
    moves: tuple[str, ...] = Field((), description="`old → new`, at most 200")
    creates: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()


class RiskInfo(Result):
    """What the plan cannot see or settle."""

    kind: str
    what: str
    path: str | None = None
    line: int | None = None
    count: int = 1

    def text(self) -> str:
        where = f" ({self.path}:{self.line})" if self.path and self.line else f" ({self.path})" if self.path else ""
        return f"  {self.kind}: {self.what}{where}"


class Manifest(Result):
    """Coverage and risk: what was looked at, how sure the edits are, and what may go wrong."""

    files_scanned: int
    unparsed: tuple[str, ...] = ()
    truncated: str = ""
    tiers: dict[str, int]
    proposed: int
    risks: tuple[RiskInfo, ...] = Field((), description="at most 20 of a kind")
    risk_count: int = 0
    risk_kinds: dict[str, int] = Field({}, description="how many there are of each kind")
    level: Literal["low", "medium", "high"]


class CandidateInfo(Result):
    """One thing that may be meant; its edits are listed with `candidate`."""

    id: str
    description: str
    confidence: float
    provenance: str
    files_affected: int
    applying: int
    proposed: int
    open_places: int = Field(0, description="those of the proposed ones that wait for a decision")
    apply_plan: tuple[EditInfo, ...] = Field((), description="at most 200 edits; page through them with `candidate`")

    def text(self) -> str:
        counts = edit_counts(self.applying, self.files_affected, self.open_places, self.proposed - self.open_places)
        return f"  {self.id}: {self.description} ({counts})"


class AppliedInfo(Result):
    """What was done."""

    delta: Delta
    validation: tuple[str, ...] = Field((), description="syntax errors that were not there before")
    affected_symbols: tuple[str, ...] = ()
    affected_tests: tuple[str, ...] = ()
    doc_updates_applied: DocEdits | None = None
    doc_updates_left: DocEdits | None = Field(None, description="what was less sure: the first 200 of it")
    not_applied: int = Field(0, description="proposed edits that were left alone")
    proposals: tuple[EditInfo, ...] = Field((), description="the first 50 of them")
    repo_fingerprint: str = ""


def edit_counts(applying: int, files: int, waiting: int, left: int, *, words: int = 0, decided: bool = False) -> str:
    """What is applied and what is not, in separate groups; waiting places come last."""
    counts = f"{plural(applying, 'certain edit')} in {plural(files, 'file')}"
    counts += f" and {plural(words, 'word')} in comments and documentation" if words else ""
    counts += f"; {plural(left, 'unlikely place', verbs=ARE)} left unless included" if left > 0 else ""
    waits, was = ("waits for a decision", "wait for a decision"), ("was decided before", "were decided before")
    return counts + (f"; {plural(waiting, 'place', verbs=was if decided else waits)}" if waiting else "")


def manifest_level(
    tiers: dict[str, int], risks: int, *, truncated: bool, unparsed: bool
) -> Literal["low", "medium", "high"]:
    """How much of the plan is certain, in one word."""
    if truncated or unparsed:
        return "high"
    return "medium" if risks or any(tiers.get(tier, 0) for tier in TIERS[2:]) else "low"
