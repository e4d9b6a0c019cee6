import datetime

from codeplane._gen import events_pb2 as _events_pb2
from codeplane._gen import types_pb2 as _types_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATUS_UNSPECIFIED: _ClassVar[JobStatus]
    JOB_RUNNING: _ClassVar[JobStatus]
    JOB_WAITING_APPROVAL: _ClassVar[JobStatus]
    JOB_COMPLETED: _ClassVar[JobStatus]
    JOB_FAILED: _ClassVar[JobStatus]
    JOB_PAUSED_BUDGET: _ClassVar[JobStatus]
    JOB_CANCELLED: _ClassVar[JobStatus]

class JobTreeState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_TREE_STATE_UNSPECIFIED: _ClassVar[JobTreeState]
    JOB_TREE_NONE: _ClassVar[JobTreeState]
    JOB_TREE_OPEN: _ClassVar[JobTreeState]
    JOB_TREE_APPLIED: _ClassVar[JobTreeState]
    JOB_TREE_DISCARDED: _ClassVar[JobTreeState]
JOB_STATUS_UNSPECIFIED: JobStatus
JOB_RUNNING: JobStatus
JOB_WAITING_APPROVAL: JobStatus
JOB_COMPLETED: JobStatus
JOB_FAILED: JobStatus
JOB_PAUSED_BUDGET: JobStatus
JOB_CANCELLED: JobStatus
JOB_TREE_STATE_UNSPECIFIED: JobTreeState
JOB_TREE_NONE: JobTreeState
JOB_TREE_OPEN: JobTreeState
JOB_TREE_APPLIED: JobTreeState
JOB_TREE_DISCARDED: JobTreeState

class Job(_message.Message):
    __slots__ = ("job_id", "goal", "status", "thread_id", "trigger_type", "trigger_source_id", "budget", "max_wall_time_ms", "last_error", "created_at", "updated_at", "place", "turn_id", "created_by", "on_behalf_of", "parent_id", "callback_thread_id", "scheduled_for", "changes_files", "tree", "tool_steps_used", "tool_tokens_used", "wall_time_used_ms", "pending_action_ids", "result", "from_sequence")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_TYPE_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_FOR_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FILES_FIELD_NUMBER: _ClassVar[int]
    TREE_FIELD_NUMBER: _ClassVar[int]
    TOOL_STEPS_USED_FIELD_NUMBER: _ClassVar[int]
    TOOL_TOKENS_USED_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_USED_MS_FIELD_NUMBER: _ClassVar[int]
    PENDING_ACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    goal: str
    status: JobStatus
    thread_id: str
    trigger_type: _types_pb2.TriggerType
    trigger_source_id: str
    budget: _events_pb2.TurnBudget
    max_wall_time_ms: int
    last_error: str
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    place: int
    turn_id: str
    created_by: str
    on_behalf_of: str
    parent_id: str
    callback_thread_id: str
    scheduled_for: _timestamp_pb2.Timestamp
    changes_files: bool
    tree: JobTreeState
    tool_steps_used: int
    tool_tokens_used: int
    wall_time_used_ms: int
    pending_action_ids: _containers.RepeatedScalarFieldContainer[str]
    result: str
    from_sequence: int
    def __init__(self, job_id: _Optional[str] = ..., goal: _Optional[str] = ..., status: _Optional[_Union[JobStatus, str]] = ..., thread_id: _Optional[str] = ..., trigger_type: _Optional[_Union[_types_pb2.TriggerType, str]] = ..., trigger_source_id: _Optional[str] = ..., budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., max_wall_time_ms: _Optional[int] = ..., last_error: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., place: _Optional[int] = ..., turn_id: _Optional[str] = ..., created_by: _Optional[str] = ..., on_behalf_of: _Optional[str] = ..., parent_id: _Optional[str] = ..., callback_thread_id: _Optional[str] = ..., scheduled_for: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., changes_files: _Optional[bool] = ..., tree: _Optional[_Union[JobTreeState, str]] = ..., tool_steps_used: _Optional[int] = ..., tool_tokens_used: _Optional[int] = ..., wall_time_used_ms: _Optional[int] = ..., pending_action_ids: _Optional[_Iterable[str]] = ..., result: _Optional[str] = ..., from_sequence: _Optional[int] = ...) -> None: ...

class ListJobsRequest(_message.Message):
    __slots__ = ("status", "parent_id", "trigger_source_id", "page_size", "page_token")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    status: JobStatus
    parent_id: str
    trigger_source_id: str
    page_size: int
    page_token: str
    def __init__(self, status: _Optional[_Union[JobStatus, str]] = ..., parent_id: _Optional[str] = ..., trigger_source_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListJobsResponse(_message.Message):
    __slots__ = ("items", "next_page_token")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Job]
    next_page_token: str
    def __init__(self, items: _Optional[_Iterable[_Union[Job, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CreateJobRequest(_message.Message):
    __slots__ = ("goal", "budget", "max_wall_time_ms", "idempotency_key", "thread_id", "changes_files", "callback_thread_id", "toolset", "model", "skills")
    GOAL_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FILES_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    TOOLSET_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    goal: str
    budget: _events_pb2.TurnBudget
    max_wall_time_ms: int
    idempotency_key: str
    thread_id: str
    changes_files: bool
    callback_thread_id: str
    toolset: str
    model: str
    skills: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, goal: _Optional[str] = ..., budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., max_wall_time_ms: _Optional[int] = ..., idempotency_key: _Optional[str] = ..., thread_id: _Optional[str] = ..., changes_files: _Optional[bool] = ..., callback_thread_id: _Optional[str] = ..., toolset: _Optional[str] = ..., model: _Optional[str] = ..., skills: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateJobResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Job
    def __init__(self, item: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class GetJobRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class GetJobResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Job
    def __init__(self, item: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class CancelJobRequest(_message.Message):
    __slots__ = ("job_id", "reason", "idempotency_key")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    reason: str
    idempotency_key: str
    def __init__(self, job_id: _Optional[str] = ..., reason: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class CancelJobResponse(_message.Message):
    __slots__ = ("job_id", "status")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    status: JobStatus
    def __init__(self, job_id: _Optional[str] = ..., status: _Optional[_Union[JobStatus, str]] = ...) -> None: ...

class ResumeJobRequest(_message.Message):
    __slots__ = ("job_id", "budget", "max_wall_time_ms", "idempotency_key")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    budget: _events_pb2.TurnBudget
    max_wall_time_ms: int
    idempotency_key: str
    def __init__(self, job_id: _Optional[str] = ..., budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., max_wall_time_ms: _Optional[int] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ResumeJobResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Job
    def __init__(self, item: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class GetJobDiffRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class GetJobDiffResponse(_message.Message):
    __slots__ = ("job_id", "base_commit", "files", "diff", "truncated", "conflicts")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_COMMIT_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    base_commit: str
    files: _containers.RepeatedCompositeFieldContainer[JobFileChange]
    diff: str
    truncated: bool
    conflicts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, job_id: _Optional[str] = ..., base_commit: _Optional[str] = ..., files: _Optional[_Iterable[_Union[JobFileChange, _Mapping]]] = ..., diff: _Optional[str] = ..., truncated: _Optional[bool] = ..., conflicts: _Optional[_Iterable[str]] = ...) -> None: ...

class JobFileChange(_message.Message):
    __slots__ = ("path", "change")
    PATH_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    path: str
    change: str
    def __init__(self, path: _Optional[str] = ..., change: _Optional[str] = ...) -> None: ...

class ApplyJobRequest(_message.Message):
    __slots__ = ("job_id", "idempotency_key")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    idempotency_key: str
    def __init__(self, job_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ApplyJobResponse(_message.Message):
    __slots__ = ("job_id", "mutation_id", "files")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    MUTATION_ID_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    mutation_id: str
    files: _containers.RepeatedCompositeFieldContainer[JobFileChange]
    def __init__(self, job_id: _Optional[str] = ..., mutation_id: _Optional[str] = ..., files: _Optional[_Iterable[_Union[JobFileChange, _Mapping]]] = ...) -> None: ...

class DiscardJobRequest(_message.Message):
    __slots__ = ("job_id", "idempotency_key")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    idempotency_key: str
    def __init__(self, job_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DiscardJobResponse(_message.Message):
    __slots__ = ("job_id", "tree")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TREE_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    tree: JobTreeState
    def __init__(self, job_id: _Optional[str] = ..., tree: _Optional[_Union[JobTreeState, str]] = ...) -> None: ...
