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
    __slots__ = ("event_id", "thread_id", "job_id", "turn_id", "sequence", "occurred_at", "source", "content_trust", "stream", "position", "type", "schema", "actor", "session_id", "call_id", "task_id", "data", "tool_execution_started", "tool_execution_output_delta", "tool_execution_finished", "policy_decision_made", "proposed_action_created", "proposed_action_status_changed", "idempotency_conflict", "audit_event_recorded", "notification_queued", "artifact_created", "skill_proposal_created", "self_improvement_proposal_created", "heartbeat", "stream_gap")
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
    ARTIFACT_CREATED_FIELD_NUMBER: _ClassVar[int]
    SKILL_PROPOSAL_CREATED_FIELD_NUMBER: _ClassVar[int]
    SELF_IMPROVEMENT_PROPOSAL_CREATED_FIELD_NUMBER: _ClassVar[int]
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
    artifact_created: ArtifactCreated
    skill_proposal_created: SkillProposalCreated
    self_improvement_proposal_created: SelfImprovementProposalCreated
    heartbeat: Heartbeat
    stream_gap: StreamGap
    def __init__(self, event_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., job_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., sequence: _Optional[int] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., source: _Optional[_Union[_types_pb2.EventSource, str]] = ..., content_trust: _Optional[_Union[_types_pb2.ContentTrust, str]] = ..., stream: _Optional[str] = ..., position: _Optional[int] = ..., type: _Optional[str] = ..., schema: _Optional[int] = ..., actor: _Optional[str] = ..., session_id: _Optional[str] = ..., call_id: _Optional[str] = ..., task_id: _Optional[str] = ..., data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., tool_execution_started: _Optional[_Union[ToolExecutionStarted, _Mapping]] = ..., tool_execution_output_delta: _Optional[_Union[ToolExecutionOutputDelta, _Mapping]] = ..., tool_execution_finished: _Optional[_Union[ToolExecutionFinished, _Mapping]] = ..., policy_decision_made: _Optional[_Union[PolicyDecisionMade, _Mapping]] = ..., proposed_action_created: _Optional[_Union[ProposedActionCreated, _Mapping]] = ..., proposed_action_status_changed: _Optional[_Union[ProposedActionStatusChanged, _Mapping]] = ..., idempotency_conflict: _Optional[_Union[IdempotencyConflict, _Mapping]] = ..., audit_event_recorded: _Optional[_Union[AuditEventRecorded, _Mapping]] = ..., notification_queued: _Optional[_Union[NotificationQueued, _Mapping]] = ..., artifact_created: _Optional[_Union[ArtifactCreated, _Mapping]] = ..., skill_proposal_created: _Optional[_Union[SkillProposalCreated, _Mapping]] = ..., self_improvement_proposal_created: _Optional[_Union[SelfImprovementProposalCreated, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., stream_gap: _Optional[_Union[StreamGap, _Mapping]] = ...) -> None: ...

class WatchThreadRequest(_message.Message):
    __slots__ = ("thread_id", "from_sequence", "heartbeat_ms")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    from_sequence: int
    heartbeat_ms: int
    def __init__(self, thread_id: _Optional[str] = ..., from_sequence: _Optional[int] = ..., heartbeat_ms: _Optional[int] = ...) -> None: ...

class ThreadEvent(_message.Message):
    __slots__ = ("event_id", "thread_id", "job_id", "turn_id", "sequence", "occurred_at", "source", "content_trust", "type", "actor", "data", "turn_started", "turn_budget_applied", "model_output_repair_attempted", "turn_completed", "turn_failed", "turn_paused", "turn_resumed", "assistant_thinking_delta", "assistant_text_delta", "assistant_message_committed", "tool_call_planned", "tool_execution_started", "tool_execution_output_delta", "tool_execution_finished", "policy_decision_made", "proposed_action_created", "proposed_action_status_changed", "idempotency_conflict", "job_status_changed", "schedule_triggered", "delegated_callback_received", "audit_event_recorded", "notification_queued", "artifact_created", "memory_checkpoint_saved", "skill_proposal_created", "self_improvement_proposal_created", "heartbeat", "stream_gap")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TRUST_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    TURN_STARTED_FIELD_NUMBER: _ClassVar[int]
    TURN_BUDGET_APPLIED_FIELD_NUMBER: _ClassVar[int]
    MODEL_OUTPUT_REPAIR_ATTEMPTED_FIELD_NUMBER: _ClassVar[int]
    TURN_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    TURN_FAILED_FIELD_NUMBER: _ClassVar[int]
    TURN_PAUSED_FIELD_NUMBER: _ClassVar[int]
    TURN_RESUMED_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_THINKING_DELTA_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_MESSAGE_COMMITTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_PLANNED_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_STARTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_OUTPUT_DELTA_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_FINISHED_FIELD_NUMBER: _ClassVar[int]
    POLICY_DECISION_MADE_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_ACTION_CREATED_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_ACTION_STATUS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_CONFLICT_FIELD_NUMBER: _ClassVar[int]
    JOB_STATUS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_TRIGGERED_FIELD_NUMBER: _ClassVar[int]
    DELEGATED_CALLBACK_RECEIVED_FIELD_NUMBER: _ClassVar[int]
    AUDIT_EVENT_RECORDED_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_QUEUED_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_CREATED_FIELD_NUMBER: _ClassVar[int]
    MEMORY_CHECKPOINT_SAVED_FIELD_NUMBER: _ClassVar[int]
    SKILL_PROPOSAL_CREATED_FIELD_NUMBER: _ClassVar[int]
    SELF_IMPROVEMENT_PROPOSAL_CREATED_FIELD_NUMBER: _ClassVar[int]
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
    type: str
    actor: str
    data: _struct_pb2.Struct
    turn_started: TurnStarted
    turn_budget_applied: TurnBudgetApplied
    model_output_repair_attempted: ModelOutputRepairAttempted
    turn_completed: TurnCompleted
    turn_failed: TurnFailed
    turn_paused: TurnPaused
    turn_resumed: TurnResumed
    assistant_thinking_delta: AssistantThinkingDelta
    assistant_text_delta: AssistantTextDelta
    assistant_message_committed: AssistantMessageCommitted
    tool_call_planned: ToolCallPlanned
    tool_execution_started: ToolExecutionStarted
    tool_execution_output_delta: ToolExecutionOutputDelta
    tool_execution_finished: ToolExecutionFinished
    policy_decision_made: PolicyDecisionMade
    proposed_action_created: ProposedActionCreated
    proposed_action_status_changed: ProposedActionStatusChanged
    idempotency_conflict: IdempotencyConflict
    job_status_changed: JobStatusChanged
    schedule_triggered: ScheduleTriggered
    delegated_callback_received: DelegatedCallbackReceived
    audit_event_recorded: AuditEventRecorded
    notification_queued: NotificationQueued
    artifact_created: ArtifactCreated
    memory_checkpoint_saved: MemoryCheckpointSaved
    skill_proposal_created: SkillProposalCreated
    self_improvement_proposal_created: SelfImprovementProposalCreated
    heartbeat: Heartbeat
    stream_gap: StreamGap
    def __init__(self, event_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., job_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., sequence: _Optional[int] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., source: _Optional[_Union[_types_pb2.EventSource, str]] = ..., content_trust: _Optional[_Union[_types_pb2.ContentTrust, str]] = ..., type: _Optional[str] = ..., actor: _Optional[str] = ..., data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., turn_started: _Optional[_Union[TurnStarted, _Mapping]] = ..., turn_budget_applied: _Optional[_Union[TurnBudgetApplied, _Mapping]] = ..., model_output_repair_attempted: _Optional[_Union[ModelOutputRepairAttempted, _Mapping]] = ..., turn_completed: _Optional[_Union[TurnCompleted, _Mapping]] = ..., turn_failed: _Optional[_Union[TurnFailed, _Mapping]] = ..., turn_paused: _Optional[_Union[TurnPaused, _Mapping]] = ..., turn_resumed: _Optional[_Union[TurnResumed, _Mapping]] = ..., assistant_thinking_delta: _Optional[_Union[AssistantThinkingDelta, _Mapping]] = ..., assistant_text_delta: _Optional[_Union[AssistantTextDelta, _Mapping]] = ..., assistant_message_committed: _Optional[_Union[AssistantMessageCommitted, _Mapping]] = ..., tool_call_planned: _Optional[_Union[ToolCallPlanned, _Mapping]] = ..., tool_execution_started: _Optional[_Union[ToolExecutionStarted, _Mapping]] = ..., tool_execution_output_delta: _Optional[_Union[ToolExecutionOutputDelta, _Mapping]] = ..., tool_execution_finished: _Optional[_Union[ToolExecutionFinished, _Mapping]] = ..., policy_decision_made: _Optional[_Union[PolicyDecisionMade, _Mapping]] = ..., proposed_action_created: _Optional[_Union[ProposedActionCreated, _Mapping]] = ..., proposed_action_status_changed: _Optional[_Union[ProposedActionStatusChanged, _Mapping]] = ..., idempotency_conflict: _Optional[_Union[IdempotencyConflict, _Mapping]] = ..., job_status_changed: _Optional[_Union[JobStatusChanged, _Mapping]] = ..., schedule_triggered: _Optional[_Union[ScheduleTriggered, _Mapping]] = ..., delegated_callback_received: _Optional[_Union[DelegatedCallbackReceived, _Mapping]] = ..., audit_event_recorded: _Optional[_Union[AuditEventRecorded, _Mapping]] = ..., notification_queued: _Optional[_Union[NotificationQueued, _Mapping]] = ..., artifact_created: _Optional[_Union[ArtifactCreated, _Mapping]] = ..., memory_checkpoint_saved: _Optional[_Union[MemoryCheckpointSaved, _Mapping]] = ..., skill_proposal_created: _Optional[_Union[SkillProposalCreated, _Mapping]] = ..., self_improvement_proposal_created: _Optional[_Union[SelfImprovementProposalCreated, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., stream_gap: _Optional[_Union[StreamGap, _Mapping]] = ...) -> None: ...

class TurnBudget(_message.Message):
    __slots__ = ("max_tool_steps", "max_tool_tokens", "max_context_messages")
    MAX_TOOL_STEPS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    max_tool_steps: int
    max_tool_tokens: int
    max_context_messages: int
    def __init__(self, max_tool_steps: _Optional[int] = ..., max_tool_tokens: _Optional[int] = ..., max_context_messages: _Optional[int] = ...) -> None: ...

class TurnStarted(_message.Message):
    __slots__ = ("user_message_id", "trigger_type")
    USER_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_TYPE_FIELD_NUMBER: _ClassVar[int]
    user_message_id: str
    trigger_type: _types_pb2.TriggerType
    def __init__(self, user_message_id: _Optional[str] = ..., trigger_type: _Optional[_Union[_types_pb2.TriggerType, str]] = ...) -> None: ...

class TurnBudgetApplied(_message.Message):
    __slots__ = ("effective_budget", "tokenizer")
    EFFECTIVE_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    effective_budget: TurnBudget
    tokenizer: str
    def __init__(self, effective_budget: _Optional[_Union[TurnBudget, _Mapping]] = ..., tokenizer: _Optional[str] = ...) -> None: ...

class ModelOutputRepairAttempted(_message.Message):
    __slots__ = ("repair_attempt", "fallback_model_used")
    REPAIR_ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_MODEL_USED_FIELD_NUMBER: _ClassVar[int]
    repair_attempt: int
    fallback_model_used: bool
    def __init__(self, repair_attempt: _Optional[int] = ..., fallback_model_used: _Optional[bool] = ...) -> None: ...

class TurnCompleted(_message.Message):
    __slots__ = ("assistant_message_id",)
    ASSISTANT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    assistant_message_id: str
    def __init__(self, assistant_message_id: _Optional[str] = ...) -> None: ...

class TurnFailed(_message.Message):
    __slots__ = ("code", "message", "retryable")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    retryable: bool
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., retryable: _Optional[bool] = ...) -> None: ...

class TurnPaused(_message.Message):
    __slots__ = ("pending_action_count", "steps_used", "steps_remaining")
    PENDING_ACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    STEPS_USED_FIELD_NUMBER: _ClassVar[int]
    STEPS_REMAINING_FIELD_NUMBER: _ClassVar[int]
    pending_action_count: int
    steps_used: int
    steps_remaining: int
    def __init__(self, pending_action_count: _Optional[int] = ..., steps_used: _Optional[int] = ..., steps_remaining: _Optional[int] = ...) -> None: ...

class TurnResumed(_message.Message):
    __slots__ = ("resumed_reason", "steps_remaining")
    RESUMED_REASON_FIELD_NUMBER: _ClassVar[int]
    STEPS_REMAINING_FIELD_NUMBER: _ClassVar[int]
    resumed_reason: str
    steps_remaining: int
    def __init__(self, resumed_reason: _Optional[str] = ..., steps_remaining: _Optional[int] = ...) -> None: ...

class AssistantThinkingDelta(_message.Message):
    __slots__ = ("segment_id", "delta", "redacted", "visibility")
    SEGMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    segment_id: str
    delta: str
    redacted: bool
    visibility: _types_pb2.ReasoningVisibility
    def __init__(self, segment_id: _Optional[str] = ..., delta: _Optional[str] = ..., redacted: _Optional[bool] = ..., visibility: _Optional[_Union[_types_pb2.ReasoningVisibility, str]] = ...) -> None: ...

class AssistantTextDelta(_message.Message):
    __slots__ = ("segment_id", "delta")
    SEGMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    segment_id: str
    delta: str
    def __init__(self, segment_id: _Optional[str] = ..., delta: _Optional[str] = ...) -> None: ...

class AssistantMessageCommitted(_message.Message):
    __slots__ = ("message_id", "full_text", "metadata")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    FULL_TEXT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    full_text: str
    metadata: _struct_pb2.Struct
    def __init__(self, message_id: _Optional[str] = ..., full_text: _Optional[str] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ToolCallPlanned(_message.Message):
    __slots__ = ("tool_call_id", "tool_name", "args", "risk_class", "identity")
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    RISK_CLASS_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    tool_call_id: str
    tool_name: str
    args: _struct_pb2.Struct
    risk_class: _types_pb2.RiskClass
    identity: _types_pb2.Identity
    def __init__(self, tool_call_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., risk_class: _Optional[_Union[_types_pb2.RiskClass, str]] = ..., identity: _Optional[_Union[_types_pb2.Identity, str]] = ...) -> None: ...

class JobStatusChanged(_message.Message):
    __slots__ = ("job_id", "status")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    status: str
    def __init__(self, job_id: _Optional[str] = ..., status: _Optional[str] = ...) -> None: ...

class ScheduleTriggered(_message.Message):
    __slots__ = ("schedule_id", "scheduled_for_utc")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_FOR_UTC_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    scheduled_for_utc: _timestamp_pb2.Timestamp
    def __init__(self, schedule_id: _Optional[str] = ..., scheduled_for_utc: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DelegatedCallbackReceived(_message.Message):
    __slots__ = ("callback_id",)
    CALLBACK_ID_FIELD_NUMBER: _ClassVar[int]
    callback_id: str
    def __init__(self, callback_id: _Optional[str] = ...) -> None: ...

class ArtifactCreated(_message.Message):
    __slots__ = ("artifact_id", "thread_id", "media_type")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    thread_id: str
    media_type: str
    def __init__(self, artifact_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., media_type: _Optional[str] = ...) -> None: ...

class MemoryCheckpointSaved(_message.Message):
    __slots__ = ("checkpoint_id", "scope")
    CHECKPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    checkpoint_id: str
    scope: str
    def __init__(self, checkpoint_id: _Optional[str] = ..., scope: _Optional[str] = ...) -> None: ...

class SkillProposalCreated(_message.Message):
    __slots__ = ("proposal_id", "title", "requires_owner_approval")
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_OWNER_APPROVAL_FIELD_NUMBER: _ClassVar[int]
    proposal_id: str
    title: str
    requires_owner_approval: bool
    def __init__(self, proposal_id: _Optional[str] = ..., title: _Optional[str] = ..., requires_owner_approval: _Optional[bool] = ...) -> None: ...

class SelfImprovementProposalCreated(_message.Message):
    __slots__ = ("proposal_id", "kind", "requires_owner_approval")
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_OWNER_APPROVAL_FIELD_NUMBER: _ClassVar[int]
    proposal_id: str
    kind: str
    requires_owner_approval: bool
    def __init__(self, proposal_id: _Optional[str] = ..., kind: _Optional[str] = ..., requires_owner_approval: _Optional[bool] = ...) -> None: ...

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
