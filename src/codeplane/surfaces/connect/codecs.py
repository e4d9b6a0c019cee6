"""The two forms of messages, as the Connect library wants them."""

from google.protobuf.message import Message

from codeplane.surfaces.connect.errors import connect_error
from codeplane.surfaces.services.codec import Answer, Asked, from_binary, from_json, to_binary, to_json
from codeplane.surfaces.services.failure import Failed


class JsonCodec:
    """`application/json` and `application/connect+json`."""

    def name(self) -> str:
        """How a content type names it."""
        return "json"

    def encode(self, message: Answer) -> bytes:
        """An answer's bytes."""
        return to_json(message)

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> Asked:
        """A request from its bytes."""
        try:
            return from_json(bytes(data), message_class)
        except Failed as failed:
            raise connect_error(failed) from failed


class BinaryCodec:
    """`application/proto` and `application/connect+proto`, and what gRPC-Web sends."""

    def name(self) -> str:
        """How a content type names it."""
        return "proto"

    def encode(self, message: Answer) -> bytes:
        """An answer's bytes."""
        return to_binary(message)

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> Asked:
        """A request from its bytes."""
        try:
            return from_binary(bytes(data), message_class)
        except Failed as failed:
            raise connect_error(failed) from failed
