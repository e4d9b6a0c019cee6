"""Replays a recorded session with real calls, and prints the real answers."""

import asyncio
import re
import time
from dataclasses import dataclass, field

from codeplane.client.records import Approval
from codeplane.surfaces.cli.demo.agent import Agent, ToolAnswer
from codeplane.surfaces.cli.demo.person import Person
from codeplane.surfaces.cli.demo.recording import Recording, State, Step
from codeplane.surfaces.cli.demo.screen import Screen
from codeplane.surfaces.cli.demo.tempo import Tempo

_STEP_SEC = 0.9
_LOOK_SEC = 0.1


@dataclass(kw_only=True)
class Player:
    """Plays one recording."""

    recording: Recording
    agent: Agent
    person: Person
    screen: Screen
    tempo: Tempo
    answer_after: float
    session_id: str = ""
    states: dict[str, State] = field(default_factory=dict)

    async def play(self) -> None:
        """Play all steps in order; raise at the first that differs from the recording."""
        number = 0
        for step in self.recording.steps:
            if step.applies(self.states):
                number += 1
                began = time.monotonic()
                self.states[step.name] = await self._play_step(number, step)
                # A step that took its time was there to be read.
                await asyncio.sleep(self.tempo.pause(_STEP_SEC, since=began))

    async def _play_step(self, number: int, step: Step) -> State:
        self.screen.step(number, step.say, step.tool, step.arguments)
        calling = asyncio.ensure_future(self.agent.call(step.tool, step.arguments))
        try:
            action = await self._await_decision(calling) if step.asks else None
            answer = await calling
        finally:
            calling.cancel()
        self.session_id = answer.session_id or self.session_id
        if answer.failed and step.sandboxed and answer.error == "SANDBOX_MISSING":
            self.screen.print_answer(answer.text)
            self.screen.note("refused: without a sandbox nothing of a repository is run; the session goes on")
            return "refused"
        if action is not None:
            after = await asyncio.to_thread(self.person.get_action, action.action_id)
            self.screen.print_answer(f"{after.status}, decided by {after.decided_by}")
            if answer.error == "REJECTED":
                self.screen.print_answer(answer.text)
                self.screen.note("rejected: the agent knows, nothing was run, and the session goes on")
                return "rejected"
        self._check(number, step, answer, asked=action is not None)
        self.screen.print_answer(_shown_lines(step, answer.text))
        return "done"

    async def _await_decision(self, calling: "asyncio.Future[ToolAnswer]") -> Approval | None:
        """Return the action that a call asks about, once decided; the demo's person decides if nobody else does."""
        while (action := await asyncio.to_thread(self.person.question)) is None:
            if calling.done():
                return None
            await asyncio.wait([calling], timeout=_LOOK_SEC)
        self.screen.print_answer(f"{action.action_id} {action.status}: {action.summary}")
        self.screen.note(f"waiting for you: {self.person.inbox} (answers itself in {self.answer_after:g} s)")
        await asyncio.wait([calling], timeout=self.answer_after)
        if not calling.done() and await asyncio.to_thread(self.person.approve, action):
            self.screen.note("nobody decided, so the demo approved it with the owner's token")
        return action

    def _check(self, number: int, step: Step, answer: ToolAnswer, *, asked: bool) -> None:
        where = f"step {number} ({step.tool}) did not go as recorded"
        first = answer.text.partition("\n")[0]
        # What a command that was run comes to is the machine's affair; that it was run is ours.
        if answer.failed and (answer.error or not step.asks):
            raise answer.as_error(f"{where}: {first}")
        if step.asks and not asked:
            raise answer.as_error(f"{where}: nobody was asked before it ran")
        if not re.search(step.says, answer.text, re.MULTILINE):
            raise answer.as_error(f"{where}: expected {step.says!r} in: {first}")


def _shown_lines(step: Step, text: str) -> str:
    lines = [line for line in text.splitlines() if re.search(step.show, line)] or text.splitlines()[:1]
    return "\n".join(lines[: step.lines if step.show else 1])
