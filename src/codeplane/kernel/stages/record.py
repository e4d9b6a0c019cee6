"""Stage 7: the intent of a mutation before it runs, and how every call ended."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.call_record import CALL_FINISHED, CALL_REFUSED, RESUMED_SURFACE, CallRecord, with_copies
from codeplane.kernel.errors import Cancelled, CodePlaneError, OutcomeUnknown, Overloaded, SequenceConflict
from codeplane.kernel.event import Correlation, Draft, Source
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result, Risk
from codeplane.kernel.ports import CallReport, Convergence, StoredOutcome
from codeplane.kernel.refusal_count import RefusalCount
from codeplane.kernel.stages.ports import StagePorts
from codeplane.kernel.stages.progress import NOBODY, Admitted, Identified, Progress, Received

_MAX_NAME = 100
_MAX_REASON = 300
_MAX_UNRECORDED = 1000
_MAX_CONFLICTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The recorded end of a call."""

    result: Result | None = None
    result_json: str = "null"
    error: CodePlaneError | None = None


class Recorder:
    """Records every call once: durably when it could have changed something, without waiting when it only reads."""

    name: ClassVar[str] = "record"

    def __init__(self, ports: StagePorts) -> None:
        self._ports = ports
        self._refusals = RefusalCount(ports.clock)
        # The ends of mutations by call id that the log may not have taken, as on a full disk.
        self._unrecorded: dict[str, Sequence[Draft]] = {}

    async def intent(self, admitted: Admitted) -> StoredOutcome | None:
        """Record that a mutation is about to run; returns when that is durable.

        Where several nodes share the log, another may have claimed the call's key meanwhile: returns how that ended.
        """
        authorised = admitted.authorised
        identified = authorised.identified
        progress = Progress(
            identified.received,
            identified=identified,
            authorised=authorised,
            admitted=admitted,
            only_reads=authorised.only_reads,
        )
        record, claim = _record(progress, identified), identified.received.claim
        # Taken before: a caller that is gone meanwhile does not record it again.
        unrecorded = _take_unrecorded(progress)
        if claim is None or claim.key_stream is None:
            await self._ports.log.append([*unrecorded, record.start_event()])
            return None
        for _ in range(_MAX_CONFLICTS):
            drafts = [*unrecorded, record.start_event(), record.claim_event(claim.key_stream)]
            try:
                await self._ports.log.append(drafts, expect={claim.key_stream: claim.head})
            except SequenceConflict:
                if (outcome := await claim.find_other_outcome()) is not None:
                    identified.call.unrecorded.extend(unrecorded)
                    return outcome
                continue
            return None
        raise Overloaded("the idempotency_key is claimed and freed too often elsewhere")

    async def record_end(
        self,
        progress: Progress,
        *,
        result: Result | None = None,
        result_json: str | None = None,
        error: CodePlaneError | None,
    ) -> Ended:
        """Record how a call ended, or the refusal of one that never belonged to a task."""
        if result_json is None:
            result_json = result.model_dump_json() if result is not None else "null"
        lost: CodePlaneError | None = None
        if progress.identified is not None:
            encoded = result_json.encode() if result is not None else None
            draft = await self._settle(progress, progress.identified, result, encoded, error)
            keeps = progress.mutated and progress.received.key and result is not None and not result.secret
            lost = await self._append(
                progress, [*_take_unrecorded(progress), *with_copies(draft)], blob=encoded if keeps else None
            )
        elif error is not None:
            refused = _refusal_event(progress.received, error)
            # Known callers have limits of their own.
            is_nobody = progress.received.actor is NOBODY
            await self._append(progress, self._refusals.count_refusal(refused) if is_nobody else [refused])
        if lost is not None and (error is None or progress.mutated):
            return Ended(error=_record_error(progress, lost))
        return Ended(result=result, result_json=result_json, error=error)

    async def _settle(
        self,
        progress: Progress,
        identified: Identified,
        result: Result | None,
        encoded: bytes | None,
        error: CodePlaneError | None,
    ) -> Draft:
        """Report the call's end to its task, and describe it for the log."""
        ports, call, admitted = self._ports, identified.call, progress.admitted
        repo_after, commit_after = await ports.repo.state() if progress.mutated else (None, None)
        report = CallReport(
            operation=call.operation,
            budget=progress.budget,
            effects=call.effects,
            failure=call.failure,
            error=error,
            repo_before=admitted.repo_before if admitted else None,
            repo_after=repo_after,
        )
        convergence = progress.received.convergence = ports.tasks.settle(identified.task, report)
        return _record(progress, identified).end_event(
            duration_ns=ports.clock.monotonic_ns() - progress.received.started_ns,
            result=encoded,
            lasting=result.stable_bytes() if result is not None else None,
            unmet=result.unmet() if result is not None else None,
            error=error,
            convergence=convergence,
            repo_after=repo_after,
            commit_after=commit_after,
        )

    async def record_replay(self, progress: Progress, identified: Identified) -> None:
        """Record that an earlier answer was given again; the server, which resumes an approved call, takes none."""
        is_resumed = progress.received.caller.surface == RESUMED_SURFACE
        replayed = [] if is_resumed else [_record(progress, identified).replay_event()]
        await self._append(progress, [*_take_unrecorded(progress), *replayed])

    def record_abandonment(self, progress: Progress) -> bool:
        """Record without waiting that the caller is gone; False when the end was recorded already."""
        identified = progress.identified
        if identified is None or progress.received.recorded:
            return False
        draft = _record(progress, identified).end_event(
            duration_ns=self._ports.clock.monotonic_ns() - progress.received.started_ns,
            result=None,
            error=Cancelled(f"{progress.received.name} was cancelled by its caller"),
            convergence=Convergence(),
            repo_after=None,
        )
        # What cannot be queued any more is what recovery calls an unknown outcome.
        drafts = [*_take_unrecorded(progress), *with_copies(draft)]
        with suppress(CodePlaneError):
            self._ports.log.append_soon(drafts)
        self._keep(progress, drafts)
        return True

    async def count_refusals(self, *, is_closing: bool = False) -> None:
        """Record how many calls of unknown callers were only counted, once their window is over."""
        if drafts := self._refusals.end_windows(is_closing=is_closing):
            await self._ports.log.append(drafts)

    async def record_late(self) -> None:
        """Record the ends of mutations that the log could not take, once it can."""
        if not self._unrecorded:
            return
        log = self._ports.log
        await log.flush()
        for call_id, drafts in [*self._unrecorded.items()]:
            if not await log.query(EventQuery(call_id=call_id, types=(CALL_FINISHED,), limit=1)):
                await log.append(drafts)
            del self._unrecorded[call_id]

    def _keep(self, progress: Progress, drafts: Sequence[Draft]) -> None:
        # Beyond the bound the next start finds out how they ended.
        if progress.mutated and len(self._unrecorded) < _MAX_UNRECORDED:
            self._unrecorded[progress.received.call_id] = drafts

    async def _append(
        self, progress: Progress, drafts: Sequence[Draft], *, blob: bytes | None = None
    ) -> CodePlaneError | None:
        """Append how a call ended and return why it could not be written; waits when it changed something, and for a
        step of work, which is recorded before the next one has an effect."""
        progress.received.recorded = True
        log = self._ports.log
        waits = progress.mutated or progress.received.caller.origin is not None
        try:
            if blob is not None:
                self._ports.blobs.put(blob)
            if drafts and waits and _may_wait(progress) and self._append_later(progress, drafts):
                return None
            if drafts and (waits or not log.append_soon(drafts)):
                await log.append(drafts)
        except CodePlaneError as error:
            self._keep(progress, drafts)
            return error
        return None

    def _append_later(self, progress: Progress, drafts: Sequence[Draft]) -> bool:
        """Append how a call ended with what its caller waits for next; False when the queue is full."""
        record = progress.received.record = self._ports.log.append_later(drafts)
        if record is None:
            return False

        def keep_unwritten(done: "asyncio.Future[object]") -> None:
            if not done.cancelled() and done.exception() is not None:
                self._keep(progress, drafts)

        record.add_done_callback(keep_unwritten)
        return True


def _take_unrecorded(progress: Progress) -> list[Draft]:
    """Facts about a call that are not in the log yet."""
    if progress.identified is None:
        return []
    unrecorded = progress.identified.call.unrecorded
    taken = [*unrecorded]
    unrecorded.clear()
    return taken


def _may_wait(progress: Progress) -> bool:
    """Whether the record may be written with what comes next: never where nothing takes back what the call did."""
    authorised, wait = progress.authorised, progress.received.caller.record_wait
    if wait == "now" or not progress.mutated:
        return wait == "own_record"
    return authorised is not None and authorised.assessment.risk is Risk.WRITE and not authorised.assessment.outward


def _record(progress: Progress, identified: Identified) -> CallRecord:
    """The record of a call that belongs to a task."""
    received, admitted = identified.received, progress.admitted
    return CallRecord(
        call=identified.call,
        operation=identified.call.operation,
        arguments=received.arguments,
        arguments_hash=received.arguments_hash,
        arguments_bytes=received.arguments_bytes,
        workspace=identified.workspace,
        repo_before=admitted.repo_before if admitted else None,
        commit_before=admitted.commit_before if admitted else None,
        executed=progress.executed,
        mutates=progress.mutates,
        budget=progress.budget,
    )


def _refusal_event(received: Received, error: CodePlaneError) -> Draft:
    """The event of a call that was refused before it belonged to a task."""
    payload: JsonObject = {
        "operation": received.operation.name if received.operation else received.name[:_MAX_NAME],
        "status": error.name,
        "reason": error.message[:_MAX_REASON],
        "surface": received.caller.surface,
        "client": received.caller.client,
    }
    return Draft(
        stream="audit",
        type=CALL_REFUSED,
        payload=payload,
        actor=str(received.actor),
        source=Source.POLICY_ENGINE,
        correlation=Correlation(call_id=received.call_id),
    )


def _record_error(progress: Progress, lost: CodePlaneError) -> CodePlaneError:
    if not progress.mutated:
        return lost
    unknown = OutcomeUnknown(
        f"{progress.received.name} ran, but how it ended could not be recorded: {lost.message}",
        details={"executed": True},
    )
    unknown.__cause__ = lost
    return unknown
