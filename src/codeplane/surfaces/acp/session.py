"""One session of a connection: a thread that is followed, and the prompts that wait for their turns."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound, ShuttingDown, StreamGap
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import Cursor
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.permissions import PermissionRequests
from codeplane.surfaces.acp.translation import TURN_STARTED, Translation
from codeplane.surfaces.acp.updates import Decided, Ended, Paused, Running, Text, ToolProgress, Update

_PAGE = 500
# More updates than one event has.
_ALL = 1_000_000
_HEARTBEAT_SEC = 300
_MESSAGE = "message.created"


class Outlet(Protocol):
    """Where the updates of a session go, in the words of one protocol."""

    @property
    def echoes(self) -> bool:
        """Whether a client is shown its own messages."""
        ...

    async def send(self, session_id: str, update: Update, cursor: Cursor) -> None:
        """Send an update; it is out when this returns."""
        ...

    async def ask(self, session_id: str, tool_call_id: str, action_id: str, question: str) -> JsonValue:
        """Put a question to the person at the client, and return the client's answer."""
        ...


class AcpSession:
    """A thread as one connection follows it."""

    def __init__(self, thread_id: str, *, door: AcpDoor, outlet: Outlet, root: Path) -> None:
        self.thread_id = thread_id
        self._door = door
        self._outlet = outlet
        self._translation = Translation(thread_id, root, self._show_mutation)
        self._permissions = PermissionRequests(door, self._ask)
        # The last update that was sent, and the last event that the translation has seen.
        self._sent = Cursor(sequence=0)
        self._read_to = 0
        # Turns that had ended when their message came again, and where the thread was then.
        self._ended_before: list[tuple[int, Ended]] = []
        # Which tool call an action is about.
        self._tool_calls: dict[str, str] = {}
        self._watching: asyncio.Task[None] | None = None
        self._waiting: dict[str, asyncio.Future[Ended]] = {}
        self._own_turns: set[str] = set()
        self._running: str | None = None
        # What became of the last turn that was seen.
        self.state: Running | Paused | Ended | None = None
        self._undecided: str | None = None
        self._is_live = False
        # A message is in the thread before its sender knows the turn; displaying it waits for that.
        self._sending = asyncio.Lock()

    @property
    def cursor(self) -> Cursor:
        """The place of the last update that was sent."""
        return self._sent

    async def replay(self) -> None:
        """Send what is in the thread up to now, from where the session is."""
        while page := await self._read(self._read_to):
            first = int(str(page[0]["sequence"]))
            if first > self._read_to + 1:
                if self._sent.sequence:
                    raise StreamGap(
                        f"updates after {self._sent} are gone", details={"first_available": Cursor(sequence=first).text}
                    )
                gone = Text(role="thought", text="What was said before is no longer stored.", message_id="gap")
                await self._outlet.send(self.thread_id, gone, Cursor(sequence=first - 1))
            for event in page:
                await self._show(event)

    async def skip_to(self, cursor: Cursor | None) -> None:
        """Go on after a cursor, or after all that is there; what later updates depend on is read, and not sent."""
        head = await self._head()
        cursor = cursor or Cursor(sequence=head, update=_ALL)
        if cursor.sequence > head:
            raise InvalidArgument(
                f"the thread ends at {head}, before {cursor}", hint="load the session without a cursor"
            )
        start, page = cursor.sequence - 1, list[JsonObject]()
        while start > 0 and not any(event["type"] == TURN_STARTED for event in page):
            end, start = start, max(0, start - _PAGE)
            page = [*await self._read(start, until=end), *page]
        for event in page[_last_start(page) :]:
            for update in await self._translation.updates(event):
                self._note(update)
        self._read_to, self._sent = max(cursor.sequence - 1, 0), cursor

    def follow(self) -> None:
        """Send what happens from now on."""
        self._is_live = True
        if self._undecided is not None:
            self._permissions.begin(self._undecided)
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._watch())

    async def send_turn(self, message: JsonObject) -> JsonObject:
        """Send a message of the person; return the turn that answers it."""
        async with self._sending:
            sent = await self._door.call("turn.send", {"thread_id": self.thread_id, **message})
            turn_id = str(sent["turn_id"])
            self._own_turns.add(turn_id)
            if turn_id not in self._waiting:
                self._waiting[turn_id] = asyncio.get_running_loop().create_future()
            if sent["status"] in ("COMPLETED", "FAILED"):
                # A message that was sent before; its end may have been shown already.
                last = int(str(sent["last_sequence"]))
                if last <= self._read_to:
                    self._settle(_ended(turn_id, sent))
                else:
                    self._ended_before.append((last, _ended(turn_id, sent)))
        return sent

    def forget(self, turn_id: str) -> None:
        """Wait for a turn no longer: its end is shown, and nobody asks for it."""
        self._waiting.pop(turn_id, None)

    async def wait(self, turn_id: str) -> Ended:
        """Return how a turn ended, once everything before that was sent."""
        try:
            return await asyncio.shield(self._waiting[turn_id])
        finally:
            self._waiting.pop(turn_id, None)

    async def cancel(self) -> None:
        """End the running turn and those that this connection waits for."""
        async with self._sending:
            turns = dict.fromkeys([*self._waiting, *([self._running] if self._running else [])])
        for turn_id in turns:
            await self._door.call("turn.cancel", {"turn_id": turn_id, "reason": "cancelled in the client"})

    async def settle(self, seconds: float) -> None:
        """Return when every turn that is waited for has ended and that was sent, or the time is over."""
        if waiting := {future for future in self._waiting.values() if not future.done()}:
            await asyncio.wait(waiting, timeout=seconds)

    async def end(self) -> None:
        """Follow the thread no longer; it stays, and its turns go on."""
        await self._permissions.end()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        self._fail(ShuttingDown("the session was closed"))

    async def _watch(self) -> None:
        asked: JsonObject = {
            "thread_id": self.thread_id,
            "from_sequence": self._read_to,
            "heartbeat_sec": _HEARTBEAT_SEC,
        }
        try:
            async for item in self._door.stream("thread.watch", asked):
                if isinstance(event := getattr(item, "event", None), dict):
                    await self._show(event)
        except CodePlaneError as error:
            self._fail(error)
            return
        self._fail(ShuttingDown("the thread is not followed any more"))

    async def _show(self, event: JsonObject) -> None:
        """Send the updates of an event that were not sent yet."""
        sequence, is_own = int(str(event["sequence"])), False
        if sequence <= self._read_to:
            return
        if event["type"] == _MESSAGE and self._is_live and not self._outlet.echoes:
            async with self._sending:
                is_own = event.get("turn_id") in self._own_turns
        for index, update in enumerate(await self._translation.updates(event)):
            cursor = Cursor(sequence=sequence, update=index)
            if cursor > self._sent:
                if not is_own:
                    await self._outlet.send(self.thread_id, update, cursor)
                self._sent = cursor
            self._note(update)
        self._read_to = sequence
        self._sent = max(self._sent, Cursor(sequence=sequence))
        for ended in [found for at, found in self._ended_before if at <= sequence]:
            self._settle(ended)

    def _note(self, update: Update) -> None:
        """Keep what an update says about the turns of the session."""
        match update:
            case Running():
                self._running, self.state = update.turn_id, update
            case ToolProgress(action_id=str(action_id)):
                self._tool_calls[action_id] = update.tool_call_id
            case Paused(action_id=None):
                self.state = update
            case Paused(action_id=str(action_id)):
                self.state, self._undecided = update, action_id
                if self._is_live:
                    self._permissions.begin(action_id)
            case Decided():
                self._undecided = None
                self._permissions.withdraw(update.action_id)
            case Ended():
                self._running, self.state = None, update
                if self._undecided is not None:
                    self._permissions.withdraw(self._undecided)
                    self._undecided = None
                self._own_turns.discard(update.turn_id)
                self._settle(update)

    def _settle(self, ended: Ended) -> None:
        waiting = self._waiting.get(ended.turn_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(ended)

    def _fail(self, error: CodePlaneError) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)
                # Nobody may be there to take it.
                waiting.exception()

    async def _ask(self, action_id: str, question: str) -> JsonValue:
        return await self._outlet.ask(self.thread_id, self._tool_calls.get(action_id, action_id), action_id, question)

    async def _show_mutation(self, mutation_id: str) -> JsonObject | None:
        with suppress(NotFound):
            return await self._door.call("mutation.show", {"mutation_id": mutation_id})
        return None

    async def _head(self) -> int:
        found = await self._door.call("thread.show", {"thread_id": self.thread_id})
        return int(str(found["last_sequence"]))

    async def _read(self, after: int, *, until: int | None = None) -> Sequence[JsonObject]:
        limit = _PAGE if until is None else min(_PAGE, until - after)
        if limit <= 0:
            return ()
        found = await self._door.call(
            "thread.events", {"thread_id": self.thread_id, "from_sequence": after, "limit": limit}
        )
        events = found["events"]
        assert isinstance(events, list)
        return events


def _last_start(events: Sequence[JsonObject]) -> int:
    """Return where the last turn among the events begins."""
    return max((index for index, event in enumerate(events) if event["type"] == TURN_STARTED), default=0)


def _ended(turn_id: str, turn: JsonObject) -> Ended:
    return Ended(turn_id=turn_id, stop_reason="cancelled" if turn.get("code") == "CANCELLED" else "end_turn")
