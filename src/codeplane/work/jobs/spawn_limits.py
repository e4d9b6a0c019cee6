"""Bounds on jobs that start jobs."""

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from codeplane.kernel.config import JobsConfig
from codeplane.kernel.errors import JobLimitReached
from codeplane.kernel.json import dumps
from codeplane.kernel.ports import Ledger
from codeplane.work.admission import Admission

# A chain is longer than the bound on jobs in it: between them are turns that hear of a job's end.
_MAX_CHAIN = 100


class SpawnLimits:
    """Counts the jobs above and below a work item."""

    def __init__(self, log: Ledger, config: JobsConfig) -> None:
        self._log = log
        self._config = config
        self._admission = Admission()

    def admit(self, parent_id: str | None, job_id: str) -> AbstractContextManager[None]:
        """Hold a place for a job below this item while it is created; JobLimitReached when it would be too deep or one
        too many."""
        if parent_id is None:
            return nullcontext()
        chain = self._log.lookup(
            """WITH RECURSIVE above(work_id, kind, parent_id, depth) AS (
                   SELECT work_id, kind, parent_id, 0 FROM work_items WHERE work_id = ?
                   UNION ALL SELECT w.work_id, w.kind, w.parent_id, depth + 1
                   FROM above JOIN work_items w ON w.work_id = above.parent_id WHERE depth < ?)
               SELECT work_id, kind FROM above ORDER BY depth""",
            (parent_id, _MAX_CHAIN),
        )
        depth = sum(kind == "job" for _, kind in chain)
        if depth >= self._config.max_depth and chain:
            raise JobLimitReached(f"{depth} jobs started each other already", details={"limit": self._config.max_depth})
        root = str(chain[-1][0]) if chain else parent_id
        return self._admission.enter(
            root,
            job_id,
            limit=self._config.max_spawned,
            stored=partial(self._count_below, root),
            refuse=lambda count: JobLimitReached(
                f"{count} jobs were started from {root} already", details={"limit": self._config.max_spawned}
            ),
        )

    def _count_below(self, root: str, but: Collection[str]) -> int:
        ((count,),) = self._log.lookup(
            """WITH RECURSIVE below(work_id, kind) AS (
                   SELECT work_id, kind FROM work_items WHERE parent_id = ?
                   UNION SELECT w.work_id, w.kind FROM below JOIN work_items w ON w.parent_id = below.work_id)
               SELECT count(*) FROM below WHERE kind = 'job' AND work_id NOT IN (SELECT value FROM json_each(?))""",
            (root, dumps([*but])),
        )
        return int(str(count))
