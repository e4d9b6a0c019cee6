"""Agents: their tokens, and outside agents that run turns."""

from pydantic import Field

from codeplane.kernel.config.section import AbsolutePath, HomePath, Section, ServerName


class OutsideAgentConfig(Section):
    """An outside agent that speaks ACP over stdin and stdout, and what it may see beside its work tree."""

    command: str = Field(min_length=1, description="the program that is started")
    args: tuple[str, ...] = Field((), description="its arguments")
    env: dict[str, str] = Field({}, description="its variables; ${NAME} stands for a secret or one of this environment")
    disabled: bool = Field(False, description="do not start it")
    network: bool = Field(False, description="whether it reaches the network, as most need for their models")
    readable: tuple[AbsolutePath, ...] = Field((), description="folders and files it reads")
    home: tuple[HomePath, ...] = Field(
        (), description="files and folders of your home that its own gets a copy of, as in .claude/.credentials.json"
    )
    mode: str = Field("", max_length=100, description="the agent's own mode for new sessions, as in plan")
    terminal: bool = Field(True, description="offer it commands of CodePlane's, which a person is asked about")
    tools: bool = Field(True, description="offer it CodePlane's own tools over MCP")


class AgentsConfig(Section):
    """Agents with tokens of their own, and outside agents that run turns."""

    token_minutes: float = Field(720.0, gt=0, description="the longest life of an agent's token")
    session_minutes: float = Field(60.0, gt=0, description="the life of a session token")
    max_agents: int = Field(1000, ge=1, description="tokens that are valid at once")
    acp: dict[ServerName, OutsideAgentConfig] = Field(
        {}, description="outside agents by name; taken from your own settings alone, since they start programs"
    )
    default: str = Field("", max_length=32, description="which of them runs new threads that name none; empty: none")
    max_running: int = Field(4, ge=1, le=64, description="turns of outside agents at once, including those that wait")
    start_sec: float = Field(120.0, gt=0, le=600, description="how long an agent may take until it is ready")
    silence_sec: float = Field(900.0, gt=0, le=86_400, description="an agent that is silent for so long is stopped")
    turn_minutes: float = Field(120.0, gt=0, le=10_080, description="for one turn, without waits for people")
    max_tool_calls: int = Field(1000, ge=1, le=100_000, description="tool calls of one turn; then the agent is stopped")
    max_requests: int = Field(
        10_000, ge=1, le=1_000_000, description="permissions, files, commands and tools that it asks for in one turn"
    )
    message_kb: int = Field(16_384, ge=64, le=65_536, description="the largest message of an agent; it ends after one")
    output_mb: int = Field(64, ge=1, le=4096, description="all messages of one turn; the agent ends after more")
