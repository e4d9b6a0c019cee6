"""Puts questions to a person, waits for the answer, and settles each of them once."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from codeplane.kernel.actor import Answer
from codeplane.kernel.call import Call
from codeplane.kernel.call_record import EXPIRED_REASON, NO_PERSON, action_stream
from codeplane.kernel.clock import SECOND_NS, Clock, rfc3339
from codeplane.kernel.config import ApprovalsConfig
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import (
    ApprovalExpired,
    ApprovalNotFound,
    ApprovalPending,
    ApprovalRejected,
    ApprovalSettled,
    IdempotencyConflict,
    InvalidArgument,
    OutcomeUnknown,
    Overloaded,
    SequenceConflict,
)
from codeplane.kernel.event import Draft
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Ledger, Question
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.short_ids import match_stored_id
from codeplane.trust.approvals.action import (
    CLIENT,
    COLUMNS,
    Action,
    ActionStatus,
    from_row,
    kind_of,
    preview_hash,
)
from codeplane.trust.approvals.events import ApprovalEvents, expiring, forgotten, named, reasons_of
from codeplane.trust.approvals.remembered import Remembered, RememberedAnswers
from codeplane.trust.approvals.table import APPROVED, REJECTED
from codeplane.trust.clients.registry import ClientRegistry
from codeplane.trust.identity.identities import has_own_token

_TELL_SEC = 5.0
_MAX_QUESTION = 16_000
# Whoever asks for more rights does not answer.
_NOT_IN_CLIENTS = frozenset({"capability.request"})
# What a client's own word is not enough for: whoever answers there is whoever the client says.
_NOT_BY_CLIENTS = frozenset({Risk.HIGH, Risk.DESTRUCTIVE})
_AT_ONCE = 500
_MAX_UNATTENDED = 500
_MINUTE_NS = 60 * SECOND_NS


@dataclass(slots=True)
class _Waiting:
    """The calls that wait for one action."""

    calls: int = 0
    settled: asyncio.Event = field(default_factory=asyncio.Event)


class Approvals:
    """The approve stage of the conveyor, and the place where people answer."""

    def __init__(
        self,
        *,
        log: Ledger,
        clock: Clock,
        config: ApprovalsConfig,
        remembered: RememberedAnswers,
        redactor: Redactor,
        clients: ClientRegistry,
    ) -> None:
        self._log = log
        self._clock = clock
        self._config = config
        self._remembered = remembered
        self._clients = clients
        self._events = ApprovalEvents(clock=clock, config=config, redactor=redactor)
        self._waiting: dict[str, _Waiting] = {}
        self._unattended: asyncio.Queue[Action] = asyncio.Queue(_MAX_UNATTENDED)
        # Of equal calls that come at the same moment, one asks.
        self._proposing = asyncio.Lock()

    async def next_unattended(self) -> Action:
        """Wait for an action that was approved while its caller no longer waits."""
        return await self._unattended.get()

    async def approve(self, question: Question) -> str:
        """The action's id when a person said yes, now or earlier; ApprovalPending when nobody has answered yet."""
        action = await self._asked_before(question) or await self._propose(question)
        if action.status is ActionStatus.PENDING:
            action = await self._answered(action, question)
        return self._leave(action, question)

    async def waiting(self, question: Question) -> tuple[str, str] | None:
        """The action and key of an equal outward call of the same caller that nobody has answered yet; ApprovalPending
        while that call itself still waits: of equal calls one waits, and the others are told at once."""
        action = await self._equal(question)
        if action is None:
            return None
        if action.action_id in self._waiting:
            raise self._pending(action, question, joined=True)
        return action.action_id, action.key

    async def recall(self, call: Call, arguments_hash: str) -> bool:
        """Whether its caller was asked about under this key before; ApprovalRejected or ApprovalExpired when that came
        to a no for this very call, which holds whatever it would do now."""
        action = await self._under_key(call)
        if action is None or action.actor != call.actor:
            return False
        if action.arguments_hash == arguments_hash:
            _refuse(action)
        return True

    async def confirm(self, action_id: str, question: Question) -> None:
        """ApprovalExpired unless what would be done now is what was approved: a person takes time to answer."""
        self._leave(await self.get(action_id), question)

    async def get(self, action_id: str) -> Action:
        """An action by its id, or by a beginning or an end of it that only one has."""
        one = f"SELECT {COLUMNS} FROM actions WHERE action_id = ?"
        rows = await self._log.select(one, (action_id,))
        if not rows:
            meant = await match_stored_id(self._log, "actions.action_id", action_id, "action", ApprovalNotFound)
            rows = await self._log.select(one, (meant,))
        return from_row(rows[0])

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
        """Settle an action, once: whoever comes second is told how it was decided."""
        action = await self.get(action_id)
        if action.status is ActionStatus.PENDING and self._clock.now_ns() >= action.expires_ns:
            action = await self._expire(action)
        if action.expired:
            raise ApprovalExpired(f"{action.action_id} expired {rfc3339(action.expires_ns)}")
        if shown is not None and shown != action.preview_hash:
            raise InvalidArgument("preview_hash is not that of this action", hint="look at it again: approval_show")
        if for_task and action.task_id is None:
            raise InvalidArgument("this action belongs to no task", hint="approve it without for_task")
        drafts = [self._events.settled(action, APPROVED if approve else REJECTED, by, reason)]
        if approve and (trust or for_task):
            drafts.append(self._events.memory(action, by, task_id=action.task_id if for_task and not trust else None))
        return await self._settle(action, drafts)

    async def withdraw(self, action: Action, reason: str) -> Action:
        """Reject what was approved and cannot be run any more."""
        return await self._settle(action, [self._events.settled(action, REJECTED, NO_PERSON, reason)], sequence=2)

    async def forget(self, answer_id: str, by: str) -> str:
        """Take a remembered answer back; its whole id."""
        answer_id = await match_stored_id(
            self._log, "remembered.answer_id", answer_id, "answer", ApprovalNotFound, "see: cpl approvals trusted"
        )
        await self._log.append([forgotten(answer_id, by)])
        return answer_id

    async def end_for(self, actor_id: str, *, reason: str) -> int:
        """Reject what waits for an agent or device that is let in no more, also for whoever acts in its name; how many
        questions that were."""
        rows = await self._log.select(
            f"""SELECT {COLUMNS} FROM actions
                WHERE status = 'PENDING' AND (actor_id = ?1 OR actor_id LIKE ?2 ESCAPE '!')""",
            (actor_id, f"{_plainly(actor_id)}/%"),
        )
        ended = 0
        for action in map(from_row, rows):
            try:
                await self._settle(action, [self._events.settled(action, REJECTED, NO_PERSON, reason)])
            except ApprovalSettled:
                continue
            ended += 1
        return ended

    async def forget_all(self, actor_id: str, *, by: str) -> int:
        """Forget what was remembered for an agent or device, also for whoever acts in its name; how many still held."""
        known = await self._log.select(
            "SELECT answer_id, expires_ns FROM remembered WHERE actor LIKE ?1 ESCAPE '!' OR actor LIKE ?2 ESCAPE '!'",
            (f"%:{_plainly(actor_id)}", f"%:{_plainly(actor_id)}/%"),
        )
        if known:
            await self._log.append([forgotten(str(answer_id), by) for answer_id, _ in known])
        now = self._clock.now_ns()
        return sum(int(str(expires_ns)) > now for _, expires_ns in known)

    async def pending(self) -> int:
        """How many questions wait for an answer."""
        (row,) = await self._log.select("SELECT count(*) FROM actions WHERE status = 'PENDING'")
        return int(str(row[0]))

    async def sweep(self) -> None:
        """Reject what nobody answered in time, remind of what is about to be, and go on with what was left behind."""
        now = self._clock.now_ns()
        for action in await self._find("actions_expiry", "status = 'PENDING' AND expires_ns <= ?", now):
            await self._expire(action)
        soon = now + int(self._config.expiring_soon_minutes * _MINUTE_NS)
        reminders = [
            expiring(action)
            for action in await self._find(
                "actions_expiry", "status = 'PENDING' AND expires_ns <= ? AND reminded = 0", soon
            )
            # One that was asked with less time than that would be reminded of in the same breath.
            if soon - action.created_ns > int(self._config.expiring_soon_minutes * _MINUTE_NS)
        ]
        if reminders:
            await self._log.append(reminders)
        for action in await self._find(
            "actions_waiting", "status = 'APPROVED' AND started = 0 AND expires_ns > ?", now
        ):
            self._go_on(action)

    async def _find(self, index: str, where: str, at_ns: int) -> list[Action]:
        # The index is named: SQLite would look at all that wait instead, every second.
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM actions INDEXED BY {index} WHERE {where} LIMIT {_AT_ONCE}", (at_ns,)
        )
        return [from_row(row) for row in rows]

    async def _asked_before(self, question: Question) -> Action | None:
        call = question.call
        action = await self._under_key(call)
        if action is not None and (action.arguments_hash != question.arguments_hash or action.actor != call.actor):
            # What a person approved is what was shown, and that names who asked.
            other = "by another caller" if action.actor != call.actor else "with other arguments"
            raise IdempotencyConflict(f"idempotency_key {action.key!r} was used for {action.operation} {other}")
        return action

    async def _under_key(self, call: Call) -> Action | None:
        """What was asked under the call's key, expired when its time is over."""
        rows = await self._log.select(
            f"SELECT {COLUMNS} FROM actions WHERE owner_id = ? AND operation = ? AND key = ?",
            (call.actor.owner_id, call.operation.name, call.idempotency_key),
        )
        if not rows:
            return None
        action = from_row(rows[0])
        if action.status is ActionStatus.PENDING and self._clock.now_ns() >= action.expires_ns:
            return await self._expire(action)
        return action

    async def _equal(self, question: Question) -> Action | None:
        """The open question about the same, for the same reasons, as this one; a shell command may be wanted twice."""
        if not question.assessment.outward or question.assessment.risk is Risk.HIGH:
            return None
        if await self._known(question) is not None:
            # What is remembered by now answers at once.
            return None
        actor = question.call.actor
        rows = await self._log.select(
            f"""SELECT {COLUMNS} FROM actions WHERE status = 'PENDING' AND operation = ? AND actor_kind = ?
                AND actor_id = ? AND owner_id = ? AND arguments_hash = ? AND preview_hash = ? AND reasons = ?
                AND expires_ns > ? ORDER BY position LIMIT 1""",
            (
                *(question.call.operation.name, actor.kind.value, actor.actor_id, actor.owner_id),
                *(question.arguments_hash, preview_hash(question), reasons_of(question), self._clock.now_ns()),
            ),
        )
        return from_row(rows[0]) if rows else None

    async def _propose(self, question: Question) -> Action:
        async with self._proposing:
            if (equal := await self._equal(question)) is not None:
                # Asked under a key of its own, or at the same moment: it has to come back with that key.
                raise self._pending(equal, question, joined=True)
            return await self._proposed(question)

    async def _proposed(self, question: Question) -> Action:
        call, action_id = question.call, new_id("act")
        await self._bounded(call)
        self._log.put(canonical(question.arguments))
        known = await self._known(question)
        remembered = known.answer_id if known is not None else None
        drafts = [self._events.decided(question), self._events.created(action_id, question, remembered)]
        if known is not None:
            drafts.append(self._events.answered_before(action_id, known, call.correlation))
        await self._log.append(drafts, expect={action_stream(action_id): 0})
        return await self.get(action_id)

    async def _known(self, question: Question) -> Remembered | None:
        """The remembered answer that covers the call, where such an answer counts."""
        if question.decision.person_only:
            return None
        call = question.call
        return await self._remembered.covering(
            kind=kind_of(question), actor=str(call.actor), task_id=call.task.task_id if call.task else None
        )

    async def _bounded(self, call: Call) -> None:
        """Overloaded when too many questions wait already, of everyone or of this caller alone."""
        ((everyone, own),) = await self._log.select(
            """SELECT count(*), count(*) FILTER (WHERE actor_kind = ? AND actor_id = ?) FROM actions
               WHERE status = 'PENDING'""",
            (call.actor.kind.value, call.actor.actor_id),
        )
        for waiting, most in ((everyone, self._config.max_pending), (own, self._config.max_pending_each)):
            if int(str(waiting)) >= most:
                raise Overloaded(
                    f"{counted(most, 'question', verbs=('waits', 'wait'))} for an answer already",
                    hint="a person decides: cpl approvals",
                )

    async def _answered(self, action: Action, question: Question) -> Action:
        """Wait as long as a call may; the action as it is then."""
        call = question.call
        waiting = self._waiting.setdefault(action.action_id, _Waiting())
        waiting.calls += 1
        asking = None
        left_sec = (action.expires_ns - self._clock.now_ns()) / SECOND_NS
        if self._may_ask(action, question):
            asking = asyncio.ensure_future(self._ask(action, call))
        else:
            left_sec = min(left_sec, self._config.wait_sec)
        try:
            await self._until_settled(waiting, action, call, left_sec, asking)
        finally:
            waiting.calls -= 1
            if waiting.calls == 0:
                self._waiting.pop(action.action_id, None)
            if asking is not None and not asking.cancel() and not asking.cancelled():
                # A client that could not show it leaves the question to others; looked at, so that nobody complains.
                asking.exception()
        return await self.get(action.action_id) if waiting.settled.is_set() else action

    @staticmethod
    async def _until_settled(
        waiting: _Waiting, action: Action, call: Call, left_sec: float, asking: "asyncio.Future[None] | None"
    ) -> None:
        loop = asyncio.get_running_loop()
        began, said = loop.time(), f"waiting for a person: cpl approvals approve {action.action_id}"
        while not waiting.settled.is_set():
            spent = loop.time() - began
            if spent >= left_sec or (asking is not None and asking.done()):
                return
            await call.progress(round(spent, 1), None, said)
            settled = asyncio.ensure_future(_until(waiting.settled))
            pending = {settled} if asking is None else {settled, asking}
            try:
                await asyncio.wait(pending, timeout=min(_TELL_SEC, left_sec - spent), return_when="FIRST_COMPLETED")
            finally:
                settled.cancel()

    def _may_ask(self, action: Action, question: Question) -> bool:
        """Whether the client's person is asked: where the owner trusts the client with that, about the whole of it,
        never about shell commands and what destroys, nor about more rights for whoever asks."""
        call = question.call
        return (
            self._config.elicit
            and not question.decision.person_only
            and action.risk not in _NOT_BY_CLIENTS
            and self._clients.name_of(call.caller.client_secret) is not None
            and call.caller.ask is not None
            and not has_own_token(call.actor)
            and action.operation not in _NOT_IN_CLIENTS
            and len(_question(action)) <= _MAX_QUESTION
        )

    async def _ask(self, action: Action, call: Call) -> None:
        """Show the question in the client; what the person there says is an answer like any other."""
        assert call.caller.ask is not None
        said = await call.caller.ask(_question(action))
        # Revoked while the question was shown, its answer is nobody's.
        name = self._clients.name_of(call.caller.client_secret)
        if said is None or name is None:
            return
        by = f"{CLIENT}{name}"
        try:
            await self.decide(action.action_id, approve=said is Answer.APPROVE, by=by, reason="asked in the client")
        except (ApprovalSettled, ApprovalExpired):
            return

    def _leave(self, action: Action, question: Question) -> str:
        if action.status is ActionStatus.PENDING:
            raise self._pending(action, question)
        _refuse(action)
        if action.unknown:
            raise OutcomeUnknown(f"{action.action_id} was begun and interrupted", details=named(action))
        if action.status is ActionStatus.EXECUTED or self._clock.now_ns() >= action.expires_ns:
            raise ApprovalExpired(
                f"the approval {action.action_id} was for one run, which is over", details=named(action)
            )
        if question.decision.person_only and not action.by_person:
            raise ApprovalExpired(
                f"{action.action_id} was not approved by a person for this call, and untrusted content was read since",
                hint="a new idempotency_key asks a person",
                details=named(action),
            )
        if action.preview_hash != preview_hash(question):
            raise ApprovalExpired(
                f"what {action.operation} would do has changed since {action.action_id} was approved",
                hint="look at what is there now; if it is still wanted, a new idempotency_key asks about that",
                details=named(action),
            )
        return action.action_id

    def _pending(self, action: Action, question: Question, *, joined: bool = False) -> ApprovalPending:
        """That nobody has answered yet; `joined`: what waits is an equal call, and this one makes no question more."""
        also = "an equal call waits already, and one answer and one run are for both: " if joined else ""
        person = f"the person decides with: cpl approvals approve {action.action_id}"
        again = f'call again with the same arguments and idempotency_key "{action.key}"'
        return ApprovalPending(
            f"{also}{action.operation} waits for a person's approval ({action.action_id}): {action.summary}",
            hint=f"to wait for that answer, {again}; {person}" if joined else f"{person}; then {again}",
            details={
                "action_id": action.action_id,
                "idempotency_key": action.key,
                "expires_at": rfc3339(action.expires_ns),
                "reasons": action.reasons,
                **({"question": _question(action)} if not joined and self._may_ask(action, question) else {}),
            },
        )

    async def _expire(self, action: Action) -> Action:
        try:
            return await self._settle(action, [self._events.settled(action, REJECTED, NO_PERSON, EXPIRED_REASON)])
        except ApprovalSettled:
            return await self.get(action.action_id)

    async def _settle(self, action: Action, drafts: list[Draft], *, sequence: int = 1) -> Action:
        try:
            await self._log.append(drafts, expect={action.stream: sequence})
        except SequenceConflict as error:
            action = await self.get(action.action_id)
            by = f" by {action.decided_by}" if action.decided_by else ""
            raise ApprovalSettled(
                f"{action.action_id} is {action.status.value}{by} already",
                hint=f"see how it was decided: cpl approvals show {action.action_id}",
                details=named(action),
            ) from error
        action = await self.get(action.action_id)
        waiting = self._waiting.get(action.action_id)
        if waiting is not None:
            waiting.settled.set()
        elif action.status is ActionStatus.APPROVED:
            self._go_on(action)
        return action

    def _go_on(self, action: Action) -> None:
        if action.action_id not in self._waiting:
            # What does not fit is found by the next sweep.
            with suppress(asyncio.QueueFull):
                self._unattended.put_nowait(action)


async def _until(settled: asyncio.Event) -> None:
    await settled.wait()


def _refuse(action: Action) -> None:
    """Raise what a no is told as."""
    if action.expired:
        raise ApprovalExpired(f"nobody approved {action.operation} in time", details=named(action))
    if action.state == "NOT_RUN":
        raise ApprovalExpired(f"{action.operation} was not run: {action.reason}", details=named(action))
    if action.status is ActionStatus.REJECTED:
        raise ApprovalRejected(
            f"{action.operation} was rejected by {action.decided_by}: {action.reason or 'no reason given'}",
            details=named(action),
        )


def _plainly(text: str) -> str:
    """Text whose letters mean nothing else in a LIKE."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _question(action: Action) -> str:
    return f"{action.summary}\n\n{action.body}".strip()
