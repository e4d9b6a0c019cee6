"""Reads jobs: each is a row of its own beside that of its work item."""

from collections.abc import Sequence

from codeplane.kernel.errors import JobNotFound
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_stored_id
from codeplane.ledger.rows import Cell
from codeplane.work.jobs.job import SELECT, Job, job_from_row


class JobStore:
    """The jobs of one log."""

    def __init__(self, log: Ledger) -> None:
        self._log = log

    async def get(self, job_id: str, *, whole: bool = False) -> Job:
        """A job by its id, or a beginning or end that only it has; `whole` takes only whole ids."""
        found = await self.select("j.job_id = ?", (job_id,))
        if found:
            return found[0]
        if whole:
            raise JobNotFound(f"there is no job {job_id!r}")
        whole_id = await match_stored_id(self._log, "jobs.job_id", job_id, "job", JobNotFound)
        return (await self.select("j.job_id = ?", (whole_id,)))[0]

    async def select(self, where: str, values: Sequence[Cell]) -> list[Job]:
        """The jobs that meet an SQL condition on `jobs j` and `work_items w`."""
        return [job_from_row(row) for row in await self._log.select(f"{SELECT} WHERE {where}", values)]
