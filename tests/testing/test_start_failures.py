"""A runner that does not start is an error of the run: no failed test, and no passed one either."""

import os
from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.interpreter import bare_python
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.testing.door import open_door, written
from tests.testing.runs import environment, failing, needs

FILES = {"pytest.ini": "[pytest]\n", "test_a.py": "def test_a():\n    pass\n", "test_b.py": "def test_b():\n    pass\n"}
CRATE = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'


def program(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


def path_with(*folders: Path) -> dict[str, str]:
    found = environment()
    return {**found, "PATH": os.pathsep.join([*map(str, folders), found["PATH"]])}


async def run_tests(root: Path, variables: dict[str, str], *settings: str) -> JsonObject:
    async with open_door(root, *settings, environment=variables) as door:
        return await door.ask("test.run")


def pyenv(folder: Path) -> dict[str, str]:
    """A version manager in a folder of its own, with shims as pyenv writes them."""
    named = folder / "pyenv"
    program(
        named / "shims/python",
        '#!/bin/sh\nversion=$(cat .python-version 2>/dev/null || cat "$PYENV_ROOT/version")\n'
        'exe="$PYENV_ROOT/versions/$version/bin/python"\n'
        '[ -x "$exe" ] || { echo "pyenv: version \\`$version\' is not installed (set by .python-version)"; exit 1; }\n'
        'exec "$exe" "$@"\n',
    )
    program(named / "shims/pytest", '#!/usr/bin/env bash\nexec "$PYENV_ROOT/shims/python" -m pytest "$@"\n')
    program(named / "versions/3.11/bin/python", f'#!/bin/sh\nexec {bare_python()}/python "$@"\n')
    (named / "version").write_text("3.11\n")
    found = path_with(named / "shims")
    return {**found, "PYENV_ROOT": str(named)}


@requirement("TST-34")
async def test_a_shim_finds_what_it_starts_in_the_sandbox(tmp_path: Path) -> None:
    needs("bwrap")
    found = result(await run_tests(written(tmp_path / "repo", FILES), pyenv(tmp_path / "elsewhere")))
    assert found["summary"]["tests_passed"] == 2, found  # type: ignore[index,call-overload]


@requirement("TST-33")
async def test_a_shim_without_its_version_is_an_error_with_the_reason(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {**FILES, ".python-version": "3.99\n"})
    error = (await run_tests(root, pyenv(tmp_path / "elsewhere")))["error"]
    assert isinstance(error, dict)
    assert error["error"] == "TEST_RUNNER_FAILED"
    assert "pytest did not start, and no test ran: pyenv: version `3.99' is not installed" in str(error["message"])
    assert "pyenv" in str(error["hint"])


SAID = {
    "/usr/bin/python3: No module named pytest": (1, "pip install pytest"),
    "rootdir: error: unrecognized arguments: --cov=shop": (4, "plugin"),
    "pytest: error while loading shared libraries: libffi.so.8: cannot open": (127, "library"),
    "/bin/sh: exec: python9: not found": (127, "pip install pytest"),
    "No version is set for command python": (126, "asdf"),
}


@requirement("TST-33")
async def test_what_runners_and_shims_say_is_understood(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    runner = program(tmp_path / "bin/pytest", "")
    async with open_door(root, environment=path_with(tmp_path / "bin")) as door:
        for output, (code, hint) in SAID.items():
            program(runner, f"#!/bin/sh\necho '{output}'\nexit {code}\n")
            error = (await door.ask("test.run"))["error"]
            assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
            assert output in str(error["message"]) and hint in str(error["hint"]), error


# Toolchains that are older than a project asks for: files, program, what it prints, reason, hint.
OLD: tuple[tuple[dict[str, str], str, str, str, str], ...] = (
    *(
        ({"go.mod": "module x\n", "a_test.go": "package x\n"}, "go", text, reason, "GOTOOLCHAIN")
        for text, reason in (
            ("go: go.mod requires go >= 1.99 (running go 1.21.0; GOTOOLCHAIN=local)", "requires go >= 1.99"),
            ("go: x.org/y@v1.2.0 requires go >= 1.99 (running go 1.22.1)", "x.org/y@v1.2.0 requires go >= 1.99"),
            (
                "go: module . listed in go.work file requires go >= 1.99, but go.work lists go 1.21",
                "go.work file requires go >= 1.99",
            ),
            ("# x [x.test]\n./a_test.go:4:9: undefined: min\nnote: module requires Go 1.99", "module requires Go 1.99"),
        )
    ),
    (
        {"Cargo.toml": CRATE, "src/lib.rs": "#[test]\nfn a() {}\n"},
        "cargo",
        "error: package `x v0.1.0` cannot be built because it requires rustc 1.99 or newer",
        "it requires rustc 1.99",
        "rustup update",
    ),
    (
        {"pom.xml": "<project/>", "src/test/java/ATest.java": "class ATest { @Test void a() {} }"},
        "mvn",
        "[ERROR] Fatal error compiling: error: release version 99 not supported -> [Help 1]",
        "release version 99 not supported",
        "JAVA_HOME",
    ),
    (
        {"pom.xml": "<project/>", "src/test/java/ATest.java": "class ATest { @Test void a() {} }"},
        "mvn",
        "The JAVA_HOME environment variable is not defined correctly,\nthis environment variable is needed",
        "JAVA_HOME environment variable is not defined correctly",
        "fix JAVA_HOME",
    ),
)


@requirement("TST-33")
async def test_a_toolchain_that_is_too_old_is_no_failed_test(tmp_path: Path) -> None:
    for number, (files, name, text, reason, hint) in enumerate(OLD):
        root = written(tmp_path / f"repo{number}", files)
        folder = program(tmp_path / f"bin{number}" / name, f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit 1\n").parent
        error = (await run_tests(root, path_with(folder)))["error"]
        assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
        assert reason in str(error["message"]) and hint in str(error["hint"]), error


@requirement("TST-33")
async def test_a_go_older_than_go_mod_asks_for_is_no_failed_test(tmp_path: Path) -> None:
    needs("go")
    files = {
        "go.mod": "module x\n\ngo 1.999.1\n",
        "a_test.go": 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
    }
    async with open_door(
        written(tmp_path / "repo", files), environment=environment() | {"GOTOOLCHAIN": "local"}
    ) as door:
        error = (await door.ask("test.run"))["error"]
        begun = await door.run(wait=False)
        run = door.suite.find(str(begun["run_id"]))
        if run is not None:
            await run.over.wait()
        shown = await door.ask("test.status", run_id=begun["run_id"])
    assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
    assert "1.999.1" in str(error["message"]) and "go.mod" in str(error["hint"]), error
    summary = result(shown)["summary"]
    assert isinstance(summary, dict) and summary["tests_failed"] == 0 and "failed]" not in str(shown["text"])


@requirement("TST-33")
async def test_a_cargo_older_than_a_package_asks_for_is_no_failed_test(tmp_path: Path) -> None:
    needs("cargo")
    lib = {"src/lib.rs": "#[test]\nfn a() {}\n"}
    newer = f'{CRATE}rust-version = "1.999"\n', CRATE.replace('"2021"', '"2030"')
    for number, (manifest, reason) in enumerate(zip(newer, ("requires rustc 1.999", "`2030` edition"), strict=True)):
        root = written(tmp_path / f"repo{number}", {"Cargo.toml": manifest, **lib})
        error = (await run_tests(root, environment()))["error"]
        assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
        assert reason in str(error["message"]) and "rustup update" in str(error["hint"]), error


@requirement("TST-33")
async def test_a_pytest_older_than_its_settings_ask_for_is_no_failed_test(tmp_path: Path) -> None:
    wanted = {"minversion = 99": ("requires pytest-99", "newer"), "required_plugins = nope-9": ("nope-9", "install")}
    for number, (setting, (reason, hint)) in enumerate(wanted.items()):
        root = written(tmp_path / f"repo{number}", {**FILES, "pytest.ini": f"[pytest]\n{setting}\n"})
        error = (await run_tests(root, environment()))["error"]
        assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
        assert reason in str(error["message"]) and hint in str(error["hint"]), error


@requirement("TST-33")
async def test_words_of_a_test_are_not_the_runners(tmp_path: Path) -> None:
    text = "def test_a():\n    print('pyenv: version is not installed')\n    print('bwrap: no')\n    assert 0\n"
    found = result(
        await run_tests(written(tmp_path / "repo", {"pytest.ini": "[pytest]\n", "test_a.py": text}), environment())
    )
    assert list(failing(found)) == ["test_a.py::test_a"] and found["errors"] == []


@requirement("TST-33")
async def test_without_the_network_the_dependency_is_named(tmp_path: Path) -> None:
    needs("cargo")
    files = {"Cargo.toml": f'{CRATE}[dependencies]\nnothing-of-that-name = "1"\n', "src/lib.rs": "#[test]\nfn a() {}\n"}
    error = (await run_tests(written(tmp_path / "repo", files), environment()))["error"]
    assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
    assert "needs the network" in str(error["message"]) and "nothing-of-that-name" in str(error["message"])
    assert "cargo fetch" in str(error["hint"]) and "tests.network" in str(error["hint"])


@requirement("TST-33")
async def test_no_name_can_be_resolved(tmp_path: Path) -> None:
    needs("bwrap")
    root = written(tmp_path / "repo", {"Cargo.toml": CRATE, "src/lib.rs": "#[test]\nfn a() {}\n"})
    output = "error: failed to get `serde`\\nCaused by: Could not resolve host: index.crates.io"
    program(tmp_path / "bin/cargo", f"#!/bin/sh\nprintf '{output}\\n'\nexit 101\n")
    error = (await run_tests(root, path_with(tmp_path / "bin"), "tests.network=true"))["error"]
    assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_FAILED", error
    assert "a name cannot be resolved: error: failed to get `serde`" in str(error["message"])


@requirement("TST-33")
async def test_code_that_does_not_compile_is_a_failure(tmp_path: Path) -> None:
    needs("cargo")
    found = result(
        await run_tests(
            written(tmp_path / "repo", {"Cargo.toml": CRATE, "src/lib.rs": "fn a( {}\n#[test]"}), environment()
        )
    )
    assert set(failing(found).values()) == {"BuildFailed"} and found["errors"] == []


@requirement("TST-33")
async def test_beside_others_it_is_an_error_and_stops_a_checkpoint(tmp_path: Path) -> None:
    tested = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test(self): pass\n"
    root = written(tmp_path / "repo", {"tests/test_a.py": tested, "e2e/a.spec.ts": ""})
    program(root / "e2e/run", "#!/bin/sh\necho 'env: node9: No such file or directory'\nexit 127\n")
    (root / "tests/test_a.py").write_text(
        "import unittest\n\n\nclass A(unittest.TestCase):\n    def test(self): pass\n"
    )
    custom = "tests.custom=[{pattern: 'e2e/*.spec.ts', runner: e2e, cmd: [e2e/run, '{path}']}]"
    async with asking(root, "tests.runners={python: unittest}", custom) as ask:
        ran, stopped = await ask("test.run"), await ask("checkpoint", message="x", tests="all")
    summary = result(ran)["summary"]
    assert isinstance(summary, dict)
    assert (summary["tests_passed"], summary["tests_failed"], result(ran)["failures"]) == (1, 0, [])
    error = result(ran)["errors"][0]  # type: ignore[index]
    assert isinstance(error, dict)
    assert (error["runner"], error["targets"]) == ("e2e", ["e2e/a.spec.ts"])
    assert "NOT RUN e2e/a.spec.ts: e2e did not start: env: node9: No such file" in str(ran["text"])
    assert "failed" not in str(ran["text"])
    assert (result(stopped)["committed"], result(stopped)["stopped_by"]) == (False, "tests")


@requirement("TST-33")
async def test_in_the_background_it_is_an_error_too(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", FILES)
    program(tmp_path / "bin/pytest", "#!/bin/sh\nexit 127\n")
    async with open_door(root, environment=path_with(tmp_path / "bin")) as door:
        begun = await door.run(wait=False)
        run = door.suite.find(str(begun["run_id"]))
        if run is not None:
            await run.over.wait()
        envelope = await door.ask("test.status", run_id=begun["run_id"])
    assert result(envelope)["status"] == "failed"
    text = str(envelope["text"])
    assert "pytest did not start" in text and "nothing ran" in text and "passed" not in text


@requirement("TST-33")
async def test_a_configured_runner_that_is_missing_is_an_error(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"lib/a.rb": "", "spec/a_test.py": "def test_a(): pass\n"})
    for settings, code, output in (
        ("tests.runners={ruby: rspec}", "", ""),
        ("tests.runners={python: rspec}", "CONFIG_INVALID", "names 'rspec' for python, which it does not run"),
        ("tests.custom=[{pattern: 'spec/*', runner: e2e, cmd: [no-such-program]}]", "TEST_RUNNER_NOT_FOUND", "no-such"),
    ):
        found = await run_tests(root, environment(), settings)
        error = found.get("error")
        if code:
            assert isinstance(error, dict), found
            assert error["error"] == code and output in str(error["message"])
        else:
            assert error is None, found
    bare = written(tmp_path / "bare", {"readme.md": "nothing to test"})
    for settings in ("tests.runners={ruby: rspec}", "tests.custom=[{pattern: 'e2e/*', runner: e2e, cmd: [no-such]}]"):
        error = (await run_tests(bare, environment(), settings))["error"]
        assert isinstance(error, dict) and error["error"] == "TEST_RUNNER_NOT_FOUND", error
    nothing = await run_tests(bare, environment())
    assert "nothing ran" in str(nothing["text"]) and "0 passed" not in str(nothing["text"])
