"""The kernel's bound on a command's processes."""

import os
import subprocess
from pathlib import Path

import pytest

from codeplane.adapters.pids_cgroup import PidsCgroup
from tests.harness import until
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-32")

REAL = Path("/sys/fs/cgroup/pids")


def test_where_no_group_can_be_made_the_command_stays_as_it_is(tmp_path: Path) -> None:
    assert PidsCgroup([tmp_path / "missing"]).command(["true"], name="x", most=5) == ["true"]


def test_a_folder_that_bounds_nothing_is_left_again(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("taken")
    assert PidsCgroup([tmp_path]).command(["true"], name="x", most=5) == ["true"]


def test_more_processes_than_that_are_refused_by_the_kernel() -> None:
    group, name = PidsCgroup([REAL]), f"codeplane-test-{os.getpid()}"
    argv = group.command(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 2 & done; wait"], name=name, most=4)
    try:
        if argv[0] == "sh":
            pytest.skip("NOT TESTED: no control group for processes can be made here")
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        assert "ork" in ran.stderr
    finally:
        # Once the last of them has ended.
        until(lambda: _gone(group, name))


def _gone(group: PidsCgroup, name: str) -> bool:
    group.remove(name)
    return not (REAL / name).exists()
