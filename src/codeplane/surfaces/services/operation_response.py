"""Responses of the operation service, as JSON or as a message."""

import json
from dataclasses import dataclass

from google.protobuf.json_format import ParseDict

from codeplane._gen.operations_pb2 import CallResponse, StreamResponse
from codeplane.kernel.actor import Progress
from codeplane.kernel.json import JsonObject, dumps
from codeplane.surfaces.services.structs import to_struct


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResponse:
    """A result, an item of a stream, or the final meta."""

    streamed: bool
    # None where there is no result, as at the end of a stream.
    result_json: str | None = None
    meta: JsonObject | None = None
    text: str | None = None
    exact: bool = False
    progress: Progress | None = None

    def to_json(self) -> bytes:
        """Encode as JSON; the result is embedded unchanged, so that no number is rounded."""
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
        if self.progress is not None:
            parts.append(f'"progress":{dumps(_progress_json(self.progress))}')
        return f"{{{','.join(parts)}}}".encode()

    def to_message(self) -> CallResponse | StreamResponse:
        """Convert to a message."""
        message = StreamResponse() if self.streamed else CallResponse()
        if self.result_json is not None:
            name = "item" if self.streamed else "result"
            if self.exact:
                setattr(message, f"{name}_json", self.result_json)
            else:
                getattr(message, name).CopyFrom(to_struct(json.loads(self.result_json)))
        if self.meta is not None:
            message.meta.CopyFrom(to_struct(self.meta))
        if self.progress is not None and isinstance(message, StreamResponse):
            message.progress.CopyFrom(ParseDict(_progress_json(self.progress), message.progress))
        message.text = self.text or ""
        return message


def _progress_json(progress: Progress) -> JsonObject:
    values: JsonObject = {"done": progress.done, "total": progress.total, "message": progress.message}
    return {name: value for name, value in values.items() if value is not None}
