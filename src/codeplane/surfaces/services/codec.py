"""Bytes of requests and answers, in both forms that protobuf has."""

from google.protobuf.json_format import MessageToJson, Parse, ParseError
from google.protobuf.message import DecodeError, Message

from codeplane._gen.operations_pb2 import CallRequest, StreamRequest
from codeplane.kernel.errors import CodePlaneError, MalformedRequest
from codeplane.surfaces.services.failure import Failed
from codeplane.surfaces.services.operation_answer import OperationAnswer
from codeplane.surfaces.services.operation_call import OperationCall

Asked = Message | OperationCall
Answer = Message | OperationAnswer


def from_json(data: bytes, kind: type[Message]) -> Asked:
    """A request from JSON; unknown fields are named, since people write it by hand."""
    try:
        if kind in (CallRequest, StreamRequest):
            return OperationCall.of_json(data)
        return Parse(data.decode(), kind())
    except (ParseError, ValueError, RecursionError) as error:
        raise Failed(MalformedRequest(f"this is no {kind.DESCRIPTOR.name} in JSON: {str(error)[:300]}")) from error
    except CodePlaneError as error:
        raise Failed(error) from error


def from_binary(data: bytes, kind: type[Message]) -> Asked:
    """A request from protobuf's bytes."""
    try:
        message = kind.FromString(data)
        if isinstance(message, (CallRequest, StreamRequest)):
            return OperationCall.of_message(message)
        return message
    except DecodeError as error:
        refusal = MalformedRequest(f"this is no {kind.DESCRIPTOR.name}: {error}", hint="send it as the proto says")
        raise Failed(refusal) from error
    except CodePlaneError as error:
        raise Failed(error) from error


def to_json(answer: Answer) -> bytes:
    """An answer as JSON."""
    return answer.to_json() if isinstance(answer, OperationAnswer) else MessageToJson(answer, indent=None).encode()


def to_binary(answer: Answer) -> bytes:
    """An answer as protobuf's bytes."""
    message = answer.to_message() if isinstance(answer, OperationAnswer) else answer
    return message.SerializeToString()
