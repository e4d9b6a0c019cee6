"""The typed methods: one operation each, with the mapping of its fields."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from google.protobuf.message import Message

from codeplane._gen import (
    approvals_pb2,
    auth_pb2,
    devices_pb2,
    jobs_pb2,
    schedules_pb2,
    system_pb2,
    threads_pb2,
    turns_pb2,
    work_pb2,
)
from codeplane._gen.search import search_pb2
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.field_mapping import (
    PACKAGE,
    Words,
    request_arguments,
    with_taken,
    words_without_prefix,
)
from codeplane.surfaces.services.messages import fill_message
from codeplane.surfaces.services.search_fields import PAGE_FIELDS, SEARCH_PACKAGE, SEARCH_WORDS

_PAGED = MappingProxyType({"page_size": "limit", "page_token": "cursor"})
_PAGES = MappingProxyType({"next_page_token": "pagination.next_cursor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedMethod:
    """A typed method and its operation."""

    package: str = PACKAGE
    service: str
    method: str
    operation: str
    request: type[Message]
    response: type[Message]
    # A request's field → the operation's argument, where they differ; ! before it negates it.
    sends: Mapping[str, str] = field(default_factory=dict)
    # A request's field → the operation's words for the values of its enum, where they differ.
    words: Mapping[str, Words] = field(default_factory=dict)
    # The answer's field → a path in the result, where they differ; `.` is the whole result.
    takes: Mapping[str, str] = field(default_factory=dict)
    # The same for each of the answer's items.
    items: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, message: Message) -> JsonObject:
        """Return the operation's arguments."""
        return request_arguments(message, self.sends, self.words)

    def answer(self, result_json: str) -> Message:
        """Return the result as the method's message."""
        result: JsonObject = json.loads(result_json) or {}
        values = with_taken(result, self.takes)
        if self.items and isinstance(listed := values.get("items"), list):
            values["items"] = [with_taken(item, self.items) if isinstance(item, dict) else item for item in listed]
        if self.items and isinstance(item := values.get("item"), dict):
            values["item"] = with_taken(item, self.items)
        return fill_message(self.response, values)


_APPROVAL = MappingProxyType({"rejection_reason": "reason"})
_WORK_STATES = words_without_prefix(work_pb2.WorkState.DESCRIPTOR, "WORK_")

METHODS = (
    TypedMethod(
        service="AuthService",
        method="CreatePairingCode",
        operation="pairing.create",
        request=auth_pb2.CreatePairingCodeRequest,
        response=auth_pb2.CreatePairingCodeResponse,
    ),
    TypedMethod(
        service="AuthService",
        method="BindPairingCode",
        operation="pairing.bind",
        request=auth_pb2.BindPairingCodeRequest,
        response=auth_pb2.BindPairingCodeResponse,
    ),
    TypedMethod(
        service="AuthService",
        method="RotateToken",
        operation="device.rotate",
        request=auth_pb2.RotateTokenRequest,
        response=auth_pb2.RotateTokenResponse,
    ),
    TypedMethod(
        service="DevicesService",
        method="ListDevices",
        operation="device.list",
        request=devices_pb2.ListDevicesRequest,
        response=devices_pb2.ListDevicesResponse,
        sends={"live_only": "!include_ended"},
    ),
    TypedMethod(
        service="DevicesService",
        method="RevokeDevice",
        operation="device.revoke",
        request=devices_pb2.RevokeDeviceRequest,
        response=devices_pb2.RevokeDeviceResponse,
    ),
    TypedMethod(
        service="ApprovalsService",
        method="ListApprovals",
        operation="approval.list",
        request=approvals_pb2.ListApprovalsRequest,
        response=approvals_pb2.ListApprovalsResponse,
        sends={**_PAGED, "task_id": "for_task_id"},
        takes=_PAGES,
        items=_APPROVAL,
    ),
    TypedMethod(
        service="ApprovalsService",
        method="GetApproval",
        operation="approval.show",
        request=approvals_pb2.GetApprovalRequest,
        response=approvals_pb2.GetApprovalResponse,
        takes={"item": "."},
        items=_APPROVAL,
    ),
    TypedMethod(
        service="ApprovalsService",
        method="ApproveAction",
        operation="approval.approve",
        request=approvals_pb2.ApproveActionRequest,
        response=approvals_pb2.ApproveActionResponse,
    ),
    TypedMethod(
        service="ApprovalsService",
        method="RejectAction",
        operation="approval.reject",
        request=approvals_pb2.RejectActionRequest,
        response=approvals_pb2.RejectActionResponse,
    ),
    TypedMethod(
        service="SystemService",
        method="GetPolicySummary",
        operation="policy.summary",
        request=system_pb2.GetPolicySummaryRequest,
        response=system_pb2.GetPolicySummaryResponse,
        takes={"summary": ".", "policy_version": "version"},
    ),
    TypedMethod(
        service="SystemService",
        method="ListAudit",
        operation="audit.list",
        request=system_pb2.ListAuditRequest,
        response=system_pb2.ListAuditResponse,
        sends=_PAGED,
        takes={**_PAGES, "items": "results"},
    ),
    TypedMethod(
        service="SystemService",
        method="ListNotifications",
        operation="notification.list",
        request=system_pb2.ListNotificationsRequest,
        response=system_pb2.ListNotificationsResponse,
        sends={**_PAGED, "unread_only": "unread", "open_only": "open"},
        takes={**_PAGES, "items": "results"},
    ),
    TypedMethod(
        service="SystemService",
        method="MarkNotificationsRead",
        operation="notification.read",
        request=system_pb2.MarkNotificationsReadRequest,
        response=system_pb2.MarkNotificationsReadResponse,
        sends={"notification_ids": "ids"},
        takes={"marked": "read"},
    ),
    TypedMethod(
        service="WorkService",
        method="StartWork",
        operation="work.start",
        request=work_pb2.StartWorkRequest,
        response=work_pb2.StartWorkResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="WorkService",
        method="ListWork",
        operation="work.list",
        request=work_pb2.ListWorkRequest,
        response=work_pb2.ListWorkResponse,
        sends=_PAGED,
        words={"state": _WORK_STATES},
        takes={**_PAGES, "items": "results"},
    ),
    TypedMethod(
        service="WorkService",
        method="GetWork",
        operation="work.show",
        request=work_pb2.GetWorkRequest,
        response=work_pb2.GetWorkResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="WorkService",
        method="CancelWork",
        operation="work.cancel",
        request=work_pb2.CancelWorkRequest,
        response=work_pb2.CancelWorkResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="WorkService",
        method="ResumeWork",
        operation="work.resume",
        request=work_pb2.ResumeWorkRequest,
        response=work_pb2.ResumeWorkResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="ThreadsService",
        method="CreateThread",
        operation="thread.create",
        request=threads_pb2.CreateThreadRequest,
        response=threads_pb2.CreateThreadResponse,
    ),
    TypedMethod(
        service="ThreadsService",
        method="GetThreadSnapshot",
        operation="thread.show",
        request=threads_pb2.GetThreadSnapshotRequest,
        response=threads_pb2.GetThreadSnapshotResponse,
        takes={"messages": "items"},
    ),
    TypedMethod(
        service="ThreadsService",
        method="ListThreadMessages",
        operation="thread.messages",
        request=threads_pb2.ListThreadMessagesRequest,
        response=threads_pb2.ListThreadMessagesResponse,
    ),
    TypedMethod(
        service="ThreadsService",
        method="ListThreads",
        operation="thread.list",
        request=threads_pb2.ListThreadsRequest,
        response=threads_pb2.ListThreadsResponse,
        sends=_PAGED,
        takes={**_PAGES, "items": "results"},
    ),
    TypedMethod(
        service="TurnsService",
        method="SendTurn",
        operation="turn.send",
        request=turns_pb2.SendTurnRequest,
        response=turns_pb2.SendTurnResponse,
    ),
    TypedMethod(
        service="TurnsService",
        method="CancelTurn",
        operation="turn.cancel",
        request=turns_pb2.CancelTurnRequest,
        response=turns_pb2.CancelTurnResponse,
    ),
    TypedMethod(
        service="JobsService",
        method="ListJobs",
        operation="job.list",
        request=jobs_pb2.ListJobsRequest,
        response=jobs_pb2.ListJobsResponse,
        sends=_PAGED,
        takes={**_PAGES, "items": "results"},
    ),
    TypedMethod(
        service="JobsService",
        method="CreateJob",
        operation="job.create",
        request=jobs_pb2.CreateJobRequest,
        response=jobs_pb2.CreateJobResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="JobsService",
        method="GetJob",
        operation="job.show",
        request=jobs_pb2.GetJobRequest,
        response=jobs_pb2.GetJobResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="JobsService",
        method="CancelJob",
        operation="job.cancel",
        request=jobs_pb2.CancelJobRequest,
        response=jobs_pb2.CancelJobResponse,
    ),
    TypedMethod(
        service="JobsService",
        method="ResumeJob",
        operation="job.resume",
        request=jobs_pb2.ResumeJobRequest,
        response=jobs_pb2.ResumeJobResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="JobsService",
        method="GetJobDiff",
        operation="job.diff",
        request=jobs_pb2.GetJobDiffRequest,
        response=jobs_pb2.GetJobDiffResponse,
    ),
    TypedMethod(
        service="JobsService",
        method="ApplyJob",
        operation="job.apply",
        request=jobs_pb2.ApplyJobRequest,
        response=jobs_pb2.ApplyJobResponse,
    ),
    TypedMethod(
        service="JobsService",
        method="DiscardJob",
        operation="job.discard",
        request=jobs_pb2.DiscardJobRequest,
        response=jobs_pb2.DiscardJobResponse,
    ),
    TypedMethod(
        service="SchedulesService",
        method="ListSchedules",
        operation="schedule.list",
        request=schedules_pb2.ListSchedulesRequest,
        response=schedules_pb2.ListSchedulesResponse,
        sends=_PAGED,
        takes={**_PAGES, "items": "results"},
    ),
    TypedMethod(
        service="SchedulesService",
        method="CreateSchedule",
        operation="schedule.create",
        request=schedules_pb2.CreateScheduleRequest,
        response=schedules_pb2.CreateScheduleResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="SchedulesService",
        method="UpdateSchedule",
        operation="schedule.update",
        request=schedules_pb2.UpdateScheduleRequest,
        response=schedules_pb2.UpdateScheduleResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="SchedulesService",
        method="RunScheduleNow",
        operation="schedule.run",
        request=schedules_pb2.RunScheduleNowRequest,
        response=schedules_pb2.RunScheduleNowResponse,
    ),
    TypedMethod(
        service="SchedulesService",
        method="GetSchedule",
        operation="schedule.show",
        request=schedules_pb2.GetScheduleRequest,
        response=schedules_pb2.GetScheduleResponse,
        takes={"item": "."},
    ),
    TypedMethod(
        service="SchedulesService",
        method="DeleteSchedule",
        operation="schedule.delete",
        request=schedules_pb2.DeleteScheduleRequest,
        response=schedules_pb2.DeleteScheduleResponse,
    ),
    TypedMethod(
        service="SchedulesService",
        method="ListNextRuns",
        operation="schedule.next",
        request=schedules_pb2.ListNextRunsRequest,
        response=schedules_pb2.ListNextRunsResponse,
    ),
    TypedMethod(
        package=SEARCH_PACKAGE,
        service="SearchService",
        method="Search",
        operation="search",
        request=search_pb2.SearchRequest,
        response=search_pb2.SearchResponse,
        sends=_PAGED,
        words=SEARCH_WORDS,
        takes=PAGE_FIELDS,
    ),
)
