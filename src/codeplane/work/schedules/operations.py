"""The operations on schedules."""

import asyncio
from collections.abc import Callable

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import SchedulesConfig
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import (
    InvalidArgument,
    Overloaded,
    PolicyDenied,
    ScheduleLimitReached,
    ScheduleNotFound,
    SequenceConflict,
    TooLarge,
)
from codeplane.kernel.event import Correlation
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.ledger.rows import Cell
from codeplane.work.items.item import delegator
from codeplane.work.schedules.events import (
    SCHEDULE_CREATED,
    SCHEDULE_DELETED,
    SCHEDULE_UPDATED,
    schedule_draft,
    schedule_stream,
)
from codeplane.work.schedules.models import (
    MAX_GOAL_BYTES,
    CreateScheduleRequest,
    DeletedSchedule,
    ListSchedulesRequest,
    NextRuns,
    NextRunsRequest,
    ScheduleDetails,
    SchedulePage,
    SchedulePatch,
    ScheduleRequest,
    ScheduleView,
    ShowScheduleRequest,
    StartedRun,
    UpdateScheduleRequest,
    list_runs,
)
from codeplane.work.schedules.schedule import Schedule
from codeplane.work.schedules.store import ScheduleStore
from codeplane.work.schedules.trigger import TriggerKind, parse_trigger
from codeplane.work.schedules.wakeups import Wakeups, thread_facts
from codeplane.work.threads.events import THREAD_CREATED, thread_draft
from codeplane.work.threads.operations import ThreadAccess

_MAX_CONFLICTS = 20
# What says when a schedule is due.
_WHEN = frozenset({"trigger_kind", "trigger_spec", "timezone", "enabled"})


class ScheduleOperations:
    """What clients can do with schedules; people see all of them, others those that they created."""

    def __init__(
        self,
        *,
        store: ScheduleStore,
        wakeups: Wakeups,
        access: ThreadAccess,
        log: Ledger,
        clock: Clock,
        cursors: Cursors,
        redactor: Redactor,
        config: SchedulesConfig,
        end_reason: Callable[[Actor], str | None],
        has_read_untrusted: Callable[[Call], bool],
    ) -> None:
        self._store = store
        self._wakeups = wakeups
        self._access = access
        self._log = log
        self._clock = clock
        self._cursors = cursors
        self._redactor = redactor
        self._config = config
        self._end_reason = end_reason
        self._has_read_untrusted = has_read_untrusted
        self._creating = asyncio.Lock()

    @operation("schedule.create", risk=Risk.WRITE, capability="spawn_agents")
    async def create(self, call: Call, request: CreateScheduleRequest) -> ScheduleDetails:
        """Have something run by the clock, also over restarts: by cron in a time zone, at an interval, or once."""
        self._check_caller(call)
        goal = self._checked_goal(request.goal)
        schedule_id, now_ns = new_id("sch"), self._clock.now_ns()
        next_ns = _first_time(request.trigger_kind, request.trigger_spec, request.timezone, now_ns)
        name = self._redactor.text(request.name)
        thread_id = request.thread_id and await self._checked_thread(call, request.thread_id)
        payload: JsonObject = {
            **request.model_dump(mode="json", exclude={"budget", "idempotency_key"}),
            **request.budget.model_dump(mode="json"),
            "name": name,
            "goal": goal,
            "anchor_ns": now_ns,
            "next_ns": next_ns if request.enabled else None,
            "thread_id": thread_id or new_id("thr"),
            "owns_thread": not thread_id,
            "on_behalf_of": delegator(call).to_json(),
        }
        drafts = [schedule_draft(schedule_id, SCHEDULE_CREATED, payload, actor=str(call.actor), call_id=call.call_id)]
        if not thread_id:
            ids = Correlation(call_id=call.call_id, thread_id=str(payload["thread_id"]))
            drafts.append(thread_draft(THREAD_CREATED, thread_facts(name), actor=str(call.actor), ids=ids))
        async with self._creating:
            if (count := await self._store.count()) >= self._config.max_schedules:
                raise ScheduleLimitReached(
                    f"there are {count} schedules", details={"limit": self._config.max_schedules}
                )
            await self._log.append(drafts, expect={drafts[0].stream: 0})
        return await self._details(await self._store.get(schedule_id), history=0)

    @operation("schedule.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListSchedulesRequest) -> SchedulePage:
        """Schedules with when each is due next; agents see their own."""
        conditions, values = ["position > ?"], list[Cell]([0])
        if (creator := self._access.restriction(call)) is not None:
            conditions.append("created_by = ?")
            values.append(creator)
        if request.enabled is not None:
            conditions.append("enabled = ?")
            values.append(int(request.enabled))
        scope = f"schedule.list:{creator}:{request.enabled}"
        offset = int(str(self._cursors.open(request.cursor, scope=scope)["offset"])) if request.cursor else 0
        found = await self._store.select(
            f"{' AND '.join(conditions)} ORDER BY position LIMIT ? OFFSET ?", (*values, request.limit + 1, offset)
        )
        following = None
        if len(found) > request.limit:
            following = self._cursors.issue(scope=scope, state={"offset": offset + request.limit})
        page = found[: request.limit]
        readable = await self._access.readable(call, [schedule_stream(schedule.schedule_id) for schedule in page])
        shown = [schedule for schedule in page if schedule_stream(schedule.schedule_id) in readable]
        return SchedulePage(
            results=tuple(map(ScheduleView.of, shown)),
            pagination=Pagination(next_cursor=following),
            hidden=len(page) - len(shown),
        )

    @operation("schedule.show", risk=Risk.READ)
    async def show(self, call: Call, request: ShowScheduleRequest) -> ScheduleDetails:
        """A schedule with its next five runs and what became of the last ones, also those missed and skipped."""
        return await self._details(await self._schedule(call, request.schedule_id), history=request.history)

    @operation("schedule.update", risk=Risk.WRITE, capability="spawn_agents")
    async def update(self, call: Call, request: UpdateScheduleRequest) -> ScheduleDetails:
        """Change a schedule: its times, its goal, its policies; enabled=false rests it."""
        self._check_caller(call)
        for _ in range(_MAX_CONFLICTS):
            schedule = await self._schedule(call, request.schedule_id)
            changes = await self._changes(call, schedule, request.patch)
            draft = schedule_draft(
                schedule.schedule_id, SCHEDULE_UPDATED, changes, actor=str(call.actor), call_id=call.call_id
            )
            try:
                await self._store.append([schedule], [draft])
            except SequenceConflict:
                # It woke meanwhile: look again.
                continue
            return await self._details(await self._store.get(schedule.schedule_id), history=0)
        raise Overloaded(f"{request.schedule_id} changes too often")

    @operation("schedule.delete", risk=Risk.WRITE)
    async def delete(self, call: Call, request: ScheduleRequest) -> DeletedSchedule:
        """Delete a schedule; runs that have started go on, and its thread stays."""
        self._check_caller(call)
        schedule = await self._schedule(call, request.schedule_id)
        draft = schedule_draft(
            schedule.schedule_id, SCHEDULE_DELETED, {"name": schedule.name}, actor=str(call.actor), call_id=call.call_id
        )
        await self._log.append([draft])
        return DeletedSchedule(schedule_id=schedule.schedule_id)

    @operation("schedule.run", risk=Risk.WRITE, capability="spawn_agents")
    async def run(self, call: Call, request: ScheduleRequest) -> StartedRun:
        """Run a schedule now, besides its times, also one that is disabled."""
        self._check_caller(call)
        schedule = await self._schedule(call, request.schedule_id)
        self._check_creator(schedule)
        wakeup, run = await self._wakeups.run_now(schedule.schedule_id, by=str(call.actor))
        return StartedRun(
            schedule_id=schedule.schedule_id,
            wakeup_event_id=wakeup.wakeup_id,
            job_id=run.job_id,
            turn_id=run.turn_id,
        )

    @operation("schedule.next", risk=Risk.READ)
    async def next(self, call: Call, request: NextRunsRequest) -> NextRuns:
        """The next times of a schedule, or of a trigger that is only thought of, in UTC."""
        if request.schedule_id:
            schedule = await self._schedule(call, request.schedule_id)
            runs = list_runs(schedule.trigger, schedule.next_ns, request.count) if schedule.enabled else ()
            return NextRuns(timezone=schedule.timezone, runs=runs)
        if request.trigger_kind is None or not request.trigger_spec:
            raise InvalidArgument("neither a schedule nor a trigger is named", hint="send schedule_id, or trigger_spec")
        now_ns = self._clock.now_ns()
        trigger = parse_trigger(request.trigger_kind, request.trigger_spec, request.timezone, anchor_ns=now_ns)
        return NextRuns(timezone=request.timezone, runs=list_runs(trigger, trigger.next_after(now_ns), request.count))

    async def _schedule(self, call: Call, schedule_id: str) -> Schedule:
        """A schedule that the caller may see; ScheduleNotFound for those of others, the same whether there are any."""
        creator = self._access.restriction(call)
        try:
            schedule = await self._store.get(schedule_id, creator)
        except ScheduleNotFound:
            if creator is None:
                raise
            # Not as it was raised: that names the schedules of others whose ids are similar.
            raise ScheduleNotFound(f"there is no schedule {schedule_id!r}") from None
        stream = schedule_stream(schedule.schedule_id)
        # By its whole id: the caller may have named it by a part, which no rule about it would recognise.
        if creator in (None, schedule.created_by) and stream in await self._access.readable(call, [stream]):
            return schedule
        raise ScheduleNotFound(f"there is no schedule {schedule_id!r}")

    async def _details(self, schedule: Schedule, *, history: int) -> ScheduleDetails:
        wakeups = await self._store.wakeups(
            "schedule_id = ? ORDER BY sequence DESC LIMIT ?", (schedule.schedule_id, history)
        )
        return ScheduleDetails.with_history(schedule, wakeups)

    async def _changes(self, call: Call, schedule: Schedule, patch: SchedulePatch) -> JsonObject:
        """What a patch changes, as its event has it."""
        given: JsonObject = patch.model_dump(mode="json", exclude_none=True, exclude={"budget"})
        if patch.budget is not None:
            given |= patch.budget.model_dump(mode="json")
        if not given:
            raise InvalidArgument("the patch changes nothing", hint="name what is to change, as in patch.enabled")
        if patch.name is not None:
            given["name"] = self._redactor.text(patch.name)
        if patch.goal is not None:
            given["goal"] = self._checked_goal(patch.goal)
        if patch.thread_id is not None:
            given |= {"thread_id": await self._checked_thread(call, patch.thread_id), "owns_thread": False}
        if _WHEN & given.keys():
            given |= self._times(schedule, patch)
        return given

    def _times(self, schedule: Schedule, patch: SchedulePatch) -> JsonObject:
        """When a changed schedule is due next; its interval is counted from now."""
        if not (schedule.enabled if patch.enabled is None else patch.enabled):
            # Read all the same, so that a mistake is found now.
            self._trigger_parts(schedule, patch)
            return {"next_ns": None}
        self._check_creator(schedule)
        now_ns = self._clock.now_ns()
        return {"anchor_ns": now_ns, "next_ns": _first_time(*self._trigger_parts(schedule, patch), now_ns)}

    @staticmethod
    def _trigger_parts(schedule: Schedule, patch: SchedulePatch) -> tuple[TriggerKind, str, str]:
        kind = patch.trigger_kind or schedule.trigger_kind
        spec, timezone = patch.trigger_spec or schedule.trigger_spec, patch.timezone or schedule.timezone
        parse_trigger(kind, spec, timezone, anchor_ns=0)
        return kind, spec, timezone

    def _check_creator(self, schedule: Schedule) -> None:
        if (reason := self._end_reason(schedule.on_behalf_of)) is not None:
            raise PolicyDenied(
                f"{schedule.on_behalf_of}, for whom it runs, {reason}",
                hint="create the schedule again for somebody else, or let it have a token again",
            )

    def _checked_goal(self, goal: str) -> str:
        if (size := len(goal.encode("utf-8", "surrogatepass"))) > MAX_GOAL_BYTES:
            raise TooLarge(f"the goal has {size} bytes", details={"limit": MAX_GOAL_BYTES})
        return self._redactor.text(goal)

    async def _checked_thread(self, call: Call, thread_id: str) -> str:
        thread = await self._access.thread(call, thread_id)
        if thread.archived:
            raise InvalidArgument(
                f"{thread.thread_id} is archived", hint="take it out first: thread_archive archived=false"
            )
        return thread.thread_id

    def _check_caller(self, call: Call) -> None:
        """Refuse work, which only proposes, and callers that have read untrusted content.

        A goal outlives who wrote it: what a page says would go on by the clock, without the mark of its reader.
        """
        origin = call.caller.origin
        if origin is not None and origin.work_id is not None:
            raise PolicyDenied(
                "turns, jobs and other work only propose changes of schedules",
                hint=f"propose it: proposal_create kind=runtime operation={call.operation.name}",
            )
        if self._has_read_untrusted(call):
            raise PolicyDenied(
                "untrusted content was read, and a schedule would go on by it",
                hint="let a person make the schedule: cpl schedules create",
            )


def _first_time(kind: TriggerKind, spec: str, timezone: str, now_ns: int) -> int:
    """The first time of a trigger after now; InvalidArgument when there is none."""
    next_ns = parse_trigger(kind, spec, timezone, anchor_ns=now_ns).next_after(now_ns)
    if next_ns is None:
        reason = "is in the past" if kind is TriggerKind.AT else "never comes"
        raise InvalidArgument(f"{spec!r} {reason}", hint="schedule_next shows the times of a trigger")
    return next_ns
