"""An artifact: a named body of bytes that a call left behind, in a thread or beside all threads."""

import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.ledger.rows import Cell

COLUMNS = (
    "artifact_id, thread_id, name, description, media_type, size, created_by, work_id, untrusted, created_ns, "
    "updated_ns, position"
)
# Where the bodies of artifacts without a thread are counted.
NO_THREAD = "artifacts/none"
_TEXT_TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".diff": "text/x-diff", ".patch": "text/x-diff"}
_TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "image/svg+xml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What is known of an artifact beside its body."""

    artifact_id: str
    thread_id: str | None
    name: str
    description: str
    media_type: str
    size: int
    created_by: str
    work_id: str | None
    # Whether who made it had read untrusted content before.
    untrusted: bool
    created_ns: int
    updated_ns: int
    position: int

    @classmethod
    def from_row(cls, row: Sequence[Cell]) -> "Artifact":
        """The artifact that a row of the table holds."""
        return cls(
            artifact_id=str(row[0]),
            thread_id=None if row[1] is None else str(row[1]),
            name=str(row[2]),
            description=str(row[3]),
            media_type=str(row[4]),
            size=int(str(row[5])),
            created_by=str(row[6]),
            work_id=None if row[7] is None else str(row[7]),
            untrusted=bool(row[8]),
            created_ns=int(str(row[9])),
            updated_ns=int(str(row[10])),
            position=int(str(row[11])),
        )

    @property
    def is_text(self) -> bool:
        """Whether people can read its body."""
        return is_text_type(self.media_type)


def body_owner(thread_id: str | None, actor: str = "") -> str:
    """Whose quota a body counts against: its thread's, and without one its maker's own.

    Artifacts of older versions without a thread shared one quota, which had no name of an actor.
    """
    if thread_id:
        return f"artifacts/{thread_id}"
    return f"{NO_THREAD}/{actor}" if actor else NO_THREAD


def is_text_type(media_type: str) -> bool:
    """Whether bodies of that media type are text."""
    return media_type.startswith("text/") or media_type in _TEXTUAL or media_type.endswith(("+json", "+xml"))


def guess_media_type(name: str, *, is_text: bool) -> str:
    """The media type of a body by its name."""
    _, dot, ending = name.lower().rpartition(".")
    known = _TEXT_TYPES.get(dot + ending) or mimetypes.guess_type(name, strict=False)[0]
    return known or ("text/plain" if is_text else "application/octet-stream")
