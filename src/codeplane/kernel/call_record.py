"""The ledger's record of a call: its intent before a mutation, its outcome at the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.errors import Cancelled, CodePlaneError, DeadlineExceeded, OutcomeUnknown, TaskBudgetExceeded
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.ids import derived_event_id, digest
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Budget
from codeplane.kernel.ports import Convergence

CALL_STARTED = "call.started"
CALL_FINISHED = "call.finished"
CALL_REPLAYED = "call.replayed"
CALL_REFUSED = "call.refused"
KEY_CLAIMED = "key.claimed"
ACTION_EXECUTED, ACTION_INTERRUPTED = "action.executed", "action.interrupted"
# The surface of approved calls that the server itself runs, since their callers no longer wait.
RESUMED_SURFACE = "approval"
WORK_STEPPED = "work.stepped"
# Marks the end of a call that is a step of its work item and has no event of its own in the item's stream.
COUNTS_AS_STEP = "counts_as_step"
# Who says no to an action when no person did.
NO_PERSON = "system"
EXPIRED_REASON = "expired"
# Stopped in the middle: how much was done is unknown.
CUT_OFF = frozenset({OutcomeUnknown.name, Cancelled.name, DeadlineExceeded.name})
MAX_RECORDED_ARGUMENTS = 4096
# Together they stay below the smallest `ledger.max_payload_bytes`: an outcome that is too large could not be recorded.
_MAX_PATHS_BYTES = 65_536
_MAX_LINES_BYTES = 16_384


def task_stream(task_id: str) -> str:
    """The stream of a task and its calls."""
    return f"task/{task_id}"


def action_stream(action_id: str) -> str:
    """The stream of an action."""
    return f"action/{action_id}"


def refusal_status(by: str, reason: str) -> str:
    """The status of a refused action: rejected by a person, expired, or no longer possible when it was due to run."""
    if by != NO_PERSON:
        return "rejected"
    return "expired" if reason == EXPIRED_REASON else "not_run"


def with_action(finished: Draft) -> list[Draft]:
    """The end of a call, with a copy for the stream of the action that it carried out."""
    payload, call_id = finished.payload, finished.correlation.call_id
    action_id = payload.get("action_id")
    if not isinstance(action_id, str) or not payload.get("executed") or call_id is None:
        return [finished]
    unknown = payload["status"] in CUT_OFF
    outcome: JsonObject = {
        "action_id": action_id,
        "operation": payload["operation"],
        "outcome": OutcomeUnknown.name if unknown else payload["status"],
    }
    ended = Draft(
        stream=action_stream(action_id),
        type=ACTION_INTERRUPTED if unknown else ACTION_EXECUTED,
        payload=outcome,
        actor=finished.actor,
        source=Source.TOOL_EXECUTOR,
        correlation=finished.correlation,
        event_id=derived_event_id("action-ended", call_id),
    )
    return [finished, ended]


def with_copies(finished: Draft) -> list[Draft]:
    """The end of a call, with copies for the streams of its action and its work item."""
    payload, origin = finished.payload, finished.payload.get("origin")
    step = origin.get("step") if isinstance(origin, dict) else None
    if finished.correlation.work_id is None or step is None or payload["status"] != "ok":
        return with_action(finished)
    if finished.correlation.thread_id is not None:
        # The thread shows what was done; the item's row counts it by this.
        return with_action(replace(finished, payload={**payload, COUNTS_AS_STEP: True}))
    return [*with_action(finished), *_work_step(finished, step)]


def _work_step(finished: Draft, step: JsonValue) -> list[Draft]:
    """The step of a work item that a call completed."""
    payload, ids = finished.payload, finished.correlation
    if ids.call_id is None:
        return []
    stepped: JsonObject = {
        "step": step,
        "operation": payload["operation"],
        "mutates": payload["mutates"],
        "duration_us": payload["duration_us"],
        **({"result_hash": payload["result_hash"]} if "result_hash" in payload else {}),
    }
    return [
        Draft(
            stream=f"work/{ids.work_id}",
            type=WORK_STEPPED,
            payload=stepped,
            actor=finished.actor,
            source=Source.TOOL_EXECUTOR,
            correlation=ids,
            event_id=derived_event_id("work-step", ids.call_id),
        )
    ]


def recovered_payload(mutation_id: str | None, *, cut_off: str) -> JsonObject:
    """The additions to the record of a call whose change is done but whose answer was lost."""
    return {"cut_off": cut_off, **({"mutation_id": mutation_id} if mutation_id else {})}


def key_holder(actor: Actor) -> str:
    """The holder of an idempotency key; the same key of another holder is a different key."""
    return f"{actor.owner_id}/{actor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """The facts of one call, ready to be appended."""

    call: Call
    operation: Operation
    # None where they are not to be recorded.
    arguments: JsonObject | None
    arguments_hash: str
    arguments_bytes: int
    workspace: str
    repo_before: str | None
    commit_before: str | None
    executed: bool
    mutates: bool
    budget: Budget

    def start_event(self) -> Draft:
        """The intent of a mutation; durable before its handler runs."""
        return self._draft(CALL_STARTED, self._common())

    def claim_event(self, key_stream: str) -> Draft:
        """The claim of the call's idempotency key, for the nodes of a shared log."""
        payload: JsonObject = {"operation": self.operation.name, "arguments_hash": self.arguments_hash}
        return replace(self._draft(KEY_CLAIMED, payload), stream=key_stream)

    def replay_event(self) -> Draft:
        """The event that an earlier call's answer was returned again for the same key."""
        return self._draft(CALL_REPLAYED, self._common())

    def end_event(
        self,
        *,
        duration_ns: int,
        result: bytes | None,
        lasting: bytes | None = None,
        unmet: str | None = None,
        error: CodePlaneError | None,
        convergence: Convergence,
        repo_after: str | None,
        commit_after: str | None = None,
    ) -> Draft:
        """The event of the call's end."""
        payload = self._common()
        payload["duration_us"] = duration_ns // 1000
        change = self.call.change if self.operation.journaled else "started"
        executed = self.executed
        if error is not None and error.name in CUT_OFF and executed:
            # The journal knows what became of it, however its caller left.
            if change == "done":
                payload |= recovered_payload(self.call.mutation_id, cut_off=error.name)
                error = None
            executed = change in ("started", "done")
        payload["executed"] = executed
        payload["status"] = "ok" if error is None else error.name
        if result is not None:
            payload["result_hash"] = digest(result)
            payload["result_bytes"] = len(result)
        if lasting is not None:
            payload["answer_hash"] = digest(lasting)
        if error is not None:
            wire: JsonObject = {"code": error.code, "message": error.message[:1000], "retryable": error.retryable}
            if error.hint != error.default_hint:
                wire["hint"] = error.hint[:1000]
            payload["error"] = wire
            if isinstance(error, TaskBudgetExceeded):
                payload["limit_triggered"] = error.details.get("budget_type")
        if repo_after is not None:
            payload["repo_after"] = repo_after
        if commit_after is not None:
            payload["commit_after"] = commit_after
        effects, failure = self.call.effects, self.call.failure
        if effects is not None:
            payload["changed_paths"] = _first(effects.changed_paths, 1000, _MAX_PATHS_BYTES)
            payload["diff_stats"] = {
                "files_changed": len(effects.changed_paths),
                "insertions": effects.insertions,
                "deletions": effects.deletions,
            }
            payload["short_diff"] = _first(effects.short_diff, 100, _MAX_LINES_BYTES)
        if failure is not None:
            payload["failure_class"] = failure.kind[:200]
            payload["failing_tests"] = _first(failure.failing_tests, 100, _MAX_LINES_BYTES)
        elif unmet is not None:
            payload["failure_class"] = unmet[:200]
        if convergence.mutation_fingerprint is not None:
            payload["mutation_fingerprint"] = convergence.mutation_fingerprint
        if convergence.failure_fingerprint is not None:
            payload["failure_fingerprint"] = convergence.failure_fingerprint
        return self._draft(CALL_FINISHED, payload)

    def _common(self) -> JsonObject:
        payload: JsonObject = {
            "operation": self.operation.name,
            "mutates": self.mutates,
            "budget": self.budget.value,
            "arguments_hash": self.arguments_hash,
        }
        if self.workspace:
            payload["workspace"] = self.workspace
        if self.call.caller.origin is not None:
            payload["origin"] = self.call.caller.origin.to_json()
        if self.mutates:
            if self.call.idempotency_key is not None:
                payload["idempotency_key"] = self.call.idempotency_key
                payload["owner_id"] = self.call.actor.owner_id
                payload["key_holder"] = key_holder(self.call.actor)
            if self.repo_before is not None:
                payload["repo_before"] = self.repo_before
            if self.commit_before is not None:
                payload["commit_before"] = self.commit_before
            if self.call.action_id is not None:
                payload["action_id"] = self.call.action_id
        if not self.operation.mutates or self.operation.mark.budget is Budget.TEST_RUN:
            # Reads can be replayed, and one wants to know which tests ran; what a mutation wrote is not kept.
            fits = self.operation.request.recorded and self.arguments_bytes <= MAX_RECORDED_ARGUMENTS
            payload |= {"arguments": self.arguments} if fits else {"arguments_bytes": self.arguments_bytes}
        return payload

    def _draft(self, kind: str, payload: JsonObject) -> Draft:
        task = self.call.task
        return Draft(
            stream=task_stream(task.task_id) if task is not None else "calls",
            type=kind,
            payload=payload,
            actor=str(self.call.actor),
            source=Source.TOOL_EXECUTOR,
            correlation=self.call.correlation,
        )


def _first(items: Sequence[str], most: int, size: int) -> list[JsonValue]:
    """The longest prefix that fits both bounds."""
    kept: list[JsonValue] = []
    for item in items[:most]:
        size -= len(dumps(item).encode()) + 1
        if size < 0:
            break
        kept.append(item)
    return kept
