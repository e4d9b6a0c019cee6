"""A running CodePlane in the test's own process, operations made for tests, and a clock that tests move."""

import asyncio
import json
import os
import secrets
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

from codeplane.adapters.home import prepare_home
from codeplane.adapters.rego import Rego, RegoProgram
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.index.worker_process import Worker, Workers
from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call, Effects, Failure
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import ERRORS, NotFound
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.model_provider import ModelProvider
from codeplane.kernel.operation import Assessment, Budget, Preview, Request, Result, Risk, assesses, operation, previews
from codeplane.kernel.workspace import Workspace
from codeplane.ledger.database import open_writer
from codeplane.ledger.projection import Projector
from codeplane.wiring.app import Plane, load_workspace_config, run_plane, tables

T = TypeVar("T")
Ask = Callable[..., Awaitable[JsonObject]]
OWNER = Caller(surface="embedded", client="test")
AGENT = Caller(surface="mcp", client="agent", connection_id="c1")
PATIENCE_SEC = 30.0
_MOST_IDLE = 8
NO_WAIT = "approvals.wait_sec=0"
# For previews that look at the request alone.
NO_CALL = cast(Call, None)


def run(work: Coroutine[object, object, T]) -> T:
    """Run to the end, but not for ever: a hang is a failure, not a stuck suite."""

    async def bounded() -> T:
        return await asyncio.wait_for(work, PATIENCE_SEC)

    return asyncio.run(bounded())


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_ns: int = 1_750_000_000 * SECOND_NS) -> None:
        self._now_ns = now_ns
        self._monotonic_ns = 1000 * SECOND_NS

    def now_ns(self) -> int:
        return self._now_ns

    def monotonic_ns(self) -> int:
        return self._monotonic_ns

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now_ns += int(seconds * SECOND_NS)
        self._monotonic_ns += int(seconds * SECOND_NS)

    def jump(self, seconds: float) -> None:
        """Set the wall clock, as a person or NTP does; no time passes."""
        self._now_ns += int(seconds * SECOND_NS)


class KeptRego(Rego):
    """Compiles each policy once for all planes of a test run: a process each would cost more than most tests."""

    def __init__(self) -> None:
        super().__init__(timeout_ms=5000)
        self._kept: dict[str, RegoProgram] = {}

    def program(self, sources: Mapping[str, str], *, packages: Mapping[str, str], entry: str) -> RegoProgram:
        key = dumps({"sources": dict(sources), "packages": dict(packages), "entry": entry, "pid": os.getpid()})
        if key not in self._kept:
            self._kept[key] = made = super().program(sources, packages=packages, entry=entry)
            # Whoever closes it is one of many; it ends with this process.
            made.close = lambda: None  # type: ignore[method-assign]  # kept
        return self._kept[key]


class KeptWorkers(Workers):
    """Keeps processes that parse for all planes of a test run, for the same reason."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []

    def start(self) -> Worker:
        with self._lock:
            found = next((worker for worker in self._idle if worker.is_alive), None)
            self._idle = [worker for worker in self._idle if worker.is_alive and worker is not found]
        return found or super().start()

    def end(self, worker: Worker) -> None:
        with self._lock:
            if worker.is_alive and len(self._idle) < _MOST_IDLE:
                self._idle.append(worker)
                return
        super().end(worker)


KEPT_REGO = KeptRego()
KEPT_WORKERS = KeptWorkers()


def running_here(
    workspace: Workspace,
    *,
    loaded: LoadedConfig,
    operations: Sequence[object] = (),
    clock: Clock | None = None,
    models: Mapping[str, ModelProvider] | None = None,
) -> AbstractAsyncContextManager[Plane]:
    """CodePlane in this process, with the processes that all planes of a test run use."""
    return run_plane(
        workspace,
        loaded=loaded,
        operations=operations,
        clock=clock,
        engine=KEPT_REGO,
        workers=KEPT_WORKERS,
        models=models,
    )


@cache
def _empty_ledger() -> tuple[bytes, bytes]:
    """A ledger without events and its node's name: creating the tables would be a quarter of each plane's start."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        with closing(open_writer(path)) as connection:
            Projector(tables()).catch_up(connection)
            (node,) = connection.execute("SELECT node FROM log_state").fetchone()
        return path.read_bytes(), str(node).encode()


@asynccontextmanager
async def plane(
    root: Path,
    *settings: str,
    operations: Sequence[object] = (),
    clock: Clock | None = None,
    models: Mapping[str, ModelProvider] | None = None,
) -> AsyncIterator[Plane]:
    """CodePlane on a folder, quiet, with the given settings."""
    root.mkdir(parents=True, exist_ok=True)
    workspace = Workspace(root=root)
    # Whoever waits for a person here says so: nobody else would answer.
    loaded = load_workspace_config(workspace, (NO_WAIT, *settings), {}).without_terminal()
    if not workspace.home.exists() and not loaded.config.ledger.shared:
        prepare_home(workspace)
        image, node = _empty_ledger()
        workspace.ledger.write_bytes(image.replace(node, b"node_" + secrets.token_hex(8).encode()))
    async with running_here(workspace, loaded=loaded, operations=operations, clock=clock, models=models) as opened:
        yield opened


@asynccontextmanager
async def asking(root: Path, *settings: str, caller: Caller | None = None) -> AsyncIterator[Ask]:
    """What calls operations of CodePlane on a folder, as an agent unless told, and gives envelopes with their text."""
    caller = caller or Caller(surface="mcp", client="test", connection_id="test")
    async with plane(root.resolve(), *settings) as opened:

        async def ask(operation: str, **arguments: object) -> JsonObject:
            outcome = await opened.conveyor.call(operation, arguments, caller)  # type: ignore[arg-type]  # plain JSON
            envelope: JsonObject = json.loads(outcome.to_json(with_text=True))
            return envelope

        yield ask


async def events(opened: Plane, *types: str, **filters: str) -> list[Event]:
    """Everything in the log, after all that is queued has been written."""
    await opened.log.flush()
    return await opened.log.query(EventQuery(types=types, limit=10_000, **filters))  # type: ignore[arg-type]  # names of fields


async def of_call(opened: Plane, outcome: Outcome) -> list[Event]:
    """What the log holds of one call."""
    return await events(opened, call_id=outcome.meta.call_id)


class Said(Request):
    """What a fixture is told."""

    text: str = ""
    paths: tuple[str, ...] = ()
    times: int = 1


class Answered(Result):
    """What a fixture answers."""

    answer: str


class FixtureOps:
    """Operations of every kind, each of which remembers that it ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.pushed = ""
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()

    def _run(self, call: Call, request: Said) -> Answered:
        self.ran.append(call.operation.name)
        return Answered(answer=f"{request.text}{len(self.ran)}")

    @operation("fixture.read", risk=Risk.READ)
    async def read(self, call: Call, request: Said) -> Answered:
        """Read something."""
        return self._run(call, request)

    @operation("fixture.write", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def write(self, call: Call, request: Said) -> Answered:
        """Change something and say what."""
        call.report_change(Effects(changed_paths=request.paths, files_changed_hash=request.text, insertions=1))
        return self._run(call, request)

    @operation("fixture.plan", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def plan(self, call: Call, request: Said) -> Answered:
        """Learn of a path only while planning."""
        for path in request.paths:
            call.may_write(path)
        return self._run(call, request)

    @operation("fixture.test", risk=Risk.WRITE, budget=Budget.TEST_RUN)
    async def test(self, call: Call, request: Said) -> Answered:
        """Run tests, which fail as the text says."""
        if request.text:
            failure = Failure(kind="AssertionError", trace=request.text, failing_tests=request.paths, exit_code=1)
            call.report_failure(failure)
        return self._run(call, request)

    @operation("fixture.fail", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def fail(self, call: Call, request: Said) -> Answered:
        """Fail with the named error."""
        self._run(call, request)
        kind = next(kind for kind in ERRORS if kind.name == request.text)
        raise kind("it was asked for", hint="do not ask for it", details={"asked": True})

    @operation("fixture.crash", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def crash(self, call: Call, request: Said) -> Answered:
        """Break in a way nobody foresaw."""
        self._run(call, request)
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ValueError(request.text or "outer") from inner

    @operation("fixture.broken_read", risk=Risk.READ)
    async def broken_read(self, call: Call, request: Said) -> Answered:
        """Raise the time-out of something else."""
        self._run(call, request)
        raise TimeoutError("a socket's own")

    async def _wait(self) -> None:
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    @operation("fixture.slow", risk=Risk.WRITE, budget=Budget.MUTATION, timeout_sec=0)
    async def slow(self, call: Call, request: Said) -> Answered:
        """Change something when it is released."""
        self.ran.append(call.operation.name)
        await self._wait()
        return Answered(answer=request.text)

    @operation("fixture.slow_read", risk=Risk.READ, timeout_sec=0)
    async def slow_read(self, call: Call, request: Said) -> Answered:
        """Read something when it is released."""
        self.ran.append(call.operation.name)
        await self._wait()
        return Answered(answer=request.text)

    @operation("fixture.short", risk=Risk.WRITE, budget=Budget.MUTATION, timeout_sec=0.02)
    async def short(self, call: Call, request: Said) -> Answered:
        """Take longer than it may."""
        self.ran.append(call.operation.name)
        await self._wait()
        return Answered(answer=request.text)

    @operation("fixture.stream", risk=Risk.READ, timeout_sec=0)
    async def stream(self, call: Call, request: Said) -> AsyncIterator[Answered]:
        """Count, then end as the text says."""
        self.ran.append(call.operation.name)
        for number in range(request.times):
            yield Answered(answer=str(number))
        if request.text == "wait":
            await self._wait()
        if request.text == "crash":
            raise ValueError("in the middle")

    @operation("fixture.stream_write", risk=Risk.WRITE, budget=Budget.MUTATION, timeout_sec=0.02)
    async def stream_write(self, call: Call, request: Said) -> AsyncIterator[Answered]:
        """Change things one by one; then, as the text says, take longer than it may or fail."""
        self.ran.append(call.operation.name)
        for number in range(request.times):
            yield Answered(answer=str(number))
        if request.text == "wait":
            await self._wait()
        if request.text == "fail":
            raise NotFound("there is no more")

    @operation("fixture.stream_slow", risk=Risk.WRITE, budget=Budget.MUTATION, timeout_sec=0)
    async def stream_slow(self, call: Call, request: Said) -> AsyncIterator[Answered]:
        """Change things one by one, and end when it is released."""
        self.ran.append(call.operation.name)
        for number in range(request.times):
            yield Answered(answer=str(number))
        await self._wait()

    @operation("fixture.destroy", risk=Risk.DESTRUCTIVE, budget=Budget.MUTATION)
    async def destroy(self, call: Call, request: Said) -> Answered:
        """Destroy something."""
        return self._run(call, request)

    @operation("fixture.shell", risk=Risk.HIGH, budget=Budget.MUTATION)
    async def shell(self, call: Call, request: Said) -> Answered:
        """Run a command."""
        return self._run(call, request)

    @operation("fixture.send", risk=Risk.EXFILTRATION, budget=Budget.MUTATION)
    async def send(self, call: Call, request: Said) -> Answered:
        """Send something away."""
        return self._run(call, request)

    @operation("fixture.push", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def push(self, call: Call, request: Said) -> Answered:
        """Push, with force if the text says so."""
        return self._run(call, request)

    @assesses("fixture.push")
    def assess_push(self, request: Said) -> Assessment:
        """A force push is not a push."""
        if request.text == "broken":
            raise RuntimeError("cannot judge")
        return Assessment(risk=Risk.DESTRUCTIVE if request.text == "force" else Risk.WRITE, paths=request.paths)

    @previews("fixture.push")
    async def preview_push(self, request: Said) -> Preview:
        """What a person would see."""
        return Preview(summary=f"push {request.text}{self.pushed}", body="\n".join(request.paths))

    @operation("fixture.misdeclared", risk=Risk.READ)
    async def misdeclared(self, call: Call, request: Said) -> Answered:
        """Pretend to be a read."""
        return self._run(call, request)

    @assesses("fixture.misdeclared")
    def assess_misdeclared(self, request: Said) -> Assessment:
        """It is not one."""
        return Assessment(risk=Risk.WRITE)

    @operation("fixture.progress", risk=Risk.READ)
    async def progress(self, call: Call, request: Said) -> Answered:
        """Tell how far it has come."""
        for number in range(request.times):
            await call.progress(number, request.times, request.text)
        return self._run(call, request)

    @operation("fixture.old", risk=Risk.READ, deprecated="use fixture_read")
    async def old(self, call: Call, request: Said) -> Answered:
        """Read as in former times."""
        call.warn("it is getting late")
        return self._run(call, request)
