"""Appending: gap-free, all or nothing, together, durable, bounded."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.kernel.errors import (
    CodePlaneError,
    MalformedRequest,
    Overloaded,
    SequenceConflict,
    ShuttingDown,
    StorageFailed,
    TooLarge,
)
from codeplane.kernel.event import ContentTrust, Correlation, Draft, Source
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.ids import uuid7
from tests.interaction.requirements import requirement
from tests.kernel.plane import run
from tests.ledger.logs import Brittle, Counts, Hold, n, open_log, opened, rows


@requirement("LOG-01")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), min_size=1, max_size=40))
async def test_sequences_have_no_gaps_whoever_appends_at_once(tmp_path: Path, jobs: list[list[str]]) -> None:
    path = tmp_path / f"{uuid7()}.db"
    async with opened(path) as log:
        done = await asyncio.gather(*(log.append([n(stream) for stream in job]) for job in jobs))
        for stream in "abc":
            expected = sum(job.count(stream) for job in jobs)
            assert [event.sequence for event in await log.read(stream=stream)] == [*range(1, expected + 1)]
        everything = await log.query(EventQuery())
        assert [event.position for event in everything] == [*range(1, sum(map(len, jobs)) + 1)]
        assert log.position == len(everything)
        streams = [stream for job in jobs for stream in job]
        acknowledged = zip(streams, [q for got in done for q in got.sequences], strict=True)
        assert set(acknowledged) == {(event.stream, event.sequence) for event in everything}
        assert max(got.last_position for got in done) == log.position


async def test_an_event_comes_back_as_it_was_given(tmp_path: Path) -> None:
    draft = Draft(
        stream="s/ü",
        type="t",
        payload={"text": "grüße 🎉\udcff", "list": [1, 2.5, None, True], "deep": {"a": {}}},
        actor="agent:x",
        source=Source.MODEL_UNTRUSTED,
        content_trust=ContentTrust.UNTRUSTED_MODEL,
        correlation=Correlation(session_id="1", call_id="2", task_id="3", thread_id="4", turn_id="5", job_id="6"),
        schema=7,
        event_id=uuid7(),
        at_ns=1_700_000_000_000_000_001,
    )
    async with opened(tmp_path / "l.db") as log:
        await log.append([draft])
        (event,) = await log.read(stream="s/ü")
        for name in Draft.__struct_fields__:
            assert getattr(event, name) == getattr(draft, name)
        assert (event.sequence, event.position) == (1, 1)
        wire = event.to_wire()
        assert wire["session_id"] == "1"
        assert wire["source"] == "MODEL_UNTRUSTED"


@requirement("LOG-02")
async def test_expect_is_all_or_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await log.append([n("a"), n("b")], expect={"a": 0, "b": 0})
        with pytest.raises(SequenceConflict) as caught:
            await log.append([n("a"), n("b"), n("c")], expect={"a": 1, "b": 2})
        assert caught.value.details == {"stream": "b", "expected": 2, "found": 1}
        assert await rows(log) == [("a", 1, 1, b"a"), ("b", 1, 1, b"b")]
        assert log.position == 2
        # A stream may be expected without being appended to.
        await log.append([n("c")], expect={"a": 1, "nothing": 0})
        assert (await log.append([n("a")], expect={"a": 1})).sequences == (2,)


@requirement("LOG-02")
async def test_of_many_who_expect_the_same_one_wins(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        async with Hold(log):
            tries = [asyncio.ensure_future(log.append([n("a", i)], expect={"a": 0})) for i in range(20)]
            await asyncio.sleep(0)
        done = await asyncio.gather(*tries, return_exceptions=True)
        assert [type(result).__name__ for result in done].count("SequenceConflict") == 19
        assert len(await log.read(stream="a")) == 1


@requirement("LOG-03")
async def test_appends_that_wait_together_are_committed_together(tmp_path: Path) -> None:
    commits: list[int] = []
    async with opened(tmp_path / "l.db", on_commit=lambda events, spent: commits.append(events)) as log:
        async with Hold(log):
            waiting = [asyncio.ensure_future(log.append([n("a")])) for _ in range(200)]
            await asyncio.sleep(0)
            assert log.waiting == 201
        await asyncio.gather(*waiting)
        await log.flush()
        assert log.waiting == 0
        # The one that held the writer up, the two hundred, and perhaps the flush.
        assert commits[:2] == [0, 200]
        assert log.counters.events == 200
        assert log.counters.commits <= 3


async def test_a_batch_has_a_largest_size(tmp_path: Path) -> None:
    commits: list[int] = []
    path = tmp_path / "l.db"
    async with opened(path, on_commit=lambda events, spent: commits.append(events), batch_events=10) as log:
        async with Hold(log):
            waiting = [asyncio.ensure_future(log.append([n("a")])) for _ in range(35)]
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)
        await log.flush()
        assert sum(commits) == 35
        assert max(commits) == 10


async def test_what_was_acknowledged_is_there_for_others_at_once_and_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "l.db"

    async def write() -> None:
        async with opened(path) as log:
            await log.append([n("a", 7)])
            other = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            assert other.execute("SELECT stream, total FROM counts").fetchall() == [("a", 7)]
            other.close()

    async def reopen() -> None:
        async with opened(path) as log:
            assert log.rebuilt == []
            assert log.position == 1
            assert (await log.append([n("a", 1)])).sequences == (2,)
            assert await rows(log) == [("a", 2, 8, b"a")]

    await write()
    await reopen()


async def test_closing_writes_what_is_queued_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    log = open_log(path)
    for number in range(500):
        assert log.append_soon([n("a", number)])
    await asyncio.to_thread(log.close)
    log.close()
    with pytest.raises(ShuttingDown):
        await log.append([n("a")])
    with pytest.raises(ShuttingDown):
        log.append_soon([n("a")])
    with pytest.raises(ShuttingDown):
        await log.read(stream="a")
    assert [found.name for found in tmp_path.iterdir()] == ["l.db"]
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*), max(sequence) FROM events").fetchone() == (500, 500)
    connection.close()


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db", queue_events=100) as log:
        async with Hold(log):
            soon = 0
            while log.append_soon([n("a")]):
                soon += 1
            assert soon == 49
            waiting = [asyncio.ensure_future(log.append([n("a")])) for _ in range(50)]
            await asyncio.sleep(0)
            assert log.waiting == 100
            with pytest.raises(Overloaded) as caught:
                await log.append([n("a")])
            assert caught.value.retryable
        await asyncio.gather(*waiting)
        assert (await log.append([n("a")])).sequences == (100,)


async def test_one_bad_job_of_a_batch_fails_alone(tmp_path: Path) -> None:
    known = uuid7()
    async with opened(tmp_path / "l.db", projections=(Counts(), Brittle())) as log:
        await log.append([Draft(stream="x", type="t", payload={}, event_id=known)])
        jobs: list[tuple[Draft, ...]] = [(n("a", number),) for number in range(9)]
        jobs.insert(3, (n("a"), Draft(stream="b", type="t", payload={}, event_id=known)))
        jobs.insert(6, (n("a"), n("b", 1, poison=True)))
        jobs.insert(8, (n("a"), n("b\ud800")))
        async with Hold(log):
            tries = [asyncio.ensure_future(log.append(job)) for job in jobs]
            await asyncio.sleep(0)
        done = await asyncio.gather(*tries, return_exceptions=True)
        failed = {index: result for index, result in enumerate(done) if isinstance(result, CodePlaneError)}
        assert {index: error.name for index, error in failed.items()} == {
            3: "SEQUENCE_CONFLICT",
            6: "INTERNAL",
            8: "INTERNAL",
        }
        assert str(failed[6].__cause__) == "cannot take this in"
        assert [event.sequence for event in await log.read(stream="a")] == [*range(1, 10)]
        assert await log.read(stream="b") == []
        assert await rows(log) == [("a", 9, 36, b"a")]
        assert await rows(log, "brittle") == [(1,)] * 9
        assert (await log.append([n("a")])).sequences == (10,)


async def test_what_is_no_event_is_refused_before_it_is_queued(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db", max_payload_bytes=131_072) as log:
        for large in ("x" * 131_072, "ü" * 65_536):
            with pytest.raises(TooLarge) as caught:
                await log.append([n("a"), Draft(stream="a", type="n", payload={"n": large})])
            assert caught.value.details == {"limit": 131_072}
        for odd in (float("nan"), {1, 2}):
            with pytest.raises(MalformedRequest):
                log.append_soon([n("a", 1, odd=odd)])
        await log.append([Draft(stream="b", type="t", payload={"n": "x" * 131_000})])
        assert log.position == 1


async def test_whoever_did_not_wait_is_told_of_what_was_lost(tmp_path: Path) -> None:
    lost: list[CodePlaneError] = []
    async with opened(tmp_path / "l.db", projections=(Counts(), Brittle()), on_lost=lost.append) as log:
        assert log.append_soon([n("a", 1, poison=True)])
        assert log.append_soon([n("a", 1)])
        await log.flush()
        assert [error.name for error in lost] == ["INTERNAL"]
        assert log.counters.lost == 1
        # Those who wait are told themselves.
        with pytest.raises(CodePlaneError):
            await log.append([n("a", 1, poison=True)])
        assert len(lost) == 1


async def test_a_commit_that_failed_is_no_commit(tmp_path: Path) -> None:
    commits: list[int] = []
    path = tmp_path / "l.db"
    async with opened(path, projections=(Brittle(),), on_commit=lambda *answer: commits.append(answer[0])) as log:
        for _ in range(3):
            with pytest.raises(CodePlaneError):
                await log.append([n("a", 1, poison=True)])
    assert commits == []


async def test_whoever_is_told_of_commits_cannot_end_the_writing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*answer: object) -> None:
        raise ValueError("a metric that broke")

    projections = (Counts(), Brittle())
    async with opened(tmp_path / "l.db", projections=projections, on_commit=broken, on_lost=broken) as log:
        log.append_soon([n("a", 1, poison=True)])
        for _ in range(3):
            await log.append([n("a")])
        assert await rows(log) == [("a", 3, 3, b"a")]
    assert "a metric that broke" in caplog.text


async def test_a_caller_that_leaves_takes_nothing_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        async with Hold(log):
            leaving = asyncio.ensure_future(log.append([n("a")]))
            await asyncio.sleep(0)
            leaving.cancel()
            await asyncio.wait({leaving})
        assert leaving.cancelled()
        assert await rows(log) == [("a", 1, 1, b"a")]


def test_a_loop_that_is_gone_does_not_stop_the_others(tmp_path: Path) -> None:
    log = open_log(tmp_path / "l.db")

    async def leave() -> None:
        async with Hold(log):
            asyncio.ensure_future(log.append([n("a")]))  # noqa: RUF006  # nobody will wait for it
            await asyncio.sleep(0)

    async def stay() -> None:
        assert (await log.append([n("a")])).sequences == (2,)

    run(leave())
    run(stay())
    log.close()


@requirement("LOG-04")
async def test_a_lookup_sees_what_was_appended_and_ends_with_the_log(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:
        await log.append([n("s", 1), n("s", 2)])
        assert log.lookup("SELECT events, total FROM counts WHERE stream = ?", ("s",)) == [(2, 3)]
        with pytest.raises(StorageFailed):
            log.lookup("SELECT nothing FROM counts")
    with pytest.raises(ShuttingDown):
        log.lookup("SELECT 1 FROM counts")
