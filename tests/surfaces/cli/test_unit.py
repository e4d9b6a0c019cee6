"""`cpl up --install`: the unit of systemd, made and taken back."""

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.adapters.systemd_unit import UserUnit
from tests.harness import cpl, make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("SCHED-08")

# Stands in for systemd, which no test machine runs: notes what it is asked, and refuses if it is told to.
_SYSTEMCTL = """#!/bin/sh
echo "$@" >> {notes}
[ -e {refusal} ] && {{ echo "Failed to connect to bus: No medium found" >&2; exit 1; }}
exit 0
"""


@dataclass
class Account:
    """Somebody's home, with a systemctl on the path that notes what it is asked."""

    home: Path
    repo: Path
    programs: Path

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "HOME": str(self.home), "PATH": path, "XDG_CONFIG_HOME": str(self.home / "config")}

    @property
    def unit(self) -> UserUnit:
        return UserUnit.of(self.repo, home=self.home, environ=self.environ)

    @property
    def asked(self) -> list[str]:
        notes = self.home / "notes"
        return notes.read_text().splitlines() if notes.exists() else []

    def cpl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return cpl(*arguments, cwd=self.repo, environ=self.environ)


@pytest.fixture
def account(tmp_path: Path) -> Account:
    programs = tmp_path / "programs"
    programs.mkdir()
    systemctl = programs / "systemctl"
    systemctl.write_text(_SYSTEMCTL.format(notes=tmp_path / "home" / "notes", refusal=tmp_path / "home" / "refusal"))
    systemctl.chmod(systemctl.stat().st_mode | stat.S_IEXEC)
    (tmp_path / "home").mkdir()
    return Account(tmp_path / "home", make_repo(tmp_path / 'a 100% "shop"', {"a.txt": "a\n"}), programs)


def test_the_unit_is_written_enabled_and_removed_again(account: Account) -> None:
    done = account.cpl("up", "--install")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"created    {account.unit.path}\n" and "cpl up --uninstall" in done.stderr
    assert account.asked == [
        "--user show-environment",
        "--user daemon-reload",
        f"--user enable --now {account.unit.name}",
    ]
    again = account.cpl("up", "--install")
    assert again.stdout == f"updated    {account.unit.path}\n"
    removed = account.cpl("up", "--uninstall")
    assert removed.stdout == f"deleted    {account.unit.path}\n" and not account.unit.path.exists()
    assert account.asked[-1] == f"--user disable {account.unit.name}"
    assert "is not there" in account.cpl("up", "--uninstall").stdout


def test_uninstall_takes_the_unit_along(account: Account) -> None:
    account.cpl("up", "--install")
    done = account.cpl("uninstall", "--yes")
    assert f"delete  {account.unit.path} (systemd)" in done.stdout and not account.unit.path.exists()


def test_without_a_manager_nothing_is_written_and_another_way_is_named(account: Account) -> None:
    (account.home / "refusal").touch()
    refused = account.cpl("up", "--install")
    assert refused.returncode != 0 and not account.unit.path.exists()
    assert "No medium found" in refused.stderr and "@reboot cpl up --detach" in refused.stderr
    # What was written while there was one is removed all the same.
    (account.home / "refusal").unlink()
    account.cpl("up", "--install")
    (account.home / "refusal").touch()
    assert account.cpl("up", "--uninstall").stdout.startswith("deleted") and not account.unit.path.exists()


def test_a_system_without_systemd_says_so(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    from codeplane.kernel.errors import ServiceManagerMissing

    monkeypatch.setenv("PATH", str(account.home))
    with pytest.raises(ServiceManagerMissing, match="no systemd"):
        account.unit.install(["true"], start=True)
    assert not account.unit.path.exists()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is NOT INSTALLED")
def test_systemd_reads_the_unit_as_it_is_meant(account: Account) -> None:
    program = shutil.which("true")
    assert program is not None
    account.unit.folder.mkdir(parents=True)
    account.unit.path.write_text(account.unit.text([program, "--repo", str(account.repo), "$HOME", "100%"]))
    done = subprocess.run(
        ["systemd-analyze", "--user", "--man=no", "verify", str(account.unit.path)],
        capture_output=True,
        text=True,
        check=False,
        env={**account.environ, "XDG_RUNTIME_DIR": str(account.home)},
    )
    assert done.returncode == 0 and account.unit.name not in done.stderr, done.stderr
