"""Worker processes that parse: a limit of CPU time, so that a busy machine is not held against a file."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.index import parser_pool, worker_process
from codeplane.index.parse_worker import Batch, ParseResult, Source
from codeplane.index.parser_pool import ParserPool
from codeplane.index.worker_process import Worker
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-10")

TEXT = b"def a(): pass\n"
# Later than the limit of a small file would be, counted in wall time; and later than one waits for a starved worker.
LATER_SEC, MUCH_LATER_SEC = 30.0, 3600.0


class Parse(threading.Thread):
    """A parse by a worker, in a thread that waits for it."""

    def __init__(self, worker: Worker, batch: Batch) -> None:
        super().__init__()
        self._worker = worker
        self._batch = batch
        self.results: list[ParseResult] | None = None

    def run(self) -> None:
        self.results = self._worker.parse(self._batch)


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    assert worker.answers()
    yield worker
    worker.end()


def batch_of(folder: Path, text: bytes) -> Batch:
    content = folder / "content.bin"
    content.write_bytes(text)
    return Batch(
        content=str(content), sources=(Source(key=1, name="a", language="python", offset=0, length=len(text)),)
    )


def start(worker: Worker, batch: Batch) -> Parse:
    parse = Parse(worker, batch)
    parse.start()
    while worker._deadline is None and parse.is_alive():
        os.sched_yield()
    return parse


def test_a_worker_without_cpu_time_is_waited_for(worker: Worker, tmp_path: Path) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    parse = start(worker, batch_of(tmp_path, TEXT))
    worker.end_if_late(time.monotonic() + LATER_SEC)
    assert worker.is_alive
    os.kill(worker.pid, signal.SIGCONT)
    parse.join()
    assert parse.results is not None and [row.name for row in parse.results[0].rows] == ["a"]


def test_a_worker_that_never_gets_cpu_time_is_ended_and_its_file_not_blamed(worker: Worker, tmp_path: Path) -> None:
    os.kill(worker.pid, signal.SIGSTOP)
    parse = start(worker, batch_of(tmp_path, TEXT))
    worker.end_if_late(time.monotonic() + MUCH_LATER_SEC)
    parse.join()
    assert parse.results is None
    assert worker.was_killed() and not worker.hung


def test_a_file_that_takes_too_much_cpu_time_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(tmp_path, TEXT * 50_000)
    monkeypatch.setattr(worker_process, "_PATIENCE_SEC", 0.0)
    monkeypatch.setattr(worker_process, "_PATIENT_BYTES", 1_000_000_000)
    monkeypatch.setattr(parser_pool, "_LOOK_SEC", 0.01)
    parsers = ParserPool(processes=1)
    (found,) = [one for results in parsers.parse(Path(batch.content), batch.sources) for one in results]
    parsers.close()
    assert found.problem == "it took too long to parse"
