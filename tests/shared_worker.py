"""A plane on a shared log that appends and calls at random until it is ended: `python -m tests.shared_worker …`.

It writes to a file what was acknowledged, a line each, so that whoever killed it can look for all of it.
"""

import asyncio
import random
import sys
from pathlib import Path

from codeplane.kernel.errors import SequenceConflict
from codeplane.kernel.event import Draft
from codeplane.wiring.app import Plane
from tests.kernel.plane import FixtureOps
from tests.shared_planes import AGENT, sharing

_AT_ONCE = 10


async def _append(opened: Plane, chance: random.Random, number: int) -> str:
    """One append, often with an expectation that may be wrong; returns what was acknowledged."""
    streams = [f"work/{chance.randrange(12)}" for _ in range(chance.randrange(1, 4))]
    expect = None
    if chance.random() < 0.5:
        statement = "SELECT coalesce(max(head), 0) FROM streams WHERE stream = ?"
        ((head,),) = await opened.log.select(statement, (streams[0],))
        expect = {streams[0]: int(str(head))}
    drafts = [Draft(stream=stream, type="soak.fact", payload={"n": number}) for stream in streams]
    try:
        appended = await opened.log.append(drafts, expect=expect)
    except SequenceConflict:
        return "conflict"
    places = zip(streams, appended.sequences, strict=True)
    return "appended " + " ".join(f"{stream}@{sequence}" for stream, sequence in places)


async def _call(opened: Plane, chance: random.Random, number: int) -> str:
    """One call through the door, with a key that the other plane may use as well."""
    key = f"key-{chance.randrange(40)}"
    outcome = await opened.conveyor.call("fixture.write", {"text": key, "idempotency_key": key}, AGENT)
    return f"called {key} {'ok' if outcome.error is None else outcome.error.name}"


async def work(folder: Path, name: str, seed: int, count: int, journal: Path) -> None:
    """Do so many things, some at once, and note each that was acknowledged."""
    chance = random.Random(seed)
    ops = FixtureOps()
    async with sharing(folder, name, ops=ops) as opened:
        with journal.open("a", buffering=1) as acknowledged:
            acknowledged.write("started\n")

            async def act(number: int) -> None:
                do = _call if chance.random() < 0.1 else _append
                line = await do(opened, chance, number)
                acknowledged.write(f"{line}\n")

            for start in range(0, count, _AT_ONCE):
                await asyncio.gather(*(act(number) for number in range(start, min(start + _AT_ONCE, count))))
            acknowledged.write("finished\n")


if __name__ == "__main__":
    place, own, drawn, most, notes = sys.argv[1:]
    asyncio.run(work(Path(place), own, int(drawn), int(most), Path(notes)))
