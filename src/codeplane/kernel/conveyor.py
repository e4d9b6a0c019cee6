"""The one door: validate → identify → authorise → approve → budget → execute → record → stream."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from codeplane.kernel.actor import ActorKind, Caller
from codeplane.kernel.arguments import parse
from codeplane.kernel.asking import Asking
from codeplane.kernel.call import Call, Failure
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import (
    ApprovalPending,
    Cancelled,
    CodePlaneError,
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    MalformedRequest,
    OutcomeUnknown,
    SessionClosed,
    SessionNotFound,
    ShuttingDown,
)
from codeplane.kernel.event import Draft
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject, JsonValue, canonical, dumps, is_text
from codeplane.kernel.operation import Assessment, Operation, Request, Result, Risk
from codeplane.kernel.passage import Passage
from codeplane.kernel.place import InWorkspace
from codeplane.kernel.ports import (
    Approver,
    Authority,
    Blobs,
    CallReport,
    Convergence,
    EventLog,
    Idempotency,
    Identity,
    Observer,
    RepoState,
    StoredOutcome,
    Task,
    Tasks,
    Verdict,
)
from codeplane.kernel.record import with_action
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import Trace, Tracer
from codeplane.kernel.welcome import welcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What the conveyor's stages are made of."""

    identity: Identity
    authority: Authority
    approver: Approver | None
    tasks: Tasks
    idempotency: Idempotency
    log: EventLog
    blobs: Blobs
    repo: RepoState
    observer: Observer
    clock: Clock
    redactor: Redactor = field(default_factory=Redactor)
    # Without one nothing is timed.
    tracer: Tracer | None = None


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
            return await self._finish(passage, error=error)
        except asyncio.CancelledError:
            self._abandon(passage)
            raise
        except Exception as error:
            return await self._finish(passage, error=self._crashed(passage, error))
        finally:
            self._end(passage)

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
            yield await self._finish(passage)
        except CodePlaneError as error:
            yield await self._finish(passage, error=error)
        except (asyncio.CancelledError, GeneratorExit):
            self._abandon(passage)
            raise
        except Exception as error:
            yield await self._finish(passage, error=self._crashed(passage, error))
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
            except CodePlaneError:
                # What nobody knows by that name may be anything.
                trace.name = stages.redactor.text(trace.name)
                # What cannot be run is recorded as somebody's all the same; whoever is nobody stays unidentified.
                with suppress(CodePlaneError):
                    passage.actor = passage.caller.actor or stages.identity.identify(passage.caller, passage.name)
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
        if passage.key is None and (asked or (operation.mutates and _goes_out(assessment))):
            passage.key = call.idempotency_key = new_id("key")
        with trace.stage("approve", verdict=decision.verdict.value):
            async with self._until(passage, passage.deadline):
                if operation.mutates and passage.key is not None:
                    await self._claim(passage, operation, passage.key)
                    if passage.replay is not None:
                        return operation
                await self._asking.approved(passage, assessment, decision, recalled=recalled)
        with trace.stage("budget"):
            stages.tasks.charge(passage.task, operation.mark.budget)
            if operation.mutates:
                passage.repo_before = stages.repo.head()
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
            return await self._replayed(passage, operation, passage.replay)
        passage.executed = True
        with passage.trace.stage("execute"):
            async with self._until(passage, self._time_allowed(passage, operation)):
                answer = operation.handler(cast(Call, passage.call), cast(Request, passage.request))
                assert inspect.isawaitable(answer)
                result = await answer
        return await self._finish(passage, result=self._shown(passage, result))

    async def _next(
        self, passage: Passage, results: AsyncGenerator[Result, None], until: float | None
    ) -> Result | None:
        with passage.trace.stage("execute"):
            async with self._until(passage, until):
                item = await anext(results, None)
        return self._shown(passage, item) if item is not None else None

    def _shown(self, passage: Passage, result: Result) -> Result:
        """The result as its caller sees it: nothing that looks like a secret goes to a model."""
        if result.secret or passage.actor.kind in (ActorKind.OWNER, ActorKind.DEVICE):
            return result
        redactor = self._stages.redactor
        if redactor.is_clean(result.model_dump_json()):
            return result
        shown = redactor.json(result.model_dump(mode="json"), assignments=False)
        seen = type(result).model_validate(shown)
        if seen != result and passage.call is not None:
            passage.call.warn("what looks like a secret is left out of this answer")
        return seen

    def _veil(self, passage: Passage, error: CodePlaneError) -> None:
        """The same for an error, which may quote a file or a name; a question says what a person sees already."""
        if passage.actor.kind in (ActorKind.OWNER, ActorKind.DEVICE) or isinstance(error, ApprovalPending):
            return
        redactor = self._stages.redactor
        if redactor.is_clean(dumps(error.to_wire())):
            return
        error.message = redactor.text(error.message, assignments=False)
        error.hint = redactor.text(error.hint, assignments=False)
        shown = redactor.json(error.details, assignments=False)
        error.details = shown if isinstance(shown, dict) else {}
        # Whatever was the cause says it again in words of its own.
        error.__cause__ = None

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

    async def _finish(
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
            repo_after = stages.repo.head() if passage.mutated else None
            report = CallReport(
                operation=passage.operation,
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
            )
            kept = encoded if passage.mutated and passage.key and result is not None and not result.secret else None
            lost = await self._keep(passage, draft, blob=kept)
        elif error is not None:
            await self._keep(passage, passage.refused(error))
        if lost is not None and (error is None or passage.mutated):
            error, result, result_json = self._unrecorded(passage, lost), None, "null"
        if result is not None and not result.secret:
            passage.trace.answered(result_json)
        self._observe(passage, "ok" if error is None else error.name)
        if error is not None:
            self._veil(passage, error)
        return Outcome(
            operation=passage.operation,
            meta=passage.meta(convergence, now_ns=stages.clock.now_ns()),
            result=result,
            result_json=result_json,
            error=error,
        )

    async def _keep(self, passage: Passage, draft: Draft, *, blob: bytes | None = None) -> CodePlaneError | None:
        """Append how a call ended; waits when it changed something, and says why when it could not be written."""
        passage.recorded = True
        log = self._stages.log
        try:
            if blob is not None:
                self._stages.blobs.put(blob)
            drafts = with_action(draft)
            if passage.mutated or not log.append_soon(drafts):
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

    def _abandon(self, passage: Passage) -> None:
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

    async def _replayed(self, passage: Passage, operation: Operation, stored: StoredOutcome) -> Outcome:
        result = operation.remembered(stored.result_json) if stored.result_json else None
        await self._keep(passage, passage.record().replayed())
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


def _goes_out(assessment: Assessment) -> bool:
    """Whether a call reaches other machines: such a call is never sent twice by mistake, key or not."""
    return assessment.risk is Risk.EXFILTRATION or bool(assessment.remotes)
