"""Caches are fed by what was applied: in order, before the append returns, whoever appended."""

import asyncio
import logging
from pathlib import Path

import pytest

from codeplane.kernel.errors import SequenceConflict
from codeplane.kernel.event import Draft, Event
from tests.interaction.requirements import requirement
from tests.ledger.logs import n, opened

pytestmark = requirement("LOG-18")


async def test_an_applied_event_is_taken_in_before_its_append_returns(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []
    async with opened(tmp_path / "l.db") as log:
        log.listen({"n"}, lambda event: seen.append((event.stream, event.sequence)))
        for number in range(1, 20):
            await log.append([n("a"), Draft(stream="a", type="other", payload={}), n("b")])
            assert seen[-2:] == [("a", 2 * number - 1), ("b", number)]
        await asyncio.gather(*(log.append([n("c")]) for _ in range(50)))
        assert seen[-50:] == [("c", number) for number in range(1, 51)]


async def test_what_was_refused_is_not_taken_in(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with opened(tmp_path / "l.db") as log:
        log.listen({"n"}, seen.append)
        with pytest.raises(SequenceConflict):
            await log.append([n("a")], expect={"a": 3})
        assert not seen


async def test_a_handler_that_fails_keeps_no_other_from_the_event(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Event] = []

    def fail(event: Event) -> None:
        raise RuntimeError("no room")

    async with opened(tmp_path / "l.db") as log:
        log.listen({"n"}, fail)
        log.listen({"n"}, seen.append)
        with caplog.at_level(logging.ERROR):
            await log.append([n("a")])
        assert len(seen) == 1
        assert "an applied event was not taken in: n" in caplog.text


async def test_a_loop_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with opened(tmp_path / "l.db") as log:

        async def add() -> None:
            log.listen({"n"}, seen.append)

        await asyncio.to_thread(asyncio.run, add())
        log.listen({"n"}, seen.append)
        await log.append([n("a")])
        assert len(seen) == 1
