"""A pool of worker processes that parse: a crash or hang of a grammar costs a worker, not the server."""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from codeplane.index.parse_job import PAUSE_SEC, ParseJob, WorkQueue
from codeplane.index.parse_worker import Batch, ParseResult, Source
from codeplane.index.worker_process import Worker, Workers

_BATCH_BYTES = 512 * 1024
_BATCH_FILES = 200
_TRIES = 3
_TOO_LONG = "it took too long to parse"
_MANY = 8
# Edits that come together need two workers, one for the index and one for what they changed.
_KEPT_WORKERS = 2
_SPARE_SEC = 30.0
# How often workers are looked at for one that takes too long, and how long after the last batch.
_LOOK_SEC = 1.0
# What an edit had parsed is kept until the index takes it, so many files at most.
_MOST_KEPT = 64


class ParserPool:
    """A bounded pool of workers; one stays warm for the next edit, a second while edits come in quick succession."""

    def __init__(self, *, processes: int, memory_bytes: int = 0, workers: Workers | None = None) -> None:
        """Above `memory_bytes`, summed over this process and its workers, all but one worker end; 0 is no limit."""
        self._workers = workers or Workers()
        self._processes = processes
        self._memory_bytes = memory_bytes
        self._working: set[Worker] = set()
        self.throttled = False
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._closed = False
        self._trimming: threading.Timer | None = None
        self._watching = False
        self._kept: dict[tuple[str, str, str], ParseResult] = {}

    def keep(self, path: str, digest: str, language: str, parsed: ParseResult) -> None:
        """Keep a parse result for the index, which needs it a moment later."""
        with self._lock:
            self._kept[path, digest, language] = parsed
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]

    def take(self, path: str, digest: str, language: str) -> ParseResult | None:
        """Take the kept result of a content, once."""
        with self._lock:
            return self._kept.pop((path, digest, language), None)

    def parse(
        self, content: Path | None, sources: Sequence[Source], *, check: bool = False
    ) -> Iterator[list[ParseResult]]:
        """Parse files, yielding batches in any order; `check` only tests whether they parse.

        Without `content` each source has its text.
        """
        with contextlib.closing(self.begin(content, sources, check=check)) as parsing:
            yield from parsing

    def begin(
        self,
        content: Path | None,
        sources: Sequence[Source],
        *,
        check: bool = False,
        after: "ParseJob | None" = None,
        more: bool = False,
    ) -> "ParseJob":
        """Start a job, or extend the job `after`, with `more` to come or not; the caller closes it."""
        if after is None:
            self.throttled = False
            after = ParseJob(self._processes, self._work, self._keep_one)
        after.add(list(_batches(content, sources, check)), more=more)
        return after

    def warm(self, *, single: bool = False) -> None:
        """Start the workers ahead of a first index, or a `single` one for a few files."""
        with self._lock:
            missing = (1 if single else self._processes) - len(self._idle) - len(self._working)
            if not self._closed:
                self._idle += [self._workers.start() for _ in range(missing)]

    def close(self) -> None:
        """End all workers, busy ones too."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            if self._trimming is not None:
                self._trimming.cancel()
            for worker in self._working:
                worker.kill()
        for worker in idle:
            self._workers.end(worker)

    def _work(self, crew: WorkQueue, done: "queue.Queue[list[ParseResult]]", ended: threading.Event) -> None:
        worker = self._take_worker()
        over = 0
        while worker is not None and not ended.is_set():
            # Who leaves does not come back, so once is not enough: merging now and then takes memory for a moment.
            over = over + 1 if not crew.is_alone() and self._is_too_much() else 0
            if over > 1 and crew.may_leave():
                self.throttled = True
                self._dismiss(worker)
                return
            batch = crew.next()
            if batch is None:
                break
            results = worker.parse(batch)
            if results is None:
                hung = worker.hung and len(batch.sources) == 1
                self._dismiss(worker)
                if hung:
                    worker, results = (
                        self._take_worker(fresh=True),
                        [ParseResult(key=batch.sources[0].key, problem=_TOO_LONG)],
                    )
                else:
                    worker, results = self._one_by_one(batch)
            if worker is None:
                return
            while not ended.is_set():
                with contextlib.suppress(queue.Full):
                    done.put(results, timeout=PAUSE_SEC)
                    break
        if worker is None:
            return
        with self._lock:
            if not self._closed:
                self._working.discard(worker)
                self._idle.append(worker)
                return
        self._dismiss(worker)

    def _is_too_much(self) -> bool:
        """Whether this process and its workers exceed the memory limit."""
        if not self._memory_bytes:
            return False
        with self._lock:
            pids = [os.getpid(), *(worker.pid for worker in self._working)]
        return sum(map(_resident, pids)) > self._memory_bytes

    def _dismiss(self, worker: Worker) -> None:
        with self._lock:
            self._working.discard(worker)
        self._workers.end(worker)

    def _one_by_one(self, batch: Batch) -> tuple[Worker | None, list[ParseResult]]:
        """Parse the files of a batch that ended its worker one by one, so that only the culprit fails.

        A file whose worker was killed from outside again and again gets no answer, and is asked for again later; so do
        all files where no worker can be started, as after an update under a running server: none of them is to blame.
        """
        worker = self._take_worker(fresh=True)
        results: list[ParseResult] = []
        for source in batch.sources:
            for _ in range(_TRIES):
                if worker is None:
                    return None, results
                answer = worker.parse(Batch(content=batch.content, sources=(source,), check=batch.check))
                if answer is not None:
                    results += answer
                    break
                killed, hung = worker.was_killed(), worker.hung
                self._dismiss(worker)
                worker = self._take_worker(fresh=True)
                if worker is not None and not killed and not worker.answers():
                    self._dismiss(worker)
                    return None, results
                if not killed:
                    results.append(
                        ParseResult(key=source.key, problem=_TOO_LONG if hung else "the parser did not survive it")
                    )
                    break
        return worker, results

    def _take_worker(self, *, fresh: bool = False) -> Worker | None:
        """An idle or new worker, or None when closed."""
        with self._lock:
            if self._closed:
                return None
            worker = self._idle.pop() if self._idle and not fresh else self._workers.start()
            self._working.add(worker)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, daemon=True, name="parsing-watch").start()
            return worker

    def _watch(self) -> None:
        """Kill workers that take too long, until all have been idle for a while."""
        idle_since = time.monotonic()
        while True:
            time.sleep(_LOOK_SEC)
            now = time.monotonic()
            with self._lock:
                working = list(self._working)
                if working:
                    idle_since = now
                elif self._closed or now - idle_since > _SPARE_SEC:
                    self._watching = False
                    return
            for worker in working:
                worker.end_if_late(now)

    def _keep_one(self, batches: int) -> None:
        """Keep one worker; after many batches a new one, since the old ones hold twice the memory."""
        self._trim(_KEPT_WORKERS if batches <= _MANY else 0)
        if batches > _MANY:
            self.warm(single=True)
            return
        with self._lock:
            if len(self._idle) > 1 and self._trimming is None and not self._closed:
                self._trimming = threading.Timer(_SPARE_SEC, self._end_spare)
                self._trimming.daemon = True
                self._trimming.start()

    def _end_spare(self) -> None:
        with self._lock:
            self._trimming = None
        self._trim(1)

    def _trim(self, kept: int) -> None:
        with self._lock:
            surplus, self._idle = self._idle[kept:], self._idle[:kept]
        for worker in surplus:
            self._workers.end(worker)


def _batches(content: Path | None, sources: Sequence[Source], check: bool) -> Iterator[Batch]:
    """Group files into batches; very large files come last."""
    group: list[Source] = []
    place = str(content) if content is not None else ""
    size = 0
    for source in sorted(sources, key=lambda source: (source.length > _BATCH_BYTES, -source.length, source.key)):
        if group and (size + source.length > _BATCH_BYTES or len(group) >= _BATCH_FILES):
            yield Batch(content=place, sources=tuple(group), check=check)
            group, size = [], 0
        group.append(source)
        size += source.length
    if group:
        yield Batch(content=place, sources=tuple(group), check=check)


def _resident(pid: int) -> int:
    """The private memory of a process; 0 where unknown.

    Pages of files do not count: the system takes them back whenever somebody needs memory.
    """
    try:
        _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
