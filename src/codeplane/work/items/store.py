"""Reads work items, and appends their transitions: each expects the head that it was decided by."""

import json
from collections.abc import Sequence

from codeplane.kernel.actor import Actor
from codeplane.kernel.errors import WorkNotFound
from codeplane.kernel.event import Correlation, Draft, SealedPayload
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_stored_id
from codeplane.ledger.rows import Cell
from codeplane.work.items.item import COLUMNS, Priority, WorkItem, WorkLimits, item_from_row, work_stream
from codeplane.work.items.table import CREATED

_UNFINISHED = "state IN ('QUEUED', 'RUNNING', 'WAITING')"
_MAX_DUE = 1000
# Items are looked at by so many, since mostly the first few take all places.
CANDIDATES = 50
MAX_DESCENDANTS = 200
_MAX_MESSAGE = 1000


class WorkStore:
    """The work items of one log."""

    def __init__(self, log: Ledger) -> None:
        self._log = log

    async def create(
        self,
        *,
        kind: str,
        title: str,
        parent_id: str | None,
        on_behalf_of: Actor,
        limits: WorkLimits,
        payload_hash: str,
        steps: Sequence[str],
        work_id: str,
        created_by: Actor,
        correlation: Correlation,
        priority: Priority = Priority.JOB,
        copies: Sequence[Draft] = (),
        sealed: Sequence[SealedPayload] = (),
    ) -> WorkItem:
        """Record a new item with its payloads, and beside it what other streams say of it; it is queued when that is
        durable.

        SequenceConflict when there is an item of that id already.
        """
        payload: JsonObject = {
            "kind": kind,
            "title": title,
            "parent_id": parent_id,
            "priority": priority.value,
            "on_behalf_of": on_behalf_of.to_json(),
            "max_steps": limits.max_steps,
            "max_seconds": limits.max_seconds,
            "payload_hash": payload_hash,
            "steps_total": len(steps),
            "operations": list(steps),
        }
        draft = Draft(
            stream=work_stream(work_id), type=CREATED, payload=payload, actor=str(created_by), correlation=correlation
        )
        await self._log.append([draft, *copies], expect={draft.stream: 0}, sealed=sealed)
        return await self.get(work_id)

    async def get(self, work_id: str) -> WorkItem:
        """An item by its id, or a beginning or end that only it has."""
        items = self._lookup("work_id = ?", (work_id,))
        if not items:
            whole_id = await match_stored_id(self._log, "work_items.work_id", work_id, "work item", WorkNotFound)
            items = self._lookup("work_id = ?", (whole_id,))
        return items[0]

    def _lookup(self, where: str, values: Sequence[Cell]) -> list[WorkItem]:
        return [
            item_from_row(row) for row in self._log.lookup(f"SELECT {COLUMNS} FROM work_items WHERE {where}", values)
        ]

    async def delegators(self) -> dict[str, Actor]:
        """Everybody for whom an item that has not ended acts, by how the table has them."""
        rows = await self._log.select(f"SELECT DISTINCT on_behalf_of FROM work_items WHERE {_UNFINISHED}")
        return {str(actor): Actor.from_json(json.loads(str(actor))) for (actor,) in rows}

    async def list_unfinished_for(self, delegator: str) -> list[WorkItem]:
        """The items that act for somebody, as the table has them, and have not ended; oldest first."""
        return await self.select(f"{_UNFINISHED} AND on_behalf_of = ? ORDER BY position LIMIT ?", (delegator, _MAX_DUE))

    async def list_candidates(self, full: Sequence[str], *, skip: int = 0) -> list[WorkItem]:
        """A page of the items that may be able to run now, in their order: none that is queued of a `full` kind."""
        return self._lookup(
            """(state IN ('RUNNING', 'WAITING') OR (state = 'QUEUED' AND kind NOT IN (SELECT value FROM json_each(?))))
               ORDER BY priority, position LIMIT ? OFFSET ?""",
            (dumps([*full]), CANDIDATES, skip),
        )

    async def children(self, work_id: str) -> list[WorkItem]:
        """The items that were started by this one."""
        return await self.select("parent_id = ? ORDER BY position LIMIT ?", (work_id, _MAX_DUE))

    async def descendants(self, work_ids: Sequence[str]) -> list[WorkItem]:
        """What items started, at any depth, oldest first; one more than MAX_DESCENDANTS where there are more."""
        return await self.select(
            """work_id IN (WITH RECURSIVE below(work_id) AS (
                   SELECT w.work_id FROM work_items w WHERE w.parent_id IN (SELECT value FROM json_each(?))
                   UNION SELECT w.work_id FROM below JOIN work_items w ON w.parent_id = below.work_id LIMIT ?)
               SELECT work_id FROM below) ORDER BY position""",
            (dumps([*work_ids]), MAX_DESCENDANTS + 1),
        )

    async def select(self, where: str, values: Sequence[Cell]) -> list[WorkItem]:
        """The items that meet an SQL condition."""
        return [
            item_from_row(row)
            for row in await self._log.select(f"SELECT {COLUMNS} FROM work_items WHERE {where}", values)
        ]

    async def move(
        self, item: WorkItem, kind: str, payload: JsonObject, *, by: str = "system", copies: Sequence[Draft] = ()
    ) -> None:
        """Append a transition with its copies; SequenceConflict when something happened to the item meanwhile."""
        if payload.get("message") is not None:
            payload["message"] = str(payload["message"])[:_MAX_MESSAGE]
        draft = Draft(
            stream=item.stream,
            type=kind,
            payload=payload,
            actor=by,
            correlation=Correlation(work_id=item.work_id),
        )
        await self._log.append([draft, *copies], expect={item.stream: item.sequence})


def new_work_id() -> str:
    """The id of a new item."""
    return new_id("wrk")
