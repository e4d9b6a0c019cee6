"""The views of MCP Apps in a real browser, in a host made of the published packages."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from tests.browser.chromium import PATIENCE_MS
from tests.clients.node import NODE, install
from tests.harness import Server, cpl, git, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.mcp.task_client import TaskClient, text_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FrameLocator

pytestmark = requirement("MCX-02")

HOST = Path(__file__).parents[1] / "clients" / "app_host.mjs"
NAME = "app-host"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    repo = make_repo(tmp_path / "repo", {"price.py": "def price():\n    return 1\n"})
    running = start(repo, overrides=["mcp.toolset=all"])
    yield running
    running.stop()


@contextmanager
def shown(
    chromium: "Browser", server: Server, tool: str, *, secret: str = "", decision: str = "", **arguments: object
) -> "Iterator[tuple[FrameLocator, str]]":
    """The view of a tool's result in its frame, and the address of its host."""
    install()
    headers = json.dumps({HEADER: secret} if secret else {})
    command = [str(NODE), str(HOST), server.mcp_url, tool, json.dumps(arguments), headers, decision]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None and host.stdin is not None
        address = host.stdout.readline().strip()
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE_MS)
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
        page.goto(address)
        yield page.frame_locator("iframe"), address
        assert not [text for text in refused if "Content Security Policy" in text]
        page.close()
        host.stdin.close()


def test_a_diff_is_shown_as_text(chromium: "Browser", server: Server) -> None:
    (server.repo / "price.py").write_text("def price():\n    return '<img src=x onerror=alert(1)>'\n")
    with shown(chromium, server, "git_diff") as (view, _):
        added = view.locator(".added", has_text="onerror")
        added.wait_for()
        assert added.text_content() == "+    return '<img src=x onerror=alert(1)>'"
        assert view.locator("img").count() == 0


def waiting(server: Server) -> str:
    """An action that waits for a person."""
    remote = server.repo.parent / "remote.git"
    git(server.repo, "init", "--bare", "-q", str(remote))
    git(server.repo, "remote", "add", "origin", str(remote))
    answer = text_of(TaskClient(server=server, extensions=(), name=NAME).call("git_push", remote="origin"))
    found = re.search(r"\((act_\w+)\)", answer)
    assert found is not None, answer
    return found[1]


def test_an_approval_is_shown_and_its_person_asked_by_the_host(
    chromium: "Browser", server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert cpl("clients", "allow", NAME, "--repo", str(server.repo)).returncode == 0
    secret = ClientSecret.of(server.workspace, NAME).read()
    action = waiting(server)
    with shown(chromium, server, "approval_show", secret=secret, decision="reject", action_id=action) as (
        view,
        address,
    ):
        view.get_by_text(f"cpl approvals approve {action}").wait_for()
        view.get_by_role("button", name="Ask me here").click()
        view.get_by_text("REJECTED").wait_for()
        with urllib.request.urlopen(f"{address}asked") as answer:
            asked = json.loads(answer.read())
        assert len(asked) == 1 and "push" in asked[0].lower()
    shown_now = cpl("approvals", "show", action, "--repo", str(server.repo)).stdout
    assert f"decided by client:{NAME}" in shown_now


def test_the_button_decides_nothing_in_a_client_that_may_not_be_asked(chromium: "Browser", server: Server) -> None:
    action = waiting(server)
    with shown(chromium, server, "approval_show", decision="approve", action_id=action) as (view, address):
        view.get_by_role("button", name="Ask me here").click()
        view.get_by_text("This client may not decide it").wait_for()
        with urllib.request.urlopen(f"{address}asked") as answer:
            assert json.loads(answer.read()) == []
    assert "PENDING" in cpl("approvals", "show", action, "--repo", str(server.repo)).stdout
