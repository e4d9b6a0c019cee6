"""The client: any operation by name, and typed methods for the most common ones."""

import ssl
from collections.abc import Generator, Iterator, Mapping, Sequence

from codeplane.client.errors import to_exception
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
    token_from_json,
)
from codeplane.client.wire import Reply, Wire
from codeplane.kernel.json import JsonObject

CALL_SEC = 3600.0
_PAGE = 100


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
    ) -> None:
        """`tls` is a context such as `ssl.create_default_context(cafile=…)`; without it only loopback is allowed."""
        self._wire = Wire(host=host, port=port, token=token, tls=tls, user_agent=user_agent)

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
        return [device_from_json(item) for item in _items(message)]

    def revoke(self, device_id: str, *, reason: str = "") -> None:
        """Revoke a device, its token and its streams."""
        self._call_method("DevicesService", "RevokeDevice", {"deviceId": device_id, "reason": reason})

    def approvals(self, *, status: str = "PENDING", page_size: int = _PAGE) -> Iterator[Approval]:
        """Yield the actions with a status, newest first; an empty status means all."""
        page: JsonObject = {"pageSize": page_size, **({"status": status} if status else {})}
        while True:
            message = self._call_method("ApprovalsService", "ListApprovals", page)
            yield from map(approval_from_json, _items(message))
            if not (following := message.get("nextPageToken")):
                return
            page = {**page, "pageToken": following}

    def approval(self, action_id: str) -> Approval:
        """Return one action with its preview."""
        message = self._call_method("ApprovalsService", "GetApproval", {"actionId": action_id}).get("item")
        return approval_from_json(message if isinstance(message, dict) else {})

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

    def _call_method(self, service: str, method: str, message: JsonObject) -> JsonObject:
        reply = self._wire.unary(_path(service, method), message, timeout_sec=CALL_SEC)
        _check(reply)
        return reply.message or {}


def _path(service: str, method: str) -> str:
    return f"/codeplane.v1.{service}/{method}"


def _check(reply: Reply) -> None:
    if reply.error is not None:
        raise to_exception(reply.error)


def _items(message: JsonObject) -> list[JsonObject]:
    items = message.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
