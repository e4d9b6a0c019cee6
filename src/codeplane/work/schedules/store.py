"""Reads schedules and wake-ups, and appends their events: each expects the heads that it was decided by."""

from collections.abc import Sequence

from codeplane.kernel.errors import ScheduleNotFound
from codeplane.kernel.event import Draft
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_stored_id
from codeplane.ledger.rows import Cell
from codeplane.work.schedules.events import schedule_stream, wakeup_stream
from codeplane.work.schedules.schedule import (
    SELECT_SCHEDULES,
    WAKEUP_COLUMNS,
    Schedule,
    Wakeup,
    schedule_from_row,
    wakeup_from_row,
)

# How many of one name an error names.
_NAMED = 5


class ScheduleStore:
    """The schedules of one log."""

    def __init__(self, log: Ledger) -> None:
        self._log = log

    async def get(self, schedule_id: str, creator: str | None = None) -> Schedule:
        """A schedule by its id, its name (among those of the creator), or a beginning or end that only its id has."""
        found = await self.select("schedule_id = ?", (schedule_id,))
        if not found:
            found = await self.select("name = ?1 AND (?2 IS NULL OR created_by = ?2)", (schedule_id, creator))
            if len(found) > 1:
                ids = ", ".join(schedule.schedule_id for schedule in found[:_NAMED])
                raise ScheduleNotFound(f"{len(found)} schedules are named {schedule_id!r}: {ids}", hint="send its id")
        if not found:
            whole_id = await match_stored_id(
                self._log, "schedules.schedule_id", schedule_id, "schedule", ScheduleNotFound
            )
            found = await self.select("schedule_id = ?", (whole_id,))
        return found[0]

    async def select(self, where: str, values: Sequence[Cell]) -> list[Schedule]:
        """The schedules that meet an SQL condition."""
        return [schedule_from_row(row) for row in await self._log.select(f"{SELECT_SCHEDULES} WHERE {where}", values)]

    async def count(self) -> int:
        """How many schedules there are."""
        ((count,),) = await self._log.select("SELECT count(*) FROM schedules")
        return int(str(count))

    async def wakeup(self, wakeup_id: str) -> Wakeup | None:
        """A wake-up by its whole id."""
        found = await self.wakeups("wakeup_id = ?", (wakeup_id,))
        return found[0] if found else None

    async def wakeups(self, where: str, values: Sequence[Cell]) -> list[Wakeup]:
        """The wake-ups that meet an SQL condition."""
        rows = await self._log.select(f"SELECT {WAKEUP_COLUMNS} FROM wakeups WHERE {where}", values)
        return [wakeup_from_row(row) for row in rows]

    async def append(self, schedules: Sequence[Schedule], drafts: Sequence[Draft]) -> None:
        """Append events of these schedules; SequenceConflict when something happened to one of them meanwhile."""
        expect: dict[str, int] = {}
        for schedule in schedules:
            expect[schedule_stream(schedule.schedule_id)] = schedule.sequence
            expect[wakeup_stream(schedule.schedule_id)] = schedule.wakeup_sequence
        await self._log.append(drafts, expect=expect)
