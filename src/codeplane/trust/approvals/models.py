"""Requests and results of the approval operations."""

from typing import Literal

from pydantic import Field

from codeplane.kernel.call_record import NO_PERSON
from codeplane.kernel.clock import SECOND_NS, rfc3339
from codeplane.kernel.operation import Request, Result, Risk
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.trust.approvals.action import Action, ActionStatus
from codeplane.trust.approvals.remembered_answer import RememberedAnswer

_NOUNS = {
    "git.push": "push",
    "git.fetch": "fetch",
    "git.pull": "pull",
    "git.clone": "clone",
    "git.submodule_add": "new submodule",
    "git.submodule_update": "fetch of submodules",
    "web.open": "web page",
    "web.search": "web search",
    "run_bash": "shell command",
    "test.run": "test run",
    "tools.start": "tool server to start",
    "workspace.attach": "folder to open",
    "capability.request": "more rights",
    "session.create": "larger budget",
    "session.configure": "larger budget",
}


class ListRequest(PageRequest):
    """Which actions to list."""

    status: Literal["PENDING", "APPROVED", "REJECTED", "EXECUTED", "EXPIRED", "NOT_RUN"] | None = Field(
        None, description="only those; REJECTED are also those that expired or were not run; without it, all"
    )
    for_task_id: str | None = Field(None, description="only those of this task")


class ShowRequest(Request):
    """An action."""

    action_id: str = Field(
        min_length=4, max_length=100, description="an action's id, or a beginning or end that only it has"
    )


class ApproveRequest(ShowRequest):
    """An approval."""

    preview_hash: str | None = Field(None, description="of the preview that was looked at; another one is refused")
    trust: bool = Field(False, description="also for the next calls of this kind, until it expires or is forgotten")
    for_task: bool = Field(False, description="also for all calls of this kind in the same task")
    reason: str = Field("", max_length=2000)


class RejectRequest(ShowRequest):
    """A rejection."""

    reason: str = Field("", max_length=2000, description="the reason that the agent reads")


class ForgetRequest(Request):
    """The remembered answer to forget."""

    answer_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class ActionView(Result):
    """An action as a person sees it."""

    action_id: str
    tool: str
    status: str
    state: str = Field("", description="the status, with EXPIRED, NOT_RUN, FAILED and UNKNOWN apart")
    risk_class: str
    called: str = Field("", description="what people call it, as in push")
    identity: str
    actor: str
    source: str
    source_id: str | None
    deterministic_summary: str
    reasons: str
    created_at: str
    expires_at: str
    decided_by: str | None = None
    decided_at: str | None = None
    reason: str | None = None
    outcome: str | None = None
    outcome_unknown: bool = False
    failure: str | None = Field(None, description="what came of it though it ran: a command's exit code, red tests")
    exit_code: int | None = Field(None, description="of the command that was run")
    answer: str | None = Field(None, description="the end of what was answered, of an action looked at by itself")
    preview_hash: str
    preview: str | None = None
    covers: str | None = Field(None, description="what an answer with trust or for_task would hold for")
    age: str | None = Field(None, description="how long ago it was asked, and how long an answer is waited for")

    @classmethod
    def of(cls, action: Action, *, whole: bool = False, now_ns: int | None = None) -> "ActionView":
        """The view of an action; `whole` includes its preview."""
        return cls(
            action_id=action.action_id,
            tool=action.operation,
            status=action.status.value,
            state=action.state,
            risk_class=action.risk.name,
            called=plain_noun(action.operation, action.risk),
            identity=action.identity,
            actor=str(action.actor),
            source=action.surface,
            source_id=action.task_id,
            deterministic_summary=action.summary,
            reasons=action.reasons,
            created_at=rfc3339(action.created_ns),
            expires_at=rfc3339(action.expires_ns),
            decided_by=action.decided_by,
            decided_at=None if action.decided_ns is None else rfc3339(action.decided_ns),
            reason=action.reason or None,
            outcome=action.outcome,
            outcome_unknown=action.is_outcome_unknown,
            preview_hash=action.preview_hash,
            preview=action.body if whole else None,
            covers=action.covers,
            age=None if now_ns is None else _age(action, now_ns),
        )

    def line(self) -> str:
        """The action in a line."""
        state = "outcome unknown" if self.outcome_unknown else self.state.replace("_", " ") or self.status
        by = f"decided by {self.decided_by}" if self.decided_by and self.decided_by != NO_PERSON else ""
        details = ", ".join(filter(None, (by, self.age)))
        age = f" ({details})" if details else ""
        return f"{self.action_id} {state} {self.called} by {self.actor}: {self.deterministic_summary}{age}"

    def text(self) -> str:
        lines = [self.line(), f"why it is asked: {self.reasons}", f"expires {self.expires_at[:19]}Z"]
        if self.decided_by:
            lines.append(f"decided by {self.decided_by}{': ' + self.reason if self.reason else ''}")
        if self.outcome:
            lines.append(f"outcome: {self.failure or self.outcome}")
        if self.status == "PENDING" and self.covers:
            lines.append(f"with --trust or --task also the next of: {self.covers}")
        if self.answer:
            lines += ["answered:", *(f"  {line}" for line in self.answer.split("\n"))]
        return "\n".join([*lines, *([self.preview] if self.preview else [])])


class ApprovedView(ActionView):
    """An approved action, and the remembered answer."""

    remembered: "RememberedView | None" = None

    def text(self) -> str:
        if self.remembered is None:
            return super().text()
        answer = self.remembered
        return f"{super().text()}\nremembered {answer.until()}: {answer.covers}; take it back: {answer.forget()}"


class AskedView(ActionView):
    """An action after the calling client was asked about it, or was not."""

    asked: bool

    def text(self) -> str:
        if self.asked:
            return super().text()
        return f"{self.line()}\nthis client was not asked; a person decides: cpl approvals"


class ActionList(Result):
    """Actions, newest first."""

    items: tuple[ActionView, ...]
    pending: int
    pagination: Pagination = Pagination()
    asked_for: str | None = Field(None, description="the status of those that were asked for; without it, all")

    def text(self) -> str:
        none = "nothing waits for a decision" if self.asked_for == "PENDING" else "no such action"
        lines = [item.line() for item in self.items] or [none if self.asked_for else "nothing was asked about yet"]
        return "\n".join(lines) + self.pagination.line()


class RememberedView(Result):
    """A remembered answer."""

    answer_id: str
    actor: str
    tool: str
    summary: str
    task_id: str | None
    by: str
    created_at: str
    expires_at: str
    covers: str

    @classmethod
    def of(cls, answer: RememberedAnswer) -> "RememberedView":
        """The view of a remembered answer."""
        return cls(
            answer_id=answer.answer_id,
            actor=answer.actor,
            tool=answer.operation,
            summary=answer.summary,
            task_id=answer.task_id,
            by=answer.by,
            created_at=rfc3339(answer.created_ns),
            expires_at=rfc3339(answer.expires_ns),
            covers=answer.covers,
        )

    def until(self) -> str:
        """How long it is valid, in words."""
        end = f"{self.expires_at[:19]}Z"
        return f"until {self.task_id} ends, {end} at the latest" if self.task_id else f"until {end}"

    def forget(self) -> str:
        """The command that takes it back."""
        return f"cpl approvals forget {self.answer_id}"


class RememberedList(Result):
    """The remembered answers."""

    items: tuple[RememberedView, ...]

    def text(self) -> str:
        return (
            "\n".join(
                f"{item.answer_id} {item.actor} {item.until()}, by {item.by}: {item.covers}" for item in self.items
            )
            or "no answer is remembered"
        )


class Forgotten(Result):
    """A forgotten answer."""

    answer_id: str

    def text(self) -> str:
        return f"{self.answer_id} is forgotten; the next such call is asked about"


def _age(action: Action, now_ns: int) -> str:
    asked_text = f"asked {_duration_text(now_ns - action.created_ns)} ago"
    pending = action.status is ActionStatus.PENDING
    return f"{asked_text}, expires in {_duration_text(action.expires_ns - now_ns)}" if pending else asked_text


def _duration_text(span_ns: int) -> str:
    seconds = max(span_ns // SECOND_NS, 0)
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def plain_noun(operation: str, risk: Risk) -> str:
    """What people call the operation, else its name; with its risk where the noun does not show it."""
    noun = _NOUNS.get(operation)
    if noun is None:
        return f"{operation} ({risk.plain})"
    return f"{noun} ({risk.plain})" if risk is Risk.DESTRUCTIVE else noun
