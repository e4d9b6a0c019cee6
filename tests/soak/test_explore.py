"""An exploration of a repository with 100,000 files."""

from pathlib import Path

import pytest

from tests.harness import git
from tests.interaction.requirements import requirement
from tests.work.explore.explore_plane import explore_plane

pytestmark = [requirement("EXR-05"), pytest.mark.soak]

FILES = 100_000


async def test_a_hundred_thousand_files_are_explored_within_the_bounds(tmp_path: Path) -> None:
    root = tmp_path / "large"
    for folder in range(FILES // 500):
        (root / f"part{folder:03}").mkdir(parents=True)
        for number in range(500):
            (root / f"part{folder:03}" / f"m{number:03}.py").write_text(
                f"def f{folder}_{number}():\n    return {number}\n"
            )
    git(root, "init", "--quiet", "--initial-branch=main")
    async with explore_plane(root, "embeddings.model=none") as plane:
        explored = await plane.explore()
        explored.check_stream()
        assert explored.summary["files"] == FILES and explored.summary["languages"] == {"python": 2 * FILES}
        git_status = explored.summary["gitStatus"]
        assert isinstance(git_status, dict) and git_status["headCommit"] is None
        for value in explored.cases("result"):
            assert len(str(value["payload"]).encode()) <= 262_144
