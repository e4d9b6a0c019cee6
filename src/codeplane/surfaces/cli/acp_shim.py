"""`cpl acp`: ACP on stdin and stdout."""

from codeplane.surfaces.cli.socket_shim import Lines, SocketShim

SHIM = SocketShim(
    name="acp",
    path="/acp",
    framing=Lines(),
    options=frozenset({"toolset", "agent"}),
    flags=frozenset({"v2"}),
    usage="""Usage: cpl acp [--repo DIR] [--client NAME] [--toolset NAMES] [--agent NAME] [--v2]

Serve the Agent Client Protocol on stdin and stdout for the repository around the current folder: what editors run.
Starts its server if need be.

  --repo DIR        the repository, instead of the one around the current folder
  --client NAME     who starts it, as registered; see `cpl clients` for what its person may answer
  --toolset NAMES   what its turns may use: core (default), all, or families joined by commas, such as core,shell
  --agent NAME      an outside agent that runs its conversations, such as claude-code; see `cpl agents acp`
  --v2              offer the draft of version 2 to clients that ask for it
""",
)
