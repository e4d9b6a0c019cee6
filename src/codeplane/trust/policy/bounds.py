"""What is decided of a call before any rule is asked: paths that nobody writes, and what its caller holds."""

from dataclasses import dataclass

from codeplane.kernel.actor import Actor
from codeplane.kernel.errors import CapabilityDenied, PathDenied, PolicyDenied
from codeplane.kernel.operation import Assessment, Operation
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.guarded import check_led
from codeplane.trust.people import person
from codeplane.trust.policy.judgement import Fired, Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The same for a call that is only thought of, by somebody of a kind without a token or grant of their own."""

    grants: Grants

    def located(self, path: str) -> str:
        """Where links on the way to a path lead."""
        return self.grants.located(path)

    def refusal(self, actor: Actor, operation: Operation, assessment: Assessment) -> Judgement | None:
        """Why such a call comes to no rule at all, or None."""
        try:
            if operation.mark.people:
                person(actor)
            for path in assessment.paths:
                check_led(path, self.grants)
            self.grants.require(actor, None, operation, assessment)
        except PolicyDenied as error:
            return refusal("people", error.message)
        except PathDenied as error:
            return refusal("guarded paths", error.message)
        except CapabilityDenied as error:
            return refusal("capabilities", error.message)
        return None


def refusal(by: str, why: str) -> Judgement:
    """A no that no rule said."""
    fired = (Fired(policy=by, rule="deny", reason=why),)
    return Judgement(decision=Decision(verdict=Verdict.DENY, reasons=(why,)), fired=fired)
