"""Runners that hang, leave things behind, flood, die, or have nothing to say."""

import os
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.repo.testing.sandbox import Sandbox
from tests.repo.testing.door import Door, at_the_door, written
from tests.repo.testing.runs import environment, failing, statuses
from tests.repo.testing.test_isolation import NoSandbox

HANGS = "import time\n\ndef test_hangs():\n    time.sleep(600)\n"
DAEMON = """
import os, subprocess, sys
def test_leaves_a_daemon():
    code = "import os, time; open('daemon.pid', 'w').write(str(os.getpid())); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    while not os.path.exists("daemon.pid") or not open("daemon.pid").read():
        pass
"""


def _all(tmp_path: Path, files: dict[str, str], *settings: str, sandbox: Sandbox | None = None) -> JsonObject:
    root = written(tmp_path / "repo", files)

    async def body(door: Door) -> JsonObject:
        return await door.run()

    return at_the_door(root, body, *settings, sandbox=sandbox, environment=environment())


def test_one_that_hangs_is_ended_and_the_others_of_its_process_are_not_lost(tmp_path: Path) -> None:
    start = "import unittest, time\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        "
    files = {"test_a.py": start + "pass\n", "test_h.py": start + "time.sleep(600)\n"}
    result = _all(tmp_path, files, "tests.timeout_sec=8", "tests.workers=1", "tests.runners={python: unittest}")
    assert statuses(result) == {"test_a.py": "passed", "test_h.py": "error"}, result["text"]
    assert failing(result) == {"test_h.py": "Timeout"}
    assert "was ended with everything it had started" in str(result["text"])


def test_a_run_that_takes_too_long_ends_and_says_what_was_not_run(tmp_path: Path) -> None:
    result = _all(tmp_path, {"pytest.ini": "[pytest]\n", "test_h.py": HANGS}, "tests.run_timeout_sec=3")
    assert result["status"] == "failed"
    assert "not run: the run's time was up" in str(result["text"])


@pytest.mark.parametrize("sandbox", [None, NoSandbox()])
def test_daemons_end_with_the_run(tmp_path: Path, sandbox: Sandbox | None) -> None:
    files = {"pytest.ini": "[pytest]\n", "test_d.py": DAEMON}
    settings = () if sandbox is None else ("trust.mode=automatic",)
    result = _all(tmp_path, files, *settings, sandbox=sandbox)
    assert statuses(result) == {"test_d.py": "passed"}, result["text"]
    assert (tmp_path / "repo" / "daemon.pid").exists()
    alive = [one for one in Path("/proc").iterdir() if one.name.isdigit() and _mentions(one, tmp_path)]
    assert alive == []


def _mentions(process: Path, folder: Path) -> bool:
    try:
        return str(folder).encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def test_a_flood_is_cut_and_said(tmp_path: Path) -> None:
    loop = "    for _ in range(17_000):\n        os.write(2, b'flood ' * 1000)\n"
    text = f"import os\n\ndef test_floods():\n{loop}"
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\naddopts = -s\n", "test_f.py": text})

    async def body(door: Door) -> tuple[JsonObject, JsonObject]:
        result = await door.run()
        return result, await door.ask("test.output", target="test_f.py", offset=4_190_000, limit=100_000)

    result, output = at_the_door(root, body, environment=environment())
    assert statuses(result) == {"test_f.py": "passed"}
    assert len(str(result["text"])) < 200
    assert "bytes cut" in str(output["text"])
    kept = sum(file.stat().st_size for file in (root / ".codeplane/testing/runs").rglob("*.txt"))
    assert kept < 6 * 1024 * 1024


def test_what_dies_is_told_apart_from_what_it_takes_along(tmp_path: Path) -> None:
    dies = "import os, signal\n\ndef test_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    leaves = "import os\n\ndef test_leaves():\n    os._exit(0)\n"
    files = {
        "pytest.ini": "[pytest]\n",
        "test_a.py": "def test_a(): pass\n",
        "test_k.py": dies,
        "test_l.py": leaves,
    }
    result = _all(tmp_path, files, "tests.workers=1")
    assert statuses(result) == {"test_a.py": "passed", "test_k.py": "error", "test_l.py": "error"}, result["text"]
    assert failing(result) == {"test_k.py": "SIGKILL", "test_l.py": "NoReport"}


def test_a_report_that_tested_code_wrote_is_refused(tmp_path: Path) -> None:
    text = (
        "import os, sys\n\ndef test_forges():\n"
        "    path = next(a for a in sys.argv if a.startswith('--junitxml=')).partition('=')[2]\n"
        "    open(path, 'w').write('<!DOCTYPE x [<!ENTITY a \"a\">]><testsuites>&a;</testsuites>')\n"
        "    os._exit(1)\n"
    )
    result = _all(tmp_path, {"pytest.ini": "[pytest]\n", "test_f.py": text})
    assert failing(result) == {"test_f.py": "NoReport"}
    assert "document type" in str(result["text"])


def test_a_missing_runner_says_how_to_get_it(tmp_path: Path) -> None:
    root = written(
        tmp_path / "repo", {"go.mod": "module x\n", "a_test.go": "package x\n", "test_a.py": "def test_a(): pass\n"}
    )

    async def body(door: Door) -> tuple[JsonObject, JsonObject, JsonObject]:
        discovered = await door.ask("test.discover")
        return discovered, await door.ask("test.run", targets=["."]), await door.run()

    nowhere = environment()
    nowhere["PATH"] = nowhere["PATH"].partition(os.pathsep)[0]
    discovered, refused, both = at_the_door(root, body, environment=nowhere)
    assert discovered["result"]["missing_runners"] == ["Test runner 'go' not found in PATH"]  # type: ignore[index,call-overload]
    # "." is everything, so what can be run is run, and the rest is said.
    assert "result" in refused
    assert statuses(both) == {".": "error", "test_a.py": "passed"}
    assert failing(both) == {".": "TestRunnerNotFound"}


def test_only_a_missing_runner_is_an_error_with_a_hint(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"mix.exs": "", "test/a_test.exs": ""})

    async def body(door: Door) -> JsonObject:
        return await door.ask("test.run")

    refused = at_the_door(root, body, environment={"PATH": "/nowhere", "HOME": str(Path.home())})
    assert refused["error"]["error"] == "TEST_RUNNER_NOT_FOUND"  # type: ignore[index,call-overload]
    assert "install Elixir" in str(refused["error"])


def test_no_tests_at_all(tmp_path: Path) -> None:
    result = _all(tmp_path, {"a.py": "A = 1\n"})
    assert "no tests found in this repository" in str(result["text"])
