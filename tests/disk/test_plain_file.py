"""Files of a work tree are read and copied where they are, through no link, whoever swaps one in."""

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.disk.plain_file import copy_below, read_below
from codeplane.git.read.object_store import ObjectStore
from tests.edit.folder_swaps import swap_folders
from tests.harness import make_repo
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-68")

RACE_SEC = 1.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A work tree with a folder `d`, and a link `e` to a folder outside with a file of the same name."""
    root, outside = make_repo(tmp_path / "repo", {"d/a": "inside\n"}), tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("outside\n")
    (root / "e").symlink_to(outside)
    (root / "link").symlink_to("d/a")
    return root


def test_a_file_is_read_where_it_is(root: Path, tmp_path: Path) -> None:
    assert read_below(root, "d/a") == b"inside\n"
    (tmp_path / "way").symlink_to(root)
    assert read_below(tmp_path / "way", "d/a") == b"inside\n", "what leads to the root is the owner's"
    for path in ("e/a", "link"):
        with pytest.raises(OSError) as caught:
            read_below(root, path)
        assert caught.value.errno == errno.ELOOP, path


def test_a_copy_keeps_mode_and_times(root: Path, tmp_path: Path) -> None:
    (root / "d/a").chmod(0o750)
    os.utime(root / "d/a", ns=(10**18, 10**18))
    copy_below(root, "d/a", tmp_path / "copy")
    status = (tmp_path / "copy").stat()
    assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o750, 10**18)
    assert (tmp_path / "copy").read_text() == "inside\n"


def test_git_stores_nothing_of_the_outside(root: Path) -> None:
    stored: set[str | None] = set()
    store, end = ObjectStore(root), time.monotonic() + RACE_SEC
    with swap_folders(root / "d", root / "e"):
        while time.monotonic() < end:
            with suppress(OSError):
                stored |= set((store.hash_files({"d/a": "100644"}, write=True) or {}).values())
    assert stored <= {"100644 5be24b7e8f4ff445fb089b101bb4f0f4909d84d5", None}
