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

class GetPolicySummaryRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetPolicySummaryResponse(_message.Message):
    __slots__ = ("summary", "policy_version")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    POLICY_VERSION_FIELD_NUMBER: _ClassVar[int]
    summary: _struct_pb2.Struct
    policy_version: str
    def __init__(self, summary: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., policy_version: _Optional[str] = ...) -> None: ...

class AuditEntry(_message.Message):
    __slots__ = ("entry_id", "event_type", "thread_id", "job_id", "action_id", "payload", "occurred_at", "actor", "operation", "outcome", "call_id", "task_id", "session_id", "position")
    ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    entry_id: str
    event_type: str
    thread_id: str
    job_id: str
    action_id: str
    payload: _struct_pb2.Struct
    occurred_at: _timestamp_pb2.Timestamp
    actor: str
    operation: str
    outcome: str
    call_id: str
    task_id: str
    session_id: str
    position: int
    def __init__(self, entry_id: _Optional[str] = ..., event_type: _Optional[str] = ..., thread_id: _Optional[str] = ..., job_id: _Optional[str] = ..., action_id: _Optional[str] = ..., payload: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., actor: _Optional[str] = ..., operation: _Optional[str] = ..., outcome: _Optional[str] = ..., call_id: _Optional[str] = ..., task_id: _Optional[str] = ..., session_id: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

class ListAuditRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "actor", "operation", "event_type", "action_id", "since", "until", "text", "outcome")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    actor: str
    operation: str
    event_type: str
    action_id: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    text: str
    outcome: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., actor: _Optional[str] = ..., operation: _Optional[str] = ..., event_type: _Optional[str] = ..., action_id: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., text: _Optional[str] = ..., outcome: _Optional[str] = ...) -> None: ...

class ListAuditResponse(_message.Message):
    __slots__ = ("items", "next_page_token")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[AuditEntry]
    next_page_token: str
    def __init__(self, items: _Optional[_Iterable[_Union[AuditEntry, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Notification(_message.Message):
    __slots__ = ("notification_id", "type", "resource_kind", "resource_id", "created_at", "read_at", "summary", "settled")
    NOTIFICATION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_KIND_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    READ_AT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    notification_id: str
    type: _types_pb2.NotificationType
    resource_kind: str
    resource_id: str
    created_at: _timestamp_pb2.Timestamp
    read_at: _timestamp_pb2.Timestamp
    summary: str
    settled: str
    def __init__(self, notification_id: _Optional[str] = ..., type: _Optional[_Union[_types_pb2.NotificationType, str]] = ..., resource_kind: _Optional[str] = ..., resource_id: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., read_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., summary: _Optional[str] = ..., settled: _Optional[str] = ...) -> None: ...

class ListNotificationsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "unread_only", "open_only")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNREAD_ONLY_FIELD_NUMBER: _ClassVar[int]
    OPEN_ONLY_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    unread_only: bool
    open_only: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., unread_only: _Optional[bool] = ..., open_only: _Optional[bool] = ...) -> None: ...

class ListNotificationsResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "unread")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNREAD_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Notification]
    next_page_token: str
    unread: int
    def __init__(self, items: _Optional[_Iterable[_Union[Notification, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., unread: _Optional[int] = ...) -> None: ...

class MarkNotificationsReadRequest(_message.Message):
    __slots__ = ("notification_ids", "all")
    NOTIFICATION_IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    notification_ids: _containers.RepeatedScalarFieldContainer[str]
    all: bool
    def __init__(self, notification_ids: _Optional[_Iterable[str]] = ..., all: _Optional[bool] = ...) -> None: ...

class MarkNotificationsReadResponse(_message.Message):
    __slots__ = ("marked", "unread")
    MARKED_FIELD_NUMBER: _ClassVar[int]
    UNREAD_FIELD_NUMBER: _ClassVar[int]
    marked: int
    unread: int
    def __init__(self, marked: _Optional[int] = ..., unread: _Optional[int] = ...) -> None: ...
