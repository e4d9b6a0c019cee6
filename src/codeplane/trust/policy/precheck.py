"""Checks a hypothetical call before any rule: protected paths, people-only operations and capabilities."""

from dataclasses import dataclass

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Operation
from codeplane.kernel.errors import CapabilityDenied, PathDenied, PolicyDenied
from codeplane.kernel.operation import Assessment
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.people import require_person
from codeplane.trust.policy.judgement import Judgement, MatchedRule
from codeplane.trust.protected_paths import refuse_protected_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Precheck:
    """The checks before the rules, for a caller of some kind without a token or grant."""

    grants: Grants

    def resolve_links(self, path: str) -> str:
        """The path with the links of its folder followed."""
        return self.grants.resolve_links(path)

    def refusal(self, actor: Actor, operation: Operation, assessment: Assessment) -> Judgement | None:
        """The judgement on a call that is refused before any rule, or None."""
        try:
            if operation.mark.people:
                require_person(actor)
            for path in assessment.paths:
                refuse_protected_target(path, self.grants)
            self.grants.require(actor, None, operation, assessment)
        except PolicyDenied as error:
            return denial("people", error.message)
        except PathDenied as error:
            return denial("guarded paths", error.message)
        except CapabilityDenied as error:
            return denial("capabilities", error.message)
        return None


def denial(by: str, why: str) -> Judgement:
    """The judgement of a denial that no rule made."""
    fired = (MatchedRule(policy=by, rule="deny", reason=why),)
    return Judgement(decision=Decision(verdict=Verdict.DENY, reasons=(why,)), fired=fired)
