"""Explorations: how soon there is a plan and a summary: `python -m bench.explore FOLDER…`.

Each folder is copied, so that nothing is written into it. `from nothing` begins with the start of the plane, without an
index; the others have one.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import uvloop

from bench.measure import machine
from codeplane.adapters.yaml_config import load_workspace_config
from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import Plane, run_plane

_WHO = Caller(surface="embedded", client="bench")
_LEFT_OUT = shutil.ignore_patterns(".codeplane", "target", "node_modules")


async def explore(plane: Plane) -> tuple[float, float, JsonObject]:
    """The milliseconds to the first snapshot, the seconds to the summary, and the summary."""
    began, first, summary = time.perf_counter(), 0.0, dict[str, object]()
    outcome = await plane.conveyor.call("orchestrate.explore.start", {}, _WHO)
    if outcome.result is None:
        raise outcome.error or RuntimeError("no answer")
    asked: JsonObject = {"explore_id": outcome.result.model_dump()["sessionId"]}
    async for item in plane.conveyor.stream("orchestrate.explore.watch", asked, _WHO):
        if not isinstance(item, Result):
            continue
        envelope = item.model_dump(mode="json").get("envelope")
        payload = envelope["payload"] if envelope else {}
        if "planSnapshot" in payload and not first:
            first = (time.perf_counter() - began) * 1000
        summary = payload.get("completed", summary)
    return first, time.perf_counter() - began, summary  # type: ignore[return-value]  # decoded JSON


async def measure(folder: Path, rounds: int) -> None:
    """Print the figures of one repository."""
    workspace = Workspace(root=folder)
    loaded = load_workspace_config(workspace, (), {}).without_terminal()
    began = time.perf_counter()
    async with run_plane(workspace, loaded=loaded) as plane:
        plane.index.start()
        plane.work.start_engine(plane.conveyor)
        first, _, summary = await explore(plane)
        print(f"{folder.name}: {summary['files']} files, entry points {summary['entrypoints']}")
        print(f"  from nothing: first snapshot {first:.0f} ms, summary {time.perf_counter() - began:.1f} s")
        runs = [await explore(plane) for _ in range(rounds)]
        firsts = sorted(first for first, _, _ in runs)
        seconds = sorted(spent for _, spent, _ in runs)
        middle = statistics.median(firsts)
        print(f"  standing index, {rounds} rounds: first snapshot p50 {middle:.0f} ms, p95 {_p95(firsts):.0f} ms")
        print(f"  summary p50 {statistics.median(seconds):.2f} s, slowest {seconds[-1]:.2f} s")
    restarted = [await _after_start(workspace) for _ in range(rounds)]
    starts, firsts = sorted(start for start, _, _ in restarted), sorted(first for _, first, _ in restarted)
    print(
        f"  right after a start, {rounds} starts: ready p50 {statistics.median(starts):.0f} ms, "
        f"p95 {_p95(starts):.0f} ms; then first snapshot p50 {statistics.median(firsts):.0f} ms, "
        f"p95 {_p95(firsts):.0f} ms; summary slowest {max(spent for _, _, spent in restarted):.2f} s"
    )


async def _after_start(workspace: Workspace) -> tuple[float, float, float]:
    """The milliseconds until a plane is ready, and the figures of an exploration that is asked of it first."""
    loaded = load_workspace_config(workspace, (), {}).without_terminal()
    began = time.perf_counter()
    async with run_plane(workspace, loaded=loaded) as plane:
        plane.index.start()
        plane.work.start_engine(plane.conveyor)
        # As a server does before it says that it is ready.
        await plane.until_ready()
        ready = (time.perf_counter() - began) * 1000
        first, spent, _ = await explore(plane)
        return ready, first, spent


def _p95(values: list[float]) -> float:
    return values[min(len(values) - 1, round(0.95 * len(values)))]


def main() -> None:
    """Measure the folders that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    print(machine(Path(tempfile.gettempdir())))
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as place:
            copy = Path(shutil.copytree(folder, Path(place) / folder.name, symlinks=True, ignore=_LEFT_OUT))
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(measure(copy, arguments.rounds))


if __name__ == "__main__":
    main()
