"""Thousands of git mutations at random, each against the plain commands on a copy, undone and done again."""

import collections
import os
import shutil
from pathlib import Path

import pytest

from tests.git.random_operations import CASES, compare
from tests.git.random_repository import made
from tests.interaction.requirements import requirement

REPOSITORIES = 100


@requirement("GIT-05")
@pytest.mark.soak
def test_thousands_of_writes_leave_what_git_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = int(os.environ.get("SOAK_SEED", "20260728"))
    tally: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + REPOSITORIES):
        origin = made(tmp_path / "origin", seed)
        for kind in CASES:
            tally[compare(kind, origin, seed, tmp_path / "pair")] += 1
        shutil.rmtree(origin.root)
    with capsys.disabled():
        print(f"\n{sum(tally.values())} git mutations: {dict(tally)}; first seed {first}")
    assert tally["undone"] > tally["refused"]
