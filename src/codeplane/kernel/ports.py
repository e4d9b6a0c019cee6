"""The protocols by which the conveyor and the operations use other planes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

from codeplane.kernel.actor import Actor, Caller
from codeplane.kernel.call import Call, Effects, Failure, Operation, Task
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import SealedPayload
from codeplane.kernel.event_log import EventLog, EventScope
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Budget, Preview, Result
from codeplane.kernel.streamed_mutation import StreamedMutation


class ProjectionStore(Protocol):
    """The tables that projections keep; always local, whatever carries the log."""

    async def select(
        self, statement: str, parameters: Sequence[str | int | float | bytes | None] = ()
    ) -> list[tuple[str | int | float | bytes | None, ...]]:
        """Rows of the projections' tables."""
        ...

    def lookup(
        self, statement: str, parameters: Sequence[str | int | float | bytes | None] = ()
    ) -> list[tuple[str | int | float | bytes | None, ...]]:
        """A few rows that an index finds, read on the calling thread: the way to another costs more than they do."""
        ...


class Blobs(Protocol):
    """A bounded store of bytes by their hash; events carry the hashes."""

    def put(self, data: bytes) -> str:
        """Store bytes before anything that is appended afterwards, and return their hash."""
        ...

    async def get(self, digest: str) -> bytes | None:
        """The bytes, or None when they were never here or have been dropped."""
        ...


class Payloads(Protocol):
    """Stores full payloads of work: sealed, by hash, as long as the work item."""

    async def put(self, work_id: str, data: bytes) -> str:
        """Store a payload of an item and return its hash when it is durable; TooLarge beyond the item's bound."""
        ...

    def seal(self, work_id: str, data: bytes) -> SealedPayload:
        """A payload of an item, to be stored by the append of the events that have its hash."""
        ...

    async def get(self, work_id: str, key: str) -> bytes | None:
        """The payload of an item by its hash, or None."""
        ...

    async def delete(self, work_id: str, key: str) -> None:
        """Delete a payload of an item, if it is there."""
        ...


class Ledger(EventLog, ProjectionStore, Blobs, Protocol):
    """The log and its readers, for callers that need several of them."""


class Identity(Protocol):
    """Who is calling."""

    def identify(self, caller: Caller, operation: str = "") -> Actor:
        """The actor behind a caller of that operation, or Unauthorized."""
        ...

    async def wait_for_end(self, caller: Caller) -> CodePlaneError:
        """Wait until the caller's token ends, and return why."""
        ...


class Verdict(StrEnum):
    """The rules' decision about a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A verdict with its reasons, and for a denial a hint."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    hint: str = ""
    # Only a person's answer to this very call counts: none that is remembered, none through an MCP client.
    person_only: bool = False
    # The version of the rules that decided, and why they asked or denied, as one word.
    policy_id: str = ""
    code: str = "requires_approval"


class Authority(Protocol):
    """Decides what an actor may do."""

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        """Allow, ask or deny one call; CapabilityDenied when no grant of the caller covers it."""
        ...

    def may_write(self, call: Call, path: str) -> None:
        """Raise PathDenied or PolicyDenied unless this call may write a path that it learnt of only while it ran."""
        ...

    def event_scope(self, call: Call) -> EventScope | None:
        """The part of the log that the caller may read; None is all of it."""
        ...

    async def readable(self, call: Call, ids: Sequence[str]) -> frozenset[str]:
        """Those of a list of resources that the caller may read; PolicyDenied when the rules cannot tell."""
        ...

    async def replays(self, call: Call, result: Result) -> None:
        """Take note that a call is answered with a stored result, or with one of another program, before it is."""
        ...


ScopeOf: TypeAlias = Callable[[Call], EventScope | None]
Readable: TypeAlias = Callable[[Call, Sequence[str]], Awaitable[frozenset[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a person: one call, its effects, and why it is asked about."""

    call: Call
    assessment: Assessment
    decision: Decision
    preview: Preview
    arguments: JsonObject
    arguments_hash: str
    # When the caller stops waiting, on the loop's clock.
    until: float | None = None


class Approver(Protocol):
    """Puts a question to a person and waits for the answer."""

    async def recall(self, call: "Call", arguments_hash: str) -> bool:
        """Whether a person was asked under the call's key before; raises what they answered when that was a no."""
        ...

    async def find_equal_action(self, question: Question) -> tuple[str, str] | None:
        """The action and key of an equal outward call of the same caller that is still unanswered; ApprovalPending
        while that call itself still waits."""
        ...

    async def approve(self, question: Question) -> str:
        """The action's id when a person approved; raises otherwise."""
        ...

    async def confirm(self, action_id: str, question: Question) -> None:
        """Raise unless what would be done now is what was approved."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """The effect of a finished call on its task."""

    operation: Operation
    budget: Budget
    effects: Effects | None
    failure: Failure | None
    error: CodePlaneError | None
    repo_before: str | None
    repo_after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """Fingerprints of what a call did or how it failed, and what their repetition signals."""

    mutation_fingerprint: str | None = None
    failure_fingerprint: str | None = None
    signals: tuple[JsonObject, ...] = ()


class Tasks(Protocol):
    """Sessions and the tasks they carry."""

    def enter(self, caller: Caller, actor: Actor, session_id: str | None) -> Task:
        """The task of the caller's session, opened if there is none yet."""
        ...

    def charge(self, task: Task, budget: Budget) -> None:
        """Count a call against the task's limits, or raise TaskBudgetExceeded."""
        ...

    def settle(self, task: Task, report: CallReport) -> Convergence:
        """Take note of how a call ended."""
        ...


class Claim(Protocol):
    """The right to run a call under an idempotency key."""

    @property
    def replay(self) -> "StoredOutcome | None":
        """The end of the first call with this key, if any."""
        ...

    @property
    def key_stream(self) -> str | None:
        """The stream that the intent of the call claims, where several nodes share the log; None elsewhere."""
        ...

    @property
    def head(self) -> int:
        """The last sequence of that stream that the claim knows of."""
        ...

    async def find_other_outcome(self) -> "StoredOutcome | None":
        """The end of the call that claimed the key on another node; None when it freed the key."""
        ...

    def release(self) -> None:
        """Let waiting calls proceed; the outcome is in the log."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutcome:
    """A result or an error that was given before, or a stream that is still being given."""

    result_json: str | None = None
    error: CodePlaneError | None = None
    stream: StreamedMutation | None = None


class Idempotency(Protocol):
    """Remembers calls by their keys."""

    async def claim(
        self, *, actor: Actor, operation: str, key: str, arguments_hash: str, is_new: bool = False
    ) -> Claim:
        """Claim an actor's key, waiting while another call holds it; IdempotencyConflict for other arguments.

        `is_new`: it cannot have been used before this process began.
        """
        ...

    def is_unused(self, *, actor: Actor, operation: str, key: str) -> bool:
        """Whether no call of this process has claimed the key, and none of another one can."""
        ...


class TaskObserver(Protocol):
    """Notified of opened and closed tasks."""

    def task_opened(self) -> None:
        """A task was opened."""
        ...

    def task_closed(self, state: str) -> None:
        """A task was closed, in that state."""
        ...


class StreamReader(Protocol):
    """Notified of the progress of one reader of the log."""

    def mark_position(self, position: int) -> None:
        """It has been given everything up to here."""
        ...

    def gap(self) -> None:
        """The events that it wanted are gone."""
        ...

    def close(self) -> None:
        """It has ended."""
        ...


class StreamObserver(Protocol):
    """Notified of every reader that follows the log."""

    def open(self, *, surface: str, after: int, resumed: bool) -> StreamReader:
        """A stream begins after a position; `resumed` when its reader had been there before."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The outcome of a change whose call has no recorded end; it may still be under way.

    `reason` says what is half done, and how to finish it.
    """

    state: Literal["done", "not_done", "unknown", "running"]
    mutation_id: str | None = None
    paths: tuple[str, ...] = ()
    reason: str = ""


class RepoState(Protocol):
    """Which commit the repository is at."""

    def head(self) -> str | None:
        """The commit HEAD points at; None without git or without commits."""
        ...


class RepositoryState(Protocol):
    """The state that calls find and leave."""

    async def state(self) -> tuple[str, str | None]:
        """A hash of HEAD, git's index and the files, equal for equal states; and the commit HEAD points at."""
        ...


class Observer(Protocol):
    """Notified of every call, for metrics and logs."""

    def call_finished(self, *, operation: str, status: str, duration_ns: int, call: JsonObject) -> None:
        """One call ended."""
        ...

    def call_crashed(self, *, operation: str, call_id: str, error: BaseException) -> None:
        """A handler raised something that is not in the table of errors."""
        ...
