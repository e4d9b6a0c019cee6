"""The operations on turns."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial

from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_FINISHED
from codeplane.kernel.config import TurnsConfig
from codeplane.kernel.errors import (
    IdempotencyConflict,
    InvalidArgument,
    PolicyDenied,
    SequenceConflict,
    ThreadBusy,
    TooLarge,
    WorkEnded,
)
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.work.admission import Admission
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import delegator
from codeplane.work.items.kind import Door
from codeplane.work.skills.library import SkillLibrary
from codeplane.work.threads.events import (
    TURN_ENDS,
    TURN_INTERRUPT_REQUESTED,
    TURN_PAUSED,
    thread_draft,
)
from codeplane.work.threads.models import MAX_MESSAGE_BYTES
from codeplane.work.threads.operations import ThreadAccess
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Thread, Turn, TurnState
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.kind import TurnKind
from codeplane.work.turns.loop import INTERRUPTED_CODE
from codeplane.work.turns.models import CancelTurnRequest, SendTurnRequest, TurnRequest, TurnView, UndoneTurn
from codeplane.work.turns.queue import NewTurn, TurnQueue

_MAX_UNDONE = 1000


class TurnOperations:
    """What clients can do with turns."""

    def __init__(
        self,
        *,
        store: ThreadStore,
        access: ThreadAccess,
        engine: WorkEngine,
        queue: TurnQueue,
        kinds: Sequence[TurnKind],
        log: Ledger,
        redactor: Redactor,
        config: TurnsConfig,
        door: Door,
        skills: SkillLibrary,
    ) -> None:
        self._store = store
        self._access = access
        self._engine = engine
        self._queue = queue
        self._kinds = kinds
        self._log = log
        self._redactor = redactor
        self._config = config
        self._door = door
        self._skills = skills
        self._admission = Admission()
        # Those who wait until a turn has ended or paused.
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        log.listen((*TURN_ENDS, TURN_PAUSED), self._wake)

    @operation("turn.send", risk=Risk.WRITE, capability="spawn_agents", timeout_sec=660)
    async def send(self, call: Call, request: SendTurnRequest) -> TurnView:
        """Ask the assistant of a thread; it goes on by itself. thread_watch shows its answer as it comes, wait_sec
        waits for it. The same client_message_id again is the same turn."""
        thread = await self._access.thread(call, request.thread_id)
        self._check(thread, request)
        new = self._new_turn(call, thread, request)
        if self._store.find_turn(new.turn_id) is None:
            skills = [await self._skills.choose(name) for name in dict.fromkeys(request.skills)]
            # The same message by another client at the same moment: one turn for both.
            with self._admit(thread, new.turn_id, request), suppress(SequenceConflict):
                await self._make_room(call, thread, request)
                await self._queue.add(replace(new, skills=tuple(skills)))
        turn = await self._store.turn(new.turn_id)
        if turn.text_hash != digest(new.text.encode()):
            raise IdempotencyConflict(
                f"client_message_id {new.source_id!r} was used for another message",
                hint="send a client_message_id of its own with each message",
            )
        if request.wait_sec:
            turn = await self._wait(turn, request.wait_sec)
        return await self._view(turn)

    @operation("turn.show", risk=Risk.READ)
    async def show(self, call: Call, request: TurnRequest) -> TurnView:
        """A turn: its state, what it answered, what it waits for and what it used."""
        return await self._view(await self._access.turn(call, request.turn_id))

    @operation("turn.cancel", risk=Risk.WRITE)
    async def cancel(self, call: Call, request: CancelTurnRequest) -> TurnView:
        """End a turn at once, in every state; what its tools did stays done (turn_undo takes it back)."""
        turn = await self._access.turn(call, request.turn_id)
        with suppress(WorkEnded):
            await self._engine.cancel(turn.work_id, by=str(call.actor), reason=request.reason or "it was cancelled")
        return await self._view(await self._store.turn(turn.turn_id))

    @operation("turn.undo", risk=Risk.WRITE, capability="write_files", timeout_sec=300)
    async def undo(self, call: Call, request: TurnRequest) -> UndoneTurn:
        """Take back the changes of files and local git that a turn made, the newest first, while things are as it
        left them."""
        turn = await self._access.turn(call, request.turn_id)
        if not turn.has_ended:
            raise ThreadBusy(f"{turn.turn_id} has not ended", hint="cancel it first: turn_cancel")
        undone: list[str] = []
        for mutation_id in await self._mutations_of(call, turn):
            outcome = await self._door.call("undo", {"mutation_id": mutation_id}, call.caller)
            if outcome.error is not None:
                reason = f"{mutation_id}: {outcome.error.name} {outcome.error.message}"
                return UndoneTurn(turn_id=turn.turn_id, undone=tuple(undone), failed=reason)
            undone.append(mutation_id)
        return UndoneTurn(turn_id=turn.turn_id, undone=tuple(undone))

    def _check(self, thread: Thread, request: SendTurnRequest) -> None:
        if request.trigger_type != "CHAT_MESSAGE" or request.trigger_source_id:
            raise PolicyDenied(
                f"a client cannot claim the trigger {request.trigger_type}",
                hint="leave trigger_type and trigger_source_id out",
            )
        if request.reasoning_visibility == "REASONING_RAW" and not self._config.raw_reasoning:
            raise PolicyDenied(
                "a model's reasoning is not shown word by word here",
                hint="ask for REASONING_SUMMARY; the owner can set turns.raw_reasoning: true",
            )
        if thread.archived:
            raise InvalidArgument(
                f"{thread.thread_id} is archived", hint="take it out first: thread_archive archived=false"
            )
        if (size := len(request.user_text.encode("utf-8", "surrogatepass"))) > MAX_MESSAGE_BYTES:
            raise TooLarge(f"the message has {size} bytes", details={"limit": MAX_MESSAGE_BYTES})

    def _new_turn(self, call: Call, thread: Thread, request: SendTurnRequest) -> NewTurn:
        return NewTurn(
            thread=thread,
            source_id=request.client_message_id or new_id("cmsg"),
            text=self._redactor.text(request.user_text),
            created_by=call.actor,
            on_behalf_of=delegator(call),
            budget=TurnBudget.effective(TurnBudget(**request.requested_budget.model_dump()), self._config),
            reasoning=request.reasoning_visibility,
            model=request.model,
            queue_mode=request.queue_mode,
            call_id=call.call_id,
        )

    async def _make_room(self, call: Call, thread: Thread, request: SendTurnRequest) -> None:
        """Apply the queue mode: interrupt the turn that runs, or wait behind it."""
        unfinished = await self._store.unfinished_turns(thread.thread_id)
        if not unfinished:
            return
        if request.queue_mode == "INTERRUPT_AFTER_CURRENT_TOOL":
            await self._interrupt(call, unfinished[0])

    def _admit(self, thread: Thread, turn_id: str, request: SendTurnRequest) -> AbstractContextManager[None]:
        """Hold a place for a turn while it is queued; ThreadBusy when there is none."""
        rejects = request.queue_mode == "REJECT_IF_BUSY"

        def refuse(count: int) -> ThreadBusy:
            if rejects and (current := self._store.first_unfinished(thread.thread_id)) is not None:
                return ThreadBusy(f"{current.turn_id} is {current.state.value}", details={"turn_id": current.turn_id})
            return ThreadBusy(
                f"{count - 1} turns wait in this thread already" if not rejects else "another turn begins here",
                hint="wait for some to end, or cancel them",
            )

        # One runs while the others wait.
        limit = 1 if rejects else self._config.max_queued + 1
        stored = partial(self._store.count_unfinished, thread.thread_id)
        return self._admission.enter(thread.thread_id, turn_id, limit=limit, stored=stored, refuse=refuse)

    async def _interrupt(self, call: Call, turn: Turn) -> None:
        asked: JsonObject = {"by": str(call.actor)}
        await self._log.append([thread_draft(TURN_INTERRUPT_REQUESTED, asked, actor=str(call.actor), ids=turn.ids)])
        if any(kind.interrupt(turn.work_id) for kind in self._kinds):
            return
        with suppress(WorkEnded):
            # It waits for a person or a place: nothing of it runs.
            await self._engine.cancel(
                turn.work_id, by=str(call.actor), reason="a newer message interrupted it", error=INTERRUPTED_CODE
            )

    async def _wait(self, turn: Turn, seconds: float) -> Turn:
        """The turn once it has ended or paused, or the time is over."""
        if turn.has_ended or turn.state is TurnState.PAUSED:
            return turn
        # Since it was read nothing else ran on this loop, so that its end has not come by yet.
        woken = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(turn.turn_id, set())
        waiting.add(woken)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await woken
            return await self._store.turn(turn.turn_id)
        finally:
            waiting.discard(woken)
            if not waiting and self._waiting.get(turn.turn_id) is waiting:
                del self._waiting[turn.turn_id]

    def _wake(self, event: Event) -> None:
        """Wake the callers that wait for a turn."""
        for woken in self._waiting.pop(event.correlation.turn_id or "", ()):
            if not woken.done():
                woken.set_result(None)

    async def _view(self, turn: Turn) -> TurnView:
        answer = await self._store.message(turn.assistant_message_id) if turn.assistant_message_id else None
        asked = await self._store.message(turn.user_message_id)
        pending: tuple[str, ...] = ()
        if turn.state is TurnState.PAUSED:
            item = await self._engine.store.get(turn.work_id)
            # An outside agent that waits for a person is still running.
            action_id = item.action_id or await self._paused_for(turn)
            pending = (action_id,) if action_id else ()
        return TurnView.of(
            turn,
            answer=answer.content if answer is not None else "",
            pending=pending,
            last_sequence=await self._store.head(turn.thread_id),
            from_sequence=asked.sequence - 1 if asked is not None else 0,
        )

    async def _paused_for(self, turn: Turn) -> str | None:
        """The question that a turn was paused for last."""
        newest = await self._log.query(EventQuery(work_id=turn.work_id, types=(TURN_PAUSED,), newest=True, limit=1))
        action_id = newest[0].payload.get("action_id") if newest else None
        return action_id if isinstance(action_id, str) else None

    async def _mutations_of(self, call: Call, turn: Turn) -> list[str]:
        """The mutations that the calls of a turn made and that can be taken back, the newest first."""
        events = await self._log.query(EventQuery(work_id=turn.work_id, types=(CALL_FINISHED,), limit=_MAX_UNDONE))
        calls = {event.correlation.call_id for event in events if event.payload.get("mutates")}
        found: list[str] = []
        arguments: JsonObject = {"limit": 100}
        while True:
            outcome = await self._door.call("mutation.list", arguments, call.caller)
            if outcome.error is not None:
                raise outcome.error
            assert outcome.result is not None
            page = outcome.result.model_dump(mode="json")
            found += [
                mutation["mutation_id"]
                for mutation in page["mutations"]
                if mutation["call_id"] in calls and mutation["state"] == "applied"
            ]
            cursor = page["pagination"]["next_cursor"]
            if not cursor or len(found) >= len(calls):
                return found
            arguments = {"limit": 100, "cursor": cursor}
