"""Deferred calls: recorded before their callers hear of them, bounded, and kept no longer than said."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.deferred_call import DeferredCall, DeferredStatus
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import DeferredCallNotFound
from codeplane.ledger.projection import differences
from codeplane.work.deferred.table import DeferredTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps, ManualClock, events, plane

pytestmark = requirement("MCX-01")

DAY_SEC = 86_400


async def begun(runs: object, operation: str = "fixture.slow", **arguments: object) -> DeferredCall:
    call = await runs.begin(operation, arguments, AGENT, asks=False)  # type: ignore[attr-defined]  # the plane's own
    assert isinstance(call, DeferredCall), call
    return call


async def test_what_is_recorded_is_enough_and_no_more(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        runs = opened.work.deferred
        call = await begun(runs, text="token=s3cr3t-value")
        (event,) = await events(opened, "call.deferred")
        # What was sent is sealed; its hash and whose it is are not.
        assert "s3cr3t-value" not in str(event.payload) and event.actor == "agent:agent"
        assert set(event.payload) == {"operation", "payload_hash", "actor"}
        await opened.work.delete_orphaned_payloads()
        await runs.stop()
        ops.release.set()
        # Taken up again under its key, as after a restart.
        ended = await runs.show(call.deferred_id, AGENT, asks=False)
        assert ended.status is DeferredStatus.ENDED
        assert await opened.log.readers.run(lambda connection: differences(connection, DeferredTable())) == []


async def test_a_task_is_kept_as_long_as_said(tmp_path: Path) -> None:
    ops, clock = FixtureOps(), ManualClock()
    async with plane(tmp_path, operations=[ops], clock=clock) as opened:
        runs = opened.work.deferred
        call = await begun(runs)
        assert call.ttl_ms == 7 * DAY_SEC * 1000
        ops.release.set()
        clock.advance(7 * DAY_SEC - 1)
        await runs.show(call.deferred_id, AGENT, asks=False)
        clock.advance(2)
        with pytest.raises(DeferredCallNotFound):
            await runs.show(call.deferred_id, AGENT, asks=False)
    async with plane(tmp_path / "short", "retention.idempotency_days=0.5", operations=[ops]) as opened:
        # Beyond that its outcome could be gone.
        assert opened.work.deferred._store.ttl_ms == DAY_SEC * 500


async def test_beyond_the_bound_a_call_is_answered_when_it_has_ended(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        runs = opened.work.deferred
        calls = [asyncio.ensure_future(begun(runs, "fixture.slow_read", text=str(number))) for number in range(16)]
        await asyncio.gather(*calls)
        more = asyncio.ensure_future(runs.begin("fixture.slow_read", {}, AGENT, asks=False))
        other = await runs.begin("fixture.slow_read", {}, replace(AGENT, client="other"), asks=False)
        assert isinstance(other, DeferredCall) and not more.done()
        ops.release.set()
        assert isinstance(await more, Outcome)
        assert runs.running == 0


async def test_a_request_that_is_gone_before_its_answer_leaves_no_call_behind(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        runs = opened.work.deferred
        request = asyncio.ensure_future(runs.begin("fixture.slow_read", {}, AGENT, asks=False))
        while not ops.ran:
            await asyncio.sleep(0)
        request.cancel()
        await asyncio.wait({request})
        assert runs.running == 0 and await events(opened, "call.deferred") == []


async def test_nobody_without_a_valid_token_has_a_task(tmp_path: Path) -> None:
    ops = FixtureOps()
    async with plane(tmp_path, operations=[ops]) as opened:
        runs = opened.work.deferred
        wrong = replace(AGENT, token="cpl_wrong")
        refused = await runs.begin("fixture.slow", {}, wrong, asks=False)
        assert isinstance(refused, Outcome) and refused.error is not None and refused.error.name == "UNAUTHORIZED"
        call = await begun(runs)
        with pytest.raises(type(refused.error)):
            await runs.show(call.deferred_id, wrong, asks=False)
        ops.release.set()
