"""Forgetting: by class, never past a snapshot, never with a hole, and as a fact of its own."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.ledger import retention as module
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import RETENTION_APPLIED, differences
from codeplane.ledger.retention import CLASSES, Retention
from codeplane.ledger.transaction import WriteTransaction
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.ledger.logs import Counts, Hold, n, opened, rows

DAY = 86_400.0


async def firsts(log: SqliteLog) -> dict[str, tuple[int, int]]:
    """First and last sequence of each stream, as the log has them and as the events are."""
    found = {
        str(s): (int(str(f)), int(str(h))) for s, f, h in await log.select("SELECT stream, first, head FROM streams")
    }
    held = await log.select("SELECT stream, min(sequence), max(sequence), count(*) FROM events GROUP BY stream")
    for stream, low, high, count in held:
        assert found[str(stream)] == (low, high)
        assert count == int(str(high)) - int(str(low)) + 1
    assert {str(row[0]) for row in held} == {stream for stream, (first, head) in found.items() if first <= head}
    return found


@requirement("LOG-07")
async def test_every_class_has_its_own_time(tmp_path: Path) -> None:
    config = RetentionConfig(tasks_days=1, messages_days=2, artifacts_days=3, audit_days=4)
    streams = ["task/1", "session/1", "thread/1", "artifact/1", "audit", "other/1"]
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=config, clock=clock)
        await log.append([n(stream) for stream in streams])
        left = []
        for _ in range(6):
            clock.advance(DAY - 1)
            await retention.apply()
            clock.advance(2)
            await retention.apply()
            left.append({stream for stream, (first, head) in (await firsts(log)).items() if first <= head})
            clock.advance(-1)
        assert left[0] == {"thread/1", "artifact/1", "audit", "other/1", "system"}
        assert left[1] == {"artifact/1", "audit", "other/1", "system"}
        assert left[2] == {"audit", "other/1", "system"}
        assert left[3] == left[5] == {"other/1", "system"}


def test_every_class_is_a_setting() -> None:
    for kind in CLASSES:
        assert kind.setting in RetentionConfig.model_fields


async def test_just_before_its_time_everything_is_there(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        await log.append([n("task/1"), n("audit"), n("thread/1")])
        clock.advance(14 * DAY - 1)
        outcome = await Retention(log=log, config=RetentionConfig(), clock=clock).apply()
        assert outcome == {"streams": 0, "events": 0}
        assert len(await log.query(EventQuery(types=("n",)))) == 3


@requirement("LOG-07")
async def test_only_the_newest_tasks_are_kept(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(tasks_max=3), clock=clock)
        for number in range(8):
            await log.append([n(f"task/{number}"), n(f"session/{number}")])
            clock.advance(60)
        await log.append([n("task/1")])
        # What is younger than an hour may still be in use.
        assert (await retention.apply())["streams"] == 0
        clock.advance(3600)
        assert (await retention.apply())["streams"] == 5
        left = {stream for stream, (first, head) in (await firsts(log)).items() if first <= head}
        assert {stream for stream in left if stream.startswith("task/")} == {"task/1", "task/6", "task/7"}
        assert len([stream for stream in left if stream.startswith("session/")]) == 8
        assert (await retention.apply())["streams"] == 0


async def test_which_tasks_are_the_newest_is_not_up_to_the_clock(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(tasks_max=2), clock=clock)
        await log.append([n("task/old")])
        clock.jump(-2 * DAY)
        await log.append([n("task/a"), n("task/b")])
        clock.jump(2 * DAY)
        clock.advance(7200)
        await retention.apply()
        left = {stream for stream, (first, head) in (await firsts(log)).items() if first <= head}
        assert left == {"task/a", "task/b", "system"}


async def test_a_clock_that_jumps_back_drops_nothing_and_leaves_no_holes(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(), clock=clock)
        await log.append([n("audit"), n("audit")])
        clock.jump(-200 * DAY)
        await log.append([n("audit"), n("audit"), n("task/1")])
        assert (await retention.apply())["events"] == 0
        clock.jump(200 * DAY)
        await log.append([n("audit")])
        # The middle looks old, but it is behind something young.
        await retention.apply()
        assert (await firsts(log))["audit"] == (1, 5)
        clock.advance(91 * DAY)
        await log.append([n("audit")])
        await retention.apply()
        assert (await firsts(log))["audit"] == (6, 6)


@requirement("LOG-07")
async def test_a_node_that_took_no_snapshot_takes_one_before_it_drops(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await log.append([n("task/1", 2), n("audit", 3), n("audit", 4)])
        # As another node decided it, and later events share the commit with it.
        payload: JsonObject = {"streams": [["audit", 3]], "idempotency_before_ns": 0, "audit_before_ns": 0}
        async with Hold(log):
            appends = [
                asyncio.ensure_future(log.append([Draft(stream="system", type=RETENTION_APPLIED, payload=payload)])),
                asyncio.ensure_future(log.append([n("audit", 5)])),
            ]
            await asyncio.sleep(0)
        await asyncio.gather(*appends)
        assert (await firsts(log))["audit"] == (3, 3)
        live = await rows(log)
        assert live == [("audit", 1, 5, b"audit"), ("task/1", 1, 2, b"task/1")]
        await log.command(_rebuild)
        assert await rows(log) == live
        # Applied again, as a second delivery would, it changes nothing.
        await log.append([Draft(stream="system", type=RETENTION_APPLIED, payload={**payload, "streams": []})])
        assert (await firsts(log))["audit"] == (3, 3)


async def test_an_empty_stream_that_goes_on_meanwhile_keeps_its_number(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(), clock=clock)
        await log.append([n("task/1"), n("task/2")])
        clock.advance(20 * DAY)
        await retention.apply()
        clock.advance(100 * DAY)
        plan = await retention.plan(await retention.snapshot(), clock.now_ns())
        assert plan.forgotten == ("task/1", "task/2")
        await log.append([n("task/2")])
        await log.append([Draft(stream="system", type=RETENTION_APPLIED, payload=plan.payload)])
        assert {name: state for name, state in (await firsts(log)).items() if name != "system"} == {"task/2": (2, 2)}


@requirement("LOG-07")
async def test_nothing_is_dropped_past_a_snapshot(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(), clock=clock)
        await log.append([n("task/1"), n("audit"), n("audit")])
        safe = await retention.snapshot()
        await log.append([n("task/1"), n("task/2"), n("audit")])
        clock.advance(100 * DAY)
        now = clock.now_ns()
        plan = await retention.plan(safe, now)
        assert (plan.parts, plan.events) == ({"audit": (3, 1)}, 2)
        await log.append([Draft(stream="system", type=RETENTION_APPLIED, payload=plan.payload)])
        assert await firsts(log) == {"task/1": (1, 2), "task/2": (1, 1), "audit": (3, 3), "system": (1, 1)}


async def test_numbers_go_on_after_a_stream_was_dropped(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(), clock=clock)
        await log.append([n("task/1"), n("task/1"), n("audit")])
        clock.advance(20 * DAY)
        await retention.apply()
        assert (await log.append([n("task/1")])).sequences == (3,)
        assert (await firsts(log))["task/1"] == (3, 3)
    async with opened(tmp_path / "l.db", clock=clock) as log:
        assert (await log.append([n("task/1")])).sequences == (4,)
        position = log.position
        clock.advance(100 * DAY)
        await Retention(log=log, config=RetentionConfig(), clock=clock).apply()
        assert (await log.append([n("x")])).last_position == position + 2


async def test_a_stream_of_which_nothing_is_left_is_forgotten_in_the_end(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        retention = Retention(log=log, config=RetentionConfig(), clock=clock)
        await log.append([n(f"task/{number}") for number in range(20)])
        clock.advance(20 * DAY)
        await retention.apply()
        assert len(await firsts(log)) == 21
        clock.advance(71 * DAY)
        await retention.apply()
        assert set(await firsts(log)) == {"system"}
        # Not remembered by the writer either: what it says and what is stored agree.
        assert (await log.append([n("task/3")])).sequences == (1,)
        assert (await firsts(log))["task/3"] == (1, 1)


async def test_what_was_dropped_is_a_fact_in_the_log(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        await log.append([n("task/1"), n("task/1"), n("audit")])
        clock.advance(20 * DAY)
        outcome = await Retention(log=log, config=RetentionConfig(), clock=clock).apply()
        assert outcome == {"streams": 1, "events": 2}
        (event,) = await log.query(EventQuery(types=(RETENTION_APPLIED,)))
        assert event.stream == "system"
        assert event.payload == {
            "streams": [["task/1", 3]],
            "idempotency_before_ns": clock.now_ns() - int(90 * DAY) * 10**9,
            "audit_before_ns": clock.now_ns() - int(90 * DAY) * 10**9,
        }
        assert await rows(log) == [("audit", 1, 1, b"audit")]


async def test_much_is_dropped_in_parts_so_that_others_can_write_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH_STREAMS", 10)
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        await log.append([n(f"task/{number}") for number in range(35)])
        clock.advance(20 * DAY)
        outcome = await Retention(log=log, config=RetentionConfig(), clock=clock).apply()
        assert outcome == {"streams": 35, "events": 35}
        output = await log.query(EventQuery(types=(RETENTION_APPLIED,)))
        assert [len(event.payload["streams"]) for event in output] == [10, 10, 10, 5]  # type: ignore[arg-type]  # lists
        assert await rows(log) == []


ACT = st.sampled_from(["a", "b", "audit", "young", "old", "back", "apply", "apply", "snapshot", "rebuild"])


@settings(max_examples=30, deadline=None)
@given(st.lists(ACT, max_size=40))
async def test_streams_stay_unbroken_and_tables_right_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, acts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("retention") / "l.db"
    clock = ManualClock()
    config = RetentionConfig(tasks_days=1, audit_days=2, tasks_max=1)
    async with opened(path, clock=clock) as log:
        retention = Retention(log=log, config=config, clock=clock)
        given_out: dict[str, int] = {}
        for act in acts:
            if act in ("a", "b", "audit"):
                stream = act if act == "audit" else f"task/{act}"
                (sequence,) = (await log.append([n(stream, len(given_out))])).sequences
                assert sequence == given_out.get(stream, 0) + 1
                given_out[stream] = sequence
            elif act in ("young", "old"):
                clock.advance(DAY / 3 if act == "young" else 1.5 * DAY)
            elif act == "back":
                clock.jump(-DAY)
            elif act == "snapshot":
                await retention.snapshot()
            elif act == "rebuild":
                await log.command(_rebuild)
            else:
                await retention.apply()
                # Forgotten streams start again; nobody has a place in them any more.
                known = await firsts(log)
                given_out = {stream: head for stream, (_, head) in known.items()}
            await firsts(log)
            assert await log.readers.run(lambda connection: differences(connection, Counts())) == []


def _rebuild(writing: WriteTransaction) -> None:
    from codeplane.ledger.projection import rebuild

    rebuild(writing.connection, Counts())
