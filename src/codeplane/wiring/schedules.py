"""Schedules: their wake-ups and operations."""

from collections.abc import Callable
from dataclasses import dataclass

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject
from codeplane.wiring.foundation import Foundation
from codeplane.work.schedules.operations import ScheduleOperations
from codeplane.work.schedules.runs import ScheduleRuns
from codeplane.work.schedules.scheduler import Scheduler
from codeplane.work.schedules.store import ScheduleStore
from codeplane.work.schedules.wakeups import Wakeups
from codeplane.work.threads.operations import ThreadAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedules:
    """The parts of schedules."""

    foundation: Foundation
    store: ScheduleStore
    wakeups: Wakeups
    scheduler: Scheduler
    end_reason: Callable[[Actor], str | None]

    @classmethod
    def of(cls, foundation: Foundation, runs: ScheduleRuns, end_reason: Callable[[Actor], str | None]) -> "Schedules":
        """Build the wake-ups, which begin once they are started."""
        store, logger = ScheduleStore(foundation.log), foundation.logs.logger("schedules")
        wakeups = Wakeups(store=store, runs=runs, clock=foundation.clock, config=foundation.config.schedules)
        scheduler = Scheduler(
            log=foundation.log,
            store=store,
            wakeups=wakeups,
            clock=foundation.clock,
            end_reason=end_reason,
            node=foundation.log.node,
            on_crash=lambda error: logger.error("a schedule could not go on", exc_info=error),
        )
        return cls(foundation=foundation, store=store, wakeups=wakeups, scheduler=scheduler, end_reason=end_reason)

    @property
    def keep_server_up(self) -> bool:
        """Whether a server in the background has to stay for them."""
        return self.foundation.config.schedules.keep_server_up and self.scheduler.enabled > 0

    def operations(self, access: ThreadAccess) -> ScheduleOperations:
        """The operations on schedules."""
        foundation = self.foundation
        return ScheduleOperations(
            store=self.store,
            wakeups=self.wakeups,
            access=access,
            log=foundation.log,
            clock=foundation.clock,
            cursors=foundation.cursors,
            # Goals leave for models, perhaps on other machines.
            redactor=foundation.outward,
            config=foundation.config.schedules,
            end_reason=self.end_reason,
            has_read_untrusted=lambda call: foundation.untrusted.mark_of_call(call) is not None,
        )

    async def state(self, call: Call) -> JsonObject:
        """How many there are, when the next one is due, and whether they keep a server up, for `status`."""
        state = await self.scheduler.state()
        keeps_up = self.foundation.config.schedules.keep_server_up and bool(state["enabled"])
        return {**state, "keeps_server_up": keeps_up}
