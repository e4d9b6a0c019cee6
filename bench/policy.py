"""Decisions of the policy: from memory, and evaluated anew. `python -m bench.policy`."""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import Sample, Stopwatch, machine, median, table
from codeplane.adapters.rego import Rego
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


@contextmanager
def _policy(folder: Path, text: str) -> Iterator[Policy]:
    place = folder / ".codeplane" / "policy"
    place.mkdir(parents=True)
    if text:
        (place / "own.rego").write_text(text)
    config = PolicyConfig()
    policy = Policy(folder=place, engine=Rego(timeout_ms=config.timeout_ms), config=config, clock=SystemClock())
    try:
        policy.settle(30.0)
        yield policy
    finally:
        policy.close()


def _timed(calls: int, decide: Callable[[int], object]) -> Sample:
    latencies = []
    with Stopwatch() as watch:
        for number in range(calls):
            started = time.perf_counter_ns()
            decide(number)
            latencies.append(time.perf_counter_ns() - started)
    return Sample.of(watch, latencies)


def measure(folder: Path, *, calls: int, rounds: int) -> None:
    """Run everything and print it."""
    rows = []
    for name, text in (("shipped", ""), ("with two own rules", _OWN)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        anew: list[Sample] = []
        known: list[Sample] = []
        with _policy(folder / name.replace(" ", "-"), text) as policy:
            for turn in range(rounds):
                first = 1 + turn * calls
                anew.append(_timed(calls, lambda number, first=first: policy.decide(_document(first + number))))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                policy.decide(_document(0))
                known.append(_timed(calls, lambda number: policy.decide(_document(0))))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        theirs = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / (calls * rounds) * 1e6
        for what, samples, beside in (("evaluated", anew, theirs), ("from memory", known, 0.0)):
            found = median(samples)
            figures = [f"{found.p50_ms:.3f}", f"{found.p95_ms:.3f}", f"{found.cpu_us:.0f}", f"{beside:.0f}"]
            rows.append([f"{name}, {what}", *figures])
    print(table(["", "p50 ms", "p95 ms", "CPU us here", "CPU us of the interpreter, its start included"], rows))
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
