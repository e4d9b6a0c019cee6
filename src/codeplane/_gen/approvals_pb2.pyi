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

class Approval(_message.Message):
    __slots__ = ("action_id", "source", "source_id", "tool", "status", "risk_class", "identity", "deterministic_summary", "preview", "created_at", "expires_at", "rejection_reason", "actor", "reasons", "decided_by", "decided_at", "outcome_unknown", "outcome", "preview_hash", "state", "failure", "exit_code", "answer")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RISK_CLASS_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REJECTION_REASON_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_HASH_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    source: str
    source_id: str
    tool: str
    status: _types_pb2.ActionStatus
    risk_class: _types_pb2.RiskClass
    identity: _types_pb2.Identity
    deterministic_summary: str
    preview: _struct_pb2.Struct
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    rejection_reason: str
    actor: str
    reasons: str
    decided_by: str
    decided_at: _timestamp_pb2.Timestamp
    outcome_unknown: bool
    outcome: str
    preview_hash: str
    state: str
    failure: str
    exit_code: int
    answer: str
    def __init__(self, action_id: _Optional[str] = ..., source: _Optional[str] = ..., source_id: _Optional[str] = ..., tool: _Optional[str] = ..., status: _Optional[_Union[_types_pb2.ActionStatus, str]] = ..., risk_class: _Optional[_Union[_types_pb2.RiskClass, str]] = ..., identity: _Optional[_Union[_types_pb2.Identity, str]] = ..., deterministic_summary: _Optional[str] = ..., preview: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., rejection_reason: _Optional[str] = ..., actor: _Optional[str] = ..., reasons: _Optional[str] = ..., decided_by: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., outcome_unknown: _Optional[bool] = ..., outcome: _Optional[str] = ..., preview_hash: _Optional[str] = ..., state: _Optional[str] = ..., failure: _Optional[str] = ..., exit_code: _Optional[int] = ..., answer: _Optional[str] = ...) -> None: ...

class ListApprovalsRequest(_message.Message):
    __slots__ = ("status", "page_size", "page_token", "task_id")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    status: _types_pb2.ActionStatus
    page_size: int
    page_token: str
    task_id: str
    def __init__(self, status: _Optional[_Union[_types_pb2.ActionStatus, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., task_id: _Optional[str] = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "pending")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Approval]
    next_page_token: str
    pending: int
    def __init__(self, items: _Optional[_Iterable[_Union[Approval, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., pending: _Optional[int] = ...) -> None: ...

class GetApprovalRequest(_message.Message):
    __slots__ = ("action_id",)
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    def __init__(self, action_id: _Optional[str] = ...) -> None: ...

class GetApprovalResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Approval
    def __init__(self, item: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class ApproveActionRequest(_message.Message):
    __slots__ = ("action_id", "trust", "for_task", "preview_hash", "reason", "idempotency_key")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    FOR_TASK_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_HASH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    trust: bool
    for_task: bool
    preview_hash: str
    reason: str
    idempotency_key: str
    def __init__(self, action_id: _Optional[str] = ..., trust: _Optional[bool] = ..., for_task: _Optional[bool] = ..., preview_hash: _Optional[str] = ..., reason: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ApproveActionResponse(_message.Message):
    __slots__ = ("action_id", "status")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    status: _types_pb2.ActionStatus
    def __init__(self, action_id: _Optional[str] = ..., status: _Optional[_Union[_types_pb2.ActionStatus, str]] = ...) -> None: ...

class RejectActionRequest(_message.Message):
    __slots__ = ("action_id", "reason", "idempotency_key")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    reason: str
    idempotency_key: str
    def __init__(self, action_id: _Optional[str] = ..., reason: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class RejectActionResponse(_message.Message):
    __slots__ = ("action_id", "status")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    status: _types_pb2.ActionStatus
    def __init__(self, action_id: _Optional[str] = ..., status: _Optional[_Union[_types_pb2.ActionStatus, str]] = ...) -> None: ...
