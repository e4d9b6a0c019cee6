"""The last stage: how a call ended is written down, and the answer is built."""

from collections.abc import Sequence
from contextlib import suppress

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import Cancelled, CodePlaneError, OutcomeUnknown
from codeplane.kernel.event import Draft
from codeplane.kernel.operation import Operation, Result
from codeplane.kernel.passage import NOBODY, Passage
from codeplane.kernel.ports import CallReport, Convergence, StoredOutcome
from codeplane.kernel.record import CUT_OFF, with_action
from codeplane.kernel.refusal_count import RefusalCount
from codeplane.kernel.stages import Stages
from codeplane.kernel.veil import Veil


class Recording:
    """Records every call once, whatever became of it."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._refusals = RefusalCount(stages.clock)
        self.veil = Veil(stages.redactor)

    async def finished(
        self, passage: Passage, *, result: Result | None = None, error: CodePlaneError | None = None
    ) -> Outcome:
        """Record how the call ended, durably when it could have changed something, and build the answer."""
        with passage.trace.stage("record"):
            return await self._recorded(passage, result, error)

    async def _recorded(self, passage: Passage, result: Result | None, error: CodePlaneError | None) -> Outcome:
        stages = self._stages
        result_json = result.model_dump_json() if result is not None else "null"
        convergence = Convergence()
        lost: CodePlaneError | None = None
        if passage.operation is not None and passage.task is not None and passage.call is not None:
            repo_after = await stages.repo.state() if passage.mutated else None
            report = CallReport(
                operation=passage.operation,
                budget=passage.budget,
                effects=passage.call.effects,
                failure=passage.call.failure,
                error=error,
                repo_before=passage.repo_before,
                repo_after=repo_after,
            )
            convergence = passage.convergence = stages.tasks.settle(passage.task, report)
            encoded = result_json.encode() if result is not None else None
            draft = passage.record().finished(
                duration_ns=stages.clock.monotonic_ns() - passage.started_ns,
                result=encoded,
                lasting=result.lasting() if result is not None else None,
                unmet=result.unmet() if result is not None else None,
                error=error,
                convergence=convergence,
                repo_after=repo_after,
                commit_after=stages.repo.head() if passage.mutated else None,
            )
            kept = encoded if passage.mutated and passage.key and result is not None and not result.secret else None
            lost = await self._keep(passage, with_action(draft), blob=kept)
        elif error is not None:
            refused = passage.refused(error)
            # Whoever is known has limits of its own.
            await self._keep(passage, self._refusals.recorded(refused) if passage.actor is NOBODY else [refused])
        if lost is not None and (error is None or passage.mutated):
            error, result, result_json = self._unrecorded(passage, lost), None, "null"
        if result is not None and not result.secret:
            passage.trace.answered(result_json)
        self._observe(passage, "ok" if error is None else error.name)
        if error is not None:
            _say_what_became(passage, error)
            self.veil.error(passage, error)
        return Outcome(
            operation=passage.operation,
            meta=passage.meta(convergence, now_ns=stages.clock.now_ns()),
            result=result,
            result_json=result_json,
            error=error,
        )

    async def refusals_counted(self, *, is_closing: bool = False) -> None:
        """Record how many calls of nobody were only counted, once their time is over."""
        if drafts := self._refusals.ended(is_closing=is_closing):
            await self._stages.log.append(drafts)

    async def _keep(
        self, passage: Passage, drafts: Sequence[Draft], *, blob: bytes | None = None
    ) -> CodePlaneError | None:
        """Append how a call ended; waits when it changed something, and says why when it could not be written."""
        passage.recorded = True
        log = self._stages.log
        try:
            if blob is not None:
                self._stages.blobs.put(blob)
            if drafts and (passage.mutated or not log.append_soon(drafts)):
                await log.append(drafts)
        except CodePlaneError as error:
            return error
        return None

    @staticmethod
    def _unrecorded(passage: Passage, lost: CodePlaneError) -> CodePlaneError:
        if not passage.mutated:
            return lost
        unknown = OutcomeUnknown(
            f"{passage.name} ran, but how it ended could not be recorded: {lost.message}", details={"executed": True}
        )
        unknown.__cause__ = lost
        return unknown

    def abandoned(self, passage: Passage) -> None:
        """The caller is gone: record that, without waiting, unless it left after the end."""
        if passage.call is None or passage.recorded:
            return
        draft = passage.record().finished(
            duration_ns=self._stages.clock.monotonic_ns() - passage.started_ns,
            result=None,
            error=Cancelled(f"{passage.name} was cancelled by its caller"),
            convergence=Convergence(),
            repo_after=None,
        )
        # A record that cannot be queued any more is what recovery calls an unknown outcome.
        with suppress(CodePlaneError):
            self._stages.log.append_soon(with_action(draft))
        self._observe(passage, Cancelled.name)

    async def replayed(self, passage: Passage, operation: Operation, stored: StoredOutcome) -> Outcome:
        """The answer that was given under the call's key before."""
        result = operation.remembered(stored.result_json) if stored.result_json else None
        if stored.error is not None:
            self.veil.error(passage, stored.error)
        await self._keep(passage, [passage.record().replayed()])
        self._observe(passage, "replayed")
        return Outcome(
            operation=operation,
            meta=passage.meta(Convergence(), now_ns=self._stages.clock.now_ns(), replayed=True),
            result=result,
            result_json=stored.result_json or "null",
            error=stored.error,
        )

    def _observe(self, passage: Passage, status: str) -> None:
        passage.status = status
        self._stages.observer.call_finished(
            operation=passage.operation.name if passage.operation else "unknown",
            status=status,
            duration_ns=self._stages.clock.monotonic_ns() - passage.started_ns,
            call=passage.ids(),
        )


def _say_what_became(passage: Passage, error: CodePlaneError) -> None:
    """Add to the error of a call that was stopped whether its change was made."""
    call = passage.call
    if call is None or error.name not in CUT_OFF or not passage.mutated or not call.operation.journaled:
        return
    if call.change == "done":
        named = f" (mutation {call.mutation_id})" if call.mutation_id else ""
        error.message += f"; the change itself is done{named}"
        error.details |= {"done": True, "mutation_id": call.mutation_id}
        error.hint = "do not repeat it; mutation_show tells what it did, undo takes it back"
    elif call.change != "begun":
        error.message += "; nothing was changed"
        error.details["done"] = False
