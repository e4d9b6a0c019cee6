"""`cpl tools`: add, import, test, trust, call and remove servers; secrets stay sealed."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Server, cpl, start
from tests.interaction.requirements import requirement
from tests.work.tools.tool_plane import SCRIPT

pytestmark = requirement("TOOL-07")

SECRET = "kq7-not-shaped-like-any-known-key"


class Owner:
    """Somebody with a home of their own and a repository elsewhere."""

    def __init__(self, home: Path, repo: Path) -> None:
        self.folder = home / "codeplane"
        self.repo = repo
        self.environ = {"XDG_CONFIG_HOME": str(home)}

    def type(self, *arguments: str, stdin: str | None = None, code: int = 0) -> str:
        """What `cpl` prints."""
        done = cpl(*arguments, cwd=self.repo, environ=self.environ, stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def owner(tmp_path: Path, repo: Path) -> Owner:
    return Owner(tmp_path / "config", repo)


@pytest.fixture
def server(owner: Owner) -> Iterator[Server]:
    running = start(owner.repo, environ=owner.environ)
    yield running
    running.stop()


def test_a_server_is_added_tested_trusted_called_and_removed_while_ours_runs(owner: Owner, server: Server) -> None:
    assert "no outside tools; add a server: cpl tools add" in owner.type("tools")
    words = ("tools", "add", "notes", "--readable", str(SCRIPT.parent), "--", sys.executable, str(SCRIPT))
    assert "added notes" in owner.type(*words)
    tested = owner.type("tools", "test", "notes")
    assert "notes  ready  3 tools, 3 of unknown risk: cpl tools trust notes" in tested
    assert "ext.notes.look  reads, as none" in owner.type("tools", "trust", "notes", "look")
    assert "look: hi" in owner.type("call", "ext.notes.look", "text=hi")
    assert "ext.notes.look  unknown" in owner.type("tools", "trust", "notes", "look", "--revoke")
    listed = json.loads(owner.type("tools", "list", "--json"))["result"]["servers"]
    assert [(found["name"], found["sandbox"], found["calls"]) for found in listed] == [("notes", "on", 1)]
    assert "removed notes" in owner.type("tools", "remove", "notes")
    assert "no outside tools" in owner.type("tools")
    assert "UNKNOWN_OPERATION" in owner.type("call", "ext.notes.look", "text=hi", code=1)


def test_a_server_called_like_a_family_of_ours_says_how_toolsets_name_it(owner: Owner, server: Server) -> None:
    owner.type("tools", "add", "memory", "--readable", str(SCRIPT.parent), "--", sys.executable, str(SCRIPT))
    assert "in toolsets it is ext.memory: memory is a family" in owner.type("tools", "test", "memory")
    owner.type("tools", "add", "notes", "--readable", str(SCRIPT.parent), "--", sys.executable, str(SCRIPT))
    assert "in toolsets" not in owner.type("tools", "test", "notes")


def test_a_server_that_does_not_come_up_exits_with_1_and_says_why(owner: Owner, server: Server) -> None:
    owner.type("tools", "add", "gone", "--", "no-such-program-here")
    assert "'no-such-program-here' is not on PATH" in owner.type("tools", "test", "gone", code=1)


def test_a_server_of_ours_that_cannot_take_a_change_over_says_so(owner: Owner, server: Server) -> None:
    (owner.folder / "config.yaml").parent.mkdir(parents=True, exist_ok=True)
    (owner.folder / "config.yaml").write_text("mcp: {servers: {notes: {}}}\n")
    said = owner.type("tools", "add", "other", "--", "other-program")
    assert "did not take it over" in said and "either command or url" in said
    assert "has mcp.servers of its own, which count instead" in said


def test_servers_of_other_clients_are_imported_with_their_secrets_sealed(owner: Owner, tmp_path: Path) -> None:
    theirs = tmp_path / "mcp.json"
    theirs.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "Brave Search": {
                        "command": "npx",
                        "args": ["-y", "brave"],
                        "env": {"BRAVE_API_KEY": SECRET, "MODE": "fast"},
                        "alwaysAllow": ["search"],
                    },
                    "remote": {"httpUrl": "https://example.com/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}},
                    "codeplane": {"command": "cpl", "args": ["mcp"]},
                    "broken": {"note": "nothing to start"},
                }
            }
        )
    )
    text = owner.type("tools", "import", str(theirs))
    assert "added brave-search" in text and "added remote" in text and "codeplane" not in text
    assert "not taken: alwaysAllow" in text and "broken: left out" in text
    written = (owner.folder / "tools.yaml").read_text()
    assert SECRET not in written and "${BRAVE_SEARCH_BRAVE_API_KEY}" in written
    assert "Bearer ${REMOTE_AUTHORIZATION}" in written and "MODE: fast" in written
    sealed = owner.folder / "tool-secrets.sealed"
    assert SECRET.encode() not in sealed.read_bytes() and sealed.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {"one": {"command": "a", "args": ["b"]}}} // mine'),
        ("codex", ".codex/config.toml", '[mcp_servers.one]\ncommand = "a"\nargs = ["b"]\n'),
        ("opencode", ".config/opencode/opencode.json", '{"mcp": {"one": {"type": "local", "command": ["a", "b"]}}}'),
        ("claude-code", ".claude.json", '{"mcpServers": {"one": {"type": "stdio", "command": "a", "args": ["b"]}}}'),
    ],
)
def test_each_client_is_known_by_name(tmp_path: Path, client: str, file: str, content: str) -> None:
    from codeplane.adapters.coding_clients.clients import Host
    from codeplane.adapters.tool_import import import_servers

    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    host = Host(repo=tmp_path / "repo", home=tmp_path, cpl=Path("cpl"), environ={})
    assert import_servers(client, host).servers == {"one": {"command": "a", "args": ["b"]}}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "notes"), "either command or url has to be given"),
        (("add", "My Notes", "--", "x"), "is no name for it"),
        (("add", "notes", "--url", "file:///x"), "begins with http"),
        (("add", "notes", "--env", "NOVALUE", "--", "x"), "is not NAME=VALUE"),
        (("import", "no-such-client"), "is neither a file nor a client"),
        (("remove", "notes"), "has no server 'notes'"),
        (("secret", "X", "--remove"), "there is no secret 'X'"),
        (("login", "notes"), "there is no MCP server 'notes'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(owner: Owner, words: tuple[str, ...], said: str) -> None:
    done = cpl("tools", *words, cwd=owner.repo, environ=owner.environ)
    assert done.returncode in (1, 2) and said in done.stderr


def test_a_secret_is_kept_sealed_and_forgotten(owner: Owner) -> None:
    assert "NOTES_KEY is kept, sealed" in owner.type("tools", "secret", "NOTES_KEY", stdin=f"{SECRET}\n")
    assert SECRET.encode() not in (owner.folder / "tool-secrets.sealed").read_bytes()
    assert "forgot NOTES_KEY" in owner.type("tools", "secret", "NOTES_KEY", "--remove")
