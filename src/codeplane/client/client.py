"""The client: any operation by name, and typed methods for the most common ones."""

import copy
import ssl
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

from codeplane.client.bonjour import AnnouncedServer
from codeplane.client.discovery import LocalServer
from codeplane.client.errors import to_exception
from codeplane.client.explorations import ExploreCalls
from codeplane.client.jobs import JobCalls
from codeplane.client.log_stream import LogStream
from codeplane.client.records import (
    Approval,
    Device,
    Item,
    PairedDevice,
    PairingCode,
    Token,
    approval_from_json,
    device_from_json,
    item_from_json,
    list_field,
    object_field,
    text_field,
    token_from_json,
)
from codeplane.client.resuming_stream import Reconnection
from codeplane.client.schedules import ScheduleCalls
from codeplane.client.search_stream import SearchStream
from codeplane.client.thread_stream import ThreadStream
from codeplane.client.threads import (
    Thread,
    ThreadMessage,
    ThreadSnapshot,
    TurnBudget,
    TurnResult,
    message_from_json,
    snapshot_from_json,
    thread_from_json,
    turn_from_json,
)
from codeplane.client.wire import ConnectionHandle, Reply, Wire
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject

CALL_SEC = 3600.0
_PAGE = 100
# Of a SHA-256.
_FINGERPRINT_DIGITS = 64
# How much longer than the server waits for a turn the answer may take.
_ANSWER_SEC = 60.0


class Client:
    """A caller with a token, or one about to be paired; raises the errors of the table."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        user_agent: str = "codeplane-client",
        reconnection: Reconnection | None = None,
    ) -> None:
        """`tls` is a context such as `ssl.create_default_context(cafile=…)`; without it only loopback is allowed.

        `reconnection` says how often the streams of threads try to go on after the server was lost.
        """
        self._reconnection = reconnection or Reconnection()
        self._wire = Wire(host=host, port=port, token=token, tls=tls, user_agent=user_agent)

    @classmethod
    def of_repository(
        cls,
        folder: str | Path = ".",
        *,
        token: str | None = None,
        user_agent: str = "codeplane-client",
        reconnection: Reconnection | None = None,
    ) -> Self:
        """Return a client of the server of the repository that a folder is in, as its owner unless a token is given.

        It finds the server again after a restart, also at another port.
        """
        server = LocalServer.of(folder)
        client = cls("", 0, token=token or server.token, user_agent=user_agent, reconnection=reconnection)
        client._wire = replace(client._wire, locate=server.locate)
        return client

    @classmethod
    def of_announced(
        cls,
        server: AnnouncedServer,
        *,
        fingerprint: str,
        token: str | None = None,
        user_agent: str = "codeplane-client",
        reconnection: Reconnection | None = None,
    ) -> Self:
        """Return a client of a server that announced itself, over TLS.

        `fingerprint` is that of its certificate, as `cpl status` shows it on the server's machine: what a server says
        of itself in the network proves nothing.
        """
        if not server.addresses or len(fingerprint.replace(":", "")) != _FINGERPRINT_DIGITS:
            raise InvalidArgument(
                "a server that announced itself needs an address and a fingerprint",
                hint="the fingerprint is 32 bytes in hexadecimal digits: cpl status, on the server's machine",
            )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # The certificate is compared with the fingerprint, which says more than who signed it.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        client = cls(
            server.addresses[0], server.port, token=token, tls=context, user_agent=user_agent, reconnection=reconnection
        )
        client._wire = replace(client._wire, fingerprint=fingerprint)
        return client

    def with_handle(self, handle: ConnectionHandle) -> Self:
        """Return the same client for one call or stream, which `handle` can end from another thread."""
        other = copy.copy(self)
        other._wire = replace(self._wire, handle=handle)
        return other

    def call(
        self, operation: str, arguments: JsonObject, *, text: bool = False, timeout_sec: float = CALL_SEC
    ) -> JsonObject:
        """Call an operation; return `result` and `meta`, on request `text`, or `error` and `meta`."""
        body: JsonObject = {"operation": operation, "arguments": arguments, "text": text}
        reply = self._wire.unary(_path("OperationService", "Call"), body, timeout_sec=timeout_sec)
        if reply.error is not None:
            return {"error": reply.error, "meta": reply.meta or {}}
        return reply.message or {}

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """Yield the items of a stream, and at the end an object with `end` (and `error` when it failed)."""
        body: JsonObject = {"operation": operation, "arguments": arguments}
        for reply in self._wire.stream(_path("OperationService", "Stream"), body):
            item = (reply.message or {}).get("item")
            if reply.end:
                yield {"end": True, **({"error": reply.error} if reply.error is not None else {})}
            elif isinstance(item, dict):
                yield item

    def create_pairing_code(self) -> PairingCode:
        """Create a code to pair one device; for the owner and for devices."""
        message = self._call_method("AuthService", "CreatePairingCode", {})
        return PairingCode(code=str(message.get("code", "")), expires_at=str(message.get("expiresAt", "")))

    def pair(self, code: str, device_name: str, *, public_key: str = "") -> PairedDevice:
        """Pair this client as a device; needs no token and returns one."""
        body: JsonObject = {"code": code, "deviceName": device_name, "publicKey": public_key}
        message = self._call_method("AuthService", "BindPairingCode", body)
        return PairedDevice(device_id=str(message.get("deviceId", "")), token=token_from_json(message))

    def rotate(self) -> Token:
        """Return a new token for the calling device."""
        return token_from_json(self._call_method("AuthService", "RotateToken", {}))

    def devices(self, *, live_only: bool = False) -> list[Device]:
        """Return the paired devices."""
        message = self._call_method("DevicesService", "ListDevices", {"liveOnly": live_only})
        return [device_from_json(item) for item in list_field(message, "items")]

    def revoke(self, device_id: str, *, reason: str = "") -> None:
        """Revoke a device, its token and its streams."""
        self._call_method("DevicesService", "RevokeDevice", {"deviceId": device_id, "reason": reason})

    def approvals(self, *, status: str = "PENDING", page_size: int = _PAGE) -> Iterator[Approval]:
        """Yield the actions with a status, newest first; an empty status means all."""
        page: JsonObject = {"pageSize": page_size, **({"status": status} if status else {})}
        for items in self._pages("ApprovalsService", "ListApprovals", page):
            yield from map(approval_from_json, items)

    def approval(self, action_id: str) -> Approval:
        """Return one action with its preview."""
        message = self._call_method("ApprovalsService", "GetApproval", {"actionId": action_id})
        return approval_from_json(object_field(message, "item"))

    def approve(
        self, action_id: str, *, preview_hash: str = "", trust: bool = False, for_task: bool = False, reason: str = ""
    ) -> str:
        """Approve an action and return its new status."""
        body: JsonObject = {
            "actionId": action_id,
            "previewHash": preview_hash,
            "trust": trust,
            "forTask": for_task,
            "reason": reason,
        }
        return str(self._call_method("ApprovalsService", "ApproveAction", body).get("status", ""))

    def reject(self, action_id: str, *, reason: str = "") -> str:
        """Reject an action and return its new status."""
        body: JsonObject = {"actionId": action_id, "reason": reason}
        return str(self._call_method("ApprovalsService", "RejectAction", body).get("status", ""))

    def watch(
        self,
        *,
        streams: Mapping[str, int] | None = None,
        stream: str = "",
        from_position: int | None = None,
        types: Sequence[str] = (),
    ) -> Generator[Item, None, None]:
        """Yield events after stream sequences, after a log position, or from now on."""
        body: JsonObject = {"types": list(types)}
        if streams:
            body["streams"] = {name: str(sequence) for name, sequence in streams.items()}
        elif from_position is None:
            body["fromNow"] = True
        else:
            body["fromPosition"] = str(from_position)
        if stream:
            body["stream"] = stream
        for reply in self._wire.stream(_path("EventsService", "Watch"), body):
            if reply.end:
                _check(reply)
                return
            yield item_from_json(reply.message or {})

    def watch_events(self, *, after: int | None = None, stream: str = "", types: Sequence[str] = ()) -> LogStream:
        """Yield the events of the log after a position, or from now on, over lost connections."""
        return LogStream(self._wire, after=after, stream=stream, types=types, reconnection=self._reconnection)

    def search(
        self,
        query: str,
        *,
        mode: str = "auto",
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        context: int = 0,
        most: int = 1000,
    ) -> SearchStream:
        """Yield the pages of a search as they are found, up to `most` hits, over lost connections."""
        arguments: JsonObject = {
            "query": query,
            "mode": mode,
            "paths": list(paths),
            "languages": list(languages),
            "context": context,
        }
        return SearchStream(self._wire, arguments=arguments, most=most, reconnection=self._reconnection)

    def create_thread(self, *, title: str = "", toolset: str = "", model: str = "", idempotency_key: str = "") -> str:
        """Open a conversation and return its id; the same key again returns the same one."""
        body: JsonObject = {"title": title, "toolset": toolset, "model": model, "idempotencyKey": idempotency_key}
        return text_field(self._call_method("ThreadsService", "CreateThread", body), "threadId")

    def threads(self, *, query: str = "", archived: bool = False, page_size: int = _PAGE) -> Iterator[Thread]:
        """Yield the conversations, the last used first; `query` are words of titles and messages."""
        body: JsonObject = {"query": query, "archived": archived, "pageSize": page_size}
        for items in self._pages("ThreadsService", "ListThreads", body):
            yield from map(thread_from_json, items)

    def thread(self, thread_id: str) -> ThreadSnapshot:
        """Return a conversation with its newest messages; watching on from `last_sequence` misses nothing."""
        return snapshot_from_json(self._call_method("ThreadsService", "GetThreadSnapshot", {"threadId": thread_id}))

    def messages(self, thread_id: str, *, page_size: int = _PAGE) -> Iterator[ThreadMessage]:
        """Yield all messages of a conversation, newest first."""
        body: JsonObject = {"threadId": thread_id, "pageSize": page_size}
        for items in self._pages("ThreadsService", "ListThreadMessages", body):
            yield from map(message_from_json, reversed(items))

    def send(
        self,
        thread_id: str,
        text: str,
        *,
        wait_sec: float = 0.0,
        client_message_id: str = "",
        queue_mode: str = "",
        reasoning: str = "",
        budget: TurnBudget | None = None,
    ) -> TurnResult:
        """Send a message and wait up to `wait_sec` for its turn to end or pause.

        After a lost connection, the same `client_message_id` again returns the same turn.
        """
        body = _turn_request(thread_id, text, client_message_id, queue_mode, reasoning, budget)
        body["waitSec"] = wait_sec
        message = self._call_method("TurnsService", "SendTurn", body, timeout_sec=wait_sec + _ANSWER_SEC)
        return turn_from_json(message)

    def start_turn(
        self,
        thread_id: str,
        text: str,
        *,
        client_message_id: str = "",
        queue_mode: str = "",
        reasoning: str = "",
        budget: TurnBudget | None = None,
    ) -> ThreadStream:
        """Send a message when the first event is read, and yield what happens until its turn ends.

        The same `client_message_id` again attaches to the same turn, from its message on.
        """
        return ThreadStream(
            self._wire,
            path=_path("TurnsService", "StartTurn"),
            request=_turn_request(thread_id, text, client_message_id, queue_mode, reasoning, budget),
            cursor="resumeFromSequence",
            ends_with_turn=True,
            reconnection=self._reconnection,
        )

    def watch_thread(self, thread_id: str, from_sequence: int = 0) -> ThreadStream:
        """Yield everything in a conversation after a sequence, and then as it happens, until it is closed."""
        return ThreadStream(
            self._wire,
            path=_path("EventsService", "WatchThread"),
            request={"threadId": thread_id},
            cursor="fromSequence",
            after=from_sequence,
            reconnection=self._reconnection,
        )

    def cancel_turn(self, turn_id: str, *, reason: str = "") -> TurnResult:
        """End a turn at once; what its tools did stays done."""
        return turn_from_json(self._call_method("TurnsService", "CancelTurn", {"turnId": turn_id, "reason": reason}))

    @property
    def jobs(self) -> JobCalls:
        """The calls on jobs."""
        return JobCalls(partial(self._call_method, "JobsService"))

    @property
    def explorations(self) -> ExploreCalls:
        """The calls on explorations, and their streams."""
        return ExploreCalls(self.call, self._wire, self._reconnection)

    @property
    def schedules(self) -> ScheduleCalls:
        """The calls on schedules."""
        return ScheduleCalls(partial(self._call_method, "SchedulesService"))

    def _call_method(
        self, service: str, method: str, message: JsonObject, *, timeout_sec: float = CALL_SEC
    ) -> JsonObject:
        reply = self._wire.unary(_path(service, method), message, timeout_sec=timeout_sec)
        _check(reply)
        return reply.message or {}

    def _pages(self, service: str, method: str, request: JsonObject) -> Iterator[list[JsonObject]]:
        """Yield the items of each page."""
        while True:
            message = self._call_method(service, method, request)
            yield list_field(message, "items")
            if not (following := message.get("nextPageToken")):
                return
            request = {**request, "pageToken": following}


def _path(service: str, method: str) -> str:
    return f"/codeplane.v1.{service}/{method}"


def _check(reply: Reply) -> None:
    if reply.error is not None:
        raise to_exception(reply.error)


def _turn_request(
    thread_id: str, text: str, client_message_id: str, queue_mode: str, reasoning: str, budget: TurnBudget | None
) -> JsonObject:
    request: JsonObject = {
        "threadId": thread_id,
        "userText": text,
        # Sent again after a lost connection, so that it is one turn.
        "clientMessageId": client_message_id or str(uuid.uuid4()),
    }
    if queue_mode:
        request["queueMode"] = queue_mode
    if reasoning:
        request["reasoningVisibility"] = reasoning
    if budget is not None:
        request["requestedBudget"] = budget.to_json()
    return request
