"""Schedules over every protocol, as the streaming protocol names them, and through the Python client."""

from datetime import UTC, datetime
from typing import TypeVar

import pytest
from google.protobuf.message import Message

from codeplane._gen import schedules_pb2 as pb
from codeplane.client import Client
from codeplane.client.async_client import AsyncClient
from codeplane.kernel.errors import InvalidArgument, ScheduleNotFound
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import post
from tests.surfaces.grpc.channel import call
from tests.surfaces.services.wires import WIRES, opened

pytestmark = requirement("SCHED-09")

M = TypeVar("M", bound=Message)
every_wire = pytest.mark.parametrize("wire", [wire for wire in WIRES if wire in ("grpc", "grpc-web")] + ["connect"])


def ask(server: Server, wire: str, method: str, request: Message, answer: type[M]) -> M:
    """One call over a protocol."""
    if wire == "grpc":
        return call(server, f"SchedulesService/{method}", request, answer)
    if wire == "connect":
        done = post(server, f"SchedulesService/{method}", request.SerializeToString(), kind="application/proto")
        assert done.status == 200, done.body
        return answer.FromString(done.body)
    with opened(wire, server, f"SchedulesService/{method}", request, answer) as stream:
        (message,) = [*stream.messages]
    assert stream.error == ""
    return message


@every_wire
def test_a_schedule_lives_over_every_protocol(connect_server: Server, wire: str) -> None:
    request = pb.CreateScheduleRequest(
        name=f"over {wire}",
        trigger_kind=pb.SCHEDULE_TRIGGER_CRON,
        trigger_spec="0 9 * * *",
        timezone="Europe/Berlin",
        goal="look around",
        missed_policy="skip",
    )
    request.budget.max_tool_steps = 3
    made = ask(connect_server, wire, "CreateSchedule", request, pb.CreateScheduleResponse).item
    assert (made.name, made.trigger_kind, made.trigger_spec) == (request.name, request.trigger_kind, "0 9 * * *")
    assert (made.timezone, made.goal, made.enabled) == ("Europe/Berlin", "look around", True)
    assert (made.budget.max_tool_steps, made.missed_policy, made.overlap_policy) == (3, "skip", "skip")
    assert made.next_run_at.ToDatetime(UTC) > datetime.now(UTC) and len(made.next_runs) == 5
    assert made.HasField("created_at") and made.thread_id

    listed = ask(
        connect_server, wire, "ListSchedules", pb.ListSchedulesRequest(page_size=100), pb.ListSchedulesResponse
    )
    assert made.schedule_id in [item.schedule_id for item in listed.items]
    runs = ask(
        connect_server,
        wire,
        "ListNextRuns",
        pb.ListNextRunsRequest(trigger_kind=pb.SCHEDULE_TRIGGER_INTERVAL, trigger_spec="PT5M", count=3),
        pb.ListNextRunsResponse,
    )
    assert len(runs.runs) == 3

    run = ask(
        connect_server,
        wire,
        "RunScheduleNow",
        pb.RunScheduleNowRequest(schedule_id=made.schedule_id),
        pb.RunScheduleNowResponse,
    )
    assert run.schedule_id == made.schedule_id and run.wakeup_event_id and run.job_id and run.turn_id
    shown = ask(
        connect_server, wire, "GetSchedule", pb.GetScheduleRequest(schedule_id=made.schedule_id), pb.GetScheduleResponse
    ).item
    assert [(one.job_id, one.kind, one.state) for one in shown.history] == [(run.job_id, "manual", "STARTED")]

    patch = pb.UpdateScheduleRequest(schedule_id=made.schedule_id)
    patch.patch.update({"enabled": False, "trigger_kind": "SCHEDULE_TRIGGER_INTERVAL", "trigger_spec": "PT2H"})
    changed = ask(connect_server, wire, "UpdateSchedule", patch, pb.UpdateScheduleResponse).item
    assert (changed.enabled, changed.trigger_kind) == (False, pb.SCHEDULE_TRIGGER_INTERVAL)
    assert not changed.HasField("next_run_at")

    gone = pb.DeleteScheduleRequest(schedule_id=made.schedule_id)
    assert ask(connect_server, wire, "DeleteSchedule", gone, pb.DeleteScheduleResponse).schedule_id == made.schedule_id


async def test_the_asynchronous_client_has_them_too(connect_server: Server) -> None:
    client = AsyncClient(connect_server.host, connect_server.port, token=connect_server.token)
    made = await client.create_schedule("soon", "look", kind="cron", spec="0 0 1 1 *")
    run = await client.run_schedule(made.schedule_id)
    assert [one.job_id for one in (await client.schedule(made.schedule_id)).history] == [run.job_id]
    assert made.schedule_id in [one.schedule_id async for one in client.schedules()]
    await client.delete_schedule(made.schedule_id)


def test_the_python_client_has_schedules(connect_server: Server) -> None:
    client = Client(connect_server.host, connect_server.port, token=connect_server.token)
    made = client.schedules.create("often", "look", kind="interval", spec="PT15M", idempotency_key="often")
    # The same key again is the same schedule.
    again = client.schedules.create("often", "look", kind="interval", spec="PT15M", idempotency_key="often")
    assert made.schedule_id == again.schedule_id and len(made.next_runs) == 5
    assert made.schedule_id in [one.schedule_id for one in client.schedules.list(page_size=1)]
    run = client.schedules.run(made.schedule_id)
    shown = client.schedules.get(made.schedule_id)
    assert [one.job_id for one in shown.history] == [run.job_id] and shown.runs == 1
    assert client.schedules.update(made.schedule_id, {"enabled": False}).enabled is False
    with pytest.raises(InvalidArgument, match="next_run_at"):
        client.schedules.update(made.schedule_id, {"next_run_at": "2030-01-01T00:00:00Z"})
    with pytest.raises(InvalidArgument, match="time zone"):
        client.schedules.create("bad", "look", kind="cron", spec="0 9 * * *", timezone="Mars/Olympus")
    client.schedules.delete(made.schedule_id)
    with pytest.raises(ScheduleNotFound):
        client.schedules.get(made.schedule_id)
