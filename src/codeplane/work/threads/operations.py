"""The operations on threads."""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, aclosing, closing

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import InvalidArgument, PolicyDenied, StreamGap, ThreadNotFound, TooLarge, TurnNotFound
from codeplane.kernel.event import Correlation, Event, Gap, Heartbeat
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger, Readable, ScopeOf, StreamObserver, StreamReader
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.thread_copies import thread_stream
from codeplane.ledger.rows import Cell
from codeplane.work.threads.events import (
    MEMORY_WRITTEN,
    THREAD_ARCHIVED,
    THREAD_CONFIGURED,
    THREAD_CREATED,
    THREAD_RENAMED,
    TURN_ENDS,
    thread_draft,
)
from codeplane.work.threads.models import (
    MAX_MEMORY_BYTES,
    SNAPSHOT_BYTES,
    SNAPSHOT_MESSAGES,
    ArchiveThreadRequest,
    ConfigureThreadRequest,
    CreateThreadRequest,
    ListMessagesRequest,
    ListThreadsRequest,
    MessagePage,
    MessageView,
    Mode,
    RenameThreadRequest,
    ThreadEvents,
    ThreadEventsRequest,
    ThreadItem,
    ThreadMemory,
    ThreadPage,
    ThreadRequest,
    ThreadSnapshot,
    ThreadView,
    WatchThreadRequest,
    WriteMemoryRequest,
)
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Message, Thread, Turn

# From the laxest to the strictest.
_MODES: tuple[Mode, ...] = ("automatic", "trust", "always")


class ThreadAccess:
    """Finds threads that a caller may see: people see all of them, others those that they created, and nobody those
    that a rule of the owner's hides from them."""

    def __init__(self, store: ThreadStore, scope_of: ScopeOf, readable: Readable) -> None:
        self._store = store
        self._scope_of = scope_of
        # Of a list of resources, those that no rule hides.
        self.readable = readable

    def restriction(self, call: Call) -> str | None:
        """The creator whose threads alone the caller may see; None is all of them."""
        scope = self._scope_of(call)
        return None if scope is None else scope.actor

    async def thread(self, call: Call, thread_id: str) -> Thread:
        """A thread that the caller may see; ThreadNotFound for those of others, the same whether there are any."""
        creator = self.restriction(call)
        try:
            thread = await self._store.thread(thread_id)
        except ThreadNotFound:
            if creator is None:
                raise
            # Not as it was raised: that names the threads of others whose ids are similar.
            raise ThreadNotFound(f"there is no thread {thread_id!r}") from None
        # A turn of the thread may read what it belongs to.
        is_own = creator in (None, thread.created_by) or call.actor.actor_id == thread.thread_id
        stream = thread_stream(thread.thread_id)
        # By its whole id: the caller may have named it by a part, which no rule about it would recognise.
        if is_own and stream in await self.readable(call, [stream]):
            return thread
        raise ThreadNotFound(f"there is no thread {thread_id!r}")

    async def turn(self, call: Call, turn_id: str) -> Turn:
        """A turn of a thread that the caller may see; TurnNotFound for others."""
        try:
            turn = await self._store.turn(turn_id)
            await self.thread(call, turn.thread_id)
        except (ThreadNotFound, TurnNotFound):
            if self.restriction(call) is None:
                raise
            raise TurnNotFound(f"there is no turn {turn_id!r}") from None
        return turn


class ThreadOperations:
    """What clients can do with threads."""

    def __init__(
        self,
        *,
        store: ThreadStore,
        access: ThreadAccess,
        log: Ledger,
        catalogue: Catalogue,
        cursors: Cursors,
        redactor: Redactor,
        streams: StreamObserver,
        mode: Mode,
        choose_agent: Callable[[str], str],
    ) -> None:
        """`mode` is what the owner's settings ask about; `choose_agent` finds the outside agent of a new thread by the
        name that is asked for."""
        self._mode = mode
        self._choose_agent = choose_agent
        self._store = store
        self._access = access
        self._log = log
        self._catalogue = catalogue
        self._cursors = cursors
        self._redactor = redactor
        self._streams = streams

    @operation("thread.create", risk=Risk.WRITE, capability="spawn_agents")
    async def create(self, call: Call, request: CreateThreadRequest) -> ThreadView:
        """Open a conversation; turn_send asks something in it."""
        names = _names(request.toolset)
        unknown = [name for name in names if not self._catalogue.toolset([name])]
        if unknown or not names:
            raise InvalidArgument(
                f"there is no toolset {(unknown or [request.toolset])[0]!r}", hint="use core, all, or families"
            )
        thread_id = new_id("thr")
        payload: JsonObject = {
            "title": self._redactor.text(request.title),
            "toolset": ",".join(names),
            "model": request.model,
            "agent": self._choose_agent(request.agent),
        }
        await self._append(call, thread_id, THREAD_CREATED, payload, expect=0)
        return await self._view(await self._store.thread(thread_id))

    @operation("thread.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListThreadsRequest) -> ThreadPage:
        """Conversations, the last used first; agents see their own."""
        conditions, values = ["archived = ?"], list[Cell]([int(request.archived)])
        if (creator := self._access.restriction(call)) is not None:
            conditions.append("created_by = ?")
            values.append(creator)
        for word in request.query.split()[:8]:
            conditions.append(
                """(instr(lower(title), lower(?)) OR EXISTS (SELECT 1 FROM messages m
                   WHERE m.thread_id = threads.thread_id AND instr(lower(m.content), lower(?))))"""
            )
            values += [word, word]
        asked: JsonObject = request.model_dump(mode="json", exclude={"cursor", "limit"})
        name = f"thread.list:{call.task.session_id if call.task else ''}:{digest(canonical(asked))}"
        offset = int(str(self._cursors.open(request.cursor, scope=name)["offset"])) if request.cursor else 0
        found = await self._store.threads(
            f"{' AND '.join(conditions)} ORDER BY updated_ns DESC, position DESC LIMIT ? OFFSET ?",
            (*values, request.limit + 1, offset),
        )
        page, following = found[: request.limit], None
        if len(found) > request.limit:
            following = self._cursors.issue(scope=name, state={"offset": offset + request.limit})
        readable = await self._access.readable(call, [thread_stream(thread.thread_id) for thread in page])
        shown = [thread for thread in page if thread_stream(thread.thread_id) in readable]
        return ThreadPage(
            results=tuple([await self._view(thread) for thread in shown]),
            pagination=Pagination(next_cursor=following),
            hidden=len(page) - len(shown),
        )

    @operation("thread.show", risk=Risk.READ)
    async def show(self, call: Call, request: ThreadRequest) -> ThreadSnapshot:
        """A conversation with its newest messages; thread_messages has older ones, thread_watch what comes."""
        thread = await self._access.thread(call, request.thread_id)
        # First, so that what is added meanwhile comes with the watch.
        last_sequence = await self._store.head(thread.thread_id)
        messages = await self._store.messages(thread.thread_id, before=last_sequence + 1, limit=SNAPSHOT_MESSAGES)
        shown = _within(messages, SNAPSHOT_BYTES)
        is_whole = len(shown) < SNAPSHOT_MESSAGES and len(shown) == len(messages)
        return ThreadSnapshot(
            **ThreadView.of(thread, last_sequence).model_dump(),
            items=tuple(map(MessageView.of, shown)),
            next_page_token="" if is_whole or not shown else str(shown[0].sequence),
        )

    @operation("thread.messages", risk=Risk.READ)
    async def messages(self, call: Call, request: ListMessagesRequest) -> MessagePage:
        """Messages of a conversation, a page at a time from the newest back."""
        thread = await self._access.thread(call, request.thread_id)
        last_sequence = await self._store.head(thread.thread_id)
        before = int(request.page_token) if request.page_token else last_sequence + 1
        messages = await self._store.messages(thread.thread_id, before=before, limit=request.page_size + 1)
        page = _within(messages[-request.page_size :], SNAPSHOT_BYTES)
        has_more = len(page) < len(messages)
        return MessagePage(
            items=tuple(map(MessageView.of, page)),
            next_page_token=str(page[0].sequence) if has_more and page else "",
            last_sequence=last_sequence,
        )

    @operation("thread.events", risk=Risk.READ)
    async def events(self, call: Call, request: ThreadEventsRequest) -> ThreadEvents:
        """Everything that happened in a conversation after a sequence, a page at a time: messages, tools, decisions."""
        thread = await self._access.thread(call, request.thread_id)
        last_sequence = await self._store.head(thread.thread_id)
        if request.from_sequence > last_sequence:
            raise InvalidArgument(
                f"from_sequence {request.from_sequence} is beyond the end of the thread, which is {last_sequence}",
                hint="read from the last sequence that was seen of this thread, or from 0",
            )
        found = await self._log.read(stream=thread.stream, after=request.from_sequence, limit=request.limit)
        return ThreadEvents(events=tuple(event.to_wire() for event in found), last_sequence=last_sequence)

    @operation("thread.rename", risk=Risk.WRITE)
    async def rename(self, call: Call, request: RenameThreadRequest) -> ThreadView:
        """Give a conversation another title."""
        thread = await self._access.thread(call, request.thread_id)
        await self._append(call, thread.thread_id, THREAD_RENAMED, {"title": self._redactor.text(request.title)})
        return await self._view(await self._store.thread(thread.thread_id))

    @operation("thread.configure", risk=Risk.WRITE)
    async def configure(self, call: Call, request: ConfigureThreadRequest) -> ThreadView:
        """Choose the model of a conversation's next turns, or have more of what they do asked about."""
        thread = await self._access.thread(call, request.thread_id)
        chosen: JsonObject = {"model": request.model} if request.model is not None else {}
        if request.mode is not None:
            if _MODES.index(request.mode) < _MODES.index(self._mode):
                raise PolicyDenied(
                    f"trust.mode is {self._mode}, and a conversation cannot be laxer than that",
                    hint="only the owner's settings can: trust.mode in .codeplane/config.yaml",
                )
            chosen["mode"] = request.mode
        if chosen:
            await self._append(call, thread.thread_id, THREAD_CONFIGURED, chosen)
        return await self._view(await self._store.thread(thread.thread_id))

    @operation("thread.archive", risk=Risk.WRITE)
    async def archive(self, call: Call, request: ArchiveThreadRequest) -> ThreadView:
        """Put a conversation away, or take it out again with archived=false; nothing is deleted."""
        thread = await self._access.thread(call, request.thread_id)
        await self._append(call, thread.thread_id, THREAD_ARCHIVED, {"archived": request.archived})
        return await self._view(await self._store.thread(thread.thread_id))

    @operation("memory.show", risk=Risk.READ)
    async def show_memory(self, call: Call, request: ThreadRequest) -> ThreadMemory:
        """The memory of a conversation's assistant, and the part of it that no longer fits."""
        thread = await self._access.thread(call, request.thread_id)
        return ThreadMemory.of(thread.thread_id, await self._store.memory(thread.thread_id))

    @operation("memory.write", risk=Risk.WRITE, people=True)
    async def write_memory(self, call: Call, request: WriteMemoryRequest) -> ThreadMemory:
        """Write what the assistant of a conversation is to remember in every later turn; an empty text forgets."""
        thread = await self._access.thread(call, request.thread_id)
        text = self._redactor.text(request.text)
        if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_MEMORY_BYTES:
            raise TooLarge(f"the memory has {size} bytes", details={"limit": MAX_MEMORY_BYTES})
        saved: JsonObject = {"checkpoint_id": new_id("mem"), "scope": "thread", "text": text}
        await self._append(call, thread.thread_id, MEMORY_WRITTEN, saved)
        return ThreadMemory.of(thread.thread_id, await self._store.memory(thread.thread_id))

    @operation("thread.watch", risk=Risk.READ, timeout_sec=0)
    async def watch(self, call: Call, request: WatchThreadRequest) -> AsyncIterator[ThreadItem]:
        """The events of a conversation after a sequence, as they happen, with heartbeats."""
        thread = await self._access.thread(call, request.thread_id)
        # A turn that has ended is shown up to where the thread is now, which may be where the caller was already.
        last = await self._store.head(thread.thread_id) if await self._has_ended(request.turn_id) else None
        if last is not None and request.from_sequence >= last:
            return
        watched = self._log.watch(streams={thread.stream: request.from_sequence}, heartbeat_sec=request.heartbeat_sec)
        with ExitStack() as stack:
            reader: StreamReader | None = None
            async with aclosing(watched) as items:  # type: ignore[type-var]  # every log returns a generator
                async for item in items:
                    # The first item says where in the log the reader is.
                    reader = reader or stack.enter_context(closing(self._open_reader(call, request, item)))
                    if isinstance(item, Gap):
                        reader.gap()
                        yield ThreadItem(stream_gap=_gap(item))
                        raise StreamGap(f"events of {thread.thread_id} are gone", details=_gap(item))
                    reader.mark_position(item.position)
                    if isinstance(item, Heartbeat):
                        yield ThreadItem(heartbeat=await self._store.head(thread.thread_id))
                        continue
                    yield ThreadItem(event=item.to_wire())
                    is_end = item.type in TURN_ENDS and item.correlation.turn_id == request.turn_id
                    if (request.turn_id and is_end) or (last is not None and item.sequence >= last):
                        return

    def _open_reader(self, call: Call, request: WatchThreadRequest, first: Event | Heartbeat | Gap) -> StreamReader:
        after = 0 if isinstance(first, Gap) else first.position
        return self._streams.open(surface=call.caller.surface, after=after, resumed=request.from_sequence > 0)

    async def _has_ended(self, turn_id: str) -> bool:
        turns = await self._store.turns("turn_id = ?", (turn_id,)) if turn_id else []
        return bool(turns) and turns[0].has_ended

    async def _append(
        self, call: Call, thread_id: str, kind: str, payload: JsonObject, *, expect: int | None = None
    ) -> None:
        ids = Correlation(call_id=call.call_id, thread_id=thread_id)
        draft = thread_draft(kind, payload, actor=str(call.actor), ids=ids)
        await self._log.append([draft], expect=None if expect is None else {draft.stream: expect})

    async def _view(self, thread: Thread) -> ThreadView:
        return ThreadView.of(thread, await self._store.head(thread.thread_id))


def _names(toolsets: str) -> list[str]:
    return [name for part in toolsets.split(",") if (name := part.strip().lower())]


def _within(messages: list[Message], size: int) -> list[Message]:
    """The newest messages that fit, at least one."""
    shown: list[Message] = []
    for message in reversed(messages):
        size -= len(message.content) + len(message.metadata)
        if size < 0 and shown:
            break
        shown.append(message)
    return shown[::-1]


def _gap(gap: Gap) -> JsonObject:
    return {"stream": gap.stream, "requested_after": gap.requested_after, "first_available": gap.first_available}
