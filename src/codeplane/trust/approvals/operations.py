"""The operations on actions and remembered answers."""

from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import ApprovalNotFound
from codeplane.kernel.event_log import EventScope
from codeplane.kernel.operation import Request, Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import ProjectionStore
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.trust.approvals.action import COLUMNS, STATE_CONDITIONS, Action, action_from_row
from codeplane.trust.approvals.action_outcome import ActionOutcome, OutcomeReader
from codeplane.trust.approvals.approvals import Approvals
from codeplane.trust.approvals.models import (
    ActionList,
    ActionView,
    ApprovedView,
    ApproveRequest,
    AskedView,
    ForgetRequest,
    Forgotten,
    ListRequest,
    RejectRequest,
    RememberedList,
    RememberedView,
    ShowRequest,
)
from codeplane.trust.approvals.remembered_answer import RememberedAnswers
from codeplane.trust.people import is_person, require_person
from codeplane.trust.untrusted.marks import UntrustedMarks

_MAX_REMEMBERED = 500
# An action expires before that, unless the owner set another time.
_ASK_SEC = 3600.0


class ApprovalOperations:
    """Lists, shows and decides actions, and forgets remembered answers."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        remembered: RememberedAnswers,
        log: ProjectionStore,
        cursors: Cursors,
        clock: Clock,
        outcomes: OutcomeReader,
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
        """Actions that wait for, or got, a person's decision, newest first; agents see their own."""
        scope = f"approval.list:{request.status}:{request.for_task_id}"
        before = 2**62
        if request.cursor:
            before = int(str(self._cursors.open(request.cursor, scope=scope)["before"]))
        where = ["position < ?"]
        parameters: list[str | int] = [before]
        if request.status is not None:
            condition, values = STATE_CONDITIONS.get(request.status, ("status = ?", (request.status,)))
            where.append(condition)
            parameters += values
        if request.for_task_id is not None:
            where.append("task_id = ?")
            parameters.append(request.for_task_id)
        own, own_values = _own_actions(call)
        where.append(own)
        parameters += own_values
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM actions WHERE {' AND '.join(where)} ORDER BY position DESC LIMIT ?",
            (*parameters, request.limit + 1),
        )
        actions = [action_from_row(row) for row in rows[: request.limit]]
        following = None
        if len(rows) > request.limit:
            following = self._cursors.issue(scope=scope, state={"before": actions[-1].position})
        (waiting,) = await self._log.select(
            f"SELECT count(*) FROM actions WHERE status = 'PENDING' AND {own}", own_values
        )
        return ActionList(
            items=tuple(ActionView.of(action, now_ns=self._clock.now_ns()) for action in actions),
            pending=int(str(waiting[0])),
            pagination=Pagination(next_cursor=following),
            asked_for=request.status,
        )

    @operation("approval.show", risk=Risk.READ)
    async def show(self, call: Call, request: ShowRequest) -> ActionView:
        """One action with its preview: what exactly would be done, and the end of what came of it."""
        action = await self._visible(call, request.action_id)
        may_see_outcome = is_person(call.actor) or call.actor == action.actor
        outcome = await self._outcomes.of(action) if may_see_outcome else ActionOutcome()
        if outcome.untrusted is not None:
            await self._untrusted.mark(call, *outcome.untrusted)
        return ActionView.of(action, whole=True).model_copy(
            update={"failure": outcome.failure, "exit_code": outcome.exit_code, "answer": outcome.answer}
        )

    @operation("approval.ask_client", risk=Risk.READ, timeout_sec=_ASK_SEC)
    async def ask_client(self, call: Call, request: ShowRequest) -> AskedView:
        """Show a waiting action to the person at the calling client, if the owner lets that client pass answers on
        (cpl clients allow); what it may not answer stays for cpl, the dashboard and devices."""
        # To be shown what others wait for (`context_sharing`) is not to answer for them.
        action = await self._visible(call, request.action_id, scope=EventScope(actor=str(call.actor)))
        action, asked = await self._approvals.ask_client(action.action_id, call)
        return AskedView(**ActionView.of(action).model_dump(), asked=asked)

    @operation("approval.approve", risk=Risk.WRITE, people=True)
    async def approve(self, call: Call, request: ApproveRequest) -> ApprovedView:
        """Let an action run, once; only people decide, and only once."""
        require_person(call.actor)
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
        answer = await self._remembered.find_answer(kind=action.kind, actor=str(action.actor), task_id=task_id)
        return view.model_copy(update={"remembered": None if answer is None else RememberedView.of(answer)})

    @operation("approval.reject", risk=Risk.WRITE, people=True)
    async def reject(self, call: Call, request: RejectRequest) -> ActionView:
        """Say no to an action, with the reason that its agent reads."""
        require_person(call.actor)
        action = await self._approvals.decide(
            request.action_id, approve=False, by=str(call.actor), reason=request.reason
        )
        return ActionView.of(action)

    @operation("approval.trusted", risk=Risk.READ)
    async def list_remembered(self, call: Call, request: Request) -> RememberedList:
        """The answers that are remembered, and until when."""
        answers = await self._remembered.all(_MAX_REMEMBERED)
        return RememberedList(items=tuple(map(RememberedView.of, answers)))

    @operation("approval.forget", risk=Risk.WRITE, people=True)
    async def forget(self, call: Call, request: ForgetRequest) -> Forgotten:
        """Take a remembered answer back: the next such call is asked about."""
        require_person(call.actor)
        return Forgotten(answer_id=await self._approvals.forget(request.answer_id, str(call.actor)))

    async def _visible(self, call: Call, action_id: str, *, scope: EventScope | None = None) -> Action:
        """An action that the caller may see, or that is in a narrower scope; ApprovalNotFound for those of others."""
        action = await self._approvals.get(action_id)
        scope = scope or call.event_scope()
        if scope is not None and not await call.log.own_actors((str(action.actor),), scope):
            raise ApprovalNotFound(f"no action is named {action_id!r}")
        return action


def _own_actions(call: Call) -> tuple[str, tuple[str, ...]]:
    """An SQL condition for the actions that a caller may see, with its values."""
    scope = call.event_scope()
    if scope is None:
        return "1", ()
    condition, values = own_actor_condition("(actor_kind || ':' || actor_id)", scope)
    return condition, tuple(map(str, values))
