"""`session.replay`: repeats the reads of a recorded session and compares the answers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Literal

from pydantic import Field

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_FINISHED
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventLog, EventQuery, EventScope
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.ports import RepoState

_MAX_CALLS = 200
_READ = 1000
_SHOWN = 120
# Operations about the server and its records, whose answers always differ.
_OF_THE_SERVER = frozenset({"status", "session", "task", "ledger", "operation", "workspace"})

Ask = Callable[[str, Mapping[str, JsonValue], Caller], Awaitable[Outcome]]


class ReplayRequest(Request):
    """The session or task to replay."""

    in_session: str | None = None
    task_id: str | None = None
    limit: int = Field(50, ge=1, le=_MAX_CALLS, description="calls to ask again, oldest first")
    skip: int = Field(0, ge=0, description="so many of the oldest are left out")
    operations: tuple[str, ...] = Field((), max_length=50, description="only these")


class Replayed(Result):
    """One call, as recorded and as repeated."""

    call_id: str
    operation: str
    outcome: Literal["same", "different", "not asked"]
    asked: str = ""
    then: str
    now: str = ""
    why: str = ""


class ReplayResult(Result):
    """Which answers are the same, which differ, and which calls were not repeated."""

    calls: tuple[Replayed, ...]
    same: int
    different: int
    not_asked: int
    left_out: int
    against: str

    def text(self) -> str:
        lines = [
            f"{call.outcome}: {call.operation} {call.asked}"
            + (f" then {call.then}, now {call.now}" if call.outcome == "different" else "")
            + (f" ({call.why})" if call.why else "")
            for call in self.calls
            if call.outcome != "same"
        ]
        end = f"[{self.same} same, {self.different} different, {self.not_asked} not asked; against {self.against}"
        return "\n".join([*lines, end + (f"; {self.left_out} more were left out]" if self.left_out else "]")])


class ReplayOperations:
    """Repeats a session's reads through the conveyor; never anything that writes."""

    def __init__(self, *, log: EventLog, repo: RepoState, ask: Ask, risk_of: Callable[[str], Risk | None]) -> None:
        """`ask` is the conveyor, `risk_of` what an operation may do."""
        self._log = log
        self._repo = repo
        self._ask = ask
        self._risk_of = risk_of

    @operation("session.replay", risk=Risk.READ, timeout_sec=600)
    async def replay(self, call: Call, request: ReplayRequest) -> ReplayResult:
        """Ask the reads of a recorded session again and tell which answers differ now; agents replay their own."""
        if not request.in_session and not request.task_id:
            raise InvalidArgument("say which session or task", hint="task.list names them")
        recorded = await self._load_events(request, call.event_scope())
        if not recorded:
            raise NotFound("nothing is recorded of that session or task", hint="task.list names what there is")
        reads = [event for event in recorded if self._is_read(event, request.operations)]
        chosen = reads[request.skip : request.skip + request.limit]
        calls: list[Replayed] = []
        for index, event in enumerate(chosen):
            await call.progress(index, len(chosen))
            calls.append(await self._repeat(event, call.caller))
        counts = {
            name: sum(replayed.outcome == name for replayed in calls) for name in ("same", "different", "not asked")
        }
        head = self._repo.head()
        return ReplayResult(
            calls=tuple(calls),
            same=counts["same"],
            different=counts["different"],
            not_asked=counts["not asked"],
            left_out=max(0, len(reads) - request.skip - len(chosen)),
            against=f"the present state, at {(head or 'no commit')[:9]}",
        )

    async def _load_events(self, request: ReplayRequest, scope: EventScope | None) -> list[Event]:
        # Reads are recorded without making their caller wait.
        await self._log.flush()
        events: list[Event] = []
        after = 0
        while True:
            page = await self._log.query(
                EventQuery(
                    after=after,
                    limit=_READ,
                    types=(CALL_FINISHED,),
                    task_id=request.task_id,
                    session_id=request.in_session,
                    scope=scope,
                )
            )
            events += page
            if len(page) < _READ:
                return events
            after = page[-1].position

    def _is_read(self, event: Event, wanted: tuple[str, ...]) -> bool:
        name = str(event.payload.get("operation"))
        family = name.partition(".")[0]
        return self._risk_of(name) is Risk.READ and family not in _OF_THE_SERVER and (not wanted or name in wanted)

    async def _repeat(self, event: Event, caller: Caller) -> Replayed:
        payload = event.payload
        name, then = str(payload.get("operation")), str(payload.get("status"))
        arguments = payload.get("arguments")
        replayed = Replayed(
            call_id=str(event.correlation.call_id),
            operation=name,
            outcome="not asked",
            asked=dumps(arguments)[:_SHOWN] if isinstance(arguments, dict) else "",
            then=then,
        )
        if not isinstance(arguments, dict):
            return replayed.model_copy(update={"why": "its arguments were too long to record"})
        if arguments.get("cursor"):
            return replayed.model_copy(update={"why": "it was a later page, and its cursor is gone"})
        # A connection of its own: the repeated call belongs neither to the recorded session nor to the caller's.
        repeated_caller = replace(
            caller, request_id=None, on_progress=None, connection_id=f"replay by {caller.connection_id}"
        )
        outcome = await self._ask(name, arguments, repeated_caller)
        now = "ok" if outcome.error is None else outcome.error.name
        same = now == then and (outcome.result is None or _hash(outcome.result) == _recorded_hash(payload))
        why = "" if same or now != then else "the answer is another one"
        return replayed.model_copy(update={"outcome": "same" if same else "different", "now": now, "why": why})


def _hash(result: Result) -> str:
    lasting = result.stable_bytes()
    return digest(lasting if lasting is not None else result.model_dump_json().encode())


def _recorded_hash(payload: JsonObject) -> str:
    return str(payload.get("answer_hash") or payload.get("result_hash"))
