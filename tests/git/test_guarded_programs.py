"""What git runs can lie where agents write: it runs as ever, and out of reach of what decides here."""

import os
import shlex
import shutil
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from codeplane.adapters.coding_clients.install_record import InstallRecord
from codeplane.adapters.hook_sandbox import HookSandbox
from codeplane.adapters.secret_files import SecretFiles
from codeplane.git.safety.command import Git
from codeplane.git.safety.filter_commands import filter_commands
from codeplane.git.safety.guarded_programs import Enclosure, GuardedPrograms
from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.errors import CodePlaneError, GitRefused
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.git.desk import Desk, call, run, simple
from tests.git.random_repository import environment
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-48")

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="NOT TESTED: enclosed hooks, since bubblewrap is not installed"
)
SECRET = "cpl_the-owners"


class Guarded(Desk):
    """A repository whose own folder holds a token, and whose hooks are enclosed."""

    enclosure: Enclosure | None = None
    is_offline: bool = False
    writable: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        return self.made.root / ".codeplane"

    def command(self) -> Git:
        self.home.mkdir(exist_ok=True)
        (self.home / "owner.token").write_text(SECRET)
        (self.home / ".gitignore").write_text("*\n")
        root = self.made.root
        secrets = SecretFiles(serving=root, rules=NOTHING_SHOWN, empty=root.parent / "empty")
        own = HookSandbox(secrets, writable=self.writable)
        hooks = GuardedPrograms(
            home=self.home,
            enclosure=self.enclosure or own,
            clock=SystemClock(),
            offline=lambda: self.is_offline,
        )
        return Git(self.made.root, self.config, lambda: environment(self.made.at) | dict(self.variables), hooks)

    def hook(self, name: str, text: str, folder: str = ".husky") -> None:
        """A hook in the work tree, or elsewhere."""
        place = self.made.root / folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{text}\n")
        place.chmod(0o755)

    def commit(self, path: str = "a.txt", text: str = "changed\n") -> str:
        """Change a file and commit it; what hooks said."""
        self.made.write(path, text)
        return run(Commits(self.writer).commit(call(), CommitRequest(message="x", paths=(path,)))).said


class Nothing:
    """A machine where nothing can be enclosed."""

    def works(self, *, network: bool) -> bool:
        return False

    def command(
        self,
        *,
        root: Path,
        hidden: Path,
        shown: tuple[Path, Path] | None,
        fixed: Sequence[Path],
        written: Sequence[Path] = (),
        used: Sequence[Path] = (),
        network: bool = True,
        read_only: bool = False,
    ) -> list[str] | None:
        return None

    def shield(self, home: Path, root: Path, *, ssh: bool) -> list[str]:
        return []

    def without_links(self, root: Path, *, ssh: bool) -> list[str]:
        return []


@pytest.fixture
def desk(tmp_path: Path) -> Guarded:
    made = simple(tmp_path).made
    made.git("config", "core.hooksPath", ".husky")
    return Guarded(made)


@needs_bubblewrap
@pytest.mark.parametrize("folder", [".husky", ".git/hooks"])
def test_a_hook_reaches_neither_the_token_nor_the_policies_nor_what_git_runs(desk: Guarded, folder: str) -> None:
    if folder != ".husky":
        desk.made.git("config", "--unset", "core.hooksPath")
    tries = (
        "cat .codeplane/owner.token",
        "mkdir -p .codeplane/policy && touch .codeplane/policy/mine.rego",
        "touch .git/hooks/post-merge",
        "git config core.fsmonitor /tmp/evil",
        "rm -rf .codeplane",
        "umount .codeplane",
    )
    desk.hook("pre-commit", "\n".join(f"({one}) 2>&1 && echo DONE {one}" for one in tries) + "\ntrue", folder)
    settings = (desk.made.root / ".git" / "config").read_bytes()
    output = desk.commit()
    assert SECRET not in output
    assert (desk.home / "owner.token").read_text() == SECRET
    assert not (desk.home / "policy").exists()
    assert not (desk.made.root / ".git" / "hooks" / "post-merge").exists()
    assert (desk.made.root / ".git" / "config").read_bytes() == settings


@needs_bubblewrap
def test_a_hook_sees_no_processes_but_its_own(desk: Guarded) -> None:
    desk.hook("pre-commit", "ls -d /proc/[0-9]* | wc -l > count; tr '\\0' ' ' < /proc/1/cmdline > first")
    desk.commit()
    assert int((desk.made.root / "count").read_text()) < 10
    assert "bwrap" in (desk.made.root / "first").read_text()


@needs_bubblewrap
def test_it_does_what_hooks_do(desk: Guarded) -> None:
    desk.hook("pre-commit", "echo made > made.txt && git add made.txt")
    desk.hook("commit-msg", 'echo signed >> "$1"')
    desk.hook("post-commit", "git log -1 --format=%B > after.txt")
    desk.commit()
    assert "made.txt" in desk.made.git("show", "--name-only", "--format=", "HEAD").decode().split()
    assert desk.made.git("log", "-1", "--format=%B").decode().split() == ["x", "signed"]
    assert (desk.made.root / "after.txt").read_text().split() == ["x", "signed"]


@needs_bubblewrap
def test_its_no_is_one(desk: Guarded) -> None:
    desk.hook("pre-commit", "echo not on a Friday >&2; exit 3")
    with pytest.raises(GitRefused, match="not on a Friday"):
        desk.commit()


@needs_bubblewrap
def test_what_it_is_given_comes_through(desk: Guarded, tmp_path: Path) -> None:
    desk.made.git("clone", "--quiet", "--bare", ".", str(tmp_path / "origin.git"))
    desk.hook("pre-push", 'cat > given.txt; echo "$1" >> given.txt')
    run(desk.git.run("push", "--quiet", str(tmp_path / "origin.git"), "HEAD:refs/heads/other"))
    commit, remote = (desk.made.root / "given.txt").read_text().splitlines()
    assert commit.split()[1] == desk.made.git("rev-parse", "HEAD").decode().strip()
    assert remote == str(tmp_path / "origin.git")


@needs_bubblewrap
def test_hooks_that_come_go_and_move_are_followed(desk: Guarded) -> None:
    desk.commit(text="without\n")
    desk.hook("pre-commit", "echo one >> ran.txt")
    desk.commit(text="one\n")
    desk.hook("pre-commit", "echo two >> ran.txt", ".githooks")
    desk.made.git("config", "core.hooksPath", ".githooks")
    desk.commit(text="two\n")
    (desk.made.root / ".githooks" / "pre-commit").unlink()
    desk.commit(text="none\n")
    assert (desk.made.root / "ran.txt").read_text().split() == ["one", "two"]


@needs_bubblewrap
def test_what_a_hook_commits_runs_hooks_too(desk: Guarded) -> None:
    desk.hook("pre-commit", "cat .codeplane/owner.token >> ran.txt 2>&1; echo ran >> ran.txt")
    desk.hook("post-commit", "test -e again || { touch again; git commit --quiet --allow-empty -m again; }")
    desk.commit()
    assert (desk.made.root / "ran.txt").read_text().count("ran\n") == 2
    assert SECRET not in (desk.made.root / "ran.txt").read_text()


@needs_bubblewrap
def test_a_filter_reaches_no_more_and_filters(desk: Guarded) -> None:
    desk.made.write("tool.sh", 'cat .codeplane/owner.token >> seen.txt 2>&1\necho "$1" >> seen.txt\nsed s/x/y/\n')
    desk.made.write(".gitattributes", "*.nb filter=strip\n")
    desk.made.git("config", "filter.strip.clean", "sh tool.sh %f 100%% | cat")
    desk.commit("a b.nb", "xyx\n")
    assert desk.made.git("show", "HEAD:a b.nb") == b"yyx\n"
    assert SECRET not in (desk.made.root / "seen.txt").read_text()
    assert "a b.nb" in (desk.made.root / "seen.txt").read_text().splitlines()


@needs_bubblewrap
def test_settings_that_are_included_from_the_work_tree_are_looked_at_each_time(desk: Guarded, tmp_path: Path) -> None:
    desk.made.git("config", "include.path", "../own.cfg")
    desk.commit(text="before\n")
    ran = tmp_path / "monitored"
    clean = "cat .codeplane/owner.token >> seen.txt 2>&1; cat"
    for key, value in (("filter.f.clean", clean), ("core.fsmonitor", f"touch '{ran}'; false")):
        desk.made.git("config", "--file", "own.cfg", key, value)
    desk.made.write(".gitattributes", "*.txt filter=f\n")
    desk.commit(text="after\n")
    assert SECRET not in (desk.made.root / "seen.txt").read_text()
    assert not ran.exists()


@pytest.mark.parametrize("name", ["gpg.program", "core.sshCommand", "credential.helper", "trailer.x.command"])
def test_a_program_that_is_named_in_the_work_tree_is_not_run(desk: Guarded, name: str) -> None:
    desk.made.git("config", "include.path", "../own.cfg")
    desk.made.git("config", "--file", "own.cfg", "alias.x", "status")
    desk.commit(text="before\n")
    desk.made.git("config", "--file", "own.cfg", name, "evil")
    with pytest.raises(
        GitRefused, match=rf"own\.cfg, which agents can write, and that names a program: {name.lower()}"
    ):
        desk.commit(text="after\n")
    desk.made.git("config", "--file", "own.cfg", "--unset", name)
    # Where only the owner writes it may stand.
    desk.made.git("config", name, "evil")
    desk.commit(text="again\n")


@pytest.mark.parametrize(
    "name",
    [
        "http.proxy",
        "http.https://example.org/.sslVerify",
        "http.cookieFile",
        "http.curloptResolve",
        "remote.origin.proxy",
        "remote.origin.promisor",
    ],
)
def test_the_work_tree_does_not_decide_how_git_reaches_other_machines(desk: Guarded, name: str) -> None:
    desk.made.git("config", "include.path", "../own.cfg")
    desk.made.git("config", "--file", "own.cfg", "http.postBuffer", "1000000")
    desk.commit(text="before\n")
    desk.made.git("config", "--file", "own.cfg", name, "false")
    with pytest.raises(GitRefused, match="which agents can write, and that decides how git reaches other machines: "):
        desk.commit(text="after\n")
    desk.made.git("config", "--file", "own.cfg", "--unset", name)
    desk.made.git("config", name, "false")
    desk.commit(text="again\n")


@needs_bubblewrap
def test_a_merge_driver_reaches_no_more_and_merges(desk: Guarded) -> None:
    made = desk.made
    made.write(".gitattributes", "m.txt merge=both\n")
    made.write("m.txt", "base\n")
    made.commit("base")
    made.git("config", "merge.both.driver", "cat .codeplane/owner.token > seen.txt 2>&1; cat %B >> %A; echo %P >> %A")
    made.git("checkout", "--quiet", "-b", "side")
    made.write("m.txt", "theirs\n")
    made.commit("theirs")
    made.git("checkout", "--quiet", "main")
    made.write("m.txt", "ours\n")
    made.commit("ours")
    run(desk.git.run("merge", "--quiet", "side"))
    assert (made.root / "m.txt").read_text().split() == ["ours", "theirs", "m.txt"]
    assert SECRET not in (made.root / "seen.txt").read_text()


@requirement("TRUST-63")
@needs_bubblewrap
def test_large_files_are_fetched_as_ever_but_offline(desk: Guarded) -> None:
    tool = desk.made.root.parent / "bin" / "git-lfs"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\ncat /proc/1/cmdline | tr '\\0' ' ' > \"first-$1\"\ncat\n")
    tool.chmod(0o755)
    desk.made.write(".gitattributes", "*.big filter=lfs\n")
    desk.made.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    desk.made.git("config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    desk.variables = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
    for number, is_offline in enumerate((False, True)):
        desk.is_offline = is_offline
        desk.commit("a.big", f"{number}\n")
        desk.made.write("a.big", "else\n")
        run(desk.git.run("checkout", "--", "a.big"))
        # Storing a file takes no network, and runs beside hooks that could plant links.
        assert "bwrap" in (desk.made.root / "first-clean").read_text()
        assert ("bwrap" in (desk.made.root / "first-smudge").read_text()) == is_offline


@needs_bubblewrap
def test_a_filter_alone_leaves_gits_folder_as_it_is(desk: Guarded) -> None:
    """Where git-lfs is installed for the whole system, every repository has filters."""
    desk.made.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    folder = desk.made.root / ".git"
    before = {entry.name for entry in folder.iterdir()}
    run(desk.git.run("status"))
    assert {entry.name for entry in folder.iterdir()} - before <= {"lfs"}


@requirement("TRUST-63")
@needs_bubblewrap
def test_offline_no_other_machine_and_no_program_outside_is_reached(desk: Guarded, tmp_path: Path) -> None:
    (tmp_path / "beside.txt").write_text("a socket could lie here\n")
    reached = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", PORT), 5)' || echo unreached"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        desk.hook("pre-commit", f"{reached.replace('PORT', port)}; ls {tmp_path} /run")
        output = desk.commit(text="online\n")
        assert "unreached" not in output and "beside.txt" not in output
        desk.is_offline = True
        output = desk.commit(text="offline\n")
        assert "unreached" in output and "beside.txt" not in output
        desk.is_offline = False
        assert "unreached" not in desk.commit(text="online again\n")


@requirement("TRUST-63")
@needs_bubblewrap
def test_offline_a_hook_does_what_hooks_do_and_says_why_it_failed(desk: Guarded) -> None:
    desk.is_offline = True
    desk.hook("pre-commit", "mktemp > name.txt && echo made > made.txt && git add made.txt")
    desk.hook("post-commit", "git log -1 --format=%B > after.txt; false")
    output = desk.commit()
    assert "made.txt" in desk.made.git("show", "--name-only", "--format=", "HEAD").decode().split()
    assert (desk.made.root / "after.txt").read_text().split() == ["x"]
    assert "the hook post-commit had no network" in output and "the hook pre-commit" not in output
    desk.hook("pre-commit", "echo cannot fetch; exit 7")
    with pytest.raises(GitRefused, match=r"(?s)cannot fetch.*the hook pre-commit had no network, .*untrusted content"):
        desk.commit(text="again\n")


@requirement("TRUST-63")
def test_what_would_have_the_network_is_named_where_nothing_is_enclosed(desk: Guarded) -> None:
    desk.hook("pre-commit", "true")
    desk.hook("pre-push", "true")
    desk.made.git("config", "filter.strip.clean", "sh tool.sh")
    if shutil.which("bwrap") is not None:
        assert desk.git.online_programs() == ()
    desk.enclosure = Nothing()
    desk.__post_init__()
    assert desk.git.online_programs() == ("pre-commit", "filter.strip.clean")


def _leaking(place: str = "leaked") -> str:
    return f"cat .codeplane/owner.token > {place} 2>&1; true"


@needs_bubblewrap
def test_a_hook_that_the_command_itself_brings_is_not_run_outside(desk: Guarded) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "-b", "evil")
    desk.hook("post-checkout", _leaking())
    made.git("add", ".husky")
    made.git("commit", "--quiet", "--no-verify", "-m", "evil")
    made.git("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "main")
    assert not (made.root / ".husky").exists()
    run(desk.git.run("checkout", "--quiet", "evil"))
    assert not (made.root / "leaked").exists()


@needs_bubblewrap
@pytest.mark.parametrize("folder", [".husky", ".git/hooks"])
def test_a_hook_that_a_filter_plants_meanwhile_is_not_run_outside(desk: Guarded, folder: str) -> None:
    made = desk.made
    if folder != ".husky":
        made.git("config", "--unset", "core.hooksPath")
    shutil.rmtree(made.root / ".git" / "hooks", ignore_errors=True)
    planted = f"#!/bin/sh\n{_leaking()}\n"
    made.write("plant", planted)
    made.write("f.sh", f"mkdir -p {folder} && cp plant {folder}/post-checkout && chmod +x {folder}/*; cat\n")
    made.write(".gitattributes", "*.nb filter=f\n")
    made.write("a.nb", "1\n")
    made.commit("first")
    made.git("checkout", "--quiet", "-b", "other")
    made.write("a.nb", "2\n")
    made.commit("second")
    made.git("checkout", "--quiet", "main")
    made.git("config", "filter.f.smudge", "sh f.sh")
    run(desk.git.run("checkout", "--quiet", "other"))
    # Git's own folder of hooks is the owner's, whose git runs them with all there is.
    assert (made.root / folder / "post-checkout").exists() == (folder == ".husky")
    assert not (made.root / "leaked").exists()


@needs_bubblewrap
def test_what_a_hook_leaves_running_ends_with_it(desk: Guarded) -> None:
    desk.hook(
        "pre-commit", "setsid sh -c 'while true; do date +%N > alive; sleep 0.05; done' > /dev/null 2>&1 &\nsleep 1"
    )
    desk.commit()
    alive = (desk.made.root / "alive").read_text()
    time.sleep(1)
    assert (desk.made.root / "alive").read_text() == alive


@needs_bubblewrap
def test_a_hook_does_not_put_other_settings_in_the_place_of_gits(desk: Guarded) -> None:
    desk.hook("pre-commit", "mv .git .git.old && cp -r .git.old .git && echo MOVED; true")
    assert "MOVED" not in desk.commit() and not (desk.made.root / ".git.old").exists()
    desk.hook("pre-commit", "mkdir -p other && echo ../other > .git/commondir")
    with pytest.raises(GitRefused, match=r"made what only git makes.*commondir"):
        desk.commit(text="again\n")
    (desk.made.root / ".git" / "commondir").write_text("../other\n")
    with pytest.raises(GitRefused, match="by which git would take another folder"):
        desk.commit(text="and again\n")


@pytest.fixture
def owners_home(desk: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of whoever runs this, as hooks see it too."""
    home = tmp_path / "home"
    for name in (".ssh", ".local/bin", ".config/git", ".cache/pre-commit/repo1"):
        (home / name).mkdir(parents=True)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n")
    (home / ".bashrc").touch()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    desk.variables = {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig")}
    return home


def _tries(*commands: str) -> str:
    """A hook that tries each of these, and says which came true."""
    return "\n".join(f"({one}) > /dev/null 2>&1 && echo DONE: {shlex.quote(one)}" for one in commands) + "\ntrue"


@needs_bubblewrap
def test_a_hook_leaves_nothing_behind_that_is_run_outside(desk: Guarded, owners_home: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    evil.chmod(0o755)
    second = tmp_path / "second"
    desk.made.git("clone", "--quiet", ".", str(second))
    for name in ("worktrees/tree", "modules/sub/hooks"):
        (desk.made.root / ".git" / name).mkdir(parents=True)
    for name in ("worktrees/tree/commondir", "modules/sub/config", "modules/sub/HEAD"):
        (desk.made.root / ".git" / name).touch()
    desk.made.git("config", "extensions.worktreeConfig", "true")
    signing = f"-c gpg.program={evil} -c commit.gpgSign=true"
    settings = f"printf '[commit]\\ngpgSign=true\\n[gpg]\\nprogram={evil}\\n'"
    desk.hook(
        "pre-commit",
        _tries(
            f"git config --global gpg.program {evil}; git config --global commit.gpgSign true",
            "echo evil >> ~/.bashrc",
            "echo 'ProxyCommand evil' > ~/.ssh/config",
            "touch ~/.local/bin/git",
            "touch ~/.config/git/config",
            "mv ~/.config ~/.config.old",
            "touch ~/new",
            f"touch {second}/.git/hooks/post-checkout",
            f"git -C {second} config core.fsmonitor evil",
            f"{settings} > .git/config.worktree",
            f"{settings} > .git/worktrees/tree/config.worktree",
            "echo ../evil > .git/worktrees/tree/commondir",
            f"{settings} > .git/modules/sub/config",
            "touch .git/modules/sub/hooks/post-checkout",
            "mkdir .git/modules/evil",
            "mkdir -p .git/modules/sub/modules/evil",
            "touch .git/hooks/post-commit",
            "mv .git/config .git/config.old",
            "mv .git .git.old",
        ),
    )
    before = _files(owners_home), _files(second)
    assert "DONE" not in desk.commit()
    assert (_files(owners_home), _files(second)) == before
    desk.commit(text="again\n")
    assert not (tmp_path / "ran").exists()
    # What was tried above would have run: this is what git does when it is told.
    with pytest.raises(GitRefused):
        run(desk.git.run(*signing.split(), "commit", "--quiet", "--allow-empty", "--message=signed"))
    assert (tmp_path / "ran").exists()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@needs_bubblewrap
def test_a_hook_still_writes_in_the_git_folder_of_a_submodule(desk: Guarded) -> None:
    (desk.made.root / ".git" / "modules" / "a" / "sub" / "hooks").mkdir(parents=True)
    (desk.made.root / ".git" / "modules" / "a" / "sub" / "HEAD").touch()
    desk.hook("pre-commit", "touch .git/modules/a/sub/index")
    desk.commit()
    assert (desk.made.root / ".git" / "modules" / "a" / "sub" / "index").exists()


@needs_bubblewrap
def test_the_tokens_of_other_repositories_are_out_of_sight(
    desk: Guarded, owners_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    other = owners_home / "other" / ".codeplane"
    other.mkdir(parents=True)
    (other / "owner.token").write_text("cpl_of-another")
    record = InstallRecord.load(owners_home, {})
    record.with_repository(owners_home / "other", []).save()
    desk.hook("pre-commit", "cat ~/other/.codeplane/owner.token; ls -d ~/other")
    output = desk.commit()
    assert "cpl_of-another" not in output and str(owners_home / "other") in output


@pytest.mark.parametrize("place", ["evil", "worktrees/evil", "refs/modules/evil"])
def test_a_git_folder_that_is_no_submodules_is_not_entered(desk: Guarded, place: str) -> None:
    desk.made.git("init", "--quiet", "--bare", f".git/{place}")
    inner = desk.made.root / "inner"
    inner.mkdir()
    (inner / ".git").write_text(f"gitdir: {desk.made.root}/.git/{place}\n")
    with pytest.raises(GitRefused, match="is that of no submodule or work tree"):
        desk.git.at(inner).ask("config", "--list")


@needs_bubblewrap
def test_the_folders_around_the_repository_are_not_renamed_or_written(desk: Guarded, tmp_path: Path) -> None:
    root = desk.made.root
    (root / ".env").write_text(f"TOKEN={SECRET}\n")
    around = shlex.quote(str(tmp_path))
    desk.hook(
        "pre-commit",
        _tries(
            f"mv {shlex.quote(str(root))} {around}/moved",
            "mv .codeplane .c",
            # In a folder for temporary files those around it are the hook's own.
            f"touch {around}/beside; mv {around} {around}.old; grep -r {SECRET} {around} {around}.old",
        ),
    )
    assert "DONE" not in desk.commit()
    assert (root / ".env").exists() and (root / ".codeplane" / "owner.token").exists()
    assert not {"moved", "beside"} & {one.name for one in tmp_path.iterdir()}
    assert not tmp_path.with_name(f"{tmp_path.name}.old").exists()


@needs_bubblewrap
def test_hooks_have_a_cache_of_their_own_with_what_the_owner_installed(desk: Guarded, owners_home: Path) -> None:
    cache = owners_home / ".cache"
    (cache / "pre-commit" / "repo1" / "tool").write_text("installed\n")
    (cache / "pre-commit" / "db.db").write_text("repo1\n")
    (cache / "own").write_text("the owner's\n")
    desk.hook(
        "pre-commit",
        _tries(
            "cat ~/.cache/pre-commit/repo1/tool && cat ~/.cache/pre-commit/db.db",
            "echo evil > ~/.cache/pre-commit/repo1/tool",
            "test ! -e ~/.cache/own",
            "cat ~/.cache/pre-commit/repo2/tool",
            "mkdir -p ~/.cache/pre-commit/repo2 && echo new > ~/.cache/pre-commit/repo2/tool",
            "echo repo2 >> ~/.cache/pre-commit/db.db",
            "cd ~/.cache/pre-commit && ln -sf /dev/null link",
            'mkdir -p "$npm_config_cache"',
            "mktemp",
        ),
    )
    before = _files(owners_home)
    first = desk.commit()
    assert (
        first.count("DONE") == 7
        and "DONE: echo evil" not in first
        and "DONE: cat ~/.cache/pre-commit/repo2" not in first
    )
    assert "DONE: cat ~/.cache/pre-commit/repo2/tool" in desk.commit(text="again\n")
    assert _files(owners_home) == before


@needs_bubblewrap
def test_a_link_in_the_cache_of_hooks_is_not_followed_when_lists_are_copied(desk: Guarded, owners_home: Path) -> None:
    listed = owners_home / ".cache" / "pre-commit" / "db.db"
    listed.write_text("repo1\n")
    desk.hook("pre-commit", f"rm -f ~/.cache/pre-commit/db.db; ln -s {owners_home}/.bashrc ~/.cache/pre-commit/db.db")
    desk.commit()
    later = time.time() + 60
    os.utime(listed, (later, later))
    desk.commit(text="again\n")
    assert (owners_home / ".bashrc").read_text() == ""


@needs_bubblewrap
def test_the_owner_opens_folders_but_not_the_home_as_a_whole(desk: Guarded, owners_home: Path, tmp_path: Path) -> None:
    (owners_home / ".gradle").mkdir()
    desk.hook("pre-commit", "touch ~/.gradle/made && echo made; touch ~/.bashrc.new")
    desk.writable = ("~", str(tmp_path))
    desk.__post_init__()
    with pytest.raises(GitRefused, match=r"(?i)read-only file system") as refused:
        desk.commit()
    assert refused.value.hint is not None and "git.hook_writable" in refused.value.hint
    desk.writable = ("~/.gradle", "~", str(tmp_path))
    desk.__post_init__()
    desk.hook("pre-commit", "touch ~/.gradle/made && touch ~/.bashrc.new || true")
    desk.commit(text="again\n")
    assert (owners_home / ".gradle" / "made").exists() and not (owners_home / ".bashrc.new").exists()


@needs_bubblewrap
def test_git_does_not_take_the_work_tree_for_its_folder(desk: Guarded, tmp_path: Path) -> None:
    root = desk.made.root
    for name in ("objects", "refs"):
        (root / name).mkdir()
    (root / "HEAD").write_text("ref: refs/heads/main\n")
    ran = tmp_path / "ran"
    (root / "config").write_text(f'[core]\n\tbare = false\n\tworktree = .\n\tsshCommand = "touch {ran}; false"\n')
    desk.hook("pre-commit", "mv .git/HEAD .git/HEAD.old")
    with pytest.raises(CodePlaneError):
        desk.commit()
    for command in (("config", "core.sshCommand"), ("ls-remote", "ssh://x/y")):
        with pytest.raises(CodePlaneError):
            run(desk.git.run(*command, remote=True))
    assert not ran.exists()


@needs_bubblewrap
def test_programs_in_the_work_tree_are_found_by_hooks_alone(
    desk: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = desk.made.root / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("git", "bwrap", "gpg", "tool"):
        (programs / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran-{name}' ran-{name}\nexit 1\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:.venv/bin:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    desk.variables = {"PATH": path}
    desk.__post_init__()
    desk.hook("pre-commit", "tool; rm .venv/bin/git; git rev-parse HEAD")
    monkeypatch.chdir(desk.made.root)
    desk.commit()
    with pytest.raises(GitRefused):
        run(desk.git.run("commit", "--quiet", "--allow-empty", "--gpg-sign=x", "--message=signed"))
    assert (desk.made.root / "ran-tool").exists()
    assert not list(tmp_path.glob("ran-*")) and not list(desk.made.root.glob("ran-[bg]*"))


@needs_bubblewrap
def test_a_hook_adds_no_commands_to_a_rebase(desk: Guarded) -> None:
    desk.commit()
    todo = ".git/rebase-merge/git-rebase-todo"
    desk.hook(
        "reference-transaction",
        f"test ! -e {todo} || touch seen; (echo 'exec touch ran' >> {todo}) && touch wrote; true",
    )
    run(desk.git.run("rebase", "--quiet", "--interactive", "--force-rebase", "HEAD~1"))
    assert (desk.made.root / "seen").exists()
    assert not (desk.made.root / "wrote").exists() and not (desk.made.root / "ran").exists()


@needs_bubblewrap
def test_what_git_starts_after_a_hook_takes_no_other_settings(desk: Guarded) -> None:
    desk.made.git("clone", "--quiet", "--bare", ".", "other")
    desk.made.git("config", "--file", "other/config", "gpg.program", "evil")
    asked = "echo ../other > .git/commondir; git config core.bare; git config gpg.program; rm .git/commondir"
    assert run(desk.git.run("-c", f"alias.ask=!{asked}", "ask")).line == "false"
    desk.hook("pre-commit", "echo ../other > .git/commondir; git config gpg.program")
    with pytest.raises(GitRefused, match=r"(?s)evil.*made what only git makes.*commondir"):
        desk.commit()


@needs_bubblewrap
def test_the_folder_around_the_secrets_of_clients_is_not_renamed(
    desk: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "home" / ".config" / "codeplane" / "clients"
    secrets.mkdir(parents=True)
    (secrets / "one").write_text(SECRET)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    desk.hook(
        "pre-commit", f"cd {tmp_path}/home; mv .config/codeplane .config/c2; mv .config c3; find . -name one; true"
    )
    desk.__post_init__()
    assert "one" not in desk.commit().split("/")
    assert (secrets / "one").read_text() == SECRET


@needs_bubblewrap
def test_settings_that_hold_for_one_branch_are_looked_at_when_it_is_checked_out(desk: Guarded) -> None:
    made = desk.made
    made.git("config", "includeIf.onbranch:two.path", "../two.cfg")
    made.git("config", "--file", "two.cfg", "filter.f.clean", "sh f.sh")
    made.git("branch", "two")
    assert run(desk.git.run("config", "filter.f.clean", check=False)).line == ""
    run(desk.git.run("checkout", "--quiet", "two"))
    assert ".codeplane" in run(desk.git.run("config", "filter.f.clean")).line


@needs_bubblewrap
def test_no_hook_is_run_by_what_git_leaves_in_the_background(desk: Guarded) -> None:
    assert run(desk.git.run("config", "gc.auto", check=False)).line == ""
    desk.hook("reference-transaction", "true")
    assert run(desk.git.run("config", "gc.auto")).line == "0"
    assert run(desk.git.run("config", "maintenance.auto")).line == "false"


@needs_bubblewrap
def test_submodules_are_not_checked_out_along_with_the_repository(desk: Guarded) -> None:
    desk.made.git("config", "submodule.recurse", "true")
    assert run(desk.git.run("config", "submodule.recurse")).line == "false"


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("run 50%% %q %f", 'run 50% %q "$1"'),
        ("run '%f' x", "run ''\"$1\"'' x"),
        ('run "a %f" x', 'run "a $1" x'),
        ("run it\\'s %f", 'run it\\\'s "$1"'),
        ("run \"'%f'\"", "run \"'$1'\""),
    ],
)
def test_what_a_setting_holds_is_put_in_as_one_word(tmp_path: Path, command: str, body: str) -> None:
    (one,) = filter_commands({"filter.x.clean": command, "user.name": "x"})
    assert (one.key, one.body, one.given) == ("filter.x.clean", body, "f")
    assert one.script_setting(tmp_path / "100%" / "s") == f"{tmp_path}/100%%/s %f"


@pytest.mark.parametrize("form", ["git-lfs clean -- %f", "git lfs smudge --skip %f", "git-lfs filter-process"])
def test_only_git_lfs_itself_is_left_alone(form: str) -> None:
    (plain,) = filter_commands({"filter.lfs.process": form})
    (more,) = filter_commands({"filter.lfs.process": f"{form}; evil"})
    assert plain.is_fetching and not more.is_fetching


def test_without_an_enclosure_hooks_run_as_git_runs_them(desk: Guarded) -> None:
    desk.enclosure = Nothing()
    desk.__post_init__()
    desk.hook("pre-commit", "echo ran > ran.txt")
    desk.commit()
    assert (desk.made.root / "ran.txt").exists()


def test_the_settings_are_read_again_only_once_they_change(desk: Guarded, tmp_path: Path) -> None:
    programs, log = tmp_path / "programs", tmp_path / "reads"
    programs.mkdir()
    counting = programs / "git"
    counting.write_text(
        f'#!/bin/sh\ncase "$*" in *--show-scope*) echo read >> {shlex.quote(str(log))};; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    counting.chmod(0o755)
    desk.variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    desk.hook("pre-commit", "true")
    git = desk.command()

    def reads() -> int:
        log.write_text("")
        for _ in range(3):
            git.ask("rev-parse", "HEAD")
        return len(log.read_text().splitlines())

    # The first command creates the file that settings of one work tree are kept in.
    assert reads() == 2
    assert reads() == 0
    desk.made.git("config", "filter.x.clean", "cat")
    assert reads() == 1
