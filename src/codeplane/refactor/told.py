"""A plan in the words of an answer."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from codeplane.index.files.paths import shown
from codeplane.kernel.clock import rfc3339
from codeplane.refactor.answers import (
    CandidateInfo,
    EditInfo,
    Manifest,
    OpenPlace,
    RefactorPreview,
    RefactorResult,
    RiskInfo,
    Status,
    manifest_level,
)
from codeplane.refactor.doc_edits import DocEdits, DocMatch
from codeplane.refactor.draft import Capsule, Danger
from codeplane.refactor.plan import Listed, Plan
from codeplane.refactor.planning import FOR_SEC
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


class Told:
    """Renders one plan; places are turned into lines and columns once a file."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lines: dict[str, list[int]] = {}

    def result(
        self, status: Status, *, edits: Sequence[Listed] = (), start: int = 0, limit: int = 0, all_edits: bool = True
    ) -> RefactorResult:
        """The plan as an answer, with one page of these edits."""
        plan = self._plan
        shown_edits = edits if all_edits else ()
        return RefactorResult(
            refactor_id=plan.plan_id,
            refactor=plan.asked.kind,
            status=status,
            title=plan.draft.title,
            symbol=plan.asked.symbol,
            new_name=plan.asked.new_name,
            preview=self.preview(shown_edits, start=start, limit=limit),
            manifest=self.manifest(edits),
            doc_edits=self.documents(shown_edits[start : start + limit], edits),
            expires_at=rfc3339(plan.expires_ns),
            epoch=plan.epoch,
            commit=plan.commit,
        )

    def preview(self, edits: Sequence[Listed], *, start: int, limit: int) -> RefactorPreview:
        """One page of edits."""
        plan = self._plan
        page = [one for one in edits[start : start + limit] if one.edit.semantic]
        edits = [one for one in edits if one.edit.semantic]
        applying = [one.edit for one in edits if one.applies]
        moves = [f"{shown(one.path)} → {shown(one.new_path)}" for one in plan.draft.moves]
        paths = {*(edit.path for edit in applying), *(one.path for one in plan.draft.moves), *plan.draft.removes}
        return RefactorPreview(
            files_affected=len(paths) + len(plan.draft.creates),
            edits=tuple(map(self.edit, page)),
            total_edits=len(edits),
            applying=len(applying),
            contexts_used=plan.contexts,
            moves=tuple(moves[:_MAX_NAMED]),
            creates=tuple(shown(one.path) for one in plan.draft.creates[:_MAX_NAMED]),
            removes=tuple(map(shown, plan.draft.removes[:_MAX_NAMED])),
        )

    def edit(self, listed: Listed) -> EditInfo:
        """One edit."""
        edit = listed.edit
        line, column = self.place(edit.path, edit.start)
        return EditInfo(
            id=listed.number,
            path=shown(edit.path),
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

    def first_open(self, places: Sequence[Listed]) -> tuple[OpenPlace, ...]:
        """The first places that wait for a decision, with their lines."""
        return tuple(
            OpenPlace(
                id=one.number,
                path=shown(one.edit.path),
                line=self.place(one.edit.path, one.edit.start)[0],
                tier=one.edit.tier,
                content=self._content(one.edit.path, one.edit.start),
                why=one.edit.why,
            )
            for one in places[:_MAX_OPEN]
        )

    def manifest(self, edits: Sequence[Listed]) -> Manifest:
        """Coverage and risk."""
        draft, coverage = self._plan.draft, self._plan.draft.coverage
        tiers: Counter[str] = Counter(one.edit.tier for one in edits if one.edit.semantic)
        return Manifest(
            files_scanned=coverage.files_scanned,
            unparsed=tuple(map(shown, coverage.unparsed[:_MAX_NAMED])),
            truncated=coverage.truncated,
            tiers=dict(tiers),
            proposed=sum(not one.applies for one in edits),
            risks=tuple(
                RiskInfo(
                    kind=one.kind,
                    what=one.what,
                    path=shown(one.path) if one.path is not None else None,
                    line=self._line(one.path, one.offset),
                    count=one.count,
                )
                for one in _some_of_each(draft.dangers)
            ),
            risk_count=len(draft.dangers),
            risk_kinds=dict(Counter(one.kind for one in draft.dangers)),
            level=manifest_level(
                tiers, len(draft.dangers), truncated=bool(coverage.truncated), unparsed=bool(coverage.unparsed)
            ),
        )

    def documents(self, page: Sequence[Listed], edits: Sequence[Listed]) -> DocEdits | None:
        """What the sweep of comments and documentation would change: those of a page, with the numbers of all."""
        found = [one for one in edits if not one.edit.semantic]
        if not found:
            return None
        applying = [one for one in found if one.applies]
        return DocEdits(
            files_changed=len({one.edit.path for one in applying}),
            total=len(found),
            applying=len(applying),
            review_recommended=any(one.edit.confidence != "high" for one in found),
            matches=tuple(self._match(one) for one in page if not one.edit.semantic),
        )

    def _match(self, listed: Listed) -> DocMatch:
        edit = listed.edit
        line, column = self.place(edit.path, edit.start)
        return DocMatch(
            id=listed.number,
            file=shown(edit.path),
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
        """What may be meant, each with its whole plan."""
        found = []
        for one in self._plan.draft.candidates:
            edits = [each for each in self._plan.listed(one.id) if each.edit.semantic]
            applying = [each.edit for each in edits if each.applies]
            found.append(
                CandidateInfo(
                    id=one.id,
                    description=one.description,
                    confidence=one.confidence,
                    provenance=one.provenance,
                    files_affected=len({edit.path for edit in applying}),
                    applying=len(applying),
                    proposed=len(edits) - len(applying),
                    open_places=len(self._plan.open_places(one.id)),
                    apply_plan=tuple(map(self.edit, edits[:_MAX_PLAN])),
                )
            )
        return tuple(found)

    def witness(self, *failed: str, first: Sequence[str] = (), candidate: str | None = None) -> Witness:
        """The evidence there is, and what is not as it must be; `first` are the files to name before others."""
        plan, draft = self._plan, self._plan.draft
        most = _MAX_NAMED if not failed else _MAX_FAILED
        named = dict.fromkeys([*first, *map(shown, sorted(plan.texts))])
        return Witness(
            bounds=Bounds(
                files_scanned=tuple(named)[:most],
                contexts_queried=plan.contexts,
                time_budget_ms=int(FOR_SEC * 1000),
                truncated=bool(draft.coverage.truncated) or len(named) > most,
            ),
            facts=tuple(
                WitnessFact(
                    fact_type=one.fact_type,
                    location=Location(file=shown(one.path), line=self.place(one.path, one.offset)[0]),
                    content=self._content(one.path, one.offset),
                    provenance=one.provenance,
                    confidence=1.0 if one.provenance == "semantic" else 0.9,
                )
                for one in draft.facts[:_MAX_NAMED]
                if one.path in plan.texts
            ),
            invariants_failed=failed,
            disambiguation_checklist=(
                *(_CHECKS[one] for one in failed if one in _CHECKS),
                *(
                    Check(question=one.question, fact_needed=one.type, how_to_verify=one.stop_rule)
                    for one in self._questions(candidate)
                ),
            ),
        )

    def _questions(self, candidate: str | None) -> tuple[Capsule, ...]:
        """The planner's questions, and the one about places that may be uses."""
        places = tuple((one.edit.path, one.edit.start) for one in self._plan.open_places(candidate))
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
        """The small questions."""
        return tuple(
            CapsuleInfo(
                type=one.type,
                question=one.question,
                stop_rule=one.stop_rule,
                places=tuple(
                    Location(file=shown(path), line=self.place(path, offset)[0])
                    for path, offset in one.places[:_MAX_MATCHES]
                    if path in self._plan.texts
                ),
            )
            for one in self._questions(candidate)
        )

    def divergence(self) -> Divergence:
        """Where contexts disagree."""
        return Divergence(
            conflicting_hunks=tuple(
                ConflictInfo(
                    path=shown(one.edit.path),
                    line=self.place(one.edit.path, one.edit.start)[0],
                    contexts=tuple(context for context, _ in one.meanings),
                    hunks=tuple(
                        ContextHunk(context=context, content=f"leads to {shown(file)}")
                        for context, file in one.meanings
                    ),
                )
                for one in self._plan.conflicts
            ),
            resolution_options=(
                "send contexts=[…] with those whose files shall change",
                "say in .codeplane/contexts.yaml which roots belong together",
                "write the import so that it leads to one place",
            ),
        )

    def place(self, path: str, offset: int) -> tuple[int, int]:
        """A place as line and column, both from 1."""
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
    """What may go wrong, no kind so often that another is not seen."""
    counts: Counter[str] = Counter()
    found = []
    for one in dangers:
        counts[one.kind] += 1
        if counts[one.kind] <= _MAX_ALIKE:
            found.append(one)
    return found[:_MAX_RISKS]
