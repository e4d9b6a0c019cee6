"""One run of a deferred call: how far it is, and what its caller's person is asked."""

import asyncio
import hmac
from collections.abc import Coroutine
from dataclasses import dataclass, field

from codeplane.kernel.actor import WAITS_FOR_PERSON, Actor, Answer, Caller, Progress
from codeplane.kernel.deferred_call import DeferredQuestion
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.ids import new_id

_MAX_MESSAGE = 300


@dataclass(slots=True, kw_only=True)
class RunningCall:
    """A call that runs, or ran, in this process."""

    actor: Actor
    caller: Caller
    message: str = ""
    question: DeferredQuestion | None = None
    waits_for_person: bool = False
    task: "asyncio.Task[Outcome]" = field(init=False)
    _answer: "asyncio.Future[Answer | None] | None" = None

    def start(self, call: Coroutine[object, object, Outcome]) -> None:
        """Run the call in a task of its own, which no request ends by leaving."""
        self.task = asyncio.create_task(call)
        # Retrieved, so that nobody is warned of a call that nobody asks about again.
        self.task.add_done_callback(lambda done: None if done.cancelled() else done.exception())

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return not self.task.done()

    async def note_progress(self, progress: Progress) -> None:
        """Remember what the call says about how far it is."""
        self.message = (progress.message or "")[:_MAX_MESSAGE]
        self.waits_for_person = self.message.startswith(WAITS_FOR_PERSON)

    async def ask(self, text: str) -> Answer | None:
        """Show a question to the client with the secret when it asks for the call, and wait for the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self.question = DeferredQuestion(question_id=new_id("ask"), text=text)
        try:
            return await self._answer
        finally:
            self.question, self._answer = None, None

    def give(self, question_id: str, answer: Answer | None) -> None:
        """Answer the question if it is the current one."""
        waiting = self._answer
        is_asked = self.question is not None and self.question.question_id == question_id
        if is_asked and waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def is_same_client(self, caller: Caller) -> bool:
        """Whether a caller shows the secret of the client that made the call: questions are for its person alone."""
        own, shown = self.caller.client_secret, caller.client_secret
        return bool(own) and bool(shown) and hmac.compare_digest(str(own).encode(), str(shown).encode())
