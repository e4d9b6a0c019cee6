"""A batch of files made durable all or none, beside a plain loop that is neither: `python -m bench.mutate`.

The plain loop writes each file beside its target, syncs it, renames it and syncs the folder: every file is durable, and
a kill in between leaves a mix. The journal does all that for the batch as a whole, and can take it back afterwards.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Sample, Stopwatch, machine, table
from codeplane.edit.batch import Change
from codeplane.edit.file_state import sha256_of
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore, sync_folder
from codeplane.edit.journal import Journal
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.ids import new_id

_SIZE = 8_000
_FOLDERS = 4
AIM = 1.0


def plain(root: Path, contents: dict[str, bytes]) -> None:
    """What a careful editor does, file by file."""
    for path, content in contents.items():
        target = root / path
        temp = target.with_name(f"{target.name}.tmp")
        with temp.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temp.replace(target)
        sync_folder(target.parent)


class Journaled:
    """The same through the journal, kept for undo."""

    def __init__(self, home: Path, root: Path) -> None:
        self._kept = MutationStore(home / "undo", SystemClock(), 14, 500)
        self._journal = Journal(root=root, folder=home / "journal", mutations=self._kept)

    def __call__(self, root: Path, contents: dict[str, bytes]) -> None:
        """One batch."""
        changes = [
            Change(path=path, content=content, before=sha256_of((root / path).read_bytes()))
            for path, content in contents.items()
        ]
        mutation_id = new_id("mut")
        kept = MutationRecord(
            mutation_id=mutation_id,
            kind="files",
            what="bench",
            at_ns=time.time_ns(),
            session_id=None,
            state="applied",
            paths=tuple(contents),
            details={},
        )
        self._journal.apply(mutation_id, kept, changes)


def measured(work: Callable[[Path, dict[str, bytes]], None], root: Path, contents: dict[str, bytes]) -> Sample:
    """One batch."""
    with Stopwatch() as watch:
        started = time.perf_counter_ns()
        work(root, contents)
        spent = time.perf_counter_ns() - started
    return Sample.of(watch, [spent])


def contents_of(round_: int, files: int) -> dict[str, bytes]:
    """Other contents for every round."""
    return {
        f"src/part{number % _FOLDERS}/file{number}.py": f"# {round_} {number}\n".encode() + b"x = 1\n" * (_SIZE // 6)
        for number in range(files)
    }


def main() -> int:
    """Both in turns, so that what disturbs one disturbs the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk to measure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-", dir=options.folder) as name:
        folder = Path(name)
        print(machine(folder))
        print(f"\n{options.files} files of {_SIZE // 1000} KB in {_FOLDERS} folders, {options.rounds} rounds each\n")
        ways: dict[str, Callable[[Path, dict[str, bytes]], None]] = {}
        for way in ("plain", "journal"):
            root = folder / way
            for path, content in contents_of(-1, options.files).items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content)
            (root / ".codeplane").mkdir()
            ways[way] = plain if way == "plain" else Journaled(root / ".codeplane", root)
        found: dict[str, list[Sample]] = {way: [] for way in ways}
        for round_ in range(options.rounds + 2):
            for way, work in ways.items():
                sample = measured(work, folder / way, contents_of(round_, options.files))
                if round_ >= 2:
                    found[way].append(sample)
        rows = [[way, *_cells(samples)] for way, samples in found.items()]
        print(table(["", "median ms", "p95 ms", "CPU ms"], rows))
        ratio = _median(found["plain"]) / _median(found["journal"])
        print(f"\njournal against plain: {ratio:.2f}x as fast by the median (aim: {AIM:.1f}x or more)")
        return 0 if ratio >= AIM else 1


def _median(samples: list[Sample]) -> float:
    return statistics.median(sample.wall for sample in samples)


def _cells(samples: list[Sample]) -> list[str]:
    ordered = sorted(sample.wall for sample in samples)
    cpu = statistics.median(sample.cpu for sample in samples)
    return [
        f"{_median(samples) * 1e3:.1f}",
        f"{ordered[len(ordered) * 95 // 100] * 1e3:.1f}",
        f"{cpu * 1e3:.1f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
