"""What a shell command cannot reach, tried for real."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from codeplane.kernel.ids import new_id
from tests.harness import git
from tests.interaction.requirements import requirement
from tests.trust.shell.shells import Shell, needs_bubblewrap, shell

pytestmark = [requirement("TRUST-32"), needs_bubblewrap]

SECRETS = ("owner-secret", "key-secret", "cloud-secret", "netrc-secret", "other-secret")


def _files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """What is below, with its rights."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


READS = (
    "cat {root}/.codeplane/owner.token",
    "cat .codeplane/../.codeplane/owner.token",
    "cat planted/owner.token",
    "cat {home}/.ssh/id_ed25519 {home}/.aws/credentials {home}/.netrc",
    "find / -xdev -name owner.token -exec cat {{}} + 2>/dev/null",
    "cat /proc/1/root{root}/.codeplane/owner.token",
    "cat /proc/self/root{root}/.codeplane/owner.token",
    "for f in /proc/[0-9]*/root{root}/.codeplane/owner.token; do cat $f; done",
    "for f in /proc/self/fd/* /proc/1/fd/*; do [ -d $f ] && cat $f/owner.token $f/.codeplane/owner.token; done",
    "cd {root}/src && cat ../.codeplane/owner.token",
    "umount -l {root}/.codeplane; cat {root}/.codeplane/owner.token",
    "unshare -Urm sh -c 'umount -l {root}/.codeplane; cat {root}/.codeplane/owner.token'",
    "cat /proc/*/environ | tr '\\0' '\\n'",
    "ls /dev/sd* /dev/vd* /dev/nvme* /dev/mem && cat /dev/mem",
)


async def test_secrets_are_out_of_sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "other-secret")
    async with shell(tmp_path) as opened:
        (opened.root / "planted").symlink_to(".codeplane")
        for script in READS:
            done = await opened.run(script.format(root=opened.root, home=opened.home))
            assert [one for one in SECRETS if one in done.stdout + done.stderr] == [], script


WRITES = (
    "echo evil > {root}/.codeplane/policy/evil.rego",
    "echo evil > planted/policy/evil.rego; echo evil > planted/config.yaml",
    "echo evil > linked_config",
    "rm -rf .codeplane; mkdir -p .codeplane/policy; echo evil > .codeplane/policy/evil.rego",
    "mv .codeplane moved; mkdir .codeplane; echo evil > .codeplane/config.yaml",
    "ln -f .codeplane/owner.token hard; echo evil > hard",
    "echo evil > /proc/1/root{root}/.codeplane/config.yaml",
    "cd src; echo evil > ../.codeplane/owner.token",
    "umount -l .codeplane; echo evil > .codeplane/config.yaml",
    "mount --bind src .codeplane; mount --bind .codeplane src; echo evil > src/config.yaml",
    "unshare -Urm sh -c 'umount -l .codeplane; mount --bind src .git/hooks; echo evil > .codeplane/config.yaml'",
    "mv {root} {root}2; mv {root}/../repo {root}/../other",
    "cp /bin/true .git/hooks/pre-commit; ln -s /bin/true .git/hooks/post-checkout",
    "git config core.hooksPath evil; git config core.fsmonitor evil; echo x > .git/commondir",
    "mv .git git2; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
    "rm -rf .git",
    "git commit --allow-empty -m evil",
    "chmod 777 .git .git/config .codeplane; chown 1:1 .git",
)


async def test_neither_codeplane_nor_git_is_written(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        (opened.root / "planted").symlink_to(".codeplane")
        (opened.root / "linked_config").symlink_to(opened.root / ".codeplane" / "config.yaml")
        before = _files(opened.root / ".codeplane"), _files(opened.root / ".git")
        for script in WRITES:
            await opened.run(script.format(root=opened.root, home=opened.home))
            assert (_files(opened.root / ".codeplane"), _files(opened.root / ".git")) == before, script


async def test_outside_the_repository_nothing_is_written_and_inside_it_is(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        beside = opened.root.parent / "beside"
        beside.mkdir()
        shared = Path("/tmp", new_id("a"))
        places = [opened.root / "a", Path("/usr/a"), Path("/etc/a"), Path("/var/lib/a"), Path("/sys/a")]
        script = "; ".join(f"echo x > {place} && echo {place}" for place in places)
        done = await opened.run(f"{script}; echo x > {beside}/a; echo x > {shared}; echo x > $HOME/a; ls $HOME")
        assert done.stdout.split() == [f"{opened.root}/a", "a"]
        assert (opened.root / "a").read_text() == "x\n"
        assert list(beside.iterdir()) == []
        assert not (opened.home / "a").exists()
        assert not shared.exists()


async def test_a_link_that_leads_out_cannot_be_written_through(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        beside = opened.root.parent / "beside"
        beside.mkdir()
        (beside / "file").write_text("kept")
        (opened.root / "out").symlink_to(beside)
        await opened.run("echo evil > out/file; echo evil > out/new; rm -rf out/*")
        assert [path.read_text() for path in beside.iterdir()] == ["kept"]


async def test_processes_outside_are_neither_seen_nor_touched(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        outside = subprocess.Popen(["sleep", "600"])
        try:
            us = os.getpid()
            script = f"kill -9 {outside.pid}; kill -0 {us} 2>/dev/null && echo seen; ls /proc | grep -c '^[0-9]'"
            done = await opened.run(script)
            assert "seen" not in done.stdout
            assert int(done.stdout.split()[0]) < 10
            assert outside.poll() is None
        finally:
            outside.kill()
            outside.wait()


def _listening() -> tuple[socket.socket, int]:
    server = socket.create_server(("127.0.0.1", 0))
    return server, server.getsockname()[1]


async def _reach(opened: Shell, port: int, *, network: bool = False) -> str:
    script = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached; cat /proc/net/dev | grep -c : ; ls /sys/class/net"
    return (await opened.run(script, network=network)).stdout


async def test_there_is_no_network_unless_it_is_set_and_asked_for(tmp_path: Path) -> None:
    server, port = _listening()
    with server:
        async with shell(tmp_path / "off") as opened:
            assert "reached" not in await _reach(opened, port)
            assert await opened.refused(command="true", network=True) == "POLICY_DENIED"
            assert len(opened.door.person.asked) == 1
        async with shell(tmp_path / "on", network=True) as opened:
            assert "reached" not in await _reach(opened, port)
            assert opened.ingested == []
            assert "reached" in await _reach(opened, port, network=True)
            assert [source for source, _ in opened.ingested] == ["shell"]
            assert opened.door.authority.assessed[-1].remotes == ("*",)
            assert "network: yes" in opened.door.person.asked[-1].preview.body


CONNECTS = r"""
use Socket;
for (@ARGV) {
    s/^@/\0/;
    socket(S, PF_UNIX, SOCK_STREAM, 0);
    print connect(S, pack_sockaddr_un($_)) ? "reached\n" : "no\n";
}
"""


@pytest.mark.skipif(not Path("/usr/bin/perl").exists(), reason="NOT TESTED: unix sockets, since perl is not there")
async def test_sockets_of_daemons_are_out_of_reach(tmp_path: Path) -> None:
    folder = Path(f"/tmp/cpl-sock-{os.getpid()}")
    folder.mkdir()
    server = socket.socket(socket.AF_UNIX)
    abstract = socket.socket(socket.AF_UNIX)
    try:
        server.bind(str(folder / "s"))
        abstract.bind(f"\0cpl-{os.getpid()}")
        for one in (server, abstract):
            one.listen()
        async with shell(tmp_path) as opened:
            (opened.root / "try.pl").write_text(CONNECTS)
            tried = f"/usr/bin/perl try.pl {folder}/s @cpl-{os.getpid()}"
            assert (await opened.run(tried)).stdout == "no\nno\n"
            # The passing twin, outside.
            outside = subprocess.run(tried.split(), cwd=opened.root, capture_output=True, text=True, check=True)
            assert outside.stdout == "reached\nreached\n"
    finally:
        for one in (server, abstract):
            one.close()
        (folder / "s").unlink()
        folder.rmdir()


async def test_rights_are_gone_and_cannot_be_had_again(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; ulimit -c; tty")
        words = done.stdout.split()
        assert words[:6] == ["CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1"]
        assert words[6] == "0"
        nested = await opened.run("unshare -Ur id -u")
        assert nested.exit_code != 0


async def test_a_worktree_inside_cannot_be_led_astray(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        git(opened.root, "worktree", "add", "--quiet", "wt")
        before = (opened.root / "wt" / ".git").read_text()
        await opened.run("mkdir evil; echo 'gitdir: ../evil' > wt/.git; rm -f wt/.git; mv wt/.git x; touch wt/new")
        assert (opened.root / "wt" / ".git").read_text() == before
        assert (opened.root / "wt" / "new").exists()


async def test_what_is_written_to_memory_is_bounded(tmp_path: Path) -> None:
    async with shell(tmp_path) as opened:
        done = await opened.run("df --output=size -k /tmp $HOME /dev/shm | tail -n +2")
        assert all(int(size) <= 512 * 1024 for size in done.stdout.split())
