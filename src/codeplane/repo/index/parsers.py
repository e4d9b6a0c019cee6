"""Worker processes that parse: a grammar that crashes or hangs costs a worker, never the server."""

import contextlib
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from codeplane.repo.index.worker import Batch, Parsed, Source, receive, send

_BATCH_BYTES = 512 * 1024
_BATCH_FILES = 200
_PATIENCE_SEC = 60.0
_DECODER = msgspec.msgpack.Decoder(list[Parsed])
_ENCODER = msgspec.msgpack.Encoder()


class _Worker:
    """One process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "codeplane.repo.index.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def parse(self, batch: Batch) -> list[Parsed] | None:
        """The batch's facts, or None when the process ended or hung over them."""
        assert self._process.stdin is not None and self._process.stdout is not None
        alarm = threading.Timer(_PATIENCE_SEC, self._process.kill)
        alarm.daemon = True
        alarm.start()
        try:
            send(self._process.stdin, _ENCODER.encode(batch))  # type: ignore[arg-type]  # a pipe, opened as bytes
            message = receive(self._process.stdout)  # type: ignore[arg-type]  # the same
        except OSError:
            return None
        finally:
            alarm.cancel()
        return _DECODER.decode(message) if message is not None else None

    def end(self) -> None:
        """End the process and take its leave."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()


class Parsers:
    """Up to so many workers; one stays warm for the next edit."""

    def __init__(self, *, processes: int) -> None:
        self._processes = processes
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
        self._closed = False

    def parse(self, content: Path, sources: Sequence[Source], *, check: bool = False) -> Iterator[list[Parsed]]:
        """The facts of the files, batch by batch in any order; may be left early. `check`: only whether they parse."""
        waiting: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        batches = list(_batches(content, sources, check))
        for batch in batches:
            waiting.put(batch)
        done: queue.Queue[list[Parsed]] = queue.Queue(maxsize=4)
        ended = threading.Event()
        threads = [
            threading.Thread(target=self._work, args=(waiting, done, ended), daemon=True, name="parsing")
            for _ in range(min(self._processes, len(batches)))
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in batches:
                yield done.get()
        finally:
            ended.set()
            with contextlib.suppress(queue.Empty):
                while True:
                    done.get_nowait()
            for thread in threads:
                thread.join()
            self._keep_one()

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def _work(
        self, waiting: "queue.SimpleQueue[Batch]", done: "queue.Queue[list[Parsed]]", ended: threading.Event
    ) -> None:
        worker = self._taken()
        while not ended.is_set():
            try:
                batch = waiting.get_nowait()
            except queue.Empty:
                break
            found = worker.parse(batch)
            if found is None:
                worker.end()
                worker, found = self._one_by_one(batch)
            while not ended.is_set():
                with contextlib.suppress(queue.Full):
                    done.put(found, timeout=0.2)
                    break
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                return
        worker.end()

    @staticmethod
    def _one_by_one(batch: Batch) -> tuple[_Worker, list[Parsed]]:
        """Parse the files of a batch that ended its worker alone, so that only the culprit goes without."""
        worker = _Worker()
        found: list[Parsed] = []
        for source in batch.sources:
            answer = worker.parse(Batch(content=batch.content, sources=(source,), check=batch.check))
            if answer is None:
                worker.end()
                worker = _Worker()
                answer = [Parsed(key=source.key, problem="the parser did not survive it")]
            found += answer
        return worker, found

    def _taken(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Worker()

    def _keep_one(self) -> None:
        with self._lock:
            surplus, self._idle = self._idle[1:], self._idle[:1]
        for worker in surplus:
            worker.end()


def _batches(content: Path, sources: Sequence[Source], check: bool) -> Iterator[Batch]:
    """Files in groups of a good size, large ones first so that none is waited for at the end."""
    group: list[Source] = []
    size = 0
    for source in sorted(sources, key=lambda one: (-one.length, one.key)):
        if group and (size + source.length > _BATCH_BYTES or len(group) >= _BATCH_FILES):
            yield Batch(content=str(content), sources=tuple(group), check=check)
            group, size = [], 0
        group.append(source)
        size += source.length
    if group:
        yield Batch(content=str(content), sources=tuple(group), check=check)
