"""The table of clients says where each keeps its servers and what an entry looks like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.adapters.coding_clients.clients import CLIENTS, Client, Host
from codeplane.adapters.coding_clients.jsonc import JsonValue
from tests.interaction.requirements import requirement

REPO, HOME, CPL = Path("/src/app"), Path("/home/ada"), Path("/opt/bin/cpl")
BY_ID: Mapping[str, Client] = {client.id: client for client in CLIENTS}


def host(
    home: Path = HOME, *, repo: Path = REPO, platform: str = "linux", environ: Mapping[str, str] | None = None
) -> Host:
    return Host(repo=repo, home=home, cpl=CPL, environ=environ or {}, platform=platform)


EXPECTED: list[tuple[str, str, str, tuple[str, ...], dict[str, JsonValue]]] = [
    (
        "claude-code",
        ".claude.json",
        "json",
        ("projects", "/src/app", "mcpServers", "codeplane"),
        {"type": "stdio", "command": "/opt/bin/cpl", "args": ["mcp", "--client", "claude-code", "--repo", "/src/app"]},
    ),
    (
        "codex",
        ".codex/config.toml",
        "toml",
        ("mcp_servers", "codeplane"),
        {"command": "/opt/bin/cpl", "args": ["mcp", "--client", "codex"]},
    ),
    (
        "vscode",
        "/src/app/.vscode/mcp.json",
        "jsonc",
        ("servers", "codeplane"),
        {
            "type": "stdio",
            "command": "/opt/bin/cpl",
            "args": ["mcp", "--client", "vscode", "--repo", "${workspaceFolder}"],
        },
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "jsonc",
        ("mcpServers", "codeplane"),
        {
            "type": "stdio",
            "command": "/opt/bin/cpl",
            "args": ["mcp", "--client", "cursor", "--repo", "${workspaceFolder}"],
        },
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "jsonc",
        ("context_servers", "codeplane"),
        {"command": "/opt/bin/cpl", "args": ["mcp", "--client", "zed"]},
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "jsonc",
        ("mcp", "codeplane"),
        {"type": "local", "command": ["/opt/bin/cpl", "mcp", "--client", "opencode"]},
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "jsonc",
        ("mcpServers", "codeplane"),
        {"command": "/opt/bin/cpl", "args": ["mcp", "--client", "gemini"]},
    ),
]


def test_the_expectations_below_cover_the_whole_table() -> None:
    assert [client.id for client in CLIENTS] == [row[0] for row in EXPECTED]


@requirement("CLI-02")
@pytest.mark.parametrize(("name", "file", "form", "path", "entry"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_each_client_gets_the_entry_it_documents(
    name: str, file: str, form: str, path: tuple[str, ...], entry: dict[str, JsonValue]
) -> None:
    client = BY_ID[name]
    assert client.file(host()) == HOME / file
    assert (client.format, client.path(host()), client.entry(host())) == (form, path, entry)


def test_an_entry_that_every_repository_shares_names_none() -> None:
    shared = [client for client in CLIENTS if client.shared]
    assert {client.id for client in CLIENTS} - {client.id for client in shared} == {"claude-code", "vscode"}
    for client in shared:
        assert "/src/app" not in str((client.path(host()), client.entry(host())))


@pytest.mark.parametrize(
    ("name", "platform", "environ", "file"),
    [
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("codex", "linux", {"CODEX_HOME": "/c"}, "/c/config.toml"),
        ("gemini", "linux", {"GEMINI_CLI_HOME": "/c"}, "/c/.gemini/settings.json"),
        ("opencode", "linux", {"XDG_CONFIG_HOME": "/c"}, "/c/opencode/opencode.json"),
        ("opencode", "darwin", {}, "/home/ada/.config/opencode/opencode.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/c"}, "/c/zed/settings.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/c", "FLATPAK_XDG_CONFIG_HOME": "/f"}, "/f/zed/settings.json"),
        ("zed", "darwin", {"XDG_CONFIG_HOME": "/c"}, "/home/ada/.config/zed/settings.json"),
        ("zed", "win32", {"APPDATA": "/r"}, "/r/Zed/settings.json"),
        ("codex", "linux", {"CODEX_HOME": ""}, "/home/ada/.codex/config.toml"),
    ],
)
def test_platform_and_environment_move_the_file(name: str, platform: str, environ: dict[str, str], file: str) -> None:
    assert BY_ID[name].file(host(platform=platform, environ=environ)) == Path(file)


def test_only_vs_code_is_registered_inside_the_repository() -> None:
    inside = [client.id for client in CLIENTS if client.in_repo]
    assert inside == ["vscode"]
    for client in CLIENTS:
        assert client.file(host()).is_relative_to(REPO) == client.in_repo


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/c"}, "/c/Code"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "/home/ada/.config/Code"),
        ("darwin", {"XDG_CONFIG_HOME": "/c"}, "/home/ada/Library/Application Support/Code"),
        ("win32", {"APPDATA": "/r"}, "/r/Code"),
    ],
)
def test_vs_code_is_found_by_its_users_folder(platform: str, environ: dict[str, str], folder: str) -> None:
    assert BY_ID["vscode"].folder(host(platform=platform, environ=environ)) == Path(folder)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_found_by_binary_by_folder_or_by_file_and_not_otherwise(client: Client, tmp_path: Path) -> None:
    def found(home: str, *, path: str = "") -> bool:
        return client.is_installed(host(tmp_path / home, repo=tmp_path / home / "app", environ={"PATH": path}))

    assert not found("nothing", path=str(tmp_path))
    assert not found("nothing")

    for binary in client.binaries:
        program = tmp_path / binary
        program.write_text("#!/bin/sh\n")
        assert not found("nothing", path=str(tmp_path))
        program.chmod(0o755)
        assert found("nothing", path=str(tmp_path))
        program.unlink()

    client.folder(host(tmp_path / "folder")).mkdir(parents=True)
    assert found("folder")

    file = client.file(host(tmp_path / "file", repo=tmp_path / "file" / "app"))
    file.parent.mkdir(parents=True)
    file.touch()
    assert found("file")


def test_opencode_writes_where_the_user_already_writes(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    opencode, here = BY_ID["opencode"], host(tmp_path)
    assert opencode.file(here).name == "opencode.json"
    (folder / "opencode.jsonc").touch()
    assert opencode.file(here).name == "opencode.jsonc"
    (folder / "opencode.json").touch()
    assert [file.name for file in opencode.present(here)] == ["opencode.jsonc", "opencode.json"]
