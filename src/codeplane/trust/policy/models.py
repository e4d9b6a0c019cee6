"""Requests and results of the policy operations."""

from typing import Literal

from pydantic import Field

from codeplane.kernel.json import JsonValue, dumps
from codeplane.kernel.operation import Request, Result, Risk
from codeplane.trust.policy.folder import MAX_BYTES

RiskName = Literal["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"]


ActorName = Literal["owner", "device", "agent", "assistant", "job"]


Mode = Literal["automatic", "trust", "always"]


class SummaryRequest(Request):
    """No arguments."""


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
        lines += [f"problem: {message}" for message in self.problems]
        return "\n".join([*lines, *(f"warning: {message}" for message in self.warnings)])

    def unmet(self) -> str | None:
        return self.problems[0] if self.problems else None


class CheckRequest(Request):
    """A policy's source, or the folder as it is."""

    text: str | None = Field(None, max_length=MAX_BYTES, description="a policy; without it, .codeplane/policy")
    name: str = Field(
        "policy.rego", max_length=200, pattern=r"^[\w. /-]+$", description="what to call the text in answers"
    )


class PolicyProblem(Result):
    """A problem in a policy."""

    file: str
    line: int
    message: str


class PolicyChecked(Result):
    """Whether the policies can be used."""

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
            lines = [f"{problem.file or 'policy'}:{problem.line}: {problem.message}" for problem in self.problems]
        return "\n".join([*lines, *(f"warning: {problem}" for problem in self.warnings)])

    def unmet(self) -> str | None:
        return None if self.usable else "the policy cannot be used"


class ExplainRequest(Request):
    """A hypothetical call."""

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
    """A rule that matched."""

    policy: str
    rule: str
    reason: str


class PolicyExplained(Result):
    """How a call would be decided, and why."""

    operation: str
    verdict: str
    reasons: tuple[str, ...]
    fired: tuple[FiredRule, ...]
    input: dict[str, JsonValue]
    version: str

    def text(self) -> str:
        lines = [f"{self.operation}: {self.verdict}" + (f" ({'; '.join(self.reasons)})" if self.reasons else "")]
        lines += [f"{rule.policy} {rule.rule}: {rule.reason}" for rule in self.fired]
        return "\n".join([*lines, f"input {dumps(self.input)}"])
