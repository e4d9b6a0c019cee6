"""Registering with the clients a user has, and taking it back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codeplane.adapters.coding_clients.clients import CLIENTS
from codeplane.adapters.coding_clients.registration import (
    RegistrationChange,
    RegistrationError,
    apply,
    plan,
    plan_removal,
)
from codeplane.kernel.errors import InvalidArgument
from tests.interaction.requirements import requirement

EVERYONE = [client.id for client in CLIENTS]
CODEX_ENTRY = {"command": "/opt/bin/cpl", "args": ["mcp", "--client", "codex"]}


@dataclass(frozen=True, kw_only=True)
class User:
    """A home directory and a repository to register in."""

    home: Path
    repo: Path
    cpl: Path = Path("/opt/bin/cpl")

    def plan(self, *only: str) -> tuple[RegistrationChange, ...]:
        return plan(repo=self.repo, home=self.home, cpl=self.cpl, environ={}, only=only)

    def removal(self, *only: str, everywhere: bool = True) -> tuple[RegistrationChange, ...]:
        return plan_removal(repo=self.repo, home=self.home, cpl=self.cpl, environ={}, only=only, everywhere=everywhere)

    def one(self, client: str) -> RegistrationChange:
        (change,) = self.plan(client)
        return change

    def init(self, *only: str) -> None:
        for change in self.plan(*only):
            apply(change)

    def uninstall(self, *only: str, everywhere: bool = True) -> None:
        for change in self.removal(*only, everywhere=everywhere):
            apply(change)

    def write(self, name: str, text: str) -> Path:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file


@pytest.fixture
def user(tmp_path: Path) -> User:
    home, repo = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    repo.mkdir()
    return User(home=home, repo=repo)


def test_a_machine_without_clients_is_left_alone(user: User) -> None:
    assert user.plan() == ()
    assert user.removal() == ()
    assert list(user.home.iterdir()) == []


def test_only_clients_that_are_there_are_registered(user: User) -> None:
    user.write(".codex/config.toml", "")
    (user.home / ".gemini").mkdir()
    assert [(change.client, change.action) for change in user.plan()] == [("codex", "updated"), ("gemini", "created")]


def test_planning_writes_nothing(user: User) -> None:
    user.plan(*EVERYONE)
    assert list(user.home.iterdir()) == []


def test_a_client_asked_for_by_name_need_not_be_found(user: User) -> None:
    change = user.one("cursor")
    assert (change.action, change.before) == ("created", None)
    apply(change)
    assert json.loads((user.home / ".cursor/mcp.json").read_text())["mcpServers"]["codeplane"]["type"] == "stdio"


def test_a_client_nobody_knows_is_an_error_that_lists_the_known(user: User) -> None:
    for call in (user.plan, user.removal):
        with pytest.raises(InvalidArgument, match="emacs") as caught:
            call("emacs")
        assert "claude-code" in caught.value.hint


def test_paths_in_an_entry_are_absolute(user: User) -> None:
    with pytest.raises(ValueError, match="absolute"):
        plan(repo=user.repo, home=user.home, cpl=Path("cpl"), environ={})


def test_the_second_run_finds_nothing_to_do(user: User) -> None:
    user.init(*EVERYONE)
    files = {change.file: change.file.stat().st_ino for change in user.plan()}
    assert len(files) == len(CLIENTS)
    assert {change.action for change in user.plan()} == {"unchanged"}
    user.init()
    assert {file: file.stat().st_ino for file in files} == files


@requirement("CLI-02")
def test_uninstall_takes_out_our_entry_and_only_that(user: User) -> None:
    user.init(*EVERYONE)
    user.uninstall()
    assert {(change.action, change.reason) for change in user.removal()} == {("unchanged", "not registered")}
    for change in user.removal():
        assert "codeplane" not in change.file.read_text()


def test_uninstall_leaves_what_other_repositories_use_unless_told(user: User) -> None:
    user.init(*EVERYONE)
    here = {change.client: change for change in user.removal(everywhere=False)}
    assert {name for name, change in here.items() if change.action == "updated"} == {"claude-code", "vscode"}
    for change in here.values():
        if change.action == "skipped":
            assert "--everywhere" in change.reason
            assert change.after is None
            apply(change)
            assert "codeplane" in change.file.read_text()
    assert {change.action for change in user.removal()} == {"updated"}


def test_another_repository_keeps_its_own_entry(user: User) -> None:
    other = replace(user, repo=user.repo.parent / "other")
    other.repo.mkdir()
    user.init("claude-code", "vscode")
    other.init("claude-code", "vscode")
    user.uninstall(everywhere=False)
    assert {change.action for change in other.plan("claude-code", "vscode")} == {"unchanged"}
    user.uninstall()
    assert other.one("claude-code").action == "updated"


def test_a_file_inside_the_repository_is_written_only_when_asked_for(user: User) -> None:
    (user.home / ".config/Code").mkdir(parents=True)
    (change,) = user.plan()
    assert (change.client, change.action, change.after) == ("vscode", "skipped", None)
    assert "inside the repository" in change.reason
    assert "cpl init --client vscode" in change.reason
    apply(change)
    assert not (user.repo / ".vscode").exists()

    asked = user.one("vscode")
    assert (asked.action, asked.file) == ("created", user.repo / ".vscode/mcp.json")
    assert "inside the repository" in asked.reason
    apply(asked)
    assert [change.action for change in user.plan()] == ["unchanged"]


def test_uninstall_also_finds_the_file_init_no_longer_prefers(user: User) -> None:
    user.init("opencode")
    user.write(".config/opencode/opencode.jsonc", "{}")
    user.uninstall()
    assert "codeplane" not in (user.home / ".config/opencode/opencode.json").read_text()


def test_claude_code_keeps_one_entry_per_repository(user: User, tmp_path: Path) -> None:
    user.write(".claude.json", '{"numStartups": 3, "projects": {"/elsewhere": {"mcpServers": {}}}}')
    other = User(home=user.home, repo=tmp_path / "other")
    user.init()
    other.init()
    user.uninstall(everywhere=False)
    state = json.loads((user.home / ".claude.json").read_text())
    assert state["numStartups"] == 3
    assert state["projects"][str(user.repo)]["mcpServers"] == {}
    assert state["projects"][str(other.repo)]["mcpServers"]["codeplane"]["args"][-1] == str(other.repo)


def test_a_repository_reached_through_a_symlink_is_the_repository(user: User, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(user.repo)
    user.init("claude-code")
    assert [change.action for change in User(home=user.home, repo=link).plan()] == ["unchanged"]


@pytest.mark.parametrize("name", ["with space", 'quo"te', "back\\slash", "новый", "a.b", "{repo}", "line\nbreak"])
def test_odd_directory_names(tmp_path: Path, name: str) -> None:
    repo = tmp_path / name
    repo.mkdir()
    odd = User(home=tmp_path, repo=repo, cpl=repo / "cpl")
    odd.init(*EVERYONE)
    assert {change.action for change in odd.plan(*EVERYONE)} == {"unchanged"}
    assert tomllib.loads((tmp_path / ".codex/config.toml").read_text())["mcp_servers"]["codeplane"]["command"] == str(
        repo / "cpl"
    )
    odd.uninstall()
    assert {change.reason for change in odd.removal()} == {"not registered"}


def test_a_name_no_text_file_can_hold_is_skipped(tmp_path: Path) -> None:
    odd = User(home=tmp_path, repo=tmp_path / os.fsdecode(b"\xff"))
    change = odd.one("claude-code")
    assert change.action == "skipped" and "Unicode" in change.reason
    apply(change)
    assert not (tmp_path / ".claude.json").exists()


@pytest.mark.parametrize(
    ("client", "file", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {"codeplane": {"url": "http://127.0.0.1:1/mcp"}, "x": {}}}'),
        ("zed", ".config/zed/settings.json", '{"context_servers": {"codeplane": {"source": "custom"}}} // mine'),
        ("opencode", ".config/opencode/opencode.jsonc", '{"mcp": {"codeplane": null,},}'),
        ("codex", ".codex/config.toml", '[mcp_servers.codeplane]\nurl = "http://127.0.0.1:1/mcp"\n[tui]\nx = 1\n'),
        ("codex", ".codex/config.toml", 'mcp_servers = { codeplane = { url = "u" }, b = { command = "b" } }\n'),
    ],
)
def test_an_entry_of_another_shape_is_replaced_whole(user: User, client: str, file: str, text: str) -> None:
    user.write(file, text)
    change = user.one(client)
    assert change.action == "updated"
    apply(change)
    after = (user.home / file).read_text()
    assert "http" not in after and "source" not in after
    assert user.one(client).reason == "already registered"


def test_a_moved_cpl_is_registered_anew(user: User) -> None:
    user.init("gemini")
    moved = User(home=user.home, repo=user.repo, cpl=Path("/usr/bin/cpl"))
    assert moved.one("gemini").reason == "entry replaced"


@pytest.mark.parametrize(
    ("client", "file", "text"),
    [
        (
            "codex",
            ".codex/config.toml",
            '[mcp_servers.codeplane]\nargs=["mcp", "--client", "codex"]\ncommand="/opt/bin/cpl"\nenabled=false\n',
        ),
        (
            "zed",
            ".config/zed/settings.json",
            '{"context_servers": {"codeplane": {%s, "enabled": false}}, "agent_servers": {"codeplane": {"type": '
            '"custom", "command": "/opt/bin/cpl", "args": ["acp", "--client", "zed"], "env": {"A": "b"}}}}',
        ),
        ("gemini", ".gemini/settings.json", '{"mcpServers": {"codeplane": {"trust": true, %s}}}'),
    ],
)
def test_what_a_user_adds_to_our_entry_stays(user: User, client: str, file: str, text: str) -> None:
    user.write(file, text.replace("%s", f'"args": ["mcp", "--client", "{client}"], "command": "/opt/bin/cpl"'))
    assert user.one(client).action == "unchanged"


@pytest.mark.parametrize(
    ("client", "file", "text", "says"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {', "line 1, column 17"),
        ("claude-code", ".claude.json", "{\n  // a comment is corruption to this client\n}", "not valid JSON"),
        ("codex", ".codex/config.toml", "model = \n", "not valid TOML"),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "expected a table"),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": []}', "expected an object"),
        ("zed", ".config/zed/settings.json", "\udcff", "UTF-8"),
    ],
)
def test_a_file_we_cannot_parse_is_left_alone(user: User, client: str, file: str, text: str, says: str) -> None:
    target = user.home / file
    target.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode(errors="surrogateescape")
    target.write_bytes(content)
    for change in (user.one(client), *user.removal(client)):
        assert change.action == "skipped" and says in change.reason
        assert change.after is None
        apply(change)
    assert target.read_bytes() == content


def test_a_place_that_cannot_be_read_is_skipped_with_the_reason(user: User) -> None:
    (user.home / ".cursor" / "mcp.json").mkdir(parents=True)
    user.write(".codex", "a file where a directory should be")
    assert {(change.client, change.action, change.reason) for change in user.plan()} == {
        ("codex", "skipped", "cannot be read: Not a directory"),
        ("cursor", "skipped", "cannot be read: Is a directory"),
    }


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_we_may_not_read_is_skipped_with_the_reason(user: User) -> None:
    user.write(".codex/config.toml", "").chmod(0)
    user.write(".gemini/settings.json", "{}").parent.chmod(0)
    try:
        changes = user.plan()
    finally:
        (user.home / ".gemini").chmod(0o700)
    assert {(change.client, change.reason) for change in changes} == {
        ("codex", "cannot be read: Permission denied"),
        ("gemini", "cannot be read: Permission denied"),
    }


def test_a_read_only_file_is_a_clear_error_and_stays_as_it_is(user: User) -> None:
    file = user.write(".gemini/settings.json", "{}")
    file.chmod(0o444)
    with pytest.raises(RegistrationError, match=r"settings\.json is read-only") as caught:
        apply(user.one("gemini"))
    assert caught.value.hint == f"chmod u+w {file}"
    assert file.read_text() == "{}"
    assert [entry.name for entry in file.parent.iterdir()] == ["settings.json"]


def test_a_place_that_cannot_be_written_is_a_clear_error(user: User) -> None:
    change = user.one("gemini")
    user.write(".gemini", "in the way")
    with pytest.raises(RegistrationError, match=r"cannot write .*settings\.json") as caught:
        apply(change)
    assert "settings.json" in caught.value.hint


def test_a_file_that_changed_since_the_plan_is_not_overwritten(user: User) -> None:
    file = user.write(".gemini/settings.json", "{}")
    (changed, missing) = (user.one("gemini"), user.one("cursor"))
    file.write_text('{"theme": "dark"}')
    user.write(".cursor/mcp.json", "{}")
    for change in (changed, missing):
        with pytest.raises(RegistrationError, match="changed"):
            apply(change)
    assert file.read_text() == '{"theme": "dark"}'
    assert (user.home / ".cursor/mcp.json").read_text() == "{}"
    assert sorted(entry.name for entry in (user.home / ".gemini").iterdir()) == ["settings.json"]

    file.unlink()
    with pytest.raises(RegistrationError, match="changed"):
        apply(changed)
    assert not file.exists()


def test_the_mode_survives_and_no_temporary_file_does(user: User) -> None:
    file = user.write(".gemini/settings.json", "{}")
    file.chmod(0o640)
    user.init()
    assert file.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in file.parent.iterdir()] == ["settings.json"]


def test_a_new_file_is_private(user: User) -> None:
    user.init("claude-code")
    assert (user.home / ".claude.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("exists", [True, False])
def test_a_symlinked_file_stays_a_symlink(user: User, exists: bool) -> None:
    dotfiles = user.home / "dotfiles" / "zed.json"
    if exists:
        user.write("dotfiles/zed.json", "// mine\n{}\n")
    link = user.home / ".config" / "zed" / "settings.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(dotfiles)
    user.init()
    assert link.is_symlink()
    assert "codeplane" in dotfiles.read_text()
    assert dotfiles.read_text().startswith("// mine\n{" if exists else "{")


def test_comments_line_ends_and_byte_order_mark_survive(user: User) -> None:
    text = '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"x": {}, // x\r\n\t},\r\n}\r\n'
    file = user.write(".cursor/mcp.json", text)
    user.init()
    after = file.read_bytes().decode()
    assert '"codeplane"' in after and after.count("\n") == after.count("\r\n")
    assert after.startswith('\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"x": {}, // x\r\n')
    user.uninstall()
    assert file.read_bytes().decode() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "o3" # the model',
        '\ufeffmodel = "o3"\r\n\r\n[tui]\r\nx = 1\r\n',
        '[mcp_servers.a]\ncommand = "a"\n\n# about tui\n[tui]\nx = 1\n',
        '[mcp_servers.a]\ncommand = "a"\n[projects."/x"]\ntrust_level = "t"\n[mcp_servers.b]\ncommand = "b"\n# end\n',
        '[mcp_servers]\n# none yet\n\n[[profiles]]\nname = "p"\n',
        'mcp_servers.a.command = "a"\n[tui]\nx = 1\n',
        'mcp_servers = { a = { command = "a" } } # inline\n[tui]\nx = 1\n',
    ],
)
def test_toml_keeps_everything_else(user: User, text: str) -> None:
    file = user.write(".codex/config.toml", text)
    before = tomllib.loads(text.removeprefix("\ufeff"))

    user.init()
    after = file.read_bytes().decode()
    tree = tomllib.loads(after.removeprefix("\ufeff"))
    assert tree["mcp_servers"].pop("codeplane") == CODEX_ENTRY
    assert {"mcp_servers": {}, **before} == {"mcp_servers": {}, **tree}
    assert after.startswith(text.partition(" } # inline")[0])
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)

    user.uninstall()
    assert file.read_bytes().decode().strip() == text.strip()
    user.init()
    user.uninstall()
    assert file.read_bytes().decode().strip() == text.strip()


def test_toml_comments_around_our_table_stay(user: User) -> None:
    text = (
        '[mcp_servers.codeplane]\ncommand = "old"\n[mcp_servers.codeplane.env]\nA = "b"\n\n# about tui\n[tui]\nx = 1\n'
    )
    file = user.write(".codex/config.toml", text)
    user.init()
    assert "# about tui\n[tui]\nx = 1\n" in file.read_text()
    assert tomllib.loads(file.read_text())["mcp_servers"] == {"codeplane": CODEX_ENTRY}
    user.uninstall()
    assert file.read_text().strip() == "# about tui\n[tui]\nx = 1"


def test_toml_with_our_entry_in_pieces_is_left_alone(user: User) -> None:
    user.write(
        ".codex/config.toml", '[mcp_servers.codeplane]\nurl = "u"\n[tui]\n[mcp_servers.codeplane.env]\nA = "b"\n'
    )
    assert user.one("codex").action == "skipped"


def test_the_toml_library_is_not_paid_for_until_it_is_needed() -> None:
    code = "import sys, codeplane.adapters.coding_clients.registration; sys.exit('tomlkit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@requirement("ACP-10")
def test_the_agent_panel_of_zed_starts_it_by_acp(user: User) -> None:
    user.write(".config/zed/settings.json", '{"agent_servers": {"other": {"command": "x"}}, "theme": "One"}\n')
    change = user.one("zed")
    apply(change)
    assert change.after is not None
    written = json.loads(change.after)
    agent = written["agent_servers"]["codeplane"]
    assert agent == {"type": "custom", "command": "/opt/bin/cpl", "args": ["acp", "--client", "zed"]}
    assert written["agent_servers"]["other"] == {"command": "x"} and written["theme"] == "One"
    assert user.one("zed").action == "unchanged"
