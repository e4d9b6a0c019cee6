"""`cpl lsp` for the help; the shim itself starts before this is imported."""

import typer

from codeplane.surfaces.cli.lsp_shim import main


def lsp(context: typer.Context) -> None:
    """Serve the Language Server Protocol on stdin and stdout: what editors run."""
    raise typer.Exit(main(context.args))
