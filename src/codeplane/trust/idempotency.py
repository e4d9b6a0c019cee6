"""Idempotency keys: a repeated call returns the first result; the same key with other arguments is a conflict."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import ClassVar, cast

from codeplane.kernel.actor import Actor
from codeplane.kernel.call_record import CALL_FINISHED, CALL_STARTED, CUT_OFF, key_holder
from codeplane.kernel.errors import (
    ERRORS,
    CodePlaneError,
    IdempotencyConflict,
    Internal,
    OutcomeUnknown,
    ResultGone,
)
from codeplane.kernel.event import Draft, Event, Gap, Heartbeat, Source
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonValue, dumps
from codeplane.kernel.ports import Ledger, StoredOutcome
from codeplane.ledger.projection import RETENTION_APPLIED, Tables

_MAX_PATHS = 20
_MAX_USED = 20_000
_WAIT_ELSEWHERE_SEC = 60.0
_SEE, _LOOK = "mutation_show tells what it did", "git_status and git_log show how things are"
_BY_NAME = {kind.name: kind for kind in ERRORS}


class IdempotencyTable:
    """Keys with the hash of their arguments and of their result.

    `owner_id` is the actor that holds the key; in older records, the owner that this actor acts for.
    """

    name: ClassVar[str] = "idempotency"
    version: ClassVar[int] = 2
    tables: ClassVar[tuple[str, ...]] = ("idempotency",)
    types: ClassVar[frozenset[str]] = frozenset({CALL_STARTED, CALL_FINISHED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE idempotency(
            owner_id TEXT, tool_name TEXT, key TEXT, arguments_hash TEXT, call_id TEXT, status TEXT,
            result_hash TEXT, error TEXT, at_ns INTEGER, PRIMARY KEY(owner_id, tool_name, key)) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == RETENTION_APPLIED:
            before = payload["idempotency_before_ns"]
            assert isinstance(before, int)
            tables.execute("DELETE FROM idempotency WHERE at_ns < ?", (before,))
            return
        key = payload.get("idempotency_key")
        if not isinstance(key, str):
            return
        owner, tool = str(payload.get("key_holder", payload["owner_id"])), str(payload["operation"])
        if event.type == CALL_STARTED:
            tables.execute(
                "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, 'running', NULL, NULL, ?)",
                (owner, tool, key, str(payload["arguments_hash"]), event.correlation.call_id, event.at_ns),
            )
            return
        error, status = payload.get("error"), str(payload["status"])
        if isinstance(error, dict) and (not payload["executed"] or (error["retryable"] and status not in CUT_OFF)):
            # A call that never ran, or failed in a way worth retrying, frees its key for the retry.
            tables.execute(
                "DELETE FROM idempotency WHERE owner_id = ? AND tool_name = ? AND key = ? AND call_id = ?",
                (owner, tool, key, event.correlation.call_id),
            )
            return
        tables.execute(
            """UPDATE idempotency SET status = ?, result_hash = ?, error = ?
               WHERE owner_id = ? AND tool_name = ? AND key = ? AND call_id = ?""",
            (
                status,
                _optional(payload.get("result_hash")),
                dumps(error) if error is not None else None,
                owner,
                tool,
                key,
                event.correlation.call_id,
            ),
        )


def _optional(value: JsonValue) -> str | None:
    return None if value is None else str(value)


@dataclass(slots=True, kw_only=True)
class KeyClaim:
    """A key held by one call while it runs."""

    replay: StoredOutcome | None
    look: Callable[["KeyClaim"], Awaitable[None]]
    key_stream: str | None = None
    head: int = 0
    done: asyncio.Event
    holders: dict[tuple[str, str, str], asyncio.Event]
    place: tuple[str, str, str]

    async def find_other_outcome(self) -> StoredOutcome | None:
        """How the call ended that claimed the key elsewhere; None when the key is free again."""
        await self.look(self)
        return self.replay

    def release(self) -> None:
        """Wake the calls that wait for the same key."""
        if self.holders.get(self.place) is self.done:
            del self.holders[self.place]
        self.done.set()


class IdempotencyKeys:
    """Looks keys up in the log's table, and runs one call per key at a time."""

    def __init__(self, log: Ledger, *, is_shared: bool = False) -> None:
        """`is_shared`: other nodes run calls, too; a key is claimed by an event that expects its stream's head."""
        self._log = log
        self._is_shared = is_shared
        self._held: dict[tuple[str, str, str], asyncio.Event] = {}
        # The keys that calls of this process used last.
        self._used: dict[tuple[str, str, str], None] = {}

    def is_unused(self, *, actor: Actor, operation: str, key: str) -> bool:
        """Whether no call of this process has claimed the key, and none of another one can."""
        return not self._is_shared and (key_holder(actor), operation, key) not in self._used

    async def claim(
        self, *, actor: Actor, operation: str, key: str, arguments_hash: str, is_new: bool = False
    ) -> KeyClaim:
        """Hold the actor's key; the claim of a key that was used before carries the first outcome."""
        place = (key_holder(actor), operation, key)
        while (holder := self._held.get(place)) is not None:
            await holder.wait()

        async def look(claim: KeyClaim) -> None:
            if claim.key_stream is not None:
                # First: what another node claims after this makes the intent a conflict.
                claim.head = await self._head(claim.key_stream)
            claim.replay = await self._before(actor, operation, key, arguments_hash)

        claim = KeyClaim(
            replay=None,
            look=look,
            key_stream=_key_stream(place) if self._is_shared else None,
            done=asyncio.Event(),
            holders=self._held,
            place=place,
        )
        is_new = is_new and self.is_unused(actor=actor, operation=operation, key=key)
        self._held[place] = claim.done
        self._remember(place)
        if is_new:
            return claim
        try:
            await look(claim)
        except BaseException:
            claim.release()
            raise
        return claim

    def _remember(self, place: tuple[str, str, str]) -> None:
        self._used.pop(place, None)
        self._used[place] = None
        if len(self._used) > _MAX_USED:
            del self._used[next(iter(self._used))]

    async def _before(self, actor: Actor, operation: str, key: str, arguments_hash: str) -> StoredOutcome | None:
        held_by, row = self._row(key_holder(actor), actor.owner_id, operation, key)
        if row is None or (held_by == actor.owner_id and not await self._was_by(actor, row[-1])):
            return None
        if row[1] == "running" and await self._is_elsewhere(row[-1]):
            await self._until_ended(str(row[-1]))
            return await self._before(actor, operation, key, arguments_hash)
        first_hash, status, result_hash, error, call_id = row
        if first_hash != arguments_hash:
            await self._report_conflict((actor.owner_id, operation, key), arguments_hash, str(first_hash))
        if status == "running":
            # Not a call of this run: those hold their keys.
            raise OutcomeUnknown(
                f"call {call_id} with this key is still under way: git of the last run has not ended",
                hint="ask again with the same key and arguments when it has; status says so",
                details={"call_id": call_id, "running": True},
            )
        if status in CUT_OFF:
            raise OutcomeUnknown(f"call {call_id} with this key was interrupted", details={"call_id": call_id})
        if error is None and result_hash is None:
            raise await self._result_gone(call_id)
        if error is not None:
            return StoredOutcome(error=_error(str(status), json.loads(error)))
        data = await self._log.get(str(result_hash))
        if data is None:
            raise ResultGone(f"call {call_id} with this key is done", details={"result_hash": result_hash})
        return StoredOutcome(result_json=data.decode())

    async def _head(self, stream: str) -> int:
        ((head,),) = await self._log.select("SELECT coalesce(max(head), 0) FROM streams WHERE stream = ?", (stream,))
        return int(str(head))

    async def _is_elsewhere(self, call_id: str | None) -> bool:
        """Whether a call was started by another node, which may be about to end it."""
        events = await self._log.query(EventQuery(call_id=call_id, types=(CALL_STARTED,), limit=1))
        return bool(events) and not self._log.is_own(events[0])

    async def _until_ended(self, call_id: str) -> None:
        """Wait until another node has recorded the end of its call."""
        ended = EventQuery(call_id=call_id, types=(CALL_FINISHED,))
        try:
            followed = cast(AsyncGenerator[Event | Heartbeat | Gap, None], self._log.follow(ended))
            async with asyncio.timeout(_WAIT_ELSEWHERE_SEC), aclosing(followed) as events:
                async for event in events:
                    if isinstance(event, Event):
                        return
        except TimeoutError:
            raise OutcomeUnknown(
                f"call {call_id} with this key still runs on another node",
                hint="ask again with the same key and arguments when it has ended",
                details={"call_id": call_id, "running": True},
            ) from None

    async def _result_gone(self, call_id: str | None) -> ResultGone:
        """The error for a call that was cut off after it had made its change."""
        events = await self._log.query(EventQuery(call_id=call_id, types=(CALL_FINISHED,), limit=1))
        payload = events[0].payload if events else {}
        if "cut_off" not in payload:
            return ResultGone(f"call {call_id} with this key is done", details={"call_id": call_id})
        mutation, paths = payload.get("mutation_id"), payload.get("changed_paths")
        named = f" as {mutation}" if isinstance(mutation, str) else ""
        listed = f": {', '.join(map(str, paths[:_MAX_PATHS]))}" if isinstance(paths, list) and paths else ""
        return ResultGone(
            f"call {call_id} with this key is done{named}{listed}",
            hint=f"it was cut off before it could answer, so do not repeat it; {_SEE if named else _LOOK}",
            details={"call_id": call_id, "done": True, "mutation_id": mutation, "changed_paths": paths or []},
        )

    def _row(self, holder: str, owner_id: str, operation: str, key: str) -> tuple[str, list[str | None] | None]:
        """Who holds a key, and its row: its holder's, or in older records the owner's."""
        rows = self._log.lookup(
            """SELECT owner_id, arguments_hash, status, result_hash, error, call_id FROM idempotency
               WHERE owner_id IN (?1, ?2) AND tool_name = ?3 AND key = ?4 ORDER BY owner_id = ?1 DESC""",
            (holder, owner_id, operation, key),
        )
        if not rows:
            return holder, None
        held_by, *cells = rows[0]
        return str(held_by), [None if cell is None else str(cell) for cell in cells]

    async def _was_by(self, actor: Actor, call_id: str | None) -> bool:
        """Whether a key recorded for a whole owner was used by this actor; assumed when the log no longer tells."""
        events = await self._log.query(EventQuery(call_id=call_id, types=(CALL_STARTED,), limit=1))
        return not events or events[0].actor == str(actor)

    async def _report_conflict(self, place: tuple[str, str, str], arguments_hash: str, first_hash: str) -> None:
        owner_id, operation, key = place
        await self._log.append(
            [
                Draft(
                    stream="audit",
                    type="idempotency.conflict",
                    source=Source.POLICY_ENGINE,
                    payload={
                        "owner_id": owner_id,
                        "operation": operation,
                        "key": key,
                        "arguments_hash": arguments_hash,
                        "first_arguments_hash": first_hash,
                    },
                )
            ]
        )
        raise IdempotencyConflict(f"idempotency_key {key!r} was used for {operation} with other arguments")


def _key_stream(place: tuple[str, str, str]) -> str:
    """The stream of one key; by hash, since keys are the callers' text."""
    return f"key/{digest(chr(0x1F).join(place).encode('utf-8', 'backslashreplace'))[:40]}"


def _error(name: str, wire: dict[str, JsonValue]) -> CodePlaneError:
    kind = _BY_NAME.get(name, Internal)
    return kind(str(wire["message"]), hint=_optional(wire.get("hint")))
