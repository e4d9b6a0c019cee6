"""Encoding of requests and responses in protobuf's JSON and binary forms."""

from google.protobuf.json_format import MessageToJson, Parse, ParseError
from google.protobuf.message import DecodeError, Message

from codeplane._gen.operations_pb2 import CallRequest, StreamRequest
from codeplane.kernel.errors import CodePlaneError, MalformedRequest
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.operation_call import OperationCall
from codeplane.surfaces.services.operation_response import OperationResponse

DecodedRequest = Message | OperationCall
EncodableResponse = Message | OperationResponse


def from_json(data: bytes, kind: type[Message]) -> DecodedRequest:
    """Decode a request from JSON; unknown fields are named in the error."""
    try:
        if kind in (CallRequest, StreamRequest):
            return OperationCall.of_json(data, kind)
        return Parse(data.decode(), kind())
    except (ParseError, ValueError, RecursionError) as error:
        raise CallFailed(MalformedRequest(f"this is no {kind.DESCRIPTOR.name} in JSON: {str(error)[:300]}")) from error
    except CodePlaneError as error:
        raise CallFailed(error) from error


def from_binary(data: bytes, kind: type[Message]) -> DecodedRequest:
    """Decode a request from protobuf's binary form."""
    try:
        message = kind.FromString(data)
        if isinstance(message, (CallRequest, StreamRequest)):
            return OperationCall.of_message(message)
        return message
    except DecodeError as error:
        refusal = MalformedRequest(f"this is no {kind.DESCRIPTOR.name}: {error}", hint="send it as the proto says")
        raise CallFailed(refusal) from error
    except CodePlaneError as error:
        raise CallFailed(error) from error


def to_json(answer: EncodableResponse) -> bytes:
    """Encode a response as JSON."""
    return answer.to_json() if isinstance(answer, OperationResponse) else MessageToJson(answer, indent=None).encode()


def to_binary(answer: EncodableResponse) -> bytes:
    """Encode a response in protobuf's binary form."""
    message = answer.to_message() if isinstance(answer, OperationResponse) else answer
    return message.SerializeToString()
