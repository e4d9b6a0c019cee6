"""MCP servers from the settings of other clients, in the form that ours have."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.adapters.coding_clients import jsonc, toml
from codeplane.adapters.coding_clients.clients import CLIENTS, SERVER, Host
from codeplane.adapters.tool_secrets import PLACEHOLDER, is_secret_name
from codeplane.kernel.errors import InvalidArgument, NotFound
from codeplane.kernel.json import JsonObject, JsonValue

_MAX_BYTES = 8 * 1024 * 1024
# Where clients keep their servers, whatever the file is called.
_CONTAINERS: tuple[tuple[str, ...], ...] = (
    ("mcpServers",),
    ("servers",),
    ("mcp_servers",),
    ("context_servers",),
    ("mcp",),
)
# What others call a field of ours.
_ALIASES = {"httpUrl": "url", "serverUrl": "url", "environment": "env", "http_headers": "headers"}
_TAKEN = ("command", "args", "env", "cwd", "url", "headers", "disabled")


@dataclass(slots=True)
class ImportedServers:
    """Servers as they go into our settings, the secrets that were taken out of them, and what was not taken."""

    servers: dict[str, JsonObject] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    notes: list[str] = field(default_factory=list)


def import_servers(source: str, host: Host) -> ImportedServers:
    """Read the servers of a client, by its name, or of a file; NotFound or InvalidArgument when there are none."""
    found: dict[str, JsonValue] = {}
    for path, container in _places(source, host):
        text = _read(path)
        if text is not None:
            found |= _entries(path, text, container)
    if not found:
        raise NotFound(f"there are no MCP servers in {source}", hint="name a client, as in claude-code, or a file")
    imported = ImportedServers()
    for name, entry in found.items():
        # Our own entry would start us in ourselves.
        if name != SERVER and isinstance(entry, dict):
            _take(imported, name, entry)
    return imported


def _places(source: str, host: Host) -> list[tuple[Path, tuple[str, ...] | None]]:
    client = next((known for known in CLIENTS if known.id == source), None)
    if client is None:
        if not Path(source).is_file():
            names = ", ".join(known.id for known in CLIENTS)
            raise NotFound(f"{source!r} is neither a file nor a client", hint=f"clients: {names}")
        return [(Path(source), None)]
    places: list[tuple[Path, tuple[str, ...] | None]] = [(path, client.path(host)[:-1]) for path in client.files(host)]
    # Claude Code has servers for all projects beside those of one.
    return [*places, *((path, None) for path, _ in places)]


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InvalidArgument(f"{path} has more than {_MAX_BYTES} bytes")
        return path.read_text()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{path} cannot be read: {error}") from error


def _entries(path: Path, text: str, container: tuple[str, ...] | None) -> Mapping[str, JsonValue]:
    get = toml.get_entry if path.suffix == ".toml" else jsonc.get_entry
    for keys in (container,) if container is not None else _CONTAINERS:
        try:
            found = get(text, keys)
        except ValueError as error:
            raise InvalidArgument(f"{path} cannot be read: {error}") from error
        if isinstance(found, dict) and found:
            return found
    return {}


def _take(imported: ImportedServers, given_name: str, given: Mapping[str, JsonValue]) -> None:
    name = re.sub(r"[^a-z0-9-]+", "-", given_name.lower()).strip("-")[:32].rstrip("-") or "server"
    entry = {_ALIASES.get(key, key): value for key, value in given.items()}
    if isinstance(words := entry.get("command"), list) and words:
        # As one client writes it: the program with its arguments.
        entry |= {"command": words[0], "args": [*words[1:], *_list(entry.get("args"))]}
    if entry.get("enabled") is False:
        entry["disabled"] = True
    server: JsonObject = {key: entry[key] for key in _TAKEN if entry.get(key) not in (None, "", [], {}, False)}
    if bool(server.get("command")) == bool(server.get("url")):
        imported.notes.append(f"{given_name}: left out, since it has neither a command nor a url, or both")
        return
    for part in ("env", "headers"):
        if isinstance(values := server.get(part), dict):
            server[part] = {key: _sealed(imported, name, key, str(value)) for key, value in values.items()}
    left = sorted(set(entry) - {*_TAKEN, "type", "enabled"})
    if left:
        imported.notes.append(f"{given_name}: not taken: {', '.join(left)[:200]}")
    imported.servers[name] = server


def _sealed(imported: ImportedServers, server: str, name: str, value: str) -> str:
    """The value, or a placeholder for it when it is a secret."""
    if not is_secret_name(name) or PLACEHOLDER.search(value) or not value:
        return value
    scheme, space, rest = value.partition(" ")
    word = re.sub(r"[^A-Z0-9]+", "_", f"{server}_{name}".upper()).strip("_")
    key = word if word[0].isalpha() else f"S_{word}"
    is_schemed = bool(space) and scheme.lower() in ("bearer", "basic", "token")
    imported.secrets[key] = rest if is_schemed else value
    return f"{scheme} ${{{key}}}" if is_schemed else f"${{{key}}}"


def _list(value: JsonValue) -> list[JsonValue]:
    return list(value) if isinstance(value, list) else []
