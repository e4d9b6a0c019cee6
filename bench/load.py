"""Many MCP clients at once: calls a second, latency, errors and memory. `python -m bench.load`.

Every client is a process of its own that searches, reads and edits with structured answers (over stdio: with text), one
call after another, over HTTP of 2025-11-25 or the way that is chosen. Clients over HTTP then call the MCP SDK's own
server in the same run: with the same calls, which it answers with what was answered before and no work at all, so that
as many bytes go both ways; and with a tool that adds one to a number. All servers are processes of their own, so CPU
seconds are theirs alone. The clients share the machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import machine, table
from bench.search import CODE, questions, quiet
from bench.subjects.corpora import committed, generated, repository
from bench.subjects.processes import cpu, memory
from bench.subjects.served import serving

SHARE_AIM, READS_AIM, EDITS_AIM, TAIL_AIM = 0.5, 300, 60, 10
_SAMPLES = 10
_QUESTIONS = 40
WAYS = ("http-legacy", "http-modern", "stdio-legacy", "stdio-modern")
Calls = dict[str, list[dict[str, object]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one server did under it."""

    seconds: float
    taken: dict[str, list[float]]
    errors: list[str]
    cpu: float
    memory: list[tuple[float, float]]
    received: int
    # Some answers to each kind of call, as they came.
    answers: dict[str, list[str]]

    @property
    def calls(self) -> int:
        """All calls that were answered."""
        return sum(map(len, self.taken.values()))

    def rate(self, kind: str | None = None) -> float:
        """Calls a second, of one kind or of all."""
        return (len(self.taken[kind]) if kind else self.calls) / self.seconds


def run(port: int, process: int, calls: Calls, *, clients: int, seconds: float, way: str = "http-legacy") -> Load:
    """Let the clients call the server at a port for a time."""
    plans = [
        {"client": client, "port": port, "seconds": seconds, "calls": calls, "way": way} for client in range(clients)
    ]
    with _started(plans) as workers:
        before, began = cpu(process), time.monotonic()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        held = [(0.0, memory(process))]
        while (elapsed := time.monotonic() - began) < seconds:
            time.sleep(min(seconds / _SAMPLES, seconds - elapsed))
            held.append((time.monotonic() - began, memory(process)))
        answers = [json.loads(_line(worker)) for worker in workers]
        wall, spent = time.monotonic() - began, cpu(process) - before
    return Load(
        seconds=wall,
        taken={kind: [ms for answer in answers for ms in answer["taken"][kind]] for kind in calls},
        errors=[error for answer in answers for error in answer["errors"]],
        cpu=spent,
        memory=held,
        received=sum(answer["received"] for answer in answers),
        answers=answers[0]["answers"],
    )


@contextmanager
def _started(plans: Sequence[dict[str, object]]) -> Iterator[list["subprocess.Popen[str]"]]:
    command = [sys.executable, "-m", "bench.load_client"]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) for _ in plans
    ]
    try:
        for worker, plan in zip(workers, plans, strict=True):
            assert worker.stdin is not None
            worker.stdin.write(json.dumps(plan) + "\n")
            worker.stdin.flush()
        for worker in workers:
            if _line(worker) != "ready\n":
                raise RuntimeError("a client could not connect")
        yield workers
    finally:
        for worker in workers:
            worker.terminate()
            worker.wait(60)


def _line(worker: "subprocess.Popen[str]") -> str:
    assert worker.stdout is not None
    return worker.stdout.readline()


def results(calls: Calls, load: Load) -> dict[str, list[object]]:
    """The results that tools gave, by their names."""
    found: dict[str, list[object]] = {}
    for kind, answers in load.answers.items():
        name = str(calls[kind][0]["name"])
        for answer in answers:
            # Large answers come as events.
            line = next(line for line in answer.splitlines() if '"result"' in line)
            found.setdefault(name, []).append(json.loads(line[line.index("{") :])["result"])
    return found


@contextmanager
def _sdk_server(answers: Path | None = None) -> Iterator[tuple[int, int]]:
    """The port and the process of a bare SDK server; its tools give the results in a file, by their names."""
    command = [sys.executable, "-m", "bench.sdk_server", *([str(answers)] if answers else [])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    try:
        yield int(process.stdout.readline()), process.pid
    finally:
        process.stdin.close()
        process.wait(60)


def mixed_calls(root: Path, weights: dict[str, int]) -> Calls:
    """A round of calls with the given weights, drawn from the tree and the same for the same tree."""
    asked = questions(root, _QUESTIONS)
    code = [path for path in root.rglob("*") if path.suffix in CODE and path.is_file()]
    # Of the language with most files.
    (suffix, _), *_ = Counter(path.suffix for path in code).most_common()
    paths = sorted(path.relative_to(root).as_posix() for path in code if path.suffix == suffix)[:_QUESTIONS]
    search: list[dict[str, object]] = [
        {"query": name, "mode": mode, "limit": 10}
        for name, mode in zip(asked.names, ("literal", "definitions", "ranked", "symbol") * _QUESTIONS, strict=False)
    ]
    read: list[dict[str, object]] = [{"ranges": [{"path": path, "start_line": 1, "end_line": 40}]} for path in paths]
    content = "".join(f"def step_{line}() -> int:\n    return $number + {line}\n\n\n" for line in range(20))
    write: list[dict[str, object]] = [{"edits": [{"path": "load/client_$client.py", "content": content}]}]
    tools = {"search": "search", "read": "read_files", "write": "write_files"}
    arguments: Calls = {"search": search, "read": read, "write": write}
    turns = max(1, _QUESTIONS // max(weights.values()))
    return {
        kind: [
            {"name": tools[kind], "arguments": arguments[kind][turn % len(arguments[kind])]}
            for turn in range(turns * weight)
        ]
        for kind, weight in weights.items()
        if weight
    }


def report(ours: Load, bare: Load, trivial: Load) -> None:
    """Print all, and their ratios against the aims."""
    rows = []
    for name, load in (("codeplane", ours), ("bare SDK server", bare), ("bare SDK server, adding one", trivial)):
        for kind, taken in [*load.taken.items(), ("all", [ms for some in load.taken.values() for ms in some])]:
            ordered = sorted(taken) or [float("nan")]
            p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
            spent = f"{load.cpu / max(1, load.calls) * 1000:.2f}" if kind == "all" else ""
            rows.append(
                [
                    f"{name}, {kind}",
                    f"{len(taken) / load.seconds:.0f}",
                    f"{p50:.0f}",
                    f"{p99:.0f}",
                    f"{p99 / p50:.1f}",
                    spent,
                    f"{load.received / max(1, load.calls):.0f}" if kind == "all" else "",
                ]
            )
    print(table(["", "calls/s", "p50 ms", "p99 ms", "p99/p50", "CPU ms a call", "bytes an answer"], rows))
    print("\nmemory of codeplane, MB after seconds: " + ", ".join(f"{mb:.0f} ({at:.0f})" for at, mb in ours.memory))
    print(f"CPU seconds a wall second: codeplane {ours.cpu / ours.seconds:.2f}, bare {bare.cpu / bare.seconds:.2f}")
    print(f"errors: codeplane {len(ours.errors)}, bare {len(bare.errors) + len(trivial.errors)}")
    for error in [*ours.errors, *bare.errors, *trivial.errors][:5]:
        print(f"  {error}")
    reads = sum(ours.rate(kind) for kind in ("search", "read") if kind in ours.taken)
    edits = ours.rate("write") if "write" in ours.taken else 0.0
    print("\naims")
    for name, load in (("that gives the same answers", bare), ("that adds one", trivial)):
        print(f"  calls against the bare server {name}: {ours.rate() / load.rate():.2f} x (aim >= {SHARE_AIM})")
        print(f"  CPU a call against it: {(ours.cpu / ours.calls) / (load.cpu / load.calls):.2f} x")
    print(f"  searches and reads: {reads:.0f} a second (aim >= {READS_AIM})")
    print(f"  durable edits: {edits:.0f} a second (aim >= {EDITS_AIM})")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each server is called")
    parser.add_argument("--corpus", type=Path, help="a tree to copy; 1,000 generated files without it")
    parser.add_argument("--mix", default="search=5,read=5,write=2", help="how often each kind is called")
    parser.add_argument("--way", choices=WAYS, default=WAYS[0], help="how the clients call; the bare server by HTTP")
    options = parser.parse_args()
    weights = {name: int(weight) for name, weight in (part.split("=") for part in options.mix.split(","))}
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        folder = Path(name)
        print(machine(folder), flush=True)
        root = folder / "repository"
        if options.corpus:
            repository(options.corpus, root)
        else:
            committed(generated(root, files=1000))
        calls = mixed_calls(root, weights)
        adding: Calls = {"call": [{"name": "bench_read", "arguments": {"value": 1}}]}
        answers = folder / "answers.json"
        with serving(root, "limits.max_mutations=1000000000", "sessions.max_open=1000") as served:
            served.wait(query="make_reader", mode="definitions")
            # Vectors of a large tree are made after all else, and would count as the cost of calls.
            quiet(served)
            ours = run(
                served.port, served.process, calls, clients=options.clients, seconds=options.seconds, way=options.way
            )
        answers.write_text(json.dumps(results(calls, ours)))
        with _sdk_server(answers) as (port, process):
            bare = run(port, process, calls, clients=options.clients, seconds=options.seconds)
        with _sdk_server() as (port, process):
            trivial = run(port, process, adding, clients=options.clients, seconds=options.seconds)
        report(ours, bare, trivial)


if __name__ == "__main__":
    main()
