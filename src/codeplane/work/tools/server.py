"""One server of outside tools: a task that owns its connection, restarts it, and takes calls from others."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import ToolsConfig
from codeplane.kernel.errors import (
    CodePlaneError,
    Overloaded,
    ToolAnswerRefused,
    ToolServerUnavailable,
    ToolSignInNeeded,
    ToolTimeout,
)
from codeplane.kernel.external_tool import ExternalTool, ReportProgress, ToolAnswer, ToolConnector, ToolSession
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject

State = Literal["starting", "ready", "waiting", "failed", "needs_sign_in", "stopped"]
_MAX_SHOWN = 500
# A server that floods us with changes is asked for its list this often at most.
_RELIST_SEC = 1.0
# After so long a connection counts as good, and failures are counted again.
_SETTLED_SEC = 60.0
# So many calls in a row without an answer, and the server is restarted.
_TIMEOUTS = 3

Publish = Callable[["ToolServer", tuple[ExternalTool, ...]], None]


@dataclass(slots=True)
class ServerFacts:
    """What is known of a server now."""

    state: State = "stopped"
    error: str = ""
    error_ns: int = 0
    problems: int = 0
    restarts: int = 0
    calls: int = 0


class ToolServer:
    """Keeps one server connected; its calls fail with it, and never end their callers."""

    def __init__(
        self, name: str, connector: ToolConnector, *, publish: Publish, config: ToolsConfig, clock: Clock
    ) -> None:
        """`publish` is given the tools whenever they are others; none when the server is gone."""
        self.name = name
        self.connector = connector
        self.facts = ServerFacts()
        self._publish = publish
        self._config = config
        self._clock = clock
        self._session: ToolSession | None = None
        self._changed = asyncio.Event()
        self._restart = asyncio.Event()
        self._ended = asyncio.Event()
        self._waiting: list[asyncio.Future[CodePlaneError | None]] = []
        self._task: asyncio.Task[None] | None = None
        self._running = 0
        self._timeouts = 0

    def start(self) -> None:
        """Connect, and stay connected until `stop`."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"tools-{self.name}")

    async def stop(self) -> None:
        """End the connection and what was started for it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None
        self.facts.state = "stopped"
        self._publish(self, ())

    async def reconnect(self) -> None:
        """Reconnect and wait until it is ready; the error when that fails."""
        waiting: asyncio.Future[CodePlaneError | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        if self.facts.state != "starting":
            self._restart.set()
        try:
            error = await waiting
        finally:
            self._waiting.remove(waiting)
        if error is not None:
            raise error

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout_sec: float, on_progress: ReportProgress
    ) -> ToolAnswer:
        """Call a tool; a typed error when it does not answer, the server ends or it has too many calls."""
        session, ended = self._session, self._ended
        if session is None:
            raise ToolServerUnavailable(
                # Not why: those are the server's own words, and what an agent reads of it is marked.
                f"{self.name} is not connected ({self.facts.state.replace('_', ' ')})",
                hint=f"see cpl tools; then try it: cpl tools test {self.name}",
            )
        if self._running >= self._config.max_calls:
            raise Overloaded(f"{self._running} calls of {self.name} are running")
        self._running += 1
        self.facts.calls += 1
        # In tasks of their own: what cancels the connection must not cancel the caller, nor the other way round.
        calling = asyncio.ensure_future(session.call(tool, arguments, on_progress))
        ending = asyncio.ensure_future(ended.wait())
        try:
            await asyncio.wait({calling, ending}, timeout=timeout_sec, return_when=asyncio.FIRST_COMPLETED)
            return self._answer(calling, ended, timeout_sec)
        finally:
            self._running -= 1
            for task in (calling, ending):
                task.cancel()
            await asyncio.wait({calling, ending}, timeout=_RELIST_SEC)

    def _answer(self, calling: "asyncio.Future[ToolAnswer]", ended: asyncio.Event, timeout_sec: float) -> ToolAnswer:
        if calling.done():
            self._timeouts = 0
            if calling.cancelled():
                raise ToolServerUnavailable(f"{self.name} ended during the call")
            error = calling.exception()
            if error is None:
                return calling.result()
            if isinstance(error, CodePlaneError):
                raise error
            raise ToolAnswerRefused(f"the answer of {self.name} could not be read: {type(error).__name__}") from None
        if ended.is_set():
            raise ToolServerUnavailable(f"{self.name} ended during the call")
        self._timeouts += 1
        if self._timeouts >= _TIMEOUTS:
            self.problem(f"{_TIMEOUTS} calls in a row were not answered")
            self._restart.set()
        raise ToolTimeout(f"{self.name} did not answer within {timeout_sec:g} s")

    def tools_changed(self) -> None:
        """The server says that its list is another one."""
        self._changed.set()

    def problem(self, text: str) -> None:
        """Keep the newest problem, and count all of them."""
        self.facts.problems += 1
        # In its own words, perhaps, which are printed.
        self.facts.error = escape_invisible(text).replace("\n", " ")[:_MAX_SHOWN]
        self.facts.error_ns = self._clock.now_ns()

    async def _run(self) -> None:
        failures = 0
        while True:
            self.facts.state = "starting"
            self._restart.clear()
            started_ns = self._clock.monotonic_ns()
            try:
                await self._serve()
                reason: CodePlaneError = ToolServerUnavailable("it is restarted")
            except CodePlaneError as error:
                reason = error
                self.problem(error.message)
            except TimeoutError:
                reason = ToolServerUnavailable(f"its tools were not known within {self._config.start_sec:g} s")
                self.problem(reason.message)
            except Exception as error:
                reason = ToolServerUnavailable(f"{type(error).__name__}: {error}")
                self.problem(reason.message)
            if self._restart.is_set():
                failures = 0
                continue
            if self._clock.monotonic_ns() - started_ns > _SETTLED_SEC * 1e9:
                failures = 0
            failures += 1
            self.facts.restarts += 1
            self._report(reason)
            await self._pause(failures, is_sign_in=isinstance(reason, ToolSignInNeeded))

    def _report(self, error: CodePlaneError | None) -> None:
        """Give the waiting calls the outcome of connecting."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(error)

    async def _pause(self, failures: int, *, is_sign_in: bool) -> None:
        """Wait before the next attempt; for ever, until somebody asks for it, after too many."""
        has_given_up = is_sign_in or failures > self._config.restarts
        self.facts.state = "needs_sign_in" if is_sign_in else "failed" if has_given_up else "waiting"
        if has_given_up:
            self._publish(self, ())
        pause = min(self._config.backoff_sec * 2.0 ** (failures - 1), self._config.max_backoff_sec)
        try:
            async with asyncio.timeout(None if has_given_up else pause):
                await self._restart.wait()
        except TimeoutError:
            return

    async def _serve(self) -> None:
        """Be connected until the connection ends or is to be made again."""
        self._ended = asyncio.Event()
        try:
            async with asyncio.timeout(self._config.start_sec) as bound:
                async with self.connector.connect(self) as session:
                    tools = await session.list_tools()
                    bound.reschedule(None)
                    self._timeouts = 0
                    self._session = session
                    self.facts.state = "ready"
                    self._publish(self, tools)
                    self._report(None)
                    await self._follow(session)
        finally:
            # Its tools stay offered while it is restarted; calls of them say why they cannot be made.
            self._session = None
            self._ended.set()

    async def _follow(self, session: ToolSession) -> None:
        closed = asyncio.ensure_future(session.wait_closed())
        asked = asyncio.ensure_future(self._restart.wait())
        try:
            while True:
                changed = asyncio.ensure_future(self._changed.wait())
                try:
                    await asyncio.wait({closed, asked, changed}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if closed.done():
                    raise ToolServerUnavailable(escape_invisible(closed.result()))
                if asked.done():
                    return
                self._changed.clear()
                async with asyncio.timeout(self._config.start_sec):
                    tools = await session.list_tools()
                self._publish(self, tools)
                await asyncio.wait({closed, asked}, timeout=_RELIST_SEC, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (closed, asked):
                task.cancel()
