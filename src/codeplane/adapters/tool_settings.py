"""The file of settings that `cpl tools` writes, beside the owner's own: `tools.yaml`."""

from pathlib import Path

from codeplane.adapters.entry_file import EntryFile
from codeplane.kernel.json import JsonObject

NAME = "tools.yaml"
_HEAD = "# Written by `cpl tools`; if ~/.config/codeplane/config.yaml has `mcp.servers`, those count instead.\n"


class ToolSettings(EntryFile):
    """Adds and removes MCP servers in the file, and leaves everything else in it alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / NAME, head=_HEAD, section="mcp", entries="servers")

    def servers(self) -> dict[str, JsonObject]:
        """The servers in the file by name."""
        return self.entries()
