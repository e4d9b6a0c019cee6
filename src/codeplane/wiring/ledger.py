"""The ledger: its operations, its retention, and records of lost records."""

from codeplane.kernel.call import Call
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, StorageFailed
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject
from codeplane.ledger.operations import FollowOperations, LedgerOperations
from codeplane.ledger.retention import Retention
from codeplane.ledger.shared_join import share_snapshot
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep


class LedgerWiring(PlaneWiring):
    """Lets callers read the log, and drops old events."""

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
        log = self.foundation.log
        misplaced = log.file.problem()
        found = [f"{StorageFailed.name}: {misplaced}"] if misplaced else []
        return self.foundation.health.problems() + found + ([log.problem] if log.problem else [])

    def _state(self, call: Call) -> JsonObject:
        log = self.foundation.log
        state: JsonObject = {
            "position": log.position,
            "waiting": log.waiting,
            "commits": log.counters.commits,
            "lost": log.counters.lost,
        }
        if log.is_shared:
            state |= {"node": log.node, "shared_offset": log.shared_offset}
        return {**state, "problem": problem} if (problem := log.file.problem() or log.problem) else state

    async def _retain(self) -> None:
        every_sec = self.foundation.config.retention.every_sec
        if self.foundation.log.is_shared and await self.retention.ran_within(every_sec / 2):
            # Another node did it for all.
            return
        self._logger.info("retention ran", **await self.retention.apply())
        await self._share_snapshot()

    async def _share_snapshot(self) -> None:
        """Let new nodes start from here, and forget the batches before."""
        shared, log = self.foundation.shared, self.foundation.log
        if shared is None:
            return
        ((log_id,),) = await log.select("SELECT shared_log FROM log_state")
        offset = await share_snapshot(shared, log.path, log_id=str(log_id))
        if offset is not None:
            self._logger.info("a snapshot was shared", offset=offset)

    async def _record_loss(self) -> None:
        """Record how many records the log could not take; only trying shows whether it can be written again."""
        health = self.foundation.health
        if not (lost := health.lost_records):
            return
        payload: JsonObject = {"lost_records": lost}
        try:
            await self.foundation.log.append([Draft(stream="system", type="storage.recovered", payload=payload)])
        except CodePlaneError:
            return
        health.note_losses(lost)
        self._logger.warning("the ledger can be written again", **payload)
