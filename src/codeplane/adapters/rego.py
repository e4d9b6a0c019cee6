"""Rego through regopy, in processes of its own; what goes wrong there is an error here and nothing more."""

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from codeplane.kernel.errors import PolicyInvalid
from codeplane.kernel.json import JsonObject, JsonValue, dumps

_COMPILE_SEC = 10.0
_READ_BYTES = 65_536
_MAX_ANSWER = 1024 * 1024


class Rego:
    """Makes programs of Rego texts, each in a process of its own.

    The library shares no process with us: it ends it over a deep text, a long one for a regular expression, or other
    native libraries that were loaded before it. One interpreter for one thread is what it is made for besides.
    """

    def __init__(self, *, timeout_ms: float, compile_sec: float = _COMPILE_SEC) -> None:
        self._timeout_sec = timeout_ms / 1000
        self._compile_sec = compile_sec

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> "RegoProgram":
        """A program that begins to be compiled; a file may define rules in its package, or below it, alone."""
        return RegoProgram(
            sources, packages=packages, entry=entry, timeout_sec=self._timeout_sec, compile_sec=self._compile_sec
        )


class RegoProgram:
    """A program in a process of its own: killed when it takes too long, started again for the next question."""

    def __init__(
        self,
        sources: Mapping[str, str],
        *,
        packages: Mapping[str, str],
        entry: str,
        timeout_sec: float,
        compile_sec: float,
    ) -> None:
        self._asked: JsonObject = {"sources": dict(sources), "packages": dict(packages), "entry": entry}
        self._timeout_sec = timeout_sec
        self._compile_sec = compile_sec
        self._lock = threading.Lock()
        self._closed = False
        self._ready = self._was_ready = False
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._deadline = 0.0
        self._rest = b""
        self._process = self._start()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def settled(self, wait_sec: float = 0.0) -> bool:
        """Whether it is compiled, after waiting for it at most so long; PolicyInvalid when it cannot be."""
        with self._lock:
            return self._settle(wait_sec)

    def evaluate(self, document: JsonObject) -> JsonValue:
        """What it answers; raises when it does not, or not in time."""
        with self._lock:
            if self._closed:
                raise RuntimeError("it was put away")
            if self._process.poll() is not None:
                self._again()
            # At the very first nothing can be decided before; later it is one question that is refused.
            if not self._settle(self._timeout_sec if self._was_ready else self._compile_sec):
                raise TimeoutError("it is still being compiled")
            try:
                until = time.monotonic() + self._timeout_sec
                answer = self._line(until) if self._send(dumps(document).encode() + b"\n", until) else None
            except (OSError, EOFError) as error:
                self._again()
                raise RuntimeError("it crashed") from error
            if answer is None:
                self._again()
                raise TimeoutError(f"it took longer than {self._timeout_sec * 1000:g} ms")
        if "value" not in answer:
            raise RuntimeError(str(answer.get("failed", "it gave no answer")))
        return answer["value"]

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._closed = True
            self._end()

    def _start(self) -> "subprocess.Popen[bytes]":
        # Neither by its place nor by an empty entry of its path may it take modules from the repository.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "codeplane.adapters.rego_worker"],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._process, self._ready, self._rest = process, False, b""
        self._deadline = time.monotonic() + self._compile_sec
        self._scratch = tempfile.TemporaryDirectory(prefix="codeplane-policy-")
        # By file, since a pipe that is full would have us wait for the process to come up.
        asked = Path(self._scratch.name) / "asked.json"
        asked.write_text(dumps({**self._asked, "scratch": self._scratch.name}), "utf-8")
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        with suppress(OSError, EOFError):
            self._send(dumps(str(asked)).encode() + b"\n", time.monotonic())
        return process

    def _again(self) -> None:
        self._end()
        self._start()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
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
        now = time.monotonic()
        try:
            answer = self._line(min(now + wait_sec, max(self._deadline, now)))
        except (OSError, EOFError) as error:
            raise _invalid([{"file": "", "line": 0, "message": "the compiler crashed over it"}]) from error
        if answer is None:
            if time.monotonic() >= self._deadline:
                self._process.kill()
                raise _invalid([{"file": "", "line": 0, "message": f"it took over {self._compile_sec:g} s to compile"}])
            return False
        self._sweep()
        if not answer.get("ready"):
            raise _invalid(answer.get("faults"))
        self._ready = self._was_ready = True
        return True

    def _send(self, data: bytes, until: float) -> bool:
        """Write everything, or say that it was not taken in time."""
        assert self._process.stdin is not None
        waiting = select.poll()
        waiting.register(self._process.stdin, select.POLLOUT)
        view = memoryview(data)
        while view:
            if not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
                return False
            view = view[self._process.stdin.write(view) or 0 :]
        return True

    def _line(self, until: float) -> JsonObject | None:
        """The next line of answers, or None when it is not there in time."""
        assert self._process.stdout is not None
        waiting = select.poll()
        waiting.register(self._process.stdout, select.POLLIN)
        while b"\n" not in self._rest:
            if not waiting.poll(max(0.0, until - time.monotonic()) * 1000):
                return None
            # Unbuffered, so this is one read of what is there.
            chunk = self._process.stdout.read(_READ_BYTES)
            if not chunk or len(self._rest) > _MAX_ANSWER:
                raise EOFError
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        found = json.loads(line)
        if not isinstance(found, dict):
            raise EOFError
        return found


def _invalid(found: JsonValue) -> PolicyInvalid:
    problems = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    said = [_said(one) for one in problems] or ["it cannot be compiled"]
    return PolicyInvalid("the policy cannot be used: " + "; ".join(said), details={"problems": problems})


def _said(problem: Mapping[str, JsonValue]) -> str:
    file, line = problem.get("file") or "", problem.get("line") or 0
    return (
        f"{file}:{line}: {problem.get('message')}"
        if file and line
        else f"{file or 'somewhere'}: {problem.get('message')}"
    )
