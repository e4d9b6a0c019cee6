"""What is stored of a deferred call: its arguments sealed, or where the work that it began goes on."""

import json
from dataclasses import dataclass

from codeplane.kernel.actor import Actor
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import DeferredCallNotFound, SequenceConflict
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import FollowUp
from codeplane.kernel.ports import Ledger, Payloads
from codeplane.work.deferred.table import DEFERRED, DEFERRED_CANCELLED, deferred_stream

_COLUMNS = "deferred_id, actor, operation, payload_hash, cancel, arguments, cancelled, created_ns, updated_ns"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredRecord:
    """A deferred call; `follow_up` where the call itself has ended and what it began goes on."""

    deferred_id: str
    actor: Actor
    operation: str
    created_ns: int
    updated_ns: int
    payload_hash: str = ""
    follow_up: FollowUp | None = None
    is_cancelled: bool = False


class DeferredStore:
    """The deferred calls of one log."""

    def __init__(self, *, log: Ledger, payloads: Payloads, clock: Clock, ttl_sec: float) -> None:
        self._log = log
        self._payloads = payloads
        self._clock = clock
        self.ttl_ms = int(ttl_sec * 1000)

    async def add_call(self, deferred_id: str, actor: Actor, operation: str, arguments: JsonObject) -> DeferredRecord:
        """Record a call that still runs, with what makes the same call again."""
        payload_hash = await self._payloads.put(deferred_id, canonical(arguments))
        return await self._add(deferred_id, actor, {"operation": operation, "payload_hash": payload_hash})

    async def add_follow_up(self, deferred_id: str, actor: Actor, follow_up: FollowUp) -> DeferredRecord:
        """Record work that goes on after the call that began it."""
        facts: JsonObject = {
            "operation": follow_up.show,
            "cancel": follow_up.cancel,
            "arguments": follow_up.arguments,
        }
        return await self._add(deferred_id, actor, facts)

    async def _add(self, deferred_id: str, actor: Actor, facts: JsonObject) -> DeferredRecord:
        stream = deferred_stream(deferred_id)
        draft = Draft(stream=stream, type=DEFERRED, payload={**facts, "actor": actor.to_json()}, actor=str(actor))
        await self._log.append([draft], expect={stream: 0})
        return self.own(deferred_id, actor)

    async def cancel(self, record: DeferredRecord) -> None:
        """Record that a call was cancelled; once."""
        stream = deferred_stream(record.deferred_id)
        draft = Draft(stream=stream, type=DEFERRED_CANCELLED, payload={}, actor=str(record.actor))
        try:
            await self._log.append([draft], expect={stream: 1})
        except SequenceConflict:
            # Another request did.
            return

    def own(self, deferred_id: str, actor: Actor) -> DeferredRecord:
        """A call of the actor's own; DeferredCallNotFound for those of others, the same whether there are any."""
        rows = self._log.lookup(f"SELECT {_COLUMNS} FROM deferred_calls WHERE deferred_id = ?", (deferred_id,))
        for row in rows:
            found = _record(row)
            is_over = self._clock.now_ns() > found.created_ns + self.ttl_ms * SECOND_NS // 1000
            if found.actor == actor and not is_over:
                return found
        raise DeferredCallNotFound(f"there is no task {deferred_id[:100]!r} of yours")

    async def arguments(self, record: DeferredRecord) -> JsonObject:
        """The arguments of a call; DeferredCallNotFound when they are gone."""
        data = await self._payloads.get(record.deferred_id, record.payload_hash)
        if data is None:
            raise DeferredCallNotFound(f"the arguments of {record.deferred_id} are no longer stored")
        arguments: JsonObject = json.loads(data)
        return arguments


def _record(row: tuple[str | int | float | bytes | None, ...]) -> DeferredRecord:
    deferred_id, actor, operation, payload_hash, cancel, arguments, cancelled, created_ns, updated_ns = row
    follow_up = None
    if cancel:
        follow_up = FollowUp(show=str(operation), cancel=str(cancel), arguments=json.loads(str(arguments)))
    return DeferredRecord(
        deferred_id=str(deferred_id),
        actor=Actor.from_json(json.loads(str(actor))),
        operation=str(operation),
        created_ns=int(str(created_ns)),
        updated_ns=int(str(updated_ns)),
        payload_hash=str(payload_hash),
        follow_up=follow_up,
        is_cancelled=bool(cancelled),
    )
