"""The one door: validate → identify → authorise → approve → budget → execute → record → stream."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Failure
from codeplane.kernel.call_record import key_holder
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.declared_operation import DeclaredResult
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import Cancelled, CodePlaneError, Internal, ShuttingDown
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonValue, dumps
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.ports import StoredOutcome
from codeplane.kernel.result_redaction import ResultRedaction
from codeplane.kernel.stages.approve import Approve
from codeplane.kernel.stages.authorise import Authorise
from codeplane.kernel.stages.budget import CountBudget
from codeplane.kernel.stages.chain import Chain
from codeplane.kernel.stages.execute import Execute
from codeplane.kernel.stages.idempotency import KeyClaims
from codeplane.kernel.stages.identify import Identify
from codeplane.kernel.stages.ports import StagePorts
from codeplane.kernel.stages.progress import Admitted, Progress, Received
from codeplane.kernel.stages.record import Ended, Recorder
from codeplane.kernel.stages.stream import Stream
from codeplane.kernel.stages.validate import Validate
from codeplane.kernel.streamed_mutation import StreamedMutations
from codeplane.kernel.trace import Trace

_ENDINGS = (Exception, asyncio.CancelledError, GeneratorExit)


def _admission(
    catalogue: Catalogue,
    ports: StagePorts,
    recorder: Recorder,
    redaction: ResultRedaction,
    streams: StreamedMutations,
) -> Chain[Received, Admitted]:
    """Return the stages before the handler, in their order; a new stage goes in here."""
    keys = KeyClaims(idempotency=ports.idempotency, streams=streams)
    authorise = Authorise(authority=ports.authority, approver=ports.approver, keys=keys)
    identify = Identify(
        elsewhere=ports.elsewhere,
        job_operation=ports.job_operation,
        identity=ports.identity,
        tasks=ports.tasks,
        keys=keys,
        authority=ports.authority,
        log=ports.log,
        redaction=redaction,
    )
    approve = Approve(
        identity=ports.identity, authorise=authorise, approver=ports.approver, keys=keys, clock=ports.clock
    )
    return (
        Chain.of(Validate(catalogue=catalogue, identity=ports.identity, redactor=ports.redactor))
        .then(identify)
        .then(authorise)
        .then(approve)
        .then(CountBudget(tasks=ports.tasks, repo=ports.repo, recorder=recorder))
    )


class Conveyor:
    """Takes every call of every surface through the same stages."""

    def __init__(self, *, catalogue: Catalogue, ports: StagePorts) -> None:
        self.catalogue = catalogue
        self.ports = ports
        self._running = 0
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()
        redaction = ResultRedaction(ports.redactor)
        self._recorder = Recorder(ports)
        self._streams = StreamedMutations()
        self._admission = _admission(catalogue, ports, self._recorder, redaction, self._streams)
        self._execute = Execute(clock=ports.clock, redaction=redaction)
        self._stream = Stream(identity=ports.identity, observer=ports.observer, clock=ports.clock, redaction=redaction)

    @property
    def running(self) -> int:
        """The number of calls under way."""
        return self._running

    async def drain(self, timeout_sec: float) -> int:
        """Take no new calls and wait for those under way; returns how many were still running at the end."""
        self._closing = True
        try:
            async with asyncio.timeout(timeout_sec):
                await self._idle.wait()
        except TimeoutError:
            pass
        return self._running

    async def call(self, name: str, arguments: Mapping[str, JsonValue] | Request, caller: Caller) -> Outcome:
        """Run one call to its end; failures are outcomes, only cancellation is raised.

        Parts of this process may give the request itself, which is not encoded and checked again.
        """
        progress = self._receive(name, caller, arguments)
        try:
            return await self._answer(progress, await self._admit(progress))
        except _ENDINGS as error:
            return await self._fail(progress, error)
        finally:
            self._end(progress)

    async def stream(
        self, name: str, arguments: Mapping[str, JsonValue] | Request, caller: Caller
    ) -> AsyncIterator[Result | Outcome]:
        """Run one call and yield its results as they come, then how it ended."""
        async with aclosing(self._items(self._receive(name, caller, arguments, streams=True))) as items:
            async for item in items:
                yield item

    async def refuse(self, name: str, caller: Caller, error: CodePlaneError) -> Outcome:
        """Record a request that a surface has refused before it was a call."""
        progress = self._receive(name, caller, {})
        try:
            return await self._finish(progress, error=error)
        finally:
            self._end(progress)

    async def refusal(self, name: str, caller: Caller, operation: str) -> Outcome | None:
        """The refusal of a caller without a valid token, before its request is read; None for others.

        `operation` is what the caller may be about to call, and `name` what is recorded.
        """
        try:
            self.ports.identity.identify(caller, operation)
        except CodePlaneError as error:
            return await self.refuse(name, caller, error)
        return None

    async def sweep(self, *, is_closing: bool = False) -> None:
        """Record what is recorded only now and then: ends that the log could not take, and refusals by number."""
        await self._recorder.record_late()
        await self._recorder.count_refusals(is_closing=is_closing)

    async def _items(self, progress: Progress) -> AsyncGenerator[Result | Outcome, None]:
        """Take a call through all stages: its results as they come, and last its outcome."""
        try:
            admitted = await self._admit(progress)
            if admitted.identified.call.operation.streaming:
                source = self._run_stream if admitted.replay is None else self._replay_stream
                async with aclosing(source(progress, admitted)) as items:
                    async for item in items:
                        yield item
                return
            outcome = await self._answer(progress, admitted)
            if outcome.result is not None:
                yield outcome.result
            yield outcome
        except _ENDINGS as error:
            yield await self._fail(progress, error)
        finally:
            self._end(progress)

    async def _run_stream(self, progress: Progress, admitted: Admitted) -> AsyncGenerator[Result | Outcome, None]:
        """Run the handler of a stream; equal calls with its key get what it yields."""
        progress.executed = True
        received = progress.received
        shared, place = None, (key_holder(received.actor), admitted.identified.call.operation.name, received.key or "")
        if progress.mutates and received.key is not None:
            shared = self._streams.begin(place, received.arguments_hash)
        try:
            async with aclosing(self._stream.items(progress, self._execute.items(admitted))) as items:
                async for item in items:
                    if shared is not None:
                        shared.add(item)
                    yield item
            outcome = await self._finish(progress, result=shared.stored_items() if shared is not None else None)
            if shared is not None:
                self._streams.end(place, outcome.error)
            yield replace(outcome, result=None, result_json="null")
        except CodePlaneError as error:
            if shared is not None:
                self._streams.end(place, error)
            raise
        finally:
            if shared is not None:
                self._streams.end(place, Cancelled("the call with this key was cancelled or failed"))

    async def _replay_stream(self, progress: Progress, admitted: Admitted) -> AsyncGenerator[Result | Outcome, None]:
        """The items that an equal call with the same key was given, or is being given."""
        stored = admitted.replay
        assert stored is not None
        if stored.stream is not None:
            async with aclosing(self._stream.items(progress, stored.stream.attach())) as items:
                async for item in items:
                    yield item
        elif stored.result_json is not None:
            call = admitted.identified.call
            for value in json.loads(stored.result_json)["items"]:
                result = call.operation.restore_result(dumps(value))
                await self.ports.authority.replays(call, result)
                yield result
        await self._recorder.record_replay(progress, admitted.identified)
        yield self._stream.answer(progress, Ended(error=stored.error), replayed=True)

    async def _admit(self, progress: Progress) -> Admitted:
        """Take a call through the stages before its handler."""
        if self._closing:
            raise ShuttingDown("the server is ending")
        return await self._admission.run(progress)

    async def _answer(self, progress: Progress, admitted: Admitted) -> Outcome:
        """Run the handler of an operation that gives one result, or give the answer of an earlier call again."""
        if admitted.replay is not None:
            return await self._replay(progress, admitted, admitted.replay)
        progress.executed = True
        result, result_json = await self._execute.result(admitted)
        if isinstance(result, DeclaredResult):
            # Before it is answered: what another program says is not trusted.
            await self.ports.authority.replays(admitted.identified.call, result)
        return await self._finish(progress, result=result, result_json=result_json)

    async def _fail(self, progress: Progress, error: BaseException) -> Outcome:
        """The outcome of a call that raised; of one that is cancelled, only its end is recorded."""
        if isinstance(error, CodePlaneError):
            return await self._finish(progress, error=error)
        if isinstance(error, Exception):
            return await self._finish(progress, error=self._crash(progress, error))
        if self._recorder.record_abandonment(progress):
            self._stream.observe(progress, Cancelled.name)
        raise error

    def _receive(
        self, name: str, caller: Caller, given: Mapping[str, JsonValue] | Request, *, streams: bool = False
    ) -> Progress:
        self._running += 1
        self._idle.clear()
        ports = self.ports
        received = Received(
            call_id=new_id("call"),
            request_id=caller.request_id or new_id("req"),
            caller=caller,
            name=name,
            given=given,
            streams=streams,
            started_ns=ports.clock.monotonic_ns(),
            deadline=asyncio.get_running_loop().time() + caller.timeout_sec if caller.timeout_sec else None,
            trace=Trace.begin(
                name[:100], clock=ports.clock, traceparent=caller.traceparent, seen=ports.tracer is not None
            ),
        )
        return Progress(received)

    async def _finish(
        self,
        progress: Progress,
        *,
        result: Result | None = None,
        result_json: str | None = None,
        error: CodePlaneError | None = None,
    ) -> Outcome:
        with progress.received.trace.stage(self._recorder.name):
            ended = await self._recorder.record_end(progress, result=result, result_json=result_json, error=error)
            return self._stream.answer(progress, ended)

    async def _replay(self, progress: Progress, admitted: Admitted, stored: StoredOutcome) -> Outcome:
        """Answer with what was answered under the call's key before."""
        call = admitted.identified.call
        result = call.operation.restore_result(stored.result_json) if stored.result_json else None
        await self._recorder.record_replay(progress, admitted.identified)
        ended = Ended(result=result, result_json=stored.result_json or "null", error=stored.error)
        outcome = self._stream.answer(progress, ended, replayed=True)
        if result is not None:
            await self.ports.authority.replays(call, result)
        return outcome

    def _crash(self, progress: Progress, error: Exception) -> Internal:
        """The error for a handler that raised something which is not in the table of errors."""
        received, identified = progress.received, progress.identified
        name = received.operation.name if received.operation else received.name
        self.ports.observer.call_crashed(operation=name, call_id=received.call_id, error=error)
        if identified is not None and identified.call.failure is None:
            identified.call.report_failure(Failure.of(error))
        internal = Internal(f"{received.name} failed: {type(error).__name__}: {str(error)[:300]}")
        internal.__cause__ = error
        return internal

    def _end(self, progress: Progress) -> None:
        received = progress.received
        if (claim := received.claim) is not None:
            if received.record is None or received.record.done():
                claim.release()
            else:
                # A call that waits for the same key has to find the record.
                received.record.add_done_callback(lambda _: claim.release())
        if self.ports.tracer is not None:
            received.trace.finish(received.status, progress.facts())
            self.ports.tracer.end_trace(received.trace)
        self._running -= 1
        if self._running == 0:
            self._idle.set()
