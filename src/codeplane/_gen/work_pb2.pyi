import datetime

from codeplane._gen import events_pb2 as _events_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORK_STATE_UNSPECIFIED: _ClassVar[WorkState]
    WORK_QUEUED: _ClassVar[WorkState]
    WORK_RUNNING: _ClassVar[WorkState]
    WORK_WAITING: _ClassVar[WorkState]
    WORK_COMPLETED: _ClassVar[WorkState]
    WORK_FAILED: _ClassVar[WorkState]
    WORK_CANCELLED: _ClassVar[WorkState]
WORK_STATE_UNSPECIFIED: WorkState
WORK_QUEUED: WorkState
WORK_RUNNING: WorkState
WORK_WAITING: WorkState
WORK_COMPLETED: WorkState
WORK_FAILED: WorkState
WORK_CANCELLED: WorkState

class WorkStep(_message.Message):
    __slots__ = ("operation", "arguments")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    operation: str
    arguments: _struct_pb2.Struct
    def __init__(self, operation: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class WorkItem(_message.Message):
    __slots__ = ("work_id", "kind", "title", "state", "waits_for", "action_id", "parent_id", "created_by", "on_behalf_of", "steps_done", "steps_total", "attempt", "holder", "max_steps", "max_seconds", "used_seconds", "created_at", "updated_at", "error", "message", "sequence", "steps", "children")
    WORK_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_FIELD_NUMBER: _ClassVar[int]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    STEPS_DONE_FIELD_NUMBER: _ClassVar[int]
    STEPS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    MAX_SECONDS_FIELD_NUMBER: _ClassVar[int]
    USED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    work_id: str
    kind: str
    title: str
    state: WorkState
    waits_for: str
    action_id: str
    parent_id: str
    created_by: str
    on_behalf_of: str
    steps_done: int
    steps_total: int
    attempt: int
    holder: str
    max_steps: int
    max_seconds: float
    used_seconds: float
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    error: str
    message: str
    sequence: int
    steps: _containers.RepeatedCompositeFieldContainer[WorkStep]
    children: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, work_id: _Optional[str] = ..., kind: _Optional[str] = ..., title: _Optional[str] = ..., state: _Optional[_Union[WorkState, str]] = ..., waits_for: _Optional[str] = ..., action_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., created_by: _Optional[str] = ..., on_behalf_of: _Optional[str] = ..., steps_done: _Optional[int] = ..., steps_total: _Optional[int] = ..., attempt: _Optional[int] = ..., holder: _Optional[str] = ..., max_steps: _Optional[int] = ..., max_seconds: _Optional[float] = ..., used_seconds: _Optional[float] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., error: _Optional[str] = ..., message: _Optional[str] = ..., sequence: _Optional[int] = ..., steps: _Optional[_Iterable[_Union[WorkStep, _Mapping]]] = ..., children: _Optional[_Iterable[str]] = ...) -> None: ...

class StartWorkRequest(_message.Message):
    __slots__ = ("steps", "title", "max_steps", "max_seconds", "idempotency_key")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    MAX_SECONDS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[WorkStep]
    title: str
    max_steps: int
    max_seconds: float
    idempotency_key: str
    def __init__(self, steps: _Optional[_Iterable[_Union[WorkStep, _Mapping]]] = ..., title: _Optional[str] = ..., max_steps: _Optional[int] = ..., max_seconds: _Optional[float] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class StartWorkResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: WorkItem
    def __init__(self, item: _Optional[_Union[WorkItem, _Mapping]] = ...) -> None: ...

class ListWorkRequest(_message.Message):
    __slots__ = ("state", "parent_id", "page_size", "page_token")
    STATE_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    state: WorkState
    parent_id: str
    page_size: int
    page_token: str
    def __init__(self, state: _Optional[_Union[WorkState, str]] = ..., parent_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "hidden")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[WorkItem]
    next_page_token: str
    hidden: int
    def __init__(self, items: _Optional[_Iterable[_Union[WorkItem, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., hidden: _Optional[int] = ...) -> None: ...

class GetWorkRequest(_message.Message):
    __slots__ = ("work_id",)
    WORK_ID_FIELD_NUMBER: _ClassVar[int]
    work_id: str
    def __init__(self, work_id: _Optional[str] = ...) -> None: ...

class GetWorkResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: WorkItem
    def __init__(self, item: _Optional[_Union[WorkItem, _Mapping]] = ...) -> None: ...

class CancelWorkRequest(_message.Message):
    __slots__ = ("work_id", "reason", "idempotency_key")
    WORK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    work_id: str
    reason: str
    idempotency_key: str
    def __init__(self, work_id: _Optional[str] = ..., reason: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class CancelWorkResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: WorkItem
    def __init__(self, item: _Optional[_Union[WorkItem, _Mapping]] = ...) -> None: ...

class ResumeWorkRequest(_message.Message):
    __slots__ = ("work_id", "max_steps", "max_seconds", "idempotency_key")
    WORK_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    MAX_SECONDS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    work_id: str
    max_steps: int
    max_seconds: float
    idempotency_key: str
    def __init__(self, work_id: _Optional[str] = ..., max_steps: _Optional[int] = ..., max_seconds: _Optional[float] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ResumeWorkResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: WorkItem
    def __init__(self, item: _Optional[_Union[WorkItem, _Mapping]] = ...) -> None: ...

class WatchWorkRequest(_message.Message):
    __slots__ = ("work_id", "from_sequence", "heartbeat_ms")
    WORK_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    work_id: str
    from_sequence: int
    heartbeat_ms: int
    def __init__(self, work_id: _Optional[str] = ..., from_sequence: _Optional[int] = ..., heartbeat_ms: _Optional[int] = ...) -> None: ...

class RunWorkRequest(_message.Message):
    __slots__ = ("steps", "title", "max_steps", "max_seconds", "idempotency_key", "from_sequence", "heartbeat_ms")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    MAX_SECONDS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[WorkStep]
    title: str
    max_steps: int
    max_seconds: float
    idempotency_key: str
    from_sequence: int
    heartbeat_ms: int
    def __init__(self, steps: _Optional[_Iterable[_Union[WorkStep, _Mapping]]] = ..., title: _Optional[str] = ..., max_steps: _Optional[int] = ..., max_seconds: _Optional[float] = ..., idempotency_key: _Optional[str] = ..., from_sequence: _Optional[int] = ..., heartbeat_ms: _Optional[int] = ...) -> None: ...
