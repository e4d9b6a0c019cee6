"""`cpl acp` for the help; the shim itself starts before this is imported."""

import typer

from codeplane.surfaces.cli.acp_shim import SHIM


def acp(context: typer.Context) -> None:
    """Serve ACP on stdin and stdout: what editors run."""
    raise typer.Exit(SHIM.main(context.args))
