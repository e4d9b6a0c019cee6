"""Which targets there are, by the markers around them."""

from pathlib import Path

import pytest

from codeplane.index.snapshot import Snapshot
from codeplane.kernel.config import CustomRunner, TestsConfig
from codeplane.kernel.errors import ConfigInvalid
from codeplane.testing.catalog import changed_contents
from codeplane.testing.discovery import Discovery
from codeplane.testing.runner import Runner, runners
from tests.index.recording_indexer import RecordingIndexer
from tests.interaction.requirements import requirement
from tests.testing.door import written


def _targets(
    tmp_path: Path, files: dict[str, str], config: TestsConfig | None = None, available: bool = True
) -> dict[str, tuple[str, str]]:
    root = written(tmp_path / "repo", files)
    snapshot = RecordingIndexer(root, tmp_path / "home").start()

    def is_there(runner: Runner, folder: str) -> bool:
        return available

    found = Discovery(snapshot=snapshot, config=config or TestsConfig(), available=is_there).targets
    return {one.target_id: (one.runner_name, one.root) for one in found}


@requirement("TST-01")
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pytest.ini": "[pytest]\n", "tests/test_a.py": ""}, {"tests/test_a.py": ("pytest", "")}),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", "a_test.py": ""}, {"a_test.py": ("pytest", "")}),
        ({"setup.cfg": "[tool:pytest]\n", "test_a.py": ""}, {"test_a.py": ("pytest", "")}),
        ({"test_a.py": "def test_x(): pass\n"}, {"test_a.py": ("pytest", "")}),
        ({"jest.config.js": "", "src/__tests__/a.js": ""}, {"src/__tests__/a.js": ("jest", "")}),
        ({"package.json": '{"jest": {}}', "a.test.ts": ""}, {"a.test.ts": ("jest", "")}),
        ({"vitest.config.ts": "", "a.test.ts": ""}, {"a.test.ts": ("vitest", "")}),
        ({"package.json": '{"devDependencies": {"vitest": "5"}}', "a.spec.tsx": ""}, {"a.spec.tsx": ("vitest", "")}),
        ({"a.test.js": "it('x')\n"}, {"a.test.js": ("jest", "")}),
        ({"test/a.js": "import test from 'node:test'\n"}, {"test/a.js": ("node", "")}),
        (
            {"go.mod": "module x\n", "a_test.go": "", "b/c_test.go": "", "b/d_test.go": ""},
            {".": ("go", ""), "b": ("go", "")},
        ),
        (
            {
                "Cargo.toml": "[package]\n",
                "src/lib.rs": "#[test]\n",
                "src/a.rs": "#[test]\n",
                "tests/x.rs": "#[test]\n",
            },
            {"src/lib.rs": ("cargo", ""), "tests/x.rs": ("cargo", "")},
        ),
        (
            {"Cargo.toml": "[package]\n", "src/main.rs": "mod a;\n", "src/a.rs": "#[test]\n"},
            {"src/main.rs": ("cargo", "")},
        ),
        (
            {"pom.xml": "<project/>", "src/test/java/com/ex/FooTest.java": "class FooTest {}"},
            {"com.ex.FooTest": ("maven", "")},
        ),
        (
            {"app/build.gradle.kts": "", "app/src/test/kotlin/com/ex/FooTest.kt": "class FooTest"},
            {"com.ex.FooTest": ("gradle", "app")},
        ),
        (
            {"T/T.csproj": '<PackageReference Include="Microsoft.NET.Test.Sdk"/>', "S/S.csproj": "<Project/>"},
            {"T/T.csproj": ("dotnet", "T")},
        ),
        ({"Gemfile": "gem 'rspec'\n", "spec/a_spec.rb": ""}, {"spec/a_spec.rb": ("rspec", "")}),
        ({"mix.exs": "", "test/a_test.exs": ""}, {"test/a_test.exs": ("mix", "")}),
    ],
)
def test_markers_and_languages_say_who_runs_what(
    tmp_path: Path, files: dict[str, str], expected: dict[str, tuple[str, str]]
) -> None:
    assert _targets(tmp_path, files) == expected


@requirement("TST-01")
def test_each_part_of_a_monorepo_has_its_own_runner_and_root(tmp_path: Path) -> None:
    files = {
        "web/package.json": '{"devDependencies": {"vitest": "5"}}',
        "web/src/a.test.ts": "",
        "old/jest.config.js": "",
        "old/b.test.js": "",
        "api/pyproject.toml": "[tool.pytest.ini_options]\n",
        "api/tests/test_c.py": "",
        "core/Cargo.toml": "[package]\n",
        "core/tests/d.rs": "#[test]\nfn d() {}\n",
    }
    assert _targets(tmp_path, files) == {
        "web/src/a.test.ts": ("vitest", "web"),
        "old/b.test.js": ("jest", "old"),
        "api/tests/test_c.py": ("pytest", "api"),
        "core/tests/d.rs": ("cargo", "core"),
    }


@requirement("TST-01")
def test_settings_come_before_markers(tmp_path: Path) -> None:
    config = TestsConfig(
        runners={"typescript": "vitest", "python": "unittest"},
        custom=(CustomRunner(pattern="e2e/**/*.spec.ts", runner="playwright", cmd=("npx", "playwright", "{path}")),),
        exclude=("**/fixtures/**",),
    )
    files = {
        "jest.config.js": "",
        "a.test.ts": "",
        "e2e/login/x.spec.ts": "",
        "tests/fixtures/test_no.py": "",
        "tests/test_yes.py": "",
    }
    assert _targets(tmp_path, files, config) == {
        "a.test.ts": ("vitest", ""),
        "e2e/login/x.spec.ts": ("playwright", ""),
        "tests/test_yes.py": ("unittest", ""),
    }


@requirement("TST-01")
def test_an_unknown_runner_in_the_settings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="nose"):
        _targets(tmp_path, {"test_a.py": ""}, TestsConfig(runners={"python": "nose"}))


@requirement("TST-01")
def test_without_pytest_python_is_tested_by_what_comes_with_it(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"test_a.py": ""})
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    found = Discovery(snapshot=snapshot, config=TestsConfig(), available=lambda runner, _: runner.name != "pytest")
    assert [target.runner_name for target in found.targets] == ["unittest"]


def test_what_git_ignores_and_what_is_vendored_is_no_test(tmp_path: Path) -> None:
    files = {".gitignore": "made/\n", "made/test_a.py": "", "node_modules/x/a.test.js": "", "test_b.py": ""}
    assert list(_targets(tmp_path, files)) == ["test_b.py"]


def test_pytest_s_own_settings_name_its_files(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\npython_files = tests.py check_*.py\n", "app/tests.py": "", "check_x.py": ""}
    assert set(_targets(tmp_path, files)) == {"app/tests.py", "check_x.py"}


def test_tests_are_counted_roughly(tmp_path: Path) -> None:
    text = "def test_a(): pass\nasync def test_b(): pass\ndef helper(): pass\n"
    root = written(tmp_path / "repo", {"test_a.py": text})
    snapshot = RecordingIndexer(root, tmp_path / "home").start()
    found = Discovery(snapshot=snapshot, config=TestsConfig(), available=lambda *_: True)
    assert [target.test_count for target in found.targets] == [2]


def test_every_table_is_whole() -> None:
    for runner in runners().values():
        assert runner.programs
        assert runner.hint
        assert "{targets}" in runner.command or any("{joined}" in word for word in runner.command)


def _found(root: Path, home: Path, before: Discovery | None, there: set[str]) -> Discovery:
    """What is found now, building on what was found before."""
    return Discovery(
        snapshot=RecordingIndexer(root, home).start(),
        config=TestsConfig(),
        available=lambda runner, _: runner.name in there,
        before=before.state() if before is not None else None,
    )


def _runners(found: Discovery) -> dict[str, str]:
    return {target.target_id: target.runner_name for target in found.targets}


def test_what_was_found_before_is_used_again_only_while_it_is_true(tmp_path: Path) -> None:
    root = written(tmp_path / "repo", {"test_a.py": "def test_a(): pass\n", "test_b.py": "", "a.test.js": "it('x')\n"})
    home, there = tmp_path / "home", {"unittest", "jest"}
    found = _found(root, home, None, there)
    assert _runners(found) == {"a.test.js": "jest", "test_a.py": "unittest", "test_b.py": "unittest"}
    first = found.by_file["test_b.py"]

    # A changed file alone is looked at again.
    (root / "test_a.py").write_text("def test_a(): pass\ndef test_more(): pass\n")
    found = _found(root, home, found, there)
    assert {target.target_id: target.test_count for target in found.targets if target.language == "python"} == {
        "test_a.py": 2,
        "test_b.py": 0,
    }
    assert found.by_file["test_b.py"] is first

    # A runner that was installed is noticed, though no file changed.
    there.add("pytest")
    found = _found(root, home, found, there)
    assert _runners(found)["test_b.py"] == "pytest"
    # And one that is gone.
    there.remove("pytest")
    found = _found(root, home, found, there)
    assert _runners(found)["test_b.py"] == "unittest"

    # A marker decides for files that did not change: a new one, a changed one, one that is gone.
    (root / "package.json").write_text('{"devDependencies": {"vitest": "5"}}')
    found = _found(root, home, found, there)
    assert _runners(found)["a.test.js"] == "vitest"
    (root / "package.json").write_text('{"jest": {}}')
    found = _found(root, home, found, there)
    assert _runners(found)["a.test.js"] == "jest"
    (root / "pytest.ini").write_text("[pytest]\npython_files = check_*.py test_*.py\n")
    (root / "check_x.py").write_text("")
    found = _found(root, home, found, there)
    assert _runners(found)["check_x.py"] == "pytest"
    (root / "pytest.ini").unlink()
    found = _found(root, home, found, there)
    assert "check_x.py" not in _runners(found)

    # A file that is gone is no target.
    (root / "test_b.py").unlink()
    found = _found(root, home, found, there)
    assert set(_runners(found)) == {"a.test.js", "test_a.py"}


def test_what_builds_on_an_earlier_look_is_what_a_first_look_finds(tmp_path: Path) -> None:
    files = {
        "api/pyproject.toml": "[tool.pytest.ini_options]\n",
        "api/test_a.py": "",
        "Cargo.toml": "[package]\n",
        "src/lib.rs": "#[test]\n",
        "src/a.rs": "#[test]\n",
    }
    root = written(tmp_path / "repo", files)
    there = {"pytest", "unittest", "cargo"}
    found = _found(root, tmp_path / "home", None, there)
    for path, text in (("src/a.rs", "fn x() {}\n"), ("api/pyproject.toml", ""), ("src/b.rs", "#[test]\n#[test]\n")):
        (root / path).write_text(text)
        found = _found(root, tmp_path / "home", found, there)
        assert found.targets == _found(root, tmp_path / "home", None, there).targets, path


def test_targets_are_the_same_when_only_the_changed_files_are_looked_at(tmp_path: Path) -> None:
    files = {
        "api/pyproject.toml": "[tool.pytest.ini_options]\n",
        "api/test_a.py": "",
        "api/test_b.py": "def test_b(): pass\n",
        "web/package.json": '{"jest": {}}',
        "web/a.test.js": "it('x')\n",
    }
    root = written(tmp_path / "repo", files)
    indexer = RecordingIndexer(root, tmp_path / "home")
    steps: list[tuple[str, bytes | None]] = [
        ("api/test_a.py", b"def test_a(): pass\ndef test_c(): pass\n"),
        ("api/test_a.py", b"def test_a(): fail\ndef test_c(): pass\n"),
        ("web/package.json", b'{"devDependencies": {"vitest": "5"}}'),
        ("api/test_b.py", b"a\0b"),
        ("api/test_b.py", b"def test_b(): pass\n"),
        ("api/test_new.py", b"def test_new(): pass\n"),
        ("web/a.test.js", None),
    ]

    def discover(snapshot: Snapshot, before: tuple[Snapshot, Discovery] | None) -> Discovery:
        return Discovery(
            snapshot=snapshot,
            config=TestsConfig(),
            available=lambda runner, folder: True,
            before=before[1].state() if before is not None else None,
            changed=changed_contents(before[0], snapshot) if before is not None else None,
        )

    before = indexer.start()
    found = discover(before, None)
    for path, content in steps:
        (root / path).write_bytes(content) if content is not None else (root / path).unlink()
        snapshot = indexer.reconcile()
        now, anew = discover(snapshot, (before, found)), discover(snapshot, None)
        assert now.targets == anew.targets, path
        assert list(now.by_file) == list(anew.by_file), path
        assert now.state() == anew.state(), path
        assert (now.targets is found.targets) is (b"fail" in (content or b"")), "made again only where one is another"
        before, found = snapshot, now
