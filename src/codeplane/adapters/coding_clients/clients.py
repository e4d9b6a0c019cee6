"""The coding clients CodePlane registers with: how to detect each and what to write to its configuration."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from codeplane.adapters.coding_clients.jsonc import JsonValue

Format: TypeAlias = Literal["json", "jsonc", "toml"]
Entry: TypeAlias = dict[str, JsonValue]

SERVER = "codeplane"
REPO = "{repo}"


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine, user and repository a registration is for."""

    repo: Path
    home: Path
    cpl: Path
    environ: Mapping[str, str]
    platform: str = sys.platform

    def directory(self, variable: str, default: Path) -> Path:
        """Return the directory that a variable names; relative values are ignored, as XDG requires."""
        value = self.environ.get(variable, "")
        return Path(value) if value and Path(value).is_absolute() else default

    @property
    def xdg(self) -> Path:
        """The configuration directory of command-line programs."""
        return self.directory("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def desktop(self) -> Path:
        """The configuration directory of Electron applications."""
        roots = {
            "darwin": self.home / "Library" / "Application Support",
            "win32": self.directory("APPDATA", self.home / "AppData" / "Roaming"),
        }
        return roots.get(self.platform, self.xdg)

    @property
    def zed(self) -> Path:
        """The configuration directory of Zed: XDG only on Linux, and a separate variable in its Flatpak."""
        roots = {"darwin": self.home / ".config" / "zed", "win32": self.desktop / "Zed"}
        return roots.get(self.platform, self.directory("FLATPAK_XDG_CONFIG_HOME", self.xdg) / "zed")


@dataclass(frozen=True, kw_only=True)
class Client:
    """One coding client: how it is detected, which file is written and what is written there."""

    id: str
    name: str
    binaries: tuple[str, ...]
    folder: Callable[[Host], Path]
    files: Callable[[Host], tuple[Path, ...]]
    format: Format
    container: tuple[str, ...]
    shape: Callable[[str, list[str]], Entry]
    repo_argument: str | None = None
    in_repo: bool = False
    # Where the agents of its panel are, which it starts by ACP; empty for clients without one.
    agents: tuple[str, ...] = ()

    @property
    def shared(self) -> bool:
        """Whether one entry serves every repository of this user."""
        return REPO not in self.container and not self.in_repo

    def is_installed(self, host: Host) -> bool:
        """Return whether the client is on PATH or has a configuration."""
        path = host.environ.get("PATH", "")
        installed = any(shutil.which(binary, path=path) for binary in self.binaries)
        return installed or _exists(self.folder(host)) or bool(self.present(host))

    def present(self, host: Host) -> tuple[Path, ...]:
        """Return the client's existing files, in order of preference."""
        return tuple(file for file in self.files(host) if _exists(file))

    def file(self, host: Host) -> Path:
        """Return the file to register in: the first that exists, else the last."""
        return next(iter(self.present(host)), self.files(host)[-1])

    def path(self, host: Host) -> tuple[str, ...]:
        """Return the path of keys to our entry."""
        return (*(host.repo.as_posix() if key == REPO else key for key in self.container), SERVER)

    def entry(self, host: Host) -> Entry:
        """Return the entry that starts the stdio shim."""
        repo = str(host.repo) if self.repo_argument == REPO else self.repo_argument
        return self.shape(str(host.cpl), ["mcp", "--client", self.id, *(["--repo", repo] if repo else [])])

    def entries(self, host: Host) -> list[tuple[tuple[str, ...], Entry]]:
        """Return all our entries with their paths of keys: the MCP server, and the agent where it has a panel."""
        agent: Entry = {"type": "custom", "command": str(host.cpl), "args": ["acp", "--client", self.id]}
        return [(self.path(host), self.entry(host)), *([((*self.agents, SERVER), agent)] if self.agents else [])]


def _exists(path: Path) -> bool:
    # What we may not look into is there as far as we know; the attempt to read it will say why not.
    try:
        return path.exists()
    except PermissionError:
        return True


# Only what starts the shim is written: `enabled`, `env` or `timeout` in an entry are the user's to set.
def _plain_entry(command: str, args: list[str]) -> Entry:
    return {"command": command, "args": args}


def _stdio(command: str, args: list[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": args}


def _local(command: str, args: list[str]) -> Entry:
    return {"type": "local", "command": [command, *args]}


CLIENTS: tuple[Client, ...] = (
    # Local scope, what `claude mcp add` writes: private to the user, and worktrees share it.
    Client(
        id="claude-code",
        name="Claude Code",
        binaries=("claude",),
        folder=lambda host: host.directory("CLAUDE_CONFIG_DIR", host.home / ".claude"),
        files=lambda host: (host.directory("CLAUDE_CONFIG_DIR", host.home) / ".claude.json",),
        format="json",
        container=("projects", REPO, "mcpServers"),
        shape=_stdio,
        repo_argument=REPO,
    ),
    Client(
        id="codex",
        name="Codex",
        binaries=("codex",),
        folder=lambda host: host.directory("CODEX_HOME", host.home / ".codex"),
        files=lambda host: (host.directory("CODEX_HOME", host.home / ".codex") / "config.toml",),
        format="toml",
        container=("mcp_servers",),
        shape=_plain_entry,
    ),
    # Servers of its user-level file start in the home directory, where ${workspaceFolder} does not resolve
    # (microsoft/vscode#264535): only a file inside the repository can say which repository is meant.
    Client(
        id="vscode",
        name="VS Code",
        binaries=("code",),
        folder=lambda host: host.desktop / "Code",
        files=lambda host: (host.repo / ".vscode" / "mcp.json",),
        format="jsonc",
        container=("servers",),
        shape=_stdio,
        repo_argument="${workspaceFolder}",
        in_repo=True,
    ),
    # Started in the home directory, whatever `cwd` says, but the variable works in arguments.
    Client(
        id="cursor",
        name="Cursor",
        binaries=("cursor", "cursor-agent"),
        folder=lambda host: host.home / ".cursor",
        files=lambda host: (host.home / ".cursor" / "mcp.json",),
        format="jsonc",
        container=("mcpServers",),
        shape=_stdio,
        repo_argument="${workspaceFolder}",
    ),
    Client(
        id="zed",
        name="Zed",
        binaries=("zed", "zeditor", "zedit"),
        folder=lambda host: host.zed,
        files=lambda host: (host.zed / "settings.json",),
        format="jsonc",
        container=("context_servers",),
        shape=_plain_entry,
        agents=("agent_servers",),
    ),
    # Version 2 prefers mcp.servers.<name> but still reads this form, the only one version 1 knows.
    Client(
        id="opencode",
        name="OpenCode",
        binaries=("opencode",),
        folder=lambda host: host.xdg / "opencode",
        files=lambda host: (host.xdg / "opencode" / "opencode.jsonc", host.xdg / "opencode" / "opencode.json"),
        format="jsonc",
        container=("mcp",),
        shape=_local,
    ),
    Client(
        id="gemini",
        name="Gemini CLI",
        binaries=("gemini",),
        folder=lambda host: host.directory("GEMINI_CLI_HOME", host.home) / ".gemini",
        files=lambda host: (host.directory("GEMINI_CLI_HOME", host.home) / ".gemini" / "settings.json",),
        format="jsonc",
        container=("mcpServers",),
        shape=_plain_entry,
    ),
)
