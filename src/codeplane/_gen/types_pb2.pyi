from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class EventSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_SOURCE_UNSPECIFIED: _ClassVar[EventSource]
    MODEL_UNTRUSTED: _ClassVar[EventSource]
    POLICY_ENGINE: _ClassVar[EventSource]
    TOOL_EXECUTOR: _ClassVar[EventSource]
    SYSTEM: _ClassVar[EventSource]

class ContentTrust(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTENT_TRUST_UNSPECIFIED: _ClassVar[ContentTrust]
    UNTRUSTED_MODEL: _ClassVar[ContentTrust]
    TRUSTED_VALIDATED: _ClassVar[ContentTrust]
    TRUSTED_SYSTEM: _ClassVar[ContentTrust]

class Identity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IDENTITY_UNSPECIFIED: _ClassVar[Identity]
    IDENTITY_USER: _ClassVar[Identity]
    IDENTITY_BOT: _ClassVar[Identity]
    IDENTITY_NONE: _ClassVar[Identity]

class RiskClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_CLASS_UNSPECIFIED: _ClassVar[RiskClass]
    READ: _ClassVar[RiskClass]
    WRITE: _ClassVar[RiskClass]
    EXFILTRATION: _ClassVar[RiskClass]
    DESTRUCTIVE: _ClassVar[RiskClass]
    HIGH: _ClassVar[RiskClass]

class PolicyDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POLICY_DECISION_UNSPECIFIED: _ClassVar[PolicyDecision]
    ALLOW_INTERNAL: _ClassVar[PolicyDecision]
    REQUIRE_APPROVAL: _ClassVar[PolicyDecision]
    BLOCKED: _ClassVar[PolicyDecision]

class ActionStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_STATUS_UNSPECIFIED: _ClassVar[ActionStatus]
    PENDING: _ClassVar[ActionStatus]
    APPROVED: _ClassVar[ActionStatus]
    REJECTED: _ClassVar[ActionStatus]
    EXECUTED: _ClassVar[ActionStatus]

class OutputStream(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTPUT_STREAM_UNSPECIFIED: _ClassVar[OutputStream]
    STDOUT: _ClassVar[OutputStream]
    STDERR: _ClassVar[OutputStream]

class NotificationType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTIFICATION_TYPE_UNSPECIFIED: _ClassVar[NotificationType]
    NOTIFICATION_PENDING_APPROVAL_CREATED: _ClassVar[NotificationType]
    NOTIFICATION_APPROVAL_EXPIRING_SOON: _ClassVar[NotificationType]
    NOTIFICATION_JOB_COMPLETED: _ClassVar[NotificationType]
    NOTIFICATION_JOB_FAILED: _ClassVar[NotificationType]
    NOTIFICATION_PROACTIVE_REACH_OUT: _ClassVar[NotificationType]
    NOTIFICATION_JOB_PAUSED: _ClassVar[NotificationType]

class QueueMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUEUE_MODE_UNSPECIFIED: _ClassVar[QueueMode]
    REJECT_IF_BUSY: _ClassVar[QueueMode]
    INTERRUPT_AFTER_CURRENT_TOOL: _ClassVar[QueueMode]
    QUEUE_AFTER_TURN: _ClassVar[QueueMode]

class ReasoningVisibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REASONING_VISIBILITY_UNSPECIFIED: _ClassVar[ReasoningVisibility]
    REASONING_OFF: _ClassVar[ReasoningVisibility]
    REASONING_SUMMARY: _ClassVar[ReasoningVisibility]
    REASONING_RAW: _ClassVar[ReasoningVisibility]

class TriggerType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRIGGER_TYPE_UNSPECIFIED: _ClassVar[TriggerType]
    CHAT_MESSAGE: _ClassVar[TriggerType]
    JOB_WAKEUP: _ClassVar[TriggerType]
    SCHEDULE_WAKEUP: _ClassVar[TriggerType]
    HEARTBEAT: _ClassVar[TriggerType]
    DELEGATED_CALLBACK: _ClassVar[TriggerType]
EVENT_SOURCE_UNSPECIFIED: EventSource
MODEL_UNTRUSTED: EventSource
POLICY_ENGINE: EventSource
TOOL_EXECUTOR: EventSource
SYSTEM: EventSource
CONTENT_TRUST_UNSPECIFIED: ContentTrust
UNTRUSTED_MODEL: ContentTrust
TRUSTED_VALIDATED: ContentTrust
TRUSTED_SYSTEM: ContentTrust
IDENTITY_UNSPECIFIED: Identity
IDENTITY_USER: Identity
IDENTITY_BOT: Identity
IDENTITY_NONE: Identity
RISK_CLASS_UNSPECIFIED: RiskClass
READ: RiskClass
WRITE: RiskClass
EXFILTRATION: RiskClass
DESTRUCTIVE: RiskClass
HIGH: RiskClass
POLICY_DECISION_UNSPECIFIED: PolicyDecision
ALLOW_INTERNAL: PolicyDecision
REQUIRE_APPROVAL: PolicyDecision
BLOCKED: PolicyDecision
ACTION_STATUS_UNSPECIFIED: ActionStatus
PENDING: ActionStatus
APPROVED: ActionStatus
REJECTED: ActionStatus
EXECUTED: ActionStatus
OUTPUT_STREAM_UNSPECIFIED: OutputStream
STDOUT: OutputStream
STDERR: OutputStream
NOTIFICATION_TYPE_UNSPECIFIED: NotificationType
NOTIFICATION_PENDING_APPROVAL_CREATED: NotificationType
NOTIFICATION_APPROVAL_EXPIRING_SOON: NotificationType
NOTIFICATION_JOB_COMPLETED: NotificationType
NOTIFICATION_JOB_FAILED: NotificationType
NOTIFICATION_PROACTIVE_REACH_OUT: NotificationType
NOTIFICATION_JOB_PAUSED: NotificationType
QUEUE_MODE_UNSPECIFIED: QueueMode
REJECT_IF_BUSY: QueueMode
INTERRUPT_AFTER_CURRENT_TOOL: QueueMode
QUEUE_AFTER_TURN: QueueMode
REASONING_VISIBILITY_UNSPECIFIED: ReasoningVisibility
REASONING_OFF: ReasoningVisibility
REASONING_SUMMARY: ReasoningVisibility
REASONING_RAW: ReasoningVisibility
TRIGGER_TYPE_UNSPECIFIED: TriggerType
CHAT_MESSAGE: TriggerType
JOB_WAKEUP: TriggerType
SCHEDULE_WAKEUP: TriggerType
HEARTBEAT: TriggerType
DELEGATED_CALLBACK: TriggerType
