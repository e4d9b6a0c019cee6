"""Searching: every mode inside the server and over MCP, and an edit until it is found. `python -m bench.search`.

The questions are drawn from the tree itself, the same for the same tree; ripgrep, git grep, readtags and Semble are
asked the same ones. Searching 100,000 vectors is in `bench.vectors`.

Questions are asked of a server that is warm and quiet: symbols and vectors are complete, and what began before has
ended. CPU is that of all its processes, so that it counts what the server does after it has answered.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import machine, table
from bench.subjects.corpora import Corpus, repository, texts
from bench.subjects.processes import ran
from bench.subjects.semble import Semble, semble
from bench.subjects.served import Served, serving

# Milliseconds: of the median for exact search, of the 95th percentile for the others.
AIMS = {
    "literal": ("p50", 20.0),
    "regex": ("p50", 20.0),
    "ranked": ("p95", 10.0),
    "definitions": ("p95", 5.0),
    "references": ("p95", 5.0),
    "semantic": ("p95", 25.0),
}
EDIT_AIM_MS = 150.0
_DEFINED = re.compile(
    rb"^[ \t]*(?:export )?(?:async )?(?:def|class|function|interface|func(?: \([^)\n]*\))?) +([A-Za-z_]\w{3,})", re.M
)
_SENTENCE = re.compile(rb"^[ \t#*/]*([A-Z][a-z]+(?: [a-z']+){4,10})[.,:]?$", re.M)
_WARM = 3
_COMPARED = 100
CODE = frozenset({".py", ".ts", ".tsx", ".js", ".go"})
_QUIET_SEC = 1.0
_QUIET_SHARE = 0.05
_QUIET_TRIES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What is asked: names that are defined in the tree, and sentences that stand in it."""

    names: tuple[str, ...]
    sentences: tuple[str, ...]

    def of(self, mode: str) -> list[str]:
        """The questions of a mode."""
        if mode in ("ranked", "semantic", "hybrid"):
            return list(self.sentences)
        if mode == "regex":
            return [rf"\b{name}\s*[(:]" for name in self.names]
        if mode == "literal":
            half = len(self.names) // 2
            return [*self.names[:half], *self.sentences[half:]]
        return list(self.names)


MODES = ("literal", "regex", "ranked", "symbol", "definitions", "references", "semantic", "hybrid")


def questions(root: Path, count: int) -> Questions:
    """Names and sentences of a tree, drawn at random but the same each time."""
    names: set[str] = set()
    sentences: set[str] = set()
    for path, content in texts(root):
        if Path(path).suffix in CODE:
            names.update(name.decode() for name in _DEFINED.findall(content))
            sentences.update(output.decode() for output in _SENTENCE.findall(content))
    chance = random.Random(0)
    drawn = [tuple(chance.sample(sorted(some), min(count, len(some)))) for some in (names, sentences)]
    return Questions(names=drawn[0], sentences=drawn[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long one way of asking took, in milliseconds a question."""

    p50: float
    p95: float
    cpu: float = float("nan")

    @classmethod
    def of(cls, taken: Sequence[float], cpu: float = float("nan")) -> "Times":
        """The times of some questions and the CPU seconds of them all."""
        ordered = sorted(taken)
        last = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
        return cls(p50=ordered[len(ordered) // 2], p95=last, cpu=cpu / len(ordered) * 1000)

    def cells(self) -> list[str]:
        """The figures of one line."""
        cpu = f"{self.cpu:.1f}" if self.cpu == self.cpu else ""
        return [f"{self.p50:.1f}", f"{self.p95:.1f}", cpu]


def quiet(served: Served) -> None:
    """Wait until the server does nothing by itself; one that never rests is said and measured all the same."""
    for _ in range(_QUIET_TRIES):
        before = served.cpu()
        time.sleep(_QUIET_SEC)
        if served.cpu() - before <= _QUIET_SEC * _QUIET_SHARE:
            return
    print(f"the server was still busy after {_QUIET_TRIES * _QUIET_SEC:.0f} s")


def inside(served: Served, mode: str, asked: Sequence[str]) -> Times:
    """What the server says a question took it."""
    for query in asked[:_WARM]:
        served.result("search", query=query, mode=mode)
    before = served.cpu()
    taken = [float(str(served.result("search", query=query, mode=mode)["query_time_ms"])) for query in asked]
    return Times.of(taken, served.cpu() - before)


def over_mcp(served: Served, mode: str, asked: Sequence[str]) -> tuple[Times, float]:
    """What a client waits, and the bytes of an answer."""
    size = 0

    def call(query: str) -> None:
        nonlocal size
        size += len(served.tool("search", query=query, mode=mode))

    return _timed(call, asked), size / len(asked)


def _timed(ask: Callable[[str], object], asked: Sequence[str]) -> Times:
    taken = []
    for query in asked:
        began = time.perf_counter()
        ask(query)
        taken.append((time.perf_counter() - began) * 1000)
    return Times.of(taken)


def commanded(command: Callable[[str], list[str]], root: Path, asked: Sequence[str]) -> Times:
    """A program started for each question."""
    spent = [ran(command(query), root) for query in asked]
    return Times.of([one.wall * 1000 for one in spent], sum(one.cpu for one in spent))


def _ripgrep(query: str, *options: str) -> list[str]:
    return ["rg", "-n", "--no-heading", "--hidden", "-g", "!.git", "-g", "!.codeplane", *options, "-e", query, "."]


def _git_grep(query: str, *options: str) -> list[str]:
    return ["git", "grep", "-n", "-I", *options, "-e", query]


def programs(corpus: Corpus, tags: Path) -> dict[str, list[tuple[str, Callable[[str], list[str]]]]]:
    """The programs that answer a mode; those that are missing are said and left out."""
    found: dict[str, list[tuple[str, Callable[[str], list[str]]]]] = {mode: [] for mode in MODES}
    if shutil.which("rg") is None:
        print("ripgrep is not installed")
    else:
        found["literal"].append(("ripgrep", lambda query: _ripgrep(query, "-F")))
        found["regex"].append(("ripgrep", lambda query: _ripgrep(f"(?-u){query}")))
        found["references"].append(("ripgrep -w", lambda query: _ripgrep(query, "-F", "-w")))
    found["literal"].append(("git grep", lambda query: _git_grep(query, "-F")))
    found["regex"].append(("git grep -P", lambda query: _git_grep(query, "-P")))
    if shutil.which("ctags") is None or shutil.which("readtags") is None:
        print("ctags and readtags are not installed (Debian: universal-ctags)")
    else:
        left_out = ["--exclude=.git", "--exclude=.codeplane"]
        ran(["ctags", "-R", "--fields=+n", *left_out, "-f", str(tags), "."], corpus.root)
        found["definitions"].append(("readtags", lambda query: ["readtags", "-t", str(tags), query]))
        found["symbol"].append(("readtags -p", lambda query: ["readtags", "-t", str(tags), "-p", query]))
    return found


def same_lines(served: Served, corpus: Corpus, asked: Sequence[str], mode: str) -> tuple[int, int]:
    """Of the questions with few answers, for how many we find the very lines that ripgrep finds; and how many."""
    same = compared = 0
    for query in asked:
        option = ["-F"] if mode == "literal" else []
        output = ran(_ripgrep(query if option else f"(?-u){query}", *option), corpus.root).said.splitlines()
        theirs = {tuple(line.removeprefix("./").split(":", 2)[:2]) for line in output}
        if len(theirs) > _COMPARED:
            continue
        found = served.result("search", query=query, mode=mode, limit=_COMPARED)["results"]
        assert isinstance(found, list)
        compared += 1
        same += theirs == {(str(one["path"]), str(one["line"])) for one in found}
    return same, compared


def edits(served: Served, corpus: Corpus, mode: str, rounds: int) -> Times:
    """From a file being written until a search finds what is new in it."""
    files = [path for path, _ in texts(corpus.root) if path.endswith((".py", ".ts"))]
    taken = []
    for number, path in enumerate(random.Random(1).sample(files, rounds)):
        word = f"bench_{mode}_{number}_{time.monotonic_ns()}"
        with (corpus.root / path).open("a") as file:
            file.write(_function(path, word))
        began = time.perf_counter()
        while not served.result("search", query=word, mode=mode)["total"]:
            pass
        taken.append((time.perf_counter() - began) * 1000)
    return Times.of(taken)


def _function(path: str, word: str) -> str:
    return f"\n\ndef {word}():\n    return None\n" if path.endswith(".py") else f"\nfunction {word}() {{}}\n"


def measure(served: Served, corpus: Corpus, peer: Semble | None, *, count: int, rounds: int, folder: Path) -> None:
    """Ask everything, and print it."""
    drawn = questions(corpus.root, count)
    print(f"{len(drawn.names)} names, {len(drawn.sentences)} sentences\n")
    others = programs(corpus, folder / "tags")
    if peer is not None:
        peer.index(corpus.root)
    rows, aims = [], []
    for mode in MODES:
        asked = drawn.of(mode)
        quiet(served)
        ours = inside(served, mode, asked)
        client, size = over_mcp(served, mode, asked)
        rows.append([f"{mode}: in the server", *ours.cells(), ""])
        rows.append([f"{mode}: over MCP", *client.cells(), f"{size:.0f}"])
        for name, command in others[mode]:
            theirs = commanded(command, corpus.root, asked)
            rows.append([f"{mode}: {name}", *theirs.cells(), ""])
            aims.append(f"{mode} over MCP takes {client.p50 / theirs.p50:.2f} x of {name} at p50")
        if peer is not None and mode in ("hybrid", "semantic"):
            rows.append([f"{mode}: {peer.says}", *Times.of(peer.search(asked)).cells(), ""])
        if mode in AIMS:
            at, aim = AIMS[mode]
            aims.append(f"{mode} {at} {ours.p50 if at == 'p50' else ours.p95:.1f} ms (aim <= {aim:.0f})")
    print(table(["", "p50 ms", "p95 ms", "CPU ms", "bytes"], rows))
    if shutil.which("rg"):
        for mode in ("literal", "regex"):
            same, compared = same_lines(served, corpus, drawn.of(mode)[: count // 2], mode)
            print(f"{mode}: the same lines as ripgrep for {same} of {compared} questions with up to {_COMPARED}")
    rows = []
    for mode in ("literal", "definitions"):
        quiet(served)
        times = edits(served, corpus, mode, rounds)
        rows.append([f"one file edited, until {mode} finds it", *times.cells()])
        aims.append(f"edit until {mode} {times.p50:.0f} ms, p95 {times.p95:.0f} (aim <= {EDIT_AIM_MS:.0f})")
    if peer is not None:
        file = next(path for path, _ in texts(corpus.root) if path.endswith((".py", ".ts")))
        word = "bench_word_for_the_peer"
        taken = peer.edit(corpus.root, corpus.root / file, _function(file, word), word)
        rows.append([f"one file edited, until {peer.says} finds it", f"{taken:.0f}", "", ""])
    print("\n" + table(["", "p50 ms", "p95 ms", "CPU ms"], rows) + "\n\naims")
    for line in aims:
        print(f"  {line}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="a tree, as the unpacked Django 5.2 sdist")
    parser.add_argument("--count", type=int, default=50, help="questions of each mode")
    parser.add_argument("--rounds", type=int, default=15, help="edits")
    parser.add_argument("--semble", default=sys.executable, metavar="PYTHON", help="a Python with semble, '' for none")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        folder = Path(name)
        print(machine(folder))
        found = semble(options.semble, folder / "semble") if options.semble else "semble is left out"
        if isinstance(found, str):
            print(found)
        peer = found if isinstance(found, Semble) else None
        corpus = repository(options.corpus, folder / "corpus")
        print(corpus.says(options.corpus.name))
        with serving(corpus.root) as served:
            served.wait(query="main", mode="definitions")
            served.wait(query="where is it read", mode="semantic")
            measure(served, corpus, peer, count=options.count, rounds=options.rounds, folder=folder)


if __name__ == "__main__":
    main()
