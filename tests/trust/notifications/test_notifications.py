"""Notifications: what a person is told of, and what they have read."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.actor import Actor
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.errors import InvalidArgument, NotFound, PolicyDenied
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.retention import Retention
from codeplane.trust.notifications import table
from codeplane.trust.notifications.operations import NotificationList, ReadResult
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.trust.capabilities.grants_setup import DEVICE, DRIVEN, OWNER, PEOPLE, SYSTEM, Rig, rig

pytestmark = requirement("TRUST-28")

SOMEBODY = Actor(kind=DEVICE.kind, actor_id="dev_9", owner_id="somebody")


def about(kind: str, action: str, **more: JsonValue) -> Draft:
    payload: JsonObject = {"action_id": action, "summary": f"push {action}", "by": "owner:owner", **more}
    return Draft(stream=f"action/{action}", type=f"action.{kind}", payload=payload, actor="agent:bot")


async def listed(opened: Rig, actor: Actor = OWNER, **arguments: JsonValue) -> NotificationList:
    answer = await opened.call("notification.list", arguments, actor)
    assert isinstance(answer, NotificationList)
    return answer


async def read(opened: Rig, actor: Actor = OWNER, **arguments: JsonValue) -> ReadResult:
    answer = await opened.call("notification.read", arguments, actor)
    assert isinstance(answer, ReadResult)
    return answer


async def test_a_person_is_told_of_questions_and_of_those_about_to_expire(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append([about("created", "a"), about("created", "b"), about("expiring", "a")])
        await opened.log.append([about("approved", "b")])
        found = await listed(opened)
        assert found.unread == 2, "what is decided waits for nobody"
        assert [(one.type, one.resource_kind, one.resource_id, one.settled) for one in found.results] == [
            ("APPROVAL_EXPIRING_SOON", "action", "a", None),
            ("PENDING_APPROVAL_CREATED", "action", "b", "approved"),
            ("PENDING_APPROVAL_CREATED", "action", "a", None),
        ]
        assert found.results[0].summary == "push a"
        assert "push a" in found.text()
        assert len((await listed(opened, open=True)).results) == 2
        assert len((await listed(opened, type="APPROVAL_EXPIRING_SOON")).results) == 1
        await opened.log.append([about("rejected", "a")])
        assert (await listed(opened, open=True)).results == ()
        assert opened.differing() == []


async def test_jobs_and_reach_outs_have_their_kinds(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append(
            [
                Draft(stream="job/j", type="job.failed", payload={}, correlation=Correlation(job_id="j")),
                Draft(stream="job/k", type="job.completed", payload={"job_id": "k"}),
                Draft(stream="thread/t", type="reach_out.queued", payload={"thread_id": "t", "summary": "look"}),
            ]
        )
        found = (await listed(opened)).results
        assert [(one.type, one.resource_id) for one in found] == [
            ("PROACTIVE_REACH_OUT", "t"),
            ("JOB_COMPLETED", "k"),
            ("JOB_FAILED", "j"),
        ]


async def test_only_people_see_and_read_them(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append([about("created", "a")])
        for actor in (*DRIVEN, SYSTEM):
            with pytest.raises(PolicyDenied):
                await listed(opened, actor)
            with pytest.raises(PolicyDenied):
                await read(opened, actor, all=True)
        for actor in PEOPLE:
            assert (await listed(opened, actor)).unread == 1


async def test_read_on_one_device_is_read_on_all_of_that_person_and_of_nobody_else(tmp_path: Path) -> None:
    clock = ManualClock()
    async with rig(tmp_path, clock=clock) as opened:
        await opened.log.append([about("created", "a"), about("created", "b"), about("created", "c")])
        first = (await listed(opened)).results[2]
        done = await read(opened, DEVICE, ids=[first.notification_id])
        assert (done.read, done.unread) == (1, 2)
        seen = (await listed(opened)).results[2].read_at
        assert seen is not None
        clock.advance(5)
        assert (await read(opened, ids=[first.notification_id])).read == 0
        assert (await listed(opened)).results[2].read_at == seen
        assert [one.resource_id for one in (await listed(opened, unread=True)).results] == ["c", "b"]
        assert (await listed(opened, SOMEBODY)).unread == 3
        assert (await read(opened, all=True)).unread == 0
        await opened.log.append([about("created", "d")])
        assert (await listed(opened)).unread == 1
        assert (await listed(opened, SOMEBODY)).unread == 4
        assert opened.differing() == []


async def test_what_is_not_there_or_not_said_is_refused(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append([about("created", "a")])
        known = (await listed(opened)).results[0].notification_id
        with pytest.raises(NotFound):
            await read(opened, ids=[known, "note_none"])
        assert (await listed(opened)).unread == 1
        with pytest.raises(InvalidArgument):
            await read(opened)
        with pytest.raises(InvalidArgument):
            await read(opened, all=True, ids=[known])


async def test_pages(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append([about("created", str(number)) for number in range(25)])
        seen: list[str | None] = []
        cursor: str | None = None
        while True:
            page = await listed(opened, limit=10, cursor=cursor)
            seen += [one.resource_id for one in page.results]
            if (cursor := page.pagination.next_cursor) is None:
                break
        assert seen == [str(number) for number in reversed(range(25))]


async def test_the_oldest_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_KEPT", 10)
    async with rig(tmp_path) as opened:
        for number in range(30):
            await opened.log.append([about("created", str(number))])
            if number == 20:
                await read(opened, all=True)
        found = await listed(opened, limit=100)
        assert [one.resource_id for one in found.results] == [str(number) for number in reversed(range(20, 30))]
        assert found.unread == 9
        assert opened.differing() == []


def dropped(*actions: str) -> Draft:
    payload: JsonObject = {"streams": [[f"action/{one}", 9] for one in actions], "idempotency_before_ns": 0}
    return Draft(stream="system", type="retention.applied", payload=payload)


async def test_what_retention_drops_is_gone_here_too(tmp_path: Path) -> None:
    async with rig(tmp_path) as opened:
        await opened.log.append([about("created", "a"), about("created", "b")])
        await read(opened, all=True)
        await opened.log.append([dropped("b")])
        assert [one.resource_id for one in (await listed(opened)).results] == ["a"]
        # Its number is given out again, and nobody has read the new one.
        await opened.log.append([about("created", "c")])
        assert (await listed(opened)).unread == 1
        assert opened.differing() == []


ACTS = st.sampled_from(["created", "expiring", "approved", "rejected", "read", "drop", "snapshot"])


@settings(max_examples=15)
@given(st.lists(st.tuples(ACTS, st.sampled_from("abc")), max_size=12))
async def test_live_and_rebuilt_are_equal(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, str]]
) -> None:
    clock = ManualClock()
    async with rig(tmp_path_factory.mktemp("n"), clock=clock) as opened:
        for act, name in acts:
            if act == "read":
                await read(opened, all=True)
            elif act == "snapshot":
                await Retention(log=opened.log, config=RetentionConfig(), clock=clock).snapshot()
            else:
                await opened.log.append([dropped(name) if act == "drop" else about(act, name)])
        assert opened.differing() == []
