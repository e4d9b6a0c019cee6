"""Calls that wait for a decision, and the question in their client."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from codeplane.kernel.actor import WAITS_FOR_PERSON, Answer
from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import ApprovalsConfig
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Question
from codeplane.trust.approvals.action import CLIENT, Action
from codeplane.trust.clients.registry import ClientRegistry
from codeplane.trust.identity.identities import has_own_token

_PROGRESS_SEC = 5.0
# The longest wait that a caller may ask for.
_LONGEST_SEC = 3600.0
# What is left of a caller's time to say that its call is pending.
_ANSWER_SEC = 0.5
_MAX_QUESTION = 16_000
# An agent that asks for more rights must not answer for itself.
_NOT_IN_CLIENTS = frozenset({"capability.request"})
# Too risky for a client's word, which nothing proves to be a person's.
_NOT_BY_CLIENTS = frozenset({Risk.HIGH, Risk.DESTRUCTIVE})

# Settles an action: (action, approve, by).
Decide = Callable[[Action, bool, str], Awaitable[None]]


@dataclass(slots=True)
class _Waiters:
    """The calls that wait for one action."""

    calls: int = 0
    settled: asyncio.Event = field(default_factory=asyncio.Event)


class AnswerWait:
    """Lets calls wait for the decision on an action, and puts the question to their clients."""

    def __init__(self, *, clock: Clock, config: ApprovalsConfig, clients: ClientRegistry, decide: Decide) -> None:
        self._clock = clock
        self._config = config
        self._clients = clients
        self._decide = decide
        self._waiters: dict[str, _Waiters] = {}

    def has_waiters(self, action_id: str) -> bool:
        """Whether a call waits for the action."""
        return action_id in self._waiters

    def wake(self, action_id: str) -> bool:
        """Wake the calls that wait for a settled action; False when there are none."""
        waiters = self._waiters.get(action_id)
        if waiters is not None:
            waiters.settled.set()
        return waiters is not None

    async def wait(self, action: Action, question: Question) -> bool:
        """Wait as long as a call may; returns whether the action was settled."""
        left_sec = (action.expires_ns - self._clock.now_ns()) / SECOND_NS
        asking: asyncio.Future[None] | None = None
        with self.count_waiter(action.action_id) as waiters:
            if self.may_ask_client(action, question):
                asking = asyncio.ensure_future(self._ask_client(action, question.call))
            else:
                wanted = question.call.caller.wait_sec
                left_sec = min(left_sec, self._config.wait_sec if wanted is None else min(wanted, _LONGEST_SEC))
            if question.until is not None:
                left_sec = min(left_sec, _time_to_answer(question.until))
            try:
                await _until_settled(waiters.settled, action, question.call, left_sec, asking)
            finally:
                if asking is not None and not asking.cancel() and not asking.cancelled():
                    # A client that could not show the question leaves it to others; retrieved to avoid a warning.
                    asking.exception()
        return waiters.settled.is_set()

    def may_ask_client(self, action: Action, question: Question) -> bool:
        """Whether the person at the client of a waiting call may be asked."""
        return self.may_ask(action, question.call, person_only=question.decision.person_only)

    def may_ask(self, action: Action, call: Call, *, person_only: bool) -> bool:
        """Whether the person at the caller's client may be asked about an action.

        Only where the owner trusts the client, for questions that it can show in full, and never for shell commands,
        destructive calls or more rights for the caller.
        """
        delegator = action.origin.on_behalf_of if action.origin is not None else None
        return (
            self._config.elicit
            and not person_only
            and action.risk not in _NOT_BY_CLIENTS
            and self._clients.name_of(call.caller.client_secret) is not None
            and call.caller.ask is not None
            and not has_own_token(call.actor)
            and not has_own_token(action.actor)
            and not (delegator is not None and has_own_token(delegator))
            and action.operation not in _NOT_IN_CLIENTS
            and len(question_text(action)) <= _MAX_QUESTION
        )

    async def ask(self, action: Action, call: Call) -> None:
        """Show an action in the caller's client, which may be asked, and decide by its answer."""
        await self._ask_client(action, call)

    async def _ask_client(self, action: Action, call: Call) -> None:
        """Show the question in the client, and decide by its answer."""
        assert call.caller.ask is not None
        answer = await call.caller.ask(question_text(action))
        # The client may have been revoked while the question was shown.
        name = self._clients.name_of(call.caller.client_secret)
        if answer is not None and name is not None:
            await self._decide(action, answer is Answer.APPROVE, f"{CLIENT}{name}")

    @contextmanager
    def count_waiter(self, action_id: str) -> Iterator[_Waiters]:
        """Count a call as waiting for the action."""
        waiters = self._waiters.setdefault(action_id, _Waiters())
        waiters.calls += 1
        try:
            yield waiters
        finally:
            waiters.calls -= 1
            if waiters.calls == 0:
                self._waiters.pop(action_id, None)


def _time_to_answer(until: float) -> float:
    """How long a call may wait and still answer within its caller's deadline."""
    left_sec = until - asyncio.get_running_loop().time()
    return left_sec - min(_ANSWER_SEC, left_sec / 2)


def question_text(action: Action) -> str:
    """The question as a client shows it."""
    return f"{action.summary}\n\n{action.body}".strip()


async def _until_settled(
    settled: asyncio.Event, action: Action, call: Call, left_sec: float, asking: "asyncio.Future[None] | None"
) -> None:
    """Wait until the action is settled, the client has answered, or the time is over, and report progress."""
    loop = asyncio.get_running_loop()
    started, message = loop.time(), f"{WAITS_FOR_PERSON}cpl approvals approve {action.action_id}"
    while not settled.is_set():
        spent = loop.time() - started
        if spent >= left_sec or (asking is not None and asking.done()):
            return
        await call.progress(round(spent, 1), None, message)
        waiting = asyncio.ensure_future(_wait_for(settled))
        pending = {waiting} if asking is None else {waiting, asking}
        try:
            await asyncio.wait(pending, timeout=min(_PROGRESS_SEC, left_sec - spent), return_when="FIRST_COMPLETED")
        finally:
            waiting.cancel()


async def _wait_for(settled: asyncio.Event) -> None:
    await settled.wait()
