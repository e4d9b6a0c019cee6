"""Decisions of the policy: from memory, and evaluated again. `python -m bench.policy`."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.measure import Sample, Stopwatch, machine, median, table
from codeplane.adapters.rego import Rego, RegoProgram
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import PolicyConfig
from codeplane.kernel.json import JsonObject
from codeplane.trust.policy.policy import Policy

AIM_MS = 0.5
_OWN = """package codeplane.policy

deny contains "main is only changed by pull request" if {
	input.operation.name == "git.push"
	"force" in input.effects
}

ask contains sprintf("%s is released code", [path]) if {
	input.actor.kind == "agent"
	some path in input.paths
	startswith(path, "release/")
}
"""


def _document(number: int) -> JsonObject:
    return {
        "actor": {"kind": "agent", "id": "mcp:editor", "owner": "owner"},
        "operation": {"name": f"git.push{number}", "family": "git", "capability": "execute_tools", "mutates": True},
        "risk": "EXFILTRATION",
        "effects": ["it pushes main to origin"],
        "paths": ["src/app.py", "src/cart.py"],
        "remotes": ["origin"],
        "resources": [],
        "arguments": {"remote": "origin"},
        "context": {
            "mode": "trust",
            "allow": ["git.reset"],
            "surface": "mcp",
            "client": "editor",
            "session_id": "session",
            "task_id": "task",
            "workspace": "",
            "untrusted": False,
            "grant": None,
        },
        "cut": [],
    }


class _Watched(Rego):
    """Remembers its last program, whose process is measured beside ours."""

    made: RegoProgram | None = None

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> RegoProgram:
        self.made = super().program(sources, packages=packages, entry=entry)
        return self.made

    def cpu_us(self) -> float:
        """What the interpreter's process has spent so far; nothing where the system does not say."""
        try:
            return int(Path(f"/proc/{self.made.pid if self.made else 0}/schedstat").read_text().split()[0]) / 1000
        except OSError:
            return 0.0


@contextmanager
def _policy(folder: Path, text: str, engine: Rego) -> Iterator[Policy]:
    place = folder / ".codeplane" / "policy"
    place.mkdir(parents=True)
    if text:
        (place / "own.rego").write_text(text)
    policy = Policy(folder=place, engine=engine, config=PolicyConfig(), clock=SystemClock())
    try:
        policy.wait_until_compiled(30.0)
        yield policy
    finally:
        policy.close()


async def _timed(policy: Policy, documents: Iterable[JsonObject]) -> Sample:
    latencies = []
    with Stopwatch() as watch:
        for document in documents:
            started = time.perf_counter_ns()
            await policy.decide_async(document)
            latencies.append(time.perf_counter_ns() - started)
    return Sample.of(watch, latencies)


def measure(folder: Path, *, calls: int, rounds: int) -> None:
    """Run everything and print it."""
    rows = []
    for name, text in (("shipped", ""), ("with two own rules", _OWN)):
        anew: list[Sample] = []
        known: list[Sample] = []
        beside_us: list[float] = []
        engine = _Watched(timeout_ms=PolicyConfig().timeout_ms)
        with _policy(folder / name.replace(" ", "-"), text, engine) as policy:
            for turn in range(rounds):
                first, before = 1 + turn * calls, engine.cpu_us()
                anew.append(asyncio.run(_timed(policy, [_document(first + number) for number in range(calls)])))
                beside_us.append((engine.cpu_us() - before) / calls)
                policy.decide(_document(0))
                known.append(asyncio.run(_timed(policy, [_document(0)] * calls)))
        theirs = sorted(beside_us)[rounds // 2]
        for what, samples, beside in (("evaluated", anew, theirs), ("from memory", known, 0.0)):
            found = median(samples)
            figures = [f"{found.p50_ms:.3f}", f"{found.p95_ms:.3f}", f"{found.cpu_us:.0f}", f"{beside:.0f}"]
            rows.append([f"{name}, {what}", *figures])
    print(table(["", "p50 ms", "p95 ms", "CPU us here", "CPU us of the interpreter"], rows))
    print(f"\naim: {AIM_MS} ms p50 evaluated")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(machine(Path(folder)))
        measure(Path(folder), calls=given.calls, rounds=given.rounds)


if __name__ == "__main__":
    main()
