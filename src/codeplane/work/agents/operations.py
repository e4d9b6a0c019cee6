"""The operations on outside agents themselves: which there are, and whether one comes up."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import mkdtemp

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import OutsideAgentRefused
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.outside_agent import AgentPlace, AgentToolCall, AgentUpdate, TerminalState
from codeplane.work.agents.registry import OutsideAgent, OutsideAgents

_NOT_OFFERED = -32601


class NoArguments(Request):
    """Nothing is asked for."""


class AgentRequest(Request):
    """An outside agent."""

    agent: str = Field(min_length=1, max_length=32, description="its name in the settings")


class OutsideAgentView(Result):
    """An outside agent, and what is known of it."""

    name: str
    command: str
    disabled: bool
    is_default: bool
    network: bool
    home: tuple[str, ...]
    variables: tuple[str, ...]
    says: str
    running: int
    turns: int
    last_error: str
    last_error_at: str | None

    @classmethod
    def of(cls, agent: OutsideAgent, *, default: str) -> "OutsideAgentView":
        """The agent as callers see it; of its variables the names alone."""
        settings, facts = agent.settings, agent.facts
        says = " ".join(filter(None, (facts.info.name, facts.info.version)))
        return cls(
            name=agent.name,
            command=" ".join([settings.command, *settings.args])[:300],
            disabled=settings.disabled,
            is_default=agent.name == default,
            network=settings.network,
            home=settings.home,
            variables=tuple(sorted(settings.env)),
            says=escape_invisible(says),
            running=facts.running,
            turns=facts.turns,
            last_error=escape_invisible(facts.error),
            last_error_at=rfc3339(facts.error_ns) if facts.error_ns else None,
        )

    def text(self) -> str:
        state = "disabled" if self.disabled else f"{self.running} running" if self.running else "ready"
        sees = ["the network"] if self.network else []
        sees += [f"~/{name}" for name in self.home] + [f"${name}" for name in self.variables]
        lines = [
            f"{self.name}{' (default)' if self.is_default else ''}: {state}; {self.command}",
            f"  sees: its own work tree{''.join(f', {what}' for what in sees)}",
        ]
        if self.says:
            lines.append(f"  says: {self.says}")
        if self.last_error:
            lines.append(f"  last error: {self.last_error}")
        return "\n".join(lines)


class OutsideAgentList(Result):
    """The outside agents of the settings."""

    agents: tuple[OutsideAgentView, ...]

    def text(self) -> str:
        return "\n".join(agent.text() for agent in self.agents) or "no outside agents; add one: cpl agents add NAME"


class TestedAgent(Result):
    """An outside agent that came up."""

    __test__ = False

    agent: str
    name: str
    version: str
    protocol: int
    loads_sessions: bool
    sign_ins: tuple[str, ...]

    def text(self) -> str:
        says = escape_invisible(" ".join(filter(None, (self.name, self.version)))) or "it says nothing of itself"
        loads = "goes on with its sessions" if self.loads_sessions else "begins a session in each turn"
        return f"{self.agent} came up: {says}; ACP version {self.protocol}; {loads}"


class ReloadedAgents(Result):
    """The outside agents as the settings have them now."""

    agents: tuple[str, ...]

    def text(self) -> str:
        return f"outside agents: {', '.join(self.agents) or 'none'}"


class OutsideAgentOperations:
    """What clients can do with outside agents."""

    def __init__(self, agents: OutsideAgents, *, reload: Callable[[], Awaitable[None]]) -> None:
        self._agents = agents
        self._reload = reload

    @operation("acp_agent.list", risk=Risk.READ)
    async def list(self, call: Call, request: NoArguments) -> OutsideAgentList:
        """The outside agents that can run threads: what each is started with, may see, and how it did."""
        default = self._agents.default
        return OutsideAgentList(
            agents=tuple(OutsideAgentView.of(agent, default=default) for agent in self._agents.all())
        )

    @operation("acp_agent.test", risk=Risk.WRITE, people=True, timeout_sec=660)
    async def test(self, call: Call, request: AgentRequest) -> TestedAgent:
        """Start an outside agent in an empty folder, open a session, and end it again; for a person."""
        agent = self._agents.get(request.agent)
        folder = Path(await asyncio.to_thread(mkdtemp, prefix="cpl-test-"))
        try:
            tree, home = folder / "tree", folder / "home"
            for made in (tree, home):
                await asyncio.to_thread(made.mkdir)
            async with agent.connector.start(AgentPlace(tree=tree, home=home), _NoHost()) as session:
                info = agent.facts.info = session.info
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return TestedAgent(
            agent=agent.name,
            name=info.name,
            version=info.version,
            protocol=info.protocol,
            loads_sessions=info.can_load,
            sign_ins=info.sign_ins,
        )

    @operation("acp_agent.reload", risk=Risk.WRITE, people=True)
    async def reload(self, call: Call, request: NoArguments) -> ReloadedAgents:
        """Read the settings of outside agents again; turns that run go on as they were started."""
        await self._reload()
        return ReloadedAgents(agents=tuple(agent.name for agent in self._agents.all()))


class _NoHost:
    """Refuses everything: an agent that is only tried has nothing to ask for."""

    async def update(self, update: AgentUpdate) -> None:
        return

    def problem(self, text: str) -> None:
        return

    async def permit(self, tool_call: AgentToolCall) -> bool:
        return False

    async def read_file(self, path: str, line: int | None, limit: int | None) -> str:
        raise _refusal()

    async def write_file(self, path: str, content: str) -> None:
        raise _refusal()

    async def open_terminal(self, command: str, cwd: str) -> str:
        raise _refusal()

    def terminal(self, terminal_id: str) -> TerminalState:
        raise _refusal()

    async def wait_terminal(self, terminal_id: str) -> TerminalState:
        raise _refusal()

    async def close_terminal(self, terminal_id: str, *, forget: bool) -> None:
        raise _refusal()

    async def call_tool(self, message: JsonObject) -> JsonObject | None:
        if (request_id := message.get("id")) is None:
            return None
        # Answered all the same: some agents wait for every server that they are given.
        error: JsonObject = {"code": _NOT_OFFERED, "message": "it is only tried"}
        return {"jsonrpc": "2.0", "id": request_id, "error": error}


def _refusal() -> OutsideAgentRefused:
    return OutsideAgentRefused("it is only tried")
