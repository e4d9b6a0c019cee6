"""MCP Apps: approvals and diffs as views that a client shows beside the text of a tool's result.

A view shows, and decides nothing: its one button has the client's person asked by elicitation. It is one document
without outside addresses, and its policy allows its own script and style by their hashes and nothing else.
"""

import base64
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final

import mcp_types as types

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.mcp.caller import Context
from codeplane.surfaces.mcp.resources import Content

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
_FILES = Path(__file__).parent / "app_files"
_ADDRESS = "ui://codeplane/"
# Nothing outside is reached, framed or loaded.
_META: JsonObject = {
    "ui": {
        "csp": {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []},
        "prefersBorder": True,
    }
}

# The views by name, with the script that each has beside the bridge to the host.
_VIEWS: Final = ("approval", "diff")
# The tools whose results have a view. What only an app calls is not for models.
_TOOLS: Final[Mapping[str, JsonObject]] = MappingProxyType(
    {
        "approval_show": {"resourceUri": f"{_ADDRESS}approval"},
        "approval_ask_client": {"visibility": ["app"]},
        "git_diff": {"resourceUri": f"{_ADDRESS}diff"},
        "semantic_diff": {"resourceUri": f"{_ADDRESS}diff"},
        "job_diff": {"resourceUri": f"{_ADDRESS}diff"},
    }
)
# Listed for clients with apps in every toolset: a view of an approval is of no use where nobody can open it.
ALWAYS_LISTED: Final = ("approval_show", "approval_ask_client")


def has_view(tool: str) -> bool:
    """Whether the results of a tool are shown by, or to, a view."""
    return tool in _TOOLS


def with_views(tools: list[types.Tool]) -> list[types.Tool]:
    """The tools with the views that some of them have."""
    return [
        tool.model_copy(update={"meta": {**(tool.meta or {}), "ui": _TOOLS[tool.name]}})
        if has_view(tool.name)
        else tool
        for tool in tools
    ]


def declares_apps(ctx: Context) -> bool:
    """Whether the client of a request shows views."""
    capabilities = ctx.session.client_capabilities
    return shows_apps(capabilities.extensions if capabilities is not None else None)


def shows_apps(extensions: Mapping[str, object] | None) -> bool:
    """Whether a client with these extensions shows views of our type."""
    settings = (extensions or {}).get(EXTENSION)
    if not isinstance(settings, Mapping):
        return False
    named = settings.get("mimeTypes")
    return named is None or (isinstance(named, list) and MIME_TYPE in named)


class AppResources:
    """The views as resources; tools name them, so that no list has to."""

    def list_resources(self) -> list[types.Resource]:
        """Return none: they are found by the tools that have them."""
        return []

    def templates(self) -> list[types.ResourceTemplate]:
        """Return none."""
        return []

    async def read(self, uri: str, caller: Caller) -> Content | None:
        """Return the document of a view."""
        name = uri.removeprefix(_ADDRESS)
        if not uri.startswith(_ADDRESS) or name not in _VIEWS:
            return None
        return types.TextResourceContents(uri=uri, text=_document(name), mime_type=MIME_TYPE, _meta=_META)


@cache
def _document(name: str) -> str:
    """The whole document of a view."""
    style = (_FILES / "view.css").read_text(encoding="utf-8")
    script = "".join((_FILES / f"{part}.js").read_text(encoding="utf-8") for part in ("bridge", name))
    own = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    head = (
        '<meta charset="utf-8"><title>CodePlane</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{style}</style>'
    )
    body = f'<main id="view"></main><script>{script}</script>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
