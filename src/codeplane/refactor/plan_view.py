"""The view of a plan that results show."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from codeplane.index.files.paths import path_text
from codeplane.kernel.clock import rfc3339
from codeplane.refactor.doc_edits import DocEdits, DocMatch
from codeplane.refactor.draft import Capsule, Danger
from codeplane.refactor.plan import ListedEdit, Plan
from codeplane.refactor.plan_builder import PLANNING_SEC
from codeplane.refactor.plan_info import (
    CandidateInfo,
    EditInfo,
    Manifest,
    OpenPlace,
    RefactorPreview,
    RiskInfo,
    manifest_level,
)
from codeplane.refactor.results import RefactorResult, Status
from codeplane.refactor.witness import (
    Bounds,
    CapsuleInfo,
    Check,
    ConflictInfo,
    ContextHunk,
    Divergence,
    Location,
    Witness,
    WitnessFact,
)

_MAX_LINE = 200
_MAX_MATCHES = 50
_MAX_RISKS = 100
_MAX_ALIKE = 20
_MAX_FAILED = 20
_MAX_PLAN = 200
_MAX_OPEN = 10
_MAX_NAMED = 200
_CHECKS = {
    "index_behind": Check(
        question="Are all files parsed?",
        fact_needed="index_state",
        how_to_verify="the index is still reading; plan again when status says it is done",
    ),
    "files_changed": Check(
        question="Is the plan about the files as they are?",
        fact_needed="file_state",
        how_to_verify="files changed since it was made; look at the new plan and apply that",
    ),
    "evidence_differs": Check(
        question="Does the proof speak of the present files?",
        fact_needed="file_line_evidence",
        how_to_verify="read the lines again and send their text",
    ),
}


class PlanView:
    """Renders one plan; line starts are computed once per file."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lines: dict[str, list[int]] = {}

    def result(
        self,
        status: Status,
        *,
        edits: Sequence[ListedEdit] = (),
        start: int = 0,
        limit: int = 0,
        all_edits: bool = True,
    ) -> RefactorResult:
        """Return the plan as a result, with one page of these edits."""
        plan = self._plan
        shown_edits = edits if all_edits else ()
        return RefactorResult(
            refactor_id=plan.plan_id,
            refactor=plan.spec.kind,
            status=status,
            title=plan.draft.title,
            symbol=plan.spec.symbol,
            new_name=plan.spec.new_name,
            preview=self.preview(shown_edits, start=start, limit=limit),
            manifest=self.manifest(edits),
            doc_edits=self.documents(shown_edits[start : start + limit], edits),
            expires_at=rfc3339(plan.expires_ns),
            epoch=plan.epoch,
            commit=plan.commit,
        )

    def preview(self, edits: Sequence[ListedEdit], *, start: int, limit: int) -> RefactorPreview:
        """Return one page of edits."""
        plan = self._plan
        page = [edit for edit in edits[start : start + limit] if edit.edit.semantic]
        edits = [edit for edit in edits if edit.edit.semantic]
        applying = [edit.edit for edit in edits if edit.applies]
        moves = [f"{path_text(move.path)} → {path_text(move.new_path)}" for move in plan.draft.moves]
        paths = {*(edit.path for edit in applying), *(move.path for move in plan.draft.moves), *plan.draft.removes}
        return RefactorPreview(
            files_affected=len(paths) + len(plan.draft.creates),
            edits=tuple(map(self.edit, page)),
            total_edits=len(edits),
            applying=len(applying),
            contexts_used=plan.contexts,
            moves=tuple(moves[:_MAX_NAMED]),
            creates=tuple(path_text(created.path) for created in plan.draft.creates[:_MAX_NAMED]),
            removes=tuple(map(path_text, plan.draft.removes[:_MAX_NAMED])),
        )

    def edit(self, listed: ListedEdit) -> EditInfo:
        """Return one edit."""
        edit = listed.edit
        line, column = self.place(edit.path, edit.start)
        return EditInfo(
            id=listed.number,
            path=path_text(edit.path),
            line=line,
            column=column,
            old=self._plan.texts[edit.path][edit.start : edit.end].decode("utf-8", "replace"),
            new=edit.new,
            tier=edit.tier,
            role=edit.role,
            applies=listed.applies,
            waits=self._plan.waits(edit),
            semantic=edit.semantic,
            why=edit.why,
        )

    def first_open(self, places: Sequence[ListedEdit]) -> tuple[OpenPlace, ...]:
        """Return the first places that wait for a decision, with their lines."""
        return tuple(
            OpenPlace(
                id=place.number,
                path=path_text(place.edit.path),
                line=self.place(place.edit.path, place.edit.start)[0],
                tier=place.edit.tier,
                content=self._content(place.edit.path, place.edit.start),
                why=place.edit.why,
            )
            for place in places[:_MAX_OPEN]
        )

    def manifest(self, edits: Sequence[ListedEdit]) -> Manifest:
        """Return coverage and risks."""
        draft, coverage = self._plan.draft, self._plan.draft.coverage
        tiers: Counter[str] = Counter(edit.edit.tier for edit in edits if edit.edit.semantic)
        return Manifest(
            files_scanned=coverage.files_scanned,
            unparsed=tuple(map(path_text, coverage.unparsed[:_MAX_NAMED])),
            truncated=coverage.truncated,
            tiers=dict(tiers),
            proposed=sum(not edit.applies for edit in edits),
            risks=tuple(
                RiskInfo(
                    kind=danger.kind,
                    what=danger.what,
                    path=path_text(danger.path) if danger.path is not None else None,
                    line=self._line(danger.path, danger.offset),
                    count=danger.count,
                )
                for danger in _some_of_each(draft.dangers)
            ),
            risk_count=len(draft.dangers),
            risk_kinds=dict(Counter(danger.kind for danger in draft.dangers)),
            level=manifest_level(
                tiers, len(draft.dangers), truncated=bool(coverage.truncated), unparsed=bool(coverage.unparsed)
            ),
        )

    def documents(self, page: Sequence[ListedEdit], edits: Sequence[ListedEdit]) -> DocEdits | None:
        """Return the words in comments and documentation that would change: those of a page, and all counts."""
        found = [edit for edit in edits if not edit.edit.semantic]
        if not found:
            return None
        applying = [listed for listed in found if listed.applies]
        return DocEdits(
            files_changed=len({listed.edit.path for listed in applying}),
            total=len(found),
            applying=len(applying),
            review_recommended=any(listed.edit.confidence != "high" for listed in found),
            matches=tuple(self._match(listed) for listed in page if not listed.edit.semantic),
        )

    def _match(self, listed: ListedEdit) -> DocMatch:
        edit = listed.edit
        line, column = self.place(edit.path, edit.start)
        return DocMatch(
            id=listed.number,
            file=path_text(edit.path),
            line=line,
            column=column,
            old=self._plan.texts[edit.path][edit.start : edit.end].decode("utf-8", "replace"),
            new=edit.new,
            confidence=edit.confidence or "low",
            applies=listed.applies,
            context=self._content(edit.path, edit.start),
            why=edit.why,
        )

    def candidates(self) -> tuple[CandidateInfo, ...]:
        """Return the candidates, each with its whole plan."""
        found = []
        for candidate in self._plan.draft.candidates:
            edits = [each for each in self._plan.list_edits(candidate.id) if each.edit.semantic]
            applying = [each.edit for each in edits if each.applies]
            found.append(
                CandidateInfo(
                    id=candidate.id,
                    description=candidate.description,
                    confidence=candidate.confidence,
                    provenance=candidate.provenance,
                    files_affected=len({edit.path for edit in applying}),
                    applying=len(applying),
                    proposed=len(edits) - len(applying),
                    open_places=len(self._plan.open_places(candidate.id)),
                    apply_plan=tuple(map(self.edit, edits[:_MAX_PLAN])),
                )
            )
        return tuple(found)

    def witness(self, *failed: str, first: Sequence[str] = (), candidate: str | None = None) -> Witness:
        """Return the evidence and the failed checks; `first`: the files to name before others."""
        plan, draft = self._plan, self._plan.draft
        most = _MAX_NAMED if not failed else _MAX_FAILED
        named = dict.fromkeys([*first, *map(path_text, sorted(plan.texts))])
        return Witness(
            bounds=Bounds(
                files_scanned=tuple(named)[:most],
                contexts_queried=plan.contexts,
                time_budget_ms=int(PLANNING_SEC * 1000),
                truncated=bool(draft.coverage.truncated) or len(named) > most,
            ),
            facts=tuple(
                WitnessFact(
                    fact_type=fact.fact_type,
                    location=Location(file=path_text(fact.path), line=self.place(fact.path, fact.offset)[0]),
                    content=self._content(fact.path, fact.offset),
                    provenance=fact.provenance,
                    confidence=1.0 if fact.provenance == "semantic" else 0.9,
                )
                for fact in draft.facts[:_MAX_NAMED]
                if fact.path in plan.texts
            ),
            invariants_failed=failed,
            disambiguation_checklist=(
                *(_CHECKS[invariant] for invariant in failed if invariant in _CHECKS),
                *(
                    Check(question=capsule.question, fact_needed=capsule.type, how_to_verify=capsule.stop_rule)
                    for capsule in self._questions(candidate)
                ),
            ),
        )

    def _questions(self, candidate: str | None) -> tuple[Capsule, ...]:
        """Return the planner's questions, and the one about open places."""
        places = tuple((place.edit.path, place.edit.start) for place in self._plan.open_places(candidate))
        if not places:
            return self._plan.draft.capsules
        name = self._plan.draft.name.rpartition(".")[2] or "it"
        receivers = Capsule(
            type="receiver_resolution",
            question=f"Which of these places mean {name}?",
            stop_rule="All assignments that flow to the receiver are known, or what brings the bare name is.",
            places=places,
        )
        return (*self._plan.draft.capsules, receivers)

    def capsules(self, candidate: str | None = None) -> tuple[CapsuleInfo, ...]:
        """Return the small questions."""
        return tuple(
            CapsuleInfo(
                type=capsule.type,
                question=capsule.question,
                stop_rule=capsule.stop_rule,
                places=tuple(
                    Location(file=path_text(path), line=self.place(path, offset)[0])
                    for path, offset in capsule.places[:_MAX_MATCHES]
                    if path in self._plan.texts
                ),
            )
            for capsule in self._questions(candidate)
        )

    def divergence(self) -> Divergence:
        """Return where contexts disagree."""
        return Divergence(
            conflicting_hunks=tuple(
                ConflictInfo(
                    path=path_text(conflict.edit.path),
                    line=self.place(conflict.edit.path, conflict.edit.start)[0],
                    contexts=tuple(context for context, _ in conflict.meanings),
                    hunks=tuple(
                        ContextHunk(context=context, content=f"leads to {path_text(file)}")
                        for context, file in conflict.meanings
                    ),
                )
                for conflict in self._plan.conflicts
            ),
            resolution_options=(
                "send contexts=[…] with those whose files shall change",
                "say in .codeplane/contexts.yaml which roots belong together",
                "write the import so that it leads to one place",
            ),
        )

    def place(self, path: str, offset: int) -> tuple[int, int]:
        """Return a place as line and column, both from 1."""
        text, starts = self._plan.texts[path], self._starts(path)
        line = bisect_right(starts, offset)
        return line, len(text[starts[line - 1] : offset].decode("utf-8", "replace")) + 1

    def _line(self, path: str | None, offset: int | None) -> int | None:
        return self.place(path, offset)[0] if path in self._plan.texts and path and offset is not None else None

    def _content(self, path: str, offset: int) -> str:
        text = self._plan.texts[path]
        start = text.rfind(b"\n", 0, offset) + 1
        end = text.find(b"\n", offset)
        return text[start : end if end >= 0 else len(text)].decode("utf-8", "replace").strip()[:_MAX_LINE]

    def _starts(self, path: str) -> list[int]:
        found = self._lines.get(path)
        if found is None:
            text, found, at = self._plan.texts[path], [0], 0
            while at := text.find(b"\n", at) + 1:
                found.append(at)
            self._lines[path] = found
        return found


def _some_of_each(dangers: Sequence[Danger]) -> list[Danger]:
    """Return dangers of all kinds, none so often that another is not seen."""
    counts: Counter[str] = Counter()
    found = []
    for danger in dangers:
        counts[danger.kind] += 1
        if counts[danger.kind] <= _MAX_ALIKE:
            found.append(danger)
    return found[:_MAX_RISKS]
