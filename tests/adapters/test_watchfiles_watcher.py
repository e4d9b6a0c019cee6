"""Files that are touched are reported wherever they are, but for our own."""

import asyncio
import re
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from codeplane.adapters.watchfiles_watcher import Watcher
from tests.interaction.requirements import requirement

pytestmark = requirement("REPO-05")


class Reports:
    """What a watcher reports."""

    def __init__(self, stream: AsyncIterator[set[str]]) -> None:
        self._stream = stream
        self.seen: set[str] = set()

    async def until(self, *paths: str) -> None:
        """Wait until the paths have been reported."""
        while not self.seen.issuperset(paths):
            self.seen |= await anext(self._stream)


@asynccontextmanager
async def watching(root: Path) -> AsyncIterator[Reports]:
    async with aclosing(Watcher(root).watch_paths()) as stream:
        reports = Reports(stream)
        # Watching begins with the first question; a file that is written until it is reported ends the wait.
        beginning = asyncio.ensure_future(reports.until("begun"))
        while not beginning.done():
            (root / "begun").write_text("x")
            await asyncio.wait({beginning}, timeout=0.02)
        reports.seen.clear()
        yield reports


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("src/deep", ".codeplane/journal", ".git/objects"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


async def test_files_at_the_root_and_far_below_it_are_reported(root: Path) -> None:
    async with watching(root) as reports:
        (root / "a.py").write_text("a")
        (root / "src/deep/b.py").write_text("b")
        (root / ".git/HEAD").write_text("ref")
        await reports.until("a.py", "src/deep/b.py", ".git/HEAD")


async def test_our_own_files_and_what_git_packs_are_not_reported(root: Path) -> None:
    async with watching(root) as reports:
        (root / ".codeplane/journal/mut_1").mkdir()
        (root / ".codeplane/journal/mut_1/new.0").write_text("x")
        (root / ".git/objects/ab").write_text("x")
        (root / "src/last.py").write_text("x")
        await reports.until("src/last.py")
        assert not {path for path in reports.seen if path.startswith((".codeplane/", ".git/objects/"))}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="watches are read from /proc")
async def test_our_own_folders_are_not_even_watched(root: Path) -> None:
    async with watching(root):
        watched = _watched_inodes()
        assert (root / "src/deep").stat().st_ino in watched
        assert (root / ".codeplane/journal").stat().st_ino not in watched
        assert (root / ".codeplane").stat().st_ino not in watched


def _watched_inodes() -> set[int]:
    lines = [line for file in Path("/proc/self/fdinfo").iterdir() if file.exists() for line in file.open()]
    return {int(match[1], 16) for line in lines if (match := re.match(r"inotify .*\bino:([0-9a-f]+)", line))}


async def test_a_folder_that_is_new_or_replaced_is_watched(root: Path) -> None:
    async with watching(root) as reports:
        (root / "new/inner").mkdir(parents=True)
        await reports.until("new")
        (root / "new/inner/c.py").write_text("c")
        await reports.until("new/inner/c.py")
        shutil.rmtree(root / "src")
        (root / "src").mkdir()
        reports.seen.clear()
        await reports.until("src")
        (root / "src/again.py").write_text("x")
        await reports.until("src/again.py")


async def test_a_tree_without_folders_is_watched(tmp_path: Path) -> None:
    async with watching(tmp_path) as reports:
        (tmp_path / "a.py").write_text("a")
        await reports.until("a.py")


async def test_a_root_that_is_gone_ends_it_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        async for _ in Watcher(tmp_path / "missing").watch_paths():
            pass


async def test_links_to_folders_are_not_followed_and_one_to_itself_stops_nothing(root: Path) -> None:
    outside = root.parent / f"{root.name}-outside"
    outside.mkdir()
    (root / "loop").symlink_to("loop")
    (root / "elsewhere").symlink_to(outside)
    async with watching(root) as reports:
        (outside / "of-others.txt").write_text("x")
        (root / "src/deep/b.py").write_text("b")
        await reports.until("src/deep/b.py")
        (root / "another").symlink_to("another")
        (root / "later").mkdir()
        await reports.until("later")
        (root / "later/c.py").write_text("c")
        await reports.until("later/c.py")
        assert not [path for path in reports.seen if path.startswith(("elsewhere/", str(outside)))]


async def test_a_git_folder_that_is_a_link_is_watched(root: Path) -> None:
    real = root.parent / f"{root.name}-git"
    shutil.move(root / ".git", real)
    (root / ".git").symlink_to(real)
    async with watching(root) as reports:
        (real / "HEAD").write_text("ref")
        await reports.until(".git/HEAD")
