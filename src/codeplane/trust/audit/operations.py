"""The operations on the audit: listing and exporting it."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import ApprovalNotFound, StorageReadOnly
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonValue, canonical, dumps
from codeplane.kernel.operation import Budget, Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger, ScopeOf
from codeplane.kernel.short_ids import match_stored_id
from codeplane.trust.audit.entry import AuditEntry, AuditExport, AuditFilter, AuditPage, AuditRequest, entry_from_row
from codeplane.trust.audit.table import COLUMNS

_EXPORT_PAGE = 2000
_OUTCOMES = 60
F = TypeVar("F", bound=AuditFilter)


class AuditOperations:
    """Lists and exports the audit."""

    def __init__(self, *, log: Ledger, cursors: Cursors, exports: Path, scope_of: ScopeOf) -> None:
        """`scope_of` gives the part of the log that a caller may read."""
        self._log = log
        self._scope_of = scope_of
        self._cursors = cursors
        self._exports = exports

    @operation("audit.list", risk=Risk.READ)
    async def list(self, call: Call, request: AuditRequest) -> AuditPage:
        """Who changed what, was refused, approved or granted something, newest first; agents see their own, and
        by `actor` those of work they started.

        Filter by actor, operation, event type, outcome, action, time or text.
        """
        request = await self._limit_to_caller(call, request)
        asked: JsonValue = request.model_dump(mode="json", exclude={"cursor", "limit"})
        scope = f"audit.list:{call.task.session_id if call.task else ''}:{digest(canonical(asked))}"
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        await self._log.flush()
        where, values = (await self._complete_ids(request)).where()
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM audit WHERE position < ? AND {where} ORDER BY position DESC LIMIT ?",
            (before, *values, request.limit + 1),
        )
        page, following = rows[: request.limit], None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": int(str(page[-1][0]))})
        outcomes = await self._outcomes() if request.outcome and not page else ()
        return AuditPage(
            results=tuple(map(entry_from_row, page)), pagination=Pagination(next_cursor=following), outcomes=outcomes
        )

    async def _outcomes(self) -> tuple[str, ...]:
        rows = await self._log.select("SELECT DISTINCT outcome FROM audit ORDER BY outcome LIMIT ?", (_OUTCOMES,))
        return tuple(str(outcome) for (outcome,) in rows)

    @operation("audit.export", risk=Risk.WRITE, budget=Budget.MUTATION, timeout_sec=600)
    async def export(self, call: Call, request: AuditFilter) -> AuditExport:
        """Write entries of the audit as JSON lines, oldest first, into a file of its own under .codeplane/exports."""
        await self._log.flush()
        where, values = (await self._complete_ids(await self._limit_to_caller(call, request))).where()
        ((last,),) = await self._log.select("SELECT coalesce(max(position), 0) FROM audit")
        until, after, entries, size = int(str(last)), 0, 0, 0
        target = self._exports / call.call_id / "audit.jsonl"
        partial = target.with_suffix(".part")
        while True:
            rows = await self._log.select(
                f"""SELECT {COLUMNS} FROM audit WHERE position > ? AND position <= ? AND {where}
                    ORDER BY position LIMIT ?""",
                (after, until, *values, _EXPORT_PAGE),
            )
            size += await asyncio.to_thread(_append_entries, partial, [entry_from_row(row) for row in rows])
            entries += len(rows)
            if len(rows) < _EXPORT_PAGE:
                break
            after = int(str(rows[-1][0]))
            await call.progress(after, until, f"{plural(entries, 'entry')} written")
        await asyncio.to_thread(partial.replace, target)
        return AuditExport(file=str(target), entries=entries, bytes=size, through_position=until)

    async def _limit_to_caller(self, call: Call, request: F) -> F:
        """The filter, bounded to what the caller, or work that it started, did where it may not read more."""
        scope = self._scope_of(call)
        if scope is None or (request.actor and await self._log.own_actors((request.actor,), scope)):
            return request
        return request.model_copy(update={"actor": scope.actor})

    async def _complete_ids(self, wanted: AuditFilter) -> AuditFilter:
        """The filter with a shortened action id completed."""
        prefix = wanted.action_id
        if prefix is None or prefix.endswith("*"):
            return wanted
        action_id = await match_stored_id(self._log, "audit.action_id", prefix, "action", ApprovalNotFound)
        return wanted.model_copy(update={"action_id": action_id})


def _append_entries(path: Path, entries: Sequence[AuditEntry]) -> int:
    """Append the entries to a file that only the owner can read; returns how many bytes were written."""
    lines = b"".join(dumps(entry.model_dump(mode="json", exclude_none=True)).encode() + b"\n" for entry in entries)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageReadOnly(f"{path} cannot be written: {error.strerror}") from error
    return len(lines)
