"""The operations of outside agents' own turns: that one starts, and each tool that it asks its person about."""

from collections.abc import Awaitable, Callable

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.operation import Assessment, Preview, Risk, assesses, operation, previews
from codeplane.kernel.outside_agent import ToolKind
from codeplane.work.agents.gate_models import EnteredAgent, EnterRequest, PermittedTool, ToolPermitRequest

ENTER = "agent_tool.enter"
Ingest = Callable[[Call, str, str], Awaitable[None]]
# The operation that asks about a tool, by what the agent says that it does.
PERMITS: dict[ToolKind, str] = {
    "read": "agent_tool.read",
    "search": "agent_tool.read",
    "think": "agent_tool.read",
    "switch_mode": "agent_tool.read",
    "edit": "agent_tool.edit",
    "move": "agent_tool.edit",
    "delete": "agent_tool.edit",
    "execute": "agent_tool.execute",
    "fetch": "agent_tool.fetch",
    "other": "agent_tool.other",
}


class AgentGate:
    """Judges what outside agents do by themselves; the agents' own turns alone call these."""

    def __init__(self, ingest: Ingest) -> None:
        """`ingest` marks a call that brings in what others wrote."""
        self._ingest = ingest

    @operation(ENTER, risk=Risk.WRITE)
    async def enter(self, call: Call, request: EnterRequest) -> EnteredAgent:
        """Let an outside agent work on a turn; called by that turn alone."""
        _require_agent(call)
        entered = EnteredAgent(agent=request.agent, network=request.network)
        if (source := entered.untrusted_source()) is not None:
            # Before it starts: what it reads out there nobody sees.
            await self._ingest(call, *source)
        return entered

    @operation("agent_tool.read", risk=Risk.READ)
    async def read(self, call: Call, request: ToolPermitRequest) -> PermittedTool:
        """Let an outside agent read in its own work tree; called by its turn alone."""
        return _permit(call, request)

    @operation("agent_tool.edit", risk=Risk.WRITE, capability="write_files")
    async def edit(self, call: Call, request: ToolPermitRequest) -> PermittedTool:
        """Let an outside agent change files of its own work tree; called by its turn alone."""
        return _permit(call, request)

    @operation("agent_tool.execute", risk=Risk.HIGH, capability="execute_shell")
    async def execute(self, call: Call, request: ToolPermitRequest) -> PermittedTool:
        """Let an outside agent run a command in its own work tree and sandbox; called by its turn alone."""
        return _permit(call, request)

    @operation("agent_tool.fetch", risk=Risk.EXFILTRATION, capability="execute_tools")
    async def fetch(self, call: Call, request: ToolPermitRequest) -> PermittedTool:
        """Let an outside agent reach another machine; called by its turn alone."""
        return _permit(call, request)

    @operation("agent_tool.other", risk=Risk.EXFILTRATION, capability="execute_tools")
    async def other(self, call: Call, request: ToolPermitRequest) -> PermittedTool:
        """Let an outside agent run a tool of its own of which it says little; called by its turn alone."""
        return _permit(call, request)

    @assesses("agent_tool.edit")
    def assess_edit(self, request: ToolPermitRequest) -> Assessment:
        """It changes nothing but the agent's own work tree."""
        # Not as `paths`: those of the door are files of the checkout.
        return Assessment(
            risk=Risk.WRITE,
            effects=("it changes files of the agent's own work tree",),
            trusted_as=(f"{request.agent} changes files of its own work tree",),
        )

    @assesses("agent_tool.execute")
    def assess_execute(self, request: ToolPermitRequest) -> Assessment:
        """It runs a command beside the checkout."""
        return Assessment(
            risk=Risk.HIGH,
            effects=("it runs a command in the agent's own work tree",),
            remotes=("*",) if request.network else (),
            trusted_as=(f"{request.agent} runs: {request.command or request.title}",),
        )

    @assesses("agent_tool.fetch")
    def assess_fetch(self, request: ToolPermitRequest) -> Assessment:
        """It reaches another machine."""
        return Assessment(
            risk=Risk.EXFILTRATION,
            effects=("it reaches another machine",),
            remotes=("*",),
            trusted_as=(f"{request.agent} fetches: {request.title}",),
        )

    @assesses("agent_tool.other")
    def assess_other(self, request: ToolPermitRequest) -> Assessment:
        """What it does is not known."""
        return Assessment(
            risk=Risk.EXFILTRATION,
            effects=("the agent does not say what it does",),
            remotes=("*",) if request.network else (),
            trusted_as=(f"{request.agent} does: {request.title}",),
        )

    @previews("agent_tool.edit")
    async def preview_edit(self, request: ToolPermitRequest) -> Preview:
        """The diff that the agent shows."""
        return request.preview("change files")

    @previews("agent_tool.execute")
    async def preview_execute(self, request: ToolPermitRequest) -> Preview:
        """The command."""
        return request.preview("run a command")

    @previews("agent_tool.fetch")
    async def preview_fetch(self, request: ToolPermitRequest) -> Preview:
        """What is fetched."""
        return request.preview("reach another machine")

    @previews("agent_tool.other")
    async def preview_other(self, request: ToolPermitRequest) -> Preview:
        """What the agent says of it."""
        return request.preview("use a tool of its own")


def _permit(call: Call, request: ToolPermitRequest) -> PermittedTool:
    _require_agent(call)
    return PermittedTool(agent=request.agent, tool_call_id=request.tool_call_id)


def _require_agent(call: Call) -> None:
    """Nobody else's answer would reach an agent."""
    origin = call.caller.origin
    if origin is None or origin.tree_id is None:
        raise InvalidArgument(
            f"{call.operation.name} is asked by the turn of an outside agent",
            hint="start such a turn: thread_create agent=NAME, then turn_send",
        )
