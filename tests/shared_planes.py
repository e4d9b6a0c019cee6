"""Planes of one machine on one shared log, in the test's own process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.clock import Clock
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from tests.kernel.plane import Answered, FixtureOps, plane

AGENT = Caller(surface="mcp", client="helper", connection_id="c1")
QUICK = ("embeddings.model=none", "index.watch=false")


@asynccontextmanager
async def sharing(
    folder: Path, name: str, *settings: str, ops: object | None = None, clock: Clock | None = None
) -> AsyncIterator[Plane]:
    """A plane on a folder of its own, on the shared log of all of them."""
    shared = f"ledger.shared={folder / 'shared'}"
    async with plane(folder / name, shared, *QUICK, *settings, operations=[ops or FixtureOps()], clock=clock) as opened:
        yield opened


async def level(*planes: Plane) -> None:
    """Let every plane apply what any of them published."""
    for opened in planes:
        await opened.log.flush()
    for opened in planes:
        await opened.log.catch_up()


async def race(planes: tuple[Plane, Plane], ops: tuple[FixtureOps, FixtureOps], number: int) -> None:
    """Call with one key in both planes at once: one of them runs it, and both get its answer."""
    before = len(ops[0].ran) + len(ops[1].ran)
    arguments: JsonObject = {"text": f"race {number} ", "idempotency_key": f"key-{number}"}
    outcomes = await asyncio.gather(*(opened.conveyor.call("fixture.write", arguments, AGENT) for opened in planes))
    assert [outcome.error for outcome in outcomes] == [None, None]
    first, second = (outcome.result for outcome in outcomes)
    assert isinstance(first, Answered) and first == second
    assert len(ops[0].ran) + len(ops[1].ran) == before + 1
