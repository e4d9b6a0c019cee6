"""What code under test cannot do, and what happens where there is no sandbox."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from codeplane.kernel.json import JsonObject
from codeplane.testing.environment import clean_environment
from codeplane.testing.sandbox import Enclosure
from tests.interaction.requirements import requirement
from tests.testing.door import Door, open_door, written
from tests.testing.runs import environment, failing, statuses

HOSTILE = """
import os, socket
from pathlib import Path
import pytest

ROOT = Path(__file__).parent

def test_the_owner_s_token_is_out_of_sight():
    assert not (ROOT / ".codeplane" / "owner.token").exists()
    assert not (ROOT / ".codeplane" / "ledger.db").exists()

def test_the_home_is_empty_but_for_tools():
    home = Path(os.environ["HOME"])
    assert not (home / ".ssh").exists()
    assert not (home / "secret-of-the-owner").exists()

def test_nothing_outside_can_be_written():
    for place in ("/etc/codeplane-was-here", "/usr/codeplane-was-here", "/var/lib/codeplane-was-here"):
        with pytest.raises(OSError):
            Path(place).write_text("x")
    try:
        # Into a temporary folder that ends with the run.
        (ROOT.parent / "was-here").write_text("x")
    except OSError:
        pass

def test_git_s_own_folder_cannot_be_written():
    with pytest.raises(OSError):
        (ROOT / ".git" / "hooks" / "pre-commit").write_text("x")

def test_the_workspace_can_be_written():
    (ROOT / "made-by-a-test").write_text("x")

def test_there_is_no_network():
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", PORT), timeout=5)

def test_no_secrets_in_the_environment():
    assert not [name for name in os.environ if "TOKEN" in name or "SECRET" in name or name.startswith("CODEPLANE__")]

def test_other_processes_are_out_of_sight():
    assert not Path("/proc/OUTER").exists()

def test_temporary_files_are_its_own():
    assert not Path("MARKER").exists()
"""


class NoSandbox:
    """A machine without one."""

    def unavailable_reason(self) -> str:
        """Always."""
        return "bubblewrap (bwrap) is not installed"

    def command(self, argv: Sequence[str], *, cwd: Path, enclosure: Enclosure) -> list[str]:
        """Never asked."""
        raise AssertionError

    def hidden_secrets(self, enclosure: Enclosure) -> list[str]:
        """Never asked."""
        raise AssertionError


@requirement("TST-05")
async def test_hostile_code_is_kept_in(tmp_path: Path) -> None:
    marker = Path("/tmp") / f"codeplane-marker-{os.getpid()}"
    marker.write_text("outside")
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = HOSTILE.replace("PORT", str(server.getsockname()[1])).replace("MARKER", str(marker))
        text = text.replace("OUTER", str(os.getpid()))
        root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_hostile.py": text})

        secret = environment(GITHUB_TOKEN="x", CODEPLANE__TRUST__MODE="automatic", MY_SECRET="x")
        try:
            async with open_door(root, environment=secret) as door:
                assert (root / ".codeplane/owner.token").exists()
                result = await door.run()
        finally:
            marker.unlink()
    assert failing(result) == {}, result["text"]
    assert result["summary"]["tests_passed"] == 9  # type: ignore[index,call-overload]
    assert (root / "made-by-a-test").exists()
    assert not (tmp_path / "was-here").exists()


@requirement("TST-05")
async def test_network_by_the_owner_s_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = (
            f"import socket\n\ndef test_it():\n    socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))\n"
        )
        root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_net.py": text})
        async with open_door(root, "tests.network=true", environment=environment()) as door:
            result = await door.run()
    assert statuses(result) == {"test_net.py": "passed"}, result["text"]


@requirement("TST-05")
async def test_without_a_sandbox_it_is_refused_unless_the_owner_agreed(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_a.py": "def test_a(): pass\n"})

    async def refused(door: Door) -> JsonObject:
        return await door.ask("test.run")

    async def allowed(door: Door) -> JsonObject:
        return await door.run()

    here = environment()
    async with open_door(root, "approvals.wait_sec=0", sandbox=NoSandbox(), environment=here) as door:
        denied = await refused(door)
    assert denied["error"]["error"] == "APPROVAL_PENDING"  # type: ignore[index,call-overload]
    assert "without a sandbox" in str(denied["error"])
    async with open_door(root, "tests.sandbox=required", sandbox=NoSandbox(), environment=here) as door:
        missing = await refused(door)
    assert missing["error"]["error"] == "SANDBOX_MISSING"  # type: ignore[index,call-overload]
    async with open_door(root, "trust.mode=automatic", sandbox=NoSandbox(), environment=here) as door:
        agreed = await allowed(door)
    assert (statuses(agreed), agreed["sandboxed"]) == ({"test_a.py": "passed"}, False)
    assert "without a sandbox" in str(agreed["warnings"])
    async with open_door(root, "tests.sandbox=off", sandbox=NoSandbox(), environment=here) as door:
        off = await allowed(door)
    assert (statuses(off), off["sandboxed"], off["warnings"]) == ({"test_a.py": "passed"}, False, [])


@requirement("TST-05")
def test_only_known_variables_are_passed_on() -> None:
    given = {
        "PATH": "/bin",
        "HOME": "/home/x",
        "LC_ALL": "C",
        "AWS_SECRET_ACCESS_KEY": "x",
        "OPENAI_API_KEY": "x",
        "CODEPLANE__TRUST__MODE": "x",
        "SSH_AUTH_SOCK": "x",
        "NVM_TOKEN": "x",
        "HTTPS_PROXY": "http://proxy",
        "ANYTHING": "x",
    }
    kept = clean_environment(given, network=False)
    assert {name for name in kept if name in given} == {"PATH", "HOME", "LC_ALL"}
    assert clean_environment(given, network=True)["HTTPS_PROXY"] == "http://proxy"
