"""A batch of the shared log as bytes: what every node needs to apply it alike."""

import base64
import binascii
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import LedgerCorrupt, SchemaTooNew
from codeplane.kernel.event import NO_CORRELATION, ContentTrust, Correlation, Draft, SealedPayload, Source
from codeplane.kernel.ids import uuid7
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger.database import SCHEMA_VERSION
from codeplane.ledger.job import Append, Entry, StoredBlob

_IDS = ("session_id", "call_id", "task_id", "thread_id", "turn_id", "job_id", "work_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMessage:
    """The entries of one batch, and the node that published them."""

    batch_id: str
    node: str
    entries: Sequence[Entry]


def stamp(append: Append, clock: Clock) -> Append:
    """The append with ids and times for its events, which are the same on every node."""
    drafts = [
        structs.replace(
            draft,
            event_id=draft.event_id or uuid7(),
            at_ns=clock.now_ns() if draft.at_ns is None else draft.at_ns,
        )
        for draft in append.drafts
    ]
    return replace(append, drafts=drafts)


def encode(message: SharedMessage) -> bytes:
    """The message as JSON."""
    entries: list[JsonObject] = [
        _blob_to_json(entry) if isinstance(entry, StoredBlob) else _append_to_json(entry) for entry in message.entries
    ]
    wire: JsonObject = {
        "schema": SCHEMA_VERSION,
        "batch": message.batch_id,
        "node": message.node,
        "entries": entries,
    }
    return dumps(wire).encode()


def decode(data: bytes, *, blob_bytes: int) -> SharedMessage:
    """The message in bytes of the shared log; SchemaTooNew for one of a newer CodePlane.

    `blob_bytes` bounds this node's store of blobs.
    """
    try:
        wire = json.loads(data)
        if int(wire["schema"]) > SCHEMA_VERSION:
            raise SchemaTooNew(
                f"the shared log holds a batch of schema {wire['schema']}; this CodePlane knows up to {SCHEMA_VERSION}",
                details={"found": int(wire["schema"]), "known": SCHEMA_VERSION},
            )
        return SharedMessage(
            batch_id=str(wire["batch"]),
            node=str(wire["node"]),
            entries=[
                _blob_from_json(entry, blob_bytes) if "blob" in entry else _append_from_json(entry)
                for entry in wire["entries"]
            ],
        )
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise LedgerCorrupt(
            f"a batch of the shared log cannot be read: {type(error).__name__}: {error}",
            hint="something else writes to what ledger.shared names; this node waits there",
        ) from error


def _append_to_json(append: Append) -> JsonObject:
    events: list[JsonObject] = [
        {
            "id": draft.event_id,
            "stream": draft.stream,
            "type": draft.type,
            "schema": draft.schema,
            "at_ns": draft.at_ns,
            "actor": draft.actor,
            "source": draft.source.value,
            "content_trust": draft.content_trust.value,
            **draft.correlation.to_wire(),
            "payload": payload,
        }
        for draft, payload in zip(append.drafts, append.payloads, strict=True)
    ]
    sealed: list[JsonObject] = [
        {
            "owner": payload.owner,
            "hash": payload.hash,
            "size": payload.size,
            "data": base64.b64encode(payload.data).decode(),
        }
        for payload in append.sealed
    ]
    return {
        "events": events,
        **({"expect": dict(append.expect)} if append.expect else {}),
        **({"sealed": sealed} if sealed else {}),
    }


def _append_from_json(entry: JsonObject) -> Append:
    events, expect, sealed = entry["events"], entry.get("expect"), entry.get("sealed", [])
    assert isinstance(events, list) and isinstance(sealed, list)
    drafts = [_draft_from_json(event) for event in events]
    return Append(
        drafts=drafts,
        payloads=[str(event["payload"]) for event in events],
        expect={str(stream): int(str(head)) for stream, head in expect.items()} if isinstance(expect, dict) else None,
        sealed=tuple(map(_sealed_from_json, sealed)),
    )


def _sealed_from_json(payload: JsonObject) -> SealedPayload:
    """A payload that its node has accepted: a bound of another one must not decide otherwise about its events."""
    return SealedPayload(
        owner=str(payload["owner"]),
        hash=str(payload["hash"]),
        size=int(str(payload["size"])),
        data=base64.b64decode(str(payload["data"]), validate=True),
        limit=sys.maxsize,
    )


def _draft_from_json(event: JsonObject) -> Draft:
    ids = {name: str(event[name]) for name in _IDS if name in event}
    return Draft(
        event_id=str(event["id"]),
        stream=str(event["stream"]),
        type=str(event["type"]),
        schema=int(str(event["schema"])),
        at_ns=int(str(event["at_ns"])),
        actor=str(event["actor"]),
        source=Source(str(event["source"])),
        content_trust=ContentTrust(str(event["content_trust"])),
        correlation=Correlation(**ids) if ids else NO_CORRELATION,
        payload=json.loads(str(event["payload"])),
    )


def _blob_to_json(blob: StoredBlob) -> JsonObject:
    return {"blob": blob.key, "at_ns": blob.at_ns, "data": base64.b64encode(blob.data).decode()}


def _blob_from_json(entry: JsonObject, limit: int) -> StoredBlob:
    return StoredBlob(
        key=str(entry["blob"]),
        at_ns=int(str(entry["at_ns"])),
        data=base64.b64decode(str(entry["data"]), validate=True),
        limit=limit,
    )
