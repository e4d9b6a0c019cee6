"""Published MCP servers, pinned by `npm/package-lock.json` and run by the Node that comes from PyPI.

`python -m tests.work.tools.published_servers` installs them; the tests do the same on first use.
"""

from pathlib import Path
from typing import Final

from codeplane.kernel.json import JsonObject, JsonValue
from tests.clients.node import NODE
from tests.testing.node import installed

HERE: Final = Path(__file__).resolve().parent / "npm"


def published(name: str, *arguments: str, **settings: JsonValue) -> JsonObject:
    """The settings of a published server, in the sandbox."""
    modules = installed(HERE)
    script = modules / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return {"command": str(NODE), "args": [str(script), *arguments], "readable": [str(modules)], **settings}


if __name__ == "__main__":
    installed(HERE)
