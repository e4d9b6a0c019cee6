"""Sessions: one client connection's context each, carrying an implicit task."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Task
from codeplane.kernel.call_record import task_stream
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import SessionConfig, TaskLimits
from codeplane.kernel.errors import Overloaded, SessionClosed, SessionNotFound, TaskBudgetExceeded
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Budget
from codeplane.kernel.ports import CallReport, Convergence, RepoState, TaskObserver
from codeplane.work.limits import limits_to_json, raised_limits
from codeplane.work.task import LiveTask, TaskState

_MAX_CLOSED = 10_000


@dataclass(slots=True, kw_only=True)
class Session:
    """An open session."""

    session_id: str
    owner_id: str
    actor: str
    actor_kind: ActorKind
    surface: str
    client: str | None
    connection_id: str
    task: LiveTask
    active_ns: int


class Sessions:
    """Opens, finds and closes sessions, kept in memory and recorded in the log."""

    def __init__(
        self,
        *,
        log: EventLog,
        repo: RepoState,
        clock: Clock,
        config: SessionConfig,
        limits: TaskLimits,
        observer: TaskObserver,
    ) -> None:
        self._log = log
        self._repo = repo
        self._clock = clock
        self._config = config
        self._observer = observer
        self.default_limits = limits
        self._by_id: dict[str, Session] = {}
        # By owner and kind too: a caller that claims another's connection gets a session of its own.
        self._by_connection: dict[tuple[str, str, ActorKind], str] = {}
        self._closed = BoundedCache[str, tuple[str, TaskState]](_MAX_CLOSED)

    def __len__(self) -> int:
        return len(self._by_id)

    def enter(self, caller: Caller, actor: Actor, session_id: str | None) -> LiveTask:
        """The task of the caller's session: the one named, the connection's own, or a new one."""
        if session_id is not None:
            session = self.find(session_id, actor)
        else:
            connection_key = (_connection_id(caller, actor), actor.owner_id, actor.kind)
            session_or_none = self._by_id.get(self._by_connection.get(connection_key, ""))
            if session_or_none is not None and self._is_idle(session_or_none):
                self.close(session_or_none, TaskState.CLOSED_INTERRUPTED, reason="idle")
                session_or_none = None
            session = session_or_none if session_or_none is not None else self.open(caller, actor)
        session.active_ns = self._clock.monotonic_ns()
        return session.task

    def charge(self, task: Task, budget: Budget) -> None:
        """Count a call; a task that has used up its mutations or its time is closed as failed."""
        live = self._live_task(task)
        if budget is not Budget.NONE:
            # The session may have ended while the call waited for its key or for a person.
            self.of(live)
        try:
            live.charge(budget, self._clock.monotonic_ns())
        except TaskBudgetExceeded as error:
            if error.details["budget_type"] != "test_runs" and live.state is TaskState.OPEN:
                failed = TaskState.CLOSED_FAILED
                self._append(live, "task.closed", {"state": failed.value, "reason": "budget", **error.details})
                live.state = failed
                self._observer.task_closed(failed.value)
            raise

    def settle(self, task: Task, report: CallReport) -> Convergence:
        """Record how a call ended."""
        session = self._by_id.get(task.session_id)
        if session is not None:
            session.active_ns = self._clock.monotonic_ns()
        return self._live_task(task).settle(report)

    def find(self, session_id: str, actor: Actor) -> Session:
        """The open session with that id, if it belongs to the actor's owner."""
        session = self._by_id.get(session_id)
        if session is None or session.owner_id != actor.owner_id:
            owner_id, state = self._closed.get(session_id) or (None, None)
            if state is not None and owner_id == actor.owner_id:
                raise SessionClosed(f"session {session_id} is closed ({state.value})")
            raise SessionNotFound(f"there is no session {session_id!r}")
        if self._is_idle(session):
            self.close(session, TaskState.CLOSED_INTERRUPTED, reason="idle")
            raise SessionClosed(f"session {session_id} closed after being idle")
        return session

    def of(self, task: Task) -> Session:
        """The session a task belongs to."""
        session = self._by_id.get(task.session_id)
        if session is None:
            raise SessionClosed(f"session {task.session_id} has just been closed")
        return session

    def open(self, caller: Caller, actor: Actor, *, description: str = "", limits: TaskLimits | None = None) -> Session:
        """Open a session with its task, and make it the connection's own."""
        if len(self._by_id) >= self._config.max_open:
            oldest = min(self._by_id.values(), key=lambda session: session.active_ns)
            self.close(oldest, TaskState.CLOSED_INTERRUPTED, reason="crowded out")
        now = self._clock.monotonic_ns()
        session_id = new_id("sess")
        task = LiveTask(
            task_id=new_id("task"),
            session_id=session_id,
            description=description,
            opened_at_ns=self._clock.now_ns(),
            opened_ns=now,
            limits=limits or self.default_limits,
        )
        connection = _connection_id(caller, actor)
        session = Session(
            session_id=session_id,
            owner_id=actor.owner_id,
            actor=str(actor),
            actor_kind=actor.kind,
            surface=caller.surface,
            client=caller.client,
            connection_id=connection,
            task=task,
            active_ns=now,
        )
        self._append_all(
            [
                self._draft(
                    task,
                    f"session/{session_id}",
                    "session.opened",
                    {"task_id": task.task_id, "surface": caller.surface, "client": caller.client, "actor": str(actor)},
                    actor=str(actor),
                ),
                self._draft(
                    task,
                    task_stream(task.task_id),
                    "task.opened",
                    {
                        "description": description,
                        "limits": limits_to_json(task.limits),
                        "repo_head": self._repo.head(),
                        "index_version": None,
                    },
                    actor=str(actor),
                ),
            ]
        )
        self._observer.task_opened()
        self._by_id[session_id] = session
        self._by_connection[connection, session.owner_id, session.actor_kind] = session_id
        return session

    def close(self, session: Session, state: TaskState, *, reason: str) -> None:
        """Close a session and finalise its task; a task that failed on its budget stays failed."""
        task = session.task
        drafts = [self._draft(task, f"session/{session.session_id}", "session.closed", {"reason": reason})]
        if task.state is TaskState.OPEN:
            payload: JsonObject = {"state": state.value, "reason": reason}
            drafts.append(self._draft(task, task_stream(task.task_id), "task.closed", payload))
        self._append_all(drafts)
        if task.state is TaskState.OPEN:
            task.state = state
            self._observer.task_closed(state.value)
        self._by_id.pop(session.session_id, None)
        connection_key = (session.connection_id, session.owner_id, session.actor_kind)
        if self._by_connection.get(connection_key) == session.session_id:
            del self._by_connection[connection_key]
        self._closed.put(session.session_id, (session.owner_id, task.state))

    def configure(self, session: Session, limits: TaskLimits) -> None:
        """Set a task's limits; a task that failed on its budget is reopened only when a limit is raised."""
        task = session.task
        state = TaskState.OPEN if raised_limits(limits, task.limits) else task.state
        self._append(task, "task.configured", {"limits": limits_to_json(limits), "state": state.value})
        if task.state is not state:
            self._observer.task_opened()
        task.limits, task.state = limits, state

    def disconnect(self, connection_id: str) -> None:
        """Close the sessions of a connection that ended, as interrupted."""
        for session in [session for session in self._by_id.values() if session.connection_id == connection_id]:
            self.close(session, TaskState.CLOSED_INTERRUPTED, reason="disconnect")

    def budget_used(self) -> float:
        """The largest used share of any limit of any open task."""
        now = self._clock.monotonic_ns()
        return max((session.task.used_share(now) for session in self._by_id.values()), default=0.0)

    def sweep(self) -> int:
        """Close the sessions that have been idle too long; returns how many."""
        idle = [session for session in self._by_id.values() if self._is_idle(session)]
        for session in idle:
            self.close(session, TaskState.CLOSED_INTERRUPTED, reason="idle")
        return len(idle)

    def close_all(self, reason: str) -> None:
        """Close every session, as the server ends."""
        for session in list(self._by_id.values()):
            self.close(session, TaskState.CLOSED_INTERRUPTED, reason=reason)

    def _is_idle(self, session: Session) -> bool:
        return self._clock.monotonic_ns() - session.active_ns > self._config.idle_timeout_sec * SECOND_NS

    def _live_task(self, task: Task) -> LiveTask:
        assert isinstance(task, LiveTask)
        return task

    def _append(self, task: LiveTask, kind: str, payload: JsonObject) -> None:
        self._append_all([self._draft(task, task_stream(task.task_id), kind, payload)])

    def _append_all(self, drafts: Iterable[Draft]) -> None:
        if not self._log.append_soon(list(drafts)):
            raise Overloaded("the ledger's queue is full")

    @staticmethod
    def _draft(task: LiveTask, stream: str, kind: str, payload: JsonObject, *, actor: str = "system") -> Draft:
        ids = Correlation(session_id=task.session_id, task_id=task.task_id)
        return Draft(stream=stream, type=kind, payload=payload, correlation=ids, actor=actor)


def _connection_id(caller: Caller, actor: Actor) -> str:
    """The caller's connection; without an id, one for each surface, client and actor."""
    return caller.connection_id or f"{caller.surface}:{caller.client or 'anonymous'}:{actor}"
