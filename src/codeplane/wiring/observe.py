"""Observability of a running CodePlane: metrics, traces, the server's state, the catalogue."""

import asyncio

from codeplane.adapters.allocator import HeapTrim
from codeplane.kernel.actor import Actor
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.json import JsonObject
from codeplane.observe.catalogue import CatalogueOperations
from codeplane.observe.gauges import Gauges
from codeplane.observe.ledger_metrics import LedgerMetrics
from codeplane.observe.status import daemon_part, resident_bytes
from codeplane.trust.people import is_person
from codeplane.vectors.text_vectors import TextVectors
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep
from codeplane.wiring.trust import TrustWiring
from codeplane.wiring.work import WorkWiring

_TRIM_SEC = 30.0


class ObserveWiring(PlaneWiring):
    """Reports on the other planes."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation = self.foundation
        self._sessions = house.plane(WorkWiring).sessions
        self._heap = HeapTrim(resident_bytes)
        self.counted = LedgerMetrics(
            log=foundation.log, after=foundation.log.position, pending=house.plane(TrustWiring).approvals.count_pending
        )

    def part(self, conveyor: Conveyor) -> Part:
        foundation = self.foundation
        health, logs, tracing = foundation.health, foundation.logs, foundation.tracing
        gauges = Gauges(
            clock=foundation.clock,
            memory_mb=lambda: resident_bytes() / 1024**2,
            queue=lambda: foundation.log.waiting,
            lag=foundation.streams.lag,
            running=lambda: conveyor.running,
        )

        async def take() -> None:
            gauges.take()

        def start() -> None:
            self._watch(conveyor)
            tracing.start()

        nearest = None
        if foundation.embedder is not None:
            nearest = TextVectors(foundation.workspace.home / "nearest" / "operations", embedder=foundation.embedder)

        async def stop() -> None:
            if nearest is not None:
                nearest.close()

        return Part(
            operations=(CatalogueOperations(foundation.catalogue, nearest), tracing.operations, gauges),
            stop=stop,
            status={
                "daemon": daemon_part(
                    port=lambda: health.port,
                    started_ns=foundation.clock.monotonic_ns(),
                    last_error=lambda: logs.last_error,
                ),
                "config": lambda call: self._settings(call.actor),
            },
            collectors=(foundation.streams, self.counted, *tracing.collectors),
            start=start,
            sweeps=(
                Sweep(run=take),
                Sweep(run=self._count),
                Sweep(run=self._trim_heap, every_sec=_TRIM_SEC, at_start=False),
            ),
        )

    def _watch(self, conveyor: Conveyor) -> None:
        """Connect the gauges to their sources, now that all operations are known."""
        metrics, log, logs, sessions = (
            self.foundation.metrics,
            self.foundation.log,
            self.foundation.logs,
            self._sessions,
        )
        metrics.watch(
            operations=[found.name for found in conveyor.catalogue],
            running=lambda: conveyor.running,
            waiting=lambda: log.waiting,
            position=lambda: log.position,
            sessions=lambda: len(sessions),
            log_dropped=lambda: logs.dropped,
        )
        conveyor.catalogue.listen(lambda _: metrics.name_operations(found.name for found in conveyor.catalogue))
        metrics.read("codeplane_task_budget_used_ratio", "Of the task nearest to a limit.", sessions.budget_used)

    async def _trim_heap(self) -> None:
        await asyncio.to_thread(self._heap.run)

    async def _count(self) -> None:
        await self.counted.advance(self.foundation.log.position)

    def _settings(self, actor: Actor) -> JsonObject:
        loaded = self.foundation.loaded
        changed = loaded.changed.status() if loaded.changed is not None else {}
        if "settings_problem" in changed and not is_person(actor):
            # It quotes the file, which agents do not read.
            changed = {**changed, "settings_problem": "the owner sees what is wrong with: cpl doctor"}
        return {
            "repo_root": str(self.foundation.workspace.root),
            "head": self.foundation.repo.head(),
            "config_sources": list(loaded.given),
            "trust_mode": loaded.config.trust.mode,
            **changed,
        }
