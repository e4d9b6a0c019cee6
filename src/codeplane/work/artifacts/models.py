"""Requests and results of the artifact operations."""

from typing import ClassVar

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.work.artifacts.artifact import Artifact

# One part with its encoding stays below the largest request.
MAX_PART_BYTES = 2 * 1024 * 1024
MAX_SHOWN_BYTES = 2 * 1024 * 1024


class BodyRequest(Request):
    """A part of a body, as text or encoded."""

    text: str | None = Field(None, max_length=MAX_PART_BYTES, description="the body, or its first part")
    content_base64: str | None = Field(
        None, max_length=MAX_PART_BYTES * 4 // 3 + 4, description="instead of text, for bytes"
    )


class PutArtifactRequest(BodyRequest):
    """A new artifact."""

    prose: ClassVar[frozenset[str]] = frozenset({"description"})
    recorded: ClassVar[bool] = False
    name: str = Field(min_length=1, max_length=200, pattern=r"\S", description="as a file would be named: report.md")
    media_type: str = Field(
        "",
        max_length=100,
        pattern=r"^([A-Za-z0-9][A-Za-z0-9.+-]*/[A-Za-z0-9][A-Za-z0-9.+-]*)?$",
        description="else by the name's ending",
    )
    description: str = Field("", max_length=1000, description="one line on what it is")
    thread_id: str = Field("", max_length=100, description="the conversation it belongs to; a turn's own by default")


class ExtendArtifactRequest(BodyRequest):
    """A further part of a body that is too large for one call."""

    recorded: ClassVar[bool] = False
    artifact_id: str = Field(min_length=4, max_length=100)
    start: int = Field(ge=0, le=2**40, description="the artifact's size before this part")


class ArtifactRequest(Request):
    """An artifact."""

    artifact_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class GetArtifactRequest(ArtifactRequest):
    """A part of an artifact's body."""

    offset: int = Field(0, ge=0, le=2**40, description="next_offset of the part before")
    max_bytes: int = Field(65_536, ge=1, le=MAX_SHOWN_BYTES)


class ListArtifactsRequest(PageRequest):
    """Which artifacts to list."""

    thread_id: str = Field("", max_length=100, description="only those of this conversation")


class ArtifactView(Result):
    """An artifact without its body."""

    artifact_id: str
    thread_id: str | None
    name: str
    description: str
    media_type: str
    size: int
    created_by: str
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, artifact: Artifact) -> "ArtifactView":
        """The artifact as callers see it."""
        return cls(
            artifact_id=artifact.artifact_id,
            thread_id=artifact.thread_id,
            name=artifact.name,
            description=artifact.description,
            media_type=artifact.media_type,
            size=artifact.size,
            created_by=artifact.created_by,
            created_at=rfc3339(artifact.created_ns),
            updated_at=rfc3339(artifact.updated_ns),
        )

    def text(self) -> str:
        return f"{self.artifact_id} {self.name} ({self.media_type}, {plural(self.size, 'byte')})"


class ArtifactPage(Result):
    """Artifacts, the newest first."""

    results: tuple[ArtifactView, ...]
    pagination: Pagination
    hidden: int = Field(0, description="how many of them the owner's rules hide")

    def text(self) -> str:
        return ("\n".join(view.text() for view in self.results) or "no artifacts") + self.pagination.line(self.hidden)


class ArtifactBody(ArtifactView):
    """A part of an artifact's body: `body` where it is text, else `content_base64`."""

    body: str | None = None
    content_base64: str | None = None
    # Where the next part begins; none when this was the last.
    next_offset: int | None = None

    def text(self) -> str:
        shown = self.body if self.body is not None else f"{super().text()}: {self.content_base64}"
        more = f"\nmore: offset={self.next_offset} of {self.size}" if self.next_offset is not None else ""
        return shown + more
