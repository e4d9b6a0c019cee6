"""What `doctor` says of runners."""

from pathlib import Path

from codeplane.kernel.config import CustomRunner, TestsConfig
from codeplane.repo.testing.doctor import missing_runners
from tests.repo.testing.runs import environment


def test_runners_that_are_asked_for_and_not_there(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "mix.exs").write_text("")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    config = TestsConfig(custom=(CustomRunner(pattern="*.x", runner="x", cmd=("no-such-program", "{path}")),))
    found = missing_runners(tmp_path, config, {"PATH": environment()["PATH"].split(":")[0]})
    assert found == ("Test runner 'mix' not found in PATH", "Test runner 'no-such-program' not found in PATH")


def test_the_repository_s_own_programs_come_first(tmp_path: Path) -> None:
    (tmp_path / "jest.config.js").write_text("")
    assert missing_runners(tmp_path, TestsConfig(), {"PATH": "/nowhere"}) == ("Test runner 'jest' not found in PATH",)
    program = tmp_path / "node_modules" / ".bin" / "jest"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert missing_runners(tmp_path, TestsConfig(), {"PATH": "/nowhere"}) == ()
