"""Runs of real tests, through the door."""

import asyncio
from pathlib import Path

import pytest

from tests.interaction.requirements import requirement
from tests.testing.door import Door, open_door, written
from tests.testing.runs import PYTEST, environment, failing, needs, statuses


@requirement("TST-02")
async def test_a_run_says_what_failed_and_how(tmp_path: Path) -> None:
    needs("bwrap")
    root = written(tmp_path / "repo", PYTEST)
    async with open_door(root, environment=environment()) as door:
        result = await door.run()
        output = await door.ask("test.output", target="tests/test_other.py", limit=100_000)
        assert door.said[-1].total == 4
    assert statuses(result) == {
        "tests/test_cart.py": "failed",
        "tests/test_other.py": "passed",
        "tests/test_broken.py": "error",
        "tests/test_empty.py": "skipped",
    }
    assert failing(result) == {
        "tests/test_cart.py::TestTotal::test_sums[4]": "AssertionError",
        "tests/test_broken.py": "ModuleNotFoundError",
    }
    summary = result["summary"]
    assert isinstance(summary, dict)
    assert (summary["tests_passed"], summary["tests_failed"], summary["tests_skipped"]) == (3, 2, 1)
    assert result["sandboxed"] is True
    text = str(result["text"])
    assert text.startswith("ERROR tests/test_broken.py: ModuleNotFoundError: No module named 'nothing_of_that_name'")
    assert "assert total([1, last]) == 4" in text
    assert "[2 failed, 3 passed, 1 skipped in 4 targets," in text
    assert "test_other" not in text
    assert "PASSED" in str(output["text"])


@requirement("TST-02")
async def test_one_test_filters_and_what_failed_last(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTEST)
    cart = root / "shop/cart.py"
    async with open_door(root, environment=environment()) as door:
        one = await door.run(targets="tests/test_cart.py::TestTotal::test_sums[3]")
        assert (failing(one), one["summary"]["tests"]) == ({}, 1)  # type: ignore[index,call-overload]
        tagged = await door.run(targets=["tests/test_cart.py"], filter={"tags": ["slow"]})
        assert (failing(tagged), tagged["summary"]["tests"]) == ({}, 1)  # type: ignore[index,call-overload]
        named = await door.run(targets="tests/test_cart.py", pattern="sums")
        assert list(failing(named)) == ["tests/test_cart.py::TestTotal::test_sums[4]"]
        cart.write_text("def total(prices):\n    return 4\n")
        again = await door.run(failed_only=True)
        assert again["summary"]["tests"] == 1  # type: ignore[index,call-overload]
        assert again["summary"]["fixed"] == ["tests/test_cart.py::TestTotal::test_sums[4]"]  # type: ignore[index,call-overload]
        whole = await door.run(targets="tests/test_cart.py")
        assert whole["summary"]["new_failures"] == ["tests/test_cart.py::test_empty"]  # type: ignore[index,call-overload]
        nothing = await door.ask("test.run", targets=["tests/test_crat.py"])
        assert nothing["error"]["error"] == "NOT_FOUND"  # type: ignore[index,call-overload]
        assert "tests/test_cart.py" in str(nothing["error"])


@requirement("TST-02")
async def test_impacted_runs_what_reaches_the_change_and_says_why(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTEST)
    async with open_door(root, environment=environment()) as door:
        nothing = await door.run(impacted=True)
        assert "nothing has changed" in str(nothing["text"])
        (root / "shop/cart.py").write_text("def total(prices):\n    return sum(prices) + 0\n")
        result = await door.run(impacted=True)
        results = result["results"]
        assert isinstance(results, list)
        (found,) = results
        assert (found["target_id"], found["reason"]) == ("tests/test_cart.py", "imports shop/cart.py")
        since = await door.ask("test.run", since="nothing-like-this")
        assert since["error"]["error"] == "REF_NOT_FOUND"  # type: ignore[index,call-overload]


@pytest.mark.parametrize("base", ["tests/inherited.py", "tests/test_base.py", "tests/deep/kept.py"])
async def test_inherited_tests_are_of_the_class_that_has_them(tmp_path: Path, base: str) -> None:
    module = base.removesuffix(".py").replace("/", ".")
    files = {
        "tests/__init__.py": "",
        "tests/deep/__init__.py": "",
        base: "class Base:\n    value = 1\n\n    def test_v(self):\n        assert self.value == 1\n",
        "tests/test_inh.py": (
            f"from {module} import Base\n\n\nclass TestA(Base):\n    pass\n\n\n"
            "class TestB(Base):\n    value = 2\n\n\ndef test_v():\n    pass\n"
        ),
        "tests/test_other.py": "def test_v():\n    pass\n",
        "pytest.ini": "[pytest]\n",
    }
    root = written(tmp_path / "repo", files)
    async with open_door(root, environment=environment()) as door:
        for more in ({}, {"targets": ["tests/test_inh.py"]}, {"failed_only": True}, {"failed_only": True}):
            assert list(failing(await door.run(**more))) == ["tests/test_inh.py::TestB::test_v"], more
        again = await door.run(targets=["tests/test_inh.py::TestB::test_v"], rerun_failed=1)
        assert list(failing(again)) == ["tests/test_inh.py::TestB::test_v"]
        (root / "tests/test_inh.py").write_text(f"from {module} import Base\n\n\nclass TestB(Base):\n    pass\n")
        assert failing(await door.run(failed_only=True)) == {}


async def test_a_flaky_test_is_told_from_a_broken_one(tmp_path: Path) -> None:
    flaky = (
        "from pathlib import Path\n\n"
        "def test_flaky():\n"
        "    seen = Path('seen')\n"
        "    if not seen.exists():\n"
        "        seen.touch()\n"
        "        raise OSError('first time')\n\n"
        "def test_broken():\n"
        "    assert False\n"
    )
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_it.py": flaky})
    async with open_door(root, environment=environment()) as door:
        result = await door.run(rerun_failed=2)
    assert result["summary"]["flaky"] == ["test_it.py::test_flaky"]  # type: ignore[index,call-overload]
    assert list(failing(result)) == ["test_it.py::test_broken"]


async def test_a_run_in_the_background_can_be_watched_and_cancelled(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "test_fast.py": "def test_fast():\n    pass\n",
        "test_slow.py": "import time\n\ndef test_slow():\n    time.sleep(600)\n",
    }
    root = written(tmp_path / "repo", files)
    async with open_door(root, environment=environment()) as door:
        begun = await door.run(targets="test_slow.py", wait=False)
        assert begun["status"] == "running"
        status = await door.ask("test.status", run_id=begun["run_id"])
        assert status["result"]["status"] == "running"  # type: ignore[index,call-overload]
        ended = await door.ask("test.cancel")
        assert ended["result"]["status"] == "cancelled"  # type: ignore[index,call-overload]
        assert "NOT RUN test_slow.py: the run was cancelled (about 1 test)" in str(ended["text"])
        again = await door.ask("test.status")
        assert again["result"]["run_id"] == begun["run_id"]  # type: ignore[index,call-overload]
        none = await door.ask("test.cancel")
        assert none["error"]["error"] == "TEST_RUN_NOT_FOUND"  # type: ignore[index,call-overload]
        waiting = asyncio.ensure_future(door.run(targets="test_slow.py"))
        while door.suite.find("") is None:
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        # The caller went away, and so did the run.
        assert door.suite.find("") is None


async def test_fail_fast_leaves_the_rest_and_says_so(tmp_path: Path) -> None:
    files = {f"test_{name}.py": "def test_x():\n    assert False\n" for name in "ab"}
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", **files})
    async with open_door(root, environment=environment()) as door:
        result = await door.run(fail_fast=True, parallelism=1)
    assert len(failing(result)) == 1
    assert ": an earlier one failed" in str(result["text"])


async def test_custom_commands_by_pattern(tmp_path: Path) -> None:
    files = {
        "checks/a.check": "echo good\n",
        "checks/b.check": "echo bad; exit 3\n",
        "deep/test_x.py": "import os\n\ndef test_x():\n    assert os.environ['DEEP'] == '1'\n",
    }
    root = written(tmp_path / "repo", files)
    custom = (
        "tests.custom=[{pattern: 'checks/*.check', runner: shell, cmd: [sh, '{path}']},"
        " {pattern: 'deep/*.py', runner: pytest, cmd: [env, DEEP=1, pytest, '{path}']}]"
    )
    async with open_door(root, custom, environment=environment()) as door:
        result = await door.run()
    assert statuses(result) == {"checks/a.check": "passed", "checks/b.check": "failed", "deep/test_x.py": "passed"}
    assert "exit status 3: bad" in str(result["text"])


async def test_pages_of_targets(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {f"test_{at}.py": "" for at in range(5)})

    async def body(door: Door) -> list[str]:
        names: list[str] = []
        cursor = None
        while True:
            envelope = await door.ask("test.discover", limit=2, cursor=cursor)
            found = envelope["result"]
            assert isinstance(found, dict)
            names += [one["target_id"] for one in found["targets"]]
            cursor = found["pagination"].get("next_cursor")
            if cursor is None:
                return names

    async with open_door(root, environment=environment()) as door:
        assert await body(door) == [f"test_{at}.py" for at in range(5)]


async def test_a_file_that_is_called_like_an_option_is_a_file(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"-p_test.py": "def test_it():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    async with open_door(root, environment=environment()) as door:
        result = await door.run()
    assert statuses(result) == {"-p_test.py": "passed"}
    assert result["summary"]["tests_passed"] == 1  # type: ignore[index,call-overload]
