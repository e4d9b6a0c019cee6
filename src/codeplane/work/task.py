"""A task: the envelope that groups calls, limits them and notices when they go in circles."""

from dataclasses import dataclass
from enum import StrEnum

from codeplane.kernel.call import Failure
from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import TaskLimits
from codeplane.kernel.errors import TaskBudgetExceeded
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Budget
from codeplane.kernel.ports import CallReport, Convergence
from codeplane.work.fingerprints import failure_fingerprint, mutation_fingerprint

_NEARLY_USED = 0.9


class TaskState(StrEnum):
    """Where a task stands."""

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
        """Count a call, or refuse it when the budget is used up."""
        if budget is Budget.NONE:
            return
        elapsed = (now_ns - self.opened_ns) // SECOND_NS
        if elapsed >= self.limits.max_duration_sec:
            raise self._exceeded("duration", self.limits.max_duration_sec, elapsed)
        if budget is Budget.MUTATION:
            if self.mutations >= self.limits.max_mutations:
                raise self._exceeded("mutations", self.limits.max_mutations, self.mutations)
            self.mutations += 1
        else:
            if self.test_runs >= self.limits.max_test_runs:
                raise self._exceeded("test_runs", self.limits.max_test_runs, self.test_runs)
            self.test_runs += 1

    def used(self, now_ns: int) -> float:
        """The share of its limits that is used up, of whichever is nearest."""
        spent = (now_ns - self.opened_ns) / SECOND_NS
        shares = (
            (self.mutations, self.limits.max_mutations),
            (self.test_runs, self.limits.max_test_runs),
            (spent, self.limits.max_duration_sec),
        )
        return max(used / limit if limit else 1.0 for used, limit in shares)

    def settle(self, report: CallReport) -> Convergence:
        """Fingerprint how a call ended, and say when it is the same as before."""
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
    def _exceeded(budget_type: str, limit: int, current: int) -> TaskBudgetExceeded:
        return TaskBudgetExceeded(
            f"{budget_type.capitalize()} budget exceeded ({current}/{limit})",
            details={"budget_type": budget_type, "limit": limit, "current": current},
        )
