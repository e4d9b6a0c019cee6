"""Where `cpl` starts: the stdio shim before anything slow is imported, the command line otherwise."""

import sys


def main() -> None:
    """Run `cpl`."""
    if sys.argv[1:2] == ["mcp"]:
        from codeplane.surfaces.cli.shim import main as shim

        raise SystemExit(shim(sys.argv[2:]))
    from codeplane.surfaces.cli.commands import app

    app()
