"""The entry point of `cpl`; starts the stdio shim before anything slow is imported."""

import os
import sys


def main() -> None:
    """Run `cpl`."""
    _fill_descriptors()
    if sys.argv[1:2] == ["mcp"]:
        from codeplane.surfaces.cli.shim import main as shim

        raise SystemExit(shim(sys.argv[2:]))
    if sys.argv[1:2] == ["acp"]:
        from codeplane.surfaces.cli.acp_shim import SHIM

        raise SystemExit(SHIM.main(sys.argv[2:]))
    if sys.argv[1:2] == ["lsp"]:
        from codeplane.surfaces.cli.lsp_shim import main as lsp

        raise SystemExit(lsp(sys.argv[2:]))
    if sys.argv[1:2] == ["app-server"]:
        from codeplane.surfaces.cli.app_server_shim import SHIM as APP_SERVER

        raise SystemExit(APP_SERVER.main(sys.argv[2:]))
    from codeplane.surfaces.cli.commands import app

    app()


def _fill_descriptors() -> None:
    """Open missing standard streams, so that no file or socket gets their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
