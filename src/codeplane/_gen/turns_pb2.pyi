from codeplane._gen import events_pb2 as _events_pb2
from codeplane._gen import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StartTurnRequest(_message.Message):
    __slots__ = ("thread_id", "client_message_id", "user_text", "queue_mode", "reasoning_visibility", "trigger_type", "trigger_source_id", "requested_budget", "resume_from_sequence", "heartbeat_ms", "skills")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_TEXT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_MODE_FIELD_NUMBER: _ClassVar[int]
    REASONING_VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BUDGET_FIELD_NUMBER: _ClassVar[int]
    RESUME_FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    client_message_id: str
    user_text: str
    queue_mode: _types_pb2.QueueMode
    reasoning_visibility: _types_pb2.ReasoningVisibility
    trigger_type: _types_pb2.TriggerType
    trigger_source_id: str
    requested_budget: _events_pb2.TurnBudget
    resume_from_sequence: int
    heartbeat_ms: int
    skills: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, thread_id: _Optional[str] = ..., client_message_id: _Optional[str] = ..., user_text: _Optional[str] = ..., queue_mode: _Optional[_Union[_types_pb2.QueueMode, str]] = ..., reasoning_visibility: _Optional[_Union[_types_pb2.ReasoningVisibility, str]] = ..., trigger_type: _Optional[_Union[_types_pb2.TriggerType, str]] = ..., trigger_source_id: _Optional[str] = ..., requested_budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., resume_from_sequence: _Optional[int] = ..., heartbeat_ms: _Optional[int] = ..., skills: _Optional[_Iterable[str]] = ...) -> None: ...

class SendTurnRequest(_message.Message):
    __slots__ = ("thread_id", "client_message_id", "user_text", "queue_mode", "reasoning_visibility", "trigger_type", "trigger_source_id", "requested_budget", "wait_sec", "skills")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_TEXT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_MODE_FIELD_NUMBER: _ClassVar[int]
    REASONING_VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BUDGET_FIELD_NUMBER: _ClassVar[int]
    WAIT_SEC_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    client_message_id: str
    user_text: str
    queue_mode: _types_pb2.QueueMode
    reasoning_visibility: _types_pb2.ReasoningVisibility
    trigger_type: _types_pb2.TriggerType
    trigger_source_id: str
    requested_budget: _events_pb2.TurnBudget
    wait_sec: float
    skills: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, thread_id: _Optional[str] = ..., client_message_id: _Optional[str] = ..., user_text: _Optional[str] = ..., queue_mode: _Optional[_Union[_types_pb2.QueueMode, str]] = ..., reasoning_visibility: _Optional[_Union[_types_pb2.ReasoningVisibility, str]] = ..., trigger_type: _Optional[_Union[_types_pb2.TriggerType, str]] = ..., trigger_source_id: _Optional[str] = ..., requested_budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., wait_sec: _Optional[float] = ..., skills: _Optional[_Iterable[str]] = ...) -> None: ...

class SendTurnResponse(_message.Message):
    __slots__ = ("turn_id", "user_message_id", "status", "assistant_message", "pending_action_ids", "last_sequence", "assistant_message_id", "code", "message")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PENDING_ACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    user_message_id: str
    status: str
    assistant_message: str
    pending_action_ids: _containers.RepeatedScalarFieldContainer[str]
    last_sequence: int
    assistant_message_id: str
    code: str
    message: str
    def __init__(self, turn_id: _Optional[str] = ..., user_message_id: _Optional[str] = ..., status: _Optional[str] = ..., assistant_message: _Optional[str] = ..., pending_action_ids: _Optional[_Iterable[str]] = ..., last_sequence: _Optional[int] = ..., assistant_message_id: _Optional[str] = ..., code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class CancelTurnRequest(_message.Message):
    __slots__ = ("turn_id", "reason")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    reason: str
    def __init__(self, turn_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelTurnResponse(_message.Message):
    __slots__ = ("turn_id", "status", "code", "last_sequence")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    status: str
    code: str
    last_sequence: int
    def __init__(self, turn_id: _Optional[str] = ..., status: _Optional[str] = ..., code: _Optional[str] = ..., last_sequence: _Optional[int] = ...) -> None: ...
