"""`cpl app-server`: Codex's protocol on stdin and stdout."""

from codeplane.surfaces.cli.socket_shim import Lines, SocketShim

SHIM = SocketShim(
    name="app-server",
    path="/app-server",
    framing=Lines(),
    options=frozenset({"listen"}),
    usage="""Usage: cpl app-server [--repo DIR] [--client NAME] [--listen stdio://]

Serve Codex's thread, turn and item protocol on stdin and stdout for the repository around the current folder: what
clients of `codex app-server` run. Starts its server if need be.

  --repo DIR         the repository, instead of the one around the current folder
  --client NAME      who starts it, as registered; see `cpl clients` for what its person may answer
  --listen stdio://  what such clients say; there is nothing else to listen on here
""",
)
