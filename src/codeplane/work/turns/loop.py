"""The loop of a turn: ask the model, call the tools that it wants, until it answers or a bound is reached."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import ValidationError

from codeplane.kernel.actor import Actor
from codeplane.kernel.call import identity_word
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.clock import Clock
from codeplane.kernel.config import TurnsConfig
from codeplane.kernel.errors import (
    ApprovalPending,
    CodePlaneError,
    FailedModelOutput,
    InvalidArgument,
    ProviderUnavailable,
    ShuttingDown,
    TurnBudgetExceeded,
)
from codeplane.kernel.ids import derived_event_id, digest
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Ledger, Payloads
from codeplane.kernel.redaction import Redactor
from codeplane.work.items.item import WorkItem
from codeplane.work.items.kind import Transition, WorkRun
from codeplane.work.items.step_list import wait_for_answer, wait_for_budget
from codeplane.work.items.table import COMPLETED, FAILED
from codeplane.work.models.schema import Conversation, MessagePart, ToolPart
from codeplane.work.threads.events import (
    ASSISTANT_COMMITTED,
    MEMORY_SAVED,
    MODEL_ANSWERED,
    MODEL_REPAIR_ATTEMPTED,
    TOOL_ANSWERED,
    TOOL_FINISHED,
    TOOL_PLANNED,
    TOOL_STARTED,
)
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.context import ContextBuilder, CountTokens
from codeplane.work.turns.heartbeat import HEARTBEAT, is_silent
from codeplane.work.turns.index_answer import IndexAnswer
from codeplane.work.turns.model_step import ModelStep
from codeplane.work.turns.plan import TurnPlan
from codeplane.work.turns.tool_step import RECORDS_ITSELF, Toolbox, ToolOutcome, arguments_of
from codeplane.work.turns.transcript import ModelAnswer, ToolAnswer, ToolRequest, TranscriptStore, message_text
from codeplane.work.turns.turn_run import Models, TurnRun

INTERRUPTED_CODE = "INTERRUPTED"
_MAX_SHOWN = 4000
_MAX_PREVIEW = 500
_LAST_WORDS = "The budget of this turn is used up: {reason}. Say briefly what you found and what is left to do."
_NOT_RUN = "not run: the budget of this turn is used up"

T = TypeVar("T")


class _Interrupted(Exception):
    """The turn is to end after its current tool."""


class TurnLoop:
    """Runs turns until they end, wait or are stopped; each step is recorded before the next."""

    def __init__(
        self,
        *,
        log: Ledger,
        payloads: Payloads,
        transcripts: TranscriptStore,
        store: ThreadStore,
        context: ContextBuilder,
        catalogue: Catalogue,
        models: Models,
        redactor: Redactor,
        count_tokens: CountTokens,
        config: TurnsConfig,
        clock: Clock,
    ) -> None:
        self._log = log
        self._payloads = payloads
        self._transcripts = transcripts
        self._store = store
        self._context = context
        self._catalogue = catalogue
        self._models = models
        self._redactor = redactor
        self._count_tokens = count_tokens
        self._config = config
        self._clock = clock
        self._toolboxes: dict[tuple[str, str | None], Toolbox] = {}
        self._toolboxes_of = catalogue.version

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
        """Go on with a turn where it was left; one that is a job waits when its budget is used up."""
        run = await self._begin(item, turn, work, interrupt=interrupt, actor=actor)
        run.job_id = job_id
        try:
            if not self._models.is_configured(run.plan.model):
                if turn.trigger_type == HEARTBEAT:
                    # Passages of the index are no answer to whether there is something to report.
                    raise ProviderUnavailable("a heartbeat needs a model, and none is configured")
                return await self._answer_from_index(run)
            return await self._loop(run)
        except _Interrupted:
            message = "a newer message interrupted it"
            return Transition(kind=FAILED, payload={"error": INTERRUPTED_CODE, "message": message})
        except ShuttingDown:
            return None
        except ValidationError as error:
            raise InvalidArgument(f"the model cannot be asked: {error.errors()[0]['msg']}") from None

    async def _begin(
        self, item: WorkItem, turn: Turn, work: WorkRun, *, interrupt: asyncio.Event, actor: Actor
    ) -> TurnRun:
        plan = await TurnPlan.load(self._payloads, item)
        entries = self._store.entries_of_work(item.work_id)
        history = await self._context.history(turn, skills=plan.skill_text)
        run = TurnRun(
            item=item,
            turn=turn,
            plan=plan,
            work=work,
            actor=actor,
            interrupt=interrupt,
            toolbox=self._toolbox(plan.toolset, turn.thread_id).narrow(plan.skills),
            transcript=await self._transcripts.load(entries),
            history=history.messages,
            steps=max([item.steps_done, *(entry.step + 1 for entry in entries)]),
            tool_steps=turn.tool_steps,
            tool_tokens=turn.tool_tokens,
        )
        if history.dropped and not entries:
            await self._save_memory(run, history.notes)
        return run

    def _toolbox(self, toolset: str, thread_id: str) -> Toolbox:
        if self._toolboxes_of != self._catalogue.version:
            self._toolboxes_of = self._catalogue.version
            self._toolboxes.clear()
        own = thread_id if self._catalogue.has_thread(thread_id) else None
        if (toolset, own) not in self._toolboxes:
            self._toolboxes[toolset, own] = Toolbox.of(
                self._catalogue, toolset, answer_bytes=self._config.answer_bytes, thread_id=own
            )
        return self._toolboxes[toolset, own]

    async def _loop(self, run: TurnRun) -> Transition | None:
        while True:
            if run.work.is_stopping():
                return None
            if run.interrupt.is_set():
                raise _Interrupted
            if run.job_id is not None and not run.transcript.is_final and (reason := run.used_up) is not None:
                return wait_for_budget(reason)
            if (tool := run.transcript.open_tool) is not None:
                if run.used_up is not None:
                    await self._record_result(run, tool, ToolOutcome(text=_NOT_RUN, status="NOT_RUN"), spent_ms=0)
                elif (pending := await self._call(run, tool)) is not None:
                    return wait_for_answer(pending)
                continue
            if run.transcript.is_final:
                return Transition(kind=COMPLETED, payload={"assistant_message_id": _message_id(run)})
            if (reason := run.used_up) is not None:
                return await self._end_with_last_words(run, reason)
            await self._record_answer(run, await self._ask(run))

    async def _ask(self, run: TurnRun) -> ModelAnswer:
        """An answer that can be used: the model's, its second one, or a fallback's."""
        messages, model, problem = [*run.history, *run.transcript.messages()], run.plan.model, None
        conversation = run.conversation
        tools = run.toolbox.described
        for attempt in range(3):
            if attempt:
                if attempt == 2:
                    model = self._models.fallback(run.plan.model)
                    if not model:
                        break
                tried: JsonObject = {
                    "repair_attempt": attempt,
                    "fallback_model_used": attempt == 2,
                    "problem": self._redactor.text(str(problem))[:_MAX_SHOWN],
                }
                await self._log.append([run.draft(MODEL_REPAIR_ATTEMPTED, tried)])
            try:
                answer = await self._ask_once(run, messages, tools, model, attempt, conversation)
            except FailedModelOutput as error:
                problem = error.message
                continue
            problem = run.toolbox.problem(answer)
            if problem is None:
                return run.transcript.with_unique_ids(answer)
            refused = answer if not answer.tools else replace(answer, tools=(), text=answer.text or "(a tool call)")
            messages = [
                *messages,
                *([refused.message] if refused.text else []),
                MessagePart(role="user", text=f"That answer could not be used: {problem}. Answer again."),
            ]
            # It leads away from the conversation, which does not hold the answer.
            conversation = Conversation()
        raise FailedModelOutput(f"the model's answers could not be used: {problem}")

    async def _ask_once(
        self,
        run: TurnRun,
        messages: list[MessagePart],
        tools: Sequence[ToolPart],
        model: str,
        attempt: int,
        conversation: Conversation,
    ) -> ModelAnswer:
        number = len(run.transcript.answers)
        step = ModelStep(
            log=self._log,
            door=run.work.door,
            caller=run.next_caller(),
            draft=run.draft,
            redactor=self._redactor,
            segment=_segment(number, run.item.attempt, attempt),
            reasoning=run.plan.reasoning,
        )
        asking = step.ask(model=model, messages=messages, tools=tools, conversation=conversation)
        return await _unless_interrupted(run, asking)

    async def _end_with_last_words(self, run: TurnRun, reason: str) -> Transition:
        """Let the model say one thing more, without tools, and end the turn."""
        note = MessagePart(role="user", text=_LAST_WORDS.format(reason=reason))
        messages = [*run.history, *run.transcript.messages(), note]
        message_id = None
        try:
            answer = await self._ask_once(run, messages, [], run.plan.model, 0, Conversation())
            await self._record_answer(run, replace(answer, tools=()))
            message_id = _message_id(run)
        except (ShuttingDown, _Interrupted):
            raise
        except CodePlaneError as error:
            reason = f"{reason}; the model's last words failed: {error.message}"
        failed: JsonObject = {
            "error": TurnBudgetExceeded.name,
            "message": reason,
            "retryable": False,
            "assistant_message_id": message_id,
        }
        return Transition(kind=FAILED, payload=failed)

    async def _call(self, run: TurnRun, tool: ToolRequest) -> ApprovalPending | None:
        """Call a tool and record its answer; the pending question when a person has to decide first."""
        started_ns = self._clock.monotonic_ns()
        if tool.name not in RECORDS_ITSELF:
            shown = self._redactor.text(tool.arguments)[:_MAX_PREVIEW]
            started: JsonObject = {
                "execution_id": _execution_id(run, tool),
                "tool_call_id": tool.tool_call_id,
                "tool_name": tool.name,
                "display_command": f"{tool.name} {shown}",
            }
            self._log.append_soon([run.draft(TOOL_STARTED, started)])
        key = f"{run.turn.turn_id}/{len(run.transcript.answers)}/{tool.tool_call_id}"
        outcome = await run.toolbox.call(run.work.door, run.next_caller(tool.tool_call_id), tool, key)
        if isinstance(outcome, ApprovalPending):
            return outcome
        spent_ms = (self._clock.monotonic_ns() - started_ns) // 1_000_000
        await self._record_result(run, tool, outcome, spent_ms=spent_ms)
        return None

    async def _record_result(self, run: TurnRun, tool: ToolRequest, outcome: ToolOutcome, *, spent_ms: int) -> None:
        answer = ToolAnswer(tool_call_id=tool.tool_call_id, text=outcome.text)
        tokens = self._count_tokens(outcome.text)
        sealed = self._transcripts.seal(run.item.work_id, answer)
        payload: JsonObject = {
            "execution_id": _execution_id(run, tool),
            "tool_call_id": tool.tool_call_id,
            "tool_name": tool.name,
            "exit_code": 0 if outcome.status == "ok" else 1,
            "duration_ms": spent_ms,
            "timed_out": outcome.status == "DEADLINE_EXCEEDED",
            "truncated": outcome.truncated,
            "status": outcome.status,
            "preview": self._redactor.text(outcome.text)[:_MAX_SHOWN],
            "payload_hash": sealed.hash,
            "tokens": tokens,
            "step": run.steps - 1,
            **({"proposed_action_id": outcome.proposed_action_id} if outcome.proposed_action_id else {}),
            **({"mutation_id": outcome.mutation_id} if outcome.mutation_id else {}),
        }
        kind = TOOL_ANSWERED if tool.name in RECORDS_ITSELF else TOOL_FINISHED
        await self._log.append([run.draft(kind, payload)], sealed=[sealed])
        run.transcript.results[tool.tool_call_id] = answer
        run.tool_steps += 1
        run.tool_tokens += tokens

    async def _record_answer(self, run: TurnRun, answer: ModelAnswer, metadata: JsonObject | None = None) -> None:
        """Record an answer of the model: its text as a message, and the tools that it wants."""
        sealed = self._transcripts.seal(run.item.work_id, answer)
        run.transcript.answers.append(answer)
        answered: JsonObject = {
            "model": answer.model,
            "reason": answer.reason,
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
            "cost_micros": answer.cost_micros,
            "tool_calls": [tool.tool_call_id for tool in answer.tools],
            "payload_hash": sealed.hash,
            "tokens": self._count_tokens(answer.text),
            "step": max(run.steps - 1, 0),
        }
        drafts = [run.draft(MODEL_ANSWERED, answered)]
        if answer.text:
            is_quiet = not answer.tools and is_silent(run.turn.trigger_type, answer.text)
            silent: JsonObject = {"silent": True} if is_quiet else {}
            committed: JsonObject = {
                "message_id": _message_id(run),
                "full_text": message_text(self._redactor.text(answer.text)),
                "metadata": {"model": answer.model, "is_final": not answer.tools, **(metadata or {}), **silent},
            }
            drafts.append(run.draft(ASSISTANT_COMMITTED, committed))
        drafts += [run.draft(TOOL_PLANNED, self._plan_payload(run, tool)) for tool in answer.tools]
        await self._log.append(drafts, sealed=[sealed])

    def _plan_payload(self, run: TurnRun, tool: ToolRequest) -> JsonObject:
        operation = run.toolbox.get(tool.name)
        arguments = self._redactor.json(arguments_of(tool))
        text = canonical(arguments)
        return {
            "tool_call_id": tool.tool_call_id,
            "tool_name": tool.name,
            "args": arguments if len(text) <= _MAX_SHOWN else {"bytes": len(text)},
            "risk_class": operation.mark.risk.name if operation is not None else Risk.READ.name,
            "identity": identity_word(operation.mark.identity if operation is not None else None, run.actor),
        }

    async def _answer_from_index(self, run: TurnRun) -> Transition | None:
        """Answer without a model: the passages that fit the question best."""
        if not run.transcript.is_final:
            text = await _unless_interrupted(run, IndexAnswer(run.work.door).ask(run.plan.user_text, run.next_caller()))
            await self._record_answer(run, ModelAnswer(text=text), {"answered_by": "index"})
        return Transition(kind=COMPLETED, payload={"assistant_message_id": _message_id(run)})

    async def _save_memory(self, run: TurnRun, notes: str) -> None:
        """Keep in short what of the conversation the model is no longer shown."""
        if (await self._store.memory(run.turn.thread_id)).cut != notes:
            checkpoint_id = f"mem_{digest(notes.encode())[:24]}"
            saved: JsonObject = {"checkpoint_id": checkpoint_id, "scope": "thread", "text": notes}
            await self._log.append([run.draft(MEMORY_SAVED, saved)])


async def _unless_interrupted(run: TurnRun, asked: Coroutine[object, object, T]) -> T:
    """What a coroutine returns; it is cancelled when the turn is interrupted."""
    task = asyncio.ensure_future(asked)
    waiting = asyncio.ensure_future(run.interrupt.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise _Interrupted
        return task.result()
    finally:
        waiting.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _segment(number: int, attempt: int, repair: int) -> str:
    """The name of an answer's text; that of a repeated attempt supersedes the one before."""
    return f"{number}" + (f"@{attempt}" if attempt > 1 else "") + (f"r{repair}" if repair else "")


def _message_id(run: TurnRun) -> str:
    """The id of the newest answer's message, the same whenever it is recorded."""
    return f"msg_{derived_event_id('message', run.turn.turn_id, str(len(run.transcript.answers))).replace('-', '')}"


def _execution_id(run: TurnRun, tool: ToolRequest) -> str:
    number = str(len(run.transcript.answers))
    return f"exe_{derived_event_id('execution', run.turn.turn_id, number, tool.tool_call_id).replace('-', '')}"
