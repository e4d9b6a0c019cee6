"""Durable turns of five tools a second, CodePlane beside LangGraph and DBOS: `python -m bench.turns`."""

import argparse
import tempfile
from pathlib import Path

from bench.ledger import Runs, installed, variants
from bench.measure import Sample, file_system, machine, median, table
from bench.subjects.turn_script import TOOLS

PEERS = ("langgraph", "dbos")
LEVELS = {1: 40, 20: 100, 100: 200}
ANCHOR = 20
AIM = 5.0


def choose(runs: Runs, system: str) -> str:
    """The fastest variant of a peer at the anchor's concurrency."""
    rates = {
        variant.name: runs.run(f"{system}_turns", variant.name, ANCHOR, LEVELS[ANCHOR] // 2).rate
        for variant in variants(f"{system}_turns")
        if variant.comparable
    }
    return max(rates, key=lambda name: rates[name])


def measure(runs: Runs, chosen: dict[str, str], rounds: int) -> dict[int, dict[str, Sample]]:
    """Every system at every concurrency, in turns, so that what disturbs one disturbs all."""
    found: dict[int, dict[str, Sample]] = {}
    for callers, number in LEVELS.items():
        samples: dict[str, list[Sample]] = {system: [] for system in chosen}
        for _ in range(rounds):
            for system, variant in chosen.items():
                samples[system].append(runs.run(f"{system}_turns", variant, callers, number))
        found[callers] = {system: median(taken) for system, taken in samples.items()}
    return found


def show(found: dict[int, dict[str, Sample]], chosen: dict[str, str]) -> None:
    """The table of turns, with CodePlane's ratio to each peer."""
    rows = []
    for callers, samples in found.items():
        ours = samples["codeplane"]
        for system, sample in samples.items():
            own = system == "codeplane"
            rows.append(
                [
                    f"{callers} threads: {system} {chosen[system]}",
                    f"{sample.rate:.1f}",
                    f"{sample.rate * TOOLS:.0f}",
                    f"{sample.cpu_us / TOOLS / 1000:.2f}",
                    f"{sample.p50_ms:.0f}",
                    f"{sample.p95_ms:.0f}",
                    f"{sample.extra['events'] / sample.units:.0f}" if own else "",
                    "" if own else f"{sample.wall / ours.wall:.2f}x",
                    "" if own else f"{sample.cpu / ours.cpu:.2f}x",
                ]
            )
    headings = ["", "turns/s", "tool steps/s", "CPU ms/step", "p50 ms", "p95 ms", "events/turn", "by wall", "by CPU"]
    print(f"\nTurns of {TOOLS} tools and {TOOLS + 1} answers of a model; a ratio over 1 is in CodePlane's favour\n")
    print(table(headings, rows))


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
        chosen = {"codeplane": "turn", **{system: choose(runs, system) for system in present}}
        found = measure(runs, chosen, options.rounds)
        show(found, chosen)
        words = median([runs.run("codeplane_turns", "words", 1, 1) for _ in range(options.rounds)])
        print(
            "\nfrom a word of the model to 100 watchers in this process: "
            f"the first p50 {words.extra['first_p50_ms']:.0f} ms, p95 {words.extra['first_p95_ms']:.0f} ms; "
            f"later ones p50 {words.p50_ms:.0f} ms, p95 {words.p95_ms:.0f} ms (aims 50 and 120 ms)"
        )
        for system in present:
            ratio = found[ANCHOR][system].wall / found[ANCHOR]["codeplane"].wall
            print(f"{system} at {ANCHOR} threads: {ratio:.2f}x by wall" + (f" (aim {AIM:.0f}x)" * (system == PEERS[0])))
        for system in PEERS:
            if system not in present:
                print(f"\nSKIPPED: {system} is NOT INSTALLED, so nothing was compared with it. Install: make bench")
    return 0 if len(present) == len(PEERS) else 3


if __name__ == "__main__":
    raise SystemExit(main())
