"""Durable steps a second, CodePlane beside LangGraph and DBOS: `python -m bench.ledger`."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from bench.measure import Sample, file_system, machine, median, table
from bench.subjects import Variant

PEERS = {"langgraph": ("langgraph", "langgraph.checkpoint.sqlite"), "dbos": ("dbos",)}
LEVELS = {1: 300, 20: 2000, 100: 2000, 500: 2000}
ANCHOR = 20
AIMS = {"langgraph": 3.0, "dbos": 10.0}
EVENT_AIM_US = 80.0
_RUN_SEC = 600
_SYNC_STEPS = 200


class Runs:
    """Runs subjects, each in a process and a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)

    def run(self, system: str, variant: str, callers: int, steps: int, *, under: Sequence[str] = ()) -> Sample:
        """One sample."""
        folder = self._folder / f"{next(self._numbers):03}-{system}"
        folder.mkdir()
        command = [sys.executable, "-m", "bench.subjects", system, variant, str(callers), str(steps), str(folder)]
        try:
            done = subprocess.run([*under, *command], capture_output=True, text=True, timeout=_RUN_SEC)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        line = next((line for line in done.stdout.splitlines() if line.startswith("sample:")), None)
        if done.returncode or line is None:
            raise RuntimeError(f"{system} {variant} failed:\n{done.stdout}\n{done.stderr[-3000:]}")
        return Sample(**json.loads(line.removeprefix("sample:")))

    def syncs(self, system: str, variant: str) -> float | None:
        """How often a step asks the disk to sync, at the anchor's concurrency; None without strace."""
        strace = shutil.which("strace")
        if strace is None:
            return None
        counted = []
        for steps in (ANCHOR, ANCHOR + _SYNC_STEPS):
            report = self._folder / "syncs.txt"
            self.run(
                system, variant, ANCHOR, steps, under=[strace, "-f", "-c", "-e", "fsync,fdatasync", "-o", str(report)]
            )
            totals = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+).*\bf(?:data)?sync$", report.read_text(), re.M)
            counted.append(sum(map(int, totals)))
        return (counted[1] - counted[0]) / _SYNC_STEPS


def installed(system: str) -> bool:
    """Whether a peer's packages are here."""
    try:
        return all(find_spec(name) is not None for name in PEERS[system])
    except ModuleNotFoundError:
        return False


def variants(system: str) -> tuple[Variant, ...]:
    """The ways a system can be run."""
    found: tuple[Variant, ...] = import_module(f"bench.subjects.{system}").VARIANTS
    return found


def choose(runs: Runs, system: str, ours: Sample) -> str:
    """Run every variant of a peer at the anchor's concurrency, show them, and take the fastest comparable one."""
    print(f"\n{system}: every variant at {ANCHOR} callers; the fastest of the comparable ones is its entry\n")
    rows, rates = [], {}
    for variant in variants(system):
        sample = runs.run(system, variant.name, ANCHOR, LEVELS[ANCHOR] // 2)
        if variant.comparable:
            rates[variant.name] = sample.rate
        rows.append(
            [
                variant.says,
                "yes" if variant.comparable else "no",
                f"{sample.rate:.0f}",
                f"{sample.cpu_us:.0f}",
                f"{ours.rate / sample.rate:.1f}x",
                f"{sample.cpu_us / ours.cpu_us:.1f}x",
            ]
        )
    print(table(["variant", "comparable", "steps/s", "CPU us/step", "ours by wall", "by CPU"], rows))
    return max(rates, key=lambda name: rates[name])


def appends(runs: Runs, rounds: int) -> float:
    """CodePlane's log by itself; returns the CPU an event costs at the anchor's concurrency, tables included."""
    print("\nCodePlane's log: bare events, and a call's intent and outcome with every table that follows calls\n")
    rows, anchor = [], 0.0
    for name, per_step in (("append", 1), ("projected", 2)):
        for callers, steps in LEVELS.items():
            sample = median([runs.run("codeplane", name, callers, steps * 4) for _ in range(rounds)])
            if (name, callers) == ("projected", ANCHOR):
                anchor = sample.cpu_us / per_step
            rows.append([f"{name}, {callers} callers", *_ledger_cells(sample)])
    print(table(["", "events/s", "CPU us/event", "p50 ms", "p95 ms", "commits", "events/commit"], rows))
    return anchor


def _ledger_cells(sample: Sample) -> list[str]:
    events, commits = sample.extra["events"], sample.extra["commits"]
    return [
        f"{events / sample.wall:.0f}",
        f"{sample.cpu / events * 1e6:.0f}",
        f"{sample.p50_ms:.2f}",
        f"{sample.p95_ms:.2f}",
        f"{commits:.0f}",
        f"{events / max(commits, 1):.1f}",
    ]


def steps(runs: Runs, chosen: Mapping[str, str], rounds: int) -> dict[int, dict[str, Sample]]:
    """Every system at every concurrency, in turns, so that what disturbs one disturbs all."""
    found: dict[int, dict[str, Sample]] = {}
    for callers, number in LEVELS.items():
        samples: dict[str, list[Sample]] = {system: [] for system in chosen}
        for _ in range(rounds):
            for system, variant in chosen.items():
                samples[system].append(runs.run(system, variant, callers, number))
        found[callers] = {system: median(taken) for system, taken in samples.items()}
    return found


def show_steps(found: Mapping[int, Mapping[str, Sample]], chosen: Mapping[str, str]) -> None:
    """The table of steps, with CodePlane's ratio to each peer."""
    print("\nDurable steps: the same number at the same concurrency; a ratio over 1 is in CodePlane's favour\n")
    rows = []
    for callers, samples in found.items():
        ours = samples["codeplane"]
        for system, sample in samples.items():
            own = system == "codeplane"
            events = sample.extra.get("events")
            rows.append(
                [
                    f"{callers} callers: {system} {chosen[system]}",
                    f"{sample.units}",
                    f"{sample.rate:.0f}",
                    f"{events / sample.wall:.0f}" if events else "",
                    f"{sample.cpu_us:.0f}",
                    f"{sample.p50_ms:.2f}",
                    f"{sample.p95_ms:.2f}",
                    f"{sample.extra['commits']:.0f}" if own else "",
                    "" if own else f"{sample.wall / ours.wall:.1f}x",
                    "" if own else f"{sample.cpu / ours.cpu:.1f}x",
                ]
            )
    headings = ["", "steps", "steps/s", "events/s", "CPU us/step", "p50 ms", "p95 ms", "commits", "by wall", "by CPU"]
    print(table(headings, rows))


def show_work(runs: Runs, found: Mapping[int, Mapping[str, Sample]], rounds: int) -> None:
    """Steps of work items that the engine runs, beside the peers' durable steps."""
    sample = median([runs.run("codeplane", "work", ANCHOR, LEVELS[ANCHOR]) for _ in range(rounds)])
    peers = {system: peer for system, peer in found[ANCHOR].items() if system != "codeplane"}
    ratios = [
        f"{system} {peer.wall / sample.wall:.1f}x by wall, {peer.cpu / sample.cpu:.1f}x by CPU"
        for system, peer in peers.items()
    ]
    print(
        f"\nsteps of {ANCHOR} work items at once: {sample.rate:.0f} a second, CPU {sample.cpu_us:.0f} us a step; "
        f"{'; '.join(ratios) or 'no peer is installed'}"
    )


def show_syncs(runs: Runs, chosen: Mapping[str, str]) -> None:
    """How often each system waits for the disk."""
    counts = {system: runs.syncs(system, variant) for system, variant in chosen.items()}
    output = [f"{system} {found:.2f}" for system, found in counts.items() if found is not None]
    print(f"\nsyncs a step at {ANCHOR} callers: {', '.join(output) or 'strace is not installed: not counted'}")


def show_aims(found: Mapping[int, Mapping[str, Sample]], event_us: float) -> None:
    """What was aimed for and what came out."""
    print("\naims")
    print(f"  CPU an event, tables included, {ANCHOR} callers: {event_us:.0f} us (aim <= {EVENT_AIM_US:.0f})")
    ours = found[ANCHOR]["codeplane"]
    for system, aim in AIMS.items():
        if (peer := found[ANCHOR].get(system)) is not None:
            wall, cpu = peer.wall / ours.wall, peer.cpu / ours.cpu
            print(f"  {system} at {ANCHOR}: {wall:.1f}x by wall, {cpu:.1f}x by CPU (aim >= {aim:.0f}x)")


def main() -> int:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; figures are medians")
    parser.add_argument("--folder", type=Path, help="where the databases go; a disk, not a tmpfs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-", dir=options.folder) as name:
        folder = Path(name)
        print(machine(folder))
        if file_system(folder) in ("tmpfs", "ramfs"):
            print(f"WARNING: {folder} is in memory, where a sync costs nothing: choose a disk with --folder")
        runs = Runs(folder)
        present = [system for system in PEERS if installed(system)]
        event_us = appends(runs, options.rounds)
        ours = runs.run("codeplane", "step", ANCHOR, LEVELS[ANCHOR])
        chosen = {"codeplane": "step", **{system: choose(runs, system, ours) for system in present}}
        found = steps(runs, chosen, options.rounds)
        show_work(runs, found, options.rounds)
        show_steps(found, chosen)
        show_syncs(runs, chosen)
        keyed = median([runs.run("codeplane", "keyed", ANCHOR, LEVELS[ANCHOR]) for _ in range(options.rounds)])
        print(f"with an idempotency key, {ANCHOR} callers: {keyed.rate:.0f} steps/s, CPU {keyed.cpu_us:.0f} us a step")
        show_aims(found, event_us)
        for system in PEERS:
            if system not in present:
                print(f"\nSKIPPED: {system} is NOT INSTALLED, so nothing was compared with it. Install: make bench")
    return 0 if len(present) == len(PEERS) else 3


if __name__ == "__main__":
    raise SystemExit(main())
