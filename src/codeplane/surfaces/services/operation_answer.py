"""What a caller of the operation service gets: JSON as it was made, or a message for those who want one."""

import json
from dataclasses import dataclass

from codeplane._gen.operations_pb2 import CallResponse, StreamResponse
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.services.messages import struct


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationAnswer:
    """A result, an item of a stream, or the meta at its end."""

    streamed: bool
    # None where there is no result, as at the end of a stream.
    result_json: str | None = None
    meta: JsonObject | None = None
    text: str | None = None
    exact: bool = False

    def to_json(self) -> bytes:
        """Its JSON; the result goes in as it is, so that no number is rounded on the way."""
        name, parts = "item" if self.streamed else "result", []
        if self.result_json is not None:
            if self.exact:
                parts.append(f'"{name}Json":{dumps(self.result_json)}')
            else:
                parts.append(f'"{name}":{self.result_json}')
        if self.meta is not None:
            parts.append(f'"meta":{dumps(self.meta)}')
        if self.text is not None:
            parts.append(f'"text":{dumps(self.text)}')
        return f"{{{','.join(parts)}}}".encode()

    def to_message(self) -> CallResponse | StreamResponse:
        """Its message."""
        message = StreamResponse() if self.streamed else CallResponse()
        if self.result_json is not None:
            name = "item" if self.streamed else "result"
            if self.exact:
                setattr(message, f"{name}_json", self.result_json)
            else:
                getattr(message, name).CopyFrom(struct(json.loads(self.result_json)))
        if self.meta is not None:
            message.meta.CopyFrom(struct(self.meta))
        message.text = self.text or ""
        return message
