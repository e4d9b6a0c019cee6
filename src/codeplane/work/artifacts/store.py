"""Reads artifacts, and puts their bodies where events only name them."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.errors import ArtifactNotFound, TooLarge
from codeplane.kernel.ports import Ledger, Payloads
from codeplane.kernel.short_ids import match_stored_id
from codeplane.ledger.rows import Cell
from codeplane.work.artifacts.artifact import COLUMNS, NO_THREAD, Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPart:
    """A part of an artifact's body, by the hash of its payload."""

    start: int
    size: int
    owner: str
    payload_hash: str


class ArtifactStore:
    """The artifacts of one log; `bodies` bounds those of one thread together."""

    def __init__(self, log: Ledger, bodies: Payloads) -> None:
        self._log = log
        self._bodies = bodies

    async def artifact(self, artifact_id: str) -> Artifact:
        """An artifact by its id, or a beginning or end that only it has."""
        found = await self.artifacts("artifact_id = ?", (artifact_id,))
        if not found:
            whole_id = await match_stored_id(
                self._log, "artifacts.artifact_id", artifact_id, "artifact", ArtifactNotFound
            )
            found = await self.artifacts("artifact_id = ?", (whole_id,))
        return found[0]

    async def artifacts(self, where: str, values: Sequence[Cell]) -> list[Artifact]:
        """The artifacts that meet an SQL condition."""
        rows = await self._log.select(f"SELECT {COLUMNS} FROM artifacts WHERE {where}", values)
        return [Artifact.from_row(row) for row in rows]

    async def put_body(self, owner: str, data: bytes) -> str:
        """Store a part of a body durably and return its hash; TooLarge beyond the quota that it counts against."""
        place = "your artifacts without a thread" if owner.startswith(NO_THREAD) else "the artifacts of this thread"
        try:
            return await self._bodies.put(owner, data)
        except TooLarge as error:
            raise TooLarge(
                f"{place} would have {int(str(error.details['used'])) + len(data)} bytes",
                hint="delete some of them: artifact_delete; the owner raises artifacts.thread_bytes",
                details=error.details,
            ) from error

    async def body(self, artifact: Artifact, start: int, end: int) -> bytes:
        """The bytes of a body from `start` to `end`; ArtifactNotFound when a part of them is gone."""
        found = bytearray()
        for part in await self.parts(artifact):
            if part.start >= end or part.start + part.size <= start:
                continue
            data = await self._bodies.get(part.owner, part.payload_hash)
            if data is None:
                raise ArtifactNotFound(f"the body of {artifact.artifact_id} is gone", hint="have it made again")
            found += data[max(0, start - part.start) : end - part.start]
        return bytes(found)

    async def delete_body(self, parts: Sequence[BodyPart]) -> None:
        """Free the body of a deleted artifact, but for parts that others with the same quota have too."""
        for part in parts:
            shared = await self._log.select(
                "SELECT 1 FROM artifact_parts WHERE payload_owner = ? AND payload_hash = ? LIMIT 1",
                (part.owner, part.payload_hash),
            )
            if not shared:
                await self._bodies.delete(part.owner, part.payload_hash)

    def count_without_thread(self) -> int:
        """How many bytes artifacts without a thread have together, without waiting."""
        ((size,),) = self._log.lookup(
            "SELECT coalesce(sum(size), 0) FROM artifact_parts WHERE payload_owner >= ?1 AND payload_owner < ?1 || '0'",
            (NO_THREAD,),
        )
        return int(str(size))

    async def parts(self, artifact: Artifact) -> list[BodyPart]:
        """The parts of an artifact's body, in their order."""
        rows = await self._log.select(
            "SELECT start, size, payload_owner, payload_hash FROM artifact_parts WHERE artifact_id = ? ORDER BY start",
            (artifact.artifact_id,),
        )
        return [
            BodyPart(start=int(str(start)), size=int(str(size)), owner=str(owner), payload_hash=str(key))
            for start, size, owner, key in rows
        ]
