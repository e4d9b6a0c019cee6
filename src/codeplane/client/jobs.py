"""The client's records of jobs, and the calls on them."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeplane.client.records import list_field, number_field, object_field, text_field
from codeplane.client.threads import TurnBudget
from codeplane.kernel.json import JsonObject

JOB_ENDS = frozenset({"JOB_COMPLETED", "JOB_FAILED", "JOB_CANCELLED"})
# Calls a method of the service of jobs with a JSON message.
CallMethod = Callable[[str, JsonObject], JsonObject]
_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job; `place` is its place in the queue, 0 once it has started."""

    job_id: str
    goal: str
    status: str
    place: int
    thread_id: str
    turn_id: str
    result: str
    last_error: str
    pending_action_ids: tuple[str, ...]
    tool_steps_used: int
    wall_time_used_ms: int
    changes_files: bool
    tree: str
    created_at: str
    updated_at: str
    from_sequence: int

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to it."""
        return self.status in JOB_ENDS


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDiff:
    """The changes of a job: files by kind of change, and `conflicts` that keep it from being applied."""

    base_commit: str
    files: dict[str, str]
    diff: str
    truncated: bool
    conflicts: tuple[str, ...]


class JobCalls:
    """Calls on jobs; raises the errors of the table."""

    def __init__(self, call: CallMethod) -> None:
        self._call = call

    def create(
        self,
        goal: str,
        *,
        budget: TurnBudget | None = None,
        max_wall_time_ms: int = 0,
        changes_files: bool = False,
        thread_id: str = "",
        callback_thread_id: str = "",
        toolset: str = "",
        model: str = "",
        idempotency_key: str = "",
    ) -> Job:
        """Queue a job; the same key again returns the same one. `client.watch_thread` shows its thread."""
        body: JsonObject = {
            "goal": goal,
            "maxWallTimeMs": str(max_wall_time_ms),
            "changesFiles": changes_files,
            "threadId": thread_id,
            "callbackThreadId": callback_thread_id,
            "toolset": toolset,
            "model": model,
            # Sent again after a lost connection, so that it is one job.
            "idempotencyKey": idempotency_key or str(uuid.uuid4()),
            **({"budget": budget.to_json()} if budget is not None else {}),
        }
        return job_from_json(object_field(self._call("CreateJob", body), "item"))

    def list(self, *, status: str = "", page_size: int = _PAGE) -> Iterator[Job]:
        """Yield the jobs, newest first; an empty status means all."""
        request: JsonObject = {"pageSize": page_size, **({"status": status} if status else {})}
        while True:
            message = self._call("ListJobs", request)
            yield from map(job_from_json, list_field(message, "items"))
            if not (following := message.get("nextPageToken")):
                return
            request = {**request, "pageToken": following}

    def get(self, job_id: str) -> Job:
        """Return a job as it is now."""
        return job_from_json(object_field(self._call("GetJob", {"jobId": job_id}), "item"))

    def cancel(self, job_id: str, *, reason: str = "") -> str:
        """End a job at once and return its status; what is done stays done."""
        return text_field(self._call("CancelJob", {"jobId": job_id, "reason": reason}), "status")

    def resume(self, job_id: str, *, budget: TurnBudget | None = None, max_wall_time_ms: int = 0) -> Job:
        """Let a job that used up its budget or time go on, by default with as much again."""
        body: JsonObject = {
            "jobId": job_id,
            "maxWallTimeMs": str(max_wall_time_ms),
            **({"budget": budget.to_json()} if budget is not None else {}),
        }
        return job_from_json(object_field(self._call("ResumeJob", body), "item"))

    def diff(self, job_id: str) -> JobDiff:
        """Return what a job changed in its own work tree."""
        message = self._call("GetJobDiff", {"jobId": job_id})
        conflicts = message.get("conflicts")
        return JobDiff(
            base_commit=text_field(message, "baseCommit"),
            files={text_field(file, "path"): text_field(file, "change") for file in list_field(message, "files")},
            diff=text_field(message, "diff"),
            truncated=message.get("truncated") is True,
            conflicts=tuple(map(str, conflicts)) if isinstance(conflicts, list) else (),
        )

    def apply(self, job_id: str) -> str:
        """Make a job's changes in the checkout and return the mutation, which `undo` takes back."""
        return text_field(self._call("ApplyJob", {"jobId": job_id}), "mutationId")

    def discard(self, job_id: str) -> None:
        """Remove a job's work tree with all that it changed."""
        self._call("DiscardJob", {"jobId": job_id})


def job_from_json(message: JsonObject) -> Job:
    """Return a job from its JSON message."""
    pending = message.get("pendingActionIds")
    return Job(
        job_id=text_field(message, "jobId"),
        goal=text_field(message, "goal"),
        status=text_field(message, "status"),
        place=number_field(message, "place"),
        thread_id=text_field(message, "threadId"),
        turn_id=text_field(message, "turnId"),
        result=text_field(message, "result"),
        last_error=text_field(message, "lastError"),
        pending_action_ids=tuple(map(str, pending)) if isinstance(pending, list) else (),
        tool_steps_used=number_field(message, "toolStepsUsed"),
        wall_time_used_ms=number_field(message, "wallTimeUsedMs"),
        changes_files=message.get("changesFiles") is True,
        tree=text_field(message, "tree"),
        created_at=text_field(message, "createdAt"),
        updated_at=text_field(message, "updatedAt"),
        from_sequence=number_field(message, "fromSequence"),
    )
