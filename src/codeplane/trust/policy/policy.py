"""The policy in force: loaded, asked, looked after while the owner changes it."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import PolicyConfig
from codeplane.kernel.errors import CodePlaneError, PolicyInvalid
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, JsonValue, canonical, dumps
from codeplane.kernel.ports import Decision, EventLog, Verdict
from codeplane.kernel.trace import span
from codeplane.trust.policy.doubts import Vocabulary
from codeplane.trust.policy.engine import Engine, Program
from codeplane.trust.policy.folder import PolicyFolder
from codeplane.trust.policy.hints import explaining, next_step
from codeplane.trust.policy.judgement import Judgement, judged
from codeplane.trust.policy.rego_text import Bundle, Looks, check, shipped, together

STREAM = "policy"
_START_SEC = 15.0
# So long a call waits for a change that is being compiled; then it is refused, not decided by what was replaced.
_CHANGE_SEC = 15.0
# Where nothing else goes on meanwhile, it is shorter.
_CHANGE_AT_ONCE_SEC = 2.0
_POLL_SEC = 0.01
# A decision that failed is not tried again at once: whoever causes it could keep everyone waiting.
_FAILED_NS = 5 * SECOND_NS
_MAX_REASON = 1000


class Logger(Protocol):
    """Where a policy that cannot be used is shouted about."""

    def warning(self, event: str, **details: str) -> object:
        """Say that something is wrong."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A policy that can be asked, or is being compiled."""

    version: str
    yours: Mapping[str, str]
    program: Program
    looks: Looks

    @property
    def files(self) -> tuple[str, ...]:
        """The owner's files."""
        return tuple(self.yours)

    def judged(self, answer: JsonValue, document: JsonObject) -> Judgement:
        """What the program's answer to the document comes to; raises when it is none."""
        found = judged(answer if self.yours else {"shipped": answer, "yours": {}}, document, self.looks)
        if found.decision.verdict is not Verdict.DENY:
            return found
        denied = [one.reason for one in found.fired if (one.policy, one.rule) == ("yours", "deny")]
        hint = next_step(self.yours, denied, document)
        return replace(found, decision=replace(found.decision, hint=hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A call that nothing is known of yet: what the policy in force is told of it, also as the key it is kept by."""

    loaded: Loaded
    seen: JsonObject
    key: str


def load(engine: Engine, yours: Mapping[str, str]) -> Loaded:
    """Check texts and begin to compile them with the shipped policy; PolicyInvalid when that is pointless."""
    check(yours)
    bundle = together(yours) if yours else shipped()
    return Loaded(
        version=_version(bundle),
        yours=dict(yours),
        program=engine.program(bundle.sources, packages=bundle.packages, entry=bundle.entry),
        looks=Looks.of(bundle.sources.values()),
    )


class Policy:
    """Decides by the shipped rules and the owner's own; what fails, denies."""

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
        """Load everything; without a usable policy of the owner's nothing but reads is decided for."""
        self._change_sec = change_sec
        self._folder = PolicyFolder(path=folder)
        self._engine = engine
        self._config = config
        self._clock = clock
        self._log = log
        self._logger = logger
        self._known: OrderedDict[str, tuple[Decision, int | None]] = OrderedDict()
        # The rules are asked one thing at a time; whoever else has a question waits here, not in a thread.
        self._turn = asyncio.Lock()
        self._untold: list[Draft] = []
        self._problem: PolicyInvalid | None = None
        # Never had a good one: what the owner wanted refused is not known, so everything that changes is.
        self._broken = False
        self._coming: Loaded | None = None
        self._looked_ns = clock.monotonic_ns()
        self._marks = self._folder.marks()
        self._current = self._first()
        self._catalogue = catalogue

    @property
    def version(self) -> str:
        """The hash of all texts in force."""
        return self._current.version

    @property
    def files(self) -> tuple[str, ...]:
        """The owner's files in force."""
        return self._current.files

    @property
    def looks(self) -> Looks:
        """What of the input the policy looks at; the rest need not be gathered. A new one may look at everything."""
        self.look()
        return self._current.looks if self._coming is None else Looks(parts=None)

    @property
    def broken(self) -> bool:
        """Whether only reads are decided for, since there never was a usable policy."""
        return self._broken

    def problems(self) -> list[str]:
        """What is wrong with the policies, if something is."""
        if self._problem is None:
            return []
        instead = "only reads run" if self._broken else f"version {self.version[:12]} stays in force"
        return [f"{self._problem.message}; {instead}"]

    def warnings(self) -> list[str]:
        """What in the policies can be used and cannot be meant, and what lies beside them unread."""
        return [
            *map(str, Vocabulary.of(self._catalogue).doubts(self._current.yours)),
            *map(unread_said, self._folder.unread()),
        ]

    def state(self, call: Call) -> JsonObject:
        """What `status` says of the policy."""
        self.look()
        return {
            "version": self.version,
            "files": list(self.files),
            "only_reads": self._broken,
            "problems": list(self.problems()),
            "warnings": list(self.warnings()),
        }

    def decide(self, document: JsonObject) -> Decision:
        """Allow, ask or deny; from memory where the same was decided before under the same policy."""
        self.look()
        self._take_over(wait_sec=min(self._change_sec, _CHANGE_AT_ONCE_SEC))
        asked = self._asked(document)
        if isinstance(asked, Decision):
            return asked
        try:
            with span("policy"):
                answer = asked.loaded.program.evaluate(asked.key)
            return self._kept(asked, asked.loaded.judged(answer, asked.seen).decision)
        except Exception as error:
            return self._failed(asked, error)

    async def decide_aside(self, document: JsonObject) -> Decision:
        """As `decide`, while everything else goes on where the rules take long; one after the other."""
        while True:
            await self.renewed()
            asked = self._asked(document)
            if isinstance(asked, Decision):
                return asked
            if self._turn.locked():
                # Whoever was before may have asked the same, or the policy have changed.
                async with self._turn:
                    continue
            async with self._turn:
                try:
                    with span("policy"):
                        answer = await asked.loaded.program.evaluate_aside(asked.key)
                    decision = asked.loaded.judged(answer, asked.seen).decision
                except Exception as error:
                    if asked.loaded is self._current:
                        return self._failed(asked, error)
                    continue
                if asked.loaded is self._current:
                    return self._kept(asked, decision)

    async def explain(self, document: JsonObject) -> Judgement:
        """The decision and the rules that led to it, without memory."""
        await self.renewed()
        if (refused := self._refused(document)) is not None:
            return Judgement(decision=refused)
        loaded = self._current
        try:
            seen = loaded.looks.seen(document)
            async with self._turn:
                return loaded.judged(await loaded.program.evaluate_aside(seen), seen)
        except Exception as error:
            return Judgement(decision=_failing(error, document))

    async def renewed(self) -> None:
        """As `look`, and wait for a change that is being compiled, while everything else goes on."""
        self.look()
        if self._coming is None:
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + self._change_sec
        while self._coming is not None and loop.time() < until:
            await asyncio.sleep(_POLL_SEC)
            self.look()

    async def watch(self) -> None:
        """Look at the folder every `reload_sec` for as long as this runs, whether somebody calls or not."""
        while True:
            await asyncio.sleep(self._config.reload_sec)
            try:
                await self.renewed()
            except Exception as error:
                # It goes on: whoever calls looks as well, and is told.
                if self._logger is not None:
                    self._logger.warning("the policies could not be looked at", problem=str(error)[:_MAX_REASON])

    def warm(self, wait_sec: float) -> None:
        """Wait, at most so long, until what is in force is compiled; from any thread."""
        self._current.program.settled(wait_sec)

    def look(self) -> None:
        """Take over what changed in the folder, looking at most every `reload_sec`; nothing here waits."""
        if self._coming is not None:
            self._take_over(wait_sec=0.0)
        if self._untold:
            self._tell()
        now = self._clock.monotonic_ns()
        if now - self._looked_ns < self._config.reload_sec * SECOND_NS:
            return
        self._looked_ns = now
        marks = self._folder.marks()
        if marks != self._marks:
            self._marks = marks
            self._renew()

    def settle(self, wait_sec: float) -> None:
        """Wait, at most so long each, for a change that is being compiled and for what is in force."""
        self.look()
        self._take_over(wait_sec=wait_sec)
        self._current.program.settled(wait_sec)

    def close(self) -> None:
        """End what runs beside this process."""
        for loaded in (self._coming, self._current):
            if loaded is not None:
                loaded.program.close()

    def _first(self) -> Loaded:
        """The owner's policy; where it cannot be used the shipped one, for reads. That one is not waited for here."""
        loaded: Loaded | None = None
        try:
            if yours := self._folder.read():
                loaded = load(self._engine, yours)
                _compiled(loaded)
                self._say("policy.loaded", {"version": loaded.version, "files": list(loaded.files)})
        except (CodePlaneError, OSError) as error:
            if loaded is not None:
                loaded.program.close()
            self._broken = True
            self._reject(error, in_force="")
            loaded = None
        return loaded or load(self._engine, {})

    def _renew(self) -> None:
        """Read the folder and begin to compile it; the policy in force stays until that has succeeded."""
        if self._coming is not None:
            self._coming.program.close()
            self._coming = None
        try:
            texts = self._folder.read()
            if texts == self._current.yours and self._problem is None:
                return
            self._coming = load(self._engine, texts)
        except (CodePlaneError, OSError) as error:
            self._reject(error, in_force=self.version)
            return
        self._take_over(wait_sec=0.0)

    def _take_over(self, *, wait_sec: float) -> None:
        coming = self._coming
        if coming is None:
            return
        try:
            if not coming.program.settled(wait_sec):
                return
        except (CodePlaneError, OSError) as error:
            coming.program.close()
            self._coming = None
            self._reject(error, in_force=self.version)
            return
        self._current.program.close()
        news = coming.version != self.version or self._problem is not None
        self._coming, self._current = None, coming
        self._problem, self._broken = None, False
        self._known.clear()
        if news:
            self._say("policy.loaded", {"version": coming.version, "files": list(coming.files)})

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
        self._say("policy.rejected", payload)

    def _problem_message(self) -> str:
        return self._problem.message[:_MAX_REASON] if self._problem is not None else "the policy cannot be used"

    def _say(self, kind: str, payload: JsonObject) -> None:
        self._untold.append(Draft(stream=STREAM, type=kind, payload=payload, source=Source.POLICY_ENGINE))
        self._tell()

    def _tell(self) -> None:
        """Append what happened; a log that is full now takes it later."""
        if self._log is None:
            self._untold.clear()
            return
        try:
            if self._log.append_soon(self._untold):
                self._untold = []
        except CodePlaneError:
            # Whoever cannot write says so elsewhere; a decision does not depend on it.
            return

    def _asked(self, document: JsonObject) -> Decision | _Asked:
        """What is known of a call without asking the rules, or what to ask them."""
        if (refused := self._refused(document)) is not None:
            return refused
        try:
            seen = self._current.looks.seen(document)
            key = dumps(seen)
        except Exception as error:
            return _failing(error, document)
        found = self._known.get(key)
        if found is not None and (found[1] is None or found[1] > self._clock.monotonic_ns()):
            self._known.move_to_end(key)
            return found[0]
        return _Asked(loaded=self._current, seen=seen, key=key)

    def _refused(self, document: JsonObject) -> Decision | None:
        """The denial of what cannot be decided now: what was replaced does not decide, nor does what is not known."""
        if self._coming is not None:
            return _denied("the policy was changed and is still being compiled", hint="call again in a moment")
        if self._broken and document.get("risk") != "READ":
            said = f"{self._problem_message()}; until it is mended only reads run"
            return _denied(said, hint="the owner mends it; what is wrong with it is said by: cpl policy check")
        return None

    def _kept(self, asked: _Asked, decision: Decision) -> Decision:
        self._keep(asked.key, decision, None)
        return decision

    def _failed(self, asked: _Asked, error: Exception) -> Decision:
        decision = _failing(error, asked.seen)
        if not isinstance(error, BlockingIOError):
            self._keep(asked.key, decision, self._clock.monotonic_ns() + _FAILED_NS)
        return decision

    def _keep(self, key: str, decision: Decision, until: int | None) -> None:
        if not self._config.cached:
            return
        self._known[key] = (decision, until)
        self._known.move_to_end(key)
        while len(self._known) > self._config.cached:
            self._known.popitem(last=False)


def unread_said(file: str) -> str:
    """That a file beside the policies is none."""
    return f"{file}: not read; a policy's name ends in .rego"


def _compiled(loaded: Loaded) -> None:
    if not loaded.program.settled(_START_SEC):
        raise PolicyInvalid("the policy cannot be used: it takes too long to compile")


def _denied(reason: str, *, hint: str) -> Decision:
    return Decision(verdict=Verdict.DENY, reasons=(reason,), hint=hint)


def _failing(error: Exception, document: JsonObject) -> Decision:
    said = error.message if isinstance(error, CodePlaneError) else str(error)
    reason = f"the policy failed: {(said or type(error).__name__)[:_MAX_REASON]}"
    if isinstance(error, BlockingIOError):
        return _denied(reason, hint="call again in a moment")
    return _denied(
        reason, hint=f"the owner mends the rule in .codeplane/policy; whether it fails still: {explaining(document)}"
    )


def _version(bundle: Bundle) -> str:
    return digest(canonical({"sources": dict(bundle.sources), "entry": bundle.entry}))
