"""One call on its way through the stages: what is known of it so far, and what is said of it."""

from dataclasses import dataclass, field
from typing import cast

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.call import Call
from codeplane.kernel.envelope import Meta
from codeplane.kernel.errors import CodePlaneError, PolicyDenied
from codeplane.kernel.event import Correlation, Draft, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Budget, Operation, Request
from codeplane.kernel.ports import Claim, Convergence, StoredOutcome, Task
from codeplane.kernel.record import CALL_REFUSED, Record
from codeplane.kernel.trace import Trace

NOBODY = Actor(kind=ActorKind.SYSTEM, actor_id="unidentified")
_MAX_NAME = 100
_MAX_REASON = 300


@dataclass(slots=True, kw_only=True)
class Passage:
    """What the stages have found out about one call."""

    call_id: str
    request_id: str
    caller: Caller
    started_ns: int
    deadline: float | None
    name: str
    trace: Trace
    operation: Operation | None = None
    request: Request | None = None
    arguments: JsonObject | None = None
    arguments_hash: str = ""
    workspace: str = ""
    actor: Actor = NOBODY
    task: Task | None = None
    key: str | None = None
    claim: Claim | None = None
    call: Call | None = None
    only_reads: bool = False
    executed: bool = False
    recorded: bool = False
    repo_before: str | None = None
    commit_before: str | None = None
    session_id: str | None = None
    status: str = ""
    verdict: str | None = None
    convergence: Convergence = field(default_factory=Convergence)

    @property
    def mutates(self) -> bool:
        """Whether this call can change anything; of an operation that can, a dry run does not."""
        return self.operation is not None and self.operation.mutates and not self.only_reads

    @property
    def budget(self) -> Budget:
        """What the call is counted as."""
        return self.operation.mark.budget if self.operation is not None and not self.only_reads else Budget.NONE

    @property
    def mutated(self) -> bool:
        """Whether something that can change the world has begun to run."""
        return self.executed and self.mutates

    @property
    def replay(self) -> StoredOutcome | None:
        """How an earlier call with the same key ended."""
        return self.claim.replay if self.claim is not None else None

    def record(self) -> Record:
        """What the ledger keeps of a call that got as far as having a task."""
        return Record(
            call=cast(Call, self.call),
            operation=cast(Operation, self.operation),
            arguments=self.arguments or {},
            arguments_hash=self.arguments_hash,
            workspace=self.workspace,
            repo_before=self.repo_before,
            commit_before=self.commit_before,
            executed=self.executed,
            mutates=self.mutates,
            budget=self.budget,
        )

    def refused(self, error: CodePlaneError) -> Draft:
        """What the ledger keeps of a call that was refused before it belonged to any task."""
        payload: JsonObject = {
            "operation": self.operation.name if self.operation else self.name[:_MAX_NAME],
            "status": error.name,
            "reason": error.message[:_MAX_REASON],
            "surface": self.caller.surface,
            "client": self.caller.client,
        }
        return Draft(
            stream="audit",
            type=CALL_REFUSED,
            payload=payload,
            actor=str(self.actor),
            source=Source.POLICY_ENGINE,
            correlation=Correlation(call_id=self.call_id),
        )

    def meta(self, convergence: Convergence, *, now_ns: int, replayed: bool = False) -> Meta:
        """What goes beside the answer."""
        warnings = list(self.call.warnings) if self.call else []
        if self.operation is not None and self.operation.mark.deprecated:
            warnings.append(f"{self.operation.tool} is deprecated: {self.operation.mark.deprecated}")
        marks: JsonObject = {
            name: value
            for name, value in (
                ("mutation", convergence.mutation_fingerprint),
                ("failure", convergence.failure_fingerprint),
            )
            if value is not None
        }
        return Meta(
            request_id=self.request_id,
            timestamp_ms=now_ns // 1_000_000,
            call_id=self.call_id,
            session_id=self.task.session_id if self.task else None,
            task_id=self.task.task_id if self.task else None,
            task_state=self.task.state if self.task else None,
            idempotency_key=self.key,
            replayed=replayed,
            warnings=tuple(warnings),
            signals=convergence.signals,
            fingerprints=marks or None,
        )

    def facts(self) -> JsonObject:
        """What the call's trace tells of it, beside where its time went."""
        known: JsonObject = {
            **self.ids(),
            "session_id": self.task.session_id if self.task else None,
            "surface": self.caller.surface,
            "client": self.caller.client,
            "arguments": self.arguments,
            "arguments_hash": self.arguments_hash or None,
            "workspace": self.workspace or None,
            "verdict": self.verdict or ("deny" if self.status == PolicyDenied.name else None),
            "mutation_fingerprint": self.convergence.mutation_fingerprint,
            "failure_fingerprint": self.convergence.failure_fingerprint,
            "signals": [signal["kind"] for signal in self.convergence.signals] or None,
        }
        if self.call is not None:
            known["action_id"] = self.call.action_id
            if self.call.effects is not None:
                known["files_changed"] = len(self.call.effects.changed_paths)
            if self.call.failure is not None and self.call.failure.failing_tests:
                known["failing_tests"] = len(self.call.failure.failing_tests)
        return {name: value for name, value in known.items() if value is not None}

    def ids(self) -> JsonObject:
        """What names this call in the server's own log."""
        return {
            "call_id": self.call_id,
            "request_id": self.request_id,
            "task_id": self.task.task_id if self.task else None,
            "actor": str(self.actor),
        }
