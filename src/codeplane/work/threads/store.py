"""Reads threads, messages and turns, and appends what is recorded of threads themselves."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from codeplane.kernel.bounded_cache import BoundedCache
from codeplane.kernel.errors import ThreadNotFound, TurnNotFound
from codeplane.kernel.json import dumps
from codeplane.kernel.ports import Ledger
from codeplane.kernel.short_ids import match_stored_id
from codeplane.kernel.thread_copies import thread_stream
from codeplane.ledger.rows import Cell
from codeplane.work.threads.thread import (
    MESSAGE_COLUMNS,
    THREAD_COLUMNS,
    TURN_COLUMNS,
    Memory,
    Message,
    Thread,
    Turn,
    message_from_row,
    thread_from_row,
    turn_from_row,
)

_ENTRIES = "SELECT sequence, work_id, kind, step, tool_call_id, payload_hash, tokens FROM thread_entries"
_MAX_WORK_IDS = 20_000
UNFINISHED = "state IN ('QUEUED', 'RUNNING', 'PAUSED')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model's or tool's answer, by the hash of its sealed payload; `tokens` is its size."""

    sequence: int
    work_id: str
    kind: str
    step: int
    tool_call_id: str
    payload_hash: str
    tokens: int


class ThreadStore:
    """The threads of one log."""

    def __init__(self, log: Ledger) -> None:
        self._log = log
        # The work of turns, which stays what it is: every turn asks for that of those before it.
        self._work_ids = BoundedCache[str, str](_MAX_WORK_IDS)

    async def thread(self, thread_id: str) -> Thread:
        """A thread by its id, or a beginning or end that only it has."""
        rows = self._lookup_thread(thread_id)
        if not rows:
            whole_id = await match_stored_id(self._log, "threads.thread_id", thread_id, "thread", ThreadNotFound)
            rows = self._lookup_thread(whole_id)
        return thread_from_row(rows[0])

    async def threads(self, where: str, values: Sequence[Cell]) -> list[Thread]:
        """The threads that meet an SQL condition."""
        rows = await self._log.select(f"SELECT {THREAD_COLUMNS} FROM threads WHERE {where}", values)
        return [thread_from_row(row) for row in rows]

    async def turn(self, turn_id: str) -> Turn:
        """A turn by its id, or a beginning or end that only it has."""
        turn = self.find_turn(turn_id)
        if turn is None:
            whole_id = await match_stored_id(self._log, "turns.turn_id", turn_id, "turn", TurnNotFound)
            turn = self.find_turn(whole_id)
        assert turn is not None
        return turn

    def find_turn(self, turn_id: str) -> Turn | None:
        """A turn by its whole id, or None."""
        return self._lookup_turn("turn_id", turn_id)

    def find_work_id(self, turn_id: str) -> str | None:
        """The work item that runs a turn, or None."""
        work_id = self._work_ids.get(turn_id)
        if work_id is None and (turn := self.find_turn(turn_id)) is not None:
            work_id = turn.work_id
            self._work_ids.put(turn_id, work_id)
        return work_id

    async def turn_of_work(self, work_id: str) -> Turn:
        """The turn that a work item runs."""
        if (turn := self._lookup_turn("work_id", work_id)) is None:
            raise TurnNotFound(f"no turn belongs to {work_id}")
        return turn

    async def turns(self, where: str, values: Sequence[Cell]) -> list[Turn]:
        """The turns that meet an SQL condition."""
        rows = await self._log.select(f"SELECT {TURN_COLUMNS} FROM turns WHERE {where}", values)
        return [turn_from_row(row) for row in rows]

    async def unfinished_turns(self, thread_id: str) -> list[Turn]:
        """The turns of a thread that have not ended, in their order."""
        return await self.turns(f"thread_id = ? AND {UNFINISHED} ORDER BY position", (thread_id,))

    def count_unfinished(self, thread_id: str, but: Collection[str]) -> int:
        """How many turns of a thread have not ended, without some by their ids; it does not wait."""
        ((count,),) = self._log.lookup(
            f"""SELECT count(*) FROM turns WHERE thread_id = ? AND {UNFINISHED}
                AND turn_id NOT IN (SELECT value FROM json_each(?))""",
            (thread_id, dumps([*but])),
        )
        return int(str(count))

    def first_unfinished(self, thread_id: str) -> Turn | None:
        """The first turn of a thread that has not ended, without waiting."""
        rows = self._log.lookup(
            f"SELECT {TURN_COLUMNS} FROM turns WHERE thread_id = ? AND {UNFINISHED} ORDER BY position LIMIT 1",
            (thread_id,),
        )
        return turn_from_row(rows[0]) if rows else None

    async def is_first(self, turn: Turn) -> bool:
        """Whether every earlier turn of its thread has ended."""
        earlier = self._log.lookup(
            f"SELECT 1 FROM turns WHERE thread_id = ? AND position < ? AND {UNFINISHED} LIMIT 1",
            (turn.thread_id, turn.position),
        )
        return not earlier

    async def head(self, thread_id: str) -> int:
        """The last sequence of a thread."""
        rows = self._log.lookup("SELECT head FROM streams WHERE stream = ?", (thread_stream(thread_id),))
        return int(str(rows[0][0])) if rows else 0

    async def messages(self, thread_id: str, *, before: int | None, limit: int) -> list[Message]:
        """Messages before a sequence, the newest of them, oldest first."""
        rows = await self._log.select(
            f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE thread_id = ? AND sequence < ? "
            "ORDER BY sequence DESC LIMIT ?",
            (thread_id, before if before is not None else 2**62, limit),
        )
        return [message_from_row(row) for row in reversed(rows)]

    async def message(self, message_id: str) -> Message | None:
        """A message by its id."""
        rows = self._log.lookup(f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE message_id = ?", (message_id,))
        return message_from_row(rows[0]) if rows else None

    async def memory(self, thread_id: str) -> Memory:
        """What is remembered of a thread; empty when nothing is."""
        rows = self._log.lookup(
            "SELECT checkpoint_id, written, cut, updated_ns FROM thread_memory WHERE thread_id = ?", (thread_id,)
        )
        if not rows:
            return Memory()
        checkpoint_id, written, cut, updated_ns = rows[0]
        return Memory(
            checkpoint_id=str(checkpoint_id), written=str(written), cut=str(cut), updated_ns=int(str(updated_ns))
        )

    async def entries_between(self, thread_id: str, first: int, before: int) -> list[Entry]:
        """The entries of a thread after one sequence and before another, in their order."""
        rows = await self._log.select(
            f"{_ENTRIES} WHERE thread_id = ? AND sequence > ? AND sequence < ? ORDER BY sequence",
            (thread_id, first, before),
        )
        return [_entry_from_row(row) for row in rows]

    def entries_of_work(self, work_id: str) -> list[Entry]:
        """The entries of one turn in their order."""
        rows = self._log.lookup(f"{_ENTRIES} WHERE work_id = ? ORDER BY sequence", (work_id,))
        return [_entry_from_row(row) for row in rows]

    def _lookup_thread(self, thread_id: str) -> Sequence[Sequence[Cell]]:
        return self._log.lookup(f"SELECT {THREAD_COLUMNS} FROM threads WHERE thread_id = ?", (thread_id,))

    def _lookup_turn(self, column: str, value: str) -> Turn | None:
        rows = self._log.lookup(f"SELECT {TURN_COLUMNS} FROM turns WHERE {column} = ?", (value,))
        return turn_from_row(rows[0]) if rows else None


def _entry_from_row(row: Sequence[Cell]) -> Entry:
    sequence, work_id, kind, step, tool_call_id, payload_hash, tokens = row
    return Entry(
        sequence=int(str(sequence)),
        work_id=str(work_id),
        kind=str(kind),
        step=int(str(step)),
        tool_call_id=str(tool_call_id or ""),
        payload_hash=str(payload_hash),
        tokens=int(str(tokens)),
    )
