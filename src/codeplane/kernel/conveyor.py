"""The one door: validate → identify → authorise → approve → budget → execute → record → stream."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import cached_property, partial
from typing import cast

from codeplane.kernel.actor import Caller
from codeplane.kernel.arguments import parse
from codeplane.kernel.asking import Asking
from codeplane.kernel.call import Call, Failure
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import (
    CodePlaneError,
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    MalformedRequest,
    SessionClosed,
    SessionNotFound,
    ShuttingDown,
    UnknownOperation,
)
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject, JsonValue, canonical, is_text
from codeplane.kernel.operation import Operation, Request, Result, Risk
from codeplane.kernel.passage import Passage
from codeplane.kernel.place import InWorkspace
from codeplane.kernel.ports import (
    Task,
    Verdict,
)
from codeplane.kernel.recording import Recording
from codeplane.kernel.stages import Stages
from codeplane.kernel.trace import Trace
from codeplane.kernel.welcome import welcome


class Conveyor:
    """Takes every call of every surface through the same stages."""

    def __init__(self, *, catalogue: Catalogue, stages: Stages) -> None:
        self.catalogue = catalogue
        self._stages = stages
        self._running = 0
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

    @cached_property
    def _asking(self) -> Asking:
        stages = self._stages
        return Asking(identity=stages.identity, authority=stages.authority, approver=stages.approver)

    @cached_property
    def _recording(self) -> Recording:
        return Recording(self._stages)

    @property
    def running(self) -> int:
        """How many calls are under way."""
        return self._running

    async def drain(self, timeout_sec: float) -> int:
        """Take no new calls and wait for those under way; returns how many were still running at the end."""
        self._closing = True
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_sec)
        except TimeoutError:
            pass
        return self._running

    async def call(self, name: str, arguments: Mapping[str, JsonValue], caller: Caller) -> Outcome:
        """Run one call to its end; failures are outcomes, only cancellation is raised."""
        passage = self._start(name, caller)
        try:
            operation = await self._admit(passage, arguments, streams=False)
            return await self._answer(passage, operation)
        except CodePlaneError as error:
            return await self._recording.finished(passage, error=error)
        except asyncio.CancelledError:
            self._recording.abandoned(passage)
            raise
        except Exception as error:
            return await self._recording.finished(passage, error=self._crashed(passage, error))
        finally:
            self._end(passage)

    async def sweep(self, *, is_closing: bool = False) -> None:
        """Record what is recorded only now and then: how many calls of nobody were refused."""
        await self._recording.refusals_counted(is_closing=is_closing)

    async def refuse(self, name: str, caller: Caller, error: CodePlaneError) -> Outcome:
        """Record a request that a surface has refused before it was a call."""
        passage = self._start(name, caller)
        try:
            return await self._recording.finished(passage, error=error)
        finally:
            self._end(passage)

    async def refusal(self, name: str, caller: Caller, operation: str) -> Outcome | None:
        """What refuses a caller by its token, or for want of one, before its request is read; None for others.

        `operation` is what it may be about to call, and `name` what is recorded.
        """
        try:
            self._stages.identity.identify(caller, operation)
        except CodePlaneError as error:
            return await self.refuse(name, caller, error)
        return None

    async def stream(
        self, name: str, arguments: Mapping[str, JsonValue], caller: Caller
    ) -> AsyncIterator[Result | Outcome]:
        """Run one call and yield its results as they come, then how it ended."""
        passage = self._start(name, caller)
        try:
            operation = await self._admit(passage, arguments, streams=True)
            if not operation.streaming or passage.replay is not None:
                outcome = await self._answer(passage, operation)
                if outcome.result is not None:
                    yield outcome.result
                yield outcome
                return
            passage.executed = True
            until = self._time_allowed(passage, operation)
            items = operation.handler(cast(Call, passage.call), cast(Request, passage.request))
            async with (
                welcome(self._stages.identity, caller) as welcomed,
                aclosing(cast(AsyncGenerator[Result, None], items)) as results,
            ):
                # Each wait has its own timeout: one around the yield would cancel whoever reads slowly.
                while (item := await welcomed.during(self._next(passage, results, until))) is not None:
                    yield item
            yield await self._recording.finished(passage)
        except CodePlaneError as error:
            yield await self._recording.finished(passage, error=error)
        except (asyncio.CancelledError, GeneratorExit):
            self._recording.abandoned(passage)
            raise
        except Exception as error:
            yield await self._recording.finished(passage, error=self._crashed(passage, error))
        finally:
            self._end(passage)

    def _start(self, name: str, caller: Caller) -> Passage:
        self._running += 1
        self._idle.clear()
        stages = self._stages
        return Passage(
            call_id=new_id("call"),
            request_id=caller.request_id or new_id("req"),
            caller=caller,
            started_ns=stages.clock.monotonic_ns(),
            deadline=asyncio.get_running_loop().time() + caller.timeout_sec if caller.timeout_sec else None,
            name=name,
            trace=Trace.begin(
                name[:100], clock=stages.clock, traceparent=caller.traceparent, seen=stages.tracer is not None
            ),
        )

    def _end(self, passage: Passage) -> None:
        if passage.claim is not None:
            passage.claim.release()
        if self._stages.tracer is not None:
            passage.trace.finish(passage.status, passage.facts())
            self._stages.tracer.finished(passage.trace)
        self._running -= 1
        if self._running == 0:
            self._idle.set()

    async def _admit(self, passage: Passage, arguments: Mapping[str, JsonValue], *, streams: bool) -> Operation:
        """Everything before the handler: a call that gets through is identified, allowed, counted and recorded."""
        if self._closing:
            raise ShuttingDown("the server is ending")
        stages, trace = self._stages, passage.trace
        with trace.stage("validate"):
            try:
                operation = self._validate(passage, arguments, streams=streams)
            except CodePlaneError as error:
                # What nobody knows by that name may be anything.
                trace.name = stages.redactor.text(trace.name)
                # What cannot be run is recorded as somebody's all the same; whoever is nobody stays unidentified.
                with suppress(CodePlaneError):
                    passage.actor = passage.caller.actor or stages.identity.identify(passage.caller, passage.name)
                if isinstance(error, UnknownOperation) and not passage.actor.is_person:
                    raise self.catalogue.unknown(passage.name, for_people=False) from None
                raise
        trace.name = operation.name
        with trace.stage("identify"):
            passage.actor = passage.caller.actor or stages.identity.identify(passage.caller, operation.name)
            operation = self._placed(passage, operation)
            passage.task = await self._enter(passage, operation)
        call = passage.call = Call(
            call_id=passage.call_id,
            request_id=passage.request_id,
            operation=operation,
            caller=passage.caller,
            actor=passage.actor,
            task=passage.task,
            idempotency_key=passage.key,
            log=stages.log,
            check_path=stages.authority.may_write,
            redact=partial(self._recording.veil.text, passage.actor),
            secrets_in=partial(self._recording.veil.secrets_in, passage.actor),
            secrets_margin=partial(self._recording.veil.margin, passage.actor),
            request=(request := cast(Request, passage.request)),
        )
        with trace.stage("authorise"):
            recalled = await self._asking.recalled(passage)
            if operation.assess is None:
                assessment = operation.assessment(request, call)
            else:
                # It may ask the disk or git, which must not hold everyone else up.
                assessment = await asyncio.to_thread(operation.assessment, request, call)
            decision = await self._asking.judged(call, assessment)
        passage.verdict = decision.verdict.value
        asked = decision.verdict is Verdict.ASK
        # A dry run, or a plan that is not applied: nothing is claimed, counted or recorded as a change.
        passage.only_reads = assessment.risk is Risk.READ and not asked and not recalled
        if passage.key is None and (asked or (operation.mutates and assessment.outward)):
            joined = await self._asking.joined(passage, assessment, decision) if asked and assessment.outward else None
            passage.key = call.idempotency_key = joined or new_id("key")
        with trace.stage("approve", verdict=decision.verdict.value):
            async with self._until(passage, passage.deadline):
                if passage.mutates and passage.key is not None:
                    await self._claim(passage, operation, passage.key)
                    if passage.replay is not None:
                        return operation
                await self._asking.approved(passage, assessment, decision, recalled=recalled)
        with trace.stage("budget"):
            stages.tasks.charge(passage.task, passage.budget)
            if passage.mutates:
                passage.commit_before, passage.repo_before = stages.repo.head(), await stages.repo.state()
                await stages.log.append([passage.record().started()])
        return operation

    async def _enter(self, passage: Passage, operation: Operation) -> Task:
        """The call's task; a repeated call is answered even when the first one ended the session it names."""
        tasks = self._stages.tasks
        try:
            return tasks.enter(passage.caller, passage.actor, passage.session_id or passage.caller.session_id)
        except (SessionClosed, SessionNotFound):
            if not operation.mutates or passage.key is None:
                raise
            await self._claim(passage, operation, passage.key)
            if passage.replay is None:
                raise
            return tasks.enter(passage.caller, passage.actor, None)

    async def _claim(self, passage: Passage, operation: Operation, key: str) -> None:
        if passage.claim is None:
            passage.claim = await self._stages.idempotency.claim(
                actor=passage.actor,
                operation=operation.name,
                key=key,
                arguments_hash=passage.arguments_hash,
            )

    def _validate(self, passage: Passage, arguments: Mapping[str, JsonValue], *, streams: bool) -> Operation:
        passage.operation = operation = self.catalogue.get(passage.name)
        if operation.streaming and not streams:
            raise InvalidArgument(
                f"{operation.name} is a stream", hint=f"watch it with: cpl call {operation.name} --follow"
            )
        given = dict(arguments)
        fields = operation.request.model_fields
        passage.session_id = self._reserved(given, "session_id", keep="session_id" in fields)
        passage.key = self._reserved(given, "idempotency_key", keep="idempotency_key" in fields)
        try:
            encoded = canonical(given)
        except (ValueError, RecursionError) as error:
            raise MalformedRequest(f"{operation.name}: the arguments cannot be written as UTF-8 JSON") from error
        passage.arguments, passage.arguments_hash = given, digest(encoded)
        passage.request = parse(operation, given)
        return operation

    def _placed(self, passage: Passage, operation: Operation) -> Operation:
        """The operation of the workspace that the request names: its handler, its judgement and its preview."""
        request = passage.request
        if isinstance(request, InWorkspace) and request.workspace:
            passage.operation = operation = self.catalogue.elsewhere(request.workspace).get(operation.name)
            passage.workspace = request.workspace
        return operation

    @staticmethod
    def _reserved(given: JsonObject, name: str, *, keep: bool) -> str | None:
        value = given.get(name) if keep else given.pop(name, None)
        if value is None:
            return None
        if not isinstance(value, str) or not 0 < len(value) <= 200:
            raise InvalidArgument(f"{name} must be a string of 1 to 200 characters")
        if not is_text(value):
            raise MalformedRequest(f"{name} cannot be written as UTF-8")
        return value

    async def _answer(self, passage: Passage, operation: Operation) -> Outcome:
        if passage.replay is not None:
            outcome = await self._recording.replayed(passage, operation, passage.replay)
            if outcome.result is not None:
                await self._stages.authority.replays(cast(Call, passage.call), outcome.result)
            return outcome
        passage.executed = True
        with passage.trace.stage("execute"):
            async with self._until(passage, self._time_allowed(passage, operation)):
                answer = operation.handler(cast(Call, passage.call), cast(Request, passage.request))
                assert inspect.isawaitable(answer)
                result = await answer
        return await self._recording.finished(passage, result=self._recording.veil.result(passage, result))

    async def _next(
        self, passage: Passage, results: AsyncGenerator[Result, None], until: float | None
    ) -> Result | None:
        with passage.trace.stage("execute"):
            async with self._until(passage, until):
                item = await anext(results, None)
        return self._recording.veil.result(passage, item) if item is not None else None

    @staticmethod
    def _time_allowed(passage: Passage, operation: Operation) -> float | None:
        now, own = asyncio.get_running_loop().time(), operation.mark.timeout_sec
        return min((at for at in (now + own if own else None, passage.deadline) if at is not None), default=None)

    @asynccontextmanager
    async def _until(self, passage: Passage, at: float | None) -> AsyncIterator[None]:
        """Stop what is inside when its time is over; a TimeoutError of its own is not a deadline."""
        limit = asyncio.timeout_at(at)
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            spent = (self._stages.clock.monotonic_ns() - passage.started_ns) / 1e9
            raise DeadlineExceeded(f"{passage.name} was stopped after {spent:.1f} s") from error

    def _crashed(self, passage: Passage, error: Exception) -> Internal:
        name = passage.operation.name if passage.operation else passage.name
        self._stages.observer.call_crashed(operation=name, call_id=passage.call_id, error=error)
        if passage.call is not None and passage.call.failure is None:
            passage.call.failed(Failure.of(error))
        internal = Internal(f"{passage.name} failed: {type(error).__name__}: {str(error)[:300]}")
        internal.__cause__ = error
        return internal
