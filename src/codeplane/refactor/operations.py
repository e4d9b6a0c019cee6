"""The operations `refactor.*` and `decision.commit`: plan, preview, choose, apply."""

import asyncio
from collections.abc import Callable, Sequence

from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import IndexNotReady, InvalidArgument, PolicyDenied
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.ports import Verdict
from codeplane.refactor.apply_results import applied_result, blocked_result, divergence_result
from codeplane.refactor.decisions.store import Decisions
from codeplane.refactor.draft import GRAVE
from codeplane.refactor.plan import Plan, RefactorSpec
from codeplane.refactor.plan_applier import Choice, PlanApplier, assess_plan, chosen_edits, undecided_places
from codeplane.refactor.plan_builder import PlanBuilder
from codeplane.refactor.plan_pages import PlanPages
from codeplane.refactor.preview import preview_plan, preview_planning
from codeplane.refactor.proof import proof_errors
from codeplane.refactor.requests import (
    ApplyRequest,
    CancelRequest,
    DecisionRequest,
    DeleteRequest,
    MoveRequest,
    Paged,
    PlanRequest,
    RenameRequest,
    ReplaceRequest,
)
from codeplane.refactor.results import RefactorResult

_PAGE = 200
Assess = Callable[["RefactorOperations", MoveRequest | DeleteRequest | ReplaceRequest], Assessment]


def _assessment_for(name: str) -> Assess:
    """Return the assessment of an operation that plans, and applies at once on request."""

    @assesses(name)
    def assess(self: "RefactorOperations", request: MoveRequest | DeleteRequest | ReplaceRequest) -> Assessment:
        """Assess a plan: planning only reads."""
        return Assessment(risk=Risk.WRITE if request.apply else Risk.READ)

    return assess


class RefactorOperations:
    """Plans from facts, applies through the mutation engine."""

    def __init__(self, *, builder: PlanBuilder, applier: PlanApplier, decisions: Decisions, cursors: Cursors) -> None:
        self._builder = builder
        self._applier = applier
        self._decisions = decisions
        self._pages = PlanPages(builder=builder, applier=applier, decisions=decisions, cursors=cursors)

    @assesses("refactor.rename")
    def assess_rename(self, request: RenameRequest) -> Assessment:
        """Assess a plan: planning only reads."""
        if request.refactor_id:
            return self._assess_stored(request)
        return Assessment(risk=Risk.WRITE if request.apply else Risk.READ)

    @operation(
        "refactor.rename",
        risk=Risk.WRITE,
        budget=Budget.MUTATION,
        capability="write_files",
        toolset="core",
        timeout_sec=120,
    )
    async def rename(self, call: Call, request: RenameRequest) -> RefactorResult:
        """Rename a symbol or module everywhere: plans with every edit and how sure it is; call again with the plan's
        refactor_id to apply (apply: true does both). undo takes it back."""
        if request.cursor:
            return await self._pages.next(request)
        if request.refactor_id:
            plan = await self._pages.load(request.refactor_id)
            return await self._apply(call, plan, request.candidate, request.include, request.exclude)
        spec = request.spec()
        chosen_now = request.include or request.exclude
        if chosen_now and not request.apply:
            raise InvalidArgument(
                "include and exclude choose among the edits of a plan",
                hint="look at the plan first, then send them with its refactor_id; or send apply: true",
            )
        return await self._plan(
            call,
            spec,
            request,
            apply=request.apply,
            candidate=request.candidate,
            include=request.include,
            exclude=request.exclude,
        )

    @previews("refactor.rename")
    async def preview_rename(self, request: RenameRequest) -> Preview:
        """Show what the named plan, or one made now, would write."""
        if request.refactor_id and not request.cursor:
            return await self._preview_stored(request)
        if not request.apply or request.cursor:
            return preview_planning(f"rename {request.symbol} to {request.new_name}")
        choice = (request.candidate, request.include, request.exclude)
        return await self._preview_new(request.spec(), *choice)

    assess_move = _assessment_for("refactor.move")

    @previews("refactor.move")
    async def preview_move(self, request: MoveRequest) -> Preview:
        """Show what a plan made now would write."""
        if not request.apply or request.cursor:
            return preview_planning(f"move {request.symbol or request.from_path} to {request.to_path}")
        return await self._preview_new(request.spec())

    @operation("refactor.move", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def move(self, call: Call, request: MoveRequest) -> RefactorResult:
        """Plan the move of a file or folder, or of a symbol to another module, with all imports brought along."""
        if request.cursor:
            return await self._pages.next(request)
        return await self._plan(call, request.spec(), request, apply=request.apply)

    assess_delete = _assessment_for("refactor.delete")

    @previews("refactor.delete")
    async def preview_delete(self, request: DeleteRequest) -> Preview:
        """Show what a plan made now would write."""
        if not request.apply or request.cursor:
            return preview_planning(f"delete {request.target}")
        return await self._preview_new(request.spec())

    @operation("refactor.delete", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def delete(self, call: Call, request: DeleteRequest) -> RefactorResult:
        """Plan the removal of a symbol or file; refused while something still refers to it, unless forced."""
        if request.cursor:
            return await self._pages.next(request)
        return await self._plan(call, request.spec(), request, apply=request.apply)

    assess_replace = _assessment_for("refactor.replace")

    @previews("refactor.replace")
    async def preview_replace(self, request: ReplaceRequest) -> Preview:
        """Show what a plan made now would write."""
        if not request.apply or request.cursor:
            return preview_planning(f"replace {request.pattern} by {request.rewrite}")
        return await self._preview_new(request.spec())

    @operation("refactor.replace", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def replace(self, call: Call, request: ReplaceRequest) -> RefactorResult:
        """Plan a structural replacement: every place whose syntax matches the pattern is rewritten."""
        if request.cursor:
            return await self._pages.next(request)
        return await self._plan(call, request.spec(), request, apply=request.apply)

    @operation("refactor.preview", risk=Risk.READ)
    async def preview(self, call: Call, request: PlanRequest) -> RefactorResult:
        """A plan's edits, a page at a time; with candidate those of one candidate."""
        if request.cursor:
            return await self._pages.next(request)
        plan = await self._pages.load(request.refactor_id)
        return await self._pages.first(plan, request.candidate, request.limit)

    @operation("refactor.apply", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def apply(self, call: Call, request: ApplyRequest) -> RefactorResult:
        """Apply a plan: its sure edits, and those proposals that are included; refused when the files moved on."""
        plan = await self._pages.load(request.refactor_id)
        return await self._apply(call, plan, request.candidate, request.include, request.exclude)

    @assesses("refactor.apply")
    def assess_apply(self, request: ApplyRequest) -> Assessment:
        """Assess the files that the plan would write."""
        return self._assess_stored(request)

    @previews("refactor.apply")
    async def preview_apply(self, request: ApplyRequest) -> Preview:
        """Show the plan and what it would write."""
        return await self._preview_stored(request)

    @operation("refactor.cancel", risk=Risk.READ)
    async def cancel(self, call: Call, request: CancelRequest) -> RefactorResult:
        """Forget a plan."""
        plan = await self._pages.load(request.refactor_id)
        await asyncio.to_thread(self._builder.plans.drop, plan.plan_id)
        return RefactorResult(
            refactor_id=plan.plan_id,
            refactor=plan.spec.kind,
            status="cancelled",
            title=plan.draft.title,
            epoch=plan.epoch,
            commit=plan.commit,
        )

    @operation("decision.commit", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def commit(self, call: Call, request: DecisionRequest) -> RefactorResult:
        """Decide what a plan asks, with the lines that prove it: a candidate, and by include and exclude which open
        places are uses. Everything is checked again before it is applied; the same question is answered so again."""
        plan = await self._pages.load(request.plan_id)
        candidate, include, exclude = request.selected_candidate_id, request.include, request.exclude
        if plan.conflicts:
            return divergence_result(plan)
        if plan.undecided and not candidate:
            known = ", ".join(candidate.id for candidate in plan.draft.candidates)
            raise InvalidArgument("this plan has several candidates", hint=f"selected_candidate_id: {known}")
        chosen_edits(plan, candidate or None, include, exclude)
        if not plan.undecided and not plan.open_places():
            raise InvalidArgument("this plan needs no decision", hint="apply it: refactor_apply")
        if undecided_places(plan, candidate or None, include, exclude, seen=True):
            return await self._pages.first(plan, candidate, _PAGE)
        blocked = await self._check_holds(plan, candidate or None)
        if blocked is not None:
            return blocked
        texts = {path_text(path): text for path, text in plan.texts.items()}
        wrong = proof_errors(
            request.proof,
            symbol=plan.spec.symbol,
            qualified=plan.draft.name,
            texts=texts,
            elsewhere=bool(include or exclude),
        )
        if wrong:
            raise InvalidArgument(
                "the proof does not hold: " + "; ".join(wrong[:10]),
                hint="read the lines again; nothing was changed",
                details={"wrong": list(wrong[:50])},
            )
        done = await self._write(call, plan, candidate or None, include, exclude)
        remembered = await self._decisions.remember(call, plan, candidate, include, exclude)
        return done.model_copy(update={"decision_id": remembered})

    @assesses("decision.commit")
    def assess_commit(self, request: DecisionRequest) -> Assessment:
        """Assess the files that the plan would write with this decision."""
        choice = (request.selected_candidate_id, request.include, request.exclude)
        return assess_plan(self._builder.plans, request.plan_id, choice)

    @previews("decision.commit")
    async def preview_commit(self, request: DecisionRequest) -> Preview:
        """Show the plan with the choice, and what it would write."""
        plan = await self._pages.load(request.plan_id)
        choice = (request.selected_candidate_id, request.include, request.exclude)
        return await asyncio.to_thread(preview_plan, plan, *choice, kept=True)

    def _assess_stored(self, request: ApplyRequest | RenameRequest) -> Assessment:
        choice: Choice = (request.candidate, request.include, request.exclude)
        plan = self._builder.plans.get(request.refactor_id)
        if plan is not None:
            choice = self._decisions.complete_choice(plan, choice)
        return assess_plan(self._builder.plans, request.refactor_id, choice)

    async def _preview_stored(self, request: ApplyRequest | RenameRequest) -> Preview:
        plan = await self._pages.load(request.refactor_id)
        choice = self._decisions.complete_choice(plan, (request.candidate, request.include, request.exclude))
        return await asyncio.to_thread(preview_plan, plan, *choice, kept=True)

    async def _preview_new(
        self, spec: RefactorSpec, candidate: str = "", include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Preview:
        """Show what planning and applying at once would write; the plan made for that is not stored."""
        found = await self._builder.build(spec)
        await asyncio.to_thread(self._builder.plans.drop, found.plan.plan_id)
        title = found.plan.draft.title
        if found.behind or found.stale:
            raise IndexNotReady(f"{title}: files change, or are still read", hint="call again in a moment")
        if grave := _grave(found.plan):
            return Preview(summary=f"plan: {title}", body=f"Nothing is written: {', '.join(grave)} is looked at first.")
        await self._decisions.load()
        choice = self._decisions.complete_choice(found.plan, (candidate, include, exclude))
        return await asyncio.to_thread(preview_plan, found.plan, *choice, kept=False)

    async def _plan(
        self,
        call: Call,
        spec: RefactorSpec,
        request: Paged,
        *,
        apply: bool,
        candidate: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> RefactorResult:
        found = await self._builder.build(spec)
        blocked = blocked_result(found)
        if blocked is not None:
            return blocked
        plan = found.plan
        await self._decisions.load()
        decided = None if candidate or include or exclude else self._decisions.of(plan)
        grave = _grave(plan)
        if apply and grave:
            call.warn(f"not applied at once: look at {', '.join(grave)} first; the plan is stored")
        if not apply or grave or plan.conflicts or (plan.undecided and not candidate and decided is None):
            return await self._pages.first(plan, candidate, request.limit)
        try:
            return await self._apply(call, plan, candidate, include, exclude, seen=False, limit=request.limit)
        except PolicyDenied as error:
            if error.details.get("verdict") != Verdict.ASK.value:
                raise
            # The files it writes were not known at the call; with the plan's id they are, and a person is asked.
            call.warn(f"not applied at once: {error.message}; apply the plan by its id, and a person is asked")
            return await self._pages.first(plan, candidate, request.limit)

    async def _apply(
        self,
        call: Call,
        plan: Plan,
        candidate: str,
        include: Sequence[str],
        exclude: Sequence[str],
        *,
        seen: bool = True,
        limit: int = _PAGE,
    ) -> RefactorResult:
        if plan.conflicts:
            return divergence_result(plan)
        decided = None if candidate or include or exclude else self._decisions.of(plan)
        if decided is not None:
            candidate, include, exclude = self._decisions.complete_choice(plan, ("", (), ()))
            call.warn(f"as decided before: {decided.decision_id}; decision_forget ids=[…] lets it count no longer")
        if plan.undecided and not candidate:
            return await asyncio.to_thread(self._pages.page, plan, "", 0, 0)
        # The choice must make sense before anything is planned again.
        chosen_edits(plan, candidate or None, include, exclude)
        if undecided_places(plan, candidate or None, include, exclude, seen=seen):
            return await self._pages.first(plan, candidate, limit)
        blocked = await self._check_holds(plan, candidate or None)
        if blocked is not None:
            return blocked
        done = await self._write(call, plan, candidate or None, include, exclude)
        return done if decided is None else done.model_copy(update={"decision_id": decided.decision_id})

    async def _check_holds(self, plan: Plan, candidate: str | None) -> RefactorResult | None:
        now = await self._applier.gate(plan, candidate)
        return blocked_result(now, before=plan) if now is not None else None

    async def _write(
        self, call: Call, plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str]
    ) -> RefactorResult:
        edits = chosen_edits(plan, candidate, include, exclude)
        applied = await self._applier.apply(call, plan, edits)
        await asyncio.to_thread(self._builder.plans.drop, plan.plan_id)
        # The result of a hundred thousand edits takes a while to build, in which other calls go on.
        return await asyncio.to_thread(applied_result, plan, candidate, edits, applied)


def _grave(plan: Plan) -> list[str]:
    return sorted({danger.kind for danger in plan.draft.dangers} & GRAVE)
