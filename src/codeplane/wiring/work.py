"""Sessions and tasks."""

from codeplane.kernel.conveyor import Conveyor
from codeplane.wiring.part import House, Part, PlaneWiring, Sweep
from codeplane.work.operations import SessionOperations
from codeplane.work.replay import ReplayOperations
from codeplane.work.sessions import Sessions
from codeplane.work.tables import OperationTable, SessionTable, TaskTable

_SWEEP_SEC = 15.0


class WorkWiring(PlaneWiring):
    """Counts what callers do against the limits of their tasks."""

    tables = (SessionTable, TaskTable, OperationTable)

    def __init__(self, house: House) -> None:
        super().__init__(house)
        foundation, config = self.foundation, self.foundation.config
        self.sessions = Sessions(
            log=foundation.log,
            repo=foundation.repo,
            clock=foundation.clock,
            config=config.sessions,
            limits=config.limits,
            observer=foundation.metrics,
        )

    def part(self, conveyor: Conveyor) -> Part:
        foundation = self.foundation
        operations = SessionOperations(
            sessions=self.sessions, log=foundation.log, clock=foundation.clock, cursors=foundation.cursors
        )
        replay = ReplayOperations(
            log=foundation.log, repo=foundation.repo, ask=conveyor.call, risk_of=foundation.catalogue.risk_of
        )
        return Part(
            operations=(operations, replay),
            status={"session": operations.state},
            sweeps=(Sweep(run=self._sweep, every_sec=_SWEEP_SEC),),
            stop=self._stop,
        )

    async def _sweep(self) -> None:
        self.sessions.sweep()

    async def _stop(self) -> None:
        self.sessions.close_all("shutdown")
