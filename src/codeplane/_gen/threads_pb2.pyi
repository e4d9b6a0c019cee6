import datetime

from codeplane._gen import types_pb2 as _types_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateThreadRequest(_message.Message):
    __slots__ = ("title", "toolset", "model", "idempotency_key")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TOOLSET_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    title: str
    toolset: str
    model: str
    idempotency_key: str
    def __init__(self, title: _Optional[str] = ..., toolset: _Optional[str] = ..., model: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class CreateThreadResponse(_message.Message):
    __slots__ = ("thread_id", "last_sequence")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    last_sequence: int
    def __init__(self, thread_id: _Optional[str] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class GetThreadSnapshotRequest(_message.Message):
    __slots__ = ("thread_id",)
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    def __init__(self, thread_id: _Optional[str] = ...) -> None: ...

class ThreadMessage(_message.Message):
    __slots__ = ("message_id", "role", "content", "metadata", "content_trust", "created_at", "turn_id", "sequence")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TRUST_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    role: str
    content: str
    metadata: _struct_pb2.Struct
    content_trust: _types_pb2.ContentTrust
    created_at: _timestamp_pb2.Timestamp
    turn_id: str
    sequence: int
    def __init__(self, message_id: _Optional[str] = ..., role: _Optional[str] = ..., content: _Optional[str] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., content_trust: _Optional[_Union[_types_pb2.ContentTrust, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class GetThreadSnapshotResponse(_message.Message):
    __slots__ = ("thread_id", "last_sequence", "messages", "title", "next_page_token")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    last_sequence: int
    messages: _containers.RepeatedCompositeFieldContainer[ThreadMessage]
    title: str
    next_page_token: str
    def __init__(self, thread_id: _Optional[str] = ..., last_sequence: _Optional[int] = ..., messages: _Optional[_Iterable[_Union[ThreadMessage, _Mapping]]] = ..., title: _Optional[str] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListThreadMessagesRequest(_message.Message):
    __slots__ = ("thread_id", "page_size", "page_token")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    page_size: int
    page_token: str
    def __init__(self, thread_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListThreadMessagesResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "last_sequence")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ThreadMessage]
    next_page_token: str
    last_sequence: int
    def __init__(self, items: _Optional[_Iterable[_Union[ThreadMessage, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class ListThreadsRequest(_message.Message):
    __slots__ = ("query", "archived", "page_size", "page_token")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    query: str
    archived: bool
    page_size: int
    page_token: str
    def __init__(self, query: _Optional[str] = ..., archived: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class Thread(_message.Message):
    __slots__ = ("thread_id", "title", "created_by", "archived", "messages", "created_at", "updated_at", "last_sequence")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    title: str
    created_by: str
    archived: bool
    messages: int
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    last_sequence: int
    def __init__(self, thread_id: _Optional[str] = ..., title: _Optional[str] = ..., created_by: _Optional[str] = ..., archived: _Optional[bool] = ..., messages: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class ListThreadsResponse(_message.Message):
    __slots__ = ("items", "next_page_token")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Thread]
    next_page_token: str
    def __init__(self, items: _Optional[_Iterable[_Union[Thread, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
