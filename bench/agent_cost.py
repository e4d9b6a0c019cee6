"""What fixed tasks cost an agent in calls and in bytes to read. `python -m bench.agent_cost --corpus FOLDER`.

Every task is done with ripgrep, cat and sed, and with the core tools; it counts where both reach the facts.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import machine, table
from bench.subjects.agent_tasks import CHANGES, DJANGO, Call, Task
from bench.subjects.corpora import repository
from bench.subjects.served import Served, serving

CALLS_AIM, BYTES_AIM = 0.5, 1.0
_HIT = re.compile(r"^(?:\./)?(?:(?P<path>[^\s:]+):)?(?P<line>\d+):", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one side took for a task, and the facts it did not come to."""

    calls: int
    size: int
    missing: tuple[str, ...]


def by_shell(task: Task, root: Path) -> Cost:
    """The task as commands of a shell."""
    output: list[str] = []
    place = {"path": "", "line": "1"}
    for step in task.shell:
        for name, value in place.items():
            step = step.replace(f"{{{name}}}", value)
        done = subprocess.run(["sh", "-c", step], cwd=root, capture_output=True)
        output.append((done.stdout + done.stderr).decode(errors="replace"))
        if found := _HIT.search(output[-1]):
            place |= {name: value for name, value in found.groupdict().items() if value}
    return _cost(task, output)


def by_tools(task: Task, served: Served) -> Cost:
    """The task as calls of the core tools."""
    return _cost(task, [_called(served, call) for call in task.ours])


def _taken_back(task: Task, served: Served) -> None:
    """Undo what a side changed, so that the other finds the same."""
    if task.kind == "change":
        reset = "git reset --quiet --hard bench && git clean --quiet -fd"
        subprocess.run(["sh", "-c", reset], cwd=served.root, check=True, capture_output=True)
        served.text("search", query="Paginator", mode="literal", fresh="strict")


def _called(served: Served, call: Call) -> str:
    name, arguments = call
    return served.text(name, **arguments)


def _cost(task: Task, output: Sequence[str]) -> Cost:
    whole = "\n".join(output)
    missing = tuple(fact for fact in task.facts if fact not in whole)
    return Cost(calls=len(output), size=sum(len(one.encode()) for one in output), missing=missing)


def measure(tasks: Sequence[Task], served: Served) -> bool:
    """Do every task on both sides and print the table; False when one was not done."""
    rows, failed, reached = [], [], []
    for task in tasks:
        shell = by_shell(task, served.root)
        _taken_back(task, served)
        ours = by_tools(task, served)
        _taken_back(task, served)
        name = f"{task.kind}: {task.asks}"
        for side, cost in (("shell", shell), ("codeplane", ours)):
            if cost.missing:
                failed.append(f"{side} does not reach {', '.join(map(repr, cost.missing))}: {name}")
        if shell.missing or ours.missing:
            continue
        reached.append((shell, ours))
        cells = [str(shell.calls), str(ours.calls), str(shell.size), str(ours.size)]
        rows.append([name[:76], *cells, f"{ours.size / max(shell.size, 1):.2f}x"])
    calls = [sum(one.calls for one in side) for side in zip(*reached, strict=True)]
    sizes = [sum(one.size for one in side) for side in zip(*reached, strict=True)]
    rows.append(["all", *map(str, calls), *map(str, sizes), f"{sizes[1] / sizes[0]:.2f}x"])
    print(table(["", "shell calls", "ours", "shell bytes", "ours", "bytes"], rows))
    for line in failed:
        print(line)
    several = [(shell, ours) for shell, ours in reached if shell.calls > 1]
    print(f"\naims over {len(reached)} of {len(tasks)} tasks that both sides did")
    print(f"  calls {calls[1] / calls[0]:.2f} x (aim <= {CALLS_AIM}); {len(several)} tasks take a shell more than one")
    print(f"  bytes {sizes[1] / sizes[0]:.2f} x (aim <= {BYTES_AIM})")
    return not failed


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="the unpacked Django 5.2 sdist")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        folder = Path(name)
        print(machine(folder))
        corpus = repository(options.corpus, folder / "corpus")
        with serving(corpus.root) as served:
            served.wait(query="main", mode="definitions")
            served.wait(query="where is it read", mode="semantic")
            before = served.cpu()
            subprocess.run(["git", "tag", "bench"], cwd=corpus.root, check=True)
            for name, value in (("user.name", "b"), ("user.email", "b@example.org")):
                subprocess.run(["git", "config", name, value], cwd=corpus.root, check=True)
            done = measure((*DJANGO, *CHANGES), served)
            print(f"  {served.cpu() - before:.1f} CPU s of the server")
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
