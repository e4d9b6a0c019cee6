"""An operation ready to be called, and one call of it as its handler sees it."""

import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from pydantic import ValidationError

from codeplane.kernel.actor import Actor, Caller, Progress
from codeplane.kernel.config import ToolIdentity
from codeplane.kernel.errors import CodePlaneError, ResultGone
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.event_log import EventLog, EventScope
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, OperationMark, Preview, Request, Result, Risk
from codeplane.kernel.redaction import MARK
from codeplane.kernel.secret_matcher import Spans, splice

LEFT_OUT = "what looks like a secret is left out of this answer"

ChangeState = Literal["none", "started", "done", "not_done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of a mutation on the repository, without its content."""

    changed_paths: tuple[str, ...] = ()
    files_changed_hash: str = ""
    insertions: int = 0
    deletions: int = 0
    short_diff: tuple[str, ...] = ()
    symbol_changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure without its wording, for fingerprints."""

    kind: str
    trace: str = ""
    failing_tests: tuple[str, ...] = ()
    exit_code: int | None = None

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """The failure an exception stands for."""
        return cls(kind=type(error).__name__, trace="".join(traceback.format_tb(error.__traceback__)))


Handler: TypeAlias = "Callable[[Call, Request], Awaitable[Result] | AsyncIterator[Result]]"
Assess: TypeAlias = "Callable[[Call | None, Request], Assessment]"
Foresee: TypeAlias = "Callable[[Call | None, Request], Iterable[str]]"
PreviewMaker: TypeAlias = "Callable[[Call, Request], Awaitable[Preview]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation ready to be called, with everything derived from its one definition."""

    mark: OperationMark
    summary: str
    description: str
    request: type[Request]
    result: type[Result]
    streaming: bool
    handler: Handler
    assess: "Assess | None"
    preview: "PreviewMaker | None"
    foresee: "Foresee | None" = None
    # Read many times a call, so not looked up each time.
    name: str = field(init=False)
    """The dotted name, as in `git.status`."""
    mutates: bool = field(init=False)
    """Whether a call can change anything, so that its intent is durable before it runs."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.mark.name)
        object.__setattr__(self, "mutates", self.mark.risk is not Risk.READ)

    @property
    def tool(self) -> str:
        """The name as an MCP tool."""
        return self.mark.name.replace(".", "_")

    @property
    def journaled(self) -> bool:
        """Whether all that it changes goes through the edit journal or the record of git's changes, so that those know
        what became of a call that was cut off."""
        return self.mutates and self.mark.capability == "write_files"

    def assessment(self, request: Request, call: "Call | None" = None) -> Assessment:
        """Assess what this call would do; by default the operation's own risk."""
        if self.assess is None:
            return Assessment(risk=self.mark.risk)
        return self.assess(call, request)

    def expected_paths(self, request: Request) -> tuple[str, ...]:
        """The files that this call will touch, as far as that is known before; blocks."""
        if self.foresee is None:
            return ()
        try:
            return tuple(dict.fromkeys(path.rstrip("/") for path in self.foresee(None, request)))
        except CodePlaneError:
            # The run reports what is wrong with it.
            return ()

    def restore_result(self, result_json: str) -> Result:
        """Restore an earlier result; raises ResultGone when its stored form is no longer known."""
        try:
            return self.result.model_validate_json(result_json)
        except ValidationError as error:
            raise ResultGone(f"the result of {self.name} was written by another version") from error


def identity_word(identity: ToolIdentity | None, actor: Actor) -> str:
    """An identity in the words of the protocol; that of who calls where the operation has none."""
    if identity is not None:
        return f"IDENTITY_{identity.upper()}"
    return "IDENTITY_USER" if actor.is_person else "IDENTITY_BOT"


class Task(Protocol):
    """The unit of work a call is counted in."""

    @property
    def task_id(self) -> str: ...

    @property
    def session_id(self) -> str: ...

    @property
    def state(self) -> str: ...


@dataclass(slots=True, kw_only=True)
class Call:
    """The handler's view of its own call."""

    call_id: str
    request_id: str
    operation: Operation
    caller: Caller
    actor: Actor
    task: Task | None
    idempotency_key: str | None
    log: EventLog
    check_path: "Callable[[Call, str], None]"
    find_scope: "Callable[[Call], EventScope | None]"
    request: Request | None = None
    # What was decided about, by the rules and perhaps by a person.
    judged: Assessment | None = None
    action_id: str | None = None
    # What a person approved, for handlers that must not act on anything newer.
    pins: Mapping[str, str] = field(default_factory=dict)
    redact: Callable[[str], str] = str
    # Where bytes hold what the caller may not see, and how much around a part of them has to be known to tell.
    secrets_in: Callable[[bytes], Spans] = lambda _: []
    secrets_margin: Callable[[], int] = int
    warnings: list[str] = field(default_factory=list)
    # Facts about it that are not in the log yet: they are written with what is recorded of it next.
    unrecorded: list[Draft] = field(default_factory=list)
    effects: Effects | None = None
    failure: Failure | None = None
    # How far its change of the repository has come; journaled operations alone keep it.
    change: ChangeState = "none"
    mutation_id: str | None = None
    _correlation: Correlation | None = field(default=None, init=False, repr=False)

    @property
    def correlation(self) -> Correlation:
        """The ids that tie this call's events together."""
        if self._correlation is None:
            self._correlation = self._correlate()
        return self._correlation

    def _correlate(self) -> Correlation:
        task_id, session_id = (self.task.task_id, self.task.session_id) if self.task else (None, None)
        origin = self.caller.origin
        if origin is None:
            return Correlation(call_id=self.call_id, task_id=task_id, session_id=session_id)
        return Correlation(
            call_id=self.call_id,
            task_id=task_id,
            session_id=session_id,
            thread_id=origin.thread_id,
            turn_id=origin.turn_id,
            job_id=origin.job_id,
            work_id=origin.work_id,
        )

    @property
    def identity(self) -> str:
        """The account that the call acts with outside, in the protocol's terms."""
        return identity_word(self.operation.mark.identity, self.actor)

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report the call's progress to the caller."""
        if self.caller.on_progress is not None:
            shown = self.redact(message) if message else message
            await self.caller.on_progress(Progress(done=done, total=total, message=shown))

    def part(self, data: bytes, begin: int, end: int) -> bytes:
        """The bytes from `begin` to `end` without secrets, including those that extend beyond them."""
        shown = splice(data, self.secrets_in(data), MARK.encode(), begin, end)
        if shown != data[begin:end] and LEFT_OUT not in self.warnings:
            self.warnings.append(LEFT_OUT)
        return shown

    def may_write(self, path: str) -> None:
        """Ask for a path that only planning brought up; raises when it is refused."""
        self.check_path(self, path)

    def event_scope(self) -> EventScope | None:
        """The part of the log and its tables that the caller may read; None is all of it."""
        return self.find_scope(self)

    def warn(self, text: str) -> None:
        """Add a warning to the answer, in `meta.warnings`."""
        self.warnings.append(self.redact(text))

    def report_change(self, effects: Effects) -> None:
        """Report what this mutation changed."""
        self.effects = effects

    def change_begins(self) -> None:
        """Report that something may be changed from here on."""
        self.change = "started"

    def change_ended(self, *, done: bool, mutation_id: str | None = None) -> None:
        """Report that the change is complete, or that nothing was changed."""
        self.change = "done" if done else "not_done"
        self.mutation_id = mutation_id if done else None

    def report_failure(self, failure: Failure) -> None:
        """Report a failure (of tests, of a command) in a call that itself succeeds."""
        self.failure = failure

    async def record(self, drafts: Sequence[tuple[str, str, JsonObject]]) -> None:
        """Append (stream, type, payload) facts of this call's own; returns when they are durable."""
        await self.log.append(
            [
                Draft(stream=stream, type=kind, payload=payload, actor=str(self.actor), correlation=self.correlation)
                for stream, kind, payload in drafts
            ]
        )
