"""The ledger: its operations, retention, and what is recorded when records were lost."""

from codeplane.kernel.call import Call
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, StorageFailed
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.ledger.operations import FollowOperations, LedgerOperations
from codeplane.ledger.retention import Retention
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep


class LedgerWiring(PlaneWiring):
    """Lets callers read the log, and forgets what is old."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation = self.foundation
        self._logger = foundation.logs.logger("codeplane")
        self.retention = Retention(log=foundation.log, config=foundation.config.retention, clock=foundation.clock)

    def part(self, conveyor: Conveyor) -> Part:
        foundation = self.foundation
        config, scope_of = foundation.config, conveyor.ports.authority.event_scope
        return Part(
            operations=(
                FollowOperations(foundation.log, foundation.streams, scope_of),
                LedgerOperations(
                    log=foundation.log,
                    retention=self.retention,
                    cursors=foundation.cursors,
                    exports=foundation.workspace.exports,
                    segment_bytes=config.ledger.export_segment_bytes,
                    streams=foundation.streams,
                    scope_of=scope_of,
                ),
            ),
            status={"ledger": self._state},
            problems=self._problems,
            start=self._start,
            sweeps=(
                Sweep(run=self._record_loss),
                Sweep(run=self._retain, every_sec=config.retention.every_sec, at_start=False),
            ),
        )

    def _start(self) -> None:
        if rebuilt := self.foundation.log.rebuilt:
            self._logger.warning("tables rebuilt from the log", tables=rebuilt)

    def _problems(self) -> list[str]:
        misplaced = self.foundation.log.file.problem()
        return self.foundation.health.problems() + ([f"{StorageFailed.name}: {misplaced}"] if misplaced else [])

    def _state(self, call: Call) -> JsonObject:
        log = self.foundation.log
        state: JsonObject = {
            "position": log.position,
            "waiting": log.waiting,
            "commits": log.counters.commits,
            "lost": log.counters.lost,
        }
        return {**state, "problem": problem} if (problem := log.file.problem()) else state

    async def _retain(self) -> None:
        self._logger.info("retention ran", **await self.retention.apply())

    async def _record_loss(self) -> None:
        """Record how many records the log could not take; only trying shows whether it can be written again."""
        health = self.foundation.health
        if not (lost := health.lost):
            return
        payload: JsonObject = {"lost_records": lost}
        try:
            await self.foundation.log.append([Draft(stream="system", type="storage.recovered", payload=payload)])
        except CodePlaneError:
            return
        health.recorded(lost)
        self._logger.warning("the ledger can be written again", **payload)
