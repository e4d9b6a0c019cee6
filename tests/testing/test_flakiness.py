"""Tests over time: runs that are kept, tests that go both ways on the same code, targets that take long."""

from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from codeplane.testing.flakiness import FlakinessLog
from tests.interaction.requirements import requirement
from tests.testing.door import open_door, written
from tests.testing.runs import environment, needs

pytestmark = requirement("TST-30")

# It fails every other time: what it remembers is none of the repository's files.
FLAKY = (
    "from pathlib import Path\n\nSEEN = Path(__file__).with_name('seen.tmp')\n\n\n"
    "def test_both_ways():\n    if SEEN.exists():\n        SEEN.unlink()\n    else:\n        SEEN.touch()\n"
    "        raise AssertionError('now and then')\n\n\ndef test_steady():\n    pass\n"
)
FILES = {"pyproject.toml": "[tool.pytest.ini_options]\n", ".gitignore": "*.tmp\n", "tests/test_it.py": FLAKY}


def listed(history: JsonObject, name: str) -> list[JsonObject]:
    return cast(list[JsonObject], history[name])


async def test_runs_are_told_with_what_is_flaky_and_slow(tmp_path: Path) -> None:
    needs("bwrap")
    root = written(tmp_path / "repo", FILES)
    async with open_door(root, environment=environment()) as door:
        assert (await door.ask("test.history"))["result"]["runs"] == []  # type: ignore[index, call-overload]
        first, second = await door.run(), await door.run(fresh=True)
        assert first["state"] == second["state"] and first["began_at"] < second["began_at"]  # type: ignore[operator]
        assert "test_both_ways" in str((await door.ask("test.output", run_id=first["run_id"]))["text"])
        envelope = await door.ask("test.history", limit=1)
        history = cast(JsonObject, envelope["result"])
        (newest,) = listed(history, "runs")
        assert (newest["run_id"], newest["passed"], newest["failed"]) == (second["run_id"], 2, 0)
        (flaky,) = listed(history, "flaky")
        assert (flaky["test"], flaky["passed"], flaky["failed"]) == ("tests/test_it.py::test_both_ways", 1, 1)
        (slow,) = listed(history, "slowest")
        assert slow["target_id"] == "tests/test_it.py" and len(slow["last_ms"]) == 2  # type: ignore[arg-type]
        assert "flaky: tests/test_it.py::test_both_ways" in str(envelope["text"])
        cursor = history["pagination"]["next_cursor"]  # type: ignore[index, call-overload]
        further = await door.ask("test.history", limit=1, cursor=cursor)
        (older,) = listed(cast(JsonObject, further["result"]), "runs")
        assert older["run_id"] == first["run_id"]


def test_what_failed_and_was_mended_is_not_flaky(tmp_path: Path) -> None:
    outcomes = FlakinessLog(tmp_path / "outcomes.json")
    outcomes.note("before", {"t": False}, flaky=(), at="1")
    outcomes.note("after", {"t": True}, flaky=(), at="2")
    assert outcomes.flaky() == []
    outcomes.note("after", {"u": True}, flaky=("u",), at="3")
    outcomes.note("after", {"t": False}, flaky=(), at="4")
    found = outcomes.flaky()
    assert [(one.test, one.passed, one.failed, one.seen_at) for one in found] == [("t", 1, 1, "4"), ("u", 1, 1, "3")]


def test_what_cannot_be_read_is_told_anew(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.json"
    for content in ("", "[]", '{"format": 1, "state": "s", "counts": {"t": 3}, "flaky": []}', '{"format": 9}'):
        file.write_text(content)
        outcomes = FlakinessLog(file)
        assert outcomes.flaky() == []
        outcomes.note("s", {"t": True}, flaky=("t",), at="1")
        assert [one.test for one in outcomes.flaky()] == ["t"]
