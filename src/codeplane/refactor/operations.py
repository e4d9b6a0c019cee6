"""`refactor.*` and `decision.commit`: plan, look, choose, apply."""

import asyncio
from collections.abc import Callable, Sequence

from codeplane.index.files.paths import shown
from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import IndexNotReady, InvalidArgument, PolicyDenied
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Verdict
from codeplane.refactor.answers import RefactorResult
from codeplane.refactor.applying import Applying, Choice, assessed, chosen, undecided
from codeplane.refactor.decisions.store import Decisions
from codeplane.refactor.foretold import foretold, reading
from codeplane.refactor.outcome import blocked_by, diverging, made
from codeplane.refactor.plan import Asked, Plan
from codeplane.refactor.planning import Planning
from codeplane.refactor.proof import disproved
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
from codeplane.refactor.told import Told
from codeplane.refactor.unparsed_uses import UNPARSED_USE

_SCOPE = "refactor"
_COMMIT = "decision_commit"
_PAGE = 200
# What may break a program though every edit is right: somebody has to have seen it.
_GRAVE = frozenset(
    {"import_cycle", "outside_base", "overriding_parameter", "shadows_stdlib", "side_effect", UNPARSED_USE}
)
Judges = Callable[["RefactorOperations", MoveRequest | DeleteRequest | ReplaceRequest], Assessment]


def _judges(name: str) -> Judges:
    """What judges an operation that plans, and applies at once when it is asked to."""

    @assesses(name)
    def judged(self: "RefactorOperations", request: MoveRequest | DeleteRequest | ReplaceRequest) -> Assessment:
        """Planning only reads."""
        return Assessment(risk=Risk.WRITE if request.apply else Risk.READ)

    return judged


class RefactorOperations:
    """Plans from facts, applies through the mutation engine."""

    def __init__(self, *, planning: Planning, applying: Applying, decisions: Decisions, cursors: Cursors) -> None:
        self._planning = planning
        self._applying = applying
        self._decisions = decisions
        self._cursors = cursors

    @assesses("refactor.rename")
    def assess_rename(self, request: RenameRequest) -> Assessment:
        """Planning only reads."""
        if request.refactor_id:
            return self._assessed(request)
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
            return await self._next(request)
        if request.refactor_id:
            plan = await self._kept(request.refactor_id)
            return await self._applied(call, plan, request.candidate, request.include, request.exclude)
        asked = request.asked()
        chosen_now = request.include or request.exclude
        if chosen_now and not request.apply:
            raise InvalidArgument(
                "include and exclude choose among the edits of a plan",
                hint="look at the plan first, then send them with its refactor_id; or send apply: true",
            )
        return await self._answered(
            call,
            asked,
            request,
            apply=request.apply,
            candidate=request.candidate,
            include=request.include,
            exclude=request.exclude,
        )

    @previews("refactor.rename")
    async def preview_rename(self, request: RenameRequest) -> Preview:
        """What the plan that is named, or one made now, would write."""
        if request.refactor_id and not request.cursor:
            return await self._foreseen_plan(request)
        if not request.apply or request.cursor:
            return reading(f"rename {request.symbol} to {request.new_name}")
        choice = (request.candidate, request.include, request.exclude)
        return await self._foreseen(request.asked(), *choice)

    assess_move = _judges("refactor.move")

    @previews("refactor.move")
    async def preview_move(self, request: MoveRequest) -> Preview:
        """What a plan made now would write."""
        if not request.apply or request.cursor:
            return reading(f"move {request.symbol or request.from_path} to {request.to_path}")
        return await self._foreseen(request.asked())

    @operation("refactor.move", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def move(self, call: Call, request: MoveRequest) -> RefactorResult:
        """Plan the move of a file or folder, or of a symbol to another module, with all imports brought along."""
        if request.cursor:
            return await self._next(request)
        return await self._answered(call, request.asked(), request, apply=request.apply)

    assess_delete = _judges("refactor.delete")

    @previews("refactor.delete")
    async def preview_delete(self, request: DeleteRequest) -> Preview:
        """What a plan made now would write."""
        if not request.apply or request.cursor:
            return reading(f"delete {request.target}")
        return await self._foreseen(request.asked())

    @operation("refactor.delete", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def delete(self, call: Call, request: DeleteRequest) -> RefactorResult:
        """Plan the removal of a symbol or file; refused while something still refers to it, unless forced."""
        if request.cursor:
            return await self._next(request)
        return await self._answered(call, request.asked(), request, apply=request.apply)

    assess_replace = _judges("refactor.replace")

    @previews("refactor.replace")
    async def preview_replace(self, request: ReplaceRequest) -> Preview:
        """What a plan made now would write."""
        if not request.apply or request.cursor:
            return reading(f"replace {request.pattern} by {request.rewrite}")
        return await self._foreseen(request.asked())

    @operation("refactor.replace", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def replace(self, call: Call, request: ReplaceRequest) -> RefactorResult:
        """Plan a structural replacement: every place whose syntax matches the pattern is rewritten."""
        if request.cursor:
            return await self._next(request)
        return await self._answered(call, request.asked(), request, apply=request.apply)

    @operation("refactor.preview", risk=Risk.READ)
    async def preview(self, call: Call, request: PlanRequest) -> RefactorResult:
        """A plan's edits, a page at a time; with candidate those of one candidate."""
        if request.cursor:
            return await self._next(request)
        plan = await self._kept(request.refactor_id)
        return await self._first(plan, request.candidate, request.limit)

    @operation("refactor.apply", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def apply(self, call: Call, request: ApplyRequest) -> RefactorResult:
        """Apply a plan: its sure edits, and those proposals that are included; refused when the files moved on."""
        plan = await self._kept(request.refactor_id)
        return await self._applied(call, plan, request.candidate, request.include, request.exclude)

    @assesses("refactor.apply")
    def assess_apply(self, request: ApplyRequest) -> Assessment:
        """The files that the plan would write."""
        return self._assessed(request)

    @previews("refactor.apply")
    async def preview_apply(self, request: ApplyRequest) -> Preview:
        """The plan and what it would write."""
        return await self._foreseen_plan(request)

    @operation("refactor.cancel", risk=Risk.READ)
    async def cancel(self, call: Call, request: CancelRequest) -> RefactorResult:
        """Forget a plan."""
        plan = await self._kept(request.refactor_id)
        await asyncio.to_thread(self._planning.plans.drop, plan.plan_id)
        return RefactorResult(
            refactor_id=plan.plan_id,
            refactor=plan.asked.kind,
            status="cancelled",
            title=plan.draft.title,
            epoch=plan.epoch,
            commit=plan.commit,
        )

    @operation("decision.commit", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def commit(self, call: Call, request: DecisionRequest) -> RefactorResult:
        """Decide what a plan asks, with the lines that prove it: a candidate, and by include and exclude which open
        places are uses. Everything is checked again before it is applied; the same question is answered so again."""
        plan = await self._kept(request.plan_id)
        candidate, include, exclude = request.selected_candidate_id, request.include, request.exclude
        if plan.conflicts:
            return diverging(plan)
        if plan.undecided and not candidate:
            known = ", ".join(one.id for one in plan.draft.candidates)
            raise InvalidArgument("this plan has several candidates", hint=f"selected_candidate_id: {known}")
        chosen(plan, candidate or None, include, exclude)
        if not plan.undecided and not plan.open_places():
            raise InvalidArgument("this plan needs no decision", hint="apply it: refactor_apply")
        if undecided(plan, candidate or None, include, exclude, seen=True):
            return await self._first(plan, candidate, _PAGE)
        blocked = await self._gated(plan, candidate or None)
        if blocked is not None:
            return blocked
        texts = {shown(path): text for path, text in plan.texts.items()}
        wrong = disproved(
            request.proof,
            symbol=plan.asked.symbol,
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
        done = await self._done(call, plan, candidate or None, include, exclude)
        remembered = await self._decisions.remember(call, plan, candidate, include, exclude)
        return done.model_copy(update={"decision_id": remembered})

    @assesses("decision.commit")
    def assess_commit(self, request: DecisionRequest) -> Assessment:
        """The files that the plan would write with this decision."""
        choice = (request.selected_candidate_id, request.include, request.exclude)
        return assessed(self._planning.plans, request.plan_id, choice)

    @previews("decision.commit")
    async def preview_commit(self, request: DecisionRequest) -> Preview:
        """The plan with what was chosen, and what it would write."""
        plan = await self._kept(request.plan_id)
        choice = (request.selected_candidate_id, request.include, request.exclude)
        return await asyncio.to_thread(foretold, plan, *choice, kept=True)

    async def _kept(self, plan_id: str) -> Plan:
        """A plan by its id, once the decisions that may answer what it asks are known."""
        await self._decisions.load()
        return await self._planning.kept(plan_id)

    def _assessed(self, request: ApplyRequest | RenameRequest) -> Assessment:
        choice: Choice = (request.candidate, request.include, request.exclude)
        plan = self._planning.plans.get(request.refactor_id)
        if plan is not None:
            choice = self._decisions.completed(plan, choice)
        return assessed(self._planning.plans, request.refactor_id, choice)

    async def _foreseen_plan(self, request: ApplyRequest | RenameRequest) -> Preview:
        plan = await self._kept(request.refactor_id)
        choice = self._decisions.completed(plan, (request.candidate, request.include, request.exclude))
        return await asyncio.to_thread(foretold, plan, *choice, kept=True)

    async def _foreseen(
        self, asked: Asked, candidate: str = "", include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> Preview:
        """What planning and applying at once would come to; the plan made for it is not kept."""
        found = await self._planning.planned(asked)
        await asyncio.to_thread(self._planning.plans.drop, found.plan.plan_id)
        title = found.plan.draft.title
        if found.behind or found.stale:
            raise IndexNotReady(f"{title}: files change, or are still read", hint="call again in a moment")
        if grave := _grave(found.plan):
            return Preview(summary=f"plan: {title}", body=f"Nothing is written: {', '.join(grave)} is looked at first.")
        await self._decisions.load()
        choice = self._decisions.completed(found.plan, (candidate, include, exclude))
        return await asyncio.to_thread(foretold, found.plan, *choice, kept=False)

    async def _answered(
        self,
        call: Call,
        asked: Asked,
        request: Paged,
        *,
        apply: bool,
        candidate: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> RefactorResult:
        found = await self._planning.planned(asked)
        blocked = blocked_by(found)
        if blocked is not None:
            return blocked
        plan = found.plan
        await self._decisions.load()
        decided = None if candidate or include or exclude else self._decisions.of(plan)
        grave = _grave(plan)
        if apply and grave:
            call.warn(f"not applied at once: look at {', '.join(grave)} first, then apply the plan by its id")
        if not apply or grave or plan.conflicts or (plan.undecided and not candidate and decided is None):
            return await self._first(plan, candidate, request.limit)
        try:
            return await self._applied(call, plan, candidate, include, exclude, seen=False, limit=request.limit)
        except PolicyDenied as error:
            if error.details.get("verdict") != Verdict.ASK.value:
                raise
            # Which files it writes was not known when it was asked for: with a plan's id it is, and a person is asked.
            call.warn(f"not applied at once: {error.message}; apply the plan by its id, and a person is asked")
            return await self._first(plan, candidate, request.limit)

    async def _applied(
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
            return diverging(plan)
        decided = None if candidate or include or exclude else self._decisions.of(plan)
        if decided is not None:
            candidate, include, exclude = self._decisions.completed(plan, ("", (), ()))
            call.warn(f"as decided before: {decided.decision_id}; decision_forget ids=[…] lets it count no longer")
        if plan.undecided and not candidate:
            return await asyncio.to_thread(self._page, plan, "", 0, 0)
        # What is asked for must make sense before anything is looked at again.
        chosen(plan, candidate or None, include, exclude)
        if undecided(plan, candidate or None, include, exclude, seen=seen):
            return await self._first(plan, candidate, limit)
        blocked = await self._gated(plan, candidate or None)
        if blocked is not None:
            return blocked
        done = await self._done(call, plan, candidate or None, include, exclude)
        return done if decided is None else done.model_copy(update={"decision_id": decided.decision_id})

    async def _gated(self, plan: Plan, candidate: str | None) -> RefactorResult | None:
        now = await self._applying.gate(plan, candidate)
        return blocked_by(now, before=plan) if now is not None else None

    async def _done(
        self, call: Call, plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str]
    ) -> RefactorResult:
        edits = chosen(plan, candidate, include, exclude)
        applied = await self._applying.apply(call, plan, edits)
        await asyncio.to_thread(self._planning.plans.drop, plan.plan_id)
        # Of a hundred thousand edits even what is told takes a while, and nobody else shall wait for it.
        return await asyncio.to_thread(made, plan, candidate, edits, applied)

    async def _next(self, request: Paged) -> RefactorResult:
        state = self._cursors.open(request.cursor or "", scope=_SCOPE)
        plan = await self._kept(str(state["plan"]))
        start = state["start"]
        assert isinstance(start, int)
        return self._page(plan, str(state["candidate"]), start, request.limit)

    async def _first(self, plan: Plan, candidate: str, limit: int) -> RefactorResult:
        """The first page of a plan, with what it would mean for symbols and tests."""
        page = await asyncio.to_thread(self._page, plan, candidate, 0, limit)
        if page.preview is None:
            return page
        expected = await self._applying.expected(plan, candidate or None)
        reached = {
            "affected_symbols": expected.symbols,
            "affected_tests": expected.tests,
            "not_known": expected.warnings,
        }
        return page.model_copy(update={"preview": page.preview.model_copy(update=reached)})

    def _page(self, plan: Plan, candidate: str, start: int, limit: int) -> RefactorResult:
        if plan.conflicts:
            return diverging(plan)
        told = Told(plan)
        decided = self._decisions.of(plan)
        if decided is not None and not candidate:
            candidate = decided.candidate
        edits = plan.listed(candidate or None)
        open_places = plan.open_places(candidate or None)
        needs_decision = bool(plan.undecided or open_places)
        result = told.result("needs_decision" if needs_decision else "previewed", edits=edits, start=start, limit=limit)
        if needs_decision:
            result = result.model_copy(
                update={
                    "candidates": told.candidates(),
                    "witness": told.witness(candidate=candidate or None),
                    "decision_capsules": told.capsules(candidate or None),
                    "candidate": candidate,
                    "open_places": len(open_places),
                    "open_files": len({one.edit.path for one in open_places}),
                    "first_open": told.first_open(open_places) if start == 0 else (),
                    "decision_id": decided.decision_id if decided is not None else None,
                    "commit_endpoint": _COMMIT,
                }
            )
        cursor = None
        if 0 < limit < len(edits) - start:
            state: JsonObject = {"plan": plan.plan_id, "candidate": candidate, "start": start + limit}
            cursor = self._cursors.issue(scope=_SCOPE, state=state)
        pagination = Pagination(next_cursor=cursor, total_estimate=len(edits))
        return result.model_copy(update={"offset": start, "pagination": pagination})


def _grave(plan: Plan) -> list[str]:
    return sorted({one.kind for one in plan.draft.dangers} & _GRAVE)
