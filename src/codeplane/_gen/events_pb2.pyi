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

class WatchRequest(_message.Message):
    __slots__ = ("stream", "from_sequence", "streams", "types", "from_position", "from_now", "heartbeat_ms")
    class StreamsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    STREAM_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    FROM_POSITION_FIELD_NUMBER: _ClassVar[int]
    FROM_NOW_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    stream: str
    from_sequence: int
    streams: _containers.ScalarMap[str, int]
    types: _containers.RepeatedScalarFieldContainer[str]
    from_position: int
    from_now: bool
    heartbeat_ms: int
    def __init__(self, stream: _Optional[str] = ..., from_sequence: _Optional[int] = ..., streams: _Optional[_Mapping[str, int]] = ..., types: _Optional[_Iterable[str]] = ..., from_position: _Optional[int] = ..., from_now: _Optional[bool] = ..., heartbeat_ms: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("event_id", "thread_id", "job_id", "turn_id", "sequence", "occurred_at", "source", "content_trust", "stream", "position", "type", "schema", "actor", "session_id", "call_id", "task_id", "data", "tool_execution_started", "tool_execution_output_delta", "tool_execution_finished", "policy_decision_made", "proposed_action_created", "proposed_action_status_changed", "idempotency_conflict", "audit_event_recorded", "notification_queued", "heartbeat", "stream_gap")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TRUST_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_STARTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_OUTPUT_DELTA_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_FINISHED_FIELD_NUMBER: _ClassVar[int]
    POLICY_DECISION_MADE_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_ACTION_CREATED_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_ACTION_STATUS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_CONFLICT_FIELD_NUMBER: _ClassVar[int]
    AUDIT_EVENT_RECORDED_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_QUEUED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    STREAM_GAP_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    thread_id: str
    job_id: str
    turn_id: str
    sequence: int
    occurred_at: _timestamp_pb2.Timestamp
    source: _types_pb2.EventSource
    content_trust: _types_pb2.ContentTrust
    stream: str
    position: int
    type: str
    schema: int
    actor: str
    session_id: str
    call_id: str
    task_id: str
    data: _struct_pb2.Struct
    tool_execution_started: ToolExecutionStarted
    tool_execution_output_delta: ToolExecutionOutputDelta
    tool_execution_finished: ToolExecutionFinished
    policy_decision_made: PolicyDecisionMade
    proposed_action_created: ProposedActionCreated
    proposed_action_status_changed: ProposedActionStatusChanged
    idempotency_conflict: IdempotencyConflict
    audit_event_recorded: AuditEventRecorded
    notification_queued: NotificationQueued
    heartbeat: Heartbeat
    stream_gap: StreamGap
    def __init__(self, event_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., job_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., sequence: _Optional[int] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., source: _Optional[_Union[_types_pb2.EventSource, str]] = ..., content_trust: _Optional[_Union[_types_pb2.ContentTrust, str]] = ..., stream: _Optional[str] = ..., position: _Optional[int] = ..., type: _Optional[str] = ..., schema: _Optional[int] = ..., actor: _Optional[str] = ..., session_id: _Optional[str] = ..., call_id: _Optional[str] = ..., task_id: _Optional[str] = ..., data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., tool_execution_started: _Optional[_Union[ToolExecutionStarted, _Mapping]] = ..., tool_execution_output_delta: _Optional[_Union[ToolExecutionOutputDelta, _Mapping]] = ..., tool_execution_finished: _Optional[_Union[ToolExecutionFinished, _Mapping]] = ..., policy_decision_made: _Optional[_Union[PolicyDecisionMade, _Mapping]] = ..., proposed_action_created: _Optional[_Union[ProposedActionCreated, _Mapping]] = ..., proposed_action_status_changed: _Optional[_Union[ProposedActionStatusChanged, _Mapping]] = ..., idempotency_conflict: _Optional[_Union[IdempotencyConflict, _Mapping]] = ..., audit_event_recorded: _Optional[_Union[AuditEventRecorded, _Mapping]] = ..., notification_queued: _Optional[_Union[NotificationQueued, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., stream_gap: _Optional[_Union[StreamGap, _Mapping]] = ...) -> None: ...

class ToolExecutionStarted(_message.Message):
    __slots__ = ("execution_id", "tool_call_id", "tool_name", "display_command")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_COMMAND_FIELD_NUMBER: _ClassVar[int]
    execution_id: str
    tool_call_id: str
    tool_name: str
    display_command: str
    def __init__(self, execution_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., display_command: _Optional[str] = ...) -> None: ...

class ToolExecutionOutputDelta(_message.Message):
    __slots__ = ("execution_id", "stream", "chunk", "offset_bytes", "utf8")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    UTF8_FIELD_NUMBER: _ClassVar[int]
    execution_id: str
    stream: _types_pb2.OutputStream
    chunk: bytes
    offset_bytes: int
    utf8: bool
    def __init__(self, execution_id: _Optional[str] = ..., stream: _Optional[_Union[_types_pb2.OutputStream, str]] = ..., chunk: _Optional[bytes] = ..., offset_bytes: _Optional[int] = ..., utf8: _Optional[bool] = ...) -> None: ...

class ToolExecutionFinished(_message.Message):
    __slots__ = ("execution_id", "exit_code", "duration_ms", "timed_out", "truncated")
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    execution_id: str
    exit_code: int
    duration_ms: int
    timed_out: bool
    truncated: bool
    def __init__(self, execution_id: _Optional[str] = ..., exit_code: _Optional[int] = ..., duration_ms: _Optional[int] = ..., timed_out: _Optional[bool] = ..., truncated: _Optional[bool] = ...) -> None: ...

class PolicyDecisionMade(_message.Message):
    __slots__ = ("policy_id", "decision", "reason")
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    policy_id: str
    decision: _types_pb2.PolicyDecision
    reason: str
    def __init__(self, policy_id: _Optional[str] = ..., decision: _Optional[_Union[_types_pb2.PolicyDecision, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class ProposedActionCreated(_message.Message):
    __slots__ = ("action_id", "tool", "risk_class", "identity", "idempotency_key", "justification", "deterministic_summary", "preview", "expires_at")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    RISK_CLASS_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    JUSTIFICATION_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    tool: str
    risk_class: _types_pb2.RiskClass
    identity: _types_pb2.Identity
    idempotency_key: str
    justification: str
    deterministic_summary: str
    preview: _struct_pb2.Struct
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, action_id: _Optional[str] = ..., tool: _Optional[str] = ..., risk_class: _Optional[_Union[_types_pb2.RiskClass, str]] = ..., identity: _Optional[_Union[_types_pb2.Identity, str]] = ..., idempotency_key: _Optional[str] = ..., justification: _Optional[str] = ..., deterministic_summary: _Optional[str] = ..., preview: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ProposedActionStatusChanged(_message.Message):
    __slots__ = ("action_id", "status", "reason", "outcome_unknown", "outcome")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    status: _types_pb2.ActionStatus
    reason: str
    outcome_unknown: bool
    outcome: str
    def __init__(self, action_id: _Optional[str] = ..., status: _Optional[_Union[_types_pb2.ActionStatus, str]] = ..., reason: _Optional[str] = ..., outcome_unknown: _Optional[bool] = ..., outcome: _Optional[str] = ...) -> None: ...

class IdempotencyConflict(_message.Message):
    __slots__ = ("action_id", "tool", "idempotency_key", "reason")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    tool: str
    idempotency_key: str
    reason: str
    def __init__(self, action_id: _Optional[str] = ..., tool: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class AuditEventRecorded(_message.Message):
    __slots__ = ("entry_id", "event_type")
    ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    entry_id: str
    event_type: str
    def __init__(self, entry_id: _Optional[str] = ..., event_type: _Optional[str] = ...) -> None: ...

class NotificationQueued(_message.Message):
    __slots__ = ("notification_id", "type")
    NOTIFICATION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    notification_id: str
    type: str
    def __init__(self, notification_id: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("latest_sequence", "position")
    LATEST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    latest_sequence: int
    position: int
    def __init__(self, latest_sequence: _Optional[int] = ..., position: _Optional[int] = ...) -> None: ...

class StreamGap(_message.Message):
    __slots__ = ("requested_from_sequence", "next_available_sequence", "stream")
    REQUESTED_FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    NEXT_AVAILABLE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    requested_from_sequence: int
    next_available_sequence: int
    stream: str
    def __init__(self, requested_from_sequence: _Optional[int] = ..., next_available_sequence: _Optional[int] = ..., stream: _Optional[str] = ...) -> None: ...
