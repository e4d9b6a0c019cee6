"""The Python of the guide, run as it stands there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement

pytestmark = requirement("CLIENT-01")

ROOT = Path(__file__).resolve().parents[2]
SYNC, ASYNC, BONJOUR = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "guides" / "client.md").read_text(), re.DOTALL
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a repository with colours."""
    running = start(make_repo(tmp_path_factory.mktemp("guide") / "shop", {"colours.py": "colour = 'red'\n"}))
    yield running
    running.stop()


def test_the_synchronous_example_runs(
    served: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(served.repo)
    exec(compile(SYNC, "client.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "colours.py:1: colour" in printed and "turn.completed" in printed


def test_the_asynchronous_example_runs(
    served: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(served.repo)
    exec(compile(ASYNC, "client.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "thread/thr_" in printed and "No model is configured" in printed


@requirement("CLIENT-02")
def test_the_example_of_the_network_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BONJOUR.replace("seconds=2", 'seconds=2, interfaces=["127.0.0.1"]')
    overrides = ("server.tls=self_signed", "server.require_token=true", "server.announce=true")
    server = start(make_repo(tmp_path / "shop"), overrides=overrides)
    try:
        names: dict[str, object] = {}
        exec(compile(text, "client.md", "exec"), names)
        connect = names["connect"]
        assert callable(connect)
        fingerprint = str(server.facts["tls_fingerprint"])
        assert "result" in connect(fingerprint, server.token).call("session.info", {})
    finally:
        server.stop()
