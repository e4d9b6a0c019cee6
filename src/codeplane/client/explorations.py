"""The client's explorations: their calls, and a stream of their events that goes on over lost connections."""

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from codeplane.client.errors import to_exception
from codeplane.client.records import number_field, object_field, text_field
from codeplane.client.resuming_stream import SILENCE_SEC, Reconnection, ResumingStream
from codeplane.client.wire import Wire
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue

_PATH = "/codeplane.v1.OperationService/Stream"
# Calls an operation and returns its envelope.
CallOperation = Callable[[str, JsonObject], JsonObject]
_IDS = frozenset({"eventId", "prevEventId", "sessionId"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreEvent:
    """One event: `case` names what it is, such as planSnapshot, result or completed, and `value` what it says."""

    cursor: int
    event_id: str
    prev_event_id: str | None
    parent_id: str | None
    session_id: str
    kind: str
    case: str
    value: JsonObject

    @property
    def result(self) -> JsonValue:
        """The decoded payload of a result; None for other events."""
        return json.loads(str(self.value["payload"])) if self.case == "result" else None

    @property
    def is_end(self) -> bool:
        """Whether nothing comes after it."""
        return self.case in ("completed", "stopped")


class ExploreStream(ResumingStream[ExploreEvent]):
    """The events of an exploration in their order, each exactly once; `cursor` is that of the last one seen."""

    def __init__(self, wire: Wire, *, session_id: str, after: int, reconnection: Reconnection) -> None:
        super().__init__(wire, reconnection=reconnection)
        self.cursor = after
        self._session_id = session_id

    def _read_connection(self) -> Generator[ExploreEvent, None, None]:
        arguments: JsonObject = {"explore_id": self._session_id, "after": self.cursor}
        body: JsonObject = {"operation": "orchestrate.explore.watch", "arguments": arguments}
        for reply in self._wire.stream(_PATH, body, silence_sec=SILENCE_SEC):
            if self._handle.is_closed():
                return
            if reply.error is not None:
                raise to_exception(reply.error)
            if reply.end:
                return
            item = object_field(reply.message or {}, "item")
            if not isinstance(item.get("envelope"), dict) or number_field(item, "cursor") <= self.cursor:
                continue
            event = _event(item)
            self.cursor, self._failures = event.cursor, 0
            yield event
            if event.is_end:
                return

    def _lost(self, error: CodePlaneError) -> CodePlaneError:
        return type(error)(
            f"{error.message} (tried {self._failures} times)",
            hint=f"start the server (cpl up), then go on with explorations.watch after={self.cursor}",
            details={"session_id": self._session_id, "cursor": self.cursor},
        )


class ExploreCalls:
    """Calls on explorations; raises the errors of the table."""

    def __init__(self, call: CallOperation, wire: Wire, reconnection: Reconnection) -> None:
        self._call = call
        self._wire = wire
        self._reconnection = reconnection

    def start(
        self,
        root: str = "",
        *,
        remote_url: str = "",
        branch: str = "",
        goals: Sequence[str] = (),
        network: bool = False,
        allow_external_llms: bool = False,
        resume: str = "",
    ) -> str:
        """Start an exploration and return its session id; `watch` streams it."""
        wanted: JsonObject = {
            "root": root,
            "remote_url": remote_url,
            "branch": branch,
            "goals": list(goals),
            "policy": {"network": network, "allow_external_llms": allow_external_llms},
            "resume": resume,
        }
        return text_field(self._ask("start", wanted), "sessionId")

    def watch(self, session_id: str, *, after: int = 0) -> ExploreStream:
        """Yield the events of an exploration after a cursor until it ends, over lost connections."""
        return ExploreStream(self._wire, session_id=session_id, after=after, reconnection=self._reconnection)

    def status(self, session_id: str, *, markdown: bool = False) -> JsonObject:
        """Return how far an exploration is, with its summary once it is completed."""
        return self._ask("status", {"explore_id": session_id, "markdown": markdown})

    def abort(self, session_id: str, *, reason: str = "") -> str:
        """End an exploration and return its state."""
        return text_field(self._ask("abort", {"explore_id": session_id, "reason": reason}), "state")

    def _ask(self, name: str, arguments: JsonObject) -> JsonObject:
        envelope = self._call(f"orchestrate.explore.{name}", arguments)
        error = envelope.get("error")
        if isinstance(error, dict):
            raise to_exception(error)
        return object_field(envelope, "result")


def _event(item: JsonObject) -> ExploreEvent:
    envelope = object_field(item, "envelope")
    payload = object_field(envelope, "payload")
    (case,) = payload.keys() - _IDS
    previous, parent = payload.get("prevEventId"), envelope.get("parentId")
    return ExploreEvent(
        cursor=number_field(item, "cursor"),
        event_id=text_field(payload, "eventId"),
        prev_event_id=str(previous) if previous else None,
        parent_id=str(parent) if parent else None,
        session_id=text_field(payload, "sessionId"),
        kind=text_field(envelope, "kind"),
        case=case,
        value=object_field(payload, case),
    )
