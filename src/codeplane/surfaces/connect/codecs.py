"""The JSON and binary codecs of the Connect library."""

from google.protobuf.message import Message

from codeplane.surfaces.connect.errors import connect_error
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.codec import (
    DecodedRequest,
    EncodableResponse,
    from_binary,
    from_json,
    to_binary,
    to_json,
)


class JsonCodec:
    """`application/json` and `application/connect+json`."""

    def name(self) -> str:
        """Return the codec's name in a content type."""
        return "json"

    def encode(self, message: EncodableResponse) -> bytes:
        """Encode a response."""
        return to_json(message)

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> DecodedRequest:
        """Decode a request."""
        try:
            return from_json(bytes(data), message_class)
        except CallFailed as failed:
            raise connect_error(failed) from failed


class BinaryCodec:
    """`application/proto`, `application/connect+proto` and gRPC-Web."""

    def name(self) -> str:
        """Return the codec's name in a content type."""
        return "proto"

    def encode(self, message: EncodableResponse) -> bytes:
        """Encode a response."""
        return to_binary(message)

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> DecodedRequest:
        """Decode a request."""
        try:
            return from_binary(bytes(data), message_class)
        except CallFailed as failed:
            raise connect_error(failed) from failed
