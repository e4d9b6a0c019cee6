"""A call that failed, on its way to a protocol's own kind of error."""

from google.protobuf.json_format import ParseDict

from codeplane._gen.error_pb2 import Error
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.fitting import fitting

TYPE_URL = f"type.googleapis.com/{Error.DESCRIPTOR.full_name}"


class Failed(Exception):
    """An error of the one table, with the meta of the call it ended."""

    def __init__(self, error: CodePlaneError, meta: JsonObject | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.meta = meta or {}

    def to_wire(self) -> JsonObject:
        """The error object that every protocol sends as a detail."""
        wire = fitting({**self.error.to_wire(), "meta": self.meta})
        assert isinstance(wire, dict)
        return wire

    def detail(self) -> Error:
        """The same as a message."""
        return ParseDict(self.to_wire(), Error())
