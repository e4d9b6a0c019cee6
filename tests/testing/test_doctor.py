"""What `doctor` says of runners."""

from pathlib import Path

from codeplane.kernel.config import CustomRunner, TestsConfig
from codeplane.testing.doctor import RunnerState, runner_states
from tests.interaction.requirements import requirement
from tests.testing.door import written
from tests.testing.runs import environment


def states(root: Path, config: TestsConfig | None = None, *, path: str = "/nowhere") -> dict[str, RunnerState]:
    """What is said of each runner of a repository."""
    paths = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
    kept = [one for one in paths if not one.startswith(".git/") and "node_modules" not in one and ".venv" not in one]
    return {state.name: state for state in runner_states(root, kept, config or TestsConfig(), {"PATH": path})}


@requirement("TST-09")
def test_runners_that_are_asked_for_and_not_there(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "mix.exs": "", "package.json": '{"name": "x"}'})
    config = TestsConfig(custom=(CustomRunner(pattern="*.x", runner="x", cmd=("no-such-program", "{path}")),))
    found = states(root, config, path=environment()["PATH"].split(":")[0])
    assert {name for name, state in found.items() if state.problem} == {"mix", "no-such-program"}
    assert str(found["mix"]) == "Test runner 'mix' not found in PATH (for the repository)"
    assert found["mix"].fix.endswith("apt-get install elixir")
    assert found["no-such-program"].fix == "install no-such-program, or fix tests.custom"
    assert str(found["pytest"]).startswith("pytest for the repository: ")


@requirement("TST-09")
def test_the_repository_s_own_programs_come_first(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"jest.config.js": ""})
    assert states(root)["jest"].problem == "Test runner 'jest' not found in PATH"
    program(root / "node_modules/.bin/jest", "#!/bin/sh\n")
    assert str(states(root)["jest"]) == "jest for the repository: node_modules/.bin/jest"


@requirement("TST-09")
def test_each_project_is_named_with_the_command_that_installs_its_runner(tmp_path: Path) -> None:
    manifest = '{"devDependencies": {"vitest": "^3"}}'
    files = {
        "web/package.json": manifest,
        "web/src/a.test.ts": "import {test} from 'vitest'\n",
        "admin/package.json": manifest,
        "admin/package-lock.json": '{"packages": {"node_modules/vitest": {}}}',
        "admin/b.test.ts": "",
        "service/go.mod": "module x\n",
        "service/a_test.go": "package x\n",
        "engine/Cargo.toml": "[package]\n",
        "engine/src/lib.rs": "#[test]\nfn a() {}\n",
        "tool/pyproject.toml": "[tool.pytest.ini_options]\n",
        "tool/test_a.py": "def test_a(): pass\n",
    }
    root = written(tmp_path / "repo", files)
    paths = [*files]
    found = runner_states(root, paths, TestsConfig(), {"PATH": "/nowhere"})
    assert {(state.name, state.roots, state.fix) for state in found if state.name == "vitest"} == {
        ("vitest", ("web",), "cd web && npm install"),
        ("vitest", ("admin",), "cd admin && npm ci"),
    }
    others = {state.name: state for state in found if state.name != "vitest"}
    assert {name: state.roots for name, state in others.items()} == {
        "go": ("service",),
        "cargo": ("engine",),
        "pytest": ("tool",),
    }
    assert "apt-get install golang-go" in others["go"].fix and "rustup" in others["cargo"].fix
    assert others["pytest"].fix.endswith(".venv/bin/python -m pip install pytest")


@requirement("TST-09")
def test_a_script_whose_interpreter_is_gone_or_has_no_pytest(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_a.py": "def test_a(): pass\n"})
    program(root / ".venv/bin/pytest", "#!/moved/away/.venv/bin/python\n")
    assert (
        states(root)["pytest"].problem == ".venv/bin/pytest starts /moved/away/.venv/bin/python, which does not exist"
    )
    interpreter = program(root / ".venv/bin/python", "#!/bin/sh\nexit 1\n")
    (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    program(root / ".venv/bin/pytest", f"#!{interpreter}\n")
    found = states(root)["pytest"]
    assert found.problem == "pytest is not installed for .venv/bin/python"
    assert found.fix == ".venv/bin/python -m pip install pytest"
    (root / ".venv/lib/python3.12/site-packages/pytest").mkdir(parents=True)
    assert str(states(root)["pytest"]) == "pytest for the repository: .venv/bin/python -m pytest"


def program(file: Path, text: str) -> Path:
    """A program at a path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file
