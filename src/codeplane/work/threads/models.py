"""Requests and results of the thread operations."""

import json
from typing import ClassVar, Literal

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.work.threads.thread import Memory, Message, Thread

Mode = Literal["automatic", "trust", "always"]
MAX_MESSAGE_BYTES = 65_536
MAX_MEMORY_BYTES = 16_384
SNAPSHOT_MESSAGES = 200
SNAPSHOT_BYTES = 2 * 1024 * 1024


class CreateThreadRequest(Request):
    """A new conversation."""

    prose: ClassVar[frozenset[str]] = frozenset({"title"})
    title: str = Field("", max_length=200, description="else the first line of the first message")
    toolset: str = Field("core", max_length=200, description="tools its turns may use: toolsets and families")
    model: str = Field("", max_length=200, description="provider/model instead of the default")
    agent: str = Field("", max_length=32, description="an outside agent that runs it, by its name; none: no such agent")


class ThreadRequest(Request):
    """A thread."""

    thread_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class RenameThreadRequest(ThreadRequest):
    """Another title."""

    title: str = Field(min_length=1, max_length=200, pattern=r"\S")


class ConfigureThreadRequest(ThreadRequest):
    """How the next turns of a thread are answered; what is left out stays as it is."""

    model: str | None = Field(None, max_length=200, description="provider/model; empty is the default")
    mode: Mode | None = Field(None, description="what is asked about: never less than trust.mode says")


class ArchiveThreadRequest(ThreadRequest):
    """Put a thread away, or take it out again."""

    archived: bool = True


class ListThreadsRequest(PageRequest):
    """Which threads to list."""

    query: str = Field("", max_length=200, description="words of titles and messages")
    archived: bool = Field(False, description="those put away")


class ListMessagesRequest(ThreadRequest):
    """Messages of a thread, from the newest back."""

    page_size: int = Field(50, ge=1, le=200)
    page_token: str = Field("", max_length=18, pattern="^[0-9]*$", description="next_page_token of the page before")


class WatchThreadRequest(ThreadRequest):
    """The events of a thread after a sequence, as they happen."""

    from_sequence: int = Field(0, ge=0, le=2**53, description="the last sequence that was seen")
    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)
    turn_id: str = Field("", max_length=100, description="end with the end of this turn")


class ThreadEventsRequest(ThreadRequest):
    """Events of a thread that are there already."""

    from_sequence: int = Field(0, ge=0, le=2**53, description="only what came after it")
    limit: int = Field(500, ge=1, le=2000)


class ThreadView(Result):
    """A thread."""

    thread_id: str
    title: str
    created_by: str
    toolset: str
    model: str
    mode: str = Field("", description="what its turns ask about; empty is trust.mode")
    agent: str
    archived: bool
    messages: int
    created_at: str
    updated_at: str
    last_sequence: int

    @classmethod
    def of(cls, thread: Thread, last_sequence: int) -> "ThreadView":
        """The thread as callers see it."""
        return cls(
            thread_id=thread.thread_id,
            title=thread.title,
            created_by=thread.created_by,
            toolset=thread.toolset,
            model=thread.model,
            mode=thread.mode,
            agent=thread.agent,
            archived=thread.archived,
            messages=thread.messages,
            created_at=rfc3339(thread.created_ns),
            updated_at=rfc3339(thread.updated_ns),
            last_sequence=last_sequence,
        )

    def text(self) -> str:
        archived = ", archived" if self.archived else ""
        agent = f", run by {self.agent}" if self.agent else ""
        return f"{self.thread_id} {self.title or '(no title)'} ({plural(self.messages, 'message')}{agent}{archived})"


class ThreadPage(Result):
    """Threads, the last used first."""

    results: tuple[ThreadView, ...]
    pagination: Pagination
    hidden: int = Field(0, description="how many of them the owner's rules hide")

    def text(self) -> str:
        return ("\n".join(view.text() for view in self.results) or "no threads") + self.pagination.line(self.hidden)


class MessageView(Result):
    """A message; its content may be a model's, which `content_trust` says."""

    message_id: str
    turn_id: str | None
    role: str
    content: str
    metadata: JsonObject
    content_trust: str
    created_at: str
    sequence: int

    @classmethod
    def of(cls, message: Message) -> "MessageView":
        """The message as callers see it."""
        return cls(
            message_id=message.message_id,
            turn_id=message.turn_id,
            role=message.role,
            content=message.content,
            metadata=json.loads(message.metadata),
            content_trust=message.content_trust,
            created_at=rfc3339(message.created_ns),
            sequence=message.sequence,
        )

    def text(self) -> str:
        if self.metadata.get("silent"):
            return "assistant: nothing to report"
        if self.metadata.get("heartbeat"):
            return f"heartbeat: {self.content.partition(chr(10))[0]}"
        return f"{self.role}: {self.content}"


class ThreadSnapshot(ThreadView):
    """A thread with its newest messages; a watch from `last_sequence` on misses nothing."""

    items: tuple[MessageView, ...]
    next_page_token: str = ""

    def text(self) -> str:
        lines = [super().text(), *(message.text() for message in self.items)]
        return "\n".join([*lines, *([f"older: page_token={self.next_page_token}"] if self.next_page_token else [])])


class MessagePage(Result):
    """Messages, oldest first; the next page holds older ones."""

    items: tuple[MessageView, ...]
    next_page_token: str
    last_sequence: int

    def text(self) -> str:
        lines = [message.text() for message in self.items] or ["no messages"]
        return "\n".join([*lines, *([f"older: page_token={self.next_page_token}"] if self.next_page_token else [])])


class ThreadItem(Result):
    """One event of a thread, or a sign of life, or the gap that ends a watch."""

    event: JsonObject | None = None
    heartbeat: int | None = None
    stream_gap: JsonObject | None = None


class ThreadEvents(Result):
    """Events of a thread in their order; there are more while the last one's sequence is below `last_sequence`."""

    events: tuple[JsonObject, ...]
    last_sequence: int

    def text(self) -> str:
        return "\n".join(f"{event['sequence']} {event['type']}" for event in self.events) or "no events"


class WriteMemoryRequest(ThreadRequest):
    """What the assistant of a thread is to remember."""

    text: str = Field(max_length=MAX_MEMORY_BYTES, description="all of it; an empty text forgets")


class ThreadMemory(Result):
    """What is remembered of a thread: `written` by a person, `cut` of what models are no longer shown."""

    thread_id: str
    checkpoint_id: str
    written: str
    cut: str
    updated_at: str | None

    @classmethod
    def of(cls, thread_id: str, memory: Memory) -> "ThreadMemory":
        """The memory as callers see it."""
        return cls(
            thread_id=thread_id,
            checkpoint_id=memory.checkpoint_id,
            written=memory.written,
            cut=memory.cut,
            updated_at=rfc3339(memory.updated_ns) if memory.updated_ns else None,
        )

    def text(self) -> str:
        cut = f"no longer shown in full:\n{self.cut}" if self.cut else ""
        return "\n".join(part for part in (self.written, cut) if part) or "nothing is remembered"
