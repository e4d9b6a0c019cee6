"""The file of settings that `cpl tools` writes, beside the owner's own: `tools.yaml`."""

from pathlib import Path

from codeplane.adapters.file_replacement import replace_file, storage_error
from codeplane.adapters.yaml_document import Document, Origin
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.json import JsonObject

NAME = "tools.yaml"
_HEAD = "# Written by `cpl tools`; if ~/.config/codeplane/config.yaml has `mcp.servers`, those count instead.\n"


class ToolSettings:
    """Adds and removes MCP servers in the file, and leaves everything else in it alone."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def servers(self) -> dict[str, JsonObject]:
        """The servers in the file by name."""
        return _servers(self._read())

    def add(self, servers: dict[str, JsonObject]) -> None:
        """Put servers into the file, in place of those with their names."""
        document = self._read()
        mcp = document.get("mcp")
        merged: JsonObject = {**_servers(document), **servers}
        self._write({**document, "mcp": {**(mcp if isinstance(mcp, dict) else {}), "servers": merged}})

    def remove(self, name: str) -> bool:
        """Take a server out of the file; False when it is not there."""
        document = self._read()
        servers = _servers(document)
        if servers.pop(name, None) is None:
            return False
        mcp = document.get("mcp")
        left: JsonObject = {**servers}
        self._write({**document, "mcp": {**(mcp if isinstance(mcp, dict) else {}), "servers": left}})
        return True

    def _read(self) -> JsonObject:
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigInvalid(f"{self._path} cannot be read: {error}") from error
        value = Document.parse(text, Origin(name=str(self._path), is_file=True)).value
        return dict(value) if isinstance(value, dict) else {}

    def _write(self, document: JsonObject) -> None:
        import yaml

        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, self._path) from error
        replace_file(self._path, _HEAD + yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def _servers(document: JsonObject) -> dict[str, JsonObject]:
    mcp = document.get("mcp")
    servers = mcp.get("servers") if isinstance(mcp, dict) else None
    return (
        {name: entry for name, entry in servers.items() if isinstance(entry, dict)} if isinstance(servers, dict) else {}
    )
