"""Requests and results of the capability operations."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import Capability
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.trust.capabilities.grant import ApprovalMode, GrantContext, describe_grant
from codeplane.trust.capabilities.path_scope import MAX_PATTERNS, UnsafePath, check_pattern

DEFAULT_SEC = 3600
LONGEST_SEC = 24 * 3600
_MAX_TOOLS = 200


def _printable(text: str) -> str:
    # A person reads it: it must not hide, reverse or break text.
    if not text.isprintable():
        raise ValueError("holds signs that cannot be shown")
    return text


def _pattern(text: str) -> str:
    try:
        check_pattern(_printable(text))
    except UnsafePath as error:
        raise ValueError(str(error)) from error
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]
Tool = Annotated[str, Field(pattern=r"^(\*|[a-z][a-z0-9_.]{0,99}\*?)$")]
Shown = Annotated[str, AfterValidator(_printable)]


class GrantTerms(Request):
    """The terms of a grant."""

    capabilities: tuple[Capability, ...] = Field(
        min_length=1, max_length=8, description="as in write_files, execute_tools"
    )
    allowed_paths: tuple[Pattern, ...] | None = Field(
        None, max_length=MAX_PATTERNS, description="changes only there, as in src/** or docs; left out: everywhere"
    )
    allowed_tools: tuple[Tool, ...] | None = Field(
        None, max_length=_MAX_TOOLS, description="only these operations, as in git.commit or git.*; left out: all"
    )
    max_agents: int | None = Field(None, ge=0, le=1000, description="with spawn_agents, how many at once")
    approval_mode: ApprovalMode | None = Field(None, description="ask more often than trust.mode does; never less")
    duration_sec: int = Field(DEFAULT_SEC, ge=1, le=LONGEST_SEC)

    def context(self) -> GrantContext:
        """The requested bounds."""
        return GrantContext(
            allowed_paths=self.allowed_paths,
            allowed_tools=self.allowed_tools,
            max_agents=self.max_agents,
            approval_mode=self.approval_mode,
        )

    def words(self) -> tuple[str, tuple[str, ...]]:
        """The requested grant in words."""
        return describe_grant(self.capabilities, self.context(), self.duration_sec * SECOND_NS)


class AskRequest(GrantTerms):
    """An agent's request for itself."""

    prose: ClassVar[frozenset[str]] = frozenset({"justification"})
    justification: Shown = Field("", max_length=1000, description="why, for the person who decides")


class GrantRequest(GrantTerms):
    """A person's grant to an agent."""

    agent: Annotated[str, AfterValidator(_printable)] = Field(
        min_length=1, max_length=200, description="its name, as in the token or as cpl audit shows it"
    )
    without_token: bool = Field(False, description="for a client that only calls itself so: nothing proves its name")
    reason: Shown = Field("", max_length=1000)


class RevokeRequest(Request):
    """The grant to revoke."""

    grant_id: str = Field(min_length=1, max_length=200, description="its id, or a beginning or end that only it has")
    reason: Shown = Field("", max_length=1000)


class ListRequest(PageRequest):
    """Which grants to list."""

    agent: str | None = Field(None, max_length=200, description="of this agent; agents see only their own")
    everything: bool = Field(False, description="also those that were refused, revoked or have expired")


class GrantView(Result):
    """One grant."""

    grant_id: str
    agent_id: str
    verified: bool
    status: str
    capabilities: tuple[str, ...]
    context: JsonObject
    issued_at: str | None
    expires_at: str | None
    granted_by: str
    ended_at: str | None = None
    ended_by: str | None = None
    reason: str | None = None

    def text(self) -> str:
        until = f" until {self.expires_at[:19]}Z" if self.expires_at else ""
        bounds = _bounds(self.context)
        proven = "" if self.verified else " (without a token)"
        return f"{self.grant_id} {self.status} {self.agent_id}{proven} {', '.join(self.capabilities)}{bounds}{until}"


class GrantList(Result):
    """A page of grants, newest first, and what the calling agent holds without a grant."""

    results: tuple[GrantView, ...]
    held: tuple[str, ...] = ()
    held_context: JsonObject = Field(default_factory=dict, description="what bounds that, as the token says")
    pagination: Pagination

    def text(self) -> str:
        lines = [f"held without a grant: {', '.join(self.held)}{_bounds(self.held_context)}"] if self.held else []
        return "\n".join([*lines, *(grant.text() for grant in self.results)] or ["no grants"]) + self.pagination.line()


def _bounds(context: JsonObject) -> str:
    return "".join(f" {name}={value}" for name, value in context.items())
