"""CPU of a call beside its handler: the conveyor by itself, and MCP on its ways in. `python -m bench.overhead`."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import cast

import uvloop

from bench.callers import as_tasks
from bench.fixture import BenchOperations, Done, Value, scratch
from bench.measure import machine, table
from bench.sdk_server import serving_sdk
from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import run_plane
from codeplane.wiring.serve import Serving

WAYS = ("http-legacy", "http-modern", "stdio-legacy", "stdio-modern", "rpc")
CALL_AIM_MS, CONVEYOR_AIM_MS = 1.5, 0.3
_CONCURRENT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU microseconds a call: of the thread that calls, and of all others (the log's writer)."""

    caller_us: float
    others_us: float

    @property
    def whole_us(self) -> float:
        """Both."""
        return self.caller_us + self.others_us


async def _spent(calls: int, work: Callable[[], Awaitable[None]]) -> Spent:
    process, thread = time.process_time(), time.thread_time()
    await work()
    process, thread = time.process_time() - process, time.thread_time() - thread
    return Spent(caller_us=thread / calls * 1e6, others_us=(process - thread) / calls * 1e6)


async def conveyor(folder: Path, *, calls: int, rounds: int) -> dict[str, Spent]:
    """The conveyor in this process: reads and writes, one after another and many at once, and the bare handler."""
    workspace, loaded = scratch(folder)
    found: dict[str, list[Spent]] = {}
    operations = BenchOperations()
    async with run_plane(workspace, loaded=loaded, operations=[operations]) as plane:

        async def step(name: str, caller: int, turn: int) -> None:
            who = Caller(surface="embedded", connection_id=f"caller-{caller}", client="bench")
            outcome = await plane.conveyor.call(name, {"value": turn}, who)
            assert outcome.error is None, outcome.error

        async def many(name: str, callers: int) -> None:
            await as_tasks(callers, calls, lambda caller, turn: step(name, caller, turn))
            await plane.log.flush()

        async def handler() -> None:
            call, request = cast(Call, None), Value(value=1)
            for _ in range(calls):
                result: Done = await operations.read(call, request)
                result.model_dump_json()

        for _ in range(rounds):
            found.setdefault("handler", []).append(await _spent(calls, handler))
            for name in ("bench.read", "bench.write"):
                for callers in (1, _CONCURRENT):
                    await as_tasks(callers, callers, lambda caller, turn, name=name: step(name, caller, turn))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                    spent = await _spent(calls, lambda name=name, callers=callers: many(name, callers))  # type: ignore[misc]  # as above
                    found.setdefault(f"{name}, {callers} at once", []).append(spent)
    return {name: _middle(several) for name, several in found.items()}


def _middle(several: list[Spent]) -> Spent:
    return Spent(
        caller_us=median(spent.caller_us for spent in several), others_us=median(spent.others_us for spent in several)
    )


async def drive(way: str, *, host: str, port: int, calls: int, token: str) -> float:
    """CPU microseconds that this process, the server, spends on one of the client's calls."""
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.mcp_client", host, str(port), way, str(calls), token),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert client.stdin is not None and client.stdout is not None
    assert await client.stdout.readline() == b"ready\n", "the client failed"
    before = time.process_time()
    client.stdin.write(b"go\n")
    assert await client.stdout.readline() == b"done\n", "the client failed"
    spent = time.process_time() - before
    client.stdin.write(b"bye\n")
    await client.wait()
    return spent / calls * 1e6


@asynccontextmanager
async def serving_codeplane(folder: Path) -> AsyncIterator[tuple[str, int, str]]:
    """A whole server in this process, for as long as the block runs; gives its host, port and token."""
    workspace, loaded = scratch(folder)
    announced: asyncio.Queue[JsonObject] = asyncio.Queue()
    serving = Serving(workspace, loaded=loaded, operations=[BenchOperations()], announce=announced.put_nowait)
    server = asyncio.ensure_future(serving.run())
    server.add_done_callback(lambda _: announced.put_nowait({}))
    facts = await announced.get()
    if not facts:
        server.result()
    yield str(facts["host"]), int(str(facts["port"])), workspace.owner_token.read_text().strip()
    server.cancel()
    await asyncio.wait({server})


async def mcp(folder: Path, *, calls: int, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Every way in to a whole server, and in turns with it the SDK alone behind the same kind of HTTP server."""
    whole: dict[str, list[float]] = {way: [] for way in WAYS}
    bare: dict[str, list[float]] = {way: [] for way in WAYS if way.startswith("http")}
    async with serving_sdk() as (sdk_host, sdk_port), serving_codeplane(folder) as (host, port, token):
        for _ in range(rounds):
            for way in WAYS:
                whole[way].append(await drive(way, host=host, port=port, calls=calls, token=token))
                if way in bare:
                    bare[way].append(await drive(way, host=sdk_host, port=sdk_port, calls=calls, token=""))
    middles = [{way: median(several) for way, several in found.items()} for found in (whole, bare)]
    return middles[0], middles[1]


async def measure(folder: Path, *, calls: int, rounds: int) -> None:
    """Run everything and print it."""
    alone = await conveyor(folder / "conveyor", calls=calls, rounds=rounds)
    handler = alone.pop("handler").whole_us
    print(f"\nthe conveyor in this process, CPU us a call (the handler itself: {handler:.1f})\n")
    rows = [
        [name, f"{spent.caller_us:.0f}", f"{spent.others_us:.0f}", f"{spent.whole_us:.0f}"]
        for name, spent in alone.items()
    ]
    print(table(["", "conveyor", "log's writer, syncs included", "both"], rows))
    whole, bare = await mcp(folder / "mcp", calls=calls, rounds=rounds)
    print("\na tools/call of a read that does nothing, CPU us of the server beside the handler\n")
    rows = []
    for way, spent_us in whole.items():
        over = spent_us - handler
        without = bare.get(way)
        rows.append(
            [way, f"{over:.0f}", f"{without:.0f}" if without else "", f"{over - without:.0f}" if without else ""]
        )
    print(table(["", "in all", "of it the SDK and HTTP alone", "ours"], rows))
    print("\naims")
    worst = max(spent_us - handler for way, spent_us in whole.items() if way != "rpc") / 1000
    print(f"  an MCP call, the slowest way: {worst:.2f} ms (aim <= {CALL_AIM_MS})")
    for kind in ("read", "write"):
        output = alone[f"bench.{kind}, {_CONCURRENT} at once"].caller_us / 1000
        print(f"  the conveyor, a {kind}: {output:.2f} ms (aim <= {CONVEYOR_AIM_MS})")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="calls in each run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; figures are medians")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        print(machine(Path(name)))
        uvloop.run(measure(Path(name), calls=options.calls, rounds=options.rounds))


if __name__ == "__main__":
    main()
