"""Rego through regopy, in separate processes whose crashes become errors here."""

import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from codeplane.adapters.rego_answer import RegoFailed, parse_answer
from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.processes.cpu_deadline import CpuDeadline
from codeplane.processes.home_core import every_core

# Of CPU time.
_COMPILE_SEC = 10.0
# How often a compilation is looked at for whether it takes too long.
_LOOK_SEC = 0.25
_READ_BYTES = 65_536
_MAX_ANSWER = 1024 * 1024
# So long a loop may stand still: most answers are there by then, and a thread would cost more than it gains.
_AT_ONCE_SEC = 0.002


class Rego:
    """Compiles Rego sources, each in its own process.

    The library shares no process with us: it ends it over a deep text, a long one for a regular expression, or other
    native libraries that were loaded before it. One interpreter for one thread is what it is made for besides.
    """

    def __init__(self, *, timeout_ms: float, compile_sec: float = _COMPILE_SEC) -> None:
        self._timeout_sec = timeout_ms / 1000
        self._compile_sec = compile_sec
        self._prepared: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Start the process of the next program already: it loads the library while its caller does other things."""
        if self._prepared is None:
            self._prepared = _start_process()

    def close(self) -> None:
        """End a process that was prepared and not used."""
        process, self._prepared = self._prepared, None
        if process is not None:
            _end_process(process)

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> "RegoProgram":
        """Start to compile a program; a file may define rules only in or below its package."""
        process, self._prepared = self._prepared, None
        if process is not None and process.poll() is not None:
            _end_process(process)
            process = None
        return RegoProgram(
            sources,
            packages=packages,
            entry=entry,
            timeout_sec=self._timeout_sec,
            compile_sec=self._compile_sec,
            process=process,
        )


class RegoProgram:
    """A policy program in its own process; killed on timeout and restarted for the next query."""

    def __init__(
        self,
        sources: Mapping[str, str],
        *,
        packages: Mapping[str, str],
        entry: str,
        timeout_sec: float,
        compile_sec: float,
        process: "subprocess.Popen[bytes] | None" = None,
    ) -> None:
        self._asked: JsonObject = {"sources": dict(sources), "packages": dict(packages), "entry": entry}
        self._timeout_sec = timeout_sec
        self._compile_sec = compile_sec
        self._lock = threading.Lock()
        self._closed = False
        self._ready = self._was_ready = False
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._rest = b""
        self._number = 0
        self._process = self._start(process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def is_compiled(self, wait_sec: float = 0.0) -> bool:
        """Wait for the compilation at most so long and return whether it is done; PolicyInvalid if it failed."""
        with self._lock:
            return self._settle(wait_sec)

    def evaluate(self, document: JsonObject | str) -> JsonValue:
        """Evaluate an input or its JSON; raise when there is no answer in time.

        BlockingIOError means that it was not asked, because it is compiling or busy with another query.
        """
        return self._evaluate(document, patience_sec=self._timeout_sec)

    async def evaluate_async(self, document: JsonObject | str) -> JsonValue:
        """Evaluate without blocking the loop; a slow answer is awaited in a thread."""
        question: _Question | None = None
        held = self._lock.acquire(blocking=False)
        try:
            if held and self._ready and not self._closed and self._process.poll() is None:
                question = self._question(document)
                answer = self._exchange(question, min(question.until, time.monotonic() + _AT_ONCE_SEC))
                if answer is not None:
                    return _value(answer)
            if question is None:
                # A worker that was just ended may take longer than one question to compile again.
                thread = _Aside(partial(self._evaluate, document, patience_sec=self._compile_sec))
            else:
                thread = _Aside(partial(self._conclude_and_release, question))
                # It releases the lock itself, even when nothing waits for it any more.
                held = False
        finally:
            if held:
                self._lock.release()
        return await thread.value()

    def close(self) -> None:
        """End the process; a query in progress gets no answer."""
        self._closed = True
        self._process.kill()
        with self._lock:
            self._end()

    def _evaluate(self, document: JsonObject | str, *, patience_sec: float) -> JsonValue:
        # At the very first nothing can be decided before; later it is one question that is refused.
        patience_sec = patience_sec if self._was_ready else self._deadline.longest_sec
        if not self._lock.acquire(timeout=patience_sec):
            raise BlockingIOError("it is busy with another question")
        try:
            if self._closed:
                raise RuntimeError("it was put away")
            if self._process.poll() is not None:
                self._restart()
            if not self._settle(patience_sec):
                raise BlockingIOError("it is still being compiled")
            return self._conclude(self._question(document))
        finally:
            self._lock.release()

    def _conclude_and_release(self, question: "_Question") -> JsonValue:
        try:
            return self._conclude(question)
        finally:
            self._lock.release()

    def _conclude(self, question: "_Question") -> JsonValue:
        answer = self._exchange(question, question.until)
        if answer is None:
            self._restart()
            raise TimeoutError(f"it took longer than {self._timeout_sec * 1000:g} ms")
        return _value(answer)

    def _question(self, document: JsonObject | str) -> "_Question":
        self._number += 1
        text = document if isinstance(document, str) else dumps(document)
        number = b"%d " % self._number
        return _Question(number=number, rest=number + text.encode() + b"\n", until=time.monotonic() + self._timeout_sec)

    def _exchange(self, question: "_Question", until: float) -> bytes | None:
        """Return the answer of the current query, or None if it is not there in time."""
        try:
            question.rest = self._send(question.rest, until)
            line = None if question.rest else self._line(until)
            if line is not None and not line.startswith(question.number):
                raise EOFError
        except (OSError, EOFError) as error:
            self._restart()
            raise RuntimeError("it crashed") from error
        return line[len(question.number) :] if line is not None else None

    def _start(self, process: "subprocess.Popen[bytes] | None" = None) -> "subprocess.Popen[bytes]":
        process = process or _start_process()
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        self._process, self._ready, self._rest = process, False, b""
        self._into, self._out_of = process.stdin.fileno(), process.stdout.fileno()
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(self._into, select.POLLOUT)
        self._readable.register(self._out_of, select.POLLIN)
        self._deadline = CpuDeadline(process.pid, self._compile_sec)
        self._scratch = tempfile.TemporaryDirectory(prefix="codeplane-policy-")
        # By file, since a pipe that is full would have us wait for the process to come up.
        asked = Path(self._scratch.name) / "asked.json"
        asked.write_text(dumps({**self._asked, "scratch": self._scratch.name}), "utf-8")
        with suppress(OSError):
            self._send(dumps(str(asked)).encode() + b"\n", time.monotonic())
        return process

    def _restart(self) -> None:
        self._end()
        if not self._closed:
            self._start()

    def _end(self) -> None:
        _end_process(self._process)
        self._sweep()

    def _sweep(self) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _settle(self, wait_sec: float) -> bool:
        if self._ready:
            return True
        if self._closed:
            raise _invalid([{"file": "", "line": 0, "message": "it was put away before it was compiled"}])
        try:
            line = self._compiler_answer(time.monotonic() + wait_sec)
            answer = json.loads(line) if line is not None else None
        except (OSError, EOFError, ValueError) as error:
            raise _invalid([{"file": "", "line": 0, "message": "the compiler crashed over it"}]) from error
        if answer is None:
            return False
        self._sweep()
        if not answer.get("ready"):
            raise _invalid(answer.get("faults"))
        self._ready = self._was_ready = True
        return True

    def _compiler_answer(self, until: float) -> bytes | None:
        """Return the answer of the compiler, or None without one in time; PolicyInvalid if it takes too long."""
        while True:
            now = time.monotonic()
            line = self._line(min(until, now + _LOOK_SEC))
            if line is not None:
                return line
            if self._deadline.is_used_up() or self._deadline.is_over(now):
                self._process.kill()
                raise _invalid([{"file": "", "line": 0, "message": f"it took over {self._compile_sec:g} s to compile"}])
            if now >= until:
                return None

    def _send(self, data: bytes, until: float) -> bytes:
        """Write as much as is taken in time, and return the rest."""
        while data:
            try:
                data = data[os.write(self._into, data) :]
            except BlockingIOError:
                if not self._writable.poll(max(0.0, until - time.monotonic()) * 1000):
                    break
        return data

    def _line(self, until: float) -> bytes | None:
        """Return the next line of output, or None if it is not there in time."""
        while b"\n" not in self._rest:
            if not self._readable.poll(max(0.0, until - time.monotonic()) * 1000):
                return None
            chunk = os.read(self._out_of, _READ_BYTES)
            if not chunk or len(self._rest) > _MAX_ANSWER:
                raise EOFError
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line


@dataclass(slots=True, kw_only=True)
class _Question:
    """A query: the prefix of its answer, the bytes still to be sent, and its deadline."""

    number: bytes
    rest: bytes
    until: float


class _Aside:
    """Work in its own thread, because the loop's threads may all be busy."""

    def __init__(self, work: Callable[[], JsonValue]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[JsonValue] = self._loop.create_future()
        threading.Thread(target=self._run, daemon=True).start()

    async def value(self) -> JsonValue:
        """Return the result, or raise the error."""
        return await self._done

    def _run(self) -> None:
        try:
            settle = partial(self._done.set_result, self._work())
        except Exception as error:
            settle = partial(self._done.set_exception, error)
        # The caller may be gone, and its loop with it.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: None if self._done.done() else settle())


def _start_process() -> "subprocess.Popen[bytes]":
    # Neither by its place nor by an empty entry of its path may it take modules from the repository.
    with every_core():
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "codeplane.adapters.rego_worker"],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _value(answer: bytes) -> JsonValue:
    failure = json.loads(answer) if answer.startswith(b'{"failed"') else None
    if isinstance(failure, dict):
        raise RegoFailed(str(failure.get("failed")))
    return cast(JsonValue, parse_answer(answer))


def _invalid(problems_json: JsonValue) -> PolicyInvalid:
    problems = (
        [problem for problem in problems_json if isinstance(problem, dict)] if isinstance(problems_json, list) else []
    )
    messages = [_describe_problem(problem) for problem in problems] or ["it cannot be compiled"]
    return PolicyInvalid("the policy cannot be used: " + "; ".join(messages), details={"problems": problems})


def _describe_problem(problem: Mapping[str, JsonValue]) -> str:
    file, line = problem.get("file") or "", problem.get("line") or 0
    return (
        f"{file}:{line}: {problem.get('message')}"
        if file and line
        else f"{file or 'somewhere'}: {problem.get('message')}"
    )
