"""What a refactoring answers with: every edit, what is not known, what has to be decided, and what was done."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from codeplane.code.resolve.tier import TIERS, Tier
from codeplane.edit.delta import Delta
from codeplane.edit.write_files import summary
from codeplane.kernel.counted import ARE, counted
from codeplane.kernel.operation import Result
from codeplane.kernel.page import Pagination
from codeplane.refactor.doc_edits import DocEdits
from codeplane.refactor.draft import Role
from codeplane.refactor.witness import CapsuleInfo, Divergence, Witness

Status = Literal["previewed", "applied", "cancelled", "divergence", "needs_decision", "blocked"]
_SHOWN_RISKS = 12
_SHOWN_FACTS = 8
_SHOWN_LEFT = 10
_SHOWN_TESTS = 5
_SHOWN_FILES = 20
# Of one kind of risk.
_SHOWN_ALIKE = 3


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
        counts = _counts(self.applying, self.files_affected, self.open_places, self.proposed - self.open_places)
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


class RefactorResult(Result):
    """A plan, a decision that is needed, or what was done."""

    refactor_id: str
    refactor: Literal["rename", "move", "delete", "replace"]
    status: Status
    title: str
    symbol: str = ""
    new_name: str = ""
    preview: RefactorPreview | None = None
    manifest: Manifest | None = None
    doc_edits: DocEdits | None = None
    candidates: tuple[CandidateInfo, ...] = ()
    witness: Witness | None = None
    decision_capsules: tuple[CapsuleInfo, ...] = ()
    candidate: str = Field("", description="whose edits are listed, where there are several")
    open_places: int = Field(
        0, description="proposals that may be uses: nothing is applied until include or exclude names them"
    )
    open_files: int = Field(0, description="how many files these are in")
    first_open: tuple[OpenPlace, ...] = Field((), description="on the first page: the first 10 of them")
    decision_id: str | None = Field(
        None, description="the decision that was made, or that answers this question since it was asked before"
    )
    commit_endpoint: str | None = None
    suggested_refresh_scope: tuple[str, ...] = Field(
        (),
        description="when blocked: at most 50 of the files that changed since, or else of all that the plan is about",
    )
    changed_count: int = Field(0, description="how many files changed since the plan was made")
    unchanged_count: int = Field(0, description="how many other files the plan is about")
    divergence: Divergence | None = None
    applied: AppliedInfo | None = None
    expires_at: str | None = None
    offset: int = Field(0, description="how many edits are on the pages before")
    pagination: Pagination = Pagination()
    epoch: int = 0
    commit: str | None = None

    def unmet(self) -> str | None:
        return self.status if self.status in ("divergence", "blocked") else None

    def text(self) -> str:
        parts = {
            "previewed": self._previewed,
            "applied": self._applied,
            "cancelled": lambda: [f"cancelled: {self.title}"],
            "divergence": self._diverging,
            "needs_decision": self._undecided,
            "blocked": self._blocked,
        }[self.status]()
        return "\n".join(parts) + ("" if self._asks_which else self.pagination.line())

    @property
    def _asks_which(self) -> bool:
        """Whether a candidate has to be chosen before edits are listed."""
        return bool(self.candidates) and not self.candidate and not self.decision_id

    def _previewed(self) -> list[str]:
        said = self._previewed_plan()
        if self.preview is not None and (self.preview.total_edits or self.preview.moves or self.preview.removes):
            said.append(f"apply: {self._by} refactor_id={self.refactor_id}" + self._choices())
        return said

    def _previewed_plan(self) -> list[str]:
        return [self._head(), *self._files(), *self._risks(), *self._reached()]

    def _reached(self) -> list[str]:
        """The tests to run afterwards, and what the plan would break."""
        assert self.preview is not None
        one = self.preview
        more = f" and {len(one.affected_tests) - _SHOWN_TESTS} more" if len(one.affected_tests) > _SHOWN_TESTS else ""
        tests = [f"tests: {', '.join(one.affected_tests[:_SHOWN_TESTS])}{more}"] if one.affected_tests else []
        return [*(f"WARNING: {warning}" for warning in one.not_known), *tests]

    def _to_decide(self) -> list[str]:
        """What is not decided, and the calls that decide it."""
        places = counted(self.open_places, "place", verbs=("may be a use", "may be uses"))
        call = f"{self._by} refactor_id={self.refactor_id}" + (f" candidate={self.candidate}" if self.candidate else "")
        if not self.open_places:
            return [f"apply: {call}{self._choices()}"]
        return [
            f"not applied: {places} of it; look, then",
            f"  {call} include=[#NUMBER, …] changes those too and leaves the others",
            f"  {call} exclude=[anchored, unknown] leaves all of them",
        ]

    @property
    def _by(self) -> str:
        return "refactor_rename" if self.refactor == "rename" else "refactor_apply"

    def _head(self) -> str:
        assert self.preview is not None
        one, words = self.preview, self.doc_edits.applying if self.doc_edits is not None else 0
        left = one.total_edits - one.applying - self.open_places
        decided = bool(self.decision_id)
        counts = _counts(one.applying, one.files_affected, self.open_places, left, words=words, decided=decided)
        in_files = f" in {counted(self.open_files, 'file')}" if self.open_files > 1 else ""
        return f"{self.title}: {counts}{in_files}"

    def _choices(self) -> str:
        assert self.manifest is not None
        return " (include=[anchored|unknown|documents|#] adds proposals)" if self.manifest.proposed else ""

    def _files(self) -> list[str]:
        assert self.preview is not None
        said = [f"move {one}" for one in self.preview.moves[:20]]
        if len(self.preview.moves) > 20:
            said.append(f"… and {counted(len(self.preview.moves) - 20, 'more file', verbs=('moves', 'move'))}")
        said += [f"create {one}" for one in self.preview.creates] + [f"delete {one}" for one in self.preview.removes]
        certain = _by_file([one for one in self.preview.edits if one.applies])
        apart = bool(certain) and (self._is_cut or any(not one.applies for one in self.preview.edits))
        said += [*self._page_line(), *(["certain:"] if apart else []), *certain, *self._open(self.preview.edits)]
        left = [one for one in self.preview.edits if not one.applies and not one.waits]
        for reason in dict.fromkeys((one.tier, one.why) for one in left):
            said.append(f"left unless included, {reason[0].lower()}: {reason[1]}")
            said += _by_file([one for one in left if (one.tier, one.why) == reason], numbers=True)
        words = self.doc_edits.text() if self.doc_edits is not None else ""
        return said + ([words] if words else [])

    @property
    def _is_cut(self) -> bool:
        return bool(self.offset or self.pagination.next_cursor)

    def _page_line(self) -> list[str]:
        """What kinds of places a page holds, where there are several pages."""
        assert self.preview is not None
        if not self._is_cut:
            return []
        edits, words = self.preview.edits, self.doc_edits.matches if self.doc_edits is not None else ()
        kinds = {
            "certain": sum(one.applies for one in edits),
            "to decide": sum(one.waits for one in edits),
            "left unless included": sum(not one.applies and not one.waits for one in edits),
            "in comments and documentation": len(words),
        }
        last = self.offset + len(edits) + len(words)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        return [f"this page: {self.offset + 1}-{last} of {self.pagination.total_estimate}: {counts}"]

    def _open(self, listed: Sequence[EditInfo]) -> list[str]:
        """The places to decide: the first with their lines, the others of those that are listed by their numbers."""
        first = {one.id for one in self.first_open}
        others = [one for one in listed if one.waits and one.id not in first]
        said: list[str] = []
        kind = "decided before" if self.decision_id else "to decide"
        reasons = [(one.tier, one.why) for one in self.first_open] + [(one.tier, one.why) for one in others]
        for reason in dict.fromkeys(reasons):
            said.append(f"{kind}, {reason[0].lower()}: {reason[1]}")
            alike = [one for one in self.first_open if (one.tier, one.why) == reason]
            said += [f"  #{one.id} {one.path}:{one.line} {one.content}" for one in alike]
            said += _by_file([one for one in others if (one.tier, one.why) == reason], numbers=True)
        more = self.open_places - len(first) - len(others)
        if more > 0 and not self.offset and not self.decision_id:
            said.append(f"  … and {more:,} more to decide: {self._rest}")
        return said

    @property
    def _rest(self) -> str:
        """Where the places to decide are that an answer has no room for."""
        if not self._asks_which:
            return "on the next pages"
        most = max(self.candidates, key=lambda one: one.open_places)
        return f"{self._by} refactor_id={self.refactor_id} candidate={most.id} lists those of it and applies nothing"

    def _risks(self) -> list[str]:
        if self.manifest is None:
            return []
        said = self._alike(self.manifest)
        if self.manifest.unparsed:
            said.append(f"  not parsed: {', '.join(self.manifest.unparsed[:5])}")
        if self.manifest.truncated:
            said.append(f"  not looked at: {self.manifest.truncated}")
        return [f"risk {self.manifest.level}:", *said] if said else []

    @staticmethod
    def _alike(manifest: Manifest) -> list[str]:
        """The risks by their kinds: a few of each, and how many more there are."""
        by_kind: dict[str, list[RiskInfo]] = {}
        for one in manifest.risks:
            by_kind.setdefault(one.kind, []).append(one)
        said: list[str] = []
        for kind, some in list(by_kind.items())[:_SHOWN_RISKS]:
            said += [one.text() for one in some[:_SHOWN_ALIKE]]
            more = manifest.risk_kinds.get(kind, len(some)) - len(some[:_SHOWN_ALIKE])
            said += [f"  {kind}: and {more} more"] if more else []
        if len(by_kind) > _SHOWN_RISKS:
            said.append(f"  … and other kinds: {', '.join(list(by_kind)[_SHOWN_RISKS:])}")
        return said

    def _undecided(self) -> list[str]:
        if self.decision_id:
            call = f"{self._by} refactor_id={self.refactor_id}"
            return [*self._previewed_plan(), f"decided before: {self.decision_id}; {call} applies it so again"]
        if not self._asks_which:
            return [*self._previewed_plan(), *self._to_decide()]
        said = [f"{self.title}: which is meant?", *(one.text() for one in self.candidates)]
        if self.witness is not None:
            said += [
                f"  {one.location.file}:{one.location.line} {one.content}" for one in self.witness.facts[:_SHOWN_FACTS]
            ]
        said += [f"  ? {one.question}" for one in self.decision_capsules]
        said += [*self._open(()), *self._risks()]
        more = " include=[#NUMBER, …] or exclude=[anchored, unknown]" if self.open_places else ""
        call = f"{self._by} refactor_id={self.refactor_id} candidate=ID{more}"
        said.append(f"apply: {call} (or decision_commit with proof)")
        return said

    def _blocked(self) -> list[str]:
        assert self.witness is not None
        said = [f"blocked: {self.title}: {', '.join(self.witness.invariants_failed)}"]
        said += [f"  {one.question} {one.how_to_verify}" for one in self.witness.disambiguation_checklist]
        if self.suggested_refresh_scope:
            named = self.suggested_refresh_scope[:_SHOWN_FILES]
            total = self.changed_count or self.unchanged_count
            more = f" and {total - len(named)} more" if total > len(named) else ""
            said.append(f"  {'changed since' if self.changed_count else 'look at'}: {', '.join(named)}{more}")
        if self.changed_count and self.unchanged_count:
            said.append(f"  {self.unchanged_count} other files of the plan are as they were")
        if self.expires_at:
            said.append(f"planned anew: refactor_id={self.refactor_id}")
        return said

    def _diverging(self) -> list[str]:
        assert self.divergence is not None
        said = [f"{self.title}: contexts disagree, so nothing can be applied"]
        for one in self.divergence.conflicting_hunks[:20]:
            meant = "; ".join(f"{hunk.context}: {hunk.content}" for hunk in one.hunks)
            said.append(f"  {one.path}:{one.line} {meant}")
        return said + [f"  - {one}" for one in self.divergence.resolution_options]

    def _applied(self) -> list[str]:
        assert self.applied is not None
        one = self.applied
        said = [f"{self.title}: {summary(one.delta)}"]
        said += [f"remembered for the same question: {self.decision_id}"] if self.decision_id else []
        said += [f"WARNING: {warning}" for warning in one.validation]
        if one.doc_updates_applied is not None and one.doc_updates_applied.review_recommended:
            said.append(f"please review {one.doc_updates_applied.text_after(changed=True)}")
        if one.not_applied:
            places = " ".join(f"{edit.path}:{edit.line}" for edit in one.proposals[:_SHOWN_LEFT])
            more = f" and {one.not_applied - _SHOWN_LEFT:,} more" if one.not_applied > _SHOWN_LEFT else ""
            said.append(f"left alone, {counted(one.not_applied, 'place')} not sure: {places}{more}")
        said += [one.doc_updates_left.text_after(changed=False)] if one.doc_updates_left is not None else []
        said += self._risks()
        if one.affected_tests:
            said.append(f"tests: {', '.join(one.affected_tests[:20])}")
        return said


def _counts(applying: int, files: int, waiting: int, left: int, *, words: int = 0, decided: bool = False) -> str:
    """What is applied and what is not, each by itself; places that wait come last."""
    said = f"{counted(applying, 'certain edit')} in {counted(files, 'file')}"
    said += f" and {counted(words, 'word')} in comments and documentation" if words else ""
    said += f"; {counted(left, 'unlikely place', verbs=ARE)} left unless included" if left > 0 else ""
    waits, was = ("waits for a decision", "wait for a decision"), ("was decided before", "were decided before")
    return said + (f"; {counted(waiting, 'place', verbs=was if decided else waits)}" if waiting else "")


def _by_file(edits: Sequence[EditInfo], *, numbers: bool = False) -> list[str]:
    """Places in a line a file, with their numbers where somebody chooses among them."""
    named: dict[str, list[str]] = {}
    for one in edits:
        place = f"{one.line}:{one.column}"
        named.setdefault(one.path, []).append(f"#{one.id}={place}" if numbers else place)
    return [f"{'  ' if numbers else ''}{path} {' '.join(places)}" for path, places in named.items()]


def manifest_level(
    tiers: dict[str, int], risks: int, *, truncated: bool, unparsed: bool
) -> Literal["low", "medium", "high"]:
    """How much of the plan is certain, in one word."""
    if truncated or unparsed:
        return "high"
    return "medium" if risks or any(tiers.get(tier, 0) for tier in TIERS[2:]) else "low"
