"""Jobs over every protocol, as the streaming protocol names them; without a model the index answers."""

import pytest

from codeplane._gen.events_pb2 import ThreadEvent, TurnBudget, WatchThreadRequest
from codeplane._gen.jobs_pb2 import (
    JOB_CANCELLED,
    JOB_COMPLETED,
    JOB_RUNNING,
    JOB_TREE_NONE,
    CancelJobRequest,
    CancelJobResponse,
    CreateJobRequest,
    CreateJobResponse,
    GetJobRequest,
    GetJobResponse,
    ListJobsRequest,
    ListJobsResponse,
    ResumeJobRequest,
    ResumeJobResponse,
)
from codeplane._gen.types_pb2 import JOB_WAKEUP
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.grpc.channel import call
from tests.surfaces.services.wires import WIRES, opened

pytestmark = requirement("JOB-05")

WATCH = "EventsService/WatchThread"


@pytest.mark.parametrize("wire", WIRES)
def test_a_job_is_created_watched_in_its_thread_and_read(connect_server: Server, wire: str) -> None:
    request = CreateJobRequest(
        goal="greet\nfriendly",
        budget=TurnBudget(max_tool_steps=3),
        max_wall_time_ms=60_000,
        idempotency_key=f"k-{wire}",
    )
    job = call(connect_server, "JobsService/CreateJob", request, CreateJobResponse).item
    assert job.job_id.startswith("job_") and (job.goal, job.trigger_type) == ("greet\nfriendly", JOB_WAKEUP)
    assert (job.budget.max_tool_steps, job.max_wall_time_ms, job.status) == (3, 60_000, JOB_RUNNING)
    assert job.tree == JOB_TREE_NONE and job.created_at.seconds > 0
    again = call(connect_server, "JobsService/CreateJob", request, CreateJobResponse).item
    assert again.job_id == job.job_id
    watch = WatchThreadRequest(thread_id=job.thread_id, from_sequence=job.from_sequence)
    with opened(wire, connect_server, WATCH, watch, ThreadEvent) as stream:
        statuses = list[str]()
        while not statuses or statuses[-1] == "JOB_RUNNING":
            event = stream.next(lambda message: message.HasField("job_status_changed"))
            assert (event.job_status_changed.job_id, event.job_id) == (job.job_id, job.job_id)
            statuses.append(event.job_status_changed.status)
        stream.cancel()
    assert statuses == ["JOB_RUNNING", "JOB_COMPLETED"]
    done = call(connect_server, "JobsService/GetJob", GetJobRequest(job_id=job.job_id), GetJobResponse).item
    assert done.status == JOB_COMPLETED and "No model is configured" in done.result and done.last_error == ""


def test_jobs_are_listed_cancelled_and_refused(connect_server: Server) -> None:
    created = [
        call(connect_server, "JobsService/CreateJob", CreateJobRequest(goal=f"job {number}"), CreateJobResponse).item
        for number in range(3)
    ]
    page = call(connect_server, "JobsService/ListJobs", ListJobsRequest(page_size=2), ListJobsResponse)
    assert [job.job_id for job in page.items] == [created[2].job_id, created[1].job_id] and page.next_page_token
    following = ListJobsRequest(page_size=2, page_token=page.next_page_token)
    more = call(connect_server, "JobsService/ListJobs", following, ListJobsResponse)
    assert more.items[0].job_id == created[0].job_id
    ended = call(connect_server, "JobsService/CancelJob", CancelJobRequest(job_id=created[0].job_id), CancelJobResponse)
    # It may have been done already, which a cancel does not change.
    assert ended.job_id == created[0].job_id and ended.status in (JOB_CANCELLED, JOB_COMPLETED)
    every = call(connect_server, "JobsService/ListJobs", ListJobsRequest(), ListJobsResponse)
    assert {job.job_id for job in created} <= {job.job_id for job in every.items}
    with pytest.raises(Exception, match=r"is (COMPLETED|CANCELLED)"):
        call(connect_server, "JobsService/ResumeJob", ResumeJobRequest(job_id=ended.job_id), ResumeJobResponse)
    with pytest.raises(Exception, match="no job is named"):
        call(connect_server, "JobsService/GetJob", GetJobRequest(job_id="job_none"), GetJobResponse)
