"""Connections to MCP servers over HTTP, with the owner's settings and secrets."""

from collections.abc import Callable, Iterable

from codeplane.adapters.mcp_client import McpConnector
from codeplane.adapters.mcp_http import HttpServer, http_transport
from codeplane.adapters.oauth import ServerOAuth
from codeplane.adapters.tool_secrets import ToolTokens
from codeplane.adapters.yaml_config import LoadedConfig
from codeplane.kernel.config import McpServerConfig, OAuthConfig
from codeplane.kernel.errors import ToolServerUnavailable

_AUTHORIZATION = "authorization"


def server_oauth(
    name: str,
    server: McpServerConfig,
    loaded: LoadedConfig,
    learn: Callable[[Iterable[str]], None] = lambda secrets: None,
) -> ServerOAuth | None:
    """The tokens of a server; None where a header authorises, or where there is no place for them."""
    if loaded.folder is None or any(header.lower() == _AUTHORIZATION for header in server.headers):
        return None
    config = server.oauth or OAuthConfig()
    try:
        url, secret = map(loaded.tool_secrets.expand, (server.url, config.client_secret))
    except ToolServerUnavailable:
        # It is reported when the server is connected.
        return None
    return ServerOAuth(
        server=name,
        url=url,
        config=config,
        client_secret=secret,
        file=ToolTokens(loaded.folder),
        learn=learn,
    )


def http_connector(
    server: McpServerConfig, loaded: LoadedConfig, oauth: ServerOAuth | None, *, version: str
) -> McpConnector:
    """The connector of a server over HTTP."""
    config, secrets = loaded.config.tools, loaded.tool_secrets

    def find() -> HttpServer:
        return HttpServer(
            url=secrets.expand(server.url),
            headers={name: secrets.expand(value) for name, value in server.headers.items()},
            auth=oauth.build() if oauth is not None else None,
        )

    return McpConnector(
        open=http_transport(find, max_bytes=config.message_kb * 1024),
        config=config,
        version=version,
        explain=oauth.explain if oauth is not None else lambda error: None,
    )
