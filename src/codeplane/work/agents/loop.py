"""The loop of a turn that an outside agent runs: start it, give it the message, follow it, and offer its changes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.kernel.actor import Actor
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import AgentsConfig, TurnsConfig
from codeplane.kernel.errors import (
    ApprovalPending,
    CodePlaneError,
    Internal,
    OutsideAgentTimeout,
    ShuttingDown,
)
from codeplane.kernel.event import Correlation
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject
from codeplane.kernel.outside_agent import AgentPlace, AgentSession, AgentStop
from codeplane.kernel.ports import Ledger, Payloads
from codeplane.kernel.redaction import Redactor
from codeplane.work.agents.agent_run import AgentRun
from codeplane.work.agents.events import AGENT_STARTED
from codeplane.work.agents.gate import ENTER
from codeplane.work.agents.host import OutsideHost
from codeplane.work.agents.prompt import PromptBuilder
from codeplane.work.agents.recorder import AgentRecorder
from codeplane.work.agents.registry import OutsideAgent, OutsideAgents
from codeplane.work.agents.thread_tree import ThreadTree
from codeplane.work.agents.trees import ThreadTrees
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import Transition, WorkRun
from codeplane.work.items.step_list import wait_for_answer
from codeplane.work.items.table import COMPLETED, FAILED
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.context import CountTokens
from codeplane.work.turns.loop import INTERRUPTED_CODE
from codeplane.work.turns.plan import TurnPlan
from codeplane.work.turns.tool_step import Toolbox
from codeplane.work.turns.transcript import TranscriptStore

# How often it is looked whether the server stops, the agent is silent, or its time is over.
_LOOK_SEC = 0.5
# How long an agent may take to end its prompt when it is asked to.
_CANCEL_SEC = 10.0
_AGENT_HOME = "agent"
# Ends of a prompt that are no answer, by the protocol's words.
_FAILURES = {
    "max_tokens": "it used up the tokens that its model allows",
    "max_turn_requests": "it used up the requests that it allows itself in a turn",
    "refusal": "it refused to go on",
    "cancelled": "it ended the turn as cancelled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """What the turns of outside agents are run with."""

    log: Ledger
    payloads: Payloads
    transcripts: TranscriptStore
    threads: ThreadStore
    trees: ThreadTrees
    agents: OutsideAgents
    catalogue: Catalogue
    redactor: Redactor
    count_tokens: CountTokens
    config: AgentsConfig
    turns: TurnsConfig
    clock: Clock
    version: str
    prompts: PromptBuilder
    # Copies what the settings show an agent of the person's home into its own: (names, home).
    fill_home: Callable[[tuple[str, ...], Path], None]


class AgentLoop:
    """Runs turns of threads and jobs that name an outside agent."""

    def __init__(self, parts: AgentParts) -> None:
        self._parts = parts

    async def run(
        self,
        item: WorkItem,
        turn: Turn,
        work: WorkRun,
        *,
        interrupt: asyncio.Event,
        actor: Actor,
        job_id: str | None = None,
    ) -> Transition | None:
        """Have the agent work on a turn; one that was cut off is given to it again, in the same work tree."""
        parts = self._parts
        plan = await TurnPlan.load(parts.payloads, item)
        entries = parts.threads.entries_of_work(item.work_id)
        run = AgentRun(
            item=item,
            turn=turn,
            plan=plan,
            work=work,
            actor=actor,
            interrupt=interrupt,
            job_id=job_id,
            steps=max([item.steps_done, *(entry.step + 1 for entry in entries)]),
        )
        agent = parts.agents.get(plan.agent)
        if (pending := await self._enter(run, agent)) is not None:
            return wait_for_answer(pending)
        tree = await self._tree(run)
        agent.facts.running += 1
        agent.facts.turns += 1
        try:
            return await self._work(run, agent, tree)
        except ShuttingDown:
            return None
        except CodePlaneError as error:
            agent.facts.error, agent.facts.error_ns = error.message[:500], parts.clock.now_ns()
            raise
        finally:
            agent.facts.running -= 1

    async def _enter(self, run: AgentRun, agent: OutsideAgent) -> ApprovalPending | None:
        """Pass the door with the start of the agent; the question when a person has to decide first."""
        asked: JsonObject = {"agent": agent.name, "network": agent.settings.network}
        # The same in every attempt: what was decided of this turn stays decided.
        key = f"{run.turn.turn_id}/enter"
        outcome = await run.work.door.call(ENTER, {**asked, "idempotency_key": key}, run.next_caller())
        if isinstance(outcome.error, ApprovalPending):
            return outcome.error
        if outcome.error is not None:
            raise outcome.error
        return None

    async def _tree(self, run: AgentRun) -> ThreadTree | None:
        """The thread's work tree; a job's is made by the job."""
        if run.job_id is not None:
            return None
        return await self._parts.trees.prepare(run.turn.thread_id, run.agent, run.turn.ids)

    async def _work(self, run: AgentRun, agent: OutsideAgent, tree: ThreadTree | None) -> Transition | None:
        parts, trees = self._parts, self._parts.trees.trees
        home = trees.home(run.tree_id) / _AGENT_HOME
        await asyncio.to_thread(parts.fill_home, agent.settings.home, home)
        recorder = AgentRecorder(
            run=run,
            log=parts.log,
            redactor=parts.redactor,
            transcripts=parts.transcripts,
            count_tokens=parts.count_tokens,
            clock=parts.clock,
            max_tool_calls=parts.config.max_tool_calls,
            root=str(trees.tree(run.tree_id)),
        )
        host = OutsideHost(
            run=run,
            tree=trees.tree(run.tree_id),
            recorder=recorder,
            toolbox=Toolbox.of(
                parts.catalogue,
                run.plan.toolset,
                answer_bytes=parts.turns.answer_bytes,
                thread_id=run.turn.thread_id,
            ).narrow(run.plan.skills),
            network=agent.settings.network,
            version=parts.version,
            max_requests=parts.config.max_requests,
        )
        place = AgentPlace(
            tree=host.tree, home=home, session_id=tree.session_id if tree is not None and tree.session_id else None
        )
        stop: AgentStop | None = None
        is_cancelled = False
        try:
            async with agent.connector.start(place, host) as session:
                agent.facts.info, recorder.is_resumed = session.info, session.is_resumed
                tree = await self._record_start(run, session, tree)
                text = await parts.prompts.build(run.turn, run.plan, session, attempt=run.item.attempt)
                stop = await self._follow(run, host, session, text)
                if stop is None and run.work.is_stopping():
                    return None
        except asyncio.CancelledError:
            is_cancelled = True
            raise
        finally:
            await self._leave(run, host, tree, stop, is_cancelled=is_cancelled)
        if stop is None:
            message = "a newer message interrupted it"
            return Transition(kind=FAILED, payload={"error": INTERRUPTED_CODE, "message": message})
        return self._transition(run, recorder, stop, was_refused=host.was_refused)

    async def _leave(
        self, run: AgentRun, host: OutsideHost, tree: ThreadTree | None, stop: AgentStop | None, *, is_cancelled: bool
    ) -> None:
        """Record the agent's last message and its changes, also for a failed or cancelled run."""
        with suppress(ShuttingDown):
            await host.close()
            if is_cancelled:
                # Nothing more happens in a turn that has ended.
                host.recorder.stop()
            else:
                await host.recorder.finish(stop)
            if tree is not None:
                ids = Correlation(thread_id=run.turn.thread_id) if is_cancelled else run.turn.ids
                await self._parts.trees.note_changes(tree, ids, by=str(run.actor))

    async def _record_start(self, run: AgentRun, session: AgentSession, tree: ThreadTree | None) -> ThreadTree | None:
        info = session.info
        facts: JsonObject = {
            "agent": run.agent,
            "name": info.name,
            "version": info.version,
            "session": digest(session.session_id.encode())[:12],
            "resumed": session.is_resumed,
        }
        if tree is not None:
            tree = replace(tree, agent=run.agent, session_id=session.session_id)
            facts["tree"] = tree.to_json()
        await self._parts.log.append([run.draft(AGENT_STARTED, facts)])
        return tree

    async def _follow(self, run: AgentRun, host: OutsideHost, session: AgentSession, text: str) -> AgentStop | None:
        """Wait for the end of the prompt; None when it was interrupted, or the server stops."""
        loop, config = asyncio.get_running_loop(), self._parts.config
        started = loop.time()
        prompting = asyncio.ensure_future(session.prompt(text))
        interrupted = asyncio.ensure_future(run.interrupt.wait())
        try:
            while True:
                waited: set[asyncio.Future[object]] = {prompting, interrupted, host.misbehaved}  # type: ignore[arg-type]  # only waited for
                await asyncio.wait(waited, timeout=_LOOK_SEC, return_when=asyncio.FIRST_COMPLETED)
                if prompting.done():
                    return prompting.result()
                if host.misbehaved.done():
                    raise host.misbehaved.result()
                if run.work.is_stopping():
                    return None
                if interrupted.done():
                    await session.cancel()
                    await asyncio.wait({prompting}, timeout=_CANCEL_SEC)
                    return None
                if host.waiting:
                    continue
                if (silent := loop.time() - host.heard_at) > config.silence_sec:
                    raise OutsideAgentTimeout(f"{run.agent} said nothing for {silent:.0f} s")
                if loop.time() - started - host.waited_sec > config.turn_minutes * 60:
                    raise OutsideAgentTimeout(f"{run.agent} worked for {config.turn_minutes:g} minutes")
        finally:
            interrupted.cancel()
            if not prompting.done():
                prompting.cancel()
            await asyncio.wait({prompting, interrupted})
            if not prompting.cancelled():
                # Retrieved: who cancelled the turn does not wait for it.
                prompting.exception()

    @staticmethod
    def _transition(run: AgentRun, recorder: AgentRecorder, stop: AgentStop, *, was_refused: bool) -> Transition:
        # Codex ends its turn so when a person refuses what it asks for, and waits for the next message.
        if stop.reason == "end_turn" or (stop.reason == "cancelled" and was_refused):
            return Transition(kind=COMPLETED, payload={"assistant_message_id": recorder.message_id})
        if stop.reason not in _FAILURES:
            raise Internal(f"a turn that ended with {stop.reason}")
        failed: JsonObject = {
            "error": "OUTSIDE_AGENT_FAILED",
            "message": f"{run.agent} did not finish: {_FAILURES[stop.reason]}",
            "retryable": False,
            "assistant_message_id": recorder.message_id,
        }
        return Transition(kind=FAILED, payload=failed)
