"""Signing in to an MCP server for the owner, outside of any running server."""

from collections.abc import Callable
from dataclasses import replace

from codeplane import __version__
from codeplane.adapters.oauth_sign_in import listen_for_sign_in
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.wiring.mcp_connection import http_connector, server_oauth


async def sign_in(name: str, loaded: LoadedConfig, show: Callable[[str], None]) -> None:
    """Obtain a token for a server by a browser and store it sealed; `show` receives the address to open."""
    server = loaded.config.mcp.servers.get(name)
    if server is None:
        raise NotFound(f"there is no MCP server {name!r} in your settings", hint="cpl tools add NAME --url URL")
    oauth = server_oauth(name, server, loaded)
    if oauth is None or (server.oauth is not None and server.oauth.grant == "client_credentials"):
        raise InvalidArgument(
            f"{name} takes no sign-in by a person", hint="look at url, headers and oauth of the server"
        )
    port = server.oauth.port if server.oauth is not None else 0
    async with listen_for_sign_in(show, port=port) as page:
        connector = http_connector(server, loaded, replace(oauth, sign_in=page), version=__version__)
        async with connector.connect(_Silent()) as session:
            await session.list_tools()


class _Silent:
    """Ignores what a server reports beside its answers."""

    def tools_changed(self) -> None:
        return

    def problem(self, text: str) -> None:
        return
