"""Proposes actions to a person, waits for the decision, and settles each action once."""

import asyncio
from contextlib import suppress

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import EXPIRED_REASON, NO_PERSON, action_stream
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.config import ApprovalsConfig
from codeplane.kernel.errors import (
    ApprovalExpired,
    ApprovalNotFound,
    ApprovalSettled,
    IdempotencyConflict,
    InvalidArgument,
    Overloaded,
    SequenceConflict,
)
from codeplane.kernel.event import Draft, Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Risk
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger, Payloads, Question
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.short_ids import match_stored_id
from codeplane.trust.approvals.action import Action, ActionStatus, kind_of
from codeplane.trust.approvals.action_errors import check_approved, pending_error, refuse_rejected, settled_error
from codeplane.trust.approvals.action_store import ActionStore, escape_like
from codeplane.trust.approvals.answer_wait import AnswerWait, question_text
from codeplane.trust.approvals.events import ApprovalEvents, expiring_event, forget_event
from codeplane.trust.approvals.remembered_answer import RememberedAnswer, RememberedAnswers
from codeplane.trust.approvals.table import APPROVED, REJECTED
from codeplane.trust.clients.registry import ClientRegistry

_MAX_UNATTENDED = 500
_MINUTE_NS = 60 * SECOND_NS


class Approvals:
    """The approve stage of the conveyor, and where people decide."""

    def __init__(
        self,
        *,
        log: Ledger,
        payloads: Payloads,
        clock: Clock,
        config: ApprovalsConfig,
        remembered: RememberedAnswers,
        redactor: Redactor,
        clients: ClientRegistry,
    ) -> None:
        self._log = log
        self._payloads = payloads
        self._clock = clock
        self._config = config
        self._remembered = remembered
        self._store = ActionStore(log)
        self._events = ApprovalEvents(clock=clock, config=config, redactor=redactor)
        self._wait = AnswerWait(clock=clock, config=config, clients=clients, decide=self._decide_in_client)
        self._unattended: asyncio.Queue[str] = asyncio.Queue(_MAX_UNATTENDED)
        # Of equal calls at the same moment, only one proposes an action.
        self._proposing = asyncio.Lock()
        log.listen({APPROVED, REJECTED}, self._wake_callers)

    async def next_unattended(self) -> Action:
        """Wait for an action that was approved while its caller no longer waits, and that was proposed here."""
        while True:
            action = await self.get(await self._unattended.get())
            # Where several nodes share the log, it runs in the repository that it was proposed for.
            if any(map(self._log.is_own, await self._log.query(EventQuery(stream=action.stream, limit=1)))):
                return action

    async def approve(self, question: Question) -> str:
        """The id of the approved action; ApprovalPending while it is not decided."""
        action = await self._find_earlier(question) or await self._propose(question)
        if action.status is ActionStatus.PENDING and await self._wait.wait(action, question):
            action = await self.get(action.action_id)
        return self._check_approved(action, question)

    async def find_equal_action(self, question: Question) -> tuple[str, str] | None:
        """The open action and key of an equal outward call of the same caller, or None.

        ApprovalPending while that call itself still waits: only one of equal calls waits.
        """
        action = await self._open_equal(question)
        if action is None:
            return None
        if self._wait.has_waiters(action.action_id):
            raise pending_error(action, joined=True)
        return action.action_id, action.key

    async def recall(self, call: Call, arguments_hash: str) -> bool:
        """Whether an action was proposed under the call's key by its caller.

        ApprovalRejected or ApprovalExpired when it was refused for this very call, whatever the call would do now.
        """
        action = await self._under_key(call)
        if action is None or action.actor != call.actor:
            return False
        if action.arguments_hash == arguments_hash:
            refuse_rejected(action)
        return True

    async def confirm(self, action_id: str, question: Question) -> None:
        """Raise ApprovalExpired unless the call would still do what was approved: a person takes time to decide."""
        self._check_approved(await self.get(action_id), question)

    async def get(self, action_id: str) -> Action:
        """An action by its id or a unique beginning or end of it."""
        return await self._store.get(action_id)

    async def decide(
        self,
        action_id: str,
        *,
        approve: bool,
        by: str,
        reason: str = "",
        shown: str | None = None,
        trust: bool = False,
        for_task: bool = False,
    ) -> Action:
        """Settle an action, once; ApprovalSettled for a second decision."""
        action = await self._unless_expired(await self.get(action_id))
        if action.expired:
            raise ApprovalExpired(f"{action.action_id} expired {rfc3339(action.expires_ns)}")
        if shown is not None and shown != action.preview_hash:
            raise InvalidArgument("preview_hash is not that of this action", hint="look at it again: approval_show")
        if for_task and action.task_id is None:
            raise InvalidArgument("this action belongs to no task", hint="approve it without for_task")
        drafts = [self._events.settlement_event(action, APPROVED if approve else REJECTED, by, reason)]
        if approve and (trust or for_task):
            drafts.append(
                self._events.remembered_answer_event(action, by, task_id=action.task_id if not trust else None)
            )
        return await self._settle(action, drafts)

    async def ask_client(self, action_id: str, call: Call) -> tuple[Action, bool]:
        """Put an open action to the person at the caller's client, where that client may be asked.

        Returns the action as it is then, and whether the client was asked.
        """
        action = await self._unless_expired(await self.get(action_id))
        created = await self._log.query(EventQuery(stream=action.stream, limit=1))
        # Unknown for actions of an older version, and then a person has to decide.
        person_only = not created or created[0].payload.get("person_only") is not False
        may_ask = self._wait.may_ask(action, call, person_only=person_only)
        if action.status is not ActionStatus.PENDING or not may_ask:
            return action, False
        await self._wait.ask(action, call)
        return await self.get(action.action_id), True

    async def withdraw(self, action: Action, reason: str) -> Action:
        """Reject an approved action that can no longer be run."""
        return await self._reject(action, reason, sequence=2)

    async def forget(self, answer_id: str, by: str) -> str:
        """Take a remembered answer back; returns its whole id."""
        answer_id = await match_stored_id(
            self._log, "remembered.answer_id", answer_id, "answer", ApprovalNotFound, "see: cpl approvals trusted"
        )
        await self._log.append([forget_event(answer_id, by)])
        return answer_id

    async def withdraw_question(self, actor: Actor, operation: str, key: str, *, reason: str) -> None:
        """Reject the open action of a call that its caller has cancelled; one that was decided stays as it is."""
        action = self._store.by_key(actor, operation, key)
        if action is None or action.actor != actor or action.status is not ActionStatus.PENDING:
            return
        with suppress(ApprovalSettled):
            await self._reject(action, reason)

    async def end_for(self, actor_id: str, *, reason: str) -> int:
        """Reject the open actions of a revoked agent or device and of agents that act for it; returns how many."""
        rejected = 0
        for action in await self._store.open_of(actor_id):
            try:
                await self._reject(action, reason)
            except ApprovalSettled:
                continue
            rejected += 1
        return rejected

    async def forget_all(self, actor_id: str, *, by: str) -> int:
        """Forget the remembered answers of an agent or device and of agents that act for it; returns how many held."""
        rows = await self._log.select(
            "SELECT answer_id, expires_ns FROM remembered WHERE actor LIKE ?1 ESCAPE '!' OR actor LIKE ?2 ESCAPE '!'",
            (f"%:{escape_like(actor_id)}", f"%:{escape_like(actor_id)}/%"),
        )
        if rows:
            await self._log.append([forget_event(str(answer_id), by) for answer_id, _ in rows])
        now = self._clock.now_ns()
        return sum(int(str(expires_ns)) > now for _, expires_ns in rows)

    async def count_pending(self) -> int:
        """How many actions wait for a decision."""
        return await self._store.count_open()

    async def sweep(self) -> None:
        """Reject expired actions, remind of those about to expire, and resume approved ones that were left behind."""
        now = self._clock.now_ns()
        for action in await self._store.list_expired(now):
            await self._expire(action)
        notice_ns = int(self._config.expiring_soon_minutes * _MINUTE_NS)
        reminders = [
            expiring_event(action)
            for action in await self._store.list_unreminded(now + notice_ns)
            # An action with less time than that would be reminded of as soon as it is proposed.
            if now > action.created_ns
        ]
        for reminder in reminders:
            # Another node may remind of it, too: the event's id makes the second one a conflict.
            with suppress(SequenceConflict):
                await self._log.append([reminder])
        for action in await self._store.not_started(now):
            self._queue_unless_awaited(action.action_id)

    async def _find_earlier(self, question: Question) -> Action | None:
        call = question.call
        action = await self._under_key(call)
        if action is not None and (action.arguments_hash != question.arguments_hash or action.actor != call.actor):
            # A person approved what was shown, and that names the caller.
            other = "by another caller" if action.actor != call.actor else "with other arguments"
            raise IdempotencyConflict(f"idempotency_key {action.key!r} was used for {action.operation} {other}")
        return action

    async def _under_key(self, call: Call) -> Action | None:
        """The action under the call's key, expired when its time is over."""
        action = self._store.by_key(call.actor, call.operation.name, call.idempotency_key)
        return None if action is None else await self._unless_expired(action)

    async def _open_equal(self, question: Question) -> Action | None:
        """The open action of an equal outward call; a shell command may be wanted twice."""
        if not question.assessment.outward or question.assessment.risk is Risk.HIGH:
            return None
        if await self._remembered_answer(question) is not None:
            # A remembered answer decides at once.
            return None
        return await self._store.open_equal(question, self._clock.now_ns())

    async def _propose(self, question: Question) -> Action:
        async with self._proposing:
            if (equal := await self._open_equal(question)) is not None:
                # It was proposed under another key, or at the same moment: the caller has to use that key.
                raise pending_error(equal, joined=True)
            call, action_id = question.call, new_id("act")
            await self._check_capacity(call)
            arguments = self._payloads.seal(action_id, canonical(question.arguments))
            answer = await self._remembered_answer(question)
            answer_id = answer.answer_id if answer is not None else None
            drafts = [
                self._events.decision_event(question),
                self._events.creation_event(action_id, question, answer_id),
            ]
            if answer is not None:
                drafts.append(self._events.remembered_approval_event(action_id, answer, call.correlation))
            # Its caller is here when a remembered answer approves it at once.
            with self._wait.count_waiter(action_id):
                await self._log.append(drafts, expect={action_stream(action_id): 0}, sealed=[arguments])
            return await self.get(action_id)

    async def arguments_of(self, action: Action) -> bytes | None:
        """The arguments of an action's call, or None when they are no longer stored."""
        data = await self._payloads.get(action.action_id, action.arguments_hash)
        # Earlier versions left them beside the results.
        return data if data is not None else await self._log.get(action.arguments_hash)

    async def _remembered_answer(self, question: Question) -> RememberedAnswer | None:
        """The remembered answer that covers the call, unless a person has to decide."""
        if question.decision.person_only:
            return None
        call = question.call
        return await self._remembered.find_answer(
            kind=kind_of(question), actor=str(call.actor), task_id=call.task.task_id if call.task else None
        )

    async def _check_capacity(self, call: Call) -> None:
        """Raise Overloaded when too many actions are open, of all callers or of this one."""
        everyone, own = await self._store.count_open_of(call)
        for count, limit in ((everyone, self._config.max_pending), (own, self._config.max_pending_each)):
            if count >= limit:
                raise Overloaded(
                    f"{plural(limit, 'question', verbs=('waits', 'wait'))} for an answer already",
                    hint="a person decides: cpl approvals",
                )

    async def _decide_in_client(self, action: Action, approve: bool, by: str) -> None:
        try:
            await self.decide(action.action_id, approve=approve, by=by, reason="asked in the client")
        except (ApprovalSettled, ApprovalExpired):
            return

    def _check_approved(self, action: Action, question: Question) -> str:
        """The id of an action that is approved for this call; raises otherwise."""
        if action.status is ActionStatus.PENDING:
            may_ask = self._wait.may_ask_client(action, question)
            raise pending_error(
                action, question=question_text(action) if may_ask else None, code=question.decision.code
            )
        check_approved(action, question, self._clock.now_ns())
        return action.action_id

    async def _unless_expired(self, action: Action) -> Action:
        is_over = action.status is ActionStatus.PENDING and self._clock.now_ns() >= action.expires_ns
        return await self._expire(action) if is_over else action

    async def _expire(self, action: Action) -> Action:
        try:
            return await self._reject(action, EXPIRED_REASON)
        except ApprovalSettled:
            return await self.get(action.action_id)

    async def _reject(self, action: Action, reason: str, *, sequence: int = 1) -> Action:
        """Reject an action without a person's decision."""
        return await self._settle(
            action, [self._events.settlement_event(action, REJECTED, NO_PERSON, reason)], sequence=sequence
        )

    async def _settle(self, action: Action, drafts: list[Draft], *, sequence: int = 1) -> Action:
        try:
            await self._log.append(drafts, expect={action.stream: sequence})
        except SequenceConflict as error:
            raise settled_error(await self.get(action.action_id)) from error
        return await self.get(action.action_id)

    def _wake_callers(self, event: Event) -> None:
        """Wake the calls that wait for an action, wherever it was decided."""
        action_id = str(event.payload["action_id"])
        if not self._wait.wake(action_id) and event.type == APPROVED:
            self._queue_unless_awaited(action_id)

    def _queue_unless_awaited(self, action_id: str) -> None:
        if not self._wait.has_waiters(action_id):
            # The next sweep finds what does not fit.
            with suppress(asyncio.QueueFull):
                self._unattended.put_nowait(action_id)
