"""`cpl mcp` for the help; the shim itself starts before this is imported."""

import typer

from codeplane.surfaces.cli import shim


def mcp(context: typer.Context) -> None:
    """Serve MCP on stdin and stdout: what coding clients run."""
    raise typer.Exit(shim.main(context.args))
