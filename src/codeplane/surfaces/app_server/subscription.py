"""One thread followed for one connection: notifications as things happen, and questions that the client may answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from codeplane.kernel.actor import Answer, Caller
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, Internal
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.surfaces.app_server.approval_requests import answer_of, ends_turn, request_of
from codeplane.surfaces.app_server.folded_turn import Note, PendingAction
from codeplane.surfaces.app_server.history import ThreadHistory
from codeplane.surfaces.app_server.thread_fold import ThreadFold
from codeplane.surfaces.json_rpc.message import RequestId, RpcError
from codeplane.surfaces.json_rpc.peer import ConnectionGone, Peer

_HEARTBEAT_SEC = 60
_MAX_ASKED = 32
_CATCH_UP_SEC = 10.0

Items = AsyncGenerator[Result | Outcome, None]


@dataclass(slots=True)
class _Asked:
    """A question in the client, and the request that carries it once it is sent."""

    task: "asyncio.Task[None]"
    request_id: RequestId | None = None
    is_answered: bool = False


@dataclass(slots=True)
class Position:
    """Where a client is: after so many notifications of an event."""

    sequence: int
    notes: int = 0


class Subscription:
    """Follows a thread until it is stopped; nothing is queued for a client that reads slowly."""

    def __init__(
        self,
        fold: ThreadFold,
        *,
        conveyor: Conveyor,
        caller: Caller,
        peer: Peer,
        history: ThreadHistory,
        seen: Position | None = None,
        muted: frozenset[str] = frozenset(),
    ) -> None:
        """`seen` is what the client has had of the event after the fold's last one; `muted` it wants none of."""
        self.fold = fold
        # Held while an answer is made which clients have to get before the notifications that follow from it.
        self.answering = asyncio.Lock()
        self._conveyor = conveyor
        self._caller = caller
        self._peer = peer
        self._history = history
        self._seen = seen
        self._muted = muted
        self._asked: dict[str, _Asked] = {}
        self._task: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()

    def start(self, *first: Note) -> None:
        """Begin to follow, with notifications of what has been done already."""
        self._task = asyncio.ensure_future(self._run(first))

    async def stop(self) -> None:
        """Follow no longer; questions stay for others to answer."""
        tasks = {asked.task for asked in self._asked.values()}
        if self._task is not None:
            tasks.add(self._task)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def catch_up(self, sequence: int) -> bool:
        """Return when a sequence has been taken, or it takes too long: then False, and what is known is older."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CATCH_UP_SEC):
                while self.fold.last_sequence < sequence:
                    self._moved.clear()
                    await self._moved.wait()
        return self.fold.last_sequence >= sequence

    async def settle(self) -> None:
        """Tell of the end of a turn that a message was to go on with which was refused."""
        await self._tell(self.fold.settle(), self.fold.last_sequence)

    async def _run(self, first: tuple[Note, ...]) -> None:
        try:
            await self._follow(first)
        except Exception as error:
            # A client that waits for a turn has to learn that it will hear no more of it.
            await self._end(Internal(f"following the thread failed: {type(error).__name__}"))
            raise

    async def _follow(self, first: tuple[Note, ...]) -> None:
        async with self.answering:
            await self._tell(first, self.fold.last_sequence)
            self._ask_about_pending()
        arguments: JsonObject = {
            "thread_id": self.fold.thread_id,
            "from_sequence": self.fold.last_sequence,
            "heartbeat_sec": _HEARTBEAT_SEC,
        }
        watched = self._conveyor.stream("thread.watch", arguments, self._caller)
        async with aclosing(cast(Items, watched)) as items:
            async for item in items:
                if isinstance(item, Outcome):
                    await self._end(item.error)
                elif isinstance(event := getattr(item, "event", None), dict):
                    async with self.answering:
                        await self._tell(self.fold.take(event), self.fold.last_sequence)
                        await self._resolve_settled()
                        self._ask_about_pending()
                    self._moved.set()

    async def _tell(self, notes: "list[Note] | tuple[Note, ...]", sequence: int) -> None:
        for number, note in enumerate(notes, 1):
            if self._seen is not None and sequence == self._seen.sequence and number <= self._seen.notes:
                continue
            if note.item is not None:
                await self._history.complete_item(note.item)
            if note.method not in self._muted:
                await self._peer.notify(note.method, {**note.params, "cursor": f"{sequence}.{number}"})

    async def _end(self, error: CodePlaneError | None) -> None:
        """Tell that nothing more comes, and why."""
        thread: JsonObject = {"threadId": self.fold.thread_id}
        if error is not None:
            message = f"{error.name}: {error.message}; {error.hint}"
            await self._peer.notify("warning", {**thread, "message": message})
        await self._peer.notify("thread/closed", thread)

    def _ask_about_pending(self) -> None:
        for action in self.fold.pending.values():
            if action.action_id not in self._asked and len(self._asked) < _MAX_ASKED:
                self._asked[action.action_id] = _Asked(task=asyncio.ensure_future(self._ask(action)))

    async def _ask(self, action: PendingAction) -> None:
        """Have the client asked, if the owner lets it answer; else this does nothing."""
        wants_end = False

        async def ask(question: str) -> Answer | None:
            nonlocal wants_end
            method, params = request_of(action, question, thread_id=self.fold.thread_id, cwd=self.fold.cwd)
            try:
                result = await self._peer.request(method, params, on_sent=partial(self._note_sent, action.action_id))
            except (RpcError, ConnectionGone):
                return None
            wants_end = ends_turn(result)
            if (asked := self._asked.get(action.action_id)) is not None:
                asked.is_answered = True
            return answer_of(method, result)

        caller = replace(self._caller, ask=ask)
        await self._conveyor.call("approval.ask_client", {"action_id": action.action_id}, caller)
        if wants_end:
            turn = self.fold.turns.get(action.turn_id)
            cancel: JsonObject = {"turn_id": turn.newest if turn is not None else action.turn_id}
            await self._conveyor.call("turn.cancel", cancel, self._caller)

    def _note_sent(self, action_id: str, request_id: RequestId) -> None:
        if (asked := self._asked.get(action_id)) is not None:
            asked.request_id = request_id

    async def _resolve_settled(self) -> None:
        """Withdraw the questions that were decided, here or elsewhere."""
        for action_id in [name for name in self._asked if name not in self.fold.pending]:
            asked = self._asked.pop(action_id)
            if not asked.is_answered:
                asked.task.cancel()
            if asked.request_id is not None:
                resolved: JsonObject = {"threadId": self.fold.thread_id, "requestId": asked.request_id}
                await self._peer.notify("serverRequest/resolved", resolved)
