"""`thread.fork`: a new conversation that begins with the messages of another."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace
from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, ThreadBusy
from codeplane.kernel.event import ContentTrust, Correlation, Draft, Source
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import Ledger
from codeplane.kernel.redaction import Redactor
from codeplane.work.threads.events import MESSAGE_CREATED, THREAD_CREATED, thread_draft
from codeplane.work.threads.models import MessageView, ThreadRequest, ThreadView
from codeplane.work.threads.operations import ThreadAccess
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Message, Thread

MAX_COPIED = 200
_MAX_COPIED_BYTES = 2 * 1024 * 1024

# Marks a new thread (the second) where the thread that it is made of (the first) has read untrusted content.
PassMarks = Callable[[str, str], Awaitable[None]]


class ForkThreadRequest(ThreadRequest):
    """Which thread to fork, and up to where."""

    last_turn_id: str = Field("", max_length=100, description="the last turn to copy; else all that have ended")
    title: str = Field("", max_length=200, description="else that of the other thread")
    model: str = Field("", max_length=200, description="provider/model instead of the other thread's")


class ForkedThread(ThreadView):
    """A new thread; `copied` messages are in it, `left_out` older ones of the other thread are not."""

    forked_from: str
    copied: int
    left_out: int

    def text(self) -> str:
        left = f"; {plural(self.left_out, 'older message')} left out" if self.left_out else ""
        return f"{super().text()}, forked from {self.forked_from}{left}"


class ThreadFork:
    """Copies conversations."""

    def __init__(
        self, *, store: ThreadStore, access: ThreadAccess, log: Ledger, redactor: Redactor, pass_marks: PassMarks
    ) -> None:
        self._store = store
        self._access = access
        self._log = log
        self._redactor = redactor
        self._pass_marks = pass_marks

    @operation("thread.fork", risk=Risk.WRITE, capability="spawn_agents")
    async def fork(self, call: Call, request: ForkThreadRequest) -> ForkedThread:
        """Open a conversation that begins with the messages of another, up to a turn; the other one stays as it is.
        What tools answered is not copied."""
        source = await self._access.thread(call, request.thread_id)
        messages, left_out = await self._ended_messages(source, request.last_turn_id)
        thread_id = new_id("thr")
        # First: a crash in between leaves a mark for nobody, never a thread without its mark.
        await self._pass_marks(source.thread_id, thread_id)
        drafts = [self._created(call, thread_id, source, request), *(_copy(call, thread_id, one) for one in messages)]
        await self._log.append(drafts, expect={drafts[0].stream: 0})
        view = ThreadView.of(await self._store.thread(thread_id), await self._store.head(thread_id))
        return ForkedThread(**view.model_dump(), forked_from=source.thread_id, copied=len(messages), left_out=left_out)

    async def _ended_messages(self, source: Thread, last_turn_id: str) -> tuple[list[Message], int]:
        """The newest messages of turns that have ended, oldest first, and how many older ones there are."""
        before: int | None = None
        if last_turn_id:
            last = self._store.find_turn(last_turn_id)
            if last is None or last.thread_id != source.thread_id:
                raise InvalidArgument(f"{source.thread_id} has no turn {last_turn_id!r}", hint="see thread_events")
            if not last.has_ended:
                raise ThreadBusy(f"{last.turn_id} has not ended", hint="fork an earlier turn, or turn_cancel it first")
            following = await self._store.turns(
                "thread_id = ? AND position > ? ORDER BY position LIMIT 1", (source.thread_id, last.position)
            )
            first = await self._store.message(following[0].user_message_id) if following else None
            before = first.sequence if first is not None else None
        unfinished = await self._store.unfinished_turns(source.thread_id)
        asked = await self._store.message(unfinished[0].user_message_id) if unfinished else None
        if asked is not None:
            before = min(before or asked.sequence, asked.sequence)
        found = await self._store.messages(source.thread_id, before=before, limit=MAX_COPIED)
        size, kept = _MAX_COPIED_BYTES, list[Message]()
        for message in reversed(found):
            size -= len(message.content.encode("utf-8", "surrogatepass"))
            if size < 0:
                break
            kept.append(message)
        if not kept:
            return [], 0
        older = await self._log.select(
            "SELECT count(*) FROM messages WHERE thread_id = ? AND sequence < ?",
            (source.thread_id, kept[-1].sequence),
        )
        return kept[::-1], int(str(older[0][0]))

    def _created(self, call: Call, thread_id: str, source: Thread, request: ForkThreadRequest) -> Draft:
        payload: JsonObject = {
            "title": self._redactor.text(request.title) or source.title,
            "toolset": source.toolset,
            "model": request.model or source.model,
            "mode": source.mode,
            "agent": source.agent,
            "forked_from": source.thread_id,
        }
        return thread_draft(THREAD_CREATED, payload, actor=str(call.actor), ids=_ids(call, thread_id))


def _copy(call: Call, thread_id: str, message: Message) -> Draft:
    """A message of another thread; who wrote it and what it may be trusted with stay the same."""
    metadata = MessageView.of(message).metadata
    payload: JsonObject = {
        "message_id": new_id("msg"),
        "role": message.role,
        "content": message.content,
        "metadata": {**metadata, "copied_message_id": message.message_id, "copied_turn_id": message.turn_id},
    }
    draft = thread_draft(MESSAGE_CREATED, payload, actor=str(call.actor), ids=_ids(call, thread_id))
    is_own = message.role == "user"
    return replace(
        draft,
        source=draft.source if is_own else Source.MODEL_UNTRUSTED,
        content_trust=ContentTrust(message.content_trust),
    )


def _ids(call: Call, thread_id: str) -> Correlation:
    return Correlation(call_id=call.call_id, thread_id=thread_id)
