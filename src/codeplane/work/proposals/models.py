"""Requests and results of the proposal operations."""

from typing import ClassVar, Literal

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.work.proposals.proposal import Proposal

MAX_CONTENT_BYTES = 32_768


class CreateProposalRequest(Request):
    """A change that the owner may apply: a file of a skill or policy, or a call."""

    prose: ClassVar[frozenset[str]] = frozenset({"rationale"})
    kind: Literal["skill", "policy", "scope", "runtime"] = Field(
        description="skill and policy are files; scope is capability.grant; runtime is schedule.* or job.resume"
    )
    title: str = Field(min_length=1, max_length=200, pattern=r"\S")
    rationale: str = Field("", max_length=4000, description="why, and what was seen")
    name: str = Field(
        "", max_length=64, pattern="^([a-z0-9]+(-[a-z0-9]+)*)?$", description="of the skill or the policy's file"
    )
    content: str = Field("", max_length=MAX_CONTENT_BYTES, description="the whole SKILL.md or Rego")
    operation: str = Field("", max_length=100, description="instead of a file: the call, as schedule.update")
    arguments: JsonObject = Field(default_factory=dict, description="its arguments")


class ProposalRequest(Request):
    """A proposal."""

    proposal_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class CloseProposalRequest(ProposalRequest):
    """What was decided about a proposal of a file."""

    outcome: Literal["applied", "rejected"]
    reason: str = Field("", max_length=2000)


class ListProposalsRequest(PageRequest):
    """Which proposals to list."""

    state: Literal["OPEN", "APPLIED", "REJECTED", ""] = Field("OPEN", description="empty is all of them")


class ProposalView(Result):
    """A proposal."""

    proposal_id: str
    kind: str
    title: str
    state: str
    proposed_by: str
    thread_id: str | None
    after_untrusted_content: bool
    created_at: str

    @classmethod
    def of(cls, proposal: Proposal) -> "ProposalView":
        """The proposal as callers see it."""
        return cls(
            proposal_id=proposal.proposal_id,
            kind=proposal.kind,
            title=proposal.title,
            state=proposal.state,
            proposed_by=proposal.proposed_by,
            thread_id=proposal.thread_id,
            after_untrusted_content=proposal.untrusted,
            created_at=rfc3339(proposal.created_ns),
        )

    def text(self) -> str:
        return f"{self.proposal_id} {self.kind} {self.state}: {self.title}"


class ProposalPage(Result):
    """Proposals, the newest first."""

    results: tuple[ProposalView, ...]
    pagination: Pagination

    def text(self) -> str:
        return ("\n".join(view.text() for view in self.results) or "no proposals") + self.pagination.line()


class WholeProposal(ProposalView):
    """A proposal with what it would change."""

    rationale: str
    reason: str
    # The file below `.codeplane/` and how it would change, or the call.
    target: str
    content: str
    diff: str
    operation: str
    arguments: JsonObject

    def text(self) -> str:
        untrusted = "\nwritten after untrusted content was read" if self.after_untrusted_content else ""
        change = self.diff or self.content or f"{self.operation} {self.arguments}"
        return f"{super().text()}{untrusted}\n{self.rationale}\n\n{change}"
