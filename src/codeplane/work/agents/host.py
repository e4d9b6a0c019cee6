"""What an outside agent asks of CodePlane while it works: permissions, files, commands and tools, through the door."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import (
    ApprovalPending,
    CodePlaneError,
    Internal,
    InvalidArgument,
    NotFound,
    OutsideAgentRefused,
    Overloaded,
    PathDenied,
    TooLarge,
)
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.kernel.outside_agent import AgentToolCall, AgentUpdate, TerminalState
from codeplane.work.agents.agent_run import AgentRun
from codeplane.work.agents.gate import PERMITS
from codeplane.work.agents.gate_models import ToolPermitRequest
from codeplane.work.agents.recorder import AgentRecorder
from codeplane.work.agents.tool_server import AgentToolServer
from codeplane.work.threads.events import TURN_PAUSED, TURN_RESUMED
from codeplane.work.turns.tool_step import Toolbox, ToolOutcome
from codeplane.work.turns.transcript import ToolRequest

# A question that nobody answers expires; until then it is polled.
_WAIT_SEC = 3600.0
# An agent that is refused so often in one turn for the same thing is ended.
_MAX_REPEATED = 10
_MAX_FILE = 8 * 1024 * 1024
_MAX_TERMINALS = 16

Append = Callable[[str, JsonObject], Awaitable[None]]


@dataclass(slots=True)
class _Terminal:
    task: "asyncio.Task[Outcome]"
    state: TerminalState = field(default_factory=lambda: TerminalState(output="", truncated=False, exit_code=None))


@dataclass(slots=True, kw_only=True)
class OutsideHost:
    """The other side of one agent in one run of a turn; all of its calls are made as the turn's actor."""

    run: AgentRun
    tree: Path
    recorder: AgentRecorder
    toolbox: Toolbox
    network: bool
    version: str
    # So often it may ask for something in one turn.
    max_requests: int
    # When the agent was heard last, by the loop's clock.
    heard_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    # How many questions wait for a person, and how long the turn has waited for people.
    waiting: int = 0
    waited_sec: float = 0.0
    _refused: dict[str, int] = field(default_factory=dict)
    _requests: int = 0
    _asked: int = 0
    _terminals: dict[str, _Terminal] = field(default_factory=dict)
    _problems: "set[asyncio.Task[None]]" = field(default_factory=set)
    _tools: AgentToolServer = field(init=False)
    _is_over: "asyncio.Future[CodePlaneError]" = field(init=False)

    def __post_init__(self) -> None:
        self._tools = AgentToolServer(run=self.run, toolbox=self.toolbox, call=self._call_tool, version=self.version)
        self._is_over = asyncio.get_running_loop().create_future()

    @property
    def misbehaved(self) -> "asyncio.Future[CodePlaneError]":
        """Done once the agent has to be ended, with the reason."""
        return self._is_over

    def heard(self) -> None:
        """Note that the agent is alive."""
        self.heard_at = asyncio.get_running_loop().time()

    @property
    def was_refused(self) -> bool:
        """Whether the agent was refused something that it asked a permission for."""
        return bool(self._refused)

    async def update(self, update: AgentUpdate) -> None:
        self.heard()
        await self.recorder.take(update)

    def problem(self, text: str) -> None:
        self.heard()
        task = asyncio.ensure_future(self.recorder.problem(text))
        self._problems.add(task)
        task.add_done_callback(self._problems.discard)

    async def permit(self, tool_call: AgentToolCall) -> bool:
        self._count_request()
        call = self.recorder.merged(tool_call)
        request = ToolPermitRequest.of(self.run.agent, call, network=self.network, root=str(self.tree))
        wanted: JsonObject = request.model_dump(mode="json", exclude={"tool_call_id"})
        fingerprint = digest(canonical(wanted))
        if fingerprint in self._refused:
            self._refuse_again(fingerprint, request.title)
            return False
        operation = PERMITS[call.kind or "other"]
        outcome = await self._decide(operation, request.model_dump(mode="json"), tool_call_id=call.tool_call_id)
        if outcome.error is not None:
            self._refused[fingerprint] = 0
            await self.recorder.problem(f"refused: {request.title}: {outcome.error.name}")
        return outcome.error is None

    async def read_file(self, path: str, line: int | None, limit: int | None) -> str:
        self._count_request()
        relative, first = self._relative(path), max(1, line or 1)
        last = None if limit is None else first + max(0, limit) - 1
        if last is not None and last < first:
            return ""
        parts: list[str] = []
        size = 0
        while True:
            wanted: JsonObject = {"path": relative, "start_line": first, **({"end_line": last} if last else {})}
            outcome = await self._decide("read_files", {"ranges": [wanted]})
            if isinstance(outcome.error, NotFound) and await asyncio.to_thread(_is_inside, self.tree, relative):
                # Not as one that is not there: the agent would write a new one in its place.
                raise InvalidArgument(outcome.error.message, hint=outcome.error.hint)
            file = _first_file(_result_of(outcome))
            if file.get("error"):
                raise InvalidArgument(f"{relative}: {file['error']}")
            content, end = str(file["content"]), int(str(file["end"]))
            parts.append(content)
            size += len(content)
            if size > _MAX_FILE:
                raise TooLarge(f"{relative} has more than {_MAX_FILE} characters", details={"limit": _MAX_FILE})
            if not file.get("next_range") or end < first:
                return "".join(parts)
            first = end + 1

    async def write_file(self, path: str, content: str) -> None:
        self._count_request()
        edit: JsonObject = {"path": self._relative(path), "content": content, "overwrite": True}
        _result_of(await self._decide("write_files", {"edits": [edit]}))

    async def open_terminal(self, command: str, cwd: str) -> str:
        self._count_request()
        if len(self._terminals) >= _MAX_TERMINALS:
            raise Overloaded(f"{_MAX_TERMINALS} terminals are open", hint="release some first")
        folder = self._relative(cwd) if cwd and Path(cwd) != self.tree else ""
        asked: JsonObject = {"command": command, "cwd": folder, "justification": f"{self.run.agent} asks for it"}
        terminal_id = f"term-{len(self._terminals) + 1}-{self._asked + 1}"
        task = asyncio.ensure_future(self._decide("run_bash", asked))
        self._terminals[terminal_id] = _Terminal(task)
        return terminal_id

    def terminal(self, terminal_id: str) -> TerminalState:
        self.heard()
        known = self._terminal(terminal_id)
        if known.task.done() and known.state.exit_code is None:
            known.state = _terminal_state(known.task)
        return known.state

    async def wait_terminal(self, terminal_id: str) -> TerminalState:
        await asyncio.wait({self._terminal(terminal_id).task})
        return self.terminal(terminal_id)

    async def close_terminal(self, terminal_id: str, *, forget: bool) -> None:
        self.heard()
        known = self._terminal(terminal_id)
        if not known.task.done():
            known.task.cancel()
            await asyncio.wait({known.task})
        if forget:
            del self._terminals[terminal_id]

    async def call_tool(self, message: JsonObject) -> JsonObject | None:
        self._count_request()
        return await self._tools.answer(message)

    async def close(self) -> None:
        """End commands that run, and record the last problems."""
        tasks: list[asyncio.Task[Outcome] | asyncio.Task[None]] = [known.task for known in self._terminals.values()]
        for task in tasks:
            task.cancel()
        if pending := [*tasks, *self._problems]:
            await asyncio.wait(pending)

    def _count_request(self) -> None:
        """Take note of a request, each of which is recorded; an agent that makes too many is ended."""
        self.heard()
        self._requests += 1
        if self._requests > self.max_requests:
            refusal = OutsideAgentRefused(
                f"{self.run.agent} asked for more than {self.max_requests:,} things in one turn",
                hint="look at what it changed: thread_diff; agents.max_requests allows more",
            )
            if not self._is_over.done():
                self._is_over.set_result(refusal)
            raise refusal

    def _terminal(self, terminal_id: str) -> _Terminal:
        if terminal_id not in self._terminals:
            raise NotFound(f"there is no terminal {terminal_id[:100]!r}")
        return self._terminals[terminal_id]

    def _relative(self, path: str) -> str:
        """The path below the work tree; PathDenied for any other."""
        # Links are judged where files are opened.
        normal = os.path.normpath(path)
        if not path.startswith("/") or not Path(normal).is_relative_to(self.tree) or normal == str(self.tree):
            self.problem(f"it asked for {path[:100]!r}, which is outside of its work tree")
            raise PathDenied(
                f"{path[:200]!r} is outside of the work tree", hint=f"name a file below {self.tree}, by its whole path"
            )
        return Path(normal).relative_to(self.tree).as_posix()

    def _refuse_again(self, fingerprint: str, title: str) -> None:
        """Count a question that was refused before; nobody is asked again."""
        self._refused[fingerprint] += 1
        if self._refused[fingerprint] == 1:
            self.problem(f"it asked again for what was refused: {title}")
        if self._refused[fingerprint] > _MAX_REPEATED and not self._is_over.done():
            self._is_over.set_result(
                OutsideAgentRefused(f"{self.run.agent} asked {_MAX_REPEATED} times more for what was refused: {title}")
            )

    async def _decide(self, operation: str, arguments: JsonObject, *, tool_call_id: str | None = None) -> Outcome:
        """Make a call and, where a person has to decide, wait for that."""
        self._asked += 1
        asked: JsonObject = {**arguments, "idempotency_key": self.run.key(f"host-{self._asked}")}

        async def call(wait_sec: float) -> Outcome:
            caller = self.run.next_caller(wait_sec=wait_sec, tool_call_id=tool_call_id)
            return await self.run.work.door.call(operation, asked, caller)

        outcome = await call(0)
        if not isinstance(outcome.error, ApprovalPending):
            return outcome
        async with _Wait(self, str(outcome.error.details.get("action_id") or "")):
            while True:
                outcome = await call(_WAIT_SEC)
                if not isinstance(outcome.error, ApprovalPending):
                    return outcome

    async def _call_tool(self, tool: ToolRequest, key: str) -> ToolOutcome:
        """Call one of CodePlane's own tools for the agent."""
        door = self.run.work.door
        outcome = await self.toolbox.call(door, self.run.next_caller(tool_call_id=tool.tool_call_id), tool, key)
        if not isinstance(outcome, ApprovalPending):
            return outcome
        async with _Wait(self, str(outcome.details.get("action_id") or "")):
            while True:
                caller = self.run.next_caller(wait_sec=_WAIT_SEC, tool_call_id=tool.tool_call_id)
                outcome = await self.toolbox.call(door, caller, tool, key)
                if not isinstance(outcome, ApprovalPending):
                    return outcome


class _Wait:
    """A question that waits for a person: the turn shows as paused, and no time counts."""

    def __init__(self, host: OutsideHost, action_id: str) -> None:
        self._host = host
        self._action_id = action_id
        self._since = 0.0

    async def __aenter__(self) -> None:
        host = self._host
        host.waiting += 1
        self._since = asyncio.get_running_loop().time()
        paused: JsonObject = {
            "pending_action_count": host.waiting,
            "steps_used": host.run.turn.tool_steps,
            "steps_remaining": 0,
            "action_id": self._action_id or None,
        }
        await host.recorder.log.append([host.run.draft(TURN_PAUSED, paused)])

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        host = self._host
        host.waiting -= 1
        # A turn that was cancelled has ended: it does not go on.
        if kind is None and not host.waiting:
            host.waited_sec += asyncio.get_running_loop().time() - self._since
            host.heard()
            resumed: JsonObject = {"resumed_reason": "approval", "steps_remaining": 0}
            await host.recorder.log.append([host.run.draft(TURN_RESUMED, resumed)])


def _is_inside(tree: Path, relative: str) -> bool:
    """Whether there is such a file or link in the tree itself, not behind a link that leads out of it."""
    place = (tree / relative).parent.resolve()
    return place.is_relative_to(tree.resolve()) and os.path.lexists(tree / relative)


def _result_of(outcome: Outcome) -> JsonObject:
    if outcome.error is not None:
        raise outcome.error
    if outcome.result is None:
        raise Internal("a call ended with neither a result nor an error")
    result: JsonObject = outcome.result.model_dump(mode="json")
    return result


def _first_file(result: JsonObject) -> JsonObject:
    files = result["files"]
    assert isinstance(files, list)
    file: JsonValue = files[0] if files else None
    return file if isinstance(file, dict) else {"error": "it is not there"}


def _terminal_state(task: "asyncio.Task[Outcome]") -> TerminalState:
    """How a command ended; one that was refused says why, as its output."""
    if task.cancelled():
        return TerminalState(output="ended", truncated=False, exit_code=137)
    outcome = task.result()
    if outcome.error is not None:
        return TerminalState(output=f"{outcome.error.name}: {outcome.error.message}", truncated=False, exit_code=126)
    result = _result_of(outcome)
    output = "".join(str(result.get(name) or "") for name in ("stdout", "stderr"))
    return TerminalState(
        output=output, truncated=bool(result.get("truncated")), exit_code=int(str(result.get("exit_code") or 0))
    )
