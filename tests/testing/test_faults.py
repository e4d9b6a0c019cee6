"""Runners that hang, leave things behind, flood, die, or have nothing to say."""

import os
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.testing.sandbox import Sandbox
from tests.interaction.requirements import requirement
from tests.testing.door import Door, open_door, written
from tests.testing.runs import environment, failing, statuses
from tests.testing.test_isolation import NoSandbox

HANGS = "import time\n\ndef test_hangs():\n    time.sleep(600)\n"
DAEMON = """
import os, subprocess, sys
def test_leaves_a_daemon():
    code = "import os, time; open('daemon.pid', 'w').write(str(os.getpid())); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    while not os.path.exists("daemon.pid") or not open("daemon.pid").read():
        pass
"""


async def _all(tmp_path: Path, files: dict[str, str], *settings: str, sandbox: Sandbox | None = None) -> JsonObject:
    root = written(tmp_path / "repo", files)
    async with open_door(root, *settings, sandbox=sandbox, environment=environment()) as door:
        return await door.run()


@requirement("TST-06")
async def test_one_that_hangs_is_ended_and_the_others_of_its_process_are_not_lost(tmp_path: Path) -> None:
    start = "import unittest, time\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        "
    files = {"test_a.py": start + "pass\n", "test_h.py": start + "time.sleep(600)\n"}
    result = await _all(tmp_path, files, "tests.timeout_sec=8", "tests.workers=1", "tests.runners={python: unittest}")
    assert statuses(result) == {"test_a.py": "passed", "test_h.py": "error"}, result["text"]
    assert failing(result) == {"test_h.py": "Timeout"}
    assert "was ended with everything it had started" in str(result["text"])


@requirement("TST-06")
async def test_a_run_that_takes_too_long_ends_and_says_what_was_not_run(tmp_path: Path) -> None:
    result = await _all(tmp_path, {"pytest.ini": "[pytest]\n", "test_h.py": HANGS}, "tests.run_timeout_sec=3")
    assert result["status"] == "failed"
    assert "NOT RUN test_h.py: the run's time was up" in str(result["text"])


@requirement("TST-06")
@pytest.mark.parametrize("sandbox", [None, NoSandbox()])
async def test_daemons_end_with_the_run(tmp_path: Path, sandbox: Sandbox | None) -> None:
    files = {"pytest.ini": "[pytest]\n", "test_d.py": DAEMON}
    settings = () if sandbox is None else ("trust.mode=automatic",)
    result = await _all(tmp_path, files, *settings, sandbox=sandbox)
    assert statuses(result) == {"test_d.py": "passed"}, result["text"]
    assert (tmp_path / "repo" / "daemon.pid").exists()
    alive = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and _mentions(entry, tmp_path)]
    assert alive == []


def _mentions(process: Path, folder: Path) -> bool:
    try:
        return str(folder).encode() in (process / "environ").read_bytes()
    except OSError:
        return False


@requirement("TST-06")
async def test_a_flood_is_cut_and_said(tmp_path: Path) -> None:
    loop = "    for _ in range(17_000):\n        os.write(2, b'flood ' * 1000)\n"
    text = f"import os\n\ndef test_floods():\n{loop}"
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\naddopts = -s\n", "test_f.py": text})

    async def body(door: Door) -> tuple[JsonObject, JsonObject]:
        result = await door.run()
        return result, await door.ask("test.output", target="test_f.py", offset=4_190_000, limit=100_000)

    async with open_door(root, environment=environment()) as door:
        result, output = await body(door)
    assert statuses(result) == {"test_f.py": "passed"}
    assert len(str(result["text"])) < 200
    assert "bytes cut" in str(output["text"])
    kept = sum(file.stat().st_size for file in (root / ".codeplane/tests/runs").rglob("*.txt"))
    assert kept < 6 * 1024 * 1024


@requirement("TST-06")
async def test_what_dies_is_told_apart_from_what_it_takes_along(tmp_path: Path) -> None:
    dies = "import os, signal\n\ndef test_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    leaves = "import os\n\ndef test_leaves():\n    os._exit(0)\n"
    files = {
        "pytest.ini": "[pytest]\n",
        "test_a.py": "def test_a(): pass\n",
        "test_k.py": dies,
        "test_l.py": leaves,
    }
    result = await _all(tmp_path, files, "tests.workers=1")
    assert statuses(result) == {"test_a.py": "passed", "test_k.py": "error", "test_l.py": "error"}, result["text"]
    assert failing(result) == {"test_k.py": "SIGKILL", "test_l.py": "NoReport"}


async def test_a_report_that_tested_code_wrote_is_refused(tmp_path: Path) -> None:
    text = (
        "import os, sys\n\ndef test_forges():\n"
        "    path = next(a for a in sys.argv if a.startswith('--junitxml=')).partition('=')[2]\n"
        "    open(path, 'w').write('<!DOCTYPE x [<!ENTITY a \"a\">]><testsuites>&a;</testsuites>')\n"
        "    os._exit(1)\n"
    )
    result = await _all(tmp_path, {"pytest.ini": "[pytest]\n", "test_f.py": text})
    assert failing(result) == {"test_f.py": "NoReport"}
    assert "document type" in str(result["text"])


async def test_a_missing_runner_says_how_to_get_it(tmp_path: Path) -> None:
    root = written(
        tmp_path / "repo", {"go.mod": "module x\n", "a_test.go": "package x\n", "test_a.py": "def test_a(): pass\n"}
    )

    async def body(door: Door) -> tuple[JsonObject, JsonObject, JsonObject]:
        discovered = await door.ask("test.discover")
        return discovered, await door.ask("test.run", targets=["."]), await door.run()

    nowhere = environment()
    nowhere["PATH"] = nowhere["PATH"].partition(os.pathsep)[0]
    async with open_door(root, environment=nowhere) as door:
        discovered, refused, both = await body(door)
    assert discovered["result"]["missing_runners"] == ["Test runner 'go' not found in PATH"]  # type: ignore[index,call-overload]
    # "." is everything, so what can be run is run, and the rest is said.
    assert "result" in refused
    assert statuses(both) == {".": "error", "test_a.py": "passed"}
    assert failing(both) == {}
    assert both["errors"][0]["targets"] == ["."] and both["progress"]["failed"] == 0  # type: ignore[index,call-overload]
    # It is no failed test, and nothing is remembered of it, but all is not well either.
    assert "NOT RUN .: Test runner 'go' not found" in str(both["text"]) and "install Go" in str(both["text"])
    assert "[1 passed in 1 of 2 targets," in str(both["text"])


async def test_only_a_missing_runner_is_an_error_with_a_hint(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"mix.exs": "", "test/a_test.exs": ""})
    async with open_door(root, environment={"PATH": "/nowhere", "HOME": str(Path.home())}) as door:
        refused = await door.ask("test.run")
    assert refused["error"]["error"] == "TEST_RUNNER_NOT_FOUND"  # type: ignore[index,call-overload]
    assert "install Elixir" in str(refused["error"])


async def test_no_tests_at_all(tmp_path: Path) -> None:
    result = await _all(tmp_path, {"a.py": "A = 1\n"})
    assert "no tests found in this repository" in str(result["text"])


async def test_one_fault_that_breaks_many_targets_is_told_once(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\n", "lib.py": "def x(:\n    pass\n"}
    files |= {f"test_{at}.py": f"import os\nfrom lib import x{at}\n\ndef test_it():\n    pass\n" for at in range(8)}
    result = await _all(tmp_path, files)
    assert set(failing(result).values()) == {"SyntaxError"} and len(failing(result)) == 8
    text = str(result["text"])
    assert text.count("SyntaxError") == 1 and text.count("def x(:") == 1
    assert "… the same in 7 more targets: test_1.py, test_2.py" in text
    assert len(text) < 400


async def test_failures_of_one_place_are_told_once_and_of_two_places_twice(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "lib.py": "def gone():\n    raise KeyError('gone')\n",
        "test_a.py": "import lib\n\ndef test_a():\n    lib.gone()\n\ndef test_b():\n    lib.gone()\n",
        "test_c.py": "def test_c():\n    assert 1 == 2\n\ndef test_d():\n    assert 1 == 2\n",
    }
    text = str((await _all(tmp_path, files))["text"])
    assert "… the same in 1 more test: test_a.py::test_b" in text
    assert "FAILED test_c.py::test_c" in text and "FAILED test_c.py::test_d" in text


async def test_a_conftest_that_does_not_load_is_the_reason_and_takes_no_others_along(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "api/conftest.py": "def x(\n",
        "api/test_a.py": "def test_a(): pass\n",
        "api/test_b.py": "def test_b(): pass\n",
        "test_c.py": "def test_c(): pass\n",
        "test_d.py": "def test_d(): pass\n",
    }
    result = await _all(tmp_path, files, "tests.workers=1")
    assert statuses(result) == {
        "api/test_a.py": "error",
        "api/test_b.py": "error",
        "test_c.py": "passed",
        "test_d.py": "passed",
    }
    assert failing(result) == {"api/test_a.py": "SyntaxError", "api/test_b.py": "SyntaxError"}
    text = str(result["text"])
    assert text.startswith("ERROR api/test_a.py: SyntaxError: '(' was never closed")
    assert "… the same in 1 more target: api/test_b.py" in text and str(tmp_path) not in text
    # Once for all, and once for those that can be begun.
    assert len(list((tmp_path / "repo/.codeplane/tests/runs").glob("*/*.txt"))) == 2


async def test_settings_that_the_runner_refuses_are_told_once_and_in_its_words(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --nope\n", "test_a.py": "", "test_b.py": ""}
    text = str((await _all(tmp_path, files))["text"])
    assert text.startswith("ERROR test_a.py: UsageError: unrecognized arguments: --nope"), text
    assert "… the same in 1 more target: test_b.py" in text


async def test_a_pattern_that_is_no_expression_is_refused(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_a.py": "def test_a(): pass\n"})
    async with open_door(root, environment=environment()) as door:
        refused = await door.ask("test.run", pattern="a b c")
        assert not door.suite.history.ran("test_a.py")
    assert refused["error"]["error"] == "INVALID_ARGUMENT"  # type: ignore[index,call-overload]
    assert "Wrong expression passed to '-k'" in str(refused["error"])


async def test_node_says_what_was_raised_and_where_without_its_own_frames(tmp_path: Path) -> None:
    files = {
        "lib.mjs": "export function boom() { throw new TypeError('no'); }\n",
        "a.test.mjs": (
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { boom } from './lib.mjs';\n"
            "test('throws', () => boom());\n"
            "test('differs', async () => assert.deepStrictEqual({ a: 1 }, { a: 2 }));\n"
            "test('text', () => { throw 'only text'; });\n"
        ),
        "b.test.mjs": "import test from 'node:test';\ntest('broken', () => {\n",
        "c.test.mjs": "import test from 'node:test';\nimport './nothing.mjs';\ntest('x', () => {});\n",
    }
    result = await _all(tmp_path, files)
    assert failing(result) == {
        "a.test.mjs::throws": "TypeError",
        "a.test.mjs::differs": "AssertionError",
        "a.test.mjs::text": "Error",
        "b.test.mjs": "SyntaxError",
        "c.test.mjs": "Error",
    }
    text = str(result["text"])
    assert "FAILED a.test.mjs::throws: TypeError: no\n      at boom (lib.mjs:1:32)" in text
    assert "at TestContext.<anonymous> (a.test.mjs:5:36)" in text
    assert "FAILED b.test.mjs: SyntaxError: Unexpected end of input" in text
    assert "FAILED c.test.mjs: Error: Cannot find module 'nothing.mjs'" in text
    for noise in ("node:", "failureType", "ERR_TEST_FAILURE", "generatedMessage", "duration_ms"):
        assert noise not in text, text
