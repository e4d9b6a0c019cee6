"""What tools keep between runs is bounded, and what was used last stays."""

import os
from pathlib import Path

from codeplane.testing.tool_cache import ToolCache
from tests.interaction.requirements import requirement


def put(folder: Path, name: str, size: int, used: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (used, used))


@requirement("TST-20")
def test_what_was_not_used_for_longest_goes_and_is_said(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    put(cache, "old/deep/file", 700_000, 1_000)
    put(cache, "pip/wheels/one", 400_000, 3_000)
    put(cache, "single", 200_000, 2_000)
    (cache / "link").symlink_to(tmp_path)
    assert "1 MB, more than 1" in ToolCache(cache, max_mb=1).trim()
    assert not (cache / "old").exists() and (cache / "pip/wheels/one").exists() and tmp_path.exists()
    assert ToolCache(cache, max_mb=1).trim() == ""


@requirement("TST-20")
def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert ToolCache(tmp_path / "none").trim() == ""
