"""The operations on questions to a person, and on answers that are remembered."""

from typing import Literal

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.call_record import NO_PERSON
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.ports import ProjectionStore
from codeplane.trust.approvals.action import COLUMNS, OF_STATE, Action, ActionStatus, from_row
from codeplane.trust.approvals.approver import Approvals
from codeplane.trust.approvals.operation_noun import plain_noun
from codeplane.trust.approvals.outcomes import CameOf, Outcomes
from codeplane.trust.approvals.remembered import Remembered, RememberedAnswers
from codeplane.trust.people import is_person, person
from codeplane.trust.untrusted.marks import UntrustedMarks

_MOST_REMEMBERED = 500


class ListRequest(PageRequest):
    """Which actions are wanted."""

    status: Literal["PENDING", "APPROVED", "REJECTED", "EXECUTED", "EXPIRED", "NOT_RUN"] | None = Field(
        None, description="only those; REJECTED are also those that expired or were not run; without it, all"
    )
    for_task_id: str | None = Field(None, description="only those of this task")


class ShowRequest(Request):
    """Which action is meant."""

    action_id: str = Field(
        min_length=4, max_length=100, description="an action's id, or a beginning or end that only it has"
    )


class ApproveRequest(ShowRequest):
    """A yes."""

    preview_hash: str | None = Field(None, description="of the preview that was looked at; another one is refused")
    trust: bool = Field(False, description="also for the next calls of this kind, until it expires or is forgotten")
    for_task: bool = Field(False, description="also for all calls of this kind in the same task")
    reason: str = Field("", max_length=2000)


class RejectRequest(ShowRequest):
    """A no."""

    reason: str = Field("", max_length=2000, description="what the agent is told")


class ForgetRequest(Request):
    """Which answer is taken back."""

    answer_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class ActionView(Result):
    """An action as a person is shown it."""

    action_id: str
    tool: str
    status: str
    state: str = Field("", description="the status, with EXPIRED, NOT_RUN, FAILED and UNKNOWN told apart")
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
        """What is shown of an action; with its preview when it is looked at by itself."""
        return cls(
            action_id=action.action_id,
            tool=action.operation,
            status=action.status.value,
            state=action.state,
            risk_class=action.risk.name,
            called=plain_noun(action.operation, action.risk),
            identity="IDENTITY_USER" if is_person(action.actor) else "IDENTITY_BOT",
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
            outcome_unknown=action.unknown,
            preview_hash=action.preview_hash,
            preview=action.body if whole else None,
            covers=action.covers,
            age=None if now_ns is None else _age(action, now_ns),
        )

    def line(self) -> str:
        """The action in a line."""
        state = "outcome unknown" if self.outcome_unknown else self.state.replace("_", " ") or self.status
        by = f"decided by {self.decided_by}" if self.decided_by and self.decided_by != NO_PERSON else ""
        said = ", ".join(filter(None, (by, self.age)))
        age = f" ({said})" if said else ""
        return f"{self.action_id} {state} {self.called} by {self.actor}: {self.deterministic_summary}{age}"

    def text(self) -> str:
        said = [self.line(), f"why it is asked: {self.reasons}", f"expires {self.expires_at[:19]}Z"]
        if self.decided_by:
            said.append(f"decided by {self.decided_by}{': ' + self.reason if self.reason else ''}")
        if self.outcome:
            said.append(f"outcome: {self.failure or self.outcome}")
        if self.status == "PENDING" and self.covers:
            said.append(f"with --trust or --task also the next of: {self.covers}")
        if self.answer:
            said += ["answered:", *(f"  {line}" for line in self.answer.split("\n"))]
        return "\n".join([*said, *([self.preview] if self.preview else [])])


class ApprovedView(ActionView):
    """An action that was approved, and what else the answer holds for."""

    remembered: "RememberedView | None" = None

    def text(self) -> str:
        if self.remembered is None:
            return super().text()
        known = self.remembered
        return f"{super().text()}\nremembered {known.until()}: {known.covers}; take it back: {known.forget()}"


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
    """An answer that is remembered."""

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
    def of(cls, known: Remembered) -> "RememberedView":
        """What is shown of a remembered answer."""
        return cls(
            answer_id=known.answer_id,
            actor=known.actor,
            tool=known.operation,
            summary=known.summary,
            task_id=known.task_id,
            by=known.by,
            created_at=rfc3339(known.created_ns),
            expires_at=rfc3339(known.expires_ns),
            covers=known.covers,
        )

    def until(self) -> str:
        """How long it holds."""
        end = f"{self.expires_at[:19]}Z"
        return f"until {self.task_id} ends, {end} at the latest" if self.task_id else f"until {end}"

    def forget(self) -> str:
        """What takes it back."""
        return f"cpl approvals forget {self.answer_id}"


class RememberedList(Result):
    """What runs without a question because a person said so."""

    items: tuple[RememberedView, ...]

    def text(self) -> str:
        return (
            "\n".join(
                f"{item.answer_id} {item.actor} {item.until()}, by {item.by}: {item.covers}" for item in self.items
            )
            or "no answer is remembered"
        )


class Forgotten(Result):
    """An answer that no longer holds."""

    answer_id: str

    def text(self) -> str:
        return f"{self.answer_id} is forgotten; the next such call is asked about"


class ApprovalOperations:
    """People look at what waits for them, and decide."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        remembered: RememberedAnswers,
        log: ProjectionStore,
        cursors: Cursors,
        clock: Clock,
        outcomes: Outcomes,
        untrusted: UntrustedMarks,
    ) -> None:
        self._approvals = approvals
        self._outcomes = outcomes
        self._untrusted = untrusted
        self._remembered = remembered
        self._log = log
        self._cursors = cursors
        self._clock = clock

    @operation("approval.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListRequest) -> ActionList:
        """Actions that wait for, or got, a person's decision, newest first."""
        scope = f"approval.list:{request.status}:{request.for_task_id}"
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        where = ["position < ?"]
        parameters: list[str | int] = [before]
        if request.status is not None:
            condition, values = OF_STATE.get(request.status, ("status = ?", (request.status,)))
            where.append(condition)
            parameters += values
        if request.for_task_id is not None:
            where.append("task_id = ?")
            parameters.append(request.for_task_id)
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM actions WHERE {' AND '.join(where)} ORDER BY position DESC LIMIT ?",
            (*parameters, request.limit + 1),
        )
        found = [from_row(row) for row in rows[: request.limit]]
        following = None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": found[-1].position})
        (waiting,) = await self._log.select("SELECT count(*) FROM actions WHERE status = 'PENDING'")
        return ActionList(
            items=tuple(ActionView.of(one, now_ns=self._clock.now_ns()) for one in found),
            pending=int(str(waiting[0])),
            pagination=Pagination(next_cursor=following),
            asked_for=request.status,
        )

    @operation("approval.show", risk=Risk.READ)
    async def show(self, call: Call, request: ShowRequest) -> ActionView:
        """One action with its preview: what exactly would be done, and the end of what came of it."""
        action = await self._approvals.get(request.action_id)
        own = is_person(call.actor) or call.actor == action.actor
        came = await self._outcomes.of(action) if own else CameOf()
        if came.untrusted is not None:
            await self._untrusted.mark(call, *came.untrusted)
        return ActionView.of(action, whole=True).model_copy(
            update={"failure": came.failure, "exit_code": came.exit_code, "answer": came.answer}
        )

    @operation("approval.approve", risk=Risk.WRITE, people=True)
    async def approve(self, call: Call, request: ApproveRequest) -> ApprovedView:
        """Let an action run, once; only people decide, and only once."""
        person(call.actor)
        action = await self._approvals.decide(
            request.action_id,
            approve=True,
            by=str(call.actor),
            reason=request.reason,
            shown=request.preview_hash,
            trust=request.trust,
            for_task=request.for_task,
        )
        view = ApprovedView(**ActionView.of(action).model_dump())
        if not (request.trust or request.for_task):
            return view
        task_id = action.task_id if request.for_task and not request.trust else None
        known = await self._remembered.covering(kind=action.kind, actor=str(action.actor), task_id=task_id)
        return view.model_copy(update={"remembered": None if known is None else RememberedView.of(known)})

    @operation("approval.reject", risk=Risk.WRITE, people=True)
    async def reject(self, call: Call, request: RejectRequest) -> ActionView:
        """Say no to an action, with the reason that its agent is told."""
        person(call.actor)
        action = await self._approvals.decide(
            request.action_id, approve=False, by=str(call.actor), reason=request.reason
        )
        return ActionView.of(action)

    @operation("approval.trusted", risk=Risk.READ)
    async def trusted(self, call: Call, request: Request) -> RememberedList:
        """The answers that are remembered, and until when."""
        known = await self._remembered.all(_MOST_REMEMBERED)
        return RememberedList(items=tuple(map(RememberedView.of, known)))

    @operation("approval.forget", risk=Risk.WRITE, people=True)
    async def forget(self, call: Call, request: ForgetRequest) -> Forgotten:
        """Take a remembered answer back: the next such call is asked about."""
        person(call.actor)
        return Forgotten(answer_id=await self._approvals.forget(request.answer_id, str(call.actor)))


def _age(action: Action, now_ns: int) -> str:
    asked = f"asked {_span(now_ns - action.created_ns)} ago"
    pending = action.status is ActionStatus.PENDING
    return f"{asked}, expires in {_span(action.expires_ns - now_ns)}" if pending else asked


def _span(span_ns: int) -> str:
    seconds = max(span_ns // SECOND_NS, 0)
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
