"""Tests that are named or matched by a pattern, and those that are not there."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.testing.door import open_door, written
from tests.testing.node import install
from tests.testing.runs import environment, failing, needs, statuses

UTILS = (
    "def test_slug():\n    pass\n\n\n"
    "class TestPager:\n    def test_first_page(self):\n        pass\n\n    def test_last(self):\n        pass\n"
)
PYTEST = {"pytest.ini": "[pytest]\n", "tests/test_utils.py": UTILS, "tests/test_b.py": "def test_b():\n    pass\n"}


def _error(envelope: JsonObject) -> tuple[str, str]:
    error = envelope["error"]
    assert isinstance(error, dict), envelope
    return str(error["error"]), f"{error['message']}; {error.get('hint') or error}"


def _processes(root: Path) -> int:
    (run,) = (root / ".codeplane/tests/runs").iterdir()
    return len(list(run.glob("*.txt")))


@requirement("TST-11")
async def test_a_name_that_pytest_does_not_know_is_not_a_failed_test(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTEST)
    async with open_door(root, environment=environment()) as door:
        await door.parsed()
        kind, output = _error(await door.ask("test.run", targets="tests/test_utils.py::test_first_pag"))
        assert kind == "NOT_FOUND"
        assert "no test is called 'tests/test_utils.py::test_first_pag'" in output
        assert "did you mean tests/test_utils.py::TestPager::test_first_page?" in output
        assert not door.suite.history.ran("tests/test_utils.py")
        kind, output = _error(await door.ask("test.run", targets=["tests/test_utils.py::zzzz", "tests/test_b.py::yyy"]))
        assert kind == "NOT_FOUND" and "nor 1 others" in output and "did you mean" not in output
        whole = await door.run()
        assert whole["summary"]["fixed"] == []  # type: ignore[index,call-overload]


@requirement("TST-11")
async def test_what_is_there_runs_beside_what_is_not(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTEST)
    names = ["tests/test_utils.py::test_slog", "tests/test_utils.py::TestPager::test_last", "tests/test_b.py"]
    async with open_door(root, environment=environment()) as door:
        result = await door.run(targets=names, parallelism=1)
    assert result["not_found"] == ["tests/test_utils.py::test_slog: did you mean tests/test_utils.py::test_slug?"]
    assert statuses(result) == {"tests/test_utils.py": "passed", "tests/test_b.py": "passed"}
    assert "NOT FOUND tests/test_utils.py::test_slog: did you mean" in str(result["text"])
    assert "[2 passed in 2 targets," in str(result["text"])
    # What is not there was told apart, and the rest was run together once more.
    assert _processes(root) == 2


@requirement("TST-11")
async def test_a_test_that_failed_and_is_no_more_is_forgotten(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_a.py": "def test_old():\n    assert 0\n"})
    async with open_door(root, environment=environment()) as door:
        assert list(failing(await door.run())) == ["test_a.py::test_old"]
        (root / "test_a.py").write_text("def test_new():\n    pass\n")
        again = await door.run(failed_only=True)
        assert "no longer there: test_a.py::test_old" in str(again["text"])
        assert door.suite.history.failing_tests("test_a.py") == ()
        assert "nothing failed last time" in str((await door.run(failed_only=True))["text"])


@requirement("TST-11")
async def test_files_without_a_match_are_not_run_again(tmp_path: Path) -> None:
    files = {f"tests/test_{at}.py": f"def test_{at}():\n    pass\n" for at in range(6)}
    files["tests/test_fails.py"] = "def test_pager():\n    assert 0\n"
    root = written(tmp_path / "repo", {**PYTEST, **files})
    async with open_door(root, environment=environment()) as door:
        result = await door.run(pattern="pager", parallelism=1)
    assert list(failing(result)) == ["tests/test_fails.py::test_pager"]
    assert result["summary"]["tests"] == 3  # type: ignore[index,call-overload]
    assert "[1 failed, 2 passed in 2 targets (no match in 7 more)," in str(result["text"])
    assert "no tests in" not in str(result["text"])
    assert _processes(root) == 1


@requirement("TST-11")
async def test_a_process_that_was_cut_short_leaves_the_rest_to_be_run(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = -x\n"}
    files |= {f"test_{name}.py": f"def test_pager():\n    assert {at}\n" for at, name in enumerate("ab")}
    root = written(tmp_path / "repo", files)
    async with open_door(root, environment=environment()) as door:
        result = await door.run(pattern="pager", parallelism=1)
    assert statuses(result) == {"test_a.py": "failed", "test_b.py": "passed"}


async def test_a_pattern_that_matches_nothing_says_so(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTEST)
    async with open_door(root, environment=environment()) as door:
        nothing, tagged, ran = (
            await door.run(pattern="zzzz"),
            await door.run(tags=["slow"]),
            door.suite.history.ran("tests/test_b.py"),
        )
    assert str(nothing["text"]).startswith("no test matches 'zzzz'\n[nothing ran in 2 targets,")
    assert "no test has the tag slow" in str(tagged["text"])
    assert not ran


async def test_unittest_and_cargo(tmp_path: Path) -> None:
    needs("cargo")
    text = "import unittest\n\nclass T(unittest.TestCase):\n    def test_sums(self):\n        pass\n"
    files = {
        ".gitignore": "target\n",
        "test_t.py": text,
        "Cargo.toml": '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "",
        "tests/outer.rs": "#[test]\nfn outer_one() {}\n",
    }
    root = written(tmp_path / "repo", files)
    async with open_door(root, "tests.runners={python: unittest}", environment=environment()) as door:
        kind, output = _error(await door.ask("test.run", targets="test_t.py::T::test_sum_s"))
        assert kind == "NOT_FOUND" and "did you mean test_t.py::test_sums?" in output
        kind, output = _error(await door.ask("test.run", targets="tests/outer.rs::outer_two"))
        assert kind == "NOT_FOUND" and "did you mean tests/outer.rs::outer_one?" in output
        assert "no test matches 'zzzz'" in str((await door.run(pattern="zzzz"))["text"])


async def test_javascript(tmp_path: Path) -> None:
    modules = install()
    jest = "describe('total', () => {\n  it('sums', () => {});\n  it('adds', () => {});\n});\n"
    vitest = "import { describe, it } from 'vitest';\n" + jest
    node = "import test from 'node:test';\ntest('sums', () => {});\n"
    files = {
        ".gitignore": "node_modules\n",
        "old/package.json": '{"name": "old", "jest": {}}',
        "old/a.test.js": jest,
        "old/b.test.js": "it('other', () => {});\n",
        "web/package.json": '{"name": "web", "type": "module", "devDependencies": {"vitest": "*"}}',
        "web/a.test.ts": vitest,
        "plain/a.test.mjs": node,
        "plain/b.test.mjs": "import test from 'node:test';\ntest('other', () => {});\n",
    }
    root = written(tmp_path / "repo", files)
    (root / "node_modules").symlink_to(modules)
    wrong = ["old/a.test.js::total > sum", "web/a.test.ts::total > subs", "plain/a.test.mjs::sumz"]
    async with open_door(root, "tests.timeout_sec=120", environment=environment()) as door:
        # "sum" is in "sums", which is how these runners take a name.
        result = await door.run(targets=wrong)
        found = result["not_found"]
        assert isinstance(found, list)
        assert sorted(map(str, found)) == [
            "plain/a.test.mjs::sumz: did you mean plain/a.test.mjs::sums?",
            "web/a.test.ts::total > subs: did you mean web/a.test.ts::sums?",
        ]
        assert result["summary"]["tests"] == 1, result  # type: ignore[index,call-overload]
        some = await door.run(pattern="sums")
        assert "[3 passed in 3 targets (no match in 2 more)," in str(some["text"])
        none = await door.run(pattern="zzzz")
        assert "no test matches 'zzzz'" in str(none["text"]), none["text"]


async def test_one_test_of_a_runner_that_cannot_be_told_is_refused(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"mix.exs": "", "test/a_test.exs": ""})
    async with open_door(root, environment=environment()) as door:
        kind, output = _error(await door.ask("test.run", targets="test/a_test.exs::adds"))
    assert kind == "INVALID_ARGUMENT" and "mix cannot run one test alone" in output


async def test_what_is_near_is_listed_once(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", PYTEST)
    async with open_door(root, environment=environment()) as door:
        kind, output = _error(await door.ask("test.run", targets="tests/test_util.py"))
    assert (kind, output.count("tests/test_utils.py")) == ("NOT_FOUND", 1), output
