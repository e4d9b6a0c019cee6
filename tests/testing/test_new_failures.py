"""What is new about a failure: that it did not fail last time, also when there was no last time."""

from pathlib import Path
from typing import cast

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.testing.door import open_door, written
from tests.testing.runs import environment, needs

pytestmark = requirement("TST-32")

FAILS = "def test_fails():\n    assert 1 == 2\n"
FILES = {"pytest.ini": "[pytest]\n", "test_one.py": FAILS + "\n\ndef test_fine():\n    pass\n"}


def summary(run: JsonObject) -> tuple[object, object]:
    found = cast(JsonObject, run["summary"])
    return found["new_failures"], found["first_runs"]


async def test_a_failure_without_an_earlier_result_is_new_and_marked(tmp_path: Path) -> None:
    needs("bwrap")
    root = written(tmp_path / "repo", FILES)
    async with open_door(root, environment=environment()) as door:
        first = await door.run()
        assert summary(first) == (["test_one.py::test_fails"], ["test_one.py::test_fails"])
        assert "1 failed, 1 passed in 1 target, first run," in str(first["text"])
        again = await door.run(fresh=True)
        assert summary(again) == ([], [])
        (root / "test_two.py").write_text(FAILS)
        (root / "test_one.py").write_text(
            FAILS + "\n\ndef test_fine():\n    assert 0\n\n\ndef test_added():\n    assert 0\n"
        )
        third = await door.run()
        assert summary(third) == (
            ["test_one.py::test_added", "test_one.py::test_fine", "test_two.py::test_fails"],
            ["test_one.py::test_added", "test_two.py::test_fails"],
        )
        text = str(third["text"])
        assert "new: test_one.py::test_fine\n" in text
        assert "new, first run: test_one.py::test_added, test_two.py::test_fails\n" in text


async def test_a_target_that_does_not_load_any_more_is_new_but_not_on_its_first_run(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {**FILES, "test_one.py": "def test_fine():\n    pass\n"})
    async with open_door(root, environment=environment()) as door:
        await door.run()
        (root / "test_one.py").write_text("import nothing_of_that_name\n")
        assert summary(await door.run()) == (["test_one.py"], [])
        (root / "test_one.py").write_text("def test_fine():\n    assert 0\n")
        assert summary(await door.run()) == (["test_one.py::test_fine"], [])
