"""Building plans: one consistent read of the index, with the documents and contexts that belong to it."""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codeplane.code.model import Facts
from codeplane.code.resolve.world import World
from codeplane.index.contexts.operations import ContextOperations
from codeplane.index.contexts.router import Router
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import RefactorConfig
from codeplane.kernel.errors import Cancelled, CodePlaneError, IndexNotReady, InvalidArgument, PlanNotFound
from codeplane.kernel.ids import new_id
from codeplane.query.consistent_read import read_consistently
from codeplane.query.knowledge import Knowledge
from codeplane.refactor.divergence import find_conflicts
from codeplane.refactor.draft import Danger, Draft, Edit
from codeplane.refactor.plan import Basis, Plan, Planner, RefactorSpec, sort_edits, texts_of
from codeplane.refactor.plan_store import PlanStore
from codeplane.refactor.planners import Planners
from codeplane.refactor.unparsed_uses import missing_configs, unparsed_uses

PLANNING_SEC = 20.0
_MAX_EDITS = 100_000
# After how many reads of a file it is checked whether a caller still waits.
_READS = 100
_MAX_EVIDENCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningResult:
    """A plan, and why it must not be applied: the index lags, or files changed while they were read."""

    plan: Plan
    behind: str = ""
    stale: tuple[str, ...] = ()


class PlanBuilder:
    """Makes plans and stores them."""

    def __init__(
        self,
        *,
        knowledge: Knowledge,
        planners: Planners,
        contexts: ContextOperations,
        config: RefactorConfig,
        clock: Clock,
        plans: PlanStore,
    ) -> None:
        self.plans = plans
        self._knowledge = knowledge
        self._planners = planners
        self._contexts = contexts
        self._config = config
        self._clock = clock

    async def build(self, spec: RefactorSpec) -> PlanningResult:
        """Make a plan and store it."""
        found = await self._make(spec, new_id("plan"))
        await asyncio.to_thread(self.plans.add, found.plan)
        return found

    async def rebuild(self, plan: Plan) -> PlanningResult:
        """Plan the same again for the repository as it is now.

        If everything that a plan depends on is unchanged, the result is the plan itself.
        """
        snapshot = await (await self._knowledge.fresh()).snapshot(strict=True)
        if plan.basis is not None and plan.basis == await self._basis(snapshot, await self._router()):
            return PlanningResult(plan=plan)
        return await self._make(plan.spec, new_id("plan"))

    async def load(self, plan_id: str) -> Plan:
        """Return a plan by its id; a plan of another process is made again, and must come out the same."""
        plan = self.plans.get(plan_id)
        if plan is not None:
            return plan
        record = await asyncio.to_thread(self.plans.record, plan_id)
        moved_on = PlanNotFound(f"files changed since {plan_id} was made", hint="plan again, and look at the new plan")
        try:
            found = await self._make(record.spec, plan_id)
        except CodePlaneError as error:
            raise moved_on from error
        if found.plan.digest != record.digest or found.behind or found.stale:
            raise moved_on
        await asyncio.to_thread(self.plans.add, found.plan)
        return found.plan

    async def _make(self, spec: RefactorSpec, plan_id: str) -> PlanningResult:
        router = await self._router()
        planner = self._planners.planner(spec)
        abandoned = threading.Event()
        try:
            found = await read_consistently(
                self._knowledge,
                lambda snapshot: self._look(snapshot, spec, planner, plan_id, router, abandoned),
                lambda plan: plan.texts,
            )
        finally:
            abandoned.set()
        plan = found.answer
        if not found.partial and not found.stale:
            plan = replace(plan, basis=await self._basis(found.snapshot, router))
        return PlanningResult(plan=plan, behind=found.partial or "", stale=found.stale)

    async def _basis(self, snapshot: Snapshot, router: Router | None) -> Basis:
        indexes = await asyncio.to_thread(self._planners.indexes)
        return Basis(epoch=snapshot.epoch, contexts=router, indexes=indexes)

    async def _router(self) -> Router | None:
        try:
            return (await self._contexts.now())[1].router
        except IndexNotReady:
            return None

    def _look(
        self,
        snapshot: Snapshot,
        spec: RefactorSpec,
        planner: Planner,
        plan_id: str,
        router: Router | None,
        abandoned: threading.Event,
    ) -> Plan:
        world = _CancellableWorld(snapshot, self._knowledge, abandoned)
        draft = planner(world, self._knowledge.store, time.monotonic() + PLANNING_SEC)
        unseen = (*unparsed_uses(world, self._knowledge.store, draft), *missing_configs(world, draft))
        draft = replace(draft, dangers=(*draft.dangers, *unseen))
        draft = _within(draft, spec.contexts, router)
        edits = _all(draft)
        if len(edits) > _MAX_EDITS:
            raise InvalidArgument(f"{len(edits)} edits are more than a plan may have", details={"limit": _MAX_EDITS})
        paths = {*(edit.path for edit in edits), *(move.path for move in draft.moves), *draft.removes}
        homes = {router.home_of(path).id for path in paths} if router is not None else set()
        texts, modes = texts_of(world, sorted(paths | _evidence_files(draft)))
        return Plan(
            plan_id=plan_id,
            spec=spec,
            draft=draft,
            texts=texts,
            modes=modes,
            epoch=snapshot.epoch,
            commit=snapshot.commit,
            contexts=tuple(sorted(homes - {"none"})),
            conflicts=find_conflicts(world, router, _imports(edits)) if router is not None else (),
            expires_ns=self._clock.now_ns() + int(self._config.plan_minutes * 60 * SECOND_NS),
            config=self._config,
        )


class _CancellableWorld(World):
    """Cancels planning when no caller is waiting for the result."""

    def __init__(self, snapshot: Snapshot, knowledge: Knowledge, abandoned: threading.Event) -> None:
        super().__init__(snapshot, knowledge.store, knowledge.modules)
        self._abandoned = abandoned
        self._reads_left = 0

    def facts(self, path: str) -> Facts | None:
        self._reads_left -= 1
        found = self._facts.get(path)
        if found is None or self._reads_left < 0:
            self._check_cancelled()
            return super().facts(path)
        return found

    def text(self, path: str) -> bytes:
        self._reads_left -= 1
        found = self._texts.get(path)
        if found is None or self._reads_left < 0:
            self._check_cancelled()
            return super().text(path)
        return found

    def _check_cancelled(self) -> None:
        self._reads_left = _READS
        if self._abandoned.is_set():
            raise Cancelled("nobody waits for this plan any more")


def _all(draft: Draft) -> list[Edit]:
    return [*draft.edits, *(edit for candidate in draft.candidates for edit in candidate.edits)]


def _imports(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    return sort_edits(edit for edit in edits if edit.role == "IMPORT")


def _evidence_files(draft: Draft) -> set[str]:
    """Return the files whose lines are evidence."""
    named = [fact.path for fact in draft.facts] + [path for capsule in draft.capsules for path, _ in capsule.places]
    named += [danger.path for danger in draft.dangers[:_MAX_EVIDENCE] if danger.path is not None]
    return set(named[:_MAX_EVIDENCE])


def _within(draft: Draft, contexts: Sequence[str], router: Router | None) -> Draft:
    """Keep the edits in files of these contexts; a danger counts the others."""
    if not contexts:
        return draft
    if router is None:
        raise InvalidArgument("contexts are not known yet", hint="call again in a moment, or leave contexts out")

    def inside(edit: Edit) -> bool:
        return router.home_of(edit.path).id in contexts

    left_out = sum(not inside(edit) for edit in _all(draft))
    danger = Danger(kind="other_contexts", what=f"{left_out} edits lie outside {', '.join(contexts)}", count=left_out)
    return replace(
        draft,
        edits=tuple(filter(inside, draft.edits)),
        candidates=tuple(
            replace(candidate, edits=tuple(filter(inside, candidate.edits))) for candidate in draft.candidates
        ),
        dangers=(*draft.dangers, *([danger] if left_out else [])),
    )
