"""A task: the envelope that groups calls, limits them and notices when they go in circles."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from codeplane.kernel.call import Effects, Failure
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import TaskLimits
from codeplane.kernel.errors import TaskBudgetExceeded
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Budget
from codeplane.kernel.ports import CallReport, Convergence
from codeplane.kernel.trace import normalise_trace

_NEARLY_USED = 0.9


class TaskState(StrEnum):
    """The state of a task."""

    OPEN = "OPEN"
    CLOSED_SUCCESS = "CLOSED_SUCCESS"
    CLOSED_FAILED = "CLOSED_FAILED"
    CLOSED_INTERRUPTED = "CLOSED_INTERRUPTED"


@dataclass(slots=True, kw_only=True)
class LiveTask:
    """The task of an open session."""

    task_id: str
    session_id: str
    description: str
    opened_at_ns: int
    opened_ns: int
    limits: TaskLimits
    state: TaskState = TaskState.OPEN
    mutations: int = 0
    test_runs: int = 0
    last_mutation: str | None = None
    last_failure: str | None = None
    repeated_failures: int = 0
    mutated_since_failure: bool = False

    def charge(self, budget: Budget, now_ns: int) -> None:
        """Count a call, or raise TaskBudgetExceeded."""
        if budget is Budget.NONE:
            return
        elapsed = (now_ns - self.opened_ns) // SECOND_NS
        if elapsed >= self.limits.max_duration_sec:
            raise self._budget_error("duration", self.limits.max_duration_sec, elapsed)
        if budget is Budget.MUTATION:
            if self.mutations >= self.limits.max_mutations:
                raise self._budget_error("mutations", self.limits.max_mutations, self.mutations)
            self.mutations += 1
        else:
            if self.test_runs >= self.limits.max_test_runs:
                raise self._budget_error("test_runs", self.limits.max_test_runs, self.test_runs)
            self.test_runs += 1

    def used_share(self, now_ns: int) -> float:
        """The used share of the limit that is nearest to being used up."""
        spent = (now_ns - self.opened_ns) / SECOND_NS
        shares = (
            (self.mutations, self.limits.max_mutations),
            (self.test_runs, self.limits.max_test_runs),
            (spent, self.limits.max_duration_sec),
        )
        return max(used / limit if limit else 1.0 for used, limit in shares)

    def settle(self, report: CallReport) -> Convergence:
        """Fingerprint how a call ended, and signal when it repeats."""
        signals: list[JsonObject] = []
        mutation = failure = None
        if report.budget is Budget.MUTATION and report.error is None:
            if report.effects is not None:
                mutation = mutation_fingerprint(report.effects)
                if mutation == self.last_mutation:
                    signals.append({"kind": "no_op", "note": "the same change as the one before"})
                self.last_mutation = mutation
            self.mutated_since_failure = True
        failed = report.failure
        if failed is None and report.error is not None:
            failed = Failure(kind=report.error.name, trace=report.error.message)
        if failed is not None:
            failure = failure_fingerprint(failed)
            self.repeated_failures = self.repeated_failures + 1 if failure == self.last_failure else 1
            if failure == self.last_failure and self.mutated_since_failure:
                signals.append(
                    {
                        "kind": "non_progress",
                        "note": "the same failure as before the last change",
                        "repeated_failure_count": self.repeated_failures,
                    }
                )
            self.last_failure = failure
            self.mutated_since_failure = False
        signals += self._nearly_used(report.budget)
        return Convergence(mutation_fingerprint=mutation, failure_fingerprint=failure, signals=tuple(signals))

    def _nearly_used(self, budget: Budget) -> list[JsonObject]:
        used, limit = {
            Budget.MUTATION: (self.mutations, self.limits.max_mutations),
            Budget.TEST_RUN: (self.test_runs, self.limits.max_test_runs),
            Budget.NONE: (0, 1),
        }[budget]
        if used < limit * _NEARLY_USED:
            return []
        return [{"kind": "budget", "budget_type": budget.value, "used": used, "limit": limit}]

    @staticmethod
    def _budget_error(budget_type: str, limit: int, current: int) -> TaskBudgetExceeded:
        return TaskBudgetExceeded(
            f"{budget_type.capitalize()} budget exceeded ({current}/{limit})",
            details={"budget_type": budget_type, "limit": limit, "current": current},
        )


def failure_fingerprint(failure: Failure) -> str:
    """A fingerprint that is equal when the same tests fail in the same way."""
    return _fingerprint(
        {
            "tests": sorted(failure.failing_tests),
            "kind": failure.kind.rpartition(".")[2],
            "trace": normalise_trace(failure.trace),
            "exit_code": failure.exit_code,
        }
    )


def mutation_fingerprint(effects: Effects) -> str:
    """A fingerprint that is equal for the same change to the same files."""
    return _fingerprint(
        {
            "files_changed_hash": effects.files_changed_hash,
            "diff_stats": [len(effects.changed_paths), effects.insertions, effects.deletions],
            "symbol_changes": sorted(effects.symbol_changes),
        }
    )


def _fingerprint(content: JsonObject) -> str:
    return sha256(canonical(content)).hexdigest()[:16]
