"""The operations on the policy: `policy.summary`, `policy.check` and `policy.explain`."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.arguments import normalise_arguments, parse
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CodePlaneError, PathDenied, PolicyDenied, PolicyInvalid
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Risk, operation
from codeplane.kernel.ports import Decision
from codeplane.trust.delegation import JOB_RULE, hold_job_to_proposals
from codeplane.trust.people import is_person
from codeplane.trust.policy.engine import Engine
from codeplane.trust.policy.folder import PolicyFolder
from codeplane.trust.policy.input_document import CallContext, build_input, with_link_targets
from codeplane.trust.policy.judgement import Judgement, MatchedRule, stricter
from codeplane.trust.policy.lint import InputVocabulary, LintWarning
from codeplane.trust.policy.loaded_policy import load_policy
from codeplane.trust.policy.models import (
    CheckRequest,
    ExplainRequest,
    FiredRule,
    PolicyChecked,
    PolicyExplained,
    PolicyProblem,
    PolicySummary,
    RiskName,
    SummaryRequest,
)
from codeplane.trust.policy.policy import Policy, ignored_file_warning
from codeplane.trust.policy.precheck import Precheck, denial
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.untrusted.rule import RULE as UNTRUSTED_RULE
from codeplane.trust.untrusted.rule import UntrustedRule

# The engine itself bounds a compilation, by the CPU time it takes.
_COMPILE_SEC = 300.0


# The order of risks in the summary.
_RISKS: tuple[RiskName, ...] = ("WRITE", "DESTRUCTIVE", "EXFILTRATION", "HIGH")


class PolicyOperations:
    """Summarises, checks and explains the policy."""

    def __init__(
        self,
        *,
        policy: Policy,
        engine: Engine,
        folder: PolicyFolder,
        trust: TrustConfig,
        precheck: Precheck,
        untrusted: UntrustedMarks,
        rule: UntrustedRule,
        catalogue: Catalogue,
    ) -> None:
        self._policy = policy
        self._precheck = precheck
        self._engine = engine
        self._folder = folder
        self._trust = trust
        self._untrusted = untrusted
        self._rule = rule
        self._catalogue = catalogue
        # Each check starts a process.
        self._one_check = asyncio.Semaphore(1)

    @operation("policy.summary", risk=Risk.READ)
    async def summary(self, call: Call, request: SummaryRequest) -> PolicySummary:
        """The policy in force: version, files, mode, and what becomes of calls by risk and caller."""
        policy = self._policy
        await policy.reload()
        return PolicySummary(
            version=policy.version,
            mode=self._trust.mode,
            allow=self._trust.allow,
            files=policy.files,
            asks={
                kind: {risk: await self._typical_verdict(kind, risk) for risk in _RISKS}
                for kind in ("agent", "device", "owner")
            },
            only_reads=policy.is_broken,
            problems=tuple(policy.problems()),
            warnings=tuple(policy.warnings()),
        )

    @operation("policy.check", risk=Risk.READ)
    async def check(self, call: Call, request: CheckRequest) -> PolicyChecked:
        """Compile a policy's text, or .codeplane/policy as it is, and say what is wrong with file and line."""
        files: tuple[str, ...] = (request.name,) if request.text is not None else ()
        ignored = self._folder.ignored_files() if request.text is None else ()
        lint_warnings: tuple[LintWarning, ...] = ()
        try:
            texts = {request.name: request.text} if request.text is not None else dict(self._folder.read())
            files = tuple(texts)
            lint_warnings = InputVocabulary.of(self._catalogue).lint(texts)
            async with self._one_check:
                version = await asyncio.to_thread(self._compile_texts, texts)
        except PolicyInvalid as error:
            warnings = (*map(str, lint_warnings), *map(ignored_file_warning, ignored))
            return PolicyChecked(usable=False, files=files, problems=_problems(error), warnings=warnings)
        warnings = (*map(str, lint_warnings), *map(ignored_file_warning, ignored))
        return PolicyChecked(usable=True, files=files, problems=(), version=version, warnings=warnings)

    @operation("policy.explain", risk=Risk.READ)
    async def explain(self, call: Call, request: ExplainRequest) -> PolicyExplained:
        """What would become of a call (allow, ask or deny), the rules that say so, and the input they see."""
        operation = self._operation(request.operation)
        refused: Judgement | None = None
        try:
            assessment = await self._assess(operation, request)
        except (PathDenied, PolicyDenied) as error:
            assessment, refused = Assessment(risk=operation.mark.risk), denial(operation.name, error.message)
        actor = Actor(kind=ActorKind(request.actor), actor_id=request.actor)
        mark = self._untrusted.mark_of_actor(actor) if request.untrusted is None else None
        is_untrusted = (request.untrusted or mark is not None) and not is_person(actor)
        context = CallContext(
            mode=request.mode or self._trust.mode,
            allow=self._trust.allow,
            surface=call.caller.surface,
            client=call.caller.client or "",
            untrusted=is_untrusted,
        )
        arguments = normalise_arguments(parse(operation, request.arguments)) if request.arguments else {}

        async def judge(assessed: Assessment) -> tuple[JsonObject, Judgement]:
            document = build_input(
                actor=actor,
                operation=operation,
                assessment=with_link_targets(assessed, self._precheck.resolve_links),
                context=context,
                arguments=arguments,
            )
            return document, await self._policy.explain(document)

        refused = refused or self._precheck.refusal(actor, operation, assessment)
        if refused is not None:
            document, judgement = (await judge(assessment))[0], refused
        else:
            document, judgement = await judge(assessment)
            for path in await self._expected_paths(operation, request):
                # Each path as it is judged when it is written; the strictest judgement counts.
                assessed = Assessment(risk=assessment.risk, paths=(path,))
                path_document, path_judgement = await judge(assessed)
                path_judgement = self._precheck.refusal(actor, operation, assessed) or path_judgement
                if stricter(judgement.decision, path_judgement.decision) is path_judgement.decision:
                    document, judgement = path_document, path_judgement
        held = hold_job_to_proposals(judgement.decision, actor, assessment)
        judgement = _after_rule(JOB_RULE, judgement, held)
        if is_untrusted:
            decision = await self._rule.apply(judgement.decision, operation, assessment, mark)
            judgement = _after_rule(UNTRUSTED_RULE, judgement, decision)
        return PolicyExplained(
            operation=operation.name,
            verdict=judgement.decision.verdict.value,
            reasons=judgement.decision.reasons,
            fired=tuple(FiredRule(policy=rule.policy, rule=rule.rule, reason=rule.reason) for rule in judgement.fired),
            input=document,
            version=self._policy.version,
        )

    async def _assess(self, operation: Operation, request: ExplainRequest) -> Assessment:
        """The call's own assessment where its arguments are given or not needed, else its operation's."""
        assessment = Assessment(risk=operation.mark.risk)
        if request.arguments:
            assessment = await asyncio.to_thread(operation.assessment, parse(operation, request.arguments))
        elif operation.assess is not None and _has_no_required_arguments(operation):
            with suppress(CodePlaneError):
                assessment = await asyncio.to_thread(operation.assessment, parse(operation, {}))
        if request.risk is None:
            return assessment
        return replace(assessment, risk=Risk[request.risk])

    @staticmethod
    async def _expected_paths(operation: Operation, request: ExplainRequest) -> tuple[str, ...]:
        if not request.arguments and not _has_no_required_arguments(operation):
            return ()
        return await asyncio.to_thread(operation.expected_paths, parse(operation, request.arguments))

    def _operation(self, name: str) -> Operation:
        return self._catalogue.get(name)

    async def _typical_verdict(self, kind: str, risk: RiskName) -> str:
        document: JsonObject = {
            "actor": {"kind": kind, "id": kind, "owner": "owner"},
            "operation": {"name": "", "family": "", "capability": "", "mutates": True},
            "risk": risk,
            "identity": "IDENTITY_USER" if kind in ("owner", "device") else "IDENTITY_BOT",
            "effects": [],
            "paths": [],
            "remotes": [],
            "remote_names": [],
            "kinds": [],
            "resources": [],
            "arguments": {},
            "context": {
                "mode": self._trust.mode,
                "allow": list(self._trust.allow),
                "untrusted": False,
                "grant": None,
                "origin": None,
            },
            "cut": [],
        }
        return (await self._policy.decide_async(document)).verdict.value

    def _compile_texts(self, texts: dict[str, str]) -> str:
        loaded = load_policy(self._engine, texts)
        try:
            if not loaded.program.is_compiled(_COMPILE_SEC):
                raise PolicyInvalid("it takes too long to compile")
        finally:
            loaded.program.close()
        return loaded.version


def _after_rule(name: str, judgement: Judgement, decision: Decision) -> Judgement:
    """The judgement with the decision of a rule that comes after the policy, if that changed it."""
    if decision is judgement.decision:
        return judgement
    matched = MatchedRule(policy=name, rule="ask", reason=decision.reasons[0])
    return Judgement(decision=decision, fired=(*judgement.fired, matched))


def _has_no_required_arguments(operation: Operation) -> bool:
    return not any(field.is_required() for field in operation.request.model_fields.values())


def _problems(error: PolicyInvalid) -> tuple[PolicyProblem, ...]:
    listed = error.details.get("problems")
    problems = [problem for problem in listed if isinstance(problem, dict)] if isinstance(listed, list) else []
    return tuple(
        PolicyProblem(
            file=str(problem.get("file", "")),
            line=int(str(problem.get("line", 0))),
            message=str(problem.get("message")),
        )
        for problem in problems
    ) or (PolicyProblem(file="", line=0, message=error.message),)
