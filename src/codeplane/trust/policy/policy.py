"""The policy in force: decides calls, and reloads when the owner changes it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import PolicyConfig
from codeplane.kernel.errors import CodePlaneError, PolicyDenied, PolicyInvalid
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.ports import Decision, Verdict
from codeplane.kernel.trace import span
from codeplane.trust.policy.engine import Engine
from codeplane.trust.policy.folder import PolicyFolder
from codeplane.trust.policy.hints import explain_command
from codeplane.trust.policy.judgement import Judgement, hidden_ids
from codeplane.trust.policy.lint import InputVocabulary
from codeplane.trust.policy.loaded_policy import LoadedPolicy, load_policy
from codeplane.trust.policy.rego_source import InputUse

STREAM = "policy"
# The engine itself bounds a compilation, by the CPU time it takes.
_START_SEC = 300.0
# How long a call waits for a change that is being compiled; then it is denied, not decided by the replaced policy.
_CHANGE_SEC = 15.0
# Shorter for callers that block.
_CHANGE_AT_ONCE_SEC = 2.0
_POLL_SEC = 0.01
# A failed evaluation is cached this long, so that its caller cannot keep everyone waiting.
_FAILED_NS = 5 * SECOND_NS
_MAX_REASON = 1000


class Logger(Protocol):
    """Logs problems of the policy."""

    def warning(self, event: str, **details: str) -> object:
        """Log a warning."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evaluation:
    """A call that has to be evaluated: the policy, the input that it uses, and its cache key."""

    loaded: LoadedPolicy
    seen: JsonObject
    key: str


class Policy:
    """Decides by the shipped rules and the owner's; a failure denies."""

    def __init__(
        self,
        *,
        folder: Path,
        engine: Engine,
        config: PolicyConfig,
        clock: Clock,
        log: EventLog | None = None,
        logger: Logger | None = None,
        change_sec: float = _CHANGE_SEC,
        catalogue: Catalogue | None = None,
    ) -> None:
        """Load the policies; while the owner's cannot be used, only reads are allowed."""
        self._change_sec = change_sec
        self._folder = PolicyFolder(path=folder)
        self._engine = engine
        self._config = config
        self._clock = clock
        self._log = log
        self._logger = logger
        self._decisions = BoundedCache[str, tuple[Decision, int | None]](config.cached)
        # One evaluation at a time; others wait here, not in a thread.
        self._evaluating = asyncio.Lock()
        self._unrecorded: list[Draft] = []
        self._problem: PolicyInvalid | None = None
        # No usable policy yet: what the owner wants denied is unknown, so every change is denied.
        self._broken = False
        self._pending: LoadedPolicy | None = None
        self._polled_ns = clock.monotonic_ns()
        self._fingerprint = self._folder.fingerprint()
        self._current = self._load_first()
        self._catalogue = catalogue

    @property
    def version(self) -> str:
        """The hash of all sources in force."""
        return self._current.version

    @property
    def files(self) -> tuple[str, ...]:
        """The owner's files in force."""
        return self._current.files

    @property
    def input_use(self) -> InputUse:
        """Which parts of the input have to be gathered; everything while a change is being compiled."""
        self.poll_folder()
        return self._current.input_use if self._pending is None else InputUse(parts=None)

    @property
    def is_broken(self) -> bool:
        """Whether only reads are allowed because there was never a usable policy."""
        return self._broken

    def problems(self) -> list[str]:
        """The problems of the policies."""
        if self._problem is None:
            return []
        instead = "only reads run" if self._broken else f"version {self.version[:12]} stays in force"
        return [f"{self._problem.message}; {instead}"]

    def warnings(self) -> list[str]:
        """Lint warnings, and files in the folder that are ignored."""
        return [
            *map(str, InputVocabulary.of(self._catalogue).lint(self._current.yours)),
            *map(ignored_file_warning, self._folder.ignored_files()),
        ]

    def state(self, call: Call) -> JsonObject:
        """The policy's part of `status`."""
        self.poll_folder()
        return {
            "version": self.version,
            "files": list(self.files),
            "only_reads": self._broken,
            "problems": list(self.problems()),
            "warnings": list(self.warnings()),
        }

    def decide(self, document: JsonObject) -> Decision:
        """Allow, ask or deny; from the cache where the same was decided before by the same policy."""
        self.poll_folder()
        self._switch_when_compiled(wait_sec=min(self._change_sec, _CHANGE_AT_ONCE_SEC))
        evaluation = self._prepare(document)
        if isinstance(evaluation, Decision):
            return evaluation
        try:
            with span("policy"):
                answer = evaluation.loaded.program.evaluate(evaluation.key)
            return self._cache_decision(evaluation, evaluation.loaded.judge(answer, evaluation.seen).decision)
        except Exception as error:
            return self._cache_failure(evaluation, error)

    async def decide_async(self, document: JsonObject) -> Decision:
        """As `decide`, without blocking the event loop; one evaluation at a time."""
        while True:
            await self.reload()
            evaluation = self._prepare(document)
            if isinstance(evaluation, Decision):
                return evaluation
            if self._evaluating.locked():
                # The evaluation before may have been the same, or the policy may have changed.
                async with self._evaluating:
                    continue
            async with self._evaluating:
                try:
                    with span("policy"):
                        answer = await evaluation.loaded.program.evaluate_async(evaluation.key)
                    decision = evaluation.loaded.judge(answer, evaluation.seen).decision
                except Exception as error:
                    if evaluation.loaded is self._current:
                        return self._cache_failure(evaluation, error)
                    continue
                if evaluation.loaded is self._current:
                    return self._cache_decision(evaluation, decision)

    async def explain(self, document: JsonObject) -> Judgement:
        """The decision and the rules that led to it, without the cache."""
        await self.reload()
        if (refused := self._undecidable(document)) is not None:
            return Judgement(decision=refused)
        loaded = self._current
        try:
            seen = loaded.input_use.project(document)
            async with self._evaluating:
                return loaded.judge(await loaded.program.evaluate_async(seen), seen)
        except Exception as error:
            return Judgement(decision=_failure_decision(error, document))

    async def hidden_resources(self, document: JsonObject, listed: Sequence[str]) -> frozenset[str]:
        """Those of a list of resources that the owner's rules do not let the caller read, by one evaluation.

        PolicyDenied when the rules cannot tell.
        """
        await self.reload()
        if (refused := self._undecidable(document)) is not None:
            raise PolicyDenied(f"the list cannot be judged: {'; '.join(refused.reasons)}", hint=refused.hint)
        loaded = self._current
        if not loaded.yours:
            # Only the owner's rules speak of resources.
            return frozenset()
        try:
            seen = {**loaded.input_use.project(document), "listed": list(listed)}
            async with self._evaluating:
                return hidden_ids(await loaded.program.evaluate_async(seen))
        except Exception as error:
            failed = _failure_decision(error, document)
            raise PolicyDenied(f"the list cannot be judged: {'; '.join(failed.reasons)}", hint=failed.hint) from error

    async def reload(self) -> None:
        """As `poll_folder`, and wait for a change that is being compiled, while everything else goes on."""
        self.poll_folder()
        if self._pending is None:
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + self._change_sec
        while self._pending is not None and loop.time() < until:
            await asyncio.sleep(_POLL_SEC)
            self.poll_folder()

    async def watch(self) -> None:
        """Check the folder every `reload_sec`, until cancelled."""
        while True:
            await asyncio.sleep(self._config.reload_sec)
            try:
                await self.reload()
            except Exception as error:
                # Go on: calls check the folder too, and report the error.
                if self._logger is not None:
                    self._logger.warning("the policies could not be checked", problem=str(error)[:_MAX_REASON])

    def warm(self, wait_sec: float) -> None:
        """Wait, at most so long, until the policy in force is compiled; callable from any thread."""
        self._current.program.is_compiled(wait_sec)

    def poll_folder(self) -> None:
        """Start loading what changed in the folder, at most every `reload_sec`, without waiting."""
        if self._pending is not None:
            self._switch_when_compiled(wait_sec=0.0)
        if self._unrecorded:
            self._append_pending()
        now = self._clock.monotonic_ns()
        if now - self._polled_ns < self._config.reload_sec * SECOND_NS:
            return
        self._polled_ns = now
        marks = self._folder.fingerprint()
        if marks != self._fingerprint:
            self._fingerprint = marks
            self._start_loading()

    def wait_until_compiled(self, wait_sec: float) -> None:
        """Wait, at most so long each, until a pending change and the policy in force are compiled."""
        self.poll_folder()
        self._switch_when_compiled(wait_sec=wait_sec)
        self._current.program.is_compiled(wait_sec)

    def close(self) -> None:
        """Stop the engine's processes."""
        for loaded in (self._pending, self._current):
            if loaded is not None:
                loaded.program.close()

    def _load_first(self) -> LoadedPolicy:
        """Load the owner's policy; if it cannot be used, the shipped one, without waiting for that."""
        loaded: LoadedPolicy | None = None
        try:
            if yours := self._folder.read():
                loaded = load_policy(self._engine, yours)
                _compile(loaded)
                self._record("policy.loaded", {"version": loaded.version, "files": list(loaded.files)})
        except (CodePlaneError, OSError) as error:
            if loaded is not None:
                loaded.program.close()
            self._broken = True
            self._reject(error, in_force="")
            loaded = None
        return loaded or load_policy(self._engine, {})

    def _start_loading(self) -> None:
        """Read the folder and start compiling it; the policy in force stays until that has succeeded."""
        if self._pending is not None:
            self._pending.program.close()
            self._pending = None
        try:
            texts = self._folder.read()
            if texts == self._current.yours and self._problem is None:
                return
            self._pending = load_policy(self._engine, texts)
        except (CodePlaneError, OSError) as error:
            self._reject(error, in_force=self.version)
            return
        self._switch_when_compiled(wait_sec=0.0)

    def _switch_when_compiled(self, *, wait_sec: float) -> None:
        coming = self._pending
        if coming is None:
            return
        try:
            if not coming.program.is_compiled(wait_sec):
                return
        except (CodePlaneError, OSError) as error:
            coming.program.close()
            self._pending = None
            self._reject(error, in_force=self.version)
            return
        self._current.program.close()
        news = coming.version != self.version or self._problem is not None
        self._pending, self._current = None, coming
        self._problem, self._broken = None, False
        self._decisions.clear()
        if news:
            self._record("policy.loaded", {"version": coming.version, "files": list(coming.files)})

    def _reject(self, error: CodePlaneError | OSError, *, in_force: str) -> None:
        self._problem = (
            error if isinstance(error, PolicyInvalid) else PolicyInvalid(f"the policy cannot be used: {error}")
        )
        if self._logger is not None:
            self._logger.warning("the policy was rejected", problem=self._problem.message, in_force=in_force)
        payload: JsonObject = {
            "reason": self._problem.message[:_MAX_REASON],
            "in_force": in_force,
            "only_reads": self._broken,
            "problems": self._problem.details.get("problems", []),
        }
        self._record("policy.rejected", payload)

    def _problem_message(self) -> str:
        return self._problem.message[:_MAX_REASON] if self._problem is not None else "the policy cannot be used"

    def _record(self, kind: str, payload: JsonObject) -> None:
        self._unrecorded.append(Draft(stream=STREAM, type=kind, payload=payload, source=Source.POLICY_ENGINE))
        self._append_pending()

    def _append_pending(self) -> None:
        """Append pending events; those that a full log refuses are appended later."""
        if self._log is None:
            self._unrecorded.clear()
            return
        try:
            if self._log.append_soon(self._unrecorded):
                self._unrecorded = []
        except CodePlaneError:
            # The log reports its own failures, and decisions do not depend on it.
            return

    def _prepare(self, document: JsonObject) -> Decision | _Evaluation:
        """A decision that needs no evaluation, or what to evaluate."""
        if (refused := self._undecidable(document)) is not None:
            return refused
        try:
            seen = self._current.input_use.project(document)
            key = dumps(seen)
        except Exception as error:
            return _failure_decision(error, document)
        cached = self._decisions.get(key)
        if cached is not None and (cached[1] is None or cached[1] > self._clock.monotonic_ns()):
            return cached[0]
        return _Evaluation(loaded=self._current, seen=seen, key=key)

    def _undecidable(self, document: JsonObject) -> Decision | None:
        """The denial of a call that cannot be decided now: a change is being compiled, or there is no usable policy."""
        if self._pending is not None:
            return _denial("the policy was changed and is still being compiled", hint="call again in a moment")
        if self._broken and document.get("risk") != "READ":
            reason = f"{self._problem_message()}; until it is fixed only reads run"
            return _denial(reason, hint="the owner fixes it; see what is wrong: cpl policy check")
        return None

    def _cache_decision(self, evaluation: _Evaluation, decision: Decision) -> Decision:
        self._put_in_cache(evaluation.key, decision, None)
        return decision

    def _cache_failure(self, evaluation: _Evaluation, error: Exception) -> Decision:
        decision = _failure_decision(error, evaluation.seen)
        if not isinstance(error, BlockingIOError):
            self._put_in_cache(evaluation.key, decision, self._clock.monotonic_ns() + _FAILED_NS)
        return decision

    def _put_in_cache(self, key: str, decision: Decision, until: int | None) -> None:
        self._decisions.put(key, (decision, until))


def ignored_file_warning(file: str) -> str:
    """The warning about a file in the folder that is not a policy."""
    return f"{file}: not read; a policy's name ends in .rego"


def _compile(loaded: LoadedPolicy) -> None:
    if not loaded.program.is_compiled(_START_SEC):
        raise PolicyInvalid("the policy cannot be used: it takes too long to compile")


def _denial(reason: str, *, hint: str) -> Decision:
    return Decision(verdict=Verdict.DENY, reasons=(reason,), hint=hint)


def _failure_decision(error: Exception, document: JsonObject) -> Decision:
    message = error.message if isinstance(error, CodePlaneError) else str(error)
    reason = f"the policy failed: {(message or type(error).__name__)[:_MAX_REASON]}"
    if isinstance(error, BlockingIOError):
        return _denial(reason, hint="call again in a moment")
    return _denial(
        reason, hint=f"the owner fixes the rule in .codeplane/policy; check again: {explain_command(document)}"
    )
