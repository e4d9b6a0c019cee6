"""Writing on the event loop: once, whoever comes to it first, and never waiting for a loop that does not come."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from codeplane.kernel.event import Event
from codeplane.ledger.hand_over import HandOver, run_on_loop
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import Tables
from tests.interaction.requirements import requirement
from tests.kernel.plane import run
from tests.ledger.logs import n, open_log, opened

pytestmark = requirement("LOG-56")
LONG = 600.0


class Threads:
    """A projection that notes on which threads it is applied, and fails when it is to."""

    name: ClassVar[str] = "threads"
    version: ClassVar[int] = 1
    schema: ClassVar[tuple[str, ...]] = ("CREATE TABLE threads_seen(stream TEXT, sequence INTEGER)",)
    tables: ClassVar[tuple[str, ...]] = ("threads_seen",)
    types: ClassVar[frozenset[str]] = frozenset({"n"})

    def __init__(self) -> None:
        self.seen: list[int] = []

    def apply(self, tables: Tables, event: Event) -> None:
        self.seen.append(threading.get_ident())
        if event.payload["n"] == -1:
            raise ValueError("it cannot be applied")
        tables.execute("INSERT INTO threads_seen VALUES (?, ?)", (event.stream, event.sequence))


async def test_what_many_wait_for_is_written_on_their_loop(tmp_path: Path) -> None:
    threads = Threads()
    async with opened(tmp_path / "l.db", projections=[threads]) as log:
        await log.append([n("a", 1)])
        assert threading.get_ident() not in threads.seen
        await log.append([n("a", number) for number in range(50)])
        assert threads.seen[1:] == [threading.get_ident()] * 50
        assert await log.select("SELECT count(*), max(sequence) FROM threads_seen") == [(51, 51)]


async def test_one_that_cannot_be_applied_fails_alone_there_too(tmp_path: Path) -> None:
    threads = Threads()
    async with opened(tmp_path / "l.db", projections=[threads]) as log:
        good = [log.append([n("a", number), n("b", number)]) for number in range(10)]
        bad = log.append([n("a", -1), n("b", -1)])
        results = await asyncio.gather(*good, bad, *[log.append([n("a"), n("b")])], return_exceptions=True)
        assert [type(result).__name__ for result in results] == ["Appended"] * 10 + ["Internal", "Appended"]
        assert await log.select("SELECT stream, count(*) FROM threads_seen GROUP BY stream") == [("a", 11), ("b", 11)]
        assert [event.sequence for event in await log.read(stream="a")] == [*range(1, 12)]


def test_a_log_that_is_closed_by_the_loop_that_it_writes_on_is_written(tmp_path: Path) -> None:
    async def leave() -> None:
        log = open_log(tmp_path / "l.db")
        for number in range(40):
            assert log.append_later([n("a", number)]) is not None
        log.close()

    async def read() -> list[Event]:
        async with opened(tmp_path / "l.db") as log:
            return await log.read(stream="a")

    for times in range(1, 4):
        run(leave())
        assert len(run(read())) == 40 * times


def test_a_log_outlives_the_loop_that_it_was_used_on(tmp_path: Path) -> None:
    async def fill(log: SqliteLog) -> None:
        for number in range(40):
            log.append_later([n("a", number)])

    async def write() -> int:
        async with opened(tmp_path / "l.db") as log:
            await asyncio.to_thread(run, fill(log))
            await log.flush()
            return len(await log.read(stream="a"))

    assert run(write()) == 40


class Counter:
    """Counts how often it is called, and on which thread."""

    def __init__(self, fails: bool = False) -> None:
        self.threads: list[int] = []
        self._fails = fails

    def __call__(self) -> int:
        self.threads.append(threading.get_ident())
        if self._fails:
            raise ValueError("it fails")
        return len(self.threads)


async def test_the_waiter_is_given_what_the_loop_returns_or_raises() -> None:
    loop, counter = asyncio.get_running_loop(), Counter()
    assert await asyncio.to_thread(run_on_loop, loop, counter) == 1
    assert counter.threads == [threading.get_ident()]
    with pytest.raises(ValueError, match="it fails"):
        await asyncio.to_thread(run_on_loop, loop, Counter(fails=True))


@pytest.mark.parametrize("fails", [False, True])
def test_what_the_loop_does_not_come_to_is_run_by_the_waiter_and_only_there(fails: bool) -> None:
    counter = Counter(fails)
    handed_over = HandOver(counter)
    take_back: Callable[[], int] = lambda: handed_over.wait(0)  # noqa: E731
    if fails:
        with pytest.raises(ValueError, match="it fails"):
            take_back()
    else:
        assert take_back() == 1
    handed_over.run_on_loop()
    assert len(counter.threads) == 1


def test_a_closed_loop_is_not_waited_for() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    assert run_on_loop(loop, Counter()) == 1


def test_an_interrupt_on_the_loop_reaches_both() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    handed_over = HandOver(interrupt)
    with pytest.raises(KeyboardInterrupt):
        handed_over.run_on_loop()
    with pytest.raises(RuntimeError, match="interrupted"):
        handed_over.wait(LONG)
