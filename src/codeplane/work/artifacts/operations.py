"""The operations on artifacts."""

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from codeplane.kernel.call import Call
from codeplane.kernel.config import ArtifactsConfig
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import ArtifactNotFound, InvalidArgument, SequenceConflict, TooLarge
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger
from codeplane.ledger.rows import Cell
from codeplane.work.artifacts.artifact import Artifact, body_owner, guess_media_type
from codeplane.work.artifacts.models import (
    MAX_PART_BYTES,
    ArtifactBody,
    ArtifactPage,
    ArtifactRequest,
    ArtifactView,
    BodyRequest,
    ExtendArtifactRequest,
    GetArtifactRequest,
    ListArtifactsRequest,
    PutArtifactRequest,
)
from codeplane.work.artifacts.store import ArtifactStore
from codeplane.work.artifacts.table import CREATED, DELETED, EXTENDED, artifact_stream
from codeplane.work.threads.operations import ThreadAccess

# All artifacts without a thread together have so many quotas.
_MOST_QUOTAS = 10

# Whether the caller may know untrusted content, and what marks a caller that is given some.
HasRead = Callable[[Call], bool]
Ingest = Callable[[Call, str, str], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """The artifact that a part is added to, and how much of it there is."""

    artifact_id: str
    thread_id: str | None
    size: int = 0
    parts: int = 0


class ArtifactOperations:
    """What clients can do with artifacts."""

    def __init__(
        self,
        *,
        store: ArtifactStore,
        threads: ThreadAccess,
        log: Ledger,
        cursors: Cursors,
        config: ArtifactsConfig,
        has_read_untrusted: HasRead,
        ingest: Ingest,
    ) -> None:
        self._store = store
        self._threads = threads
        self._log = log
        self._cursors = cursors
        self._config = config
        self._has_read_untrusted = has_read_untrusted
        self._ingest = ingest
        # What is counted of all of them together holds while one more is added.
        self._without_thread = asyncio.Lock()

    @operation("artifact.put", risk=Risk.WRITE)
    async def put(self, call: Call, request: PutArtifactRequest) -> ArtifactView:
        """Leave a result for people and later turns: a report, a diff, a picture. A body over 2 MB goes on with
        artifact_extend."""
        data = self._body_of(request)
        thread_id = request.thread_id or (call.caller.origin.thread_id if call.caller.origin else None)
        if thread_id:
            thread_id = (await self._threads.thread(call, thread_id)).thread_id
        target = _Target(artifact_id=new_id("art"), thread_id=thread_id or None)
        media_type = request.media_type.lower() or guess_media_type(request.name, is_text=request.text is not None)
        payload: JsonObject = {
            "artifact_id": target.artifact_id,
            "thread_id": target.thread_id,
            "name": request.name,
            "description": request.description,
            "media_type": media_type,
        }
        await self._add_part(call, target, CREATED, payload, data)
        return ArtifactView.of(await self._store.artifact(target.artifact_id))

    @operation("artifact.extend", risk=Risk.WRITE)
    async def extend(self, call: Call, request: ExtendArtifactRequest) -> ArtifactView:
        """Add the next part of a body that is too large for one call; the same part again changes nothing."""
        artifact, data = await self._writable(call, request.artifact_id), self._body_of(request)
        parts = await self._store.parts(artifact)
        for part in parts:
            if part.start == request.start and part.payload_hash == digest(data):
                return ArtifactView.of(artifact)
        if request.start != artifact.size:
            raise InvalidArgument(
                f"{artifact.artifact_id} has {artifact.size} bytes, and this part begins at {request.start}",
                hint=f"send the part that begins at {artifact.size}",
            )
        target = _Target(
            artifact_id=artifact.artifact_id, thread_id=artifact.thread_id, size=artifact.size, parts=len(parts)
        )
        try:
            await self._add_part(call, target, EXTENDED, {}, data)
        except SequenceConflict as error:
            raise InvalidArgument(
                f"{artifact.artifact_id} was changed at the same moment", hint="look at its size: artifact_get"
            ) from error
        return ArtifactView.of(await self._store.artifact(artifact.artifact_id))

    @operation("artifact.get", risk=Risk.READ)
    async def get(self, call: Call, request: GetArtifactRequest) -> ArtifactBody:
        """The body of an artifact, a part at a time: text where it is text, else base64."""
        artifact = await self._readable(call, request.artifact_id)
        if artifact.untrusted:
            await self._ingest(call, "artifact", artifact.artifact_id)
        end = min(artifact.size, request.offset + request.max_bytes)
        # What is around the part is looked at too: a secret is not seen in pieces.
        margin = call.secrets_margin()
        first = max(0, request.offset - margin)
        around = await self._store.body(artifact, first, min(artifact.size, end + margin))
        begin, view = request.offset - first, ArtifactView.of(artifact).model_dump()
        data = around[begin : end - first]
        if artifact.is_text:
            letters = data if end == artifact.size else _cut_at_letter(data)
            following = request.offset + len(letters) if request.offset + len(letters) < artifact.size else None
            with suppress(UnicodeDecodeError):
                letters.decode()
                body = call.part(around, begin, begin + len(letters)).decode()
                return ArtifactBody(**view, body=body, next_offset=following)
        shown = call.part(around, begin, begin + len(data))
        following = end if end < artifact.size else None
        return ArtifactBody(**view, content_base64=base64.b64encode(shown).decode(), next_offset=following)

    @operation("artifact.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListArtifactsRequest) -> ArtifactPage:
        """Artifacts, the newest first; agents see their own and those of their threads."""
        conditions, values = ["1"], list[Cell]()
        if request.thread_id:
            conditions.append("thread_id = ?")
            values.append((await self._threads.thread(call, request.thread_id)).thread_id)
        if (creator := self._threads.restriction(call)) is not None:
            own_thread = call.caller.origin.thread_id if call.caller.origin else None
            conditions.append(
                "(created_by = ? OR thread_id = ? OR thread_id IN (SELECT thread_id FROM threads WHERE created_by = ?))"
            )
            values += [creator, own_thread, creator]
        name = f"artifact.list:{call.task.session_id if call.task else ''}:{request.thread_id}"
        before = int(str(self._cursors.open(request.cursor, scope=name)["before"])) if request.cursor else 2**62
        found = await self._store.artifacts(
            f"{' AND '.join(conditions)} AND position < ? ORDER BY position DESC LIMIT ?",
            (*values, before, request.limit + 1),
        )
        page, following = found[: request.limit], None
        if len(found) > request.limit:
            following = self._cursors.issue(scope=name, state={"before": page[-1].position})
        readable = await self._threads.readable(call, [artifact_stream(one.artifact_id) for one in page])
        shown = [one for one in page if artifact_stream(one.artifact_id) in readable]
        # Names and descriptions are words of who made them, as bodies are.
        if theirs := next((one for one in shown if one.untrusted and one.created_by != str(call.actor)), None):
            await self._ingest(call, "artifact", theirs.artifact_id)
        return ArtifactPage(
            results=tuple(map(ArtifactView.of, shown)),
            pagination=Pagination(next_cursor=following),
            hidden=len(page) - len(shown),
        )

    @operation("artifact.delete", risk=Risk.WRITE)
    async def delete(self, call: Call, request: ArtifactRequest) -> ArtifactView:
        """Delete an artifact and its body for good."""
        artifact = await self._writable(call, request.artifact_id)
        parts = await self._store.parts(artifact)
        await self._log.append([_draft(call, DELETED, {}, artifact.artifact_id, artifact.thread_id)])
        await self._store.delete_body(parts)
        return ArtifactView.of(artifact)

    async def _add_part(self, call: Call, target: "_Target", kind: str, payload: JsonObject, data: bytes) -> None:
        """Store a part of a body, then record it behind the parts that are there."""
        if target.size + len(data) > self._config.max_bytes:
            raise TooLarge(
                f"the artifact would have {target.size + len(data)} bytes", details={"limit": self._config.max_bytes}
            )
        owner = body_owner(target.thread_id, str(call.actor))
        payload = {**payload, "payload_owner": owner, "start": target.size, "size": len(data)}
        if target.thread_id is not None or call.actor.is_person:
            await self._store_part(call, target, kind, payload, data)
            return
        async with self._without_thread:
            used = self._store.count_without_thread()
            if used + len(data) > _MOST_QUOTAS * self._config.thread_bytes:
                # Names cost nothing: who has used up its quota could take another one.
                raise TooLarge(
                    f"artifacts without a thread would have {used + len(data)} bytes",
                    hint="put it into a thread, or delete some: artifact_delete",
                    details={"limit": _MOST_QUOTAS * self._config.thread_bytes},
                )
            await self._store_part(call, target, kind, payload, data)

    async def _store_part(self, call: Call, target: "_Target", kind: str, payload: JsonObject, data: bytes) -> None:
        owner = str(payload["payload_owner"])
        key = await self._store.put_body(owner, data)
        # Asked for each part: what was read between two of them may be in the second.
        payload = {**payload, "payload_hash": key, "untrusted": self._has_read_untrusted(call)}
        draft = _draft(call, kind, payload, target.artifact_id, target.thread_id)
        await self._log.append([draft], expect={draft.stream: target.parts})
        # Once more: a sweep may have taken it for an orphan before the event named it.
        await self._store.put_body(owner, data)

    async def _readable(self, call: Call, artifact_id: str) -> Artifact:
        """An artifact that the caller may see; ArtifactNotFound for those of others."""
        creator = self._threads.restriction(call)
        try:
            artifact = await self._store.artifact(artifact_id)
        except ArtifactNotFound:
            if creator is None:
                raise
            # Not as it was raised: that names the artifacts of others whose ids are similar.
            raise ArtifactNotFound(f"there is no artifact {artifact_id!r}") from None
        stream = artifact_stream(artifact.artifact_id)
        # By its whole id: the caller may have named it by a part, which no rule about it would recognise.
        if stream not in await self._threads.readable(call, [stream]):
            raise ArtifactNotFound(f"there is no artifact {artifact_id!r}")
        if creator in (None, artifact.created_by):
            return artifact
        if artifact.thread_id is not None:
            origin = call.caller.origin
            theirs = await self._log.select(
                "SELECT 1 FROM threads WHERE thread_id = ? AND created_by = ?", (artifact.thread_id, creator)
            )
            if theirs or (origin is not None and origin.thread_id == artifact.thread_id):
                return artifact
        raise ArtifactNotFound(f"there is no artifact {artifact_id!r}")

    async def _writable(self, call: Call, artifact_id: str) -> Artifact:
        """An artifact that the caller may change: their own, and for people every one."""
        artifact = await self._readable(call, artifact_id)
        if self._threads.restriction(call) not in (None, artifact.created_by):
            raise ArtifactNotFound(f"there is no artifact {artifact_id!r} of yours", hint="put one of your own")
        return artifact

    @staticmethod
    def _body_of(request: BodyRequest) -> bytes:
        if (request.text is None) == (request.content_base64 is None):
            raise InvalidArgument("a body is needed, and one alone", hint="send text, or content_base64 for bytes")
        if request.text is not None:
            data = request.text.encode("utf-8", "surrogatepass")
        else:
            try:
                data = base64.b64decode(request.content_base64 or "", validate=True)
            except binascii.Error as error:
                raise InvalidArgument(f"content_base64 cannot be decoded: {error}") from error
        if len(data) > MAX_PART_BYTES:
            raise TooLarge(
                f"this part has {len(data)} bytes",
                hint="send the rest with artifact_extend",
                details={"limit": MAX_PART_BYTES},
            )
        return data


def _draft(call: Call, kind: str, payload: JsonObject, artifact_id: str, thread_id: str | None) -> Draft:
    """An event of an artifact; a copy of the first one goes into its thread."""
    return Draft(
        stream=artifact_stream(artifact_id),
        type=kind,
        payload=payload,
        actor=str(call.actor),
        source=Source.TOOL_EXECUTOR,
        correlation=replace(call.correlation, thread_id=thread_id),
    )


def _cut_at_letter(data: bytes) -> bytes:
    """The bytes without the beginning of a letter that does not end in them."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return data if needed <= back or back == len(data) else data[:-back]
    return data
