"""Renames against what type checkers say refers to a symbol. `python -m bench.rename --data FILE --root FOLDER`.

The data is that of `bench.references`. What would be applied is scored by precision and recall, what is proposed beside
it by recall alone; a family of overrides is a choice, so what both of its plans do counts as applied, and the rest as
proposed. `at_once` is the share of symbols whose plan asks nothing back. `--peers rope,jedi` runs those on the same
symbols in the same run, each in a process of the Python named by `--peer-python` and with a time limit a symbol; rope
is also run with the files that it cannot parse left out, since one of them stops it. For TypeScript
`bench/typescript_truth.mjs` makes the data.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bench.measure import machine, table
from bench.references import Asked, Lines, Place, bound_at, parsed, symbols
from codeplane.code.resolve.world import SharedModules, World
from codeplane.index.fact_store import FactStore
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.search.symbols import Target
from codeplane.refactor.draft import Draft, Edit
from codeplane.refactor.rename.planner import plan_rename

_SURE = frozenset({"PROVEN", "STRONG"})
_NEW = "zz_renamed_zz"
_PLAN_SEC = 60.0
_WARM_SEC = 600.0
_SUBJECT = Path(__file__).parent / "subjects" / "rename_peer.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one tool would do about one symbol; `failed` says why it would do nothing."""

    applied: frozenset[Place] = frozenset()
    proposed: frozenset[Place] = frozenset()
    seconds: float = 0.0
    cpu: float = 0.0
    failed: str = ""
    choice: bool = False


@dataclass(slots=True)
class Score:
    """What a tool did about some symbols."""

    symbols: int = 0
    certain: int = 0
    claimed: int = 0
    right: int = 0
    with_proposals: int = 0
    exact: int = 0
    failed: int = 0
    choices: int = 0
    at_once: int = 0
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def note(self, asked: Asked, answer: Answer) -> None:
        """Count one answer."""
        claimed = answer.applied - asked.disputed
        self.symbols += 1
        self.certain += len(asked.certain)
        self.claimed += len(claimed)
        self.right += len(claimed & asked.certain)
        self.with_proposals += len((answer.applied | answer.proposed) & asked.certain)
        self.exact += claimed == asked.certain
        self.failed += bool(answer.failed)
        self.choices += answer.choice
        self.at_once += not (answer.failed or answer.choice or answer.proposed)
        self.seconds.append(answer.seconds)
        self.cpu.append(answer.cpu)

    def row(self, tool: str, kind: str) -> list[str]:
        """The figures of one line."""
        times, cpu = sorted(self.seconds), sorted(self.cpu)
        return [
            tool,
            kind,
            str(self.symbols),
            str(self.certain),
            _ratio(self.right, self.claimed),
            str(self.claimed - self.right),
            _ratio(self.right, self.certain),
            _ratio(self.with_proposals, self.certain),
            _ratio(self.exact, self.symbols),
            _ratio(self.at_once, self.symbols),
            str(self.choices),
            str(self.failed),
            f"{times[len(times) // 2] * 1000:.1f}",
            f"{times[len(times) * 95 // 100] * 1000:.1f}",
            f"{cpu[len(cpu) // 2] * 1000:.1f}" if any(cpu) else "-",
        ]


HEADS = [
    "tool",
    "kind",
    "symbols",
    "certain",
    "precision",
    "wrong",
    "recall",
    "+proposed",
    "exact",
    "at_once",
    "choices",
    "failed",
]
HEADS += ["p50_ms", "p95_ms", "cpu_p50"]


class Ours:
    """The planner on a warm index; where there is a choice, what all candidates do counts as applied."""

    def __init__(self, snapshot: Snapshot, store: FactStore) -> None:
        self._snapshot = snapshot
        self._store = store
        self._shared = SharedModules()
        self._lines: dict[str, Lines] = {}

    def answer(self, asked: Asked) -> Answer:
        """Plan one rename."""
        world = World(self._snapshot, self._store, self._shared)
        facts = world.facts(asked.file)
        at = self._of(asked.file).offset(asked.line, asked.column)
        bound = bound_at(facts, asked.file, at) if facts is not None else None
        if facts is None or bound is None:
            return Answer(failed="not known as a definition")
        definition = next((one for one in facts.definitions if one.name_at == at), None)
        target = Target(bound=bound, symbol=None, definition=definition)
        began, cpu = time.perf_counter(), time.process_time()
        try:
            draft = plan_rename(world, self._store, target, _NEW, deadline=time.monotonic() + _PLAN_SEC)
        except CodePlaneError as error:
            return Answer(failed=f"{error.name}: {error.message}", seconds=time.perf_counter() - began)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        return Answer(
            applied=frozenset(self._places(edit for edit in (*draft.edits, *_shared(draft)) if edit.tier in _SURE)),
            proposed=frozenset(self._places(_proposals(draft))),
            seconds=seconds,
            cpu=cpu,
            choice=bool(draft.candidates),
        )

    def _places(self, edits: Iterator[Edit]) -> Iterator[Place]:
        """Where edits are; those in strings and comments are in no data."""
        for edit in edits:
            known = self._snapshot.files[edit.path]
            facts = self._store.facts(edit.path, known.digest)
            if facts is not None and not facts.in_text(edit.start):
                yield self._of(edit.path).place(edit.path, edit.start)

    def _of(self, path: str) -> Lines:
        if path not in self._lines:
            self._lines[path] = Lines(self._snapshot.text(self._snapshot.files[path]))
        return self._lines[path]


def _shared(draft: Draft) -> list[Edit]:
    """The edits that are made whichever candidate is chosen."""
    sure = [[edit for edit in one.edits if edit.tier in _SURE] for one in draft.candidates]
    plans = [{(edit.path, edit.start, edit.new) for edit in edits} for edits in sure]
    common = set.intersection(*plans) if plans else set()
    edits = draft.candidates[0].edits if plans else ()
    return [edit for edit in edits if (edit.path, edit.start, edit.new) in common]


def _proposals(draft: Draft) -> Iterator[Edit]:
    yield from (edit for edit in draft.edits if edit.tier not in _SURE)
    for one in draft.candidates:
        yield from one.edits


class Peer:
    """Another tool in a process of its own, one line in and one line out."""

    def __init__(self, python: str, tool: str, root: Path, limit: float, *, ignore: Sequence[str] = ()) -> None:
        self._command = [python, str(_SUBJECT), tool, str(root), str(limit), *ignore]
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None

    def answer(self, asked: Asked) -> Answer:
        """Ask for one symbol; a process that does not even give up in time is ended, and a new one takes over."""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._told(_WARM_SEC)
            # What is parsed for the first question is kept for all others, so that none of them is charged for it.
            self._ask(asked, warming=True)
            self._told(_WARM_SEC)
        began = time.perf_counter()
        self._ask(asked, warming=False)
        reported = self._told(2 * self._limit)
        seconds = time.perf_counter() - began
        if reported is None:
            self.close()
            return Answer(failed="out of time", seconds=seconds)
        if "failed" in reported:
            return Answer(failed=str(reported["failed"]), seconds=seconds)
        places = reported["places"]
        assert isinstance(places, list)
        return Answer(applied=frozenset((str(path), int(at), int(on)) for path, at, on in places), seconds=seconds)

    def _ask(self, asked: Asked, *, warming: bool) -> None:
        assert self._process is not None and self._process.stdin is not None
        question = {"file": asked.file, "line": asked.line, "column": asked.column, "name": asked.name, "new": _NEW}
        self._process.stdin.write(json.dumps({**question, "warming": warming}).encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _told(self, limit: float) -> Mapping[str, object] | None:
        import select

        assert self._process is not None and self._process.stdout is not None
        output: IO[bytes] = self._process.stdout
        ready, _, _ = select.select([output], [], [], limit)
        line = output.readline() if ready else b""
        found: Mapping[str, object] | None = json.loads(line) if line else None
        return found


def scored(
    name: str, answer: "Ours | Peer", asked: Sequence[Asked], *, seconds: float, verbose: bool
) -> list[list[str]]:
    """Ask a tool for every symbol; what it does not reach in time is left out, and said."""
    scores: dict[str, Score] = defaultdict(Score)
    began, reached = time.monotonic(), 0
    for one in asked:
        if time.monotonic() - began > seconds:
            break
        reached += 1
        reported = answer.answer(one)
        for kind in (one.kind, "all"):
            scores[kind].note(one, reported)
        if verbose:
            _tell(name, one, reported)
    if reached < len(asked):
        print(f"{name}: {reached} of {len(asked)} symbols in {seconds:.0f} s")
    return [scores[kind].row(name, kind) for kind in sorted(scores, key=lambda one: (one == "all", one))]


def _tell(tool: str, one: Asked, reported: Answer) -> None:
    wrong = sorted(reported.applied - one.certain - one.disputed)
    missed = sorted(one.certain - reported.applied)
    if not (wrong or missed or reported.failed):
        return
    place = f"{one.file}:{one.line + 1}:{one.column + 1}"
    print(f"{tool} {one.kind} {one.qualname} {place} {'(choice)' if reported.choice else ''}{reported.failed}")
    for path, line, column in wrong[:6]:
        print(f"    wrong    {path}:{line + 1}:{column + 1}")
    for path, line, column in () if reported.failed else missed[:6]:
        how = "proposed" if (path, line, column) in reported.proposed else "missed  "
        print(f"    {how} {path}:{line + 1}:{column + 1}")


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def main() -> None:
    """Score a folder against a data file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="symbols and their references, a JSON object a line")
    parser.add_argument("--root", type=Path, required=True, help="the folder they are of")
    parser.add_argument("--home", type=Path, help="where facts are kept for the next run")
    parser.add_argument("--peers", default="", help="rope, jedi, or both with a comma")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python that has the peers installed")
    parser.add_argument("--peer-limit", type=float, default=20.0, help="seconds a symbol")
    parser.add_argument("--peer-seconds", type=float, default=600.0, help="seconds for all symbols of a peer")
    parser.add_argument("--verbose", action="store_true", help="name what is wrong and what is missed")
    options = parser.parse_args()
    asked, root = symbols(options.data), options.root.resolve()
    if not asked:
        sys.exit(f"no symbols in {options.data}")
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-") as name:
        print(f"{options.data.name}: {machine(Path(name))}")
        with parsed(root, options.home or Path(name)) as (snapshot, store):
            broken = sorted(path for path in store.problems() if path.endswith(".py"))
            ours = Ours(snapshot, store)
            for one in asked:
                ours.answer(one)
            rows += scored("codeplane", ours, asked, seconds=3600, verbose=options.verbose)
        peers: list[tuple[str, str, tuple[str, ...]]] = [(tool, tool, ()) for tool in options.peers.split(",") if tool]
        if broken and any(tool == "rope" for tool, _, _ in peers):
            peers.append(("rope", f"rope without {len(broken)} unparsable", tuple(broken)))
        for tool, title, ignore in peers:
            peer = Peer(options.peer_python, tool, root, options.peer_limit, ignore=ignore)
            try:
                rows += scored(title, peer, asked, seconds=options.peer_seconds, verbose=False)
            finally:
                peer.close()
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
