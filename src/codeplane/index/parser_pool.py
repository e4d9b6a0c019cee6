"""Worker processes that parse: a grammar that crashes or hangs costs a worker, never the server."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from codeplane.index.parse_worker import Batch, Parsed, Source, receive, send

_BATCH_BYTES = 512 * 1024
_BATCH_FILES = 200
_PATIENCE_SEC = 10.0
# One more second for each so many bytes, on a machine that is busy.
_PATIENT_BYTES = 100_000
_TRIES = 3
_TOO_LONG = "it took too long to parse"
_AHEAD = 8
_MANY = 8
_PAUSE_SEC = 0.2
# Edits that come together need two workers, one for the index and one for what they changed.
_KEPT_WORKERS = 2
_SPARE_SEC = 30.0
# How often workers are looked at for one that takes too long, and how long after the last batch.
_LOOK_SEC = 1.0
# What an edit had parsed is kept until the index takes it, so many files at most.
_MOST_KEPT = 64
_DECODER = msgspec.msgpack.Decoder(list[Parsed])
_ENCODER = msgspec.msgpack.Encoder()


_Work = Callable[["_Crew", "queue.Queue[list[Parsed]]", threading.Event], None]


class Worker:
    """One process."""

    def __init__(self) -> None:
        # Neither by its place nor by an empty entry of its path may it take modules from the repository it parses.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "codeplane.index.parse_worker"],
            cwd="/",
            # numpy would start threads for algebra that nobody does here.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.hung = False
        self._killed = False
        # When the process has taken too long over what it was asked, by the monotonic clock.
        self._deadline: float | None = None

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return not self._killed and self._process.poll() is None

    def parse(self, batch: Batch) -> list[Parsed] | None:
        """The batch's facts, or None when the process ended or hung over them."""
        assert self._process.stdin is not None and self._process.stdout is not None
        size = sum(source.length for source in batch.sources)
        self._deadline = time.monotonic() + _PATIENCE_SEC + size / _PATIENT_BYTES
        try:
            send(self._process.stdin, _ENCODER.encode(batch))  # type: ignore[arg-type]  # a pipe, opened as bytes
            message = receive(self._process.stdout)  # type: ignore[arg-type]  # the same
        except OSError:
            return None
        finally:
            self._deadline = None
        return _DECODER.decode(message) if message is not None else None

    def answers(self) -> bool:
        """Whether it could be started: it is asked for nothing."""
        return self.parse(Batch(content="", sources=(), check=False)) is not None

    def was_killed(self) -> bool:
        """Whether somebody else ended it: for want of memory, say, which is not the fault of what it read."""
        return self._process.wait() == -signal.SIGKILL and not self.hung

    def end_if_late(self, now: float) -> None:
        """End the process if it takes too long over a batch."""
        deadline = self._deadline
        if deadline is not None and now > deadline:
            self.hung = True
            self.kill()

    def kill(self) -> None:
        """End the process; who waits for its answer is told that there is none, and takes its leave."""
        self._killed = True
        self._process.kill()

    def end(self) -> None:
        """End the process and take its leave."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()


class Workers:
    """Where workers come from and go to: each is a process that is started and ended."""

    def start(self) -> Worker:
        """Give a worker that nobody else has."""
        return Worker()

    def end(self, worker: Worker) -> None:
        """Take back a worker that nobody needs any more."""
        worker.end()


class _Crew:
    """The threads of one parsing and what they have to do: any of them may leave early but the last."""

    def __init__(self, most: int) -> None:
        self._changed = threading.Condition()
        self._most = most
        self._threads = 0
        self._more = False
        self._waiting: deque[Batch] = deque()

    def add(self, batches: Iterable[Batch], *, more: bool) -> int:
        """Take on something to do, and to wait for `more` or not; how many threads are to be started."""
        with self._changed:
            self._waiting.extend(batches)
            self._more = more
            self._changed.notify_all()
            missing = min(self._most - self._threads, len(self._waiting))
            self._threads += missing
            return missing

    def end(self) -> None:
        """There is nothing more to do."""
        with self._changed:
            self._waiting.clear()
            self._more = False
            self._changed.notify_all()

    def next(self) -> Batch | None:
        """What a thread does next, or None, and then it has left."""
        with self._changed:
            while self._more and not self._waiting:
                self._changed.wait()
            if self._waiting:
                return self._waiting.popleft()
            self._threads -= 1
            return None

    def is_alone(self) -> bool:
        """Whether there is but one thread."""
        with self._changed:
            return self._threads < 2

    def may_leave(self) -> bool:
        """Leave for good, if somebody stays."""
        with self._changed:
            if self._threads < 2:
                return False
            self._threads -= 1
            self._most -= 1
            return True


class Parsing:
    """Files that are being parsed: their facts as they come."""

    def __init__(self, most: int, work: "_Work", left: Callable[[int], None]) -> None:
        self._work = work
        self._left = left
        self._count = 0
        self._done: queue.Queue[list[Parsed]] = queue.Queue(maxsize=_AHEAD)
        self._ended = threading.Event()
        self._crew = _Crew(most)
        self._threads: list[threading.Thread] = []
        # A single batch, as an edit has, is parsed by whoever takes it: a thread would only be waited for.
        self._here = False

    def add(self, batches: Sequence[Batch], *, more: bool) -> None:
        """Parse these too, and wait for `more` or not; before anyone takes what was found."""
        self._count += len(batches)
        missing = self._crew.add(batches, more=more)
        if self._count == missing == 1 and not more:
            self._here = True
            return
        for _ in range(missing):
            thread = threading.Thread(target=self._work, args=self._arguments(), daemon=True, name="parsing")
            thread.start()
            self._threads.append(thread)

    def _arguments(self) -> "tuple[_Crew, queue.Queue[list[Parsed]], threading.Event]":
        return self._crew, self._done, self._ended

    def __iter__(self) -> Iterator[list[Parsed]]:
        if self._here:
            self._work(*self._arguments())
        for _ in range(self._count):
            yield self._next()

    def close(self) -> None:
        """Stop what still goes on; everything that was asked for and not taken is given up."""
        self._ended.set()
        self._crew.end()
        for thread in self._threads:
            thread.join()
        self._left(self._count)

    def _next(self) -> list[Parsed]:
        while True:
            alive = any(thread.is_alive() for thread in self._threads)
            try:
                return self._done.get(timeout=_PAUSE_SEC)
            except queue.Empty:
                # Looked at before waiting: one that just ended may have left something.
                if not alive:
                    raise OSError("the processes that parse could not be kept running; restart CodePlane") from None


class Parsers:
    """Up to so many workers; one stays warm for the next edit, and a second while edits come one upon another."""

    def __init__(self, *, processes: int, memory_bytes: int = 0, workers: Workers | None = None) -> None:
        """`memory_bytes`: above it, workers and this process together, all but one worker are let go; 0 is no limit."""
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
        self._kept: dict[tuple[str, str, str], Parsed] = {}

    def keep(self, path: str, digest: str, language: str, parsed: Parsed) -> None:
        """Keep what was parsed of a content for the index, which comes to it a moment later."""
        with self._lock:
            self._kept[path, digest, language] = parsed
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]

    def take(self, path: str, digest: str, language: str) -> Parsed | None:
        """What was kept of a content, once."""
        with self._lock:
            return self._kept.pop((path, digest, language), None)

    def parse(self, content: Path, sources: Sequence[Source], *, check: bool = False) -> Iterator[list[Parsed]]:
        """The facts of the files, batch by batch in any order; may be left early. `check`: only whether they parse."""
        with contextlib.closing(self.begin(content, sources, check=check)) as parsing:
            yield from parsing

    def begin(
        self,
        content: Path,
        sources: Sequence[Source],
        *,
        check: bool = False,
        after: "Parsing | None" = None,
        more: bool = False,
    ) -> "Parsing":
        """Begin to parse, or go on `after` what has begun with `more` to come; who does closes what is returned."""
        if after is None:
            self.throttled = False
            after = Parsing(self._processes, self._work, self._keep_one)
        after.add(list(_batches(content, sources, check)), more=more)
        return after

    def warm(self, *, one: bool = False) -> None:
        """Start the workers for a first index, which is read meanwhile; or `one` for a few files, if none is there."""
        with self._lock:
            missing = (1 if one else self._processes) - len(self._idle) - len(self._working)
            if not self._closed:
                self._idle += [self._workers.start() for _ in range(missing)]

    def close(self) -> None:
        """End the workers, also those that are in the middle of something: nobody waits for it any more."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            if self._trimming is not None:
                self._trimming.cancel()
            for worker in self._working:
                worker.kill()
        for worker in idle:
            self._workers.end(worker)

    def _work(self, crew: _Crew, done: "queue.Queue[list[Parsed]]", ended: threading.Event) -> None:
        worker = self._taken()
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
            found = worker.parse(batch)
            if found is None:
                hung = worker.hung and len(batch.sources) == 1
                self._dismiss(worker)
                if hung:
                    worker, found = self._taken(fresh=True), [Parsed(key=batch.sources[0].key, problem=_TOO_LONG)]
                else:
                    worker, found = self._one_by_one(batch)
            if worker is None:
                return
            while not ended.is_set():
                with contextlib.suppress(queue.Full):
                    done.put(found, timeout=_PAUSE_SEC)
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
        """Whether the workers and this process together hold more memory than they may."""
        if not self._memory_bytes:
            return False
        with self._lock:
            pids = [os.getpid(), *(one.pid for one in self._working)]
        return sum(map(_resident, pids)) > self._memory_bytes

    def _dismiss(self, worker: Worker) -> None:
        with self._lock:
            self._working.discard(worker)
        self._workers.end(worker)

    def _one_by_one(self, batch: Batch) -> tuple[Worker | None, list[Parsed]]:
        """Parse the files of a batch that ended its worker alone, so that only the culprit goes without.

        A file whose worker was killed from outside again and again gets no answer, and is asked for again later; so do
        all files where no worker can be started, as after an update under a running server: none of them is to blame.
        """
        worker = self._taken(fresh=True)
        found: list[Parsed] = []
        for source in batch.sources:
            for _ in range(_TRIES):
                if worker is None:
                    return None, found
                answer = worker.parse(Batch(content=batch.content, sources=(source,), check=batch.check))
                if answer is not None:
                    found += answer
                    break
                killed, hung = worker.was_killed(), worker.hung
                self._dismiss(worker)
                worker = self._taken(fresh=True)
                if worker is not None and not killed and not worker.answers():
                    self._dismiss(worker)
                    return None, found
                if not killed:
                    found.append(Parsed(key=source.key, problem=_TOO_LONG if hung else "the parser did not survive it"))
                    break
        return worker, found

    def _taken(self, *, fresh: bool = False) -> Worker | None:
        """A worker, or a new one, unless all is over."""
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
        """End workers that take too long, until all have been idle for a while; a timer a batch would cost more."""
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
        """Keep one worker; a new one after many batches, as who went through all of them holds twice the memory."""
        self._trim(_KEPT_WORKERS if batches <= _MANY else 0)
        if batches > _MANY:
            self.warm(one=True)
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


def _batches(content: Path, sources: Sequence[Source], check: bool) -> Iterator[Batch]:
    """Files in groups of a good size; those that take long by their size alone come last, and keep nobody waiting."""
    group: list[Source] = []
    size = 0
    for source in sorted(sources, key=lambda one: (one.length > _BATCH_BYTES, -one.length, one.key)):
        if group and (size + source.length > _BATCH_BYTES or len(group) >= _BATCH_FILES):
            yield Batch(content=str(content), sources=tuple(group), check=check)
            group, size = [], 0
        group.append(source)
        size += source.length
    if group:
        yield Batch(content=str(content), sources=tuple(group), check=check)


def _resident(pid: int) -> int:
    """The memory a process holds; 0 where the system does not tell, and then nothing is throttled.

    Pages of files do not count: the system takes them back whenever somebody needs memory.
    """
    try:
        _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
