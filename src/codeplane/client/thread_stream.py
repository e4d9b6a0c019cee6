"""A stream of a conversation's events that goes on after the last one seen when the server was lost."""

from collections.abc import Generator

from codeplane.client.errors import to_exception
from codeplane.client.records import number_field, object_field
from codeplane.client.resuming_stream import HEARTBEAT_MS, SILENCE_SEC, Reconnection, ResumingStream
from codeplane.client.threads import ThreadEvent, event_from_json
from codeplane.client.wire import Wire
from codeplane.kernel.errors import CodePlaneError, ServerUnreachable, StreamGap
from codeplane.kernel.json import JsonObject


class ThreadStream(ResumingStream[ThreadEvent]):
    """The events of a conversation, each exactly once and without holes; `close` ends it from any thread."""

    def __init__(
        self,
        wire: Wire,
        *,
        path: str,
        request: JsonObject,
        cursor: str,
        after: int = 0,
        ends_with_turn: bool = False,
        reconnection: Reconnection,
    ) -> None:
        """`cursor` is the field of the request for the last sequence seen."""
        super().__init__(wire, reconnection=reconnection)
        self._path = path
        self._request: JsonObject = {**request, "heartbeatMs": HEARTBEAT_MS}
        self._cursor = cursor
        self._ends_with_turn = ends_with_turn
        # A turn begins wherever its message is; a watch at the sequence that was asked for.
        self._next = None if ends_with_turn else after + 1
        self._turn_id = ""

    @property
    def last_sequence(self) -> int:
        """The last sequence that was seen; watching on from here misses nothing."""
        return 0 if self._next is None else self._next - 1

    def _read_connection(self) -> Generator[ThreadEvent, None, None]:
        """Yield what one connection brings, until the stream is over."""
        request = {**self._request, **({self._cursor: str(self.last_sequence)} if self.last_sequence else {})}
        is_first = True
        for reply in self._wire.stream(self._path, request, silence_sec=SILENCE_SEC):
            if self._handle.is_closed():
                return
            if reply.error is not None:
                raise to_exception(reply.error)
            if reply.end:
                return
            message = reply.message or {}
            if "streamGap" in message:
                raise _gap(object_field(message, "streamGap"))
            if "heartbeat" not in message:
                event = event_from_json(message)
                if self._is_new(event):
                    yield event
                    if self._is_end(event):
                        return
            elif not is_first:
                # The first one comes at once and proves nothing about a server that fails again and again.
                self._failures = 0
            is_first = False

    def _is_new(self, event: ThreadEvent) -> bool:
        if self._next is not None and event.sequence != self._next:
            if event.sequence < self._next:
                return False
            # Asked for again from the last one on; a hole that stays is reported in the end.
            raise ServerUnreachable(f"sequence {event.sequence} came instead of {self._next}")
        self._next = event.sequence + 1
        if event.type == "turn.queued" and event.data.get("client_message_id") == self._request.get("clientMessageId"):
            self._turn_id = event.turn_id
        self._failures = 0
        return True

    def _is_end(self, event: ThreadEvent) -> bool:
        # The server's own end may be lost with the connection, and is not sent again.
        return self._ends_with_turn and event.ends_turn and event.turn_id == self._turn_id

    def _lost(self, error: CodePlaneError) -> CodePlaneError:
        return type(error)(
            f"{error.message} (tried {self._failures} times)",
            hint=f"start the server (cpl up), then go on with watch_thread from_sequence={self.last_sequence}",
            details={"thread_id": str(self._request["threadId"]), "last_sequence": self.last_sequence},
        )


def _gap(gap: JsonObject) -> StreamGap:
    requested, available = number_field(gap, "requestedFromSequence"), number_field(gap, "nextAvailableSequence")
    return StreamGap(
        f"events after {requested} are gone", details={"requested_after": requested, "first_available": available}
    )
