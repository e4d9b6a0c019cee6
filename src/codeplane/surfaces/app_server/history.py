"""The history of a thread: its events read back and folded into turns, a window at a time."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.app_server.folded_turn import FoldedTurn
from codeplane.surfaces.app_server.items import FILE_CHANGE, Item, changes_of
from codeplane.surfaces.app_server.pages import PageRequest, page_of
from codeplane.surfaces.app_server.thread_fold import ThreadFold

# Calls an operation as the client, and returns its result.
CallOperation = Callable[[str, JsonObject], Awaitable[JsonObject]]

# Events that are folded for one answer; older turns come with the next page.
MAX_EVENTS = 20_000
_PAGE = 2000
_MAX_FILES = 20
_STATES = {"COMPLETED": "completed", "FAILED": "failed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Folded turns that begin before `last`, oldest first; older ones begin before `before`, if there are any."""

    fold: ThreadFold
    turns: tuple[FoldedTurn, ...]
    last: int
    before: int | None


class ThreadHistory:
    """Reads one thread for one client."""

    def __init__(self, call: CallOperation, *, cwd: str) -> None:
        self._call = call
        self._cwd = cwd

    async def window(self, thread_id: str, *, before: int | None = None) -> Window:
        """Return the newest turns that begin before a sequence, as many as are read at once."""
        head = await self.head(thread_id)
        last = head + 1 if before is None else min(before, head + 1)
        # A turn may go on after a later one was queued.
        start, end = max(0, last - 1 - MAX_EVENTS), min(head, last - 1 + MAX_EVENTS // 2)
        fold = await self._fold(thread_id, start, end)
        if end < head:
            await self._correct_cut_turns(fold)
        turns = [turn for turn in fold.turns.values() if turn.first_sequence < last]
        whole = [turn for turn in turns if turn.is_whole or turn.status == "inProgress"]
        shown = whole or turns
        older = shown[0].first_sequence if shown and start > 0 else None
        return Window(fold=fold, turns=tuple(shown), last=last, before=older)

    async def fold_until(self, thread_id: str, sequence: int) -> ThreadFold:
        """Return the fold of a thread's events up to a sequence."""
        return await self._fold(thread_id, max(0, sequence - MAX_EVENTS), sequence)

    async def _fold(self, thread_id: str, after: int, end: int) -> ThreadFold:
        fold = ThreadFold(thread_id, cwd=self._cwd)
        while after < end:
            events = (await self._events(thread_id, after, min(_PAGE, end - after)))["events"]
            if not isinstance(events, list) or not events:
                break
            for event in events:
                assert isinstance(event, dict)
                fold.take(event)
            after = fold.last_sequence
        fold.last_sequence = max(fold.last_sequence, end)
        return fold

    async def head(self, thread_id: str) -> int:
        """Return the last sequence of a thread."""
        return int(str((await self._events(thread_id, 0, 1))["last_sequence"]))

    async def _correct_cut_turns(self, fold: ThreadFold) -> None:
        """Look up how turns ended whose ends were not read."""
        fold.settle()
        for turn in fold.turns.values():
            if turn.status == "inProgress":
                turn.is_whole = False
                shown = await self._call("turn.show", {"turn_id": turn.newest})
                turn.status = _STATES.get(str(shown["status"]), "inProgress")

    async def newest(self, window: Window) -> tuple[list[JsonValue], str | None]:
        """Return the turns of a window that fit into one answer, oldest first, and the cursor of older ones."""
        entries = [partial(self.turn, turn) for turn in window.turns]
        wanted = PageRequest(limit=len(entries))
        page = await page_of(entries, wanted, last=window.last, older=window.before)
        return page.data[::-1], page.next_cursor

    async def turn(self, turn: FoldedTurn, *, with_items: bool = True) -> JsonObject:
        """Return a turn with the diffs of what it changed."""
        for item in turn.items.values() if with_items else ():
            await self.complete_item(item)
        return turn.to_json(with_items=with_items)

    async def complete_item(self, item: Item) -> None:
        """Add the diffs of what an item changed; they stay as planned where they are no longer stored."""
        if item.kind != FILE_CHANGE or not item.mutation_id:
            return
        mutation_id, item.mutation_id = item.mutation_id, ""
        asked: JsonObject = {"mutation_id": mutation_id, "limit": _MAX_FILES}
        try:
            mutation = await self._call("mutation.show", asked)
        except CodePlaneError as error:
            # The change itself is reported all the same.
            item.body["note"] = f"diff not available: {error.name}"
            return
        item.body["changes"] = changes_of(mutation)
        pagination = mutation.get("pagination")
        if isinstance(pagination, dict) and pagination.get("next_cursor"):
            item.body["note"] = f"{mutation.get('file_count')} files; these are the first {_MAX_FILES}"

    async def _events(self, thread_id: str, after: int, limit: int) -> JsonObject:
        return await self._call("thread.events", {"thread_id": thread_id, "from_sequence": after, "limit": limit})
