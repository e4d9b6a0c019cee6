"""The outside agents that the settings name, and what is known of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeplane.kernel.config import OutsideAgentConfig
from codeplane.kernel.errors import OutsideAgentUnknown
from codeplane.kernel.outside_agent import AgentConnector, AgentInfo

NO_AGENT = "none"


@dataclass(slots=True)
class AgentFacts:
    """What happened to an agent since the server started."""

    info: AgentInfo = field(default_factory=AgentInfo)
    running: int = 0
    turns: int = 0
    error: str = ""
    error_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideAgent:
    """One agent: its settings, and how it is started."""

    name: str
    settings: OutsideAgentConfig
    connector: AgentConnector
    facts: AgentFacts = field(default_factory=AgentFacts)


class OutsideAgents:
    """Finds agents by their names; the settings can be read again while others run."""

    def __init__(self, default: str = "") -> None:
        self._agents: dict[str, OutsideAgent] = {}
        self.default = default

    def replace(self, agents: Mapping[str, OutsideAgent], *, default: str) -> None:
        """Take over other settings; what runs goes on as it was started."""
        self._agents, self.default = dict(agents), default

    def all(self) -> list[OutsideAgent]:
        """The agents by name."""
        return [self._agents[name] for name in sorted(self._agents)]

    def get(self, name: str) -> OutsideAgent:
        """An agent that may be started; OutsideAgentUnknown for others."""
        agent = self._agents.get(name)
        if agent is None or agent.settings.disabled:
            state = "is disabled" if agent is not None else "is not configured"
            raise OutsideAgentUnknown(f"the outside agent {name!r} {state}")
        return agent

    def choose(self, wanted: str) -> str:
        """The name of the agent that runs a new thread: the one asked for, the default, or none."""
        name = wanted or self.default
        if name in ("", NO_AGENT):
            return ""
        return self.get(name).name
