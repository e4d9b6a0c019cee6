"""The progress of a call: one type for each step, so that a stage always has what it needs."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call, Operation, Task
from codeplane.kernel.errors import PolicyDenied
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Assessment, Budget, Request, Risk
from codeplane.kernel.ports import Claim, Convergence, Decision, StoredOutcome, Verdict
from codeplane.kernel.trace import Trace

NOBODY = Actor(kind=ActorKind.SYSTEM, actor_id="unidentified")


@dataclass(slots=True, kw_only=True)
class Received:
    """A request as it arrived, what could be read of it so far, and how it ended."""

    call_id: str
    request_id: str
    caller: Caller
    name: str
    given: Mapping[str, JsonValue] | Request
    streams: bool
    started_ns: int
    deadline: float | None
    trace: Trace
    # Known of a request that is refused, too, as far as it could be read.
    operation: Operation | None = None
    arguments: JsonObject | None = None
    arguments_hash: str = ""
    arguments_bytes: int = 0
    session_id: str | None = None
    key: str | None = None
    actor: Actor = NOBODY
    # Held until the end has been recorded: others with the same key wait for it.
    claim: Claim | None = None
    recorded: bool = False
    # The record, while it waits to be written with what comes next.
    record: "asyncio.Future[object] | None" = None
    status: str = ""
    convergence: Convergence = field(default_factory=Convergence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """Names an operation and fits its schema."""

    received: Received
    operation: Operation
    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """Belongs to an actor and a task."""

    received: Received
    call: Call
    request: Request
    workspace: str
    task: Task

    @property
    def arguments(self) -> JsonObject:
        """The arguments as they were given; of a request that its caller made itself, what it is made of."""
        given = self.received.arguments
        return given if given is not None else self.request.model_dump(mode="json", exclude_unset=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorised:
    """Allowed by the rules, or theirs to ask a person about."""

    identified: Identified
    assessment: Assessment
    decision: Decision
    # Whether a person was asked under this key before.
    recalled: bool

    @property
    def needs_person(self) -> bool:
        """Whether the rules want a person to decide."""
        return self.decision.verdict is Verdict.ASK

    @property
    def only_reads(self) -> bool:
        """Whether it is a dry run, or a plan that is not applied: not claimed, counted or recorded as a change."""
        return self.assessment.risk is Risk.READ and not self.needs_person and not self.recalled


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Nobody has to be asked any more; `replay` is how an earlier call with the same key ended."""

    authorised: Authorised
    replay: StoredOutcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Counted, and if it changes anything its intent is in the log: the handler may run."""

    authorised: Authorised
    replay: StoredOutcome | None
    repo_before: str | None = None
    commit_before: str | None = None

    @property
    def identified(self) -> Identified:
        """The identified caller."""
        return self.authorised.identified


Reached: TypeAlias = Received | Validated | Identified | Authorised | Approved | Admitted


@dataclass(slots=True)
class Progress:
    """The last step that one call has reached, and those on the way there that others ask for."""

    received: Received
    identified: Identified | None = None
    authorised: Authorised | None = None
    admitted: Admitted | None = None
    executed: bool = False
    # Whether it turned out to be a dry run, or a plan that is not applied.
    only_reads: bool = False

    def reach(self, reached: Reached) -> None:
        """Note one more step."""
        if type(reached) is Identified:
            self.identified = reached
        elif type(reached) is Authorised:
            self.authorised = reached
            self.only_reads = reached.only_reads
        elif type(reached) is Admitted:
            self.admitted = reached

    @property
    def mutates(self) -> bool:
        """Whether this call can change anything; of an operation that can, a dry run does not."""
        operation = self.received.operation
        return operation is not None and operation.mutates and not self.only_reads

    @property
    def mutated(self) -> bool:
        """Whether something that can change the world has started to run."""
        return self.executed and self.mutates

    @property
    def budget(self) -> Budget:
        """The budget that the call counts against."""
        operation = self.received.operation
        return operation.mark.budget if operation is not None and not self.only_reads else Budget.NONE

    def ids(self) -> JsonObject:
        """The ids of this call in the server's own log."""
        return {
            "call_id": self.received.call_id,
            "request_id": self.received.request_id,
            "task_id": self.identified.task.task_id if self.identified else None,
            "actor": str(self.received.actor),
        }

    def facts(self) -> JsonObject:
        """The attributes of the call's trace."""
        received, identified, authorised = self.received, self.identified, self.authorised
        verdict = authorised.decision.verdict.value if authorised else None
        known: JsonObject = {
            **self.ids(),
            "session_id": identified.task.session_id if identified else None,
            "surface": received.caller.surface,
            "client": received.caller.client,
            "arguments": received.arguments if _is_recorded(received) else None,
            "arguments_hash": received.arguments_hash or None,
            "workspace": (identified.workspace or None) if identified else None,
            "origin": received.caller.origin.to_json() if received.caller.origin is not None else None,
            "verdict": verdict or ("deny" if received.status == PolicyDenied.name else None),
            "mutation_fingerprint": received.convergence.mutation_fingerprint,
            "failure_fingerprint": received.convergence.failure_fingerprint,
            "signals": [signal["kind"] for signal in received.convergence.signals] or None,
        }
        if identified is not None:
            call = identified.call
            known["action_id"] = call.action_id
            if call.effects is not None:
                known["files_changed"] = len(call.effects.changed_paths)
            if call.failure is not None and call.failure.failing_tests:
                known["failing_tests"] = len(call.failure.failing_tests)
        return {name: value for name, value in known.items() if value is not None}


def _is_recorded(received: Received) -> bool:
    return received.operation is None or received.operation.request.recorded
