"""The operations on notifications: listing them and marking them as read."""

from typing import Literal

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.ports import Ledger
from codeplane.ledger.rows import Cell
from codeplane.trust.notifications.table import READ, STREAM
from codeplane.trust.people import require_person

NotificationType = Literal[
    "PENDING_APPROVAL_CREATED",
    "APPROVAL_EXPIRING_SOON",
    "JOB_COMPLETED",
    "JOB_FAILED",
    "JOB_PAUSED",
    "PROACTIVE_REACH_OUT",
]
_MAX_IDS = 1000
# A settled question no longer has to be read.
_UNREAD = "r.read_ns IS NULL AND n.settled IS NULL"
_FROM = "FROM notifications n LEFT JOIN notification_reads r ON r.number = n.number AND r.owner_id = ?1"


class NotificationsRequest(PageRequest):
    """Which notifications to list."""

    unread: bool = Field(False, description="only those that were not read yet, and are not decided")
    open: bool = Field(False, description="only those about what is not decided yet")
    type: NotificationType | None = None


class ReadRequest(Request):
    """Which notifications to mark as read."""

    ids: tuple[str, ...] = Field((), max_length=_MAX_IDS, description="notifications, as notification.list names them")
    all: bool = Field(False, description="everything up to now")


class NotificationView(Result):
    """One notification."""

    notification_id: str
    type: str
    resource_kind: str
    resource_id: str | None
    summary: str
    created_at: str
    read_at: str | None = None
    settled: str | None = None

    def text(self) -> str:
        seen = " " if self.read_at or self.settled else "*"
        state = f" ({self.settled})" if self.settled else ""
        return f"{seen} {self.created_at[:19]} {self.type} {self.resource_id or ''} {self.summary}{state}"


class NotificationList(Result):
    """A page of notifications, newest first."""

    results: tuple[NotificationView, ...]
    unread: int
    pagination: Pagination

    def text(self) -> str:
        lines = [f"{self.unread} unread", *(notification.text() for notification in self.results)]
        return "\n".join(lines) + self.pagination.line()


class ReadResult(Result):
    """How many were marked, and how many are left."""

    read: int
    unread: int

    def text(self) -> str:
        return f"{self.read} marked as read, {self.unread} unread"


class NotificationOperations:
    """Lists notifications and marks them as read; one read on a device is read on all."""

    def __init__(self, *, log: Ledger, cursors: Cursors) -> None:
        self._log = log
        self._cursors = cursors

    @operation("notification.list", risk=Risk.READ, people=True)
    async def list(self, call: Call, request: NotificationsRequest) -> NotificationList:
        """What waits for a person, newest first: approvals, jobs that ended or paused; only a person sees it."""
        require_person(call.actor)
        owner = call.actor.owner_id
        scope = f"notification.list:{owner}:{request.unread}:{request.open}:{request.type}"
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        await self._log.flush()
        rows = await self._log.select(
            f"""SELECT n.notification_id, n.type, n.resource_kind, n.resource_id, n.summary, n.created_ns, r.read_ns,
                n.settled, n.number {_FROM} WHERE n.number < ?2 AND (NOT ?3 OR {_UNREAD})
                AND (NOT ?4 OR n.settled IS NULL) AND (?5 IS NULL OR n.type = ?5) ORDER BY n.number DESC LIMIT ?6""",
            (owner, before, request.unread, request.open, request.type, request.limit + 1),
        )
        page, following = rows[: request.limit], None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": int(str(page[-1][-1]))})
        return NotificationList(
            results=tuple(map(_view, page)),
            unread=await self._count_unread(owner),
            pagination=Pagination(next_cursor=following),
        )

    @operation("notification.read", risk=Risk.WRITE, people=True)
    async def read(self, call: Call, request: ReadRequest) -> ReadResult:
        """Mark notifications as read, some by id or all up to now; only a person can."""
        require_person(call.actor)
        if bool(request.ids) == request.all:
            raise InvalidArgument("name either ids or all", hint="all=true marks everything up to now")
        owner = call.actor.owner_id
        await self._log.flush()
        before = await self._count_unread(owner)
        payload: JsonObject = {"owner_id": owner}
        if request.all:
            ((last,),) = await self._log.select("SELECT coalesce(max(position), 0) FROM notifications")
            payload["through"] = int(str(last))
        else:
            await self._check_ids(request.ids)
            payload["ids"] = [*dict.fromkeys(request.ids)]
        await call.record([(STREAM, READ, payload)])
        after = await self._count_unread(owner)
        return ReadResult(read=max(0, before - after), unread=after)

    async def _check_ids(self, ids: tuple[str, ...]) -> None:
        marks = ", ".join("?" * len(ids))
        rows = await self._log.select(
            f"SELECT notification_id FROM notifications WHERE notification_id IN ({marks})", ids
        )
        if missing := sorted(set(ids) - {str(notification_id) for (notification_id,) in rows}):
            raise NotFound(f"there is no notification {missing[0][:100]!r}", hint="list them: notification_list")

    async def _count_unread(self, owner: str) -> int:
        ((count,),) = await self._log.select(f"SELECT count(*) {_FROM} WHERE {_UNREAD}", (owner,))
        return int(str(count))


def _view(row: tuple[Cell, ...]) -> NotificationView:
    notification_id, kind, about, resource, summary, created, read, settled, _ = row
    return NotificationView(
        notification_id=str(notification_id),
        type=str(kind),
        resource_kind=str(about),
        resource_id=None if resource is None else str(resource),
        summary=str(summary),
        created_at=rfc3339(int(str(created))),
        read_at=None if read is None else rfc3339(int(str(read))),
        settled=None if settled is None else str(settled),
    )
