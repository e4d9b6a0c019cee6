"""What can be asked about the policy: what it is, whether a text would do, and why a call is decided as it is."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from pydantic import Field

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.arguments import parse, understood
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CodePlaneError, PathDenied, PolicyDenied, PolicyInvalid
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.operation import Assessment, Operation, Request, Result, Risk, operation
from codeplane.trust.people import is_person
from codeplane.trust.policy.bounds import Bounds, refusal
from codeplane.trust.policy.document import Circumstances, document, reached
from codeplane.trust.policy.doubts import Doubt, Vocabulary
from codeplane.trust.policy.engine import Engine
from codeplane.trust.policy.folder import MAX_BYTES, PolicyFolder
from codeplane.trust.policy.judgement import Judgement, stricter
from codeplane.trust.policy.policy import Policy, load, unread_said
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.untrusted.rule import UntrustedRule

_COMPILE_SEC = 15.0
RiskName = Literal["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"]
ActorName = Literal["owner", "device", "agent", "assistant", "job"]
Mode = Literal["automatic", "trust", "always"]
# In what order calls are shown that ask.
_ASKED: tuple[RiskName, ...] = ("WRITE", "DESTRUCTIVE", "EXFILTRATION", "HIGH")


class SummaryRequest(Request):
    """Nothing needs to be said."""


class PolicySummary(Result):
    """The policy in force."""

    version: str
    mode: str
    allow: tuple[str, ...]
    files: tuple[str, ...]
    asks: dict[str, dict[str, str]] = Field(
        description=(
            "what becomes of an agent's, device's, owner's call, by risk; own rules about operations, paths, remotes or"
            " arguments are not in it, see policy.explain"
        )
    )
    only_reads: bool
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = Field((), description="what can be used and cannot be meant: see policy.check")

    def text(self) -> str:
        lines = [f"policy {self.version[:12]}, mode {self.mode}"]
        lines.append(f"own files: {', '.join(self.files) or 'none'}")
        if self.allow:
            lines.append(f"never asked about: {', '.join(self.allow)}")
        for kind, verdicts in self.asks.items():
            lines.append(
                f"{kind}: " + ", ".join(f"{Risk[risk].plain}: {verdict}" for risk, verdict in verdicts.items())
            )
        if self.files:
            lines.append(
                "own rules about operations, paths, remotes or arguments are not in these lines; they are in:"
                " cpl policy explain OPERATION KEY=VALUE"
            )
        lines += [f"problem: {one}" for one in self.problems]
        return "\n".join([*lines, *(f"warning: {one}" for one in self.warnings)])

    def unmet(self) -> str | None:
        return self.problems[0] if self.problems else None


class CheckRequest(Request):
    """A text to be checked, or the folder as it is."""

    text: str | None = Field(None, max_length=MAX_BYTES, description="a policy; without it, .codeplane/policy")
    name: str = Field(
        "policy.rego", max_length=200, pattern=r"^[\w. /-]+$", description="what to call the text in answers"
    )


class PolicyProblem(Result):
    """Something that is wrong with a policy."""

    file: str
    line: int
    message: str


class PolicyChecked(Result):
    """Whether policies could be used."""

    usable: bool
    files: tuple[str, ...]
    problems: tuple[PolicyProblem, ...]
    version: str | None = None
    warnings: tuple[str, ...] = Field(
        (), description="fields and values that no call has, so that a rule never speaks; files that are not read"
    )

    def text(self) -> str:
        if self.usable:
            lines = [f"usable: {', '.join(self.files) or 'no policies of your own'}"]
        else:
            lines = [f"{one.file or 'policy'}:{one.line}: {one.message}" for one in self.problems]
        return "\n".join([*lines, *(f"warning: {one}" for one in self.warnings)])

    def unmet(self) -> str | None:
        return None if self.usable else "the policy cannot be used"


class ExplainRequest(Request):
    """A call that is thought of."""

    operation: str = Field(max_length=200, description="its name, as in git.push")
    arguments: dict[str, JsonValue] = Field({}, description="what it would be called with; its risk depends on it")
    actor: ActorName = Field("agent", description="who would call")
    risk: RiskName | None = Field(None, description="instead of the risk that the call has")
    mode: Mode | None = Field(None, description="instead of trust.mode")
    untrusted: bool | None = Field(
        None,
        description="as if untrusted content had been read, or not; without it, as agents without a token have read it",
    )


class FiredRule(Result):
    """A rule that said something."""

    policy: str
    rule: str
    reason: str


class PolicyExplained(Result):
    """What would become of a call, and why."""

    operation: str
    verdict: str
    reasons: tuple[str, ...]
    fired: tuple[FiredRule, ...]
    input: dict[str, JsonValue]
    version: str

    def text(self) -> str:
        lines = [f"{self.operation}: {self.verdict}" + (f" ({'; '.join(self.reasons)})" if self.reasons else "")]
        lines += [f"{one.policy} {one.rule}: {one.reason}" for one in self.fired]
        return "\n".join([*lines, f"input {dumps(self.input)}"])


class PolicyOperations:
    """Questions about the policy."""

    def __init__(
        self,
        *,
        policy: Policy,
        engine: Engine,
        folder: PolicyFolder,
        trust: TrustConfig,
        bounds: Bounds,
        untrusted: UntrustedMarks,
        rule: UntrustedRule,
        catalogue: Catalogue,
    ) -> None:
        self._policy = policy
        self._bounds = bounds
        self._engine = engine
        self._folder = folder
        self._trust = trust
        self._untrusted = untrusted
        self._rule = rule
        self._catalogue = catalogue
        # Each check is a process of its own.
        self._one_check = asyncio.Semaphore(1)

    @operation("policy.summary", risk=Risk.READ)
    async def summary(self, call: Call, request: SummaryRequest) -> PolicySummary:
        """The policy in force: version, files, mode, and what becomes of calls by risk and caller."""
        policy = self._policy
        await policy.renewed()
        return PolicySummary(
            version=policy.version,
            mode=self._trust.mode,
            allow=self._trust.allow,
            files=policy.files,
            asks={
                kind: {risk: await self._thought(kind, risk) for risk in _ASKED}
                for kind in ("agent", "device", "owner")
            },
            only_reads=policy.broken,
            problems=tuple(policy.problems()),
            warnings=tuple(policy.warnings()),
        )

    @operation("policy.check", risk=Risk.READ)
    async def check(self, call: Call, request: CheckRequest) -> PolicyChecked:
        """Compile a policy's text, or .codeplane/policy as it is, and say what is wrong with file and line."""
        files: tuple[str, ...] = (request.name,) if request.text is not None else ()
        beside = self._folder.unread() if request.text is None else ()
        doubts: tuple[Doubt, ...] = ()
        try:
            texts = {request.name: request.text} if request.text is not None else dict(self._folder.read())
            files = tuple(texts)
            doubts = Vocabulary.of(self._catalogue).doubts(texts)
            async with self._one_check:
                version = await asyncio.to_thread(self._compiled, texts)
        except PolicyInvalid as error:
            warnings = (*map(str, doubts), *map(unread_said, beside))
            return PolicyChecked(usable=False, files=files, problems=_problems(error), warnings=warnings)
        warnings = (*map(str, doubts), *map(unread_said, beside))
        return PolicyChecked(usable=True, files=files, problems=(), version=version, warnings=warnings)

    @operation("policy.explain", risk=Risk.READ)
    async def explain(self, call: Call, request: ExplainRequest) -> PolicyExplained:
        """What would become of a call (allow, ask or deny), the rules that say so, and the input they see."""
        found = self._known(request.operation)
        refused: Judgement | None = None
        try:
            assessment = await self._assessed(found, request)
        except (PathDenied, PolicyDenied) as error:
            assessment, refused = Assessment(risk=found.mark.risk), refusal(found.name, error.message)
        actor = Actor(kind=ActorKind(request.actor), actor_id=request.actor)
        mark = self._untrusted.of_actor(actor) if request.untrusted is None else None
        is_untrusted = (request.untrusted or mark is not None) and not is_person(actor)
        circumstances = Circumstances(
            mode=request.mode or self._trust.mode,
            allow=self._trust.allow,
            surface=call.caller.surface,
            client=call.caller.client or "",
            untrusted=is_untrusted,
        )
        arguments = understood(parse(found, request.arguments)) if request.arguments else {}

        async def judged(assessed: Assessment) -> tuple[JsonObject, Judgement]:
            told = document(
                actor=actor,
                operation=found,
                assessment=reached(assessed, self._bounds.located),
                circumstances=circumstances,
                arguments=arguments,
            )
            return told, await self._policy.explain(told)

        refused = refused or self._bounds.refusal(actor, found, assessment)
        if refused is not None:
            given, judgement = (await judged(assessment))[0], refused
        else:
            given, judgement = await judged(assessment)
            for path in await self._foreseen(found, request):
                # Each as it is judged on the way; the first that is let less far is told.
                assessed = Assessment(risk=assessment.risk, paths=(path,))
                told, one = await judged(assessed)
                one = self._bounds.refusal(actor, found, assessed) or one
                if stricter(judgement.decision, one.decision) is one.decision:
                    given, judgement = told, one
        if is_untrusted:
            judgement = await self._rule.judgement_after(judgement, found, assessment, mark)
        return PolicyExplained(
            operation=found.name,
            verdict=judgement.decision.verdict.value,
            reasons=judgement.decision.reasons,
            fired=tuple(FiredRule(policy=one.policy, rule=one.rule, reason=one.reason) for one in judgement.fired),
            input=given,
            version=self._policy.version,
        )

    async def _assessed(self, found: Operation, request: ExplainRequest) -> Assessment:
        """The call's own judgement where its arguments are given or it needs none, else that of its operation."""
        assessment = Assessment(risk=found.mark.risk)
        if request.arguments:
            assessment = await asyncio.to_thread(found.assessment, parse(found, request.arguments))
        elif found.assess is not None and _needs_nothing(found):
            with suppress(CodePlaneError):
                assessment = await asyncio.to_thread(found.assessment, parse(found, {}))
        if request.risk is None:
            return assessment
        return replace(assessment, risk=Risk[request.risk])

    @staticmethod
    async def _foreseen(found: Operation, request: ExplainRequest) -> tuple[str, ...]:
        if not request.arguments and not _needs_nothing(found):
            return ()
        return await asyncio.to_thread(found.expected_paths, parse(found, request.arguments))

    def _known(self, name: str) -> Operation:
        return self._catalogue.get(name)

    async def _thought(self, kind: str, risk: RiskName) -> str:
        given: JsonObject = {
            "actor": {"kind": kind, "id": kind, "owner": "owner"},
            "operation": {"name": "", "family": "", "capability": "", "mutates": True},
            "risk": risk,
            "effects": [],
            "paths": [],
            "remotes": [],
            "remote_names": [],
            "kinds": [],
            "resources": [],
            "arguments": {},
            "context": {"mode": self._trust.mode, "allow": list(self._trust.allow), "untrusted": False, "grant": None},
            "cut": [],
        }
        return (await self._policy.decide_aside(given)).verdict.value

    def _compiled(self, texts: dict[str, str]) -> str:
        loaded = load(self._engine, texts)
        try:
            if not loaded.program.settled(_COMPILE_SEC):
                raise PolicyInvalid("it takes too long to compile")
        finally:
            loaded.program.close()
        return loaded.version


def _needs_nothing(found: Operation) -> bool:
    return not any(one.is_required() for one in found.request.model_fields.values())


def _problems(error: PolicyInvalid) -> tuple[PolicyProblem, ...]:
    listed = error.details.get("problems")
    found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return tuple(
        PolicyProblem(file=str(one.get("file", "")), line=int(str(one.get("line", 0))), message=str(one.get("message")))
        for one in found
    ) or (PolicyProblem(file="", line=0, message=error.message),)
