"""Runs calls that may outlast their request, and answers for them afterwards, also after a restart."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from codeplane.kernel.actor import Actor, Answer, Caller
from codeplane.kernel.call import Operation
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.deferred_call import DeferredCall, DeferredStatus
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, DeferredCallNotFound, OutcomeUnknown, PolicyDenied
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Identity
from codeplane.work.deferred.record import DeferredRecord, DeferredStore
from codeplane.work.deferred.running import RunningCall
from codeplane.work.items.kind import Door

# A call that takes longer is deferred.
_PROMPT_SEC = 1.0
# How long a call waits for a person; nobody holds a connection for it.
_WAIT_SEC = 3600.0
_MAX_RUNNING_EACH = 16
_MAX_RUNNING = 256
# Ended calls whose outcomes are at hand; those of others are asked for again by their keys.
_MAX_ENDED = 256
_KEY = "idempotency_key"

# Who called, what, and under which key.
Withdraw: TypeAlias = Callable[[Actor, str, str], Awaitable[None]]


class DeferredCallRuns:
    """The deferred calls of one server; each has an id that only its caller knows and may use."""

    def __init__(
        self, *, store: DeferredStore, door: Door, identity: Identity, catalogue: Catalogue, withdraw: Withdraw
    ) -> None:
        """`withdraw` takes back the question that a call's person was asked."""
        self._store = store
        self._withdraw = withdraw
        self._door = door
        self._identity = identity
        self._catalogue = catalogue
        self._runs: OrderedDict[str, RunningCall] = OrderedDict()

    @property
    def running(self) -> int:
        """How many calls have not ended."""
        return sum(run.is_running for run in self._runs.values())

    async def begin(self, name: str, arguments: JsonObject, caller: Caller, *, asks: bool) -> Outcome | DeferredCall:
        """Run a call: its outcome where that comes at once, else a handle that is durable."""
        operation, actor = self._deferrable(name, arguments, caller)
        if operation is None or actor is None or not self._has_room(actor):
            return await self._door.call(name, arguments, caller)
        arguments = {_KEY: new_id("key"), **arguments}
        run = self._run(operation, arguments, actor, caller, asks=asks)
        deferred_id = new_id("task")
        self._keep(deferred_id, run)
        try:
            await asyncio.wait({run.task}, timeout=_PROMPT_SEC)
            record = await self._record(deferred_id, run, operation, arguments)
        except BaseException:
            # The request ended before it had an answer, as when its client left: nobody knows of this call.
            self._runs.pop(deferred_id, None)
            run.task.cancel()
            raise
        if record is None:
            del self._runs[deferred_id]
            return run.task.result()
        if record.follow_up is not None:
            del self._runs[deferred_id]
            outcome = run.task.result()
            return self._view(record, message=_first_line(outcome))
        return self._view_run(record, run, caller, asks=asks)

    async def show(self, deferred_id: str, caller: Caller, *, asks: bool) -> DeferredCall:
        """A call of the caller's own as it is now, taken up again after a restart."""
        record = self._own(deferred_id, caller)
        if record.is_cancelled:
            return self._view(record, status=DeferredStatus.CANCELLED, message=self._cancelled_message(record))
        if record.follow_up is not None:
            return await self._view_work(record, caller)
        return self._view_run(record, await self._resume(record, caller, asks=asks), caller, asks=asks)

    async def answer(self, deferred_id: str, answers: Mapping[str, Answer | None], caller: Caller) -> None:
        """Give the answers of the person at the client that made the call; those of others do not count."""
        record = self._own(deferred_id, caller)
        run = self._runs.get(record.deferred_id)
        if run is None or run.question is None:
            return
        if not run.is_same_client(caller):
            raise PolicyDenied(
                "the question is for the person at the client that made the call",
                hint="answer from there, or: cpl approvals",
            )
        for question_id, answer in answers.items():
            run.give(question_id, answer)

    async def cancel(self, deferred_id: str, caller: Caller) -> None:
        """End a call that has not ended; what it did by then stays done."""
        record = self._own(deferred_id, caller)
        if record.is_cancelled:
            return
        if record.follow_up is not None:
            if (await self._view_work(record, caller)).status is DeferredStatus.ENDED:
                return
            outcome = await self._door.call(record.follow_up.cancel, record.follow_up.arguments, caller)
            if outcome.error is not None:
                raise outcome.error
            await self._store.cancel(record)
            return
        run = await self._resume(record, caller, asks=False)
        if run.is_running:
            # One that had ended before a restart says so at once.
            await asyncio.wait({run.task}, timeout=0 if run.caller is not caller else _PROMPT_SEC)
        if run.is_running:
            run.task.cancel()
            await asyncio.wait({run.task})
        if run.task.cancelled():
            await self._store.cancel(record)
            key = (await self._store.arguments(record))[_KEY]
            await self._withdraw(record.actor, record.operation, str(key))

    def release_waiting(self) -> None:
        """Let go of calls that wait for a person, as the server is about to end; the next run takes them up."""
        for deferred_id, run in [*self._runs.items()]:
            if run.is_running and (run.question is not None or run.waits_for_person):
                del self._runs[deferred_id]
                run.task.cancel()

    async def stop(self) -> None:
        """Cut off what still runs."""
        running = {run.task for run in self._runs.values() if run.is_running}
        self._runs.clear()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _deferrable(
        self, name: str, arguments: JsonObject, caller: Caller
    ) -> tuple[Operation, Actor] | tuple[None, None]:
        """The operation and who calls, if the call may go on later and be asked for again without harm."""
        try:
            operation = self._catalogue.get(name)
            actor = self._identity.identify(caller, operation.name)
        except CodePlaneError:
            return None, None
        if operation.streaming or operation.result.secret:
            # What holds a secret is given once.
            return None, None
        if operation.request.owns(_KEY) or not isinstance(arguments.get(_KEY, ""), str):
            # Without a key it could not be asked for again.
            return None, None
        return operation, actor

    def _has_room(self, actor: Actor) -> bool:
        own = sum(run.is_running and run.actor == actor for run in self._runs.values())
        return own < _MAX_RUNNING_EACH and self.running < _MAX_RUNNING

    def _keep(self, deferred_id: str, run: RunningCall) -> None:
        self._runs[deferred_id] = run
        ended = [known for known, other in self._runs.items() if not other.is_running]
        for known in ended[: max(0, len(ended) - _MAX_ENDED)]:
            del self._runs[known]

    def _run(
        self, operation: Operation, arguments: JsonObject, actor: Actor, caller: Caller, *, asks: bool
    ) -> RunningCall:
        run = RunningCall(actor=actor, caller=caller)
        background = replace(
            caller, on_progress=run.note_progress, ask=run.ask if asks else None, wait_sec=_WAIT_SEC, timeout_sec=None
        )
        run.start(self._call(operation, arguments, background))
        return run

    async def _call(self, operation: Operation, arguments: JsonObject, caller: Caller) -> Outcome:
        outcome = await self._door.call(operation.name, arguments, caller)
        if isinstance(outcome.error, OutcomeUnknown) and operation.mark.repeatable:
            # Cut off by the end of a server: to run it again does no harm.
            return await self._door.call(operation.name, {**arguments, _KEY: new_id("key")}, caller)
        return outcome

    async def _record(
        self, deferred_id: str, run: RunningCall, operation: Operation, arguments: JsonObject
    ) -> DeferredRecord | None:
        """Record a call that goes on, or the work that it began; None when its outcome is all there is."""
        if run.is_running:
            return await self._store.add_call(deferred_id, run.actor, operation.name, arguments)
        result = run.task.result().result
        follow_up = result.follow_up() if result is not None and operation.mutates else None
        return None if follow_up is None else await self._store.add_follow_up(deferred_id, run.actor, follow_up)

    def _own(self, deferred_id: str, caller: Caller) -> DeferredRecord:
        return self._store.own(deferred_id, self._identity.identify(caller))

    async def _resume(self, record: DeferredRecord, caller: Caller, *, asks: bool) -> RunningCall:
        """The run of a call: the one of this process, or a new one that makes the same call under its key."""
        run = self._runs.get(record.deferred_id)
        if run is not None and not run.task.cancelled():
            return run
        arguments = await self._store.arguments(record)
        try:
            operation = self._catalogue.get(record.operation)
        except CodePlaneError as error:
            raise DeferredCallNotFound(f"{record.operation} is gone: {error.message}") from error
        run = self._runs.get(record.deferred_id)
        if run is None or run.task.cancelled():
            run = self._run(operation, arguments, record.actor, caller, asks=asks)
            self._keep(record.deferred_id, run)
            await asyncio.wait({run.task}, timeout=_PROMPT_SEC)
        return run

    async def _view_work(self, record: DeferredRecord, caller: Caller) -> DeferredCall:
        assert record.follow_up is not None
        outcome = await self._door.call(record.follow_up.show, record.follow_up.arguments, caller)
        if outcome.error is not None and outcome.error.retryable:
            raise outcome.error
        if outcome.result is not None and outcome.result.follow_up() is not None:
            return self._view(record, message=_first_line(outcome))
        return self._view(record, status=DeferredStatus.ENDED, outcome=outcome)

    def _view_run(self, record: DeferredRecord, run: RunningCall, caller: Caller, *, asks: bool) -> DeferredCall:
        if run.is_running:
            shown = run.question if asks and run.is_same_client(caller) else None
            view = self._view(record, message=run.message)
            return replace(view, question=shown)
        if run.task.cancelled():
            return self._view(record, status=DeferredStatus.CANCELLED, message=self._cancelled_message(record))
        return self._view(record, status=DeferredStatus.ENDED, outcome=run.task.result())

    def _view(
        self,
        record: DeferredRecord,
        *,
        status: DeferredStatus = DeferredStatus.WORKING,
        message: str = "",
        outcome: Outcome | None = None,
    ) -> DeferredCall:
        return DeferredCall(
            deferred_id=record.deferred_id,
            status=status,
            created_ns=record.created_ns,
            updated_ns=record.updated_ns,
            ttl_ms=self._store.ttl_ms,
            message=message,
            outcome=outcome,
        )

    def _cancelled_message(self, record: DeferredRecord) -> str:
        return f"{record.operation} was cancelled; what it did by then stays done"


def _first_line(outcome: Outcome) -> str:
    return outcome.result.text().partition("\n")[0][:300] if outcome.result is not None else ""
