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

class ScheduleTriggerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCHEDULE_TRIGGER_KIND_UNSPECIFIED: _ClassVar[ScheduleTriggerKind]
    SCHEDULE_TRIGGER_CRON: _ClassVar[ScheduleTriggerKind]
    SCHEDULE_TRIGGER_INTERVAL: _ClassVar[ScheduleTriggerKind]
    SCHEDULE_TRIGGER_AT: _ClassVar[ScheduleTriggerKind]
SCHEDULE_TRIGGER_KIND_UNSPECIFIED: ScheduleTriggerKind
SCHEDULE_TRIGGER_CRON: ScheduleTriggerKind
SCHEDULE_TRIGGER_INTERVAL: ScheduleTriggerKind
SCHEDULE_TRIGGER_AT: ScheduleTriggerKind

class Schedule(_message.Message):
    __slots__ = ("schedule_id", "name", "trigger_kind", "trigger_spec", "timezone", "enabled", "next_run_at", "last_run_at", "created_at", "updated_at", "goal", "thread_id", "budget", "max_wall_time_ms", "heartbeat", "missed_policy", "overlap_policy", "changes_files", "created_by", "stop_reason", "runs", "skipped", "missed", "next_runs", "history")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_KIND_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SPEC_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUN_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    MISSED_POLICY_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_POLICY_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FILES_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    NEXT_RUNS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    name: str
    trigger_kind: ScheduleTriggerKind
    trigger_spec: str
    timezone: str
    enabled: bool
    next_run_at: _timestamp_pb2.Timestamp
    last_run_at: _timestamp_pb2.Timestamp
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    goal: str
    thread_id: str
    budget: _events_pb2.TurnBudget
    max_wall_time_ms: int
    heartbeat: bool
    missed_policy: str
    overlap_policy: str
    changes_files: bool
    created_by: str
    stop_reason: str
    runs: int
    skipped: int
    missed: int
    next_runs: _containers.RepeatedCompositeFieldContainer[_timestamp_pb2.Timestamp]
    history: _containers.RepeatedCompositeFieldContainer[Wakeup]
    def __init__(self, schedule_id: _Optional[str] = ..., name: _Optional[str] = ..., trigger_kind: _Optional[_Union[ScheduleTriggerKind, str]] = ..., trigger_spec: _Optional[str] = ..., timezone: _Optional[str] = ..., enabled: _Optional[bool] = ..., next_run_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_run_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., goal: _Optional[str] = ..., thread_id: _Optional[str] = ..., budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., max_wall_time_ms: _Optional[int] = ..., heartbeat: _Optional[bool] = ..., missed_policy: _Optional[str] = ..., overlap_policy: _Optional[str] = ..., changes_files: _Optional[bool] = ..., created_by: _Optional[str] = ..., stop_reason: _Optional[str] = ..., runs: _Optional[int] = ..., skipped: _Optional[int] = ..., missed: _Optional[int] = ..., next_runs: _Optional[_Iterable[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]]] = ..., history: _Optional[_Iterable[_Union[Wakeup, _Mapping]]] = ...) -> None: ...

class Wakeup(_message.Message):
    __slots__ = ("wakeup_event_id", "scheduled_for", "kind", "state", "missed_before", "more_missed", "job_id", "turn_id", "reason", "created_at")
    WAKEUP_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_FOR_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    MISSED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    MORE_MISSED_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    wakeup_event_id: str
    scheduled_for: _timestamp_pb2.Timestamp
    kind: str
    state: str
    missed_before: int
    more_missed: bool
    job_id: str
    turn_id: str
    reason: str
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, wakeup_event_id: _Optional[str] = ..., scheduled_for: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[str] = ..., state: _Optional[str] = ..., missed_before: _Optional[int] = ..., more_missed: _Optional[bool] = ..., job_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., reason: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListSchedulesRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "enabled")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    enabled: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., enabled: _Optional[bool] = ...) -> None: ...

class ListSchedulesResponse(_message.Message):
    __slots__ = ("items", "next_page_token")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Schedule]
    next_page_token: str
    def __init__(self, items: _Optional[_Iterable[_Union[Schedule, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CreateScheduleRequest(_message.Message):
    __slots__ = ("name", "trigger_kind", "trigger_spec", "timezone", "goal", "thread_id", "budget", "max_wall_time_ms", "heartbeat", "missed_policy", "overlap_policy", "changes_files", "enabled", "idempotency_key")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_KIND_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SPEC_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    MISSED_POLICY_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_POLICY_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FILES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    name: str
    trigger_kind: ScheduleTriggerKind
    trigger_spec: str
    timezone: str
    goal: str
    thread_id: str
    budget: _events_pb2.TurnBudget
    max_wall_time_ms: int
    heartbeat: bool
    missed_policy: str
    overlap_policy: str
    changes_files: bool
    enabled: bool
    idempotency_key: str
    def __init__(self, name: _Optional[str] = ..., trigger_kind: _Optional[_Union[ScheduleTriggerKind, str]] = ..., trigger_spec: _Optional[str] = ..., timezone: _Optional[str] = ..., goal: _Optional[str] = ..., thread_id: _Optional[str] = ..., budget: _Optional[_Union[_events_pb2.TurnBudget, _Mapping]] = ..., max_wall_time_ms: _Optional[int] = ..., heartbeat: _Optional[bool] = ..., missed_policy: _Optional[str] = ..., overlap_policy: _Optional[str] = ..., changes_files: _Optional[bool] = ..., enabled: _Optional[bool] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class CreateScheduleResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Schedule
    def __init__(self, item: _Optional[_Union[Schedule, _Mapping]] = ...) -> None: ...

class UpdateScheduleRequest(_message.Message):
    __slots__ = ("schedule_id", "patch", "idempotency_key")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    PATCH_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    patch: _struct_pb2.Struct
    idempotency_key: str
    def __init__(self, schedule_id: _Optional[str] = ..., patch: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UpdateScheduleResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Schedule
    def __init__(self, item: _Optional[_Union[Schedule, _Mapping]] = ...) -> None: ...

class RunScheduleNowRequest(_message.Message):
    __slots__ = ("schedule_id", "idempotency_key")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    idempotency_key: str
    def __init__(self, schedule_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class RunScheduleNowResponse(_message.Message):
    __slots__ = ("schedule_id", "wakeup_event_id", "job_id", "turn_id")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    WAKEUP_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    wakeup_event_id: str
    job_id: str
    turn_id: str
    def __init__(self, schedule_id: _Optional[str] = ..., wakeup_event_id: _Optional[str] = ..., job_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class GetScheduleRequest(_message.Message):
    __slots__ = ("schedule_id", "history")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    history: int
    def __init__(self, schedule_id: _Optional[str] = ..., history: _Optional[int] = ...) -> None: ...

class GetScheduleResponse(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: Schedule
    def __init__(self, item: _Optional[_Union[Schedule, _Mapping]] = ...) -> None: ...

class DeleteScheduleRequest(_message.Message):
    __slots__ = ("schedule_id", "idempotency_key")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    idempotency_key: str
    def __init__(self, schedule_id: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class DeleteScheduleResponse(_message.Message):
    __slots__ = ("schedule_id",)
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    def __init__(self, schedule_id: _Optional[str] = ...) -> None: ...

class ListNextRunsRequest(_message.Message):
    __slots__ = ("schedule_id", "trigger_kind", "trigger_spec", "timezone", "count")
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_KIND_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_SPEC_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    schedule_id: str
    trigger_kind: ScheduleTriggerKind
    trigger_spec: str
    timezone: str
    count: int
    def __init__(self, schedule_id: _Optional[str] = ..., trigger_kind: _Optional[_Union[ScheduleTriggerKind, str]] = ..., trigger_spec: _Optional[str] = ..., timezone: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class ListNextRunsResponse(_message.Message):
    __slots__ = ("runs", "timezone")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    TIMEZONE_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[_timestamp_pb2.Timestamp]
    timezone: str
    def __init__(self, runs: _Optional[_Iterable[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]]] = ..., timezone: _Optional[str] = ...) -> None: ...
