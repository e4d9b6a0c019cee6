"""What `status` tells of the index, the projects and the last error; to agents, programs and people."""

import json
from pathlib import Path

from codeplane.kernel.json import JsonObject
from codeplane.observe.status import describe_index
from codeplane.wiring.app import Plane
from tests.harness import cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps, plane

pytestmark = requirement("CLI-31")

FILES = {"pyproject.toml": '[project]\nname = "shop"\n', "shop.py": "def total():\n    return 1\n\n\nclass Cart: ...\n"}


async def _status(opened: Plane, *include: str) -> tuple[JsonObject, str]:
    outcome = await opened.conveyor.call("status", {"include": list(include)}, AGENT)
    assert outcome.result is not None
    found: JsonObject = json.loads(outcome.result_json)
    return found, outcome.result.text()


async def test_the_index_its_size_and_its_last_reconcile(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    async with plane(root) as opened:
        before, _ = await _status(opened)
        assert before["contexts"] == {"discovered": False}
        await opened.conveyor.call("search", {"query": "total", "mode": "definitions"}, AGENT)
        found, text = await _status(opened)
        index, contexts, config = found["index"], found["contexts"], found["config"]
        assert isinstance(index, dict) and isinstance(contexts, dict) and isinstance(config, dict)
        assert isinstance(index["symbol_count"], int) and index["symbol_count"] >= 2
        assert isinstance(index["size_bytes"], int) and index["size_bytes"] > 1000
        last = index["last_reconcile"]
        assert isinstance(last, dict) and last["kind"] in ("walk", "files", "rebuild")
        assert index["last_error"] is None
        active = contexts["active"]
        assert isinstance(active, list) and len(active) >= 1 and config["active_contexts"] == active
        assert f"{index['symbol_count']} symbols, " in text and "reconciled " in text and "contexts: " in text
        # Symbols of an epoch that is not read yet are not all of them, however few files are parsed by now.
        assert f"{index['symbol_count']} symbols so far, " in describe_index({**index, "symbols": {"epoch": 0}})


async def test_the_last_error(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    (root / ".env").write_text("API_TOKEN=abcdef123456\n")
    async with plane(root, operations=[FixtureOps()]) as opened:
        found, text = await _status(opened, "daemon")
        assert isinstance(found["daemon"], dict) and found["daemon"]["last_error"] is None
        assert "last error" not in text
        await opened.conveyor.call("fixture.crash", {"text": "abcdef123456"}, AGENT)
        found, text = await _status(opened, "daemon")
        daemon = found["daemon"]
        assert isinstance(daemon, dict) and isinstance(error := daemon["last_error"], dict)
        assert error["at"] and error["event"]
        assert "last error: " in text and "abcdef123456" not in str(found)
    # A server that has ended left it in its log.
    answer = cpl("status", cwd=root)
    assert answer.returncode == 3 and "last error" in answer.stdout


def test_for_people(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", FILES)
    server = start(root)
    try:
        server.call("search", query="total", mode="definitions")
        answer = cpl("status", cwd=root).stdout
        assert "symbols, " in answer and " MB, reconciled " in answer and "contexts" in answer
        assert "last error" not in answer
    finally:
        server.stop()
