"""Watching: nothing lost, nothing twice, alive when silent, and an end where something is gone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing
from pathlib import Path

import pytest

from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.errors import InvalidArgument, ShuttingDown, StreamGap
from codeplane.kernel.event import ContentTrust, Correlation, Draft, Event, Gap, Heartbeat, Source
from codeplane.kernel.event_log import EventQuery
from codeplane.ledger import recent_events
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.retention import Retention
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock, run
from tests.ledger.logs import n, opened

Item = Event | Heartbeat | Gap
LONG = 600.0
SHORT = 0.02


async def take(items: AsyncGenerator[Item, None], count: int) -> list[Item]:
    return [await anext(items) for _ in range(count)]


def numbers(items: list[Item]) -> list[int]:
    assert all(isinstance(item, Event) for item in items), items
    return [item.sequence for item in items if isinstance(item, Event)]


async def write(log: SqliteLog, count: int, *streams: str) -> None:
    for number in range(count):
        await log.append([n(stream, number) for stream in streams])


async def drop_everything(log: SqliteLog, clock: ManualClock) -> None:
    clock.advance(365 * 86_400)
    await Retention(log=log, config=RetentionConfig(), clock=clock).apply()


async def test_the_lower_bound_is_exclusive(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await write(log, 5, "a", "b")
        for after in (0, 2, 4):
            async with aclosing(log.watch(streams={"a": after}, heartbeat_sec=LONG)) as items:
                assert numbers(await take(items, 5 - after)) == [*range(after + 1, 6)]
        async with aclosing(log.watch(streams={"a": 5}, heartbeat_sec=LONG)) as items:
            following = asyncio.ensure_future(anext(items))
            await log.append([n("b"), n("a")])
            item = await following
            assert isinstance(item, Event)
            assert (item.stream, item.sequence) == ("a", 6)


async def test_a_stream_that_is_not_there_yet_can_be_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log, aclosing(log.watch(streams={"new": 0})) as items:
        following = asyncio.ensure_future(anext(items))
        await write(log, 1, "other", "new")
        item = await following
        assert isinstance(item, Event)
        assert (item.stream, item.sequence) == ("new", 1)


@requirement("LOG-05")
async def test_whoever_comes_back_again_and_again_while_others_write_misses_nothing(tmp_path: Path) -> None:
    total = 1500
    async with opened(tmp_path / "l.db") as log:
        writing = asyncio.ensure_future(write(log, total // 3, "a", "a", "a", "b"))
        seen: list[int] = []
        turns = 0
        while len(seen) < total:
            turns += 1
            async with aclosing(log.watch(streams={"a": seen[-1] if seen else 0}, heartbeat_sec=LONG)) as items:
                for _ in range(min(1 + turns % 90, total - len(seen))):
                    seen += numbers([await anext(items)])
        await writing
        assert seen == [*range(1, total + 1)]
        assert turns > 10


async def test_several_streams_each_from_its_own_place(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await write(log, 3, "a", "b", "c")
        async with aclosing(log.watch(streams={"a": 1, "b": 3}, heartbeat_sec=LONG)) as items:
            found = await take(items, 2)
            writing = asyncio.ensure_future(write(log, 2, "a", "b", "c"))
            found += await take(items, 4)
            await writing
        places = {(item.stream, item.sequence) for item in found if isinstance(item, Event)}
        assert places == {("a", 2), ("a", 3), ("a", 4), ("a", 5), ("b", 4), ("b", 5)}
        for stream in "ab":
            order = [item.sequence for item in found if isinstance(item, Event) and item.stream == stream]
            assert order == sorted(order)


@pytest.mark.parametrize("count", [0, 101])
async def test_too_few_or_too_many_streams_are_refused(tmp_path: Path, count: int) -> None:
    async with opened(tmp_path / "l.db") as log:
        with pytest.raises(InvalidArgument):
            await anext(log.watch(streams={str(number): 0 for number in range(count)}))


@requirement("LOG-05")
async def test_silence_is_broken_by_heartbeats(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await write(log, 2, "a")
        async with aclosing(log.watch(streams={"a": 0}, heartbeat_sec=SHORT)) as items:
            found = await take(items, 4)
            assert numbers(found[:2]) == [1, 2]
            assert found[2:] == [Heartbeat(position=2)] * 2
        async with aclosing(log.follow(EventQuery(after=2), heartbeat_sec=SHORT)) as items:
            assert await take(items, 2) == [Heartbeat(position=2)] * 2


@pytest.mark.parametrize("how", ["watch", "follow"])
async def test_a_watcher_hears_heartbeats_while_others_are_busy(tmp_path: Path, how: str) -> None:
    """Commits that are none of its business do not count as a sign of life to it."""
    async with opened(tmp_path / "l.db") as log:
        stop = asyncio.Event()

        async def busy() -> None:
            while not stop.is_set():
                await log.append([n("busy")])

        writing = asyncio.ensure_future(busy())
        watching = (
            log.watch(streams={"quiet": 0}, heartbeat_sec=0.05)
            if how == "watch"
            else log.follow(EventQuery(stream="quiet"), heartbeat_sec=0.05)
        )
        async with aclosing(watching) as items:
            found = await take(items, 3)
        stop.set()
        await writing
        assert all(isinstance(item, Heartbeat) for item in found)


async def test_a_heartbeat_never_comes_between_an_event_and_its_watcher(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        writing = asyncio.ensure_future(write(log, 200, "a"))
        seen: list[int] = []
        async with aclosing(log.watch(streams={"a": 0}, heartbeat_sec=0.001)) as items:
            while len(seen) < 200:
                item = await anext(items)
                if isinstance(item, Event):
                    seen.append(item.sequence)
        await writing
        assert seen == [*range(1, 201)]


@requirement("LOG-06")
async def test_a_gap_is_said_and_ends_the_watch(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        await write(log, 3, "task/1")
        await drop_everything(log, clock)
        async with aclosing(log.watch(streams={"task/1": 1}, heartbeat_sec=LONG)) as items:
            assert await anext(items) == Gap(stream="task/1", requested_after=1, first_available=4)
            with pytest.raises(StopAsyncIteration):
                await anext(items)
        with pytest.raises(StreamGap) as caught:
            await log.read(stream="task/1", after=1)
        assert caught.value.details["first_available"] == 4
        # Whoever has seen it all misses nothing, and the numbers go on.
        async with aclosing(log.watch(streams={"task/1": 3}, heartbeat_sec=LONG)) as items:
            following = asyncio.ensure_future(anext(items))
            await write(log, 1, "task/1")
            assert numbers([await following]) == [4]
        assert await log.read(stream="task/1", after=4) == []


async def test_a_watcher_that_falls_behind_retention_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As many as are held in memory are given, dropped or not.
    monkeypatch.setattr(recent_events, "MAX_EVENTS", 500)
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        await write(log, 2, "task/1")
        watch = log.watch(streams={"task/1": 0}, heartbeat_sec=LONG)
        follow = log.follow(EventQuery(), heartbeat_sec=LONG)
        async with aclosing(watch) as watching, aclosing(follow) as following:
            assert len(await take(watching, 2) + await take(following, 2)) == 4
            await write(log, 600, "task/1")
            await drop_everything(log, clock)
            assert await anext(watching) == Gap(stream="task/1", requested_after=2, first_available=603)
            assert await anext(following) == Gap(stream="*", requested_after=2, first_available=603)
            for items in (watching, following):
                with pytest.raises(StopAsyncIteration):
                    await anext(items)


async def test_follow_resumes_by_position_while_others_write(tmp_path: Path) -> None:
    total = 1200
    async with opened(tmp_path / "l.db") as log:
        writing = asyncio.ensure_future(write(log, total // 2, "a", "b"))
        seen: list[int] = []
        while len(seen) < total:
            query = EventQuery(after=seen[-1] if seen else 0)
            async with aclosing(log.follow(query, heartbeat_sec=LONG)) as items:
                for _ in range(min(170, total - len(seen))):
                    item = await anext(items)
                    assert isinstance(item, Event)
                    seen.append(item.position)
        await writing
        assert seen == [*range(1, total + 1)]


async def test_follow_filters(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await write(log, 600, "a/1", "b")
        await log.append([Draft(stream="b", type="t", payload={})])
        queries = {
            "a/*": EventQuery(stream="a/*"),
            "b": EventQuery(stream="b", after=1000),
            "t": EventQuery(types=("t",)),
        }
        found: dict[str, list[Item]] = {}
        for name, query in queries.items():
            async with aclosing(log.follow(query, heartbeat_sec=SHORT)) as items:
                found[name] = []
                while not isinstance(item := await anext(items), Heartbeat):
                    found[name].append(item)
                assert item.position == log.position
        assert numbers(found["a/*"]) == [*range(1, 601)]
        assert numbers(found["b"]) == [*range(501, 602)]
        assert [item.type for item in found["t"] if isinstance(item, Event)] == ["t"]


async def test_a_stream_that_lost_nothing_has_no_gap(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened(tmp_path / "l.db", clock=clock) as log:
        await log.append([n("kept"), n("task/1"), n("kept"), n("task/1"), n("kept")])
        await drop_everything(log, clock)
        await log.append([n("task/1")])
        async with aclosing(log.follow(EventQuery(stream="kept"), heartbeat_sec=LONG)) as items:
            assert numbers(await take(items, 3)) == [1, 2, 3]
        async with aclosing(log.follow(EventQuery(stream="task/1"), heartbeat_sec=LONG)) as items:
            assert isinstance(await anext(items), Gap)
        async with aclosing(log.follow(EventQuery(stream="task/1", after=4), heartbeat_sec=LONG)) as items:
            assert numbers(await take(items, 1)) == [3]
        async with aclosing(log.follow(EventQuery(), heartbeat_sec=LONG)) as items:
            assert await anext(items) == Gap(stream="*", requested_after=0, first_available=5)


async def test_whoever_has_seen_more_than_there_is_is_told(tmp_path: Path) -> None:
    """As after a ledger was replaced: waiting in silence until the numbers are reached again would lose events."""
    async with opened(tmp_path / "l.db") as log:
        await write(log, 2, "a")
        async with aclosing(log.watch(streams={"a": 3}, heartbeat_sec=LONG)) as items:
            assert await anext(items) == Gap(stream="a", requested_after=3, first_available=1)
        async with aclosing(log.watch(streams={"unknown": 1}, heartbeat_sec=LONG)) as items:
            assert await anext(items) == Gap(stream="unknown", requested_after=1, first_available=1)
        async with aclosing(log.follow(EventQuery(after=3), heartbeat_sec=LONG)) as items:
            assert await anext(items) == Gap(stream="*", requested_after=3, first_available=1)
        async with aclosing(log.follow(EventQuery(after=2), heartbeat_sec=SHORT)) as items:
            assert await anext(items) == Heartbeat(position=2)


async def test_a_watcher_that_leaves_is_forgotten_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        for _ in range(3):
            async with aclosing(log.watch(streams={"a": 0}, heartbeat_sec=SHORT)) as items:
                await anext(items)
                assert len(log._watchers) == 1
            assert not log._watchers


async def test_watchers_end_when_the_log_is_closed(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await write(log, 1, "a")
        items = log.watch(streams={"a": 0}, heartbeat_sec=LONG)
        await anext(items)
        waiting = asyncio.ensure_future(anext(items))
        (timer,) = log._watchers._timers
        while not timer._wake._waiters:  # until it waits for nothing but commits
            await asyncio.sleep(0)
        await asyncio.to_thread(log.close)
        with pytest.raises(ShuttingDown):
            await waiting


def test_a_loop_that_is_gone_does_not_keep_its_watchers(tmp_path: Path) -> None:
    left = ExitStack()

    async def leave(log: SqliteLog) -> None:
        left.enter_context(log._watchers.join(LONG, lambda event: True))

    async def watch() -> None:
        async with opened(tmp_path / "l.db") as log:
            await asyncio.to_thread(run, leave(log))
            assert len(log._watchers) == 1
            await write(log, 1, "a")
            await log.flush()
            assert not log._watchers

    run(watch())


@requirement("LOG-51")
async def test_a_commit_wakes_only_who_wants_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await write(log, 1, "a", "b")
        watched = log.watch(streams={"a": 0}, heartbeat_sec=LONG)
        followed = log.follow(EventQuery(stream="a*", types=("n",)), heartbeat_sec=LONG)
        async with aclosing(watched), aclosing(followed):
            assert numbers([await anext(watched), await anext(followed)]) == [1, 1]
            waiting = [asyncio.ensure_future(anext(watched)), asyncio.ensure_future(anext(followed))]
            while not all(timer._wake._waiters for timer in log._watchers._timers):
                await asyncio.sleep(0)
            woken: list[object] = []
            for timer in log._watchers._timers:
                timer.wake = lambda: woken.append(1)  # type: ignore[method-assign]  # counted
            await write(log, 20, "b")
            assert woken == []
            for timer in log._watchers._timers:
                del timer.wake
            await write(log, 1, "a")
            assert numbers([await item for item in waiting]) == [2, 2]


@requirement("LOG-51")
@pytest.mark.parametrize("most", [3, 4096])
async def test_readers_near_the_end_and_far_behind_get_the_same(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_events, "MAX_EVENTS", most)
    queries = (
        EventQuery(),
        EventQuery(types=("n",), stream="a"),
        EventQuery(stream="a*"),
        EventQuery(words=("even",)),
        EventQuery(actor="sys*"),
    )
    async with opened(tmp_path / "l.db") as log:
        watched = log.watch(streams={"a": 0, "b": 0}, heartbeat_sec=SHORT)
        followed = [log.follow(query, heartbeat_sec=SHORT) for query in queries]
        seen: list[list[Item]] = [[] for _ in queries]
        streams: list[Item] = []
        total = 0

        async def catch_up() -> None:
            # A heartbeat says that everything so far was given.
            for items, kept in [(watched, streams), *zip(followed, seen, strict=True)]:
                while not isinstance(item := await anext(items), Heartbeat):
                    kept.append(item)

        for round_number in range(6):
            for number in range(5):
                await log.append([n("a", number, text="even" if number % 2 else "odd"), n("b", number), n("other")])
                total += 3
            if round_number % 2:
                await catch_up()
        await catch_up()
        for query, kept in zip(queries, seen, strict=True):
            assert kept == await log.query(EventQuery(**{**_fields(query), "limit": 1000}))  # type: ignore[arg-type]  # its own fields
        by_stream = {stream: numbers([item for item in streams if item.stream == stream]) for stream in ("a", "b")}  # type: ignore[union-attr]  # events
        assert by_stream == {"a": [*range(1, 31)], "b": [*range(1, 31)]}
        assert len(seen[0]) == total
        for items in (watched, *followed):
            await items.aclose()


def _fields(query: EventQuery) -> dict[str, object]:
    return {name: getattr(query, name) for name in ("types", "stream", "words", "actor")}


@requirement("LOG-51")
def test_what_is_held_of_recent_events_is_bounded() -> None:
    recent = recent_events.RecentEvents(10)

    def committed(position: int, size: int = 10) -> recent_events.Committed:
        event = Event(
            event_id=str(position),
            stream="a",
            sequence=position,
            position=position,
            type="n",
            schema=1,
            at_ns=0,
            actor="system",
            source=Source.SYSTEM,
            content_trust=ContentTrust.TRUSTED_SYSTEM,
            correlation=Correlation(),
            payload={},
        )
        return recent_events.Committed(event, size)

    assert recent.after(10) == [] and recent.after(9) is None
    for position in range(11, 3 * recent_events.MAX_EVENTS):
        recent.add([committed(position)])
    last = 3 * recent_events.MAX_EVENTS - 1
    held = recent.after(last - recent_events.MAX_EVENTS)
    assert held is not None and len(held) == recent_events.MAX_EVENTS and held[-1].position == last
    assert recent.after(last - recent_events.MAX_EVENTS - 1) is None
    assert recent.after_in(last - recent_events.MAX_EVENTS - 1, ["a"]) is None
    assert recent.after_in(last - recent_events.MAX_EVENTS, ["a", "b"]) == (held, last)
    assert recent.after_in(last - 2, ["b"]) == ([], last) and recent.after_in(last + 1, ["a"]) == ([], last + 1)
    assert len(recent._by_stream["a"]) == recent_events.MAX_EVENTS
    assert len(recent._items) <= 3 * recent_events.MAX_EVENTS
    recent.add([committed(last + 1, recent_events.MAX_BYTES)])
    assert recent.after(last - 1) is None and [event.position for event in recent.after(last) or ()] == [last + 1]


@requirement("LOG-55")
async def test_one_that_is_cancelled_as_it_is_woken_ends(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:

        async def watch(seen: asyncio.Event) -> None:
            async with aclosing(log.watch(streams={"a": 0}, heartbeat_sec=LONG)) as items:
                async for _ in items:
                    seen.set()

        await log.append([n("a")])
        for steps in range(12):
            seen = [asyncio.Event() for _ in range(3)]
            watching = {asyncio.ensure_future(watch(each)) for each in seen}
            for each in seen:
                await each.wait()
            await log.append([n("a")])
            for _ in range(steps):
                await asyncio.sleep(0)
            for task in watching:
                task.cancel()
            ended, _ = await asyncio.wait(watching, timeout=5)
            assert ended == watching and all(task.cancelled() for task in ended)
