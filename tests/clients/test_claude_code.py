"""Claude Code connects to CodePlane, and a model that it runs gets CodePlane's answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.harness import git, make_repo, start
from tests.interaction.requirements import requirement

from .node import environment, run
from .running_server import ASKED, NOWHERE, RunningServer
from .scripted_model import QUIET, claude, scripted_model, tool

PROMPT: Final = "What is the state of this repository?"
ANSWER: Final = "The repository was looked at."
TURNS: Final = (
    {
        "match": {"userMessage": PROMPT, "hasToolResult": False},
        "response": {"toolCalls": [{"name": tool(ASKED), "arguments": "{}"}]},
    },
    {"match": {"hasToolResult": True}, "response": {"content": ANSWER}},
)


@requirement("MCP-02")
def test_it_connects(codeplane_server: RunningServer, tmp_path: Path) -> None:
    env = environment(tmp_path, **QUIET)
    for name, transport, *place in (
        ("over-http", "http", codeplane_server.mcp_url),
        ("over-stdio", "stdio", "--", *codeplane_server.stdio),
        ("nowhere", "http", NOWHERE),
    ):
        how = ("--scope", "user", "--transport", transport, name, *place)
        added = run("claude", "mcp", "add", *how, env=env, cwd=tmp_path)
        assert added.returncode == 0, added.stderr

    listed = run("claude", "mcp", "list", env=env, cwd=tmp_path)

    assert listed.returncode == 0, listed.stderr
    states = {line.split(":")[0]: line.split(" - ", 1)[-1][:1] for line in listed.stdout.splitlines() if " - " in line}
    assert states == {"over-http": "✔", "over-stdio": "✔", "nowhere": "✘"}, listed.stdout


@requirement("MCP-03")
@pytest.mark.parametrize("transport", ("http", "stdio"))
def test_its_model_gets_what_the_tool_said(transport: str, codeplane_server: RunningServer, tmp_path: Path) -> None:
    with scripted_model(tmp_path, TURNS) as model:
        answered = claude(model, codeplane_server, tmp_path, PROMPT, transport=transport, tools=[ASKED])
        assert answered == ANSWER
        [answer] = model.tool_results()
        assert git(codeplane_server.repo, "rev-parse", "--short=7", "HEAD").strip() in answer


FILES: Final = {
    "shop/__init__.py": "",
    "shop/prices.py": "def price(net):\n    return net * 2\n",
    "shop/orders.py": (
        "from shop.prices import price\n\n\ndef total(nets):\n    return sum(price(net) for net in nets)\n"
    ),
    "tests/__init__.py": "",
    "tests/test_orders.py": (
        "import unittest\nfrom shop.orders import total\n\n\nclass Orders(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1, 2]), 6)\n"
    ),
}
EDITS: Final = [
    {"path": "shop/prices.py", "old_text": "net * 2", "new_text": "net * 3"},
    {"path": "shop/orders.py", "old_text": "def total(nets):", "new_text": "def total(nets: list[int]) -> int:"},
    {"path": "tests/test_orders.py", "old_text": "total([1, 2]), 6", "new_text": "total([1, 2]), 9"},
]
CHANGE: Final = "Prices are three times the net; keep the tests green and commit."
DONE: Final = "Three files changed, tested and committed."


def _called(name: str, arguments: object) -> dict[str, object]:
    return {"toolCalls": [{"name": tool(name), "arguments": json.dumps(arguments)}]}


@pytest.mark.skipif(
    subprocess.run(["sh", "-c", "bwrap --ro-bind / / true"], check=False, capture_output=True).returncode != 0,
    reason="NO SANDBOX HERE: bubblewrap is missing or may not make namespaces, so tests would not run unasked",
)
def test_three_edits_tested_and_committed_take_three_calls(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", FILES)
    git(repo, "config", "user.name", "Test")
    git(repo, "config", "user.email", "test@example.com")
    (tmp_path / "home").mkdir()
    # The newest result decides: later turns come first.
    turns: list[dict[str, object]] = [
        {"match": {"toolResultContains": "commit "}, "response": {"content": DONE}},
        {"match": {"toolResultContains": "1 passed"}, "response": _called("checkpoint", {"message": "Triple prices"})},
        {"match": {"toolResultContains": "3 files"}, "response": _called("test_run", {"impacted": True})},
        {
            "match": {"userMessage": CHANGE, "hasToolResult": False},
            "response": _called("write_files", {"edits": EDITS}),
        },
    ]
    served = start(repo, overrides=["tests.runners={python: unittest}"])
    try:
        with scripted_model(tmp_path / "home", turns) as model:
            tools = ["write_files", "test_run", "checkpoint"]
            assert claude(model, served, tmp_path / "home", CHANGE, transport="stdio", tools=tools) == DONE
            written, tested, committed = model.tool_results()
    finally:
        served.stop()

    assert "shop/prices.py" in written and "tests/test_orders.py" in written
    assert "1 passed" in tested
    assert "1 passed" in committed and git(repo, "rev-parse", "--short=7", "HEAD").strip() in committed
    assert git(repo, "log", "--format=%s").splitlines() == ["Triple prices", "first"]
    assert git(repo, "status", "--porcelain") == ""
