"""Stage 5: the call is counted against its task, and what will change something is announced in the log."""

from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.operation import Budget
from codeplane.kernel.ports import RepositoryState, Tasks
from codeplane.kernel.stages.progress import Admitted, Approved
from codeplane.kernel.stages.record import Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class CountBudget:
    """Refuses what exceeds the limits of its task; a repeated call was counted the first time."""

    name: ClassVar[str] = "budget"
    tasks: Tasks
    repo: RepositoryState
    recorder: Recorder

    async def run(self, approved: Approved) -> Admitted:
        """Count the call and record its intent."""
        authorised = approved.authorised
        if approved.replay is not None:
            return Admitted(authorised=authorised, replay=approved.replay)
        operation = authorised.identified.call.operation
        budget = Budget.NONE if authorised.only_reads else operation.mark.budget
        self.tasks.charge(authorised.identified.task, budget)
        if not operation.mutates or authorised.only_reads:
            return Admitted(authorised=authorised, replay=None)
        repo_before, commit_before = await self.repo.state()
        admitted = Admitted(authorised=authorised, replay=None, repo_before=repo_before, commit_before=commit_before)
        if (elsewhere := await self.recorder.intent(admitted)) is not None:
            return Admitted(authorised=authorised, replay=elsewhere)
        return admitted
