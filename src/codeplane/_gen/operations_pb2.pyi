from codeplane._gen import error_pb2 as _error_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallRequest(_message.Message):
    __slots__ = ("operation", "arguments", "arguments_json", "idempotency_key", "session_id", "connection_id", "text", "exact")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    operation: str
    arguments: _struct_pb2.Struct
    arguments_json: str
    idempotency_key: str
    session_id: str
    connection_id: str
    text: bool
    exact: bool
    def __init__(self, operation: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., arguments_json: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., session_id: _Optional[str] = ..., connection_id: _Optional[str] = ..., text: _Optional[bool] = ..., exact: _Optional[bool] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("result", "meta", "text", "result_json")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    result: _struct_pb2.Struct
    meta: _struct_pb2.Struct
    text: str
    result_json: str
    def __init__(self, result: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., meta: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., text: _Optional[str] = ..., result_json: _Optional[str] = ...) -> None: ...

class StreamRequest(_message.Message):
    __slots__ = ("operation", "arguments", "arguments_json", "idempotency_key", "session_id", "connection_id", "text", "exact", "progress")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    operation: str
    arguments: _struct_pb2.Struct
    arguments_json: str
    idempotency_key: str
    session_id: str
    connection_id: str
    text: bool
    exact: bool
    progress: bool
    def __init__(self, operation: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., arguments_json: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., session_id: _Optional[str] = ..., connection_id: _Optional[str] = ..., text: _Optional[bool] = ..., exact: _Optional[bool] = ..., progress: _Optional[bool] = ...) -> None: ...

class StreamResponse(_message.Message):
    __slots__ = ("item", "meta", "text", "item_json", "progress")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ITEM_JSON_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    item: _struct_pb2.Struct
    meta: _struct_pb2.Struct
    text: str
    item_json: str
    progress: Progress
    def __init__(self, item: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., meta: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., text: _Optional[str] = ..., item_json: _Optional[str] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("done", "total", "message")
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    done: float
    total: float
    message: str
    def __init__(self, done: _Optional[float] = ..., total: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class ExchangeRequest(_message.Message):
    __slots__ = ("id", "call", "cancel")
    ID_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    id: int
    call: CallRequest
    cancel: bool
    def __init__(self, id: _Optional[int] = ..., call: _Optional[_Union[CallRequest, _Mapping]] = ..., cancel: _Optional[bool] = ...) -> None: ...

class ExchangeResponse(_message.Message):
    __slots__ = ("id", "response", "error")
    ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    id: int
    response: CallResponse
    error: _error_pb2.Error
    def __init__(self, id: _Optional[int] = ..., response: _Optional[_Union[CallResponse, _Mapping]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping]] = ...) -> None: ...

class CallAllRequest(_message.Message):
    __slots__ = ("call",)
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: CallRequest
    def __init__(self, call: _Optional[_Union[CallRequest, _Mapping]] = ...) -> None: ...

class CallAllResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[CallAnswer]
    def __init__(self, answers: _Optional[_Iterable[_Union[CallAnswer, _Mapping]]] = ...) -> None: ...

class CallAnswer(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: CallResponse
    error: _error_pb2.Error
    def __init__(self, response: _Optional[_Union[CallResponse, _Mapping]] = ..., error: _Optional[_Union[_error_pb2.Error, _Mapping]] = ...) -> None: ...
