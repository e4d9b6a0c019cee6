"""Worker processes that parse: a crash or hang of a grammar costs a worker, not the server."""

import contextlib
import os
import signal
import subprocess
import sys

import msgspec

from codeplane.index.parse_worker import Batch, ParseResult, receive, send
from codeplane.processes.cpu_deadline import CpuDeadline
from codeplane.processes.home_core import every_core

# Of CPU time.
_PATIENCE_SEC = 5.0
# One more second for each so many bytes; the slowest grammars take a third of it.
_PATIENT_BYTES = 250_000
_DECODER = msgspec.msgpack.Decoder(list[ParseResult])
_ENCODER = msgspec.msgpack.Encoder()


class Worker:
    """A worker process."""

    def __init__(self) -> None:
        # Neither by its place nor by an empty entry of its path may it take modules from the repository it parses.
        with every_core():
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
        self._deadline: CpuDeadline | None = None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return not self._killed and self._process.poll() is None

    def parse(self, batch: Batch) -> list[ParseResult] | None:
        """Parse a batch; None if the process ended or hung."""
        assert self._process.stdin is not None and self._process.stdout is not None
        size = sum(source.length for source in batch.sources)
        self._deadline = CpuDeadline(self.pid, _PATIENCE_SEC + size / _PATIENT_BYTES)
        try:
            send(self._process.stdin, _ENCODER.encode(batch))  # type: ignore[arg-type]  # a pipe, opened as bytes
            message = receive(self._process.stdout)  # type: ignore[arg-type]  # the same
        except OSError:
            return None
        finally:
            self._deadline = None
        return _DECODER.decode(message) if message is not None else None

    def answers(self) -> bool:
        """Whether the process started: it is sent an empty batch."""
        return self.parse(Batch(content="", sources=(), check=False)) is not None

    def was_killed(self) -> bool:
        """Whether what it parsed is not to blame: the out-of-memory killer ended it, or it got no CPU time."""
        return self._process.wait() == -signal.SIGKILL and not self.hung

    def end_if_late(self, now: float) -> None:
        """Kill the process if a batch takes too much CPU time, or gets too little; `now` is of the monotonic clock."""
        deadline = self._deadline
        if deadline is None:
            return
        if deadline.is_used_up():
            self.hung = True
            self.kill()
        elif deadline.is_over(now):
            self.kill()

    def kill(self) -> None:
        """Kill the process; a caller waiting for its answer gets None and reaps it."""
        self._killed = True
        self._process.kill()

    def end(self) -> None:
        """Kill and reap the process."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()


class Workers:
    """Starts and ends worker processes."""

    def start(self) -> Worker:
        """Start a worker."""
        return Worker()

    def end(self, worker: Worker) -> None:
        """End a worker."""
        worker.end()
