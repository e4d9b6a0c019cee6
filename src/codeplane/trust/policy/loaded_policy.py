"""The owner's and the shipped rules as one loaded policy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.kernel.ports import Verdict
from codeplane.trust.policy.engine import Engine, Program
from codeplane.trust.policy.hints import denial_hint
from codeplane.trust.policy.judgement import Judgement, judge
from codeplane.trust.policy.rego_source import Bundle, InputUse, check_sources, shipped_bundle, with_shipped


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPolicy:
    """A policy that is compiled or being compiled."""

    version: str
    yours: Mapping[str, str]
    program: Program
    input_use: InputUse

    @property
    def files(self) -> tuple[str, ...]:
        """The owner's files."""
        return tuple(self.yours)

    def judge(self, answer: JsonValue, document: JsonObject) -> Judgement:
        """The judgement from the program's answer, with a hint when it denies; MalformedAnswer for a bad answer."""
        judgement = judge(answer if self.yours else {"shipped": answer, "yours": {}}, document, self.input_use)
        if judgement.decision.verdict is not Verdict.DENY:
            return judgement
        denied = [rule.reason for rule in judgement.fired if (rule.policy, rule.rule) == ("yours", "deny")]
        hint = denial_hint(self.yours, denied, document)
        return replace(judgement, decision=replace(judgement.decision, hint=hint))


def load_policy(engine: Engine, yours: Mapping[str, str]) -> LoadedPolicy:
    """Check the owner's sources and start compiling them with the shipped policy; PolicyInvalid when they fail."""
    check_sources(yours)
    bundle = with_shipped(yours) if yours else shipped_bundle()
    return LoadedPolicy(
        version=_version(bundle),
        yours=dict(yours),
        program=engine.program(bundle.sources, packages=bundle.packages, entry=bundle.entry),
        input_use=InputUse.of(bundle.sources.values()),
    )


def _version(bundle: Bundle) -> str:
    return digest(canonical({"sources": dict(bundle.sources), "entry": bundle.entry}))
