"""`cpl app-server` for the help; the shim itself starts before this is imported."""

import typer

from codeplane.surfaces.cli.app_server_shim import SHIM


def app_server(context: typer.Context) -> None:
    """Serve Codex's protocol on stdin and stdout: what clients of its app server run."""
    raise typer.Exit(SHIM.main(context.args))
