"""The result of a refactoring: a plan, a decision that is needed, or what was done."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from codeplane.edit.write_files import summary
from codeplane.kernel.operation import Result
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.refactor.doc_edits import DocEdits
from codeplane.refactor.draft import GRAVE
from codeplane.refactor.plan_info import (
    AppliedInfo,
    CandidateInfo,
    EditInfo,
    Manifest,
    OpenPlace,
    RefactorPreview,
    RiskInfo,
    edit_counts,
)
from codeplane.refactor.witness import CapsuleInfo, Divergence, Witness

Status = Literal["previewed", "applied", "cancelled", "divergence", "needs_decision", "blocked"]
_SHOWN_RISKS = 12
_SHOWN_FACTS = 8
_SHOWN_LEFT = 10
_SHOWN_TESTS = 5
_SHOWN_FILES = 20
# Of one kind of risk.
_SHOWN_ALIKE = 3


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
            "previewed": self._preview_lines,
            "applied": self._applied_lines,
            "cancelled": lambda: [f"cancelled: {self.title}"],
            "divergence": self._divergence_lines,
            "needs_decision": self._decision_lines,
            "blocked": self._blocked_lines,
        }[self.status]()
        return "\n".join(parts) + ("" if self._asks_which else self.pagination.line())

    @property
    def _asks_which(self) -> bool:
        """Whether a candidate has to be chosen before edits are listed."""
        return bool(self.candidates) and not self.candidate and not self.decision_id

    def _preview_lines(self) -> list[str]:
        lines = self._plan_lines()
        if self.preview is not None and (self.preview.total_edits or self.preview.moves or self.preview.removes):
            lines += self._apply_lines(f"{self._operation} refactor_id={self.refactor_id}")
        return lines

    def _apply_lines(self, call: str) -> list[str]:
        """The call that applies the plan; none where a danger may break the program, and has to be looked at first."""
        assert self.manifest is not None
        grave = sorted(self.manifest.risk_kinds.keys() & GRAVE)
        if grave:
            return [f"look at {', '.join(grave)} first: it may break the program; the plan is {self.refactor_id}"]
        return [f"apply: {call}{self._choices()}"]

    def _plan_lines(self) -> list[str]:
        return [self._headline(), *self._files(), *self._risks(), *self._test_lines()]

    def _test_lines(self) -> list[str]:
        """The tests to run afterwards, and what the plan would break."""
        assert self.preview is not None
        preview = self.preview
        return [*(f"WARNING: {warning}" for warning in preview.not_known), *_test_lines(preview.affected_tests)]

    def _choice_lines(self) -> list[str]:
        """What is not decided, and the calls that decide it."""
        places = plural(self.open_places, "place", verbs=("may be a use", "may be uses"))
        call = f"{self._operation} refactor_id={self.refactor_id}" + (
            f" candidate={self.candidate}" if self.candidate else ""
        )
        if not self.open_places:
            return self._apply_lines(call)
        return [
            f"not applied: {places} of it; look, then",
            f"  {call} include=[#NUMBER, …] changes those too and leaves the others",
            f"  {call} exclude=[#NUMBER, …] if none of them is one",
        ]

    @property
    def _operation(self) -> str:
        return "refactor_rename" if self.refactor == "rename" else "refactor_apply"

    def _headline(self) -> str:
        assert self.preview is not None
        preview, words = self.preview, self.doc_edits.applying if self.doc_edits is not None else 0
        left = preview.total_edits - preview.applying - self.open_places
        decided = bool(self.decision_id)
        counts = edit_counts(
            preview.applying, preview.files_affected, self.open_places, left, words=words, decided=decided
        )
        in_files = f" in {plural(self.open_files, 'file')}" if self.open_files > 1 else ""
        return f"{self.title}: {counts}{in_files}"

    def _choices(self) -> str:
        assert self.manifest is not None
        return " (include=[anchored|unknown|documents|#] adds proposals)" if self.manifest.proposed else ""

    def _files(self) -> list[str]:
        assert self.preview is not None
        lines = [f"move {move}" for move in self.preview.moves[:20]]
        if len(self.preview.moves) > 20:
            lines.append(f"… and {plural(len(self.preview.moves) - 20, 'more file', verbs=('moves', 'move'))}")
        lines += [f"create {created}" for created in self.preview.creates] + [
            f"delete {path}" for path in self.preview.removes
        ]
        certain = _by_file([edit for edit in self.preview.edits if edit.applies])
        apart = bool(certain) and (self._is_cut or any(not edit.applies for edit in self.preview.edits))
        lines += [*self._page_line(), *(["certain:"] if apart else []), *certain, *self._open_lines(self.preview.edits)]
        left = [edit for edit in self.preview.edits if not edit.applies and not edit.waits]
        for reason in dict.fromkeys((result.tier, result.why) for result in left):
            lines.append(f"left unless included, {reason[0].lower()}: {reason[1]}")
            lines += _by_file([result for result in left if (result.tier, result.why) == reason], numbers=True)
        words = self.doc_edits.text() if self.doc_edits is not None else ""
        return lines + ([words] if words else [])

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
            "certain": sum(edit.applies for edit in edits),
            "to decide": sum(edit.waits for edit in edits),
            "left unless included": sum(not edit.applies and not edit.waits for edit in edits),
            "in comments and documentation": len(words),
        }
        last = self.offset + len(edits) + len(words)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        return [f"this page: {self.offset + 1}-{last} of {self.pagination.total_estimate}: {counts}"]

    def _open_lines(self, listed: Sequence[EditInfo]) -> list[str]:
        """The places to decide: the first with their lines, the others of those that are listed by their numbers."""
        first = {place.id for place in self.first_open}
        others = [edit for edit in listed if edit.waits and edit.id not in first]
        lines: list[str] = []
        kind = "decided before" if self.decision_id else "to decide"
        reasons = [(place.tier, place.why) for place in self.first_open] + [
            (failure.tier, failure.why) for failure in others
        ]
        for reason in dict.fromkeys(reasons):
            lines.append(f"{kind}, {reason[0].lower()}: {reason[1]}")
            alike = [place for place in self.first_open if (place.tier, place.why) == reason]
            lines += [f"  #{place.id} {place.path}:{place.line} {place.content}" for place in alike]
            lines += _by_file([failure for failure in others if (failure.tier, failure.why) == reason], numbers=True)
        more = self.open_places - len(first) - len(others)
        if more > 0 and not self.offset and not self.decision_id:
            lines.append(f"  … and {more:,} more to decide: {self._rest}")
        return lines

    @property
    def _rest(self) -> str:
        """Where the places to decide are that an answer has no room for."""
        if not self._asks_which:
            return "on the next pages"
        most = max(self.candidates, key=lambda candidate: candidate.open_places)
        call = f"{self._operation} refactor_id={self.refactor_id} candidate={most.id}"
        return f"{call} lists those of it and applies nothing"

    def _risks(self) -> list[str]:
        if self.manifest is None:
            return []
        lines = self._risks_by_kind(self.manifest)
        if self.manifest.unparsed:
            lines.append(f"  not parsed: {', '.join(self.manifest.unparsed[:5])}")
        if self.manifest.truncated:
            lines.append(f"  not looked at: {self.manifest.truncated}")
        return [f"risk {self.manifest.level}:", *lines] if lines else []

    @staticmethod
    def _risks_by_kind(manifest: Manifest) -> list[str]:
        """The risks by their kinds: a few of each, and how many more there are."""
        by_kind: dict[str, list[RiskInfo]] = {}
        for risk in manifest.risks:
            by_kind.setdefault(risk.kind, []).append(risk)
        lines: list[str] = []
        for kind, some in list(by_kind.items())[:_SHOWN_RISKS]:
            lines += [risk.text() for risk in some[:_SHOWN_ALIKE]]
            more = manifest.risk_kinds.get(kind, len(some)) - len(some[:_SHOWN_ALIKE])
            lines += [f"  {kind}: and {more} more"] if more else []
        if len(by_kind) > _SHOWN_RISKS:
            lines.append(f"  … and other kinds: {', '.join(list(by_kind)[_SHOWN_RISKS:])}")
        return lines

    def _decision_lines(self) -> list[str]:
        if self.decision_id:
            call = f"{self._operation} refactor_id={self.refactor_id}"
            return [*self._plan_lines(), f"decided before: {self.decision_id}; {call} applies it so again"]
        if not self._asks_which:
            return [*self._plan_lines(), *self._choice_lines()]
        lines = [f"{self.title}: which is meant?", *(candidate.text() for candidate in self.candidates)]
        if self.witness is not None:
            lines += [
                f"  {fact.location.file}:{fact.location.line} {fact.content}"
                for fact in self.witness.facts[:_SHOWN_FACTS]
            ]
        lines += [f"  ? {capsule.question}" for capsule in self.decision_capsules]
        lines += [*self._open_lines(()), *self._risks()]
        more = " include=[#NUMBER, …] or exclude=[#NUMBER, …]" if self.open_places else ""
        call = f"{self._operation} refactor_id={self.refactor_id} candidate=ID{more}"
        lines.append(f"apply: {call} (or decision_commit with proof)")
        return lines

    def _blocked_lines(self) -> list[str]:
        assert self.witness is not None
        lines = [f"blocked: {self.title}: {', '.join(self.witness.invariants_failed)}"]
        lines += [f"  {check.question} {check.how_to_verify}" for check in self.witness.disambiguation_checklist]
        if self.suggested_refresh_scope:
            named = self.suggested_refresh_scope[:_SHOWN_FILES]
            total = self.changed_count or self.unchanged_count
            more = f" and {total - len(named)} more" if total > len(named) else ""
            lines.append(f"  {'changed since' if self.changed_count else 'look at'}: {', '.join(named)}{more}")
        if self.changed_count and self.unchanged_count:
            lines.append(f"  {self.unchanged_count} other files of the plan are as they were")
        if self.expires_at:
            lines.append(f"planned again: refactor_id={self.refactor_id}")
        return lines

    def _divergence_lines(self) -> list[str]:
        assert self.divergence is not None
        lines = [f"{self.title}: contexts disagree, so nothing can be applied"]
        for conflict in self.divergence.conflicting_hunks[:20]:
            meant = "; ".join(f"{hunk.context}: {hunk.content}" for hunk in conflict.hunks)
            lines.append(f"  {conflict.path}:{conflict.line} {meant}")
        return lines + [f"  - {option}" for option in self.divergence.resolution_options]

    def _applied_lines(self) -> list[str]:
        assert self.applied is not None
        applied = self.applied
        lines = [f"{self.title}: {summary(applied.delta)}"]
        lines += [f"remembered for the same question: {self.decision_id}"] if self.decision_id else []
        lines += [f"WARNING: {warning}" for warning in applied.validation]
        if applied.doc_updates_applied is not None and applied.doc_updates_applied.review_recommended:
            lines.append(f"please review {applied.doc_updates_applied.text_after(changed=True)}")
        if applied.not_applied:
            places = " ".join(f"{edit.path}:{edit.line}" for edit in applied.proposals[:_SHOWN_LEFT])
            more = f" and {applied.not_applied - _SHOWN_LEFT:,} more" if applied.not_applied > _SHOWN_LEFT else ""
            lines.append(f"left alone, {plural(applied.not_applied, 'place')} not sure: {places}{more}")
        lines += [applied.doc_updates_left.text_after(changed=False)] if applied.doc_updates_left is not None else []
        lines += self._risks()
        return [*lines, *_test_lines(applied.affected_tests)]


def _test_lines(tests: Sequence[str]) -> list[str]:
    """The first of the tests that a change affects, and how many more there are."""
    more = f" and {len(tests) - _SHOWN_TESTS} more" if len(tests) > _SHOWN_TESTS else ""
    return [f"tests: {', '.join(tests[:_SHOWN_TESTS])}{more}"] if tests else []


def _by_file(edits: Sequence[EditInfo], *, numbers: bool = False) -> list[str]:
    """Places in a line a file, with their numbers where somebody chooses among them."""
    named: dict[str, list[str]] = {}
    for edit in edits:
        place = f"{edit.line}:{edit.column}"
        named.setdefault(edit.path, []).append(f"#{edit.id}={place}" if numbers else place)
    return [f"{'  ' if numbers else ''}{path} {' '.join(places)}" for path, places in named.items()]
