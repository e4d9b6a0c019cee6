"""Where `cpl` starts: the stdio shim before anything slow is imported, the command line otherwise."""

import os
import sys


def main() -> None:
    """Run `cpl`."""
    _fill_descriptors()
    if sys.argv[1:2] == ["mcp"]:
        from codeplane.surfaces.cli.shim import main as shim

        raise SystemExit(shim(sys.argv[2:]))
    from codeplane.surfaces.cli.commands import app

    app()


def _fill_descriptors() -> None:
    """Started without stdin, stdout or stderr, the next file or socket would get its number, and its bytes."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
