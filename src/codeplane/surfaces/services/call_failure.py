"""The failure of a call, before a protocol translates it."""

from google.protobuf.json_format import ParseDict

from codeplane._gen.error_pb2 import Error
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.protobuf_json import to_protobuf_json

TYPE_URL = f"type.googleapis.com/{Error.DESCRIPTOR.full_name}"


class CallFailed(Exception):
    """An error of the table with the meta of its call."""

    def __init__(self, error: CodePlaneError, meta: JsonObject | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.meta = meta or {}

    def to_wire(self) -> JsonObject:
        """Return the error object that every protocol sends as a detail."""
        wire = to_protobuf_json({**self.error.to_wire(), "meta": self.meta})
        assert isinstance(wire, dict)
        return wire

    def detail(self) -> Error:
        """Return the error as a message."""
        return ParseDict(self.to_wire(), Error())
