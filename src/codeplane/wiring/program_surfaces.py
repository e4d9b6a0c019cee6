"""The surfaces that programs of a person speak to over a WebSocket: editors by ACP and LSP, and Codex's clients."""

import asyncio
from pathlib import Path

from starlette.routing import WebSocketRoute

from codeplane.kernel.config import Config
from codeplane.surfaces.acp.surface import AcpSurface
from codeplane.surfaces.app_server.surface import AppServerSurface
from codeplane.surfaces.lsp.surface import LspSurface
from codeplane.wiring.app import Plane


def program_routes(plane: Plane, config: Config, *, root: Path, stopping: asyncio.Event) -> list[WebSocketRoute]:
    """Return their routes."""
    lsp = LspSurface(conveyor=plane.conveyor, root=root, stopping=stopping, logger=plane.logs.logger("codeplane.lsp"))
    app_server = AppServerSurface(
        conveyor=plane.conveyor,
        root=root,
        stopping=stopping,
        logger=plane.logs.logger("codeplane.app_server"),
        disconnect=plane.sessions.disconnect,
    )
    acp = AcpSurface(
        conveyor=plane.conveyor,
        root=root,
        mode=config.trust.mode,
        context_tokens=config.turns.context_tokens,
        on_disconnect=plane.sessions.disconnect,
        offers=plane.tools.client_servers,
        reads_editor=config.turns.unsaved_files,
        stopping=stopping,
        logger=plane.logs.logger("codeplane.acp"),
    )
    return [*acp.routes(), *lsp.routes(), *app_server.routes()]
