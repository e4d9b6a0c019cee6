"""An agent that wants to run a command, which a person has to allow."""

from codeplane.client.client import Client
from tests.harness import Server


def propose(server: Server, command: str, *, agent: str = "bot") -> str:
    """Ask with a token of the agent's own; returns the action that waits."""
    made = server.client().call("agent.token", {"agent": agent, "capabilities": ["read_files", "execute_shell"]})
    token = made["result"]["token"]  # type: ignore[index, call-overload]
    asked = Client(server.host, server.port, token=str(token), user_agent=agent).call("run_bash", {"command": command})
    return str(asked["error"]["details"]["action_id"])  # type: ignore[index, call-overload]
