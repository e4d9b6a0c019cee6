"""What code in bubblewrap can reach."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pytest

from codeplane.adapters.bubblewrap import MASKED, Bubblewrap
from codeplane.adapters.hook_sandbox import HookSandbox
from codeplane.adapters.process_tree import LinuxProcessTree
from codeplane.adapters.secret_files import SecretFiles
from codeplane.kernel.errors import SandboxMissing
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.interaction.requirements import requirement


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What the code gets."""

    root: Path
    writable: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    network: bool = False
    copy: None = None
    secrets: tuple[str, ...] = ()


def _secrets(root: Path) -> SecretFiles:
    return SecretFiles(serving=root, rules=NOTHING_SHOWN, empty=root.parent / "empty")


def _shell(
    script: str, home: Path, reach: Reach, *hidden: Path, variables: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    known = {"PATH": "/usr/bin:/bin", **variables}
    sandbox = Bubblewrap(
        home=home, hidden=hidden, cache=home.parent / "cache", environment=known, secrets=_secrets(reach.root)
    )
    assert sandbox.unavailable_reason() == ""
    command = sandbox.command(["/bin/sh", "-c", script], cwd=reach.root, enclosure=reach)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def _folders(tmp_path: Path) -> tuple[Path, Path]:
    root, home = tmp_path.resolve() / "repo", tmp_path.resolve() / "home"
    (root / ".codeplane").mkdir(parents=True)
    (root / ".codeplane" / "owner.token").write_text("secret")
    (root / ".git").mkdir()
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("secret")
    (home / ".cargo" / "bin").mkdir(parents=True)
    (home / ".cargo" / "bin" / "tool").write_text("tool")
    (home / ".cargo" / "credentials.toml").write_text("secret")
    return root, home


@requirement("TST-05")
def test_secrets_are_out_of_sight_and_tools_are_not(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    script = f"find {root} {home} -type f 2>/dev/null; cat {home}/.cargo/bin/tool"
    done = _shell(script, home, Reach(root=root))
    assert done.stdout == f"{home}/.cargo/bin/tool\ntool", done.stderr


@requirement("TST-34")
def test_toolchains_are_where_variables_and_shims_say_and_their_credentials_are_not(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    tools = tmp_path.resolve() / "tools"
    shown = (
        *("pyenv/versions/3.12/bin/python", "nvm/versions/node/v22/bin/node", "rustup/toolchains/stable/bin/cargo"),
        *("cargo/bin/cargo", "cargo/registry/index", "cargo/config.toml", "asdf/installs/go", "mine/versions/1/bin/x"),
    )
    hidden = (
        *("cargo/credentials.toml", "cargo/credentials", "nvm/.npmrc", "pyenv/.pypirc", "asdf/.netrc", "gradle/init.d"),
        *("gradle/gradle.properties", "home/.npmrc", "home/.netrc", "home/.local/share/keyrings/login", "other/file"),
    )
    for name in (*shown, *hidden, "mine/shims/x", "home/.local/bin/tool"):
        place = home.parent / name if name.startswith("home/") else tools / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"<{name}>")
    variables = {
        "PYENV_ROOT": f"{tools}/pyenv",
        "NVM_DIR": f"{tools}/nvm",
        "RUSTUP_HOME": f"{tools}/rustup",
        "CARGO_HOME": f"{tools}/cargo",
        "ASDF_DATA_DIR": f"{tools}/asdf",
        "GRADLE_USER_HOME": f"{tools}/gradle",
        "PATH": f"/usr/bin:/bin:{tools}/mine/shims:{tools}/cargo/bin:{home}/.local/bin",
    }
    # What the runner is found by shows its own folder: here the one with credentials in it.
    reach = Reach(root=root, tools=(tools / "cargo", home / ".cargo", home / ".local"))
    done = _shell(f"find {tools} {home} -type f -exec cat {{}} +", home, reach, variables=variables)
    for name in shown:
        assert f"<{name}>" in done.stdout, name
    for name in hidden:
        assert f"<{name}>" not in done.stdout, name
    assert "secret" not in done.stdout
    (tools / "cargo/config.toml").write_text("[registries.mine]\ntoken = 'x'\n")
    assert "token" not in _shell(f"cat {tools}/cargo/config.toml", home, reach, variables=variables).stdout


def test_the_secrets_of_registered_clients_are_out_of_sight_also_for_hooks(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    secrets = home / ".config" / "codeplane" / "clients"
    (secrets / "id").mkdir(parents=True)
    (secrets / "id" / "editor.key").write_text("secret")
    settings = home / ".config" / "codeplane" / "config.yaml"
    settings.write_text("{}")
    script = f"find {home}/.config -type f"
    assert _shell(script, home, Reach(root=root, tools=(secrets.parent,))).stdout == ""
    # A hook has the user's home, but not that.
    link = tmp_path / "link"
    link.symlink_to(secrets)
    for place in (secrets, link):
        before = HookSandbox(_secrets(root), registered=place).command(
            root=root, hidden=root / ".codeplane", shown=None, fixed=(), used=(home,)
        )
        assert before is not None
        done = subprocess.run(
            [*before, "/bin/sh", "-c", script], capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stdout == f"{settings}\n"


def test_of_the_systems_own_secrets_nothing_can_be_read(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    secrets = [place for place in map(Path, MASKED) if place.exists()]
    assert Path("/etc/shadow") in secrets
    done = _shell(f"find {' '.join(map(str, secrets))} -type f -exec cat {{}} +", home, Reach(root=root))
    # As root they could be read otherwise; there is no file but the empty one that lies over each.
    assert done.stdout == ""
    for place in secrets:
        assert _shell(f"test -f {place} && test -s {place}", home, Reach(root=root)).returncode != 0


@requirement("TST-05")
def test_a_tool_that_leads_to_keys_is_not_shown(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    tools = (home / ".ssh", home, root / ".codeplane", home / "tools")
    (home / "tools").mkdir()
    (home / "tools" / "tool").write_text("tool")
    script = f"cat {home}/.ssh/id {root}/.codeplane/owner.token {home}/tools/tool"
    done = _shell(script, home, Reach(root=root, tools=tools), root / ".codeplane")
    assert done.stdout == "tool"


@requirement("TST-05")
def test_only_the_workspace_and_what_is_given_can_be_written(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    given = root / ".codeplane" / "run"
    given.mkdir()
    places = [root / "a", root / ".git" / "a", given / "a", home / ".cargo" / "bin" / "a", Path("/usr/a")]
    script = "; ".join(f"echo x > {place} && echo {place}" for place in places)
    done = _shell(script, home, Reach(root=root, writable=(given,)))
    assert done.stdout.split() == [f"{root}/a", f"{given}/a"]
    assert (root / "a").exists()
    assert (given / "a").exists()


@requirement("TST-05")
def test_a_hidden_folder_elsewhere_is_empty(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    other = tmp_path.resolve() / "other" / ".codeplane"
    other.mkdir(parents=True)
    (other / "owner.token").write_text("secret")
    done = _shell(f"ls -A {other}", home, Reach(root=root), other)
    assert done.stdout == ""


@requirement("TST-05")
def test_the_cache_is_kept_between_runs(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    _shell("echo kept > $HOME/.cache/a", home, Reach(root=root))
    assert _shell("cat $HOME/.cache/a", home, Reach(root=root)).stdout == "kept\n"
    assert not (home / ".cache" / "a").exists()


def test_without_the_program_it_says_so(tmp_path: Path) -> None:
    sandbox = Bubblewrap(home=tmp_path, hidden=(), cache=tmp_path, environment={}, secrets=_secrets(tmp_path))
    sandbox.__dict__["_program"] = None
    assert "not installed" in sandbox.unavailable_reason()


def test_a_process_ends_with_all_it_started() -> None:
    script = "setsid sleep 600 & sleep 600 & wait; sleep 600"
    process = subprocess.Popen(
        ["/bin/sh", "-c", script], env={"MARK": "x1", "PATH": "/usr/bin:/bin"}, start_new_session=True
    )
    LinuxProcessTree(variable="MARK").end(process.pid, "x1")
    assert process.wait(timeout=60) == -9
    marked = [one for one in Path("/proc").iterdir() if one.name.isdigit() and _is_marked(one)]
    assert marked == []


def _is_marked(process: Path) -> bool:
    try:
        return b"MARK=x1" in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def test_nothing_that_hides_can_be_taken_away(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    script = (
        f"umount -l {root}/.codeplane; umount -l {root}/.git; mount -o remount,bind,rw /; grep CapEff /proc/self/status"
    )
    done = _shell(f"{script}; cat {root}/.codeplane/owner.token", home, Reach(root=root))
    assert "secret" not in done.stdout
    # Also where whoever starts it is root.
    assert done.stdout.split() == ["CapEff:", "0" * 16]


def test_what_git_runs_cannot_be_written_wherever_it_lies(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    (root / ".git").rmdir()
    (root / ".bare" / "hooks").mkdir(parents=True)
    (root / ".git").write_text("gitdir: ./.bare\n")
    (root / "sub").mkdir()
    (root / "sub" / ".git").write_text("gitdir: ../.bare/modules/sub\n")
    (root / ".gitmodules").write_text('[submodule "s"]\n\tpath = sub\n\turl = x\n')
    script = (
        "touch .bare/hooks/evil; mv .bare x; echo x > .git; rm -f .git; rm -f sub/.git; echo x > sub/.git; touch sub/a"
    )
    _shell(script, home, Reach(root=root))
    assert sorted(path.name for path in (root / ".bare" / "hooks").iterdir()) == []
    assert (root / ".git").read_text() == "gitdir: ./.bare\n"
    assert (root / "sub" / ".git").read_text() == "gitdir: ../.bare/modules/sub\n"
    assert (root / "sub" / "a").exists()


@requirement("TRUST-03")
def test_a_git_folder_under_any_name_cannot_be_written(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    (root / ".git").rmdir()
    (root / "gitdata" / "hooks").mkdir(parents=True)
    (root / "gitdata" / "config").write_text("[core]\n")
    (root / ".git").write_text(f"gitdir: {root}/gitdata\n")
    script = "touch gitdata/hooks/evil; echo x >> gitdata/config; mv gitdata y; rm -f .git; mkdir .git; touch done"
    _shell(script, home, Reach(root=root))
    assert (root / "done").exists() and (root / ".git").is_file()
    assert (root / "gitdata" / "config").read_text() == "[core]\n"
    assert not list((root / "gitdata" / "hooks").iterdir())


@requirement("TRUST-03")
def test_nothing_is_put_in_the_place_of_what_leads_to_gits_folder(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    (root / ".git").rmdir()
    (root / "deep" / "er" / "repo").mkdir(parents=True)
    (root / ".git").write_text("gitdir: deep/er/repo\n")
    script = "mv deep/er y; mv deep x; rm -rf deep; mkdir -p deep/er/repo; touch deep/er/repo/evil deep/er/done"
    _shell(script, home, Reach(root=root))
    assert sorted(str(path.relative_to(root)) for path in (root / "deep").rglob("*")) == [
        *("deep/er", "deep/er/done", "deep/er/repo"),
    ]
    # A link is no place that could be mounted over: whatever ran could put another git folder there.
    (root / "way").symlink_to("deep/er")
    for gitfile in ("gitdir: way/repo\n", None):
        (root / ".git").unlink()
        (root / ".git").write_text(gitfile) if gitfile else (root / ".git").symlink_to("deep/er/repo")
        with pytest.raises(SandboxMissing, match="symbolic link"):
            _shell(script, home, Reach(root=root))


def test_a_python_environment_on_the_path_is_seen_whole_and_a_home_is_not(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    environment = tmp_path.resolve() / "elsewhere" / "venv"
    for folder in (environment, home):
        (folder / "bin").mkdir(parents=True)
        (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
        (folder / "package").write_text("package")
    path = f"{environment}/bin:{home}/bin:/usr/bin:/bin"
    sandbox = Bubblewrap(
        home=home, hidden=(), cache=home.parent / "cache", environment={"PATH": path}, secrets=_secrets(home)
    )
    command = ["/bin/sh", "-c", f"cat {environment}/package; cat {home}/package {home}/.ssh/id"]
    done = subprocess.run(
        sandbox.command(command, cwd=root, enclosure=Reach(root=root)), capture_output=True, text=True, check=False
    )
    assert done.stdout == "package"


def test_the_kernels_settings_cannot_be_changed(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    script = "find /proc/sys /proc/sysrq-trigger /proc/irq -type f -writable 2>/dev/null | head -3; ls /proc/sys/kernel"
    done = _shell(script, home, Reach(root=root))
    lines = done.stdout.splitlines()
    # `-writable` is what root may do by its rights; what counts is whether the file system lets it.
    assert "ostype" in lines, done.stderr
    refused = _shell("echo 1 > /proc/sys/kernel/ns_last_pid", home, Reach(root=root))
    assert refused.returncode != 0
    assert "Read-only file system" in refused.stderr or "ermission denied" in refused.stderr


SYSTEM = {"bin", "sbin", "usr", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix", "gnu", "snap", "var"}
SYSTEM |= {"dev", "proc", "sys", "run", "tmp", "home", "root"}


def test_of_other_folders_at_the_top_not_even_the_names_are_there(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    found = _shell("ls -A /", home, Reach(root=root)).stdout.split()
    assert {"usr", "etc", "tmp"} <= set(found)
    assert set(found) <= SYSTEM | {root.parts[1]}
    refused = _shell("touch /a; mkdir /b; ls -d /a /b", home, Reach(root=root))
    assert refused.stdout == ""
    assert "Read-only file system" in refused.stderr


def test_programs_find_what_lies_beside_them(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    prefix = tmp_path.resolve() / "elsewhere" / "tool-1.2"
    for name in ("bin", "lib", "private"):
        (prefix / name).mkdir(parents=True)
        (prefix / name / "a").write_text(name)
    path = f"{prefix}/bin:/usr/bin:/bin"
    sandbox = Bubblewrap(
        home=home, hidden=(), cache=home.parent / "cache", environment={"PATH": path}, secrets=_secrets(home)
    )
    command = ["/bin/sh", "-c", f"cat {prefix}/bin/a {prefix}/lib/a {prefix}/private/a"]
    done = subprocess.run(
        sandbox.command(command, cwd=root, enclosure=Reach(root=root)), capture_output=True, text=True, check=False
    )
    assert done.stdout == "binlib"


def test_git_works_in_a_worktree_and_a_file_that_names_another_folder_shows_nothing(tmp_path: Path) -> None:
    root, home = _folders(tmp_path)
    main = tmp_path.resolve() / "main"
    run = partial(subprocess.run, capture_output=True, text=True, check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "safe.directory=*")
    run(["git", *who, "init", "-q", str(main)])
    run(["git", "-C", str(main), *who, "commit", "-q", "--allow-empty", "-m", "begun"])
    tree = tmp_path.resolve() / "tree"
    run(["git", "-C", str(main), *who, "worktree", "add", "-q", str(tree)])
    output = _shell(
        "git -c safe.directory=* log --format=%s; touch $(git rev-parse --git-dir)/x", home, Reach(root=tree)
    )
    assert output.stdout == "begun\n", output.stderr
    assert "Read-only file system" in output.stderr
    (root / ".git").rmdir()
    for named in (home / ".ssh", main / ".git" / "worktrees" / "tree"):
        (root / ".git").write_text(f"gitdir: {named}\n")
        assert _shell(f"ls -A {named}", home, Reach(root=root)).stdout == ""
