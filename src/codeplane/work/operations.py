"""The operations on sessions and tasks."""

from typing import Literal

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.config import TaskLimits
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import PolicyDenied
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Preview, Risk, assesses, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.ledger.rows import Cell
from codeplane.work.limits import describe_limits, raised_limits
from codeplane.work.session_models import (
    CloseRequest,
    ConfigureRequest,
    Counters,
    CreateRequest,
    Fingerprints,
    SessionRequest,
    SessionResult,
    TaskList,
    TaskListRequest,
    TaskRow,
    TaskView,
    TimelineEntry,
)
from codeplane.work.sessions import Session, Sessions
from codeplane.work.task import LiveTask, TaskState

_TIMELINE = 20


_PEOPLE = (ActorKind.OWNER, ActorKind.DEVICE)


_ENDINGS: dict[str, TaskState] = {
    "success": TaskState.CLOSED_SUCCESS,
    "failed": TaskState.CLOSED_FAILED,
    "abandoned": TaskState.CLOSED_INTERRUPTED,
}


class SessionOperations:
    """Creates, configures, closes and describes sessions, and lists tasks."""

    def __init__(self, *, sessions: Sessions, log: Ledger, clock: Clock, cursors: Cursors) -> None:
        self._sessions = sessions
        self._log = log
        self._clock = clock
        self._cursors = cursors

    @operation("session.info", risk=Risk.READ)
    async def info(self, call: Call, request: SessionRequest) -> SessionResult:
        """This session's task: state, limits, counters, fingerprints and latest calls."""
        return await self._view("status", self._session_of(call), call)

    @operation("session.create", risk=Risk.WRITE)
    async def create(self, call: Call, request: CreateRequest) -> SessionResult:
        """Start a new session with its own task for this connection; a person decides on limits above the settings'."""
        limits = self._limits(request)
        session = self._sessions.open(call.caller, call.actor, description=request.description, limits=limits)
        return await self._view("new", session, call)

    @assesses("session.create")
    def assess_create(self, call: Call | None, request: CreateRequest) -> Assessment:
        """A person decides about limits above the settings'."""
        return _assess_raise(
            call, raised_limits(self._limits(request), self._sessions.default_limits), "a new task gets more"
        )

    @previews("session.create")
    async def preview_create(self, request: CreateRequest) -> Preview:
        """The limits beside the settings'."""
        limits, defaults = self._limits(request), self._sessions.default_limits
        about = f": {request.description}" if request.description else ""
        body = [f"its limits: {describe_limits(limits)}", f"the settings: {describe_limits(defaults)}"]
        return Preview(summary=f"Start a session{about}", body="\n".join(body))

    @operation("session.configure", risk=Risk.WRITE)
    async def configure(self, call: Call, request: ConfigureRequest) -> SessionResult:
        """Add to this task's limits, which a person decides, or take from them; with more, a used up task goes on."""
        session = self._controlled_session(call)
        self._sessions.configure(session, request.limits_delta.apply_to(session.task.limits))
        return await self._view("configure", session, call)

    @assesses("session.configure")
    def assess_configure(self, call: Call | None, request: ConfigureRequest) -> Assessment:
        """A person decides about raising a limit; lowering one needs no decision."""
        limits = _task_of(call).limits if call is not None else self._sessions.default_limits
        return _assess_raise(call, raised_limits(request.limits_delta.apply_to(limits), limits), "the task gets more")

    @previews("session.configure")
    async def preview_configure(self, call: Call, request: ConfigureRequest) -> Preview:
        """The limits before and after."""
        task = self._controlled_session(call).task
        after = request.limits_delta.apply_to(task.limits)
        about = [f"the task: {task.description}"] if task.description else []
        body = [*about, f"before: {describe_limits(task.limits)}", f"after: {describe_limits(after)}"]
        more = "; ".join(raised_limits(after, task.limits)) or "less"
        return Preview(summary=f"Limits of {task.task_id}: {more}", body="\n".join(body))

    @operation("session.close", risk=Risk.WRITE)
    async def close(self, call: Call, request: CloseRequest) -> SessionResult:
        """End this session and its task as success, failed or abandoned; the next call opens a new one."""
        session = self._controlled_session(call)
        self._sessions.close(session, _ENDINGS[request.reason], reason=request.reason)
        return await self._view("close", session, call)

    @operation("task.list", risk=Risk.READ)
    async def tasks(self, call: Call, request: TaskListRequest) -> TaskList:
        """Tasks of this repository, newest first; agents see their own and their work's."""
        scope = f"task.list:{call.task.session_id if call.task else ''}:{request.state}"
        visible, reader = "1", tuple[Cell, ...]()
        if (seen := call.event_scope()) is not None:
            visible, reader = own_actor_condition("s.actor", seen)
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        rows = await self._log.select(
            f"""SELECT t.task_id, t.session_id, t.state, t.description, t.opened_at, t.closed_at, t.calls, t.failures,
                t.mutation_count, t.test_run_count, t.reason, t.position
                FROM tasks t LEFT JOIN sessions s ON s.session_id = t.session_id
                WHERE t.position < ? AND t.state = coalesce(?, t.state) AND {visible}
                ORDER BY t.position DESC LIMIT ?""",
            (before, request.state, *reader, request.limit + 1),
        )
        page = rows[: request.limit]
        following = None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": int(str(page[-1][-1]))})
        return TaskList(
            results=tuple(map(_row, page)),
            pagination=Pagination(next_cursor=following),
            only=None if seen is None else seen.actor,
        )

    def _limits(self, request: CreateRequest) -> TaskLimits:
        wanted = {name: value for name, value in request.limits.model_dump().items() if value is not None}
        return TaskLimits(**{**self._sessions.default_limits.model_dump(), **wanted})

    def _controlled_session(self, call: Call) -> Session:
        """The call's session, if the caller may end or configure it: people any, others their own."""
        session = self._session_of(call)
        if call.actor.kind not in _PEOPLE and session.actor != str(call.actor):
            whose = "a person's" if session.actor_kind in _PEOPLE else "another agent's"
            raise PolicyDenied(
                f"session {session.session_id} is {whose}", hint="work in it, and let those who opened it end it"
            )
        return session

    def _session_of(self, call: Call) -> Session:
        return self._sessions.of(_task_of(call))

    async def _view(
        self, action: Literal["status", "new", "close", "configure"], session: Session, call: Call
    ) -> SessionResult:
        """The session; of somebody else's, what counts for the caller: the limits, and its own calls."""
        task, scope = session.task, call.event_scope()
        if scope is not None and session.actor in await self._log.own_actors((session.actor,), scope):
            scope = None
        visible, reader = ("1", tuple[Cell, ...]()) if scope is None else own_actor_condition("actor", scope)
        rows = await self._log.select(
            f"""SELECT timestamp, op_type, success, coalesce(mutation_fingerprint, failure_fingerprint)
               FROM operations WHERE task_id = ? AND status != 'running' AND {visible} ORDER BY op_id DESC LIMIT ?""",
            (task.task_id, *reader, _TIMELINE),
        )
        return SessionResult(
            action=action,
            session_id=session.session_id,
            task=TaskView(
                task_id=task.task_id,
                state=task.state.value,
                description=task.description if scope is None else "",
                limits=task.limits,
                counters=Counters(
                    mutations=task.mutations,
                    test_runs=task.test_runs,
                    elapsed_sec=(self._clock.monotonic_ns() - task.opened_ns) // SECOND_NS,
                ),
                fingerprints=Fingerprints(
                    last_mutation=task.last_mutation if scope is None else None,
                    last_failure=task.last_failure if scope is None else None,
                    repeated_failure_count=task.repeated_failures if scope is None else 0,
                ),
                timeline=tuple(
                    TimelineEntry(
                        timestamp=rfc3339(int(str(at_ns))),
                        op_type=str(kind),
                        success=bool(success),
                        fingerprint=None if mark is None else str(mark),
                    )
                    for at_ns, kind, success, mark in reversed(rows)
                ),
            ),
            only=None if scope is None else scope.actor,
        )

    def state(self, call: Call) -> JsonObject:
        """The session's part of `status`."""
        session = self._session_of(call)
        return {
            "session_id": session.session_id,
            "task_id": session.task.task_id,
            "task_state": session.task.state.value,
            "open_sessions": len(self._sessions),
        }


def _assess_raise(call: Call | None, more: list[str], what: str) -> Assessment:
    """A person may raise limits; anyone else needs a person's approval, in every mode."""
    if not more or (call is not None and call.actor.kind in _PEOPLE):
        return Assessment(risk=Risk.WRITE)
    return Assessment(risk=Risk.HIGH, effects=(f"{what}: {', '.join(more)}",))


def _task_of(call: Call) -> LiveTask:
    task = call.task
    assert isinstance(task, LiveTask)
    return task


def _row(row: tuple[Cell, ...]) -> TaskRow:
    task_id, session_id, state, description, opened, closed, calls, failures, mutations, test_runs, reason, _ = row
    return TaskRow(
        task_id=str(task_id),
        session_id=str(session_id),
        state=str(state),
        description=str(description or ""),
        opened_at=rfc3339(int(str(opened))),
        closed_at=None if closed is None else rfc3339(int(str(closed))),
        calls=int(str(calls)),
        failures=int(str(failures)),
        mutations=int(str(mutations)),
        test_runs=int(str(test_runs)),
        reason=None if reason is None else str(reason),
    )
