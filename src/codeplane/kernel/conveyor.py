"""The one door: validate → identify → authorise → approve → budget → execute → record → stream."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import cast

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.arguments import parse
from codeplane.kernel.call import Call, Failure
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.envelope import Meta, Outcome
from codeplane.kernel.errors import (
    Cancelled,
    CodePlaneError,
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    MalformedRequest,
    PolicyDenied,
    ShuttingDown,
)
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.kernel.operation import Assessment, Operation, Request, Result
from codeplane.kernel.ports import (
    Approver,
    Authority,
    Blobs,
    CallReport,
    Claim,
    Convergence,
    Decision,
    EventLog,
    Idempotency,
    Identity,
    Observer,
    RepoState,
    Task,
    Tasks,
    Verdict,
)
from codeplane.kernel.record import Record

NOBODY = Actor(kind=ActorKind.SYSTEM, actor_id="unidentified")


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


@dataclass(slots=True, kw_only=True)
class _Passage:
    """One call on its way through the stages."""

    call_id: str
    request_id: str
    caller: Caller
    started_ns: int
    name: str
    operation: Operation | None = None
    request: Request | None = None
    arguments: JsonObject | None = None
    arguments_hash: str = ""
    actor: Actor = NOBODY
    task: Task | None = None
    key: str | None = None
    claim: Claim | None = None
    call: Call | None = None
    executed: bool = False
    repo_before: str | None = None
    session_id: str | None = None


class Conveyor:
    """Takes every call of every surface through the same stages."""

    def __init__(self, *, catalogue: Catalogue, stages: Stages) -> None:
        self.catalogue = catalogue
        self._stages = stages
        self._running = 0
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

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
            operation = await self._admit(passage, arguments)
            if operation.streaming:
                raise InvalidArgument(
                    f"{operation.name} is a stream", hint=f"watch it with: cpl call {operation.name} --follow"
                )
            if passage.claim is not None and passage.claim.replay is not None:
                return self._replayed(passage, passage.claim)
            result = await self._execute(passage, operation)
            return await self._finish(passage, result=result)
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
            operation = await self._admit(passage, arguments)
            if not operation.streaming:
                result = await self._execute(passage, operation)
                yield result
                yield await self._finish(passage, result=result)
                return
            passage.executed = True
            async with asyncio.timeout(self._time_allowed(passage, operation)):
                items = operation.handler(cast(Call, passage.call), cast(Request, passage.request))
                async for item in cast(AsyncIterator[Result], items):
                    yield item
            yield await self._finish(passage)
        except CodePlaneError as error:
            yield await self._finish(passage, error=error)
        except TimeoutError:
            yield await self._finish(passage, error=self._out_of_time(passage))
        except (asyncio.CancelledError, GeneratorExit):
            self._abandon(passage)
            raise
        except Exception as error:
            yield await self._finish(passage, error=self._crashed(passage, error))
        finally:
            self._end(passage)

    def _start(self, name: str, caller: Caller) -> _Passage:
        self._running += 1
        self._idle.clear()
        return _Passage(
            call_id=new_id("call"),
            request_id=caller.request_id or new_id("req"),
            caller=caller,
            started_ns=self._stages.clock.monotonic_ns(),
            name=name,
        )

    def _end(self, passage: _Passage) -> None:
        if passage.claim is not None:
            passage.claim.release()
        self._running -= 1
        if self._running == 0:
            self._idle.set()

    async def _admit(self, passage: _Passage, arguments: Mapping[str, JsonValue]) -> Operation:
        """Everything before the handler: a call that gets through is identified, allowed, counted and recorded."""
        if self._closing:
            raise ShuttingDown("the server is ending")
        operation = self._validate(passage, arguments)
        request = cast(Request, passage.request)
        stages = self._stages
        passage.actor = stages.identity.identify(passage.caller)
        passage.task = stages.tasks.enter(passage.caller, passage.actor, passage.session_id)
        passage.call = Call(
            call_id=passage.call_id,
            request_id=passage.request_id,
            operation=operation,
            caller=passage.caller,
            actor=passage.actor,
            task=passage.task,
            idempotency_key=passage.key,
            log=stages.log,
            check_path=stages.authority.check_path,
        )
        assessment = operation.assessment(request)
        decision = self._authorise(passage, operation, assessment)
        if operation.mutates and passage.key is not None:
            passage.claim = await stages.idempotency.claim(
                owner_id=passage.actor.owner_id,
                operation=operation.name,
                key=passage.key,
                arguments_hash=passage.arguments_hash,
            )
            if passage.claim.replay is not None:
                return operation
        await self._approve(passage, operation, assessment, decision)
        stages.tasks.charge(passage.task, operation.mark.budget)
        if operation.mutates:
            passage.repo_before = stages.repo.head()
            await stages.log.append([self._record(passage, operation).started()])
        return operation

    def _validate(self, passage: _Passage, arguments: Mapping[str, JsonValue]) -> Operation:
        passage.operation = operation = self.catalogue.get(passage.name)
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

    @staticmethod
    def _reserved(given: JsonObject, name: str, *, keep: bool) -> str | None:
        value = given.get(name) if keep else given.pop(name, None)
        if value is None:
            return None
        if not isinstance(value, str) or not 0 < len(value) <= 200:
            raise InvalidArgument(f"{name} must be a string of 1 to 200 characters")
        return value

    def _authorise(self, passage: _Passage, operation: Operation, assessment: Assessment) -> Decision:
        authority = self._stages.authority
        for path in assessment.paths:
            authority.check_path(path)
        decision = authority.decide(passage.actor, operation, assessment)
        if decision.verdict is Verdict.DENY:
            raise PolicyDenied(
                f"{operation.name} is not allowed: {'; '.join(decision.reasons)}",
                details={"reasons": list(decision.reasons), "risk": assessment.risk.value},
            )
        return decision

    async def _approve(
        self, passage: _Passage, operation: Operation, assessment: Assessment, decision: Decision
    ) -> None:
        if decision.verdict is not Verdict.ASK:
            return
        if self._stages.approver is None:
            raise PolicyDenied(
                f"{operation.name} needs a person's approval, and nobody can be asked here",
                details={"reasons": list(decision.reasons)},
            )
        preview = await operation.preview(cast(Request, passage.request)) if operation.preview else None
        await self._stages.approver.approve(cast(Call, passage.call), assessment, decision, preview)

    async def _execute(self, passage: _Passage, operation: Operation) -> Result:
        passage.executed = True
        try:
            async with asyncio.timeout(self._time_allowed(passage, operation)):
                answer = operation.handler(cast(Call, passage.call), cast(Request, passage.request))
                assert inspect.isawaitable(answer)
                return await answer
        except TimeoutError as error:
            raise self._out_of_time(passage) from error

    @staticmethod
    def _time_allowed(passage: _Passage, operation: Operation) -> float | None:
        limits = [sec for sec in (operation.mark.timeout_sec, passage.caller.timeout_sec) if sec]
        return min(limits, default=None)

    def _out_of_time(self, passage: _Passage) -> DeadlineExceeded:
        spent = (self._stages.clock.monotonic_ns() - passage.started_ns) / 1e9
        return DeadlineExceeded(f"{passage.name} was stopped after {spent:.1f} s")

    def _crashed(self, passage: _Passage, error: Exception) -> Internal:
        name = passage.operation.name if passage.operation else passage.name
        self._stages.observer.call_crashed(operation=name, call_id=passage.call_id, error=error)
        if passage.call is not None and passage.call.failure is None:
            passage.call.failed(Failure.of(error))
        internal = Internal(f"{passage.name} failed: {type(error).__name__}: {str(error)[:300]}")
        internal.__cause__ = error
        return internal

    async def _finish(
        self, passage: _Passage, *, result: Result | None = None, error: CodePlaneError | None = None
    ) -> Outcome:
        """Record how the call ended, durably when it could have changed something, and build the answer."""
        operation, stages = passage.operation, self._stages
        result_json = result.model_dump_json() if result is not None else "null"
        convergence = Convergence()
        if operation is not None and passage.task is not None and passage.call is not None:
            mutated = operation.mutates and passage.executed
            repo_after = stages.repo.head() if mutated else None
            convergence = stages.tasks.settle(
                passage.task,
                CallReport(
                    operation=operation,
                    effects=passage.call.effects,
                    failure=passage.call.failure,
                    error=error,
                    repo_before=passage.repo_before,
                    repo_after=repo_after,
                ),
            )
            encoded = result_json.encode()
            if mutated and passage.key is not None and result is not None:
                stages.blobs.put(encoded)
            record = self._record(passage, operation)
            draft = record.finished(
                duration_ns=stages.clock.monotonic_ns() - passage.started_ns,
                result=encoded if result is not None else None,
                error=error,
                convergence=convergence,
                repo_after=repo_after,
            )
            if mutated:
                try:
                    await stages.log.append([draft])
                except CodePlaneError as lost:
                    lost.details["executed"] = True
                    error, result, result_json = lost, None, "null"
            elif not stages.log.append_soon([draft]):
                await stages.log.append([draft])
        self._observe(passage, "ok" if error is None else error.name)
        return Outcome(
            operation=operation,
            meta=self._meta(passage, convergence),
            result=result,
            result_json=result_json,
            error=error,
        )

    def _abandon(self, passage: _Passage) -> None:
        """The caller is gone: record that, without waiting."""
        if passage.operation is None or passage.task is None or passage.call is None:
            return
        draft = self._record(passage, passage.operation).finished(
            duration_ns=self._stages.clock.monotonic_ns() - passage.started_ns,
            result=None,
            error=Cancelled(f"{passage.name} was cancelled by its caller"),
            convergence=Convergence(),
            repo_after=None,
        )
        self._stages.log.append_soon([draft])
        self._observe(passage, Cancelled.name)

    def _replayed(self, passage: _Passage, claim: Claim) -> Outcome:
        stored = claim.replay
        assert stored is not None
        self._observe(passage, "replayed")
        operation = cast(Operation, passage.operation)
        result = operation.result.model_validate_json(stored.result_json) if stored.result_json else None
        return Outcome(
            operation=operation,
            meta=self._meta(passage, Convergence(), replayed=True),
            result=result,
            result_json=stored.result_json or "null",
            error=stored.error,
        )

    def _record(self, passage: _Passage, operation: Operation) -> Record:
        return Record(
            call=cast(Call, passage.call),
            operation=operation,
            arguments=passage.arguments or {},
            arguments_hash=passage.arguments_hash,
            repo_before=passage.repo_before,
            executed=passage.executed,
        )

    def _meta(self, passage: _Passage, convergence: Convergence, *, replayed: bool = False) -> Meta:
        warnings = list(passage.call.warnings) if passage.call else []
        if passage.operation is not None and passage.operation.mark.deprecated:
            warnings.append(f"{passage.operation.tool} is deprecated: {passage.operation.mark.deprecated}")
        marks: JsonObject = {
            name: value
            for name, value in (
                ("mutation", convergence.mutation_fingerprint),
                ("failure", convergence.failure_fingerprint),
            )
            if value is not None
        }
        return Meta(
            request_id=passage.request_id,
            timestamp_ms=self._stages.clock.now_ns() // 1_000_000,
            call_id=passage.call_id,
            session_id=passage.task.session_id if passage.task else None,
            task_id=passage.task.task_id if passage.task else None,
            task_state=passage.task.state if passage.task else None,
            idempotency_key=passage.key,
            replayed=replayed,
            warnings=tuple(warnings),
            signals=convergence.signals,
            fingerprints=marks or None,
        )

    def _observe(self, passage: _Passage, status: str) -> None:
        ids: JsonObject = {
            "call_id": passage.call_id,
            "request_id": passage.request_id,
            "task_id": passage.task.task_id if passage.task else None,
            "actor": str(passage.actor),
        }
        self._stages.observer.call_finished(
            operation=passage.operation.name if passage.operation else "unknown",
            status=status,
            duration_ns=self._stages.clock.monotonic_ns() - passage.started_ns,
            call=ids,
        )
