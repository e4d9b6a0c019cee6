"""Tests that change their minds: flaky on the same code and environment, fixed where either changed."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.testing.environment_state import environment_state
from tests.interaction.requirements import requirement
from tests.kernel.plane import Ask, asking
from tests.query.asking import result
from tests.testing.door import written
from tests.testing.runs import needs

UNITTEST = "tests.runners={python: unittest}"
TEST = (
    "import os, unittest\nfrom pathlib import Path\nfrom rates import RATE\n\n\n"
    "class Rates(unittest.TestCase):\n    def test_rate(self):\n"
    "        self.assertEqual(RATE, 19)\n        self.assertTrue(Path('local.cfg').read_text() == 'on')\n"
    "        Path('left.tmp').write_text(str(os.getpid()))\n"
)
FILES = {".gitignore": "venv/\n*.cfg\n*.tmp\n*.lock\n", "tests/__init__.py": "", "tests/test_rates.py": TEST}
ID = "tests/test_rates.py"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    needs("bwrap")
    root = written(tmp_path / "shop", FILES)
    subprocess.run(["python3", "-m", "venv", "--without-pip", "venv"], cwd=root, check=True)
    package(root).write_text("RATE = 19\n")
    (root / "local.cfg").write_text("on")
    return root


def package(root: Path) -> Path:
    (site,) = (root / "venv/lib").glob("python*/site-packages")
    return site / "rates.py"


def in_place(file: Path, text: str) -> Callable[[], None]:
    """Write a file without replacing it, as an editor may."""

    def write() -> None:
        with file.open("r+") as opened:
            opened.write(text)

    return write


@requirement("TST-30")
@pytest.mark.parametrize("what", ["dependency", "ignored file"])
async def test_what_is_mended_outside_of_the_code_is_not_flaky(shop: Path, what: str) -> None:
    file, bad, good = (
        (package(shop), "RATE = 16\n", "RATE = 19\n") if what == "dependency" else (shop / "local.cfg", "of", "on")
    )
    in_place(file, bad)()

    async def body(ask: Ask) -> tuple[JsonObject, JsonObject, JsonObject]:
        first = result(await ask("test.run"))
        in_place(file, good)()
        second = await ask("test.run")
        history = result(await ask("test.history"))
        assert first["state"] == result(second)["state"]
        assert first["summary"]["tests_failed"] == 1  # type: ignore[index,call-overload]
        return result(second), second, history

    async with asking(shop, UNITTEST) as ask:
        second, envelope, history = await body(ask)
    summary = cast(JsonObject, second["summary"])
    assert (summary["tests_passed"], len(cast(list[str], summary["fixed"]))) == (1, 1)
    assert history["flaky"] == []
    named = "venv" if what == "dependency" else "files that git ignores"
    assert f"same code as in the last run, but changed since: {named}" in str(envelope["text"])


@requirement("TST-30")
async def test_both_ways_on_the_same_code_and_environment_is_flaky(shop: Path) -> None:
    """What tests themselves leave behind is no change of the environment."""
    (shop / "tests/test_rates.py").write_text(
        TEST + "        self.assertTrue(Path('seen.tmp').exists() or Path('seen.tmp').touch())\n"
    )
    async with asking(shop, UNITTEST) as ask:
        await ask("test.run")
        await ask("test.run", fresh=True)
        (flaky,) = cast(list[JsonObject], (result(await ask("test.history")))["flaky"])
    assert (flaky["passed"], flaky["failed"]) == (1, 1)


@requirement("TST-31")
async def test_a_changed_dependency_runs_the_tests_again(shop: Path) -> None:
    async with asking(shop, UNITTEST) as ask:
        found: list[object] = []
        for change in (None, None, in_place(package(shop), "RATE = 16\n"), (shop / "uv.lock").touch):
            if change is not None:
                change()
            run = result(await ask("test.run"))
            found.append((run["progress"]["reused"], run["summary"]["tests_failed"]))  # type: ignore[index,call-overload]
        assert (found) == [(0, 0), (1, 0), (0, 1), (0, 1)]


@requirement("TST-30")
def test_dependencies_are_told_from_what_tests_leave(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    for name in ("a.py", "node_modules/x/index.js", "node_modules/.cache/y", "target/CACHEDIR.TAG", "target/z", "left"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1")

    def state(**variables: str) -> tuple[dict[str, str], str]:
        found = environment_state(root, belongs={"a.py"}, programs=(), variables=variables, settings="")
        assert found.is_complete
        return dict(found.dependencies), found.leftovers

    before = state()
    for same in ("a.py", "node_modules/.cache/y", "target/z"):
        (root / same).write_text("2")
    assert state() == before
    (root / "left").write_text("2")
    assert (state()[0], state()[1] == before[1]) == (before[0], False)
    (root / "node_modules/x/index.js").write_text("2")
    assert {name for name in before[0] if state()[0][name] != before[0][name]} == {"node_modules"}
    assert state(NODE_ENV="test")[0]["variables"] != before[0]["variables"]


@requirement("TST-30")
@pytest.mark.parametrize("setting", ["false", "true"])
def test_an_environment_depends_on_the_packages_that_it_sees(tmp_path: Path, setting: str) -> None:
    base, venv = (tmp_path / name for name in ("base", "venv"))
    for prefix in (base, venv):
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib/python3/site-packages").mkdir(parents=True)
    (base / "bin/python").touch()
    (venv / "bin/python").symlink_to(base / "bin/python")
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\ninclude-system-site-packages = {setting}\n")

    def state() -> str:
        programs = [venv / "bin/python"]
        found = environment_state(tmp_path / "repo", belongs=(), programs=programs, variables={}, settings="")
        return found.dependencies["python"]

    states = [state()]
    for prefix in (venv, base):
        (prefix / "lib/python3/site-packages/six.py").touch()
        states.append(state())
    assert states[0] != states[1]
    assert (states[1] != states[2]) == (setting == "true")
