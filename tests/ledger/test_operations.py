"""What clients can ask of the log."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.ledger.models import EventItem, EventPage, RebuildResult, RetainResult, VerifyResult
from codeplane.ledger.transaction import WriteTransaction
from codeplane.wiring.app import Plane
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, ManualClock, events, plane
from tests.ledger.logs import n


async def page(opened: Plane, **arguments: object) -> EventPage:
    outcome = await opened.conveyor.call("ledger.events", arguments, OWNER)  # type: ignore[arg-type]  # plain JSON
    assert isinstance(outcome.result, EventPage), outcome.error
    return outcome.result


def positions(found: EventPage) -> list[int]:
    return [int(str(event["position"])) for event in found.results]


@requirement("LOG-14")
async def test_pages_show_the_log_as_it_was_at_the_first(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a", number) for number in range(25)])
        found = await page(opened, stream="a", limit=10)
        seen = positions(found)
        while found.pagination.next_cursor:
            await opened.log.append([n("a")])
            found = await page(opened, stream="a", limit=10, cursor=found.pagination.next_cursor)
            seen += positions(found)
        assert seen == [*range(1, 26)]
        assert positions(await page(opened, stream="a", newest=True, limit=3))[-1] > 25
        assert found.text().splitlines()[0].split()[2:] == ["a#21", "n"]
        assert (await page(opened, stream="nothing")).text() == "no events"


@requirement("LOG-14")
async def test_pages_go_back_from_the_newest(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a" if number % 2 else "b", number) for number in range(50)])
        found = await page(opened, stream="a", newest=True, limit=10)
        seen = [positions(found)]
        await opened.log.append([n("a", number) for number in range(5)])
        while found.pagination.next_cursor:
            found = await page(opened, stream="a", newest=True, limit=10, cursor=found.pagination.next_cursor)
            seen.append(positions(found))
        assert [one for several in reversed(seen) for one in several] == [*range(2, 51, 2)]
        assert list(map(len, seen)) == [10, 10, 5]


@requirement("LOG-14")
async def test_only_what_came_before_a_position(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a", number) for number in range(30)])
        assert positions(await page(opened, stream="a", before=20, newest=True, limit=3)) == [17, 18, 19]
        assert positions(await page(opened, stream="a", before=4, after=1)) == [2, 3]
        assert positions(await page(opened, stream="a", before=1)) == []
        first = await page(opened, stream="a", before=6, limit=3)
        rest = await page(opened, stream="a", before=6, limit=3, cursor=first.pagination.next_cursor)
        assert (positions(first), positions(rest)) == ([1, 2, 3], [4, 5])
        for before in (0, 2**64):
            outcome = await opened.conveyor.call("ledger.events", {"before": before}, OWNER)
            assert outcome.error is not None and outcome.error.name == "INVALID_ARGUMENT"


async def test_a_cursor_belongs_to_its_question_and_session(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a"), n("a")])
        cursor = (await page(opened, stream="a", limit=1)).pagination.next_cursor
        for arguments, caller in (
            ({"stream": "b", "limit": 1, "cursor": cursor}, OWNER),
            ({"stream": "a", "limit": 1, "cursor": cursor}, AGENT),
            ({"stream": "a", "limit": 1, "cursor": "nonsense"}, OWNER),
        ):
            outcome = await opened.conveyor.call("ledger.events", cast(JsonObject, arguments), caller)
            assert outcome.error is not None
            assert outcome.error.name == "CURSOR_INVALID"
        assert positions(await page(opened, stream="a", limit=5, cursor=cursor)) == [2]


async def test_a_position_no_log_has_is_an_argument_that_does_not_fit(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        for after in (-1, 2**64):
            outcome = await opened.conveyor.call("ledger.events", {"after": after}, OWNER)
            assert outcome.error is not None
            assert outcome.error.name == "INVALID_ARGUMENT"


def watch(opened: Plane, **arguments: object) -> AsyncGenerator[Result | Outcome, None]:
    items = opened.conveyor.stream("ledger.watch", cast(JsonObject, arguments), OWNER)
    return cast(AsyncGenerator[Result | Outcome, None], items)


async def next_position(items: AsyncGenerator[Result | Outcome, None]) -> int:
    item = await anext(items)
    assert isinstance(item, EventItem)
    assert item.event is not None
    return int(str(item.event["position"]))


async def test_a_watch_resumes_by_position_also_in_one_stream(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a"), n("b"), n("a"), n("b"), n("a")])
        async with aclosing(watch(opened, stream="a", after=1)) as items:
            assert [await next_position(items) for _ in range(2)] == [3, 5]
        async with aclosing(watch(opened, stream="a", after=4)) as items:
            assert await next_position(items) == 5


async def test_a_watch_of_one_stream_keeps_its_other_filters(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a"), replace(n("a"), type="t"), n("a")])
        async with aclosing(watch(opened, stream="a", types=["t"], heartbeat_sec=0.1)) as items:
            assert await next_position(items) == 2
            item = await anext(items)
            assert isinstance(item, EventItem)
            assert item.heartbeat is not None
            assert item.text() == f'{{"heartbeat":{item.heartbeat}}}'


async def test_a_watch_from_now_on_skips_what_was(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        await opened.log.append([n("a")])
        async with aclosing(watch(opened, stream="a", from_now=True, heartbeat_sec=0.1)) as items:
            first = await anext(items)
            assert isinstance(first, EventItem)
            assert first.event is None
            done = await opened.log.append([n("a")])
            assert await next_position(items) == done.last_position


async def test_a_watch_ends_with_the_gap_it_met(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path, clock=clock) as opened:
        await opened.log.append([n("task/x"), n("task/x")])
        clock.advance(30 * 86_400)
        await opened.retention.apply()
        found = [item async for item in watch(opened, stream="task/x")]
        gap, ending = found
        assert isinstance(gap, EventItem)
        assert gap.stream_gap == {"stream": "*", "requested_after": 0, "first_available": 3}
        assert "stream_gap" in gap.text()
        assert isinstance(ending, Outcome)
        assert ending.error is not None
        assert ending.error.name == "STREAM_GAP"
        assert ending.error.details == gap.stream_gap


async def verify(opened: Plane) -> VerifyResult:
    outcome = await opened.conveyor.call("ledger.verify", {}, OWNER)
    assert isinstance(outcome.result, VerifyResult), outcome.error
    return outcome.result


DAMAGE = {
    "differs": ("UPDATE tasks SET description = 'forged'", "tables that differ: ('tasks',)"),
    "hole": ("DELETE FROM events WHERE stream = 'a' AND sequence = 2", "gaps in ('a',)"),
    "lost end": ("DELETE FROM events WHERE stream = 'a' AND sequence = 3", "gaps in ('a',)"),
    "lost stream": ("DELETE FROM events WHERE stream = 'a'", "gaps in ('a',)"),
}


@pytest.mark.parametrize("kind", DAMAGE)
async def test_verifying_finds_what_is_wrong(tmp_path: Path, kind: str) -> None:
    statement, output = DAMAGE[kind]

    def change(writing: WriteTransaction) -> None:
        writing.connection.execute(statement)

    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await opened.log.append([n("a"), n("a"), n("a")])
        await opened.conveyor.call("fixture.write", {}, AGENT)
        sound = await verify(opened)
        assert sound.ok
        assert sound.text().startswith("sound: ")
        await opened.log.command(change)
        found = await verify(opened)
        assert not found.ok
        assert output in found.text()


async def test_rebuilding_mends_the_tables(tmp_path: Path) -> None:
    def change(writing: WriteTransaction) -> None:
        writing.connection.execute("DELETE FROM tasks")

    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await opened.conveyor.call("fixture.write", {}, AGENT)
        await opened.log.command(change)
        assert not (await verify(opened)).ok
        outcome = await opened.conveyor.call("ledger.rebuild", {}, OWNER)
        assert isinstance(outcome.result, RebuildResult)
        assert {"sessions", "tasks", "operations", "idempotency", "actions", "audit"} <= set(outcome.result.rebuilt)
        assert (await verify(opened)).ok


async def test_forgetting_on_request_needs_leave(tmp_path: Path) -> None:
    clock = ManualClock()
    async with plane(tmp_path / "a", clock=clock) as opened:
        denied = await opened.conveyor.call("ledger.retain", {}, AGENT)
        assert denied.error is not None
        assert denied.error.name == "APPROVAL_PENDING"
        assert await events(opened, "retention.applied") == []
    async with plane(tmp_path / "b", "trust.allow=[ledger.retain]", clock=clock) as opened:
        await opened.log.append([n("task/x"), n("task/x")])
        clock.advance(30 * 86_400)
        outcome = await opened.conveyor.call("ledger.retain", {}, AGENT)
        assert outcome.result == RetainResult(streams=1, events=2)
