"""Pages of a plan's edits, as results."""

import asyncio

from codeplane.kernel.cursor import Cursors
from codeplane.kernel.json import JsonObject
from codeplane.kernel.page import Pagination
from codeplane.refactor.apply_results import divergence_result
from codeplane.refactor.decisions.store import Decisions
from codeplane.refactor.plan import Plan
from codeplane.refactor.plan_applier import PlanApplier
from codeplane.refactor.plan_builder import PlanBuilder
from codeplane.refactor.plan_view import PlanView
from codeplane.refactor.requests import Paged
from codeplane.refactor.results import RefactorResult

_SCOPE = "refactor"
_COMMIT = "decision_commit"


class PlanPages:
    """Shows plans page by page."""

    def __init__(self, *, builder: PlanBuilder, applier: PlanApplier, decisions: Decisions, cursors: Cursors) -> None:
        self._builder = builder
        self._applier = applier
        self._decisions = decisions
        self._cursors = cursors

    async def load(self, plan_id: str) -> Plan:
        """Load a plan by its id, after the decisions that may answer its questions."""
        await self._decisions.load()
        return await self._builder.load(plan_id)

    async def next(self, request: Paged) -> RefactorResult:
        """Return the page that a cursor continues with."""
        state = self._cursors.open(request.cursor or "", scope=_SCOPE)
        plan = await self.load(str(state["plan"]))
        start = state["start"]
        assert isinstance(start, int)
        return self.page(plan, str(state["candidate"]), start, request.limit)

    async def first(self, plan: Plan, candidate: str, limit: int) -> RefactorResult:
        """Return the first page of a plan, with the affected symbols and tests."""
        page = await asyncio.to_thread(self.page, plan, candidate, 0, limit)
        if page.preview is None:
            return page
        expected = await self._applier.consequences(plan, candidate or None)
        affected = {
            "affected_symbols": expected.symbols,
            "affected_tests": expected.tests,
            "not_known": expected.warnings,
        }
        return page.model_copy(update={"preview": page.preview.model_copy(update=affected)})

    def page(self, plan: Plan, candidate: str, start: int, limit: int) -> RefactorResult:
        """Return one page of a plan's edits, with what has to be decided."""
        if plan.conflicts:
            return divergence_result(plan)
        view = PlanView(plan)
        decided = self._decisions.of(plan)
        if decided is not None and not candidate:
            candidate = decided.candidate
        edits = plan.list_edits(candidate or None)
        open_places = plan.open_places(candidate or None)
        needs_decision = bool(plan.undecided or open_places)
        result = view.result("needs_decision" if needs_decision else "previewed", edits=edits, start=start, limit=limit)
        if needs_decision:
            result = result.model_copy(
                update={
                    "candidates": view.candidates(),
                    "witness": view.witness(candidate=candidate or None),
                    "decision_capsules": view.capsules(candidate or None),
                    "candidate": candidate,
                    "open_places": len(open_places),
                    "open_files": len({place.edit.path for place in open_places}),
                    "first_open": view.first_open(open_places) if start == 0 else (),
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
