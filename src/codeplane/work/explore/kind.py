"""Explorations as work: each runs once, ends with a summary, and is marked as stopped when its server ends."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import ExploreInterrupted, ResultGone
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.ports import Ledger, Payloads
from codeplane.kernel.redaction import Redactor
from codeplane.work.explore.concurrency import Concurrency, ConcurrencySettings
from codeplane.work.explore.events import COMPLETED as EXPLORE_COMPLETED
from codeplane.work.explore.events import STOPPED, draft
from codeplane.work.explore.exploration import KIND, Exploration
from codeplane.work.explore.explorer import Explorer
from codeplane.work.explore.op_runner import OpRunner
from codeplane.work.explore.planner import Planner
from codeplane.work.explore.resumption import known_results
from codeplane.work.explore.summary import ExploreSummary
from codeplane.work.explore.trace import Trace
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import Door, Transition, WorkRun
from codeplane.work.items.step_list import SURFACE
from codeplane.work.items.table import CANCELLED, COMPLETED, FAILED

_MAX_SUMMARIES = 64
_ARTIFACT = "explore-summary.json"
SHUTDOWN, CRASH_RECOVER, ABORTED = "shutdown", "crash-recover", "aborted"
# Builds what plans one exploration, whose model is asked through the door as the caller.
PlannerOf = Callable[[Exploration, Door, Caller], Planner]


class ExploreKind:
    """Runs explorations."""

    name: ClassVar[str] = KIND

    def __init__(
        self,
        *,
        max_running: int,
        max_seconds: float,
        log: Ledger,
        payloads: Payloads,
        clock: Clock,
        redactor: Redactor,
        settings: ConcurrencySettings,
        planner_of: PlannerOf,
    ) -> None:
        self.max_running = max_running
        self.settings = settings
        self._max_seconds = max_seconds
        self._log = log
        self._payloads = payloads
        self._clock = clock
        self._redactor = redactor
        self._planner_of = planner_of
        # Those of runs whose end is being recorded.
        self._summaries = BoundedCache[str, JsonObject](_MAX_SUMMARIES)

    async def actor(self, item: WorkItem) -> Actor:
        """The item itself."""
        return item.actor

    async def may_start(self, item: WorkItem) -> bool:
        """At any time."""
        return True

    async def run(self, item: WorkItem, run: WorkRun) -> Transition | None:
        """Explore to the end; one that an earlier run left behind is only marked as such."""
        if item.attempt > 1:
            error = ExploreInterrupted(CRASH_RECOVER)
            return Transition(kind=FAILED, payload={"error": error.name, "message": CRASH_RECOVER})
        data = await self._payloads.get(item.work_id, item.payload_hash)
        if data is None:
            raise ResultGone(f"what {item.work_id} was to explore is no longer stored")
        exploration = Exploration.from_bytes(data)
        caller = Caller(
            surface=SURFACE,
            connection_id=item.work_id,
            actor=item.actor,
            origin=item.origin(0, run.node),
            wait_sec=0,
        )
        runner = OpRunner(door=run.door, caller=caller, target=exploration.target, redactor=self._redactor)
        explorer = Explorer(
            work_id=item.work_id,
            actor=str(item.actor),
            exploration=exploration,
            log=self._log,
            clock=self._clock,
            runner=runner,
            planner=self._planner_of(exploration, run.door, caller),
            concurrency=lambda: self.concurrency(item.work_id),
            is_stopping=run.is_stopping,
            max_seconds=self._max_seconds,
        )
        explorer.known = await known_results(self._log, exploration, runner, explorer.facts)
        try:
            summary = await explorer.run(await Trace.load(self._log, item.work_id))
        finally:
            self.settings.forget(item.work_id)
        if summary is None:
            return Transition(kind=CANCELLED, payload={"message": SHUTDOWN})
        whole = await self._store(summary, item, run.door, caller)
        self._summaries.put(item.work_id, whole.model_dump(mode="json"))
        return Transition(kind=COMPLETED, payload={})

    def concurrency(self, work_id: str) -> Concurrency:
        """How much of an exploration runs at once."""
        return self.settings.of(work_id)

    async def copies(self, item: WorkItem, transition: Transition) -> Sequence[Draft]:
        """How the exploration ended, in its own stream and in the same batch."""
        if transition.kind not in (COMPLETED, FAILED, CANCELLED):
            return ()
        actor = str(item.actor)
        if transition.kind == COMPLETED:
            summary = self._summaries.get(item.work_id)
            assert summary is not None
            return [draft(item.work_id, EXPLORE_COMPLETED, summary, actor=actor)]
        reason = str(transition.payload.get("message") or ABORTED)
        value: JsonObject = {"reason": reason, "error": transition.payload.get("error")}
        return [draft(item.work_id, STOPPED, value, actor=actor)]

    async def _store(self, summary: ExploreSummary, item: WorkItem, door: Door, caller: Caller) -> ExploreSummary:
        """Leave the summary as an artifact; without one it is still in the stream, and says so."""
        wanted: JsonObject = {
            "name": _ARTIFACT,
            "description": f"what an exploration of {summary.repo_name} found",
            "text": canonical(summary.model_dump(mode="json")).decode(),
            "media_type": "application/json",
            "idempotency_key": f"{item.work_id}/summary",
        }
        outcome = await asyncio.shield(door.call("artifact.put", wanted, caller))
        if outcome.result is None:
            reason = outcome.error.message if outcome.error is not None else ""
            return summary.model_copy(update={"partial": (*summary.partial, f"it is no artifact: {reason}")})
        return summary.model_copy(update={"artifact_id": outcome.result.model_dump()["artifact_id"]})
