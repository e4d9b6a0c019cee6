"""Errors as gRPC sends them: a status with our error as its detail."""

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage

from codeplane.surfaces.services.call_failure import TYPE_URL, CallFailed

DETAILS = "grpc-status-details-bin"
_STATUS = {code.name.lower(): code for code in grpc.StatusCode} | {"canceled": grpc.StatusCode.CANCELLED}
_MAX_MESSAGE = 2000
_VARINT, _BYTES = 0, 2


def grpc_status(failed: CallFailed) -> tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]:
    """Return the code, message and trailing metadata of an error."""
    code, message = _STATUS[failed.error.rpc], failed.error.message[:_MAX_MESSAGE]
    return code, message, ((DETAILS, _rich_status(code.value[0], message, failed)),)


def _rich_status(code: int, message: str, failed: CallFailed) -> bytes:
    """Encode a google.rpc.Status, which protobuf does not include."""
    detail = AnyMessage(type_url=TYPE_URL, value=failed.detail().SerializeToString())
    parts = _key(1, _VARINT) + _varint(code)
    for number, data in ((2, message.encode()), (3, detail.SerializeToString())):
        parts += _key(number, _BYTES) + _varint(len(data)) + data
    return parts


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    encoded = b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])
