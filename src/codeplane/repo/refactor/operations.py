"""`refactor.*` and `decision.commit`: plan, look, choose, apply."""

import asyncio
from collections.abc import Callable, Sequence

from codeplane.kernel.call import Call
from codeplane.kernel.counted import counted
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import IndexNotReady, InvalidArgument, PolicyDenied
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Verdict
from codeplane.repo.edit.described import compared
from codeplane.repo.edit.engine import Applied
from codeplane.repo.edit.entry import Change
from codeplane.repo.edit.foretold import foretold
from codeplane.repo.refactor.answers import AppliedInfo, RefactorResult
from codeplane.repo.refactor.applying import Applying, assessed, chosen
from codeplane.repo.refactor.draft import Edit
from codeplane.repo.refactor.plan import Asked, Plan, differing
from codeplane.repo.refactor.planning import Planned, Planning
from codeplane.repo.refactor.proof import disproved
from codeplane.repo.refactor.requests import (
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
from codeplane.repo.refactor.spliced import spliced
from codeplane.repo.refactor.told import Told
from codeplane.repo.truth.paths import shown

_SCOPE = "refactor"
_COMMIT = "decision_commit"
_MAX_LEFT = 50
# What breaks a program though every edit is right: somebody has to have seen it.
_GRAVE = frozenset({"import_cycle", "outside_base", "overriding_parameter", "shadows_stdlib", "side_effect"})
_MAX_WORDS = 200
_MAX_CHANGED = 50
_DIGITS = 24
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

    def __init__(self, *, planning: Planning, applying: Applying, cursors: Cursors) -> None:
        self._planning = planning
        self._applying = applying
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
            plan = await self._planning.kept(request.refactor_id)
            return await self._applied(call, plan, request.candidate, request.include, request.exclude)
        asked = _rename(request)
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
            return _reading(f"rename {request.symbol} to {request.new_name}")
        choice = (request.candidate, request.include, request.exclude)
        return await self._foreseen(_rename(request), *choice)

    assess_move = _judges("refactor.move")

    @previews("refactor.move")
    async def preview_move(self, request: MoveRequest) -> Preview:
        """What a plan made now would write."""
        if not request.apply or request.cursor:
            return _reading(f"move {request.symbol or request.from_path} to {request.to_path}")
        return await self._foreseen(_move(request))

    @operation("refactor.move", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def move(self, call: Call, request: MoveRequest) -> RefactorResult:
        """Plan the move of a file or folder, or of a symbol to another module, with all imports brought along."""
        if request.cursor:
            return await self._next(request)
        return await self._answered(call, _move(request), request, apply=request.apply)

    assess_delete = _judges("refactor.delete")

    @previews("refactor.delete")
    async def preview_delete(self, request: DeleteRequest) -> Preview:
        """What a plan made now would write."""
        if not request.apply or request.cursor:
            return _reading(f"delete {request.target}")
        return await self._foreseen(_delete(request))

    @operation("refactor.delete", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def delete(self, call: Call, request: DeleteRequest) -> RefactorResult:
        """Plan the removal of a symbol or file; refused while something still refers to it, unless forced."""
        if request.cursor:
            return await self._next(request)
        return await self._answered(call, _delete(request), request, apply=request.apply)

    assess_replace = _judges("refactor.replace")

    @previews("refactor.replace")
    async def preview_replace(self, request: ReplaceRequest) -> Preview:
        """What a plan made now would write."""
        if not request.apply or request.cursor:
            return _reading(f"replace {request.pattern} by {request.rewrite}")
        return await self._foreseen(_replace(request))

    @operation("refactor.replace", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def replace(self, call: Call, request: ReplaceRequest) -> RefactorResult:
        """Plan a structural replacement: every place whose syntax matches the pattern is rewritten."""
        if request.cursor:
            return await self._next(request)
        return await self._answered(call, _replace(request), request, apply=request.apply)

    @operation("refactor.preview", risk=Risk.READ)
    async def preview(self, call: Call, request: PlanRequest) -> RefactorResult:
        """A plan's edits, a page at a time; with candidate those of one candidate."""
        if request.cursor:
            return await self._next(request)
        plan = await self._planning.kept(request.refactor_id)
        return await asyncio.to_thread(self._page, plan, request.candidate, 0, request.limit)

    @operation("refactor.apply", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=120)
    async def apply(self, call: Call, request: ApplyRequest) -> RefactorResult:
        """Apply a plan: its sure edits, and those proposals that are included; refused when the files moved on."""
        plan = await self._planning.kept(request.refactor_id)
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
        plan = await self._planning.kept(request.refactor_id)
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
        """Choose a candidate of a plan that needs a decision, with the lines that prove it; everything is checked
        again before it is applied."""
        plan = await self._planning.kept(request.plan_id)
        plan.listed(request.selected_candidate_id)
        if not plan.undecided:
            raise InvalidArgument("this plan needs no decision", hint="apply it: refactor_apply")
        blocked = await self._gated(plan, request.selected_candidate_id)
        if blocked is not None:
            return blocked
        texts = {shown(path): text for path, text in plan.texts.items()}
        wrong = disproved(request.proof, symbol=plan.asked.symbol, qualified=plan.draft.name, texts=texts)
        if wrong:
            raise InvalidArgument(
                "the proof does not hold: " + "; ".join(wrong[:10]),
                hint="read the lines again; nothing was changed",
                details={"wrong": list(wrong[:50])},
            )
        return await self._done(call, plan, request.selected_candidate_id, (), ())

    @assesses("decision.commit")
    def assess_commit(self, request: DecisionRequest) -> Assessment:
        """The files that the plan would write with this candidate."""
        return assessed(self._planning.plans, request.plan_id, (request.selected_candidate_id, (), ()))

    @previews("decision.commit")
    async def preview_commit(self, request: DecisionRequest) -> Preview:
        """The plan with the candidate that was chosen, and what it would write."""
        plan = await self._planning.kept(request.plan_id)
        return await asyncio.to_thread(_foretold, plan, request.selected_candidate_id, (), (), kept=True)

    def _assessed(self, request: ApplyRequest | RenameRequest) -> Assessment:
        choice = (request.candidate, request.include, request.exclude)
        return assessed(self._planning.plans, request.refactor_id, choice)

    async def _foreseen_plan(self, request: ApplyRequest | RenameRequest) -> Preview:
        plan = await self._planning.kept(request.refactor_id)
        choice = (request.candidate, request.include, request.exclude)
        return await asyncio.to_thread(_foretold, plan, *choice, kept=True)

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
        return await asyncio.to_thread(_foretold, found.plan, candidate, include, exclude, kept=False)

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
        blocked = _blocked(found)
        if blocked is not None:
            return blocked
        plan = found.plan
        grave = _grave(plan)
        if apply and grave:
            call.warn(f"not applied at once: look at {', '.join(grave)} first, then apply the plan by its id")
        if not apply or grave or plan.conflicts or (plan.undecided and not candidate):
            return await asyncio.to_thread(self._page, plan, candidate, 0, request.limit)
        try:
            return await self._applied(call, plan, candidate, include, exclude)
        except PolicyDenied as error:
            if error.details.get("verdict") != Verdict.ASK.value:
                raise
            # Which files it writes was not known when it was asked for: with a plan's id it is, and a person is asked.
            call.warn(f"not applied at once: {error.message}; apply the plan by its id, and a person is asked")
            return await asyncio.to_thread(self._page, plan, candidate, 0, request.limit)

    async def _applied(
        self, call: Call, plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str]
    ) -> RefactorResult:
        if plan.conflicts:
            return _diverging(plan)
        if plan.undecided and not candidate:
            return await asyncio.to_thread(self._page, plan, "", 0, 0)
        # What is asked for must make sense before anything is looked at again.
        chosen(plan, candidate or None, include, exclude)
        blocked = await self._gated(plan, candidate or None)
        return blocked or await self._done(call, plan, candidate or None, include, exclude)

    async def _gated(self, plan: Plan, candidate: str | None) -> RefactorResult | None:
        now = await self._applying.gate(plan, candidate)
        return _blocked(now, before=plan) if now is not None else None

    async def _done(
        self, call: Call, plan: Plan, candidate: str | None, include: Sequence[str], exclude: Sequence[str]
    ) -> RefactorResult:
        edits = chosen(plan, candidate, include, exclude)
        applied = await self._applying.apply(call, plan, edits)
        await asyncio.to_thread(self._planning.plans.drop, plan.plan_id)
        # Of a hundred thousand edits even what is told takes a while, and nobody else shall wait for it.
        return await asyncio.to_thread(_made, plan, candidate, edits, applied)

    async def _next(self, request: Paged) -> RefactorResult:
        state = self._cursors.open(request.cursor or "", scope=_SCOPE)
        plan = await self._planning.kept(str(state["plan"]))
        start = state["start"]
        assert isinstance(start, int)
        return self._page(plan, str(state["candidate"]), start, request.limit)

    def _page(self, plan: Plan, candidate: str, start: int, limit: int) -> RefactorResult:
        if plan.conflicts:
            return _diverging(plan)
        told = Told(plan)
        edits = plan.listed(candidate or None)
        result = told.result("needs_decision" if plan.undecided else "previewed", edits=edits, start=start, limit=limit)
        if plan.undecided:
            result = result.model_copy(
                update={
                    "candidates": told.candidates(),
                    "witness": told.witness(),
                    "decision_capsules": told.capsules(),
                    "commit_endpoint": _COMMIT,
                }
            )
        cursor = None
        if 0 < limit < len(edits) - start:
            state: JsonObject = {"plan": plan.plan_id, "candidate": candidate, "start": start + limit}
            cursor = self._cursors.issue(scope=_SCOPE, state=state)
        return result.model_copy(update={"pagination": Pagination(next_cursor=cursor, total_estimate=len(edits))})


def _rename(request: RenameRequest) -> Asked:
    if not request.symbol or not request.new_name:
        raise InvalidArgument(
            "a rename needs symbol and new_name", hint="or refactor_id alone, to apply a plan that was made"
        )
    return Asked(
        kind="rename",
        symbol=request.symbol,
        new_name=request.new_name,
        options={"include_comments": request.include_comments},
        contexts=request.contexts,
    )


def _move(request: MoveRequest) -> Asked:
    if bool(request.from_path) == bool(request.symbol):
        raise InvalidArgument("a move needs from_path or symbol, one of them")
    return Asked(
        kind="move",
        symbol=request.symbol or request.from_path,
        new_name=request.to_path,
        options={"files": bool(request.from_path)},
        contexts=request.contexts,
    )


def _delete(request: DeleteRequest) -> Asked:
    return Asked(kind="delete", symbol=request.target, options={"force": request.force}, contexts=request.contexts)


def _replace(request: ReplaceRequest) -> Asked:
    options: JsonObject = {"language": request.language, "paths": list(request.paths)}
    return Asked(kind="replace", symbol=request.pattern, new_name=request.rewrite, options=options)


def _grave(plan: Plan) -> list[str]:
    return sorted({one.kind for one in plan.draft.dangers} & _GRAVE)


def _reading(what: str) -> Preview:
    return Preview(summary=f"plan: {shown(what)}", body="Nothing is written.")


def _foretold(plan: Plan, candidate: str, include: Sequence[str], exclude: Sequence[str], *, kept: bool) -> Preview:
    """What a plan would write; `kept` is whether it has an id that outlives this question."""
    named = [f"plan {plan.plan_id}"] if kept else []
    if plan.conflicts or (plan.undecided and not candidate):
        why = "its contexts disagree" if plan.conflicts else "a candidate has to be chosen first"
        return Preview(summary=f"plan: {plan.draft.title}", body="\n".join([*named, f"Nothing is written: {why}."]))
    edits = chosen(plan, candidate or None, include, exclude)
    made, whole = _changes(plan, edits)
    found = compared(made, plan.texts, {one.path: one.content for one in made if isinstance(one.content, bytes)})
    facts = [plan.draft.title, *named, *([f"candidate {candidate}"] if candidate else [])]
    left = sum(one.edit.semantic for one in plan.listed(candidate or None)) - sum(edit.semantic for edit in edits)
    files = counted(len({edit.path for edit in edits}), "file")
    facts += [f"{counted(len(edits), 'edit')} in {files}; proposals left out: {left}"]
    return foretold(made, found, verb="refactor:", facts=[*facts, *whole, f"of the texts {plan.digest[:_DIGITS]}"])


def _changes(plan: Plan, edits: Sequence[Edit]) -> tuple[list[Change], list[str]]:
    """What becomes of texts; and, in words, of what is moved or deleted as it is."""
    moved = {move.path: move.new_path for move in plan.draft.moves}
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    found, whole = [], []
    for path in sorted({*by_path, *moved, *plan.draft.removes}):
        if path not in plan.texts:
            whole.append(
                f"{shown(path)} {f'moves to {shown(moved[path])}' if path in moved else 'is deleted'} as it is"
            )
            continue
        before = plan.digests[path]
        if path in plan.draft.removes or path in moved:
            found.append(Change(path=path, content=None, before=before))
        if path not in plan.draft.removes:
            content = spliced(path, plan.texts[path], by_path.get(path, ()))
            new, origin = (moved[path], path) if path in moved else (path, None)
            if origin or content != plan.texts[path]:
                was = None if origin else before
                found.append(Change(path=new, content=content, before=was, moved_from=origin))
    found += [Change(path=new.path, content=new.content.encode(), before=None) for new in plan.draft.creates]
    return found, whole


def _blocked(found: Planned, *, before: Plan | None = None) -> RefactorResult | None:
    """Why a plan may not be applied, `before` being the one that was to be; None when nothing stands against it."""
    moved_on = bool(found.stale) or before is not None
    failed = [name for name, holds in (("index_behind", found.behind), ("files_changed", moved_on)) if holds]
    if not failed:
        return None
    told = Told(found.plan)
    changed = [*found.stale, *(map(shown, differing(before, found.plan)) if before is not None else ())]
    changed = list(dict.fromkeys(changed))
    files = [path for path in map(shown, sorted(found.plan.texts)) if path not in set(changed)]
    return told.result("blocked", edits=found.plan.listed(), all_edits=False).model_copy(
        update={
            "preview": None,
            "witness": told.witness(*failed, first=changed),
            "suggested_refresh_scope": tuple(changed[:_MAX_CHANGED] or files[:_MAX_CHANGED]),
            "changed_count": len(changed),
            "unchanged_count": len(files),
        }
    )


def _diverging(plan: Plan) -> RefactorResult:
    told = Told(plan)
    return told.result("divergence", edits=plan.listed(), all_edits=False).model_copy(
        update={"preview": None, "divergence": told.divergence(), "witness": told.witness("contexts_disagree")}
    )


def _made(plan: Plan, candidate: str | None, edits: Sequence[Edit], applied: Applied) -> RefactorResult:
    consequence, told = applied.consequence, Told(plan)
    listed = plan.listed(candidate)
    # They are those that are listed, not others that are equal.
    made = frozenset(map(id, edits))
    done = [one for one in listed if id(one.edit) in made]
    left = [one for one in listed if one.edit.semantic and id(one.edit) not in made]
    return RefactorResult(
        refactor_id=plan.plan_id,
        refactor=plan.asked.kind,
        status="applied",
        title=plan.draft.title,
        symbol=plan.asked.symbol,
        new_name=plan.asked.new_name,
        manifest=told.manifest(listed),
        applied=AppliedInfo(
            delta=applied.delta,
            validation=consequence.warnings,
            affected_symbols=consequence.symbols,
            affected_tests=consequence.tests,
            doc_updates_applied=told.documents(done[:_MAX_WORDS], done),
            not_applied=len(left),
            proposals=tuple(map(told.edit, left[:_MAX_LEFT])),
            repo_fingerprint=consequence.repo_fingerprint,
        ),
        epoch=consequence.epoch,
        commit=plan.commit,
    )
