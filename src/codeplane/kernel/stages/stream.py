"""Stage 8: results and the envelope reach the caller, and observers hear of the end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.call_record import CUT_OFF
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Meta, Outcome
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.kernel.ports import Identity, Observer
from codeplane.kernel.result_redaction import ResultRedaction
from codeplane.kernel.revocation import until_revoked
from codeplane.kernel.stages.progress import Progress
from codeplane.kernel.stages.record import Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Gives a caller what it may see, for as long as it may see it."""

    name: ClassVar[str] = "stream"
    identity: Identity
    observer: Observer
    clock: Clock
    redaction: ResultRedaction

    async def items(self, progress: Progress, results: AsyncGenerator[Result, None]) -> AsyncGenerator[Result, None]:
        """The results as they come, until the caller's token is revoked."""
        async with (
            until_revoked(self.identity, progress.received.caller) as admission,
            aclosing(results),
        ):
            while (item := await admission.during(_next(results))) is not None:
                yield item

    def answer(self, progress: Progress, ended: Ended, *, replayed: bool = False) -> Outcome:
        """The envelope for a call that has been recorded."""
        received, error = progress.received, ended.error
        if ended.result is not None and not ended.result.secret and not replayed:
            received.trace.keep_answer(ended.result_json)
        self.observe(progress, "replayed" if replayed else "ok" if error is None else error.name)
        if error is not None:
            if not replayed:
                _add_what_became_of_it(progress, error)
            self.redaction.error(received.actor, error)
        return Outcome(
            operation=progress.received.operation,
            meta=self._meta(progress, replayed=replayed),
            result=ended.result,
            result_json=ended.result_json,
            error=error,
        )

    def observe(self, progress: Progress, status: str) -> None:
        """Report the call's end to metrics and logs."""
        received = progress.received
        received.status = status
        self.observer.call_finished(
            operation=received.operation.name if received.operation else "unknown",
            status=status,
            duration_ns=self.clock.monotonic_ns() - received.started_ns,
            call=progress.ids(),
        )

    def _meta(self, progress: Progress, *, replayed: bool) -> Meta:
        received, identified, convergence = progress.received, progress.identified, progress.received.convergence
        warnings = list(identified.call.warnings) if identified else []
        operation = progress.received.operation
        if operation is not None and operation.mark.deprecated:
            warnings.append(f"{operation.tool} is deprecated: {operation.mark.deprecated}")
        fingerprints: JsonObject = {
            name: value
            for name, value in (
                ("mutation", convergence.mutation_fingerprint),
                ("failure", convergence.failure_fingerprint),
            )
            if value is not None
        }
        task = identified.task if identified else None
        return Meta(
            request_id=received.request_id,
            timestamp_ms=self.clock.now_ns() // 1_000_000,
            call_id=received.call_id,
            session_id=task.session_id if task else None,
            task_id=task.task_id if task else None,
            task_state=task.state if task else None,
            idempotency_key=received.key,
            replayed=replayed,
            warnings=tuple(warnings),
            signals=convergence.signals,
            fingerprints=fingerprints or None,
        )


async def _next(results: AsyncGenerator[Result, None]) -> Result | None:
    return await anext(results, None)


def _add_what_became_of_it(progress: Progress, error: CodePlaneError) -> None:
    """Add to the error of a call that was stopped whether its change was made."""
    identified = progress.identified
    if identified is None or error.name not in CUT_OFF or not progress.mutated:
        return
    call = identified.call
    if not call.operation.journaled:
        return
    if call.change == "done":
        named = f" (mutation {call.mutation_id})" if call.mutation_id else ""
        error.message += f"; the change itself is done{named}"
        error.details |= {"done": True, "mutation_id": call.mutation_id}
        error.hint = "do not repeat it; mutation_show tells what it did, undo takes it back"
    elif call.change != "started":
        error.message += "; nothing was changed"
        error.details["done"] = False
