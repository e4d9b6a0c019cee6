"""What watchers of the log cost those who append: `python -m bench.watchers`."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.event import Draft, Event, Gap, Heartbeat
from codeplane.kernel.event_log import EventQuery
from codeplane.ledger.log import SqliteLog

_STREAMS = 50
Items = AsyncGenerator[Event | Heartbeat | Gap, None]
Open = Callable[[SqliteLog, int], Items]
# Each stream of its own, as threads and work items are watched; and the whole log, as dashboards are.
KINDS: dict[str, Open] = {
    "streams": lambda log, number: log.watch(streams={f"stream/{number}": 0}),
    "whole log": lambda log, number: log.follow(EventQuery(types=("bench",))),
}


async def measure(kind: str, watchers: int, appends: int) -> tuple[float, float, int]:
    """Milliseconds of wall and CPU time an append, and how many events the watchers were given."""
    given = 0

    async def watch(log: SqliteLog, number: int) -> None:
        nonlocal given
        async with aclosing(KINDS[kind](log, number)) as items:
            async for item in items:
                given += isinstance(item, Event)

    with tempfile.TemporaryDirectory() as folder:
        log = SqliteLog(path=Path(folder) / "ledger.db", projections=(), config=LedgerConfig(), clock=SystemClock())
        tasks = [asyncio.ensure_future(watch(log, number)) for number in range(watchers)]
        await asyncio.sleep(0.5)
        cpu, wall = time.process_time(), time.perf_counter()
        for number in range(appends):
            await log.append([Draft(stream=f"stream/{number % _STREAMS}", type="bench", payload={"number": number})])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        log.close()
    return wall / appends * 1000, cpu / appends * 1000, given


def main() -> None:
    """Print a line for each kind and number of watchers, with the ratio to none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watchers", type=int, nargs="+", default=[0, 1, 100])
    parser.add_argument("--appends", type=int, default=1000)
    options = parser.parse_args()
    for kind in KINDS:
        alone = None
        for watchers in options.watchers:
            wall, cpu, given = asyncio.run(measure(kind, watchers, options.appends))
            alone = alone or (wall, cpu)
            print(
                f"{kind}, {watchers:4} watchers: {wall:6.2f} ms an append ({wall / alone[0]:.2f} x), "
                f"{cpu:5.2f} ms CPU ({cpu / alone[1]:.2f} x), {given} events given"
            )


if __name__ == "__main__":
    main()
