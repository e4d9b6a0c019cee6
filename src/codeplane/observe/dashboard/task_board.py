"""The task operations of the dashboard: `task.board`, `task.show` and `actor.list`."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_FINISHED, CALL_REPLAYED
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import NotFound
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.failure import NOT_FAILED
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.ledger.rows import Cell
from codeplane.observe.dashboard.call_row import summarise_arguments

# The failed rows of `operations`.
_FAILED = (
    f"(status NOT IN ({', '.join(repr(name) for name in sorted(NOT_FAILED))})"
    " OR (status = 'ok' AND failure_class IS NOT NULL))"
)
_COLUMNS = (
    "t.task_id, t.session_id, t.description, t.opened_at, t.closed_at, t.state, t.reason, t.limits_json, t.calls, "
    f"(SELECT count(*) FROM operations o WHERE o.task_id = t.task_id AND {_FAILED}), "
    "t.mutation_count, t.test_run_count, t.position, s.surface, s.client, s.actor"
)
_STEPS = 300
_MAX_SIGNALS = 3
_MAX_SESSIONS = 5000
_PENDING = frozenset({"APPROVAL_PENDING", "CANCELLED"})


class BoardRequest(PageRequest):
    """Which tasks to list, newest first."""

    state: str | None = Field(None, max_length=40, description="as in OPEN or CLOSED_FAILED")
    dashboard: bool = Field(False, description="also the dashboard's own")


class Used(Result):
    """The used part of one limit."""

    what: str
    used: int
    limit: int


class Work(Result):
    """A session's task with its budget."""

    task_id: str
    session_id: str
    description: str
    opened_at: str
    closed_at: str | None
    state: str
    reason: str | None
    calls: int
    failures: int
    used: tuple[Used, ...]
    surface: str | None
    client: str | None
    actor: str | None


class Board(Result):
    """A page of tasks."""

    results: tuple[Work, ...]
    pagination: Pagination = Pagination()

    def text(self) -> str:
        lines = [
            f"{work.task_id} {work.state} {work.actor} {work.calls} calls {work.description}" for work in self.results
        ]
        return ("\n".join(lines) or "no tasks") + self.pagination.line()


class TaskShowRequest(Request):
    """The task to show."""

    task: str = Field(min_length=4, max_length=100, description="its id")


class Step(Result):
    """One call of a task."""

    position: int
    call_id: str
    at: str
    at_ns: int
    operation: str
    said: str = Field(description="what was asked, in a few words")
    status: str
    duration_ms: float | None
    failure: str | None
    mutation_fingerprint: str | None
    failure_fingerprint: str | None


class TaskStory(Result):
    """A task, its calls in order, and what repeats in them."""

    task: Work
    steps: tuple[Step, ...]
    left_out: int
    signals: tuple[str, ...]

    def text(self) -> str:
        lines = [f"{step.at[11:19]} {step.operation} {step.status}" for step in self.steps]
        return "\n".join([f"{self.task.task_id} {self.task.state}", *self.signals, *lines])


class ActorsRequest(PageRequest):
    """A page of actors, the latest first."""


class SeenActor(Result):
    """An actor that opened sessions; the counts are of the retained sessions."""

    actor: str
    clients: tuple[str, ...]
    surfaces: tuple[str, ...]
    sessions: int
    open_sessions: int
    first_at: str
    last_at: str


class ActorList(Result):
    """A page of actors, of the newest sessions."""

    results: tuple[SeenActor, ...]
    of_sessions: int
    pagination: Pagination = Pagination()

    def text(self) -> str:
        lines = [
            f"{actor.actor} {plural(actor.sessions, 'session')}, last {actor.last_at[:19]}" for actor in self.results
        ]
        return ("\n".join(lines) or "nobody has called") + self.pagination.line()


class BoardOperations:
    """Lists tasks and actors."""

    def __init__(self, *, log: Ledger, clock: Clock, cursors: Cursors) -> None:
        self._log = log
        self._clock = clock
        self._cursors = cursors

    @operation("task.board", risk=Risk.READ)
    async def board(self, call: Call, request: BoardRequest) -> Board:
        """Tasks with their clients and what they used of their budgets, the newest first; agents see their own."""
        scope = f"task.board:{request.state}:{request.dashboard}"
        visible, reader = _visibility_condition(call, "s.actor")
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        rows = await self._log.select(
            # The page first, so that failures are counted for its tasks only.
            f"""SELECT {_COLUMNS} FROM
                (SELECT t.* FROM tasks t LEFT JOIN sessions s ON s.session_id = t.session_id
                 WHERE t.position < ? AND t.state = coalesce(?, t.state) AND (? OR coalesce(s.surface, '') != 'web')
                 AND {visible} ORDER BY t.position DESC LIMIT ?) t
                LEFT JOIN sessions s ON s.session_id = t.session_id ORDER BY t.position DESC""",
            (before, request.state, request.dashboard, *reader, request.limit + 1),
        )
        page, following = rows[: request.limit], None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": int(str(page[-1][12]))})
        return Board(results=tuple(map(self._work, page)), pagination=Pagination(next_cursor=following))

    @operation("actor.list", risk=Risk.READ)
    async def actors(self, call: Call, request: ActorsRequest) -> ActorList:
        """Everyone who opened a session lately, by which client and way, the latest first; not this dashboard. Agents
        see themselves and their work."""
        visible, reader = _visibility_condition(call, "actor")
        scope = "actor.list"
        start = int(str(self._cursors.open(request.cursor, scope=scope)["start"])) if request.cursor else 0
        rows = await self._log.select(
            f"""SELECT actor, group_concat(DISTINCT client), group_concat(DISTINCT surface), count(*),
               sum(closed_at IS NULL), min(opened_at), max(opened_at)
               FROM (SELECT * FROM sessions ORDER BY rowid DESC LIMIT ?) WHERE coalesce(surface, '') != 'web'
               AND {visible} GROUP BY actor ORDER BY max(opened_at) DESC LIMIT ? OFFSET ?""",
            (_MAX_SESSIONS, *reader, request.limit + 1, start),
        )
        following = None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"start": start + request.limit})
        actors = tuple(
            SeenActor(
                actor=str(actor),
                clients=tuple(sorted(filter(None, str(clients or "").split(",")))),
                surfaces=tuple(sorted(filter(None, str(surfaces or "").split(",")))),
                sessions=int(str(count)),
                open_sessions=int(str(open_count or 0)),
                first_at=rfc3339(int(str(first))),
                last_at=rfc3339(int(str(last))),
            )
            for actor, clients, surfaces, count, open_count, first, last in rows[: request.limit]
        )
        return ActorList(results=actors, of_sessions=_MAX_SESSIONS, pagination=Pagination(next_cursor=following))

    @operation("task.show", risk=Risk.READ)
    async def show(self, call: Call, request: TaskShowRequest) -> TaskStory:
        """One task: its budget, its calls in order, and what repeats in them, in words; agents see their own."""
        visible, reader = _visibility_condition(call, "s.actor")
        rows = await self._log.select(
            f"""SELECT {_COLUMNS} FROM tasks t LEFT JOIN sessions s ON s.session_id = t.session_id
                WHERE t.task_id = ? AND {visible}""",
            (request.task, *reader),
        )
        if not rows:
            raise NotFound(f"there is no task {request.task[:80]!r}, or not any more", hint="see: cpl call task.list")
        calls = await self._log.select(
            """SELECT op_id, call_id, timestamp, op_type, status, duration_ms, failure_class, mutation_fingerprint,
               failure_fingerprint, repo_before_hash FROM operations WHERE task_id = ? ORDER BY op_id DESC LIMIT ?""",
            (request.task, _STEPS),
        )
        ((total,),) = await self._log.select("SELECT count(*) FROM operations WHERE task_id = ?", (request.task,))
        summaries = await self._summaries(request.task)
        steps = tuple(_step(row, summaries) for row in reversed(calls))
        work = self._work(rows[0])
        return TaskStory(task=work, steps=steps, left_out=int(str(total)) - len(steps), signals=_signals(work, steps))

    async def _summaries(self, task: str) -> dict[str, str]:
        """A summary of each call of a task: its arguments, or what a person was shown."""
        ends = (CALL_FINISHED, CALL_REPLAYED)
        events = await self._log.query(
            EventQuery(task_id=task, types=(*ends, "action.created"), newest=True, limit=2 * _STEPS)
        )
        summaries = {
            event.correlation.call_id: summarise_arguments(event.payload) for event in events if event.type in ends
        }
        previews = {
            event.correlation.call_id: str(event.payload["summary"]) for event in events if event.type not in ends
        }
        return {call_id: words for call_id, words in {**summaries, **previews}.items() if call_id}

    def _work(self, row: Sequence[Cell]) -> Work:
        (task_id, session_id, description, opened, closed, state, reason, limits, calls, failures, mutations, runs,
         _, surface, client, actor) = row  # fmt: skip
        limits_by_name = json.loads(str(limits or "{}"))
        end_ns = int(str(closed)) if closed is not None else self._clock.now_ns()
        amounts = (
            ("mutations", int(str(mutations)), "max_mutations"),
            ("test runs", int(str(runs)), "max_test_runs"),
            ("seconds", max(0, end_ns - int(str(opened))) // SECOND_NS, "max_duration_sec"),
        )
        return Work(
            task_id=str(task_id),
            session_id=str(session_id),
            description=str(description or ""),
            opened_at=rfc3339(int(str(opened))),
            closed_at=None if closed is None else rfc3339(int(str(closed))),
            state=str(state),
            reason=_text(reason),
            calls=int(str(calls)),
            failures=int(str(failures)),
            used=tuple(
                Used(what=what, used=used, limit=int(limits_by_name.get(name) or 0)) for what, used, name in amounts
            ),
            surface=_text(surface),
            client=_text(client),
            actor=_text(actor),
        )


def _visibility_condition(call: Call, column: str) -> tuple[str, tuple[Cell, ...]]:
    """An SQL condition that the caller may see what the actor in a column did, with its values."""
    scope = call.event_scope()
    return ("1", ()) if scope is None else own_actor_condition(column, scope)


def _step(row: Sequence[Cell], summaries: Mapping[str, str]) -> Step:
    position, call_id, at_ns, name, status, duration, failure, mutation_mark, failure_mark, commit = row
    # Only mutations record their start; other calls are recorded when they end.
    started_ns = int(str(at_ns)) - (0 if commit or duration is None else int(float(str(duration)) * SECOND_NS / 1000))
    return Step(
        position=int(str(position)),
        call_id=str(call_id),
        at=rfc3339(started_ns),
        at_ns=started_ns,
        operation=str(name),
        said=summaries.get(str(call_id), ""),
        status=str(status),
        duration_ms=None if duration is None else round(float(str(duration)), 2),
        failure=_text(failure),
        mutation_fingerprint=_text(mutation_mark),
        failure_fingerprint=_text(failure_mark),
    )


def _signals(work: Work, steps: Sequence[Step]) -> tuple[str, ...]:
    """Describe what repeats, and which limits are nearly used up."""
    signals: list[str] = []
    changes = Counter(step.mutation_fingerprint for step in steps if step.mutation_fingerprint)
    failures = Counter(step.failure_fingerprint for step in steps if step.failure_fingerprint)
    for mark, times in changes.most_common(_MAX_SIGNALS):
        if times > 1:
            operation = next(step.operation for step in steps if step.mutation_fingerprint == mark)
            signals.append(
                f"The same change ({operation}) was made {times} times: what it does is undone in between, "
                "or it has no effect."
            )
    for mark, times in failures.most_common(_MAX_SIGNALS):
        repeated = [step for step in steps if step.failure_fingerprint == mark]
        if times > 1 and repeated[0].status not in _PENDING:
            kind = next((step.failure for step in repeated if step.failure), repeated[0].status)
            between = [step for step in steps if repeated[0].position < step.position < repeated[-1].position]
            tried = sum(step.mutation_fingerprint is not None for step in between)
            why = (
                f"{plural(tried, 'change')} in between did not touch its cause"
                if tried
                else "nothing was changed in between"
            )
            signals.append(f"The same failure ({kind} of {repeated[0].operation}) came {times} times: {why}.")
    signals += [
        f"{step.used} of {step.limit} {step.what} are used."
        for step in work.used
        if step.limit and step.used * 5 >= step.limit * 4
    ]
    return tuple(signals)


def _text(value: Cell) -> str | None:
    return None if value is None else str(value)
