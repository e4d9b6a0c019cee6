"""The events of the log, from a position or from now on, over lost connections."""

from collections.abc import Generator, Sequence

from codeplane.client.errors import to_exception
from codeplane.client.records import Gap, Heartbeat, LogEvent, item_from_json
from codeplane.client.resuming_stream import HEARTBEAT_MS, SILENCE_SEC, Reconnection, ResumingStream
from codeplane.client.wire import Wire
from codeplane.kernel.errors import CodePlaneError, StreamGap
from codeplane.kernel.json import JsonObject

_PATH = "/codeplane.v1.EventsService/Watch"


class LogStream(ResumingStream[LogEvent]):
    """Events of the log in their order, each exactly once; `position` is that of the last one seen."""

    def __init__(
        self,
        wire: Wire,
        *,
        after: int | None,
        stream: str = "",
        types: Sequence[str] = (),
        reconnection: Reconnection,
    ) -> None:
        """`after` is a position of the log; None is where it is when the first connection is made."""
        super().__init__(wire, reconnection=reconnection)
        self.position = after
        self._filter: JsonObject = {
            "types": list(types),
            "heartbeatMs": HEARTBEAT_MS,
            **({"stream": stream} if stream else {}),
        }

    def _read_connection(self) -> Generator[LogEvent, None, None]:
        start: JsonObject = {"fromNow": True} if self.position is None else {"fromPosition": str(self.position)}
        is_first = True
        for reply in self._wire.stream(_PATH, {**self._filter, **start}, silence_sec=SILENCE_SEC):
            if self._handle.is_closed():
                return
            if reply.error is not None:
                raise to_exception(reply.error)
            if reply.end:
                return
            item = item_from_json(reply.message or {})
            if isinstance(item, Gap):
                missing: JsonObject = {"stream": item.stream, "first_available": item.first_available}
                raise StreamGap(f"events after {item.requested_after} are gone", details=missing)
            if isinstance(item, Heartbeat):
                self.position = max(self.position or 0, item.position)
                # The first one comes at once and proves nothing about a server that fails again and again.
                self._failures = self._failures if is_first else 0
            elif self.position is None or item.position > self.position:
                self.position, self._failures = item.position, 0
                yield item
            is_first = False

    def _lost(self, error: CodePlaneError) -> CodePlaneError:
        return type(error)(
            f"{error.message} (tried {self._failures} times)",
            hint=f"start the server (cpl up), then go on with watch_events after={self.position}",
            details={"position": self.position},
        )
