"""`cpl init` and `cpl uninstall`: what is put where, and taken back."""

import json
import os
import pty
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.kernel.workspace import job_folder, job_folders
from tests.harness import CPL, cpl, git, make_repo, start
from tests.interaction.requirements import requirement

OURS = [".codeplane", ".codeplane/.gitignore", ".codeplane/repo_id", ".codeplane/config.yaml"]


@dataclass(frozen=True, kw_only=True)
class User:
    """A person with a home of their own."""

    home: Path
    repo: Path

    def cpl(self, *arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        # Nothing of this machine's own clients may be found.
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
        return cpl(*arguments, cwd=cwd or self.repo, environ=environ, stdin="")

    def rows(self, *arguments: str, cwd: Path | None = None) -> dict[str, tuple[str, str]]:
        """What `cpl init --json` did to which file, by its name as seen from the repository or home."""
        done = self.cpl("init", "--json", "--no-index", *arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return {
            row["client"] or self._short(row["file"]): (row["action"], row["reason"])
            for row in json.loads(done.stdout)["files"]
        }

    def _short(self, name: str) -> str:
        return str(Path(name).relative_to(self.repo))

    @property
    def codex(self) -> Path:
        return self.home / ".codex/config.toml"

    @property
    def claude(self) -> Path:
        return self.home / ".claude.json"


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Somebody who has Codex, Claude Code and VS Code."""
    home, repo = tmp_path / "home", make_repo(tmp_path / "repo")
    (home / ".codex").mkdir(parents=True)
    (home / ".codex/config.toml").write_text('model = "x"\n')
    (home / ".claude.json").write_text('{"theme": "dark"}')
    (home / ".config/Code").mkdir(parents=True)
    return User(home=home, repo=repo)


class TestInit:
    @requirement("CLI-01")
    def test_first_everything_is_created_then_nothing_changes(self, user: User) -> None:
        first = user.rows("--no-clients")
        assert first == dict.fromkeys(OURS, ("created", ""))
        before = {name: (user.repo / name).read_bytes() for name in OURS[1:]}
        assert user.rows("--no-clients") == dict.fromkeys(OURS, ("unchanged", ""))
        assert {name: (user.repo / name).read_bytes() for name in OURS[1:]} == before
        assert (user.repo / ".codeplane").stat().st_mode & 0o777 == 0o700

    @requirement("CLI-01")
    def test_git_does_not_see_it(self, user: User) -> None:
        user.rows("--yes")
        assert git(user.repo, "status", "--porcelain", "--untracked-files=all") == ""

    @requirement("CLI-01")
    def test_clients_are_registered_when_told_to(self, user: User) -> None:
        rows = user.rows("--yes")
        assert rows["codex"] == ("updated", "entry added")
        assert rows["claude-code"] == ("updated", "entry added")
        assert f'command = "{CPL}"' in user.codex.read_text()
        assert json.loads(user.claude.read_text())["projects"][str(user.repo)]["mcpServers"]["codeplane"]["args"] == [
            "mcp",
            "--client",
            "claude-code",
            "--repo",
            str(user.repo),
        ]
        assert user.rows("--yes")["codex"] == ("unchanged", "already registered")

    def test_without_a_terminal_nobody_can_be_asked(self, user: User) -> None:
        before = user.codex.read_bytes(), user.claude.read_bytes()
        rows = user.rows()
        assert rows["codex"] == ("skipped", "not asked for; cpl init --yes does it")
        assert rows["claude-code"][0] == "skipped"
        assert (user.codex.read_bytes(), user.claude.read_bytes()) == before

    @pytest.mark.parametrize(("answer", "registered"), [(b"y\n", True), (b"n\n", False)])
    def test_at_a_terminal_one_is_asked(self, user: User, answer: bytes, registered: bool) -> None:
        master, slave = pty.openpty()
        environ = {**os.environ, "HOME": str(user.home), "PATH": "/usr/bin:/bin"}
        os.write(master, answer)
        done = subprocess.run(
            [CPL, "init", "--client", "codex"], cwd=user.repo, env=environ, stdin=slave, capture_output=True, timeout=60
        )
        os.close(master)
        os.close(slave)
        assert done.returncode == 0
        assert b"Register CodePlane with codex" in done.stderr
        assert ("codeplane" in user.codex.read_text()) == registered

    def test_vs_code_is_offered_and_written_into_the_repository_on_request(self, user: User) -> None:
        action, reason = user.rows("--yes")["vscode"]
        assert action == "skipped"
        assert "inside the repository" in reason and "cpl init --client vscode" in reason
        assert not (user.repo / ".vscode").exists()

        action, reason = user.rows("--yes", "--client", "vscode")["vscode"]
        assert action == "created"
        assert "inside the repository" in reason
        entry = json.loads((user.repo / ".vscode/mcp.json").read_text())["servers"]["codeplane"]
        assert entry["args"] == ["mcp", "--client", "vscode", "--repo", "${workspaceFolder}"]
        assert git(user.repo, "status", "--porcelain") == "?? .vscode/\n"

    def test_an_unknown_client(self, user: User) -> None:
        done = user.cpl("init", "--client", "emacs")
        assert done.returncode == 2
        assert "error: unknown client: emacs (INVALID_ARGUMENT)\n\nhint: choose from claude-code" in done.stderr
        assert not (user.repo / ".codeplane").exists()

    def test_a_clients_file_that_cannot_be_written_fails_alone(self, user: User) -> None:
        user.codex.chmod(0o444)
        done = user.cpl("init", "--yes", "--json", "--no-index")
        assert done.returncode == 1
        rows = {row["client"]: row for row in json.loads(done.stdout)["files"]}
        assert rows["codex"]["action"] == "failed"
        assert "chmod u+w" in rows["codex"]["reason"]
        assert rows["claude-code"]["action"] == "updated"

    def test_for_people_a_line_a_file_and_how_to_undo(self, user: User) -> None:
        done = user.cpl("init", "--yes", "--no-index")
        assert [line.split()[0] for line in done.stdout.splitlines()] == ["created"] * 4 + ["updated"] * 2 + ["skipped"]
        assert "undo: cpl uninstall" in done.stderr


def _tree(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder but for git's own, with what is in it."""
    return {
        str(one.relative_to(folder)): one.read_bytes() if one.is_file() else None
        for one in folder.rglob("*")
        if ".git" not in one.parts
    }


class TestFirstIndex:
    @requirement("CLI-30")
    def test_it_is_built_and_no_server_is_left(self, user: User) -> None:
        (user.repo / "shop.py").write_text("def total():\n    return 1\n")
        done = user.cpl("init", "--no-clients")
        assert done.returncode == 0, done.stderr
        assert "indexed    2 files, 2 symbols in " in done.stdout
        assert "no server is left behind" in done.stderr
        assert user.cpl("status").returncode == 3
        assert (user.repo / ".codeplane/index.db").exists()
        again = json.loads(user.cpl("init", "--no-clients", "--json").stdout)
        assert again["index"]["action"] == "indexed" and again["index"]["symbol_count"] == 2

    @requirement("CLI-30")
    def test_it_can_be_declined(self, user: User) -> None:
        done = user.cpl("init", "--no-clients", "--no-index")
        assert done.returncode == 0 and "indexed" not in done.stdout
        assert not (user.repo / ".codeplane/index.db").exists()

    @requirement("CLI-30")
    def test_a_running_server_keeps_its_own(self, user: User) -> None:
        server = start(user.repo)
        try:
            done = user.cpl("init", "--no-clients", "--json")
            assert json.loads(done.stdout)["index"]["action"] == "skipped"
        finally:
            server.stop()

    @requirement("CLI-30")
    def test_what_cannot_be_indexed_is_said(self, user: User) -> None:
        user.rows("--no-clients")
        (user.repo / ".codeplane/config.yaml").write_text("index: {verify_after_sec: -1}\n")
        done = user.cpl("init", "--no-clients")
        assert done.returncode == 1
        assert "failed" in done.stdout and "verify_after_sec" in done.stdout


class TestWhere:
    def test_from_a_folder_inside(self, user: User) -> None:
        inside = user.repo / "a/b"
        inside.mkdir(parents=True)
        assert user.rows("--no-clients", cwd=inside) == dict.fromkeys(OURS, ("created", ""))
        assert not (inside / ".codeplane").exists()

    def test_in_a_worktree(self, user: User) -> None:
        tree = user.repo.parent / "tree"
        git(user.repo, "worktree", "add", "--quiet", str(tree))
        user.rows("--no-clients")
        there = User(home=user.home, repo=tree)
        assert there.rows("--no-clients") == dict.fromkeys(OURS, ("created", ""))
        assert git(tree, "status", "--porcelain", "--untracked-files=all") == ""
        assert (tree / ".codeplane/repo_id").read_text() != (user.repo / ".codeplane/repo_id").read_text()

    def test_in_a_folder_without_git_only_when_it_is_named(self, user: User, tmp_path: Path) -> None:
        plain = User(home=user.home, repo=tmp_path / "plain")
        plain.repo.mkdir()
        done = plain.cpl("init")
        assert done.returncode == 1
        assert "(WORKSPACE_NOT_FOUND)" in done.stderr
        assert plain.rows("--no-clients", "--repo", ".") == dict.fromkeys(OURS, ("created", ""))
        # From now on it is known as one, also from inside.
        (plain.repo / "inside").mkdir()
        assert plain.rows("--no-clients", cwd=plain.repo / "inside") == dict.fromkeys(OURS, ("unchanged", ""))

    def test_a_folder_that_is_none(self, user: User) -> None:
        done = user.cpl("init", "--repo", "nowhere")
        assert done.returncode == 1
        assert "is not a folder" in done.stderr


class TestUninstall:
    @requirement("CLI-09")
    def test_it_asks_and_without_an_answer_changes_nothing(self, user: User) -> None:
        user.rows("--yes")
        before = user.codex.read_bytes(), user.claude.read_bytes()
        done = user.cpl("uninstall")
        assert done.returncode == 1
        assert f"delete  {user.repo}/.codeplane and the ledger in it" in done.stdout
        assert "nothing was changed; cpl uninstall --yes does it" in done.stderr
        assert (user.codex.read_bytes(), user.claude.read_bytes()) == before
        assert (user.repo / ".codeplane").exists()

    def test_the_command_that_does_it_has_the_options_given(self, user: User) -> None:
        user.rows("--yes")
        done = user.cpl("uninstall", "--keep-data", "--repo", str(user.repo), cwd=user.home)
        assert done.returncode == 1
        assert f"; cpl uninstall --repo {user.repo} --keep-data --yes does it" in done.stderr

    @requirement("CLI-09")
    def test_yes_takes_back_what_is_this_repositorys(self, user: User) -> None:
        user.rows("--yes", "--client", "codex", "--client", "claude-code", "--client", "vscode")
        server = start(user.repo)
        done = user.cpl("uninstall", "--yes")
        assert done.returncode == 0, done.stderr
        assert server.process.wait(timeout=30) == 0
        assert not (user.repo / ".codeplane").exists()
        assert "codeplane" not in user.claude.read_text()
        assert not (user.repo / ".vscode").exists()
        # Other repositories use this one.
        assert "codeplane" in user.codex.read_text()
        assert f"leave   {user.codex} (codex)" in done.stdout
        assert "cpl uninstall --everywhere" in done.stdout

    @requirement("TRUST-48")
    def test_no_hook_runs_when_recovery_refs_are_dropped(self, user: User) -> None:
        user.rows("--yes")
        hook = user.repo / ".husky" / "reference-transaction"
        hook.parent.mkdir()
        hook.write_text(f"#!/bin/sh\ntouch '{user.home}/ran'\n")
        hook.chmod(0o755)
        git(user.repo, "update-ref", "refs/codeplane/recovery/x", "HEAD")
        git(user.repo, "config", "core.hooksPath", ".husky")
        assert user.cpl("uninstall", "--yes", "--everywhere").returncode == 0
        assert git(user.repo, "for-each-ref", "refs/codeplane/") == ""
        assert not (user.home / "ran").exists()

    def test_everywhere_takes_the_shared_entries_too(self, user: User) -> None:
        user.rows("--yes")
        done = user.cpl("uninstall", "--yes", "--everywhere")
        assert done.returncode == 0
        assert user.codex.read_text().strip() == 'model = "x"'
        assert json.loads(user.claude.read_text())["theme"] == "dark"
        assert "codeplane" not in user.claude.read_text()
        assert user.cpl("uninstall", "--yes", "--everywhere").stdout == "nothing to do\n"

    @requirement("CLI-09")
    def test_the_work_trees_of_jobs_go_along_wherever_they_are(self, user: User, tmp_path: Path) -> None:
        user.rows("--yes")
        before = git(user.repo, "worktree", "list")
        elsewhere = job_folder(tmp_path / "fast disk", user.repo)
        kept = tmp_path / "mine" / "job_1" / "tree"
        for place in (elsewhere / "job_1" / "tree", kept):
            git(user.repo, "worktree", "add", "--quiet", "--detach", str(place))
        done = user.cpl("uninstall", "--yes")
        assert done.returncode == 0 and f"delete  {elsewhere}, the work trees of jobs" in done.stdout
        # A work tree of theirs is not taken for one, whatever it is called.
        assert not elsewhere.exists() and kept.is_dir()
        git(user.repo, "worktree", "remove", "--force", str(kept))
        assert git(user.repo, "worktree", "list") == before

    @requirement("CLI-09")
    def test_the_work_trees_of_jobs_go_along(self, user: User) -> None:
        user.rows("--yes")
        before = git(user.repo, "worktree", "list")
        trees = job_folder(job_folders({}, user.home), user.repo)
        git(user.repo, "worktree", "add", "--quiet", "--detach", str(trees / "job_1" / "tree"))
        done = user.cpl("uninstall", "--yes")
        assert done.returncode == 0 and f"delete  {trees}, the work trees of jobs" in done.stdout
        assert not trees.parent.exists() and git(user.repo, "worktree", "list") == before

    def test_everywhere_leaves_nothing(self, user: User) -> None:
        other = User(home=user.home, repo=make_repo(user.repo.parent / "other"))
        gone = User(home=user.home, repo=make_repo(user.repo.parent / "gone"))
        (user.home / ".cursor").mkdir()
        people = (user, other, gone)
        before = {one.repo: _tree(one.repo) for one in people[:2]} | {user.home: _tree(user.home)}
        clients = ("codex", "claude-code", "vscode", "cursor", "zed", "opencode", "gemini")
        chosen = [word for name in clients for word in ("--client", name)]
        for one in people:
            one.rows("--yes", *chosen)
            one.rows("--yes")
        for name in ("client.key", "nested/more.key"):
            file = user.home / ".config/codeplane/clients" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("cpl_client_x")
        git(other.repo, "update-ref", "refs/codeplane/recovery/x", "HEAD")
        shutil.rmtree(gone.repo)
        assert _tree(user.home) != before[user.home]
        server = start(other.repo)
        # Without an answer nothing changes, and what would go is told, also of other repositories.
        asked = user.cpl("uninstall", "--everywhere")
        assert asked.returncode == 1
        assert "nothing was changed; cpl uninstall --everywhere --yes does it" in asked.stderr
        for output in (f"{user.repo}/.codeplane", f"{other.repo}/.codeplane", "refs/codeplane/", "clients' secrets"):
            assert output in asked.stdout
        done = user.cpl("uninstall", "--yes", "--everywhere")
        assert done.returncode == 0, done.stderr
        assert server.process.wait(timeout=30) == 0
        for folder, tree in before.items():
            now = _tree(folder)
            assert {name for name in now.keys() | tree.keys() if name not in now or name not in tree} == set()
            assert now == tree
        assert git(other.repo, "for-each-ref", "refs/codeplane/") == ""
        assert user.cpl("uninstall", "--yes", "--everywhere").stdout == "nothing to do\n"
        assert {folder: _tree(folder) for folder in before} == before

    @pytest.mark.parametrize("ordinary_first", [False, True])
    def test_everywhere_takes_folders_around_the_settings_that_were_not_there(
        self, user: User, *, ordinary_first: bool
    ) -> None:
        shutil.rmtree(user.home / ".config")
        before = {folder: _tree(folder) for folder in (user.repo, user.home)}
        user.rows("--yes")
        add = ("agents", "add", "mine", "--", "/bin/true")
        assert (done := user.cpl(*add)).returncode == 0, done.stderr
        assert (user.home / ".config/codeplane").is_dir()
        if ordinary_first:
            assert user.cpl("uninstall", "--yes").returncode == 0
            assert (user.home / ".config/codeplane").is_dir()
        assert (done := user.cpl("uninstall", "--yes", "--everywhere")).returncode == 0, done.stderr
        assert not (user.home / ".config").exists()
        assert {folder: _tree(folder) for folder in before} == before

    def test_the_secret_of_a_client_leaves_no_folder(self, user: User) -> None:
        shutil.rmtree(user.home / ".config")
        user.rows("--no-clients")
        server = start(user.repo)
        assert (done := user.cpl("clients", "allow", "mine")).returncode == 0, done.stderr
        assert (user.home / ".config/codeplane/clients").is_dir()
        assert user.cpl("uninstall", "--yes", "--everywhere").returncode == 0
        assert server.process.wait(timeout=30) == 0
        assert not (user.home / ".config").exists()

    @pytest.mark.parametrize("inside", [False, True])
    def test_everywhere_keeps_folders_that_were_there_or_have_something_in_them(
        self, user: User, *, inside: bool
    ) -> None:
        config = user.home / ".config"
        shutil.rmtree(config)
        if not inside:
            config.mkdir()
        user.rows("--yes")
        assert user.cpl("agents", "add", "mine", "--", "/bin/true").returncode == 0
        if inside:
            (config / "theirs").mkdir()
        assert user.cpl("uninstall", "--yes", "--everywhere").returncode == 0
        assert list(config.iterdir()) == ([config / "theirs"] if inside else [])

    @requirement("CLI-09")
    def test_everywhere_works_from_anywhere_and_after_an_uninstall_there(self, user: User) -> None:
        user.rows("--yes")
        git(user.repo, "update-ref", "refs/codeplane/recovery/x", "HEAD")
        here = user.cpl("uninstall", "--yes")
        assert here.returncode == 0 and "leave   1 ref below refs/codeplane/" in here.stdout
        done = user.cpl("uninstall", "--yes", "--everywhere", cwd=user.home)
        assert done.returncode == 0, done.stderr
        assert git(user.repo, "for-each-ref", "refs/codeplane/") == ""
        assert user.cpl("uninstall", "--yes", "--everywhere", cwd=user.home).stdout == "nothing to do\n"
        assert user.cpl("uninstall", "--yes", cwd=user.home).returncode != 0

    @requirement("CLI-09")
    def test_what_others_put_into_our_files_stays(self, user: User) -> None:
        cursor = user.home / ".cursor/mcp.json"
        user.rows("--yes", "--client", "cursor")
        text = json.loads(cursor.read_text())
        text["mcpServers"]["other"] = {"command": "x"}
        cursor.write_text(json.dumps(text))
        assert user.cpl("uninstall", "--yes", "--everywhere").returncode == 0
        assert json.loads(cursor.read_text()) == {"mcpServers": {"other": {"command": "x"}}}

    @requirement("CLI-09")
    def test_here_leaves_other_repositories_alone(self, user: User) -> None:
        other = User(home=user.home, repo=make_repo(user.repo.parent / "other"))
        before = user.claude.read_bytes()
        for one in (user, other):
            one.rows("--yes", "--client", "claude-code", "--client", "vscode")
        assert user.cpl("uninstall", "--yes").returncode == 0
        assert str(other.repo) in user.claude.read_text() and str(user.repo) not in user.claude.read_text()
        assert (other.repo / ".codeplane").exists() and (other.repo / ".vscode/mcp.json").exists()
        assert not (user.repo / ".vscode").exists()
        assert other.cpl("uninstall", "--yes").returncode == 0
        assert user.claude.read_bytes() == before
        assert not (user.home / ".local").exists()

    def test_the_data_can_be_kept(self, user: User) -> None:
        user.rows("--yes")
        assert user.cpl("uninstall", "--yes", "--keep-data").returncode == 0
        assert (user.repo / ".codeplane/repo_id").exists()
        assert "codeplane" not in user.claude.read_text()

    def test_what_cannot_be_taken_back_is_told_and_the_rest_is_done(self, user: User) -> None:
        user.rows("--yes")
        user.claude.chmod(0o444)
        done = user.cpl("uninstall", "--yes")
        assert done.returncode == 1
        assert "(REGISTRATION_FAILED)\n\nhint: chmod u+w" in done.stderr
        assert not (user.repo / ".codeplane").exists()

    def test_a_home_that_is_a_link_is_unlinked(self, user: User) -> None:
        elsewhere = user.home / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "mine").write_text("precious")
        (user.repo / ".codeplane").symlink_to(elsewhere)
        assert user.cpl("uninstall", "--yes").returncode == 0
        assert (elsewhere / "mine").read_text() == "precious"
        assert not os.path.lexists(user.repo / ".codeplane")
