"""Settings changed while a server runs: it goes on with the old ones, and everyone is told which wait."""

from pathlib import Path

import pytest

from codeplane.client import Client
from tests.harness import cpl, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("CLI-03")


def test_changed_settings_are_named_until_they_hold(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    server = start(root)
    try:
        own = root / ".codeplane/config.yaml"
        before = own.read_text() if own.exists() else ""
        assert "restart" not in cpl("status", cwd=root).stdout
        own.write_text(f"{before}\ntrust:\n  mode: always\n")
        output = cpl("status", cwd=root).stdout
        assert "changed and not in force until a restart: trust.mode; then: cpl down && cpl up" in output, output
        assert "trust.mode" in cpl("call", "status", cwd=root).stdout
        doctor = cpl("doctor", cwd=root).stdout
        assert "trust.mode" in next(line for line in doctor.splitlines() if line.split()[1] == "settings")
        assert server.call("status", include=["config"])["result"]["config"]["trust_mode"] == "trust"  # type: ignore[call-overload, index]
        own.write_text("trust:\n  mode: sometimes\n")
        assert "no server could start with them" in cpl("status", cwd=root).stdout
        made = server.call("agent.token", agent="a", capabilities=["read_files"])["result"]
        assert isinstance(made, dict)
        answer = Client(server.host, server.port, token=str(made["token"])).call("status", {"include": ["config"]})
        assert "cpl doctor" in str(answer) and "sometimes" not in str(answer), "agents are not quoted the file"
        own.write_text(before)
        assert "restart" not in cpl("status", cwd=root).stdout
    finally:
        server.stop()


@pytest.mark.parametrize("text", ["", "logging: {level: INFO}\n"])
def test_what_says_the_same_is_no_change(tmp_path: Path, text: str) -> None:
    root = make_repo(tmp_path / "repo")
    server = start(root, overrides=["trust.mode=always"])
    try:
        (root / ".codeplane/config.yaml").write_text(f"{text}trust: {{mode: automatic}}\n")
        config = server.call("status", include=["config"])["result"]["config"]  # type: ignore[call-overload, index]
        assert isinstance(config, dict) and config["changed_settings"] == [], (
            "what --set gives is in force all the same"
        )
    finally:
        server.stop()
